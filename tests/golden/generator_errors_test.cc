// What generate() refuses, and by which name.
#include <gtest/gtest.h>

#include <limits>

#include "golden/generator_support.h"
#include "support/model_copy.h"
#include "support/weight_edit.h"

namespace lattice {
namespace {

class GeneratorErrors : public testing::Test {
 protected:
  void expect_option_refused(const GenerateOptions& options, const std::string& name) const {
    expect_refused([&] { model_.generate_ids(prompt_, options); }, ErrorCode::kInvalidArgument,
                   name);
    const std::vector<std::string> prompts{"a"};
    GenerateOptions skipping = options;
    skipping.skip_errors = true;  // of rows, which this is not
    for (const GenerateOptions& each : {options, skipping}) {
      expect_refused([&] { model_.generate_batch(prompts, each); }, ErrorCode::kInvalidArgument,
                     name);
    }
  }

  Model model_ = load_generation_model("tied");
  Ids prompt_ = varied_ids(5);
};

TEST_F(GeneratorErrors, OptionsAreNamed) {
  GenerateOptions options;
  options.max_tokens = 0;
  expect_option_refused(options, "max_tokens");
  for (const std::size_t context : {0u, 1u, 32769u}) {
    options = {};
    options.max_context = context;
    expect_option_refused(options, "max_context");
  }
  options = {};
  options.stop = std::vector<std::string>{"a", ""};
  expect_option_refused(options, "stop");
  options.stop = std::vector<std::string>{"\xFF"};
  expect_option_refused(options, "stop");
  for (const std::int32_t id : {-1, 305}) {
    options = {};
    options.stop_token_ids = Ids{id};
    expect_option_refused(options, "stop_token_ids");
  }
}

TEST_F(GeneratorErrors, SamplingOptionsAreNamed) {
  const auto refused = [&](auto SamplingOptions::* member, auto value, const std::string& name) {
    GenerateOptions options;
    options.sampling.*member = value;
    expect_option_refused(options, name);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  refused(&SamplingOptions::temperature, -1.0F, "temperature");
  refused(&SamplingOptions::temperature, nan, "temperature");
  refused(&SamplingOptions::top_k, -1, "top_k");
  refused(&SamplingOptions::top_p, 1.5F, "top_p");
  refused(&SamplingOptions::min_p, nan, "min_p");
  refused(&SamplingOptions::repetition_penalty, 0.0F, "repetition_penalty");
  refused(&SamplingOptions::presence_penalty, 3.0F, "presence_penalty");
  refused(&SamplingOptions::frequency_penalty, -3.0F, "frequency_penalty");
  GenerateOptions options;
  options.sampling.logit_bias = {{305, 1.0F}};
  expect_option_refused(options, "logit_bias");
}

TEST_F(GeneratorErrors, Prompts) {
  expect_refused([&] { model_.generate_ids(Ids{}); }, ErrorCode::kInvalidArgument, "prompt");
  expect_refused([&] { model_.generate(""); }, ErrorCode::kInvalidArgument, "prompt");
  for (const std::int32_t id : {-1, 305, std::numeric_limits<std::int32_t>::max()}) {
    expect_refused([&] { model_.generate_ids(Ids{1, id}); }, ErrorCode::kInvalidArgument,
                   std::to_string(id));
  }
  expect_refused([&] { model_.generate("a\xFF"); }, ErrorCode::kInvalidArgument, "UTF-8");
  GenerateOptions options;
  options.max_context = 5;
  expect_refused([&] { model_.generate_ids(prompt_, options); }, ErrorCode::kTooLong,
                 "max_context");
  expect_refused([&] { model_.generate_ids(varied_ids(32768)); }, ErrorCode::kTooLong,
                 "max_position_embeddings");
}

TEST_F(GeneratorErrors, OfSeveralPromptsTheIndexIsNamed) {
  const std::vector<std::string> prompts{"It is", "", "late"};
  expect_refused([&] { model_.generate_batch(prompts); }, ErrorCode::kInvalidArgument, "prompt 1");
  GenerateOptions options = endless(5);
  options.skip_errors = true;
  const std::vector<Generation> got = model_.generate_batch(prompts, options);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[1].error.value().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(got[1].ids.empty());
  expect_same(got[0], model_.generate("It is", endless(5)), "prompt 0");
  expect_same(got[2], model_.generate("late", endless(5)), "prompt 2");
  EXPECT_TRUE(model_.generate_batch(std::vector<std::string>{}).empty());
}

// One NaN must not become a plausible text.
TEST(GeneratorNan, IsAnErrorWhereverItIs) {
  for (const char* weight :
       {"model.layers.0.linear_attn.in_proj_qkv.weight", "model.layers.3.self_attn.v_proj.weight",
        "model.layers.1.mlp.down_proj.weight", "model.norm.weight", "model.embed_tokens.weight"}) {
    const ModelCopy copy = ModelCopy::of(generation_variant("tied").directory);
    edit_weight(copy.path() / "model.safetensors", weight, [](std::span<float> values) {
      values[values.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    });
    const Model model = load_copy(copy);
    for (const float temperature : {0.0F, 1.0F}) {
      GenerateOptions options = endless(3);
      options.sampling.temperature = temperature;
      expect_refused([&] { model.generate_ids(varied_ids(70), options); }, ErrorCode::kInternal,
                     "logit");
    }
    expect_refused([&] { model.perplexity("It is late"); }, ErrorCode::kInternal, "logit");
  }
}

// Of several prompts only the one that holds the broken token fails.
TEST(GeneratorNan, OfSeveralPromptsOthersGoOn) {
  const ModelCopy copy = ModelCopy::of(generation_variant("untied").directory);
  edit_weight(copy.path() / "model.safetensors", "model.embed_tokens.weight",
              [](std::span<float> values) {
                const auto row = static_cast<std::size_t>(byte_ids("Z")[0]) * 32;
                values[row] = std::numeric_limits<float>::quiet_NaN();
              });
  const Model model = load_copy(copy);
  const std::vector<std::string> prompts{"It is late", "Z", "ing"};
  GenerateOptions options = endless(3);
  expect_refused([&] { model.generate_batch(prompts, options); }, ErrorCode::kInternal, "logit");
  options.skip_errors = true;
  const std::vector<Generation> got = model.generate_batch(prompts, options);
  EXPECT_EQ(got[1].error.value().code, ErrorCode::kInternal);
  EXPECT_TRUE(got[1].ids.empty() && got[1].text.empty());
  for (const std::size_t i : {0u, 2u}) {
    expect_same(got[i], model.generate(prompts[i], options), prompts[i]);
  }
  expect_refused([&] { model.generate("Z", options); }, ErrorCode::kInternal, "logit");
}

// Released models have more rows than tokens, so that the matrix divides well.
TEST(GeneratorPadding, IdsWithoutATokenAreNoText) {
  const ModelCopy copy = ModelCopy::of(generation_variant("tied").directory);
  // The last token becomes the one before it once more.
  copy.replace("tokenizer.json", "\"id\":304,\"content\":\"</", "\"id\":303,\"content\":\"<");
  copy.replace("tokenizer_config.json", "\"content\": \"</", "\"content\": \"<");
  const Model model = load_copy(copy);
  ASSERT_FALSE(model.tokenizer().id_to_token(304));
  const Generation got = model.generate_ids(varied_ids(5), saying({64, 304, 65}));
  EXPECT_EQ(got.ids, (Ids{64, 304, 65}));
  EXPECT_EQ(got.text, model.tokenizer().decode(Ids{64, 65}));
}

TEST_F(GeneratorErrors, AModelThatDoesNotGenerateSaysSo) {
  const Model model = Model::from_directory(tiny_directory("bert-mean"));
  expect_refused([&] { model.generate("a"); }, ErrorCode::kUnsupported, "");
  expect_refused([&] { model.chat(); }, ErrorCode::kUnsupported, "");
  expect_refused([&] { model.perplexity("a b"); }, ErrorCode::kUnsupported, "");
}

}  // namespace
}  // namespace lattice
