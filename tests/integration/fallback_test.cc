// What becomes of a model whose GPU is absent, has no kernels for it, or fails: the rules of
// docs/design.md, on a GPU that computes as the CPU does and fails when told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <span>
#include <thread>

#include "base/log.h"
#include "lattice/model.h"
#include "support/expect_refused.h"
#include "support/fake_gpu.h"
#include "support/model_copy.h"

namespace lattice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kTexts = {"a", "It is late in the day.", "What time is it?"};

std::filesystem::path golden_directory(const std::string& name) {
  return std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden" / name;
}

class Fallback : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("LATTICE_NO_GPU");
    fake_gpu().reset();
    set_log_sink([this](LogLevel, std::string_view message) { log_.emplace_back(message); });
  }
  void TearDown() override {
    set_log_sink({});
    ::unsetenv("LATTICE_NO_GPU");
    fake_gpu().reset();
  }

  static Model load(const std::string& directory, const std::string& device = "auto") {
    return Model::from_directory(golden_directory(directory), {.device = device, .num_threads = 2});
  }

  std::vector<std::string> log_;
};

void expect_same_bits(const Embeddings& got, const Embeddings& expected) {
  EXPECT_TRUE(std::ranges::equal(got.values(), expected.values()));
}

TEST_F(Fallback, AHealthyGpuIsTaken) {
  const Model model = load("tiny/bert-mean");
  EXPECT_EQ(model.info().device, "gpu");
  const Embeddings got = model.embed(kTexts);
  EXPECT_GT(fake_gpu().num_ops, 0);
  EXPECT_THAT(got.report(0).other_device, IsEmpty());
  expect_same_bits(got, load("tiny/bert-mean", "cpu").embed(kTexts));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(Fallback, NoGpuIsUsedWhereTheEnvironmentSaysSo) {
  ::setenv("LATTICE_NO_GPU", "1", 1);
  const Model model = load("tiny/bert-mean");
  EXPECT_EQ(model.info().device, "cpu");
  EXPECT_EQ(model.info().device_reason, "LATTICE_NO_GPU is set");
  model.embed(kTexts);
  EXPECT_EQ(fake_gpu().num_ops, 0);
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(Fallback, AnAbsentGpuIsNamedAndWarnedOf) {
  fake_gpu().absent = true;
  const Model model = load("tiny/bert-mean");
  EXPECT_EQ(model.info().device, "cpu");
  EXPECT_EQ(model.info().device_reason, "gpu: no fake GPU");
  EXPECT_THAT(log_, ElementsAre(HasSubstr("gpu: no fake GPU")));
}

TEST_F(Fallback, AModelWithoutKernelsIsTheCpus) {
  fake_gpu().refuses_heads = true;
  const Model model = load("tiny/bert-head-dim-20");
  EXPECT_EQ(model.info().device, "cpu");
  EXPECT_EQ(model.info().device_reason, "gpu: head_dim: no kernels for 20");
  EXPECT_THAT(log_, ElementsAre(HasSubstr("no kernels for 20")));
}

TEST_F(Fallback, ADeviceNamedByTheCallerNeverFallsBack) {
  fake_gpu().absent = true;
  expect_refused([] { load("tiny/bert-mean", "gpu"); }, ErrorCode::kUnavailable, "no fake GPU");
  fake_gpu().reset();
  fake_gpu().refuses_heads = true;
  expect_refused([] { load("tiny/bert-mean", "gpu"); }, ErrorCode::kUnsupported, "head_dim");
  fake_gpu().reset();
  const Model model = load("tiny/bert-mean", "gpu");
  EXPECT_EQ(model.info().device_reason, "named by the caller");
  fake_gpu().fails_at = 3;
  expect_refused([&] { model.embed(kTexts); }, ErrorCode::kUnavailable, "the fake GPU is gone");
}

// Wherever in a pass it fails, the vectors are those of the CPU, and one warning says so.
TEST_F(Fallback, TheCpuTakesOverAtAnyOp) {
  for (const char* directory : {"tiny/bert-mean", "tiny/qwen3-gqa-4"}) {
    const Embeddings expected = load(directory, "cpu").embed(kTexts);
    const Model healthy = load(directory);
    fake_gpu().reset();
    healthy.embed(kTexts);
    const std::int64_t num_ops = fake_gpu().num_ops;
    ASSERT_GT(num_ops, 10);
    for (std::int64_t at = 0; at < num_ops; ++at) {
      log_.clear();
      fake_gpu().reset();
      fake_gpu().fails_at = at;
      const Model model = load(directory);
      const Embeddings got = model.embed(kTexts);
      expect_same_bits(got, expected);
      EXPECT_EQ(got.report(2).other_device, "cpu") << at;
      EXPECT_THAT(log_, ElementsAre(HasSubstr("the fake GPU is gone"))) << at;
      const std::int64_t asked = fake_gpu().num_ops;
      expect_same_bits(model.embed(kTexts), expected);
      EXPECT_EQ(fake_gpu().num_ops, asked) << "the GPU was asked again";
      EXPECT_EQ(log_.size(), 1u) << "warned again";
    }
  }
}

TEST_F(Fallback, AGenerationGoesOnInTheMiddle) {
  GenerateOptions options;
  options.max_tokens = 12;
  options.stop_token_ids.emplace();
  const std::vector<std::int32_t> prompt = {270, 271, 272};
  const Generation expected = load("generation/tied", "cpu").generate_ids(prompt, options);
  const Model healthy = load("generation/tied");
  const Generation whole = healthy.generate_ids(prompt, options);
  EXPECT_EQ(whole.ids, expected.ids);
  EXPECT_THAT(whole.other_device, IsEmpty());
  const std::int64_t num_ops = fake_gpu().num_ops;
  for (std::int64_t at = 0; at < num_ops; at += 7) {
    fake_gpu().reset();
    fake_gpu().fails_at = at;
    const Generation got = load("generation/tied").generate_ids(prompt, options);
    EXPECT_EQ(got.ids, expected.ids) << at;
    EXPECT_EQ(got.text, expected.text) << at;
    EXPECT_EQ(got.other_device, "cpu") << at;
  }
}

TEST_F(Fallback, ScoresSayWhereTheyWereComputed) {
  const Model model = load("cross/bert-1-label");
  const auto before = model.rerank("What time is it?", kTexts);
  EXPECT_THAT(before[0].report.other_device, IsEmpty());
  fake_gpu().fails_at = 0;
  const auto after = model.rerank("What time is it?", kTexts);
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].report.other_device, "cpu");
    EXPECT_EQ(after[i].logit, before[i].logit);
  }
}

