// The Qwen3 entry point and the parts of config.json that only this family has.
#include <gtest/gtest.h>

#include <algorithm>

#include "lattice/model.h"
#include "support/model_copy.h"

namespace lattice {
namespace {

TEST(QwenModel, GivesTheSameBitsAsTheNeutralEntryPoint) {
  const std::vector<std::string> texts{"first text", "second"};
  const QwenModel qwen = QwenModel::from_directory(tiny_directory("qwen3-base"));
  const Embeddings a = qwen.embed(texts);
  const Embeddings b = Model::from_directory(tiny_directory("qwen3-base")).embed(texts);
  EXPECT_TRUE(std::equal(a.values().begin(), a.values().end(), b.values().begin()));
  EXPECT_EQ(qwen.info().family, "qwen3");
}

TEST(QwenModel, RefusesAnotherFamily) {
  try {
    QwenModel::from_directory(tiny_directory("bert-mean"));
    ADD_FAILURE() << "accepted";
  } catch (const LatticeError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("bert"), std::string::npos) << error.what();
  }
}

struct WindowFault {
  std::string from;
  std::string to;
  ErrorCode code;
  std::string names;
};

TEST(QwenConfig, WindowsThatCannotBeRight) {
  const std::vector<WindowFault> faults = {
      {"\"sliding_window\": 6", "\"sliding_window\": 0", ErrorCode::kMalformed, "sliding_window"},
      {"\"sliding_window\": 6", "\"sliding_window\": null", ErrorCode::kMalformed,
       "sliding_window is missing"},
      {"\"use_sliding_window\": true", "\"use_sliding_window\": false", ErrorCode::kMalformed,
       "layer_types"},
      {"\"full_attention\"", "\"linear_attention\"", ErrorCode::kUnsupported,
       "\"linear_attention\" is not implemented"},
      {"\"full_attention\",", "", ErrorCode::kMalformed, "layer_types: expected 3 entries"},
  };
  for (const WindowFault& fault : faults) {
    const ModelCopy copy("qwen3-layer-types");
    copy.replace("config.json", fault.from, fault.to);
    try {
      Model::from_directory(copy.path());
      ADD_FAILURE() << fault.to << " was accepted";
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), fault.code) << error.what();
      EXPECT_NE(std::string(error.what()).find(fault.names), std::string::npos) << error.what();
    }
  }
}

// Texts longer than the window: the golden tests compare the values, this one that the window acts.
TEST(QwenConfig, AWindowChangesLongTextsOnly) {
  const ModelCopy copy("qwen3-window-all");
  copy.replace("config.json", "\"use_sliding_window\": true", "\"use_sliding_window\": false");
  const Model with = Model::from_directory(tiny_directory("qwen3-window-all"));
  const Model without = Model::from_directory(copy.path());
  const auto same = [&](const std::string& text) {
    const std::vector<std::string> texts{text};
    const Embeddings a = with.embed(texts);
    const Embeddings b = without.embed(texts);
    return std::equal(a.values().begin(), a.values().end(), b.values().begin());
  };
  EXPECT_TRUE(same("a"));
  EXPECT_FALSE(same("a much longer text, of more tokens than the window has"));
}

}  // namespace
}  // namespace lattice
