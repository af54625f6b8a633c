// Every component against what the reference tokenizer made of generated strings
// (tools/tokenizer_diff/make_component_golden.py), and properties over the same pipelines.
#include <chrono>
#include <fstream>
#include <thread>

#include "front_pipeline.h"

namespace lattice {
namespace {

struct GoldenPipeline {
  std::string name;
  JsonDocument document;
};

const std::vector<GoldenPipeline>& golden_pipelines() {
  static const std::vector<GoldenPipeline> kPipelines = [] {
    std::vector<GoldenPipeline> pipelines;
    std::ifstream file(LATTICE_TEST_DATA_DIR "/golden/tokenizer_components.jsonl");
    std::string line;
    while (std::getline(file, line)) {
      auto document = JsonDocument::parse(line, "components.jsonl");
      EXPECT_TRUE(document) << document.error().message;
      const Json* name = document->root().find("name");
      if (name == nullptr) continue;
      pipelines.push_back({std::string(*name->as_string()), std::move(*document)});
    }
    return pipelines;
  }();
  return kPipelines;
}

std::vector<Piece> read_pieces(const Json& json) {
  std::vector<Piece> pieces;
  for (const Json& item : json.items()) {
    Piece piece{std::string(*item.items()[0].as_string()), {}};
    for (const Json& offset : item.items()[1].items()) {
      piece.origins.push_back(static_cast<std::size_t>(*offset.as_uint()));
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

TEST(FrontGolden, EveryPipelineAgreesWithTheReference) {
  // As many as the generator writes: a shorter file must not pass.
  ASSERT_GE(golden_pipelines().size(), 180u);
  PreTokenizedText state;
  for (const GoldenPipeline& golden : golden_pipelines()) {
    const Pipeline pipeline = make_pipeline(golden.document.root());
    const auto cases = golden.document.root().find("cases")->items();
    ASSERT_GE(cases.size(), 10u) << golden.name;
    for (const Json& item : cases) {
      const std::string_view text = *item.items()[0].as_string();
      std::vector<Piece> expected = read_pieces(item.items()[1]);
      EXPECT_EQ(pipeline.run(text, true, state), expected) << golden.name << ": " << text;
      for (Piece& piece : expected) piece.origins.clear();
      EXPECT_EQ(pipeline.run(text, false, state), expected) << golden.name << ": " << text;
    }
  }
}

TEST(FrontGolden, OnePipelineServesManyThreads) {
  for (const GoldenPipeline& golden : golden_pipelines()) {
    const Pipeline pipeline = make_pipeline(golden.document.root());
    const auto cases = golden.document.root().find("cases")->items();
    const auto run_all = [&] {
      PreTokenizedText state;
      std::vector<std::vector<Piece>> results;
      for (const Json& item : cases) {
        results.push_back(pipeline.run(*item.items()[0].as_string(), true, state));
      }
      return results;
    };
    const auto expected = run_all();
    std::vector<std::vector<std::vector<Piece>>> results(3);
    {
      std::vector<std::jthread> threads;
      for (auto& result : results) threads.emplace_back([&] { result = run_all(); });
    }
    for (const auto& result : results) EXPECT_EQ(result, expected) << golden.name;
  }
}

/// Wall time of one run over `size` bytes made of `unit`.
double seconds(const Pipeline& pipeline, const std::string& unit, std::size_t size) {
  std::string text;
  while (text.size() < size) text += unit;
  PreTokenizedText state;
  const auto start = std::chrono::steady_clock::now();
  pipeline.run(text, false, state);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(FrontGolden, TimeIsLinearInOneMebibyteOfAnything) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  std::size_t turn = 0;
  for (const GoldenPipeline& golden : golden_pipelines()) {
    const Pipeline pipeline = make_pipeline(golden.document.root());
    // The many variants of single expressions take turns.
    const bool variant = golden.name.starts_with("regex ") || golden.name.starts_with("split ");
    for (const char* unit :
         {"a", " ", "\n", "1", "'", "\xCC\x81", "\xE4\xB8\xAD", "\xE2\x80\x8D"}) {
      if (variant && ++turn % 8 != 0) continue;
      // Quadratic behaviour would take minutes.
      EXPECT_LT(seconds(pipeline, unit, kMebibyte), 10.0) << golden.name << ": " << unit;
    }
    turn += 1;
  }
}

}  // namespace
}  // namespace lattice
