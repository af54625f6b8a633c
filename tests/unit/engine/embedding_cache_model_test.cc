// A model with a cache: the same bits, and never the vector of other options or another model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>

#include "base/result.h"
#include "engine/model_impl.h"
#include "io/safetensors.h"
#include "lattice/embedding_cache.h"
#include "lattice/model.h"
#include "support/temp_dir.h"
#include "support/tiny_models.h"

namespace lattice {
namespace {

using Texts = std::vector<std::string>;

const Texts kTexts = {"the cat sat on the mat", "", "the moon", "a b c d e f g", "cat"};

std::shared_ptr<EmbeddingCache> make_cache() { return std::make_shared<EmbeddingCache>(); }

EmbedOptions with(EmbedOptions options, const std::shared_ptr<EmbeddingCache>& cache) {
  options.cache = cache;
  return options;
}

bool same_bits(const Embeddings& a, const Embeddings& b) {
  return a.size() == b.size() && a.dimensions() == b.dimensions() &&
         std::memcmp(a.values().data(), b.values().data(), a.values().size_bytes()) == 0;
}

Model tiny(const std::string& name, const ModelOptions& options = {}) {
  return Model::from_directory(tiny_directory(name), options);
}

/// A tiny model's directory with one file changed.
class ChangedModel {
 public:
  ChangedModel(const std::string& name, const std::string& file,
               const std::function<void(std::string&)>& change) {
    std::filesystem::copy(tiny_directory(name), dir_.path(),
                          std::filesystem::copy_options::recursive);
    std::string content = read_file(dir_ / file);
    EXPECT_FALSE(content.empty()) << file;
    change(content);
    dir_.write(file, content);
  }
  Model load() const { return Model::from_directory(dir_.path()); }

 private:
  TempDir dir_;
};

/// Where the bytes of a tensor are in its file.
std::size_t tensor_offset(const std::string& model, const std::string& bytes,
                          const std::string& tensor_name) {
  const auto file =
      value_or_throw(SafetensorsFile::open(tiny_directory(model) / "model.safetensors"));
  const Tensor tensor = value_or_throw(file.require(tensor_name));
  const std::string data(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.num_bytes());
  const std::size_t at = bytes.find(data);
  EXPECT_NE(at, std::string::npos) << tensor_name;
  return at;
}

const std::string& model_name(const Model& model) {
  return model.impl().embedder().fingerprint().model();
}

TEST(EmbeddingCacheModel, CachedEqualsRecomputedBitForBit) {
  for (const char* name : {"bert-mean", "bert-bf16", "bert-dense-tanh", "xlmr-mean"}) {
    const Model model = tiny(name);
    const auto cache = make_cache();
    const Embeddings plain = model.embed(kTexts);
    EXPECT_TRUE(same_bits(model.embed(kTexts, with({}, cache)), plain)) << name;
    EXPECT_EQ(cache->stats().misses, kTexts.size());
    EXPECT_EQ(cache->stats().hits, 0u);
    const Embeddings cached = model.embed(kTexts, with({}, cache));
    EXPECT_TRUE(same_bits(cached, plain)) << name;
    EXPECT_EQ(cache->stats().misses, kTexts.size());
    EXPECT_EQ(cache->stats().hits, kTexts.size());
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      EXPECT_EQ(cached.report(i).num_tokens, plain.report(i).num_tokens);
    }
  }
}

TEST(EmbeddingCacheModel, ARepeatedTextOfOneCallIsComputedOnce) {
  const Model model = tiny("bert-mean");
  const auto cache = make_cache();
  Texts texts;
  for (int i = 0; i < 40; ++i) texts.push_back(kTexts[static_cast<std::size_t>(i * i) % 5]);
  EmbedOptions options = with({}, cache);
  options.batch_tokens = 16;  // several batches
  EXPECT_TRUE(same_bits(model.embed(texts, options), model.embed(texts)));
  EXPECT_EQ(cache->stats().misses, 3u) << "squares mod 5 are 0, 1 and 4";
  EXPECT_EQ(cache->stats().hits, 37u);
  EXPECT_EQ(cache->stats().entries, 3u);
}

TEST(EmbeddingCacheModel, KnownAndNewTextsMix) {
  const Model model = tiny("bert-mean");
  const auto cache = make_cache();
  model.embed(Texts{kTexts[0], kTexts[3]}, with({}, cache));
  EXPECT_TRUE(same_bits(model.embed(kTexts, with({}, cache)), model.embed(kTexts)));
  EXPECT_EQ(cache->stats().hits, 2u);
}

TEST(EmbeddingCacheModel, TokenIdsAndTextShareEntries) {
  const Model model = tiny("bert-mean");
  const auto cache = make_cache();
  const Embeddings by_text = model.embed(Texts{kTexts[0]}, with({}, cache));
  const std::vector<std::vector<std::int32_t>> ids = {model.tokenizer().encode(kTexts[0]).ids};
  EXPECT_TRUE(same_bits(model.embed_ids(ids, with({}, cache)), by_text));
  EXPECT_EQ(cache->stats().hits, 1u);
}

TEST(EmbeddingCacheModel, TypeIdsAreAPartOfTheText) {
  const Model model = tiny("bert-mean");
  const auto cache = make_cache();
  const std::vector<TokenizedText> texts = {{{2, 5, 6, 3}, {0, 0, 0, 0}, false},
                                            {{2, 5, 6, 3}, {0, 1, 1, 1}, false}};
  const Embedder& embedder = model.impl().embedder();
  const Embeddings plain = embedder.embed_tokenized(texts, {});
  ASSERT_FALSE(std::equal(plain[0].begin(), plain[0].end(), plain[1].begin()));
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_TRUE(same_bits(embedder.embed_tokenized(texts, with({}, cache)), plain));
  }
  EXPECT_EQ(cache->stats().misses, 2u);
}