// The prefix that documents share is a pass of its own.
TEST_F(Fallback, APrefixOnTheCpuIsSaidOfEveryDocument) {
  const Model model = load("cross/qwen3-logit-score");
  EXPECT_THAT(model.rerank("time?", kTexts)[0].report.other_device, IsEmpty());
  fake_gpu().fails_at = 0;
  for (const RankedDocument& document : model.rerank("time?", kTexts)) {
    EXPECT_EQ(document.report.other_device, "cpu");
  }
}

TEST_F(Fallback, LongSequencesStayOnTheCpu) {
  const ModelCopy copy("qwen3-gqa-4");
  copy.write("inference_config.json", R"({"gpu_max_seq_len": 4})");
  const Model model = Model::from_directory(copy.path());
  EXPECT_EQ(model.info().device, "gpu");
  const std::vector<std::vector<std::int32_t>> ids = {{5, 6, 7, 8, 9}, {5, 6}, {5, 6, 7, 8}};
  const Embeddings got = model.embed_ids(ids);
  EXPECT_EQ(got.report(0).other_device, "cpu");
  EXPECT_THAT(got.report(1).other_device, IsEmpty());
  EXPECT_THAT(got.report(2).other_device, IsEmpty());
  EXPECT_GT(fake_gpu().num_ops, 0);
  EXPECT_THAT(log_, IsEmpty());
  fake_gpu().reset();
  model.embed_ids(std::span(ids).first(1));
  EXPECT_EQ(fake_gpu().num_ops, 0);
  model.embed_ids(std::span(ids).subspan(1, 1));
  EXPECT_GT(fake_gpu().num_ops, 0) << "a long sequence must not keep later ones off the GPU";
}

TEST_F(Fallback, AGrowingTextLeavesTheGpu) {
  const ModelCopy copy = ModelCopy::of(golden_directory("generation/tied"));
  copy.write("inference_config.json", R"({"gpu_max_seq_len": 6})");
  const Model model = Model::from_directory(copy.path());
  GenerateOptions options;
  options.stop_token_ids.emplace();
  options.max_tokens = 3;  // the last one is not fed
  EXPECT_THAT(model.generate_ids(std::vector{270, 271, 272}, options).other_device, IsEmpty());
  options.max_tokens = 8;
  EXPECT_EQ(model.generate_ids(std::vector{270, 271, 272}, options).other_device, "cpu");
}

// A cache's entries belong to the device that its identity names.
TEST_F(Fallback, VectorsOfTheOtherDeviceAreNotCached) {
  const Model model = load("tiny/bert-mean");
  EmbedOptions options;
  options.cache = std::make_shared<EmbeddingCache>();
  model.embed(std::vector{kTexts[0]}, options);
  EXPECT_EQ(options.cache->stats().entries, 1u);
  fake_gpu().fails_at = 0;
  model.embed(kTexts, options);
  EXPECT_EQ(options.cache->stats().entries, 1u);
}

TEST_F(Fallback, ManyThreadsMeetTheFailure) {
  const Embeddings expected = load("tiny/bert-mean", "cpu").embed(kTexts);
  const Model model = load("tiny/bert-mean");
  fake_gpu().fails_at = 40;
  std::vector<std::thread> threads;
  std::atomic<int> num_equal = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const Embeddings got = model.embed(kTexts);
        if (std::ranges::equal(got.values(), expected.values())) ++num_equal;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_equal, 20);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("the fake GPU is gone")));
}

}  // namespace
}  // namespace lattice
