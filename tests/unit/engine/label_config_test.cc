#include "engine/label_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lattice/error.h"

namespace lattice {
namespace {

LabelConfig parse(const std::string& json) {
  const JsonDocument document = value_or_throw(JsonDocument::parse(json, "config.json"));
  return parse_label_config(document.root(), "config.json");
}

TEST(LabelConfig, NamesInTheOrderOfTheirNumbers) {
  EXPECT_EQ(parse(R"({"id2label":{"2":"c","0":"a","1":"b"}})").names,
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(parse("{}").names, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
  EXPECT_EQ(parse(R"({"num_labels":1})").names, std::vector<std::string>{"LABEL_0"});
}

TEST(LabelConfig, RefusesByName) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {R"({"id2label":{"0":"a","2":"b"}})", "id2label"},
      {R"({"id2label":{"0":"a","x":"b"}})", "\"x\""},
      {R"({"id2label":{"0":1}})", "id2label"},
      {R"({"id2label":[]})", "id2label"},
      {R"({"num_labels":0})", "num_labels"},
      {R"({"problem_type":"guessing"})", "guessing"},
      {R"({"sentence_transformers":{"activation_fn":"torch.nn.Mish"}})", "torch.nn.Mish"},
      {R"({"sentence_transformers":{"activation_fn":3}})", "activation_fn"},
  };
  for (const auto& [json, names] : faults) {
    try {
      parse(json);
      ADD_FAILURE() << json << " was accepted";
    } catch (const LatticeError& error) {
      EXPECT_NE(std::string(error.what()).find(names), std::string::npos) << error.what();
    }
  }
}

TEST(ScoreFunction, ExtremeLogitsStayFinite) {
  constexpr float kHuge = 1e4f;
  for (const ScoreFunction function :
       {ScoreFunction::kSigmoid, ScoreFunction::kSoftmax, ScoreFunction::kTanh}) {
    float row[] = {kHuge, -kHuge, 0.0f};
    apply_score_function(function, row);
    for (const float value : row) EXPECT_TRUE(std::isfinite(value));
    EXPECT_FLOAT_EQ(row[0], 1.0f);
  }
}

TEST(ScoreFunction, SoftmaxOfEqualLogitsIsEven) {
  float row[] = {3.0f, 3.0f, 3.0f, 3.0f};
  apply_score_function(ScoreFunction::kSoftmax, row);
  for (const float value : row) EXPECT_FLOAT_EQ(value, 0.25f);
}

}  // namespace
}  // namespace lattice