TEST(EmbeddingCacheModel, ATextWithAnErrorIsLeftAlone) {
  const Model model = tiny("bert-mean");
  const auto cache = make_cache();
  EmbedOptions options = with({}, cache);
  options.skip_errors = true;
  for (int pass = 0; pass < 2; ++pass) {
    const Embeddings out = model.embed(Texts{"the cat", "bad \xff", "the cat"}, options);
    EXPECT_FALSE(out.report(0).error);
    EXPECT_TRUE(out.report(1).error);
    EXPECT_EQ(out[1][0], 0.0f);
    EXPECT_EQ(out[0][0], out[2][0]);
  }
  EXPECT_EQ(cache->stats().entries, 1u);
  EXPECT_EQ(cache->stats().hits, 3u);
}

/// Each of `all` gets its own vector, with one cache between them, whichever came first.
void expect_different_entries(const Model& model, const std::vector<EmbedOptions>& all) {
  for (std::size_t first = 0; first < all.size(); ++first) {
    const auto cache = make_cache();
    model.embed(kTexts, with(all[first], cache));
    for (const EmbedOptions& options : all) {
      EXPECT_TRUE(
          same_bits(model.embed(kTexts, with(options, cache)), model.embed(kTexts, options)));
    }
    EXPECT_EQ(cache->stats().misses, all.size() * kTexts.size());
    EXPECT_EQ(cache->stats().hits, kTexts.size());
  }
}

TEST(EmbeddingCacheModel, ChangingOutputDimensionsAfterATextWasCached) {
  expect_different_entries(tiny("bert-mean"), {{}, {.dimensions = 8}, {.dimensions = 7}});
}

TEST(EmbeddingCacheModel, PoolingAndNormalizationAreDifferentEntries) {
  expect_different_entries(
      tiny("bert-mean"),
      {{}, {.pooling = Pooling::kCls}, {.pooling = Pooling::kMax}, {.normalize = false}});
}

