#include "engine/length_limit.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

// The limit that all-MiniLM-L6-v2 has: its tokenizer.json truncates at 128, which has no say.
TEST(LengthLimit, MaxSeqLengthRulesOverEverythingElse) {
  const LengthLimit limit =
      resolve_length_limit({.max_seq_length = 256,
                            .max_seq_length_source = "sentence_bert_config.json",
                            .model_max_length = 512,
                            .max_positions = 512});
  EXPECT_EQ(limit.max_tokens, 256);
  EXPECT_EQ(limit.source, "sentence_bert_config.json: max_seq_length");
}

TEST(LengthLimit, WithoutItTheSmallerOfTokenizerAndPositionsRules) {
  EXPECT_EQ(resolve_length_limit({.model_max_length = 40, .max_positions = 512}).max_tokens, 40);
  const LengthLimit positions =
      resolve_length_limit({.model_max_length = 512, .max_positions = 510});
  EXPECT_EQ(positions.max_tokens, 510);
  EXPECT_EQ(positions.source, "config.json: max_position_embeddings");
}

TEST(LengthLimit, NeverMoreThanThePositions) {
  EXPECT_EQ(resolve_length_limit(
                {.max_seq_length = 1000, .max_seq_length_source = "f", .max_positions = 512})
                .max_tokens,
            512);
}

// Rotary positions (dynamic scaling) go beyond the config's number where max_seq_length says so.
TEST(LengthLimit, SoftPositionsYieldToMaxSeqLength) {
  EXPECT_EQ(resolve_length_limit({.max_seq_length = 1000,
                                  .max_seq_length_source = "f",
                                  .max_positions = 512,
                                  .positions_are_hard_limit = false})
                .max_tokens,
            1000);
  EXPECT_EQ(
      resolve_length_limit({.max_positions = 512, .positions_are_hard_limit = false}).max_tokens,
      512);
}

TEST(LengthLimit, NoFileNoLimit) { EXPECT_GT(resolve_length_limit({}).max_tokens, 1000000); }

}  // namespace
}  // namespace lattice
