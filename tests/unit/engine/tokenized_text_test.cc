#include "engine/tokenized_text.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

TokenizedText text(std::vector<std::int32_t> ids) {
  std::vector<std::int32_t> type_ids(ids.size(), 0);
  return {std::move(ids), std::move(type_ids), false};
}

std::size_t common(std::vector<TokenizedText> texts) { return common_prefix(texts); }

TEST(CommonPrefix, LeavesEveryTextATokenOfItsOwn) {
  EXPECT_EQ(common({}), 0u);
  EXPECT_EQ(common({text({1, 2, 3})}), 2u);
  EXPECT_EQ(common({text({1, 2, 3}), text({1, 2, 3})}), 2u);
  EXPECT_EQ(common({text({1, 2, 3}), text({1, 2})}), 1u);
  EXPECT_EQ(common({text({1}), text({1, 2})}), 0u);
}

TEST(CommonPrefix, EndsWhereAnyTextDiffers) {
  EXPECT_EQ(common({text({1, 2, 3, 9}), text({1, 2, 4, 9}), text({1, 2, 3, 8})}), 2u);
  EXPECT_EQ(common({text({1, 2, 3}), text({7, 2, 3})}), 0u);
}

TEST(CommonPrefix, TextsWithErrorsDoNotCount) {
  EXPECT_EQ(common({text({}), text({1, 2, 3}), text({}), text({1, 2, 5})}), 2u);
}

TEST(PackedTexts, LeavesOutTheFirstTokens) {
  const std::vector<TokenizedText> texts{text({1, 2, 3}), text({1, 2, 4, 5}), text({9, 9, 9})};
  const std::size_t batch[] = {1, 0};
  const PackedTexts packed(batch, texts, 2);
  const TokenBatch tokens = packed.tokens();
  EXPECT_EQ(std::vector<std::int32_t>(tokens.input_ids.begin(), tokens.input_ids.end()),
            (std::vector<std::int32_t>{4, 5, 3}));
  EXPECT_EQ(tokens.layout.length(0), 2);
  EXPECT_EQ(tokens.layout.length(1), 1);
}

}  // namespace
}  // namespace lattice