// The prompt's tokens are a part of the text; where the pool leaves them out, so is their number.
TEST(EmbeddingCacheModel, TheSameTextAsQueryAndAsPassage) {
  expect_different_entries(tiny("bert-prompt-included"), {{.prompt = "the "}, {.prompt = ""}});
  const Model model = tiny("bert-prompt-excluded");
  const EmbedOptions passage = {.prompt = ""}, query = {.prompt = "the "};
  const Texts as_passage = {"the cat sat"}, as_query = {"cat sat"};
  ASSERT_EQ(model.embed(as_passage, passage).report(0).num_tokens,
            model.embed(as_query, query).report(0).num_tokens);
  ASSERT_FALSE(same_bits(model.embed(as_passage, passage), model.embed(as_query, query)))
      << "the same ids, pooled differently";
  const auto cache = make_cache();
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_TRUE(
        same_bits(model.embed(as_passage, with(passage, cache)), model.embed(as_passage, passage)));
    EXPECT_TRUE(same_bits(model.embed(as_query, with(query, cache)), model.embed(as_query, query)));
  }
  EXPECT_EQ(cache->stats().misses, 2u);
}

TEST(EmbeddingCacheModel, DtypeDeviceAndModelAreDifferentEntries) {
  const auto cache = make_cache();
  const std::vector<Model> models = {tiny("bert-mean"), tiny("bert-mean", {.dtype = "bf16"}),
                                     tiny("bert-mean", {.device = "reference"}),
                                     tiny("bert-no-normalize"), tiny("bert-cls")};
  for (int pass = 0; pass < 2; ++pass) {
    for (const Model& model : models) {
      EXPECT_TRUE(same_bits(model.embed(kTexts, with({}, cache)), model.embed(kTexts)));
    }
    EXPECT_EQ(cache->stats().misses, models.size() * kTexts.size());
  }
  EXPECT_EQ(cache->stats().hits, models.size() * kTexts.size());
}

TEST(EmbeddingCacheModel, AVectorWithNanIsAnErrorAndNeverStored) {
  const ChangedModel broken("bert-mean", "model.safetensors", [](std::string& bytes) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::size_t at = tensor_offset("bert-mean", bytes, "embeddings.LayerNorm.bias");
    std::memcpy(bytes.data() + at, &nan, sizeof(nan));
  });
  const auto cache = make_cache();
  const Model model = broken.load();
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_THROW(model.embed(kTexts, with({}, cache)), LatticeError);
    EXPECT_EQ(cache->stats().entries, 0u);
    EXPECT_EQ(cache->stats().hits, 0u);
  }
}

TEST(EmbeddingCacheModel, ASavedCacheServesAnotherProcessesModel) {
  const TempDir dir;
  const auto cache = make_cache();
  tiny("bert-mean").embed(kTexts, with({}, cache));
  tiny("bert-mean").embed(kTexts, with({.dimensions = 8}, cache));
  tiny("bert-cls").embed(kTexts, with({}, cache));
  cache->save(dir / "cache", tiny("bert-mean"));

  const Model model = tiny("bert-mean");
  const auto loaded = make_cache();
  EXPECT_EQ(loaded->load(dir / "cache", model), 2 * kTexts.size()) << "without the other model's";
  EXPECT_TRUE(same_bits(model.embed(kTexts, with({}, loaded)), model.embed(kTexts)));
  EXPECT_TRUE(same_bits(model.embed(kTexts, with({.dimensions = 8}, loaded)),
                        model.embed(kTexts, {.dimensions = 8})));
  EXPECT_EQ(loaded->stats().misses, 0u);
  EXPECT_EQ(loaded->load(dir / "cache", model), 0u) << "all there already";
  loaded->save(dir / "again", model);
  EXPECT_EQ(read_file(dir / "again"), read_file(dir / "cache"));
}

void expect_load_fails(const std::filesystem::path& file, const Model& model, ErrorCode code,
                       const std::string& part) {
  const auto cache = make_cache();
  try {
    cache->load(file, model);
    ADD_FAILURE() << "loaded; expected an error naming " << part;
  } catch (const LatticeError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos) << error.what();
  }
  EXPECT_EQ(cache->stats().entries, 0u);
  EXPECT_TRUE(same_bits(model.embed(kTexts, with({}, cache)), model.embed(kTexts)));
}

