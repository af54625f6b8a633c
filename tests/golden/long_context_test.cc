// Sequences up to the released models' limit of 32,768 tokens (tools/golden/long_context.py).
#include <gtest/gtest.h>

#include "base/result.h"
#include "golden/golden_json.h"
#include "lattice/model.h"
#include "support/model_copy.h"

namespace lattice {
namespace {

// A float32 softmax over 32,768 keys on both sides.
constexpr double kTolerance = 1e-5;

std::vector<std::int32_t> long_ids(std::size_t count) {
  std::vector<std::int32_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = static_cast<std::int32_t>((7919 * i + 13) % 300);
  }
  return ids;
}

TEST(LongContext, VectorsOf32768TokensAreTransformers) {
  const ModelCopy copy("qwen3-base");
  copy.write("sentence_bert_config.json", R"({"max_seq_length": 32768})");
  const Model model = Model::from_directory(copy.path());
  EXPECT_EQ(model.info().max_length.value, 32768);
  const JsonDocument golden =
      value_or_throw(JsonDocument::parse_file(golden_dir() / "long" / "qwen3.json"));
  const Json& vectors = member(golden.root(), "vectors");
  ASSERT_EQ(vectors.members().size(), 3u);
  for (const JsonMember& expected : vectors.members()) {
    const std::size_t count = std::stoul(std::string(expected.key));
    const std::vector<std::vector<std::int32_t>> ids{long_ids(count)};
    const Embeddings got = model.embed_ids(ids);
    ASSERT_EQ(got.dimensions(), expected.value.items().size());
    for (std::size_t i = 0; i < got.dimensions(); ++i) {
      EXPECT_NEAR(got[0][i], expected.value.items()[i].as_double().value(), kTolerance)
          << count << " tokens";
    }
  }
  const std::vector<std::vector<std::int32_t>> too_long{long_ids(32769)};
  EXPECT_THROW(model.embed_ids(too_long), LatticeError);
}

}  // namespace
}  // namespace lattice
