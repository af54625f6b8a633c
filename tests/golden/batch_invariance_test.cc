// The bits of a vector depend on its text alone: not on its neighbours, their order, the batch's
// size or the number of threads. CTest runs this once for every CPU target of the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <thread>

#include "backends/registry.h"
#include "golden/golden_file.h"

namespace lattice {
namespace {

struct Subject {
  std::string name;
  std::filesystem::path directory;
  std::string dtype;
};

// GoogleTest shows a parameter by its name, not its bytes.
void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

std::vector<Subject> subjects() {
  const std::filesystem::path real = std::filesystem::path(LATTICE_MODELS_DIR) / "all-MiniLM-L6-v2";
  return {{"tiny_f32", tiny_variant("bert-head-dim-20").directory, "f32"},
          {"tiny_bf16", tiny_variant("bert-head-dim-20").directory, "bf16"},
          {"tiny_q8_0", tiny_variant("bert-head-dim-20").directory, "q8_0"},
          {"xlmr_f32", tiny_variant("xlmr-mean").directory, "f32"},
          {"minilm_f32", real, "f32"},
          {"minilm_bf16", real, "bf16"},
          {"minilm_q8_0", real, "q8_0"}};
}

EmbedOptions truncating() {
  EmbedOptions options;
  options.truncate = Truncate::kEnd;
  return options;
}

class BatchInvariance : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    const auto backend = make_backend("cpu");
    if (!backend && backend.error().code == ErrorCode::kUnavailable) {
      GTEST_SKIP() << "hardware: " << backend.error().message;
    }
  }
  Model load(std::size_t num_threads) const {
    return Model::from_directory(GetParam().directory,
                                 {.dtype = GetParam().dtype, .num_threads = num_threads});
  }
  /// Texts of many lengths, few enough to embed each alone.
  static std::vector<std::string> texts() {
    std::vector<std::string> all = golden_texts();
    std::mt19937 generator(7);
    std::shuffle(all.begin(), all.end(), generator);
    all.resize(64);
    return all;
  }
  static std::vector<std::vector<float>> embed_alone(const Model& model,
                                                     const std::vector<std::string>& texts) {
    std::vector<std::vector<float>> rows;
    for (const std::string& text : texts) {
      const Embeddings one = model.embed(std::span(&text, 1), truncating());
      rows.emplace_back(one[0].begin(), one[0].end());
    }
    return rows;
  }
  static void expect_same(const Embeddings& got, std::span<const std::size_t> order,
                          const std::vector<std::vector<float>>& alone) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_TRUE(std::equal(got[i].begin(), got[i].end(), alone[order[i]].begin()))
          << "text " << order[i] << " at " << i << " of " << order.size();
    }
  }
};

TEST_P(BatchInvariance, AloneEqualsAnyBatchOnAnyThreads) {
  const std::vector<std::string> all = texts();
  const std::vector<std::vector<float>> alone = embed_alone(load(1), all);
  std::mt19937 generator(11);
  for (const std::size_t num_threads : {1u, 2u, 3u}) {
    const Model model = load(num_threads);
    for (const std::size_t size : {2u, 3u, 7u, 16u, 33u, 64u}) {
      std::vector<std::size_t> order(all.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), generator);
      order.resize(size);
      std::vector<std::string> batch;
      for (const std::size_t i : order) batch.push_back(all[i]);
      EmbedOptions options = truncating();
      options.batch_tokens = size % 2 == 0 ? 4096 : 300;
      expect_same(model.embed(batch, options), order, alone);
    }
  }
}

TEST_P(BatchInvariance, RepeatedRunsAreEqual) {
  const std::vector<std::string> all = texts();
  const Model model = load(2);
  const Embeddings first = model.embed(all, truncating());
  for (int i = 0; i < 3; ++i) {
    const Embeddings again = model.embed(all, truncating());
    ASSERT_TRUE(std::equal(first.values().begin(), first.values().end(), again.values().begin()));
  }
}

TEST_P(BatchInvariance, ConcurrentCallersGetTheSameBits) {
  const std::vector<std::string> all = texts();
  const Model model = load(2);
  const Embeddings expected = model.embed(all, truncating());
  std::vector<Embeddings> results(4);
  {
    std::vector<std::jthread> threads;
    for (Embeddings& result : results) {
      threads.emplace_back([&] { result = model.embed(all, truncating()); });
    }
  }
  for (const Embeddings& result : results) {
    EXPECT_TRUE(std::equal(expected.values().begin(), expected.values().end(),
                           result.values().begin(), result.values().end()));
  }
}

INSTANTIATE_TEST_SUITE_P(Subjects, BatchInvariance, testing::ValuesIn(subjects()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace lattice