TEST(EmbeddingCacheModel, CorruptTruncatedOrOtherModelCacheFile) {
  const TempDir dir;
  const Model model = tiny("bert-mean");
  const auto cache = make_cache();
  model.embed(kTexts, with({}, cache));
  cache->save(dir / "good", model);
  const std::string good = read_file(dir / "good");
  std::string corrupt = good;
  corrupt[good.size() / 2] = static_cast<char>(corrupt[good.size() / 2] + 1);
  expect_load_fails(dir.write("corrupt", corrupt), model, ErrorCode::kMalformed, "checksum");
  expect_load_fails(dir.write("truncated", good.substr(0, good.size() - 100)), model,
                    ErrorCode::kMalformed, "checksum");
  expect_load_fails(dir.write("foreign", "hello"), model, ErrorCode::kMalformed,
                    "no lattice cache");
  expect_load_fails(dir / "absent", model, ErrorCode::kNotFound, "absent");
  expect_load_fails(dir / "good", tiny("bert-cls"), ErrorCode::kInvalidArgument, "another model");
  EXPECT_EQ(read_file(dir / "good"), good) << "nothing is overwritten";
}

TEST(EmbeddingCacheModel, AFileLargerThanTheCacheIsRefused) {
  const TempDir dir;
  const Model model = tiny("bert-mean");
  const auto cache = make_cache();
  model.embed(kTexts, with({}, cache));
  cache->save(dir / "five", model);
  EmbeddingCache small(4);
  EXPECT_THROW(small.load(dir / "five", model), LatticeError);
  EXPECT_EQ(small.stats().entries, 0u);
  EmbeddingCache enough(5);
  EXPECT_EQ(enough.load(dir / "five", model), 5u);
}

TEST(ModelFingerprint, IsTheSameForTheSameModelShardedOrNot) {
  EXPECT_EQ(model_name(tiny("bert-mean")), model_name(tiny("bert-mean", {.dtype = "bf16"})));
  EXPECT_EQ(model_name(tiny("bert-mean")), model_name(tiny("bert-sharded")));
}

TEST(ModelFingerprint, NamesWhatWasChanged) {
  const std::string original = model_name(tiny("bert-dense-tanh"));
  const auto difference = [&](const std::string& file,
                              const std::function<void(std::string&)>& change) {
    const ChangedModel changed("bert-dense-tanh", file, change);
    const std::string text = describe_difference(original, model_name(changed.load()));
    return text.substr(0, text.find(':'));
  };
  const auto append_space = [](std::string& content) { content += " "; };
  const auto flip_last_bit = [](std::string& content) { content.back() ^= 1; };
  EXPECT_EQ(difference("config.json", append_space), "configuration");
  EXPECT_EQ(difference("1_Pooling/config.json", append_space), "configuration");
  EXPECT_EQ(difference("2_Dense/config.json", append_space), "configuration");
  EXPECT_EQ(difference("model.safetensors", flip_last_bit), "weights");
  EXPECT_EQ(difference("2_Dense/model.safetensors", flip_last_bit), "weights");
  EXPECT_EQ(difference("tokenizer_config.json", append_space), "tokenizer");
  EXPECT_EQ(difference("tokenizer.json", append_space), "tokenizer");
  EXPECT_EQ(difference("config_sentence_transformers.json", append_space), "")
      << "prompts are a part of the ids";
}

TEST(EmbeddingCacheModel, ManyThreadsShareOneCache) {
  const Model model = tiny("bert-mean");
  const auto cache = std::make_shared<EmbeddingCache>(8);
  Texts texts;
  for (int i = 0; i < 12; ++i) texts.push_back("the cat " + std::to_string(i));
  const Embeddings plain = model.embed(texts);
  std::atomic<int> wrong = 0;
  const auto work = [&](std::size_t seed) {
    for (std::size_t step = 0; step < 60; ++step) {
      const std::size_t i = (step * 5 + seed * 3) % texts.size();
      const Embeddings one = model.embed(Texts{texts[i]}, with({}, cache));
      if (!std::equal(one[0].begin(), one[0].end(), plain[i].begin())) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache->stats().hits + cache->stats().misses, 240u);
  EXPECT_LE(cache->stats().entries, 8u);
}

}  // namespace
}  // namespace lattice
