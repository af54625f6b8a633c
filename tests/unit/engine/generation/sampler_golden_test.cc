// The sampler's distribution against transformers' logits processors (tools/golden/sampling.py).
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/generation/sampler.h"
#include "io/json.h"
#include "support/json_writer.h"

namespace lattice {
namespace {

template <typename T>
std::vector<T> integers(const Json& array) {
  std::vector<T> list;
  for (const Json& item : array.items()) list.push_back(static_cast<T>(item.as_int().value()));
  return list;
}

template <typename T>
std::vector<T> numbers(const Json& array) {
  std::vector<T> list;
  for (const Json& item : array.items()) list.push_back(static_cast<T>(item.as_double().value()));
  return list;
}

SamplingOptions read_options(const Json& request) {
  const Json& json = *request.find("options");
  const auto number = [&](std::string_view key) {
    return static_cast<float>(json.find(key)->as_double().value());
  };
  SamplingOptions options;
  options.temperature = number("temperature");
  options.top_k = static_cast<int>(json.find("top_k")->as_int().value());
  options.top_p = number("top_p");
  options.min_p = number("min_p");
  options.repetition_penalty = number("repetition_penalty");
  options.presence_penalty = number("presence_penalty");
  options.frequency_penalty = number("frequency_penalty");
  for (const Json& pair : request.find("bias")->items()) {
    options.logit_bias.emplace_back(static_cast<std::int32_t>(*pair.items()[0].as_int()),
                                    static_cast<float>(*pair.items()[1].as_double()));
  }
  return options;
}

void expect_case(const Json& request) {
  const auto logits = numbers<float>(*request.find("logits"));
  Sampler sampler(read_options(request), logits.size());
  sampler.accept_prompt(integers<std::int32_t>(*request.find("prompt")));
  for (const auto id : integers<std::int32_t>(*request.find("output"))) sampler.accept(id);
  const TokenDistribution& distribution = sampler.distribution(logits);

  std::vector<std::int32_t> ids;
  std::vector<double> probabilities;
  for (std::size_t i = 0; i < distribution.tokens.size(); ++i) {
    ids.push_back(distribution.tokens[i].id);
    probabilities.push_back(distribution.probability(i));
  }
  auto expected = numbers<double>(*request.find("probabilities"));
  if (request.find("tied")->as_bool().value()) {  // which of the equal ones is not defined there
    std::ranges::sort(probabilities);
    std::ranges::sort(expected);
  } else {
    EXPECT_EQ(ids, integers<std::int32_t>(*request.find("ids")));
  }
  ASSERT_EQ(probabilities.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(probabilities[i], expected[i], 1e-12 * expected[i]);
  }
}

TEST(SamplerGolden, DistributionsEqualTheReference) {
  const auto golden = value_or_throw(
      JsonDocument::parse_file(std::string(LATTICE_TEST_DATA_DIR) + "/golden/sampling/cases.json"));
  const auto cases = golden.root().find("cases")->items();
  EXPECT_GE(cases.size(), 120u);
  for (const Json& request : cases) {
    SCOPED_TRACE(write_json(request).substr(0, 2000));
    expect_case(request);
  }
}

}  // namespace
}  // namespace lattice
