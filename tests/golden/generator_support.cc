#include "golden/generator_support.h"

#include <gtest/gtest.h>

#include "text/utf8.h"

namespace lattice {

Model load_generation_model(const std::string& variant, std::size_t num_threads) {
  return Model::from_directory(generation_variant(variant).directory,
                               {.device = "cpu", .num_threads = num_threads});
}

Model load_copy(const ModelCopy& copy) {
  return Model::from_directory(copy.path(), {.device = "cpu", .num_threads = 1});
}

Ids varied_ids(std::size_t count, std::size_t seed) {
  Ids ids(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t k = i + 1000 * seed;
    ids[i] = static_cast<std::int32_t>((7919 * k * k + 104729 * k + 13) % 1000003 % 300);
  }
  return ids;
}

Ids byte_ids(std::string_view text) {
  // GPT-2's order: the bytes that are visible in Latin-1, then the others.
  const auto visible = [](int b) {
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xFF && b != 0xAD);
  };
  Ids ids;
  for (const char c : text) {
    const int byte = static_cast<unsigned char>(c);
    std::int32_t id = visible(byte) ? 0 : 188;
    for (int b = 0; b < byte; ++b) id += visible(b) == visible(byte) ? 1 : 0;
    ids.push_back(id);
  }
  return ids;
}

GenerateOptions endless(std::size_t max_tokens) {
  GenerateOptions options;
  options.max_tokens = max_tokens;
  options.stop_token_ids.emplace();
  options.logprobs = 3;
  return options;
}

// The bias chooses the order, and the penalty takes out of it what has been said.
GenerateOptions saying(const Ids& ids) {
  GenerateOptions options = endless(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    options.sampling.logit_bias.emplace_back(ids[i], 1000.0F * static_cast<float>(ids.size() - i));
  }
  options.sampling.repetition_penalty = 1e6F;
  return options;
}

void expect_same(const Generation& got, const Generation& expected, const std::string& what) {
  EXPECT_EQ(got.prompt_ids, expected.prompt_ids) << what;
  EXPECT_EQ(got.ids, expected.ids) << what;
  EXPECT_EQ(got.text, expected.text) << what;
  EXPECT_EQ(got.finish_reason, expected.finish_reason) << what;
  ASSERT_EQ(got.logprobs.size(), expected.logprobs.size()) << what;
  for (std::size_t i = 0; i < got.logprobs.size(); ++i) {
    EXPECT_EQ(got.logprobs[i].chosen, expected.logprobs[i].chosen) << what << ", token " << i;
    EXPECT_EQ(got.logprobs[i].top, expected.logprobs[i].top) << what << ", token " << i;
  }
}

GenerateTimings expect_speculation_changes_nothing(const Model& model, const Ids& prompt,
                                                   GenerateOptions options, Speculation kind) {
  const Generation plain = model.generate_ids(prompt, options);
  EXPECT_EQ(plain.timings.drafted_tokens, 0u);
  options.speculation = kind;
  Pieces pieces;
  const Generation drafted = model.generate_ids(prompt, options, pieces.callback());
  expect_same(drafted, plain, std::to_string(prompt.size()) + " prompt tokens");
  EXPECT_EQ(pieces.joined(), plain.text);
  EXPECT_LE(drafted.timings.accepted_tokens, drafted.timings.drafted_tokens);
  return drafted.timings;
}

OnText Pieces::callback() {
  return [this](std::string_view piece) {
    list.emplace_back(piece);
    return true;
  };
}

std::string Pieces::joined() const {
  std::string text;
  for (const std::string& piece : list) text += piece;
  return text;
}

void expect_pieces_of(const Pieces& pieces, const std::string& text) {
  EXPECT_EQ(pieces.joined(), text);
  for (const std::string& piece : pieces.list) {
    EXPECT_FALSE(piece.empty());
    EXPECT_FALSE(find_invalid_utf8(piece)) << "in " << testing::PrintToString(piece);
  }
}

}  // namespace lattice
