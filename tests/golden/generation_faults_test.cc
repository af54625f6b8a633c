// The goldens of Qwen3.5 must be able to fail: each fault planted in an op has to move the last
// hidden state clearly beyond the tolerance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/quantize.h"
#include "golden/generator_support.h"
#include "support/forwarding_backend.h"
#include "support/model_copy.h"
#include "support/weight_edit.h"
#include "tensor/q8_0.h"

namespace lattice {
namespace {

constexpr double kTolerance = 3e-4;
constexpr double kNoticed = 10 * kTolerance;

/// How far the last token's hidden state is from the golden of a case with intermediate values.
class FaultyModel {
 public:
  explicit FaultyModel(const std::string& variant)
      : golden_(load_generation_golden(generation_variant(variant))),
        model_(load_generation_model(variant)) {}

  /// `passes` as in last_logits(). The case is the longest one of the taps.
  double difference(std::shared_ptr<const Backend> backend,
                    const std::vector<std::size_t>& passes = {}) const {
    const TextModel& body = *model_.impl().model().body;
    const std::size_t width = static_cast<std::size_t>(body.traits().hidden_size);
    const std::size_t index = golden_.taps.back();
    const Ids& ids = golden_.cases[index].ids;
    Context context(std::move(backend), std::make_shared<ThreadPool>(1));
    const std::unique_ptr<DecoderState> state = body.make_state();
    DecoderState* const states[] = {state.get()};
    std::vector<float> hidden;
    std::size_t begin = 0;
    for (std::size_t pass = 0; begin < ids.size(); ++pass) {
      const std::size_t rest = ids.size() - begin;
      const std::size_t count = pass < passes.size() ? std::min(passes[pass], rest) : rest;
      const std::vector<std::int32_t> cu_seqlens = {0, static_cast<std::int32_t>(count)};
      hidden.resize(count * width);
      body.forward(
          context,
          {.input_ids = std::span(ids).subspan(begin, count),
           .token_type_ids = {},
           .layout = {cu_seqlens},
           .states = states},
          MutMatrix(hidden.data(), static_cast<std::int64_t>(count), body.traits().hidden_size));
      begin += count;
    }
    const std::vector<double> expected =
        golden_.tensor("tap." + std::to_string(index) + ".last_hidden_state");
    return max_abs_difference(std::span<const float>(hidden).last(width),
                              std::span<const double>(expected).last(width));
  }

 private:
  GenerationGolden golden_;
  Model model_;
};

/// A head's rotated dimensions as (0, 2, 4, ..., 1, 3, 5, ...), or back.
void reorder(float* head, std::int64_t half, bool back) {
  std::vector<float> moved(static_cast<std::size_t>(2 * half));
  for (std::int64_t i = 0; i < 2 * half; ++i) {
    const std::int64_t from = i < half ? 2 * i : 2 * (i - half) + 1;
    moved[static_cast<std::size_t>(back ? from : i)] = head[back ? i : from];
  }
  std::ranges::copy(moved, head);
}

/// Pairs (2i, 2i + 1) instead of (i, i + half).
class NeighboursPaired final : public ForwardingBackend {
  void qk_norm_rope(Context& context, const QkNormRopeArgs& args) const override {
    QkNormRopeArgs changed = args;
    std::vector<float> q_weight(args.q_weight.begin(), args.q_weight.end());
    std::vector<float> k_weight(args.k_weight.begin(), args.k_weight.end());
    reorder(q_weight.data(), args.cos.cols, false);
    reorder(k_weight.data(), args.cos.cols, false);
    changed.q_weight = q_weight;
    changed.k_weight = k_weight;
    reorder_all(args, false);
    ForwardingBackend::qk_norm_rope(context, changed);
    reorder_all(args, true);
  }
  static void reorder_all(const QkNormRopeArgs& args, bool back) {
    for (const MutMatrix& x : {args.q, args.k}) {
      for (std::int64_t r = 0; r < x.rows; ++r) {
        for (std::int64_t c = 0; c < x.cols; c += args.head_dim) {
          reorder(x.row(r) + c, args.cos.cols, back);
        }
      }
    }
  }
};

/// Block norms, or the norms of q and k, with w for (1 + w).
class BlockNormsWithoutOne final : public ForwardingBackend {
  void rms_norm(Context& context, const RmsNormArgs& args) const override {
    RmsNormArgs changed = args;
    changed.weight_offset = 0;
    ForwardingBackend::rms_norm(context, changed);
  }
};
class HeadNormsWithoutOne final : public ForwardingBackend {
  void qk_norm_rope(Context& context, const QkNormRopeArgs& args) const override {
    QkNormRopeArgs changed = args;
    changed.weight_offset = 0;
    ForwardingBackend::qk_norm_rope(context, changed);
  }
};

/// (1 + w) where w belongs.
class GatedNormWithOne final : public ForwardingBackend {
  void gated_rms_norm(Context& context, const GatedRmsNormArgs& args) const override {
    std::vector<float> weight(args.weight.begin(), args.weight.end());
    for (float& w : weight) w += 1;
    GatedRmsNormArgs changed = args;
    changed.weight = weight;
    ForwardingBackend::gated_rms_norm(context, changed);
  }
};

class NoAttentionGate final : public ForwardingBackend {
  void gated_activation(Context& context, const GatedActivationArgs& args) const override {
    if (args.activation != Activation::kSigmoid) {
      return ForwardingBackend::gated_activation(context, args);
    }
    for (std::int64_t r = 0; r < args.up.rows; ++r) {
      std::copy_n(args.up.row(r), args.up.cols, args.out.row(r));
    }
  }
};

class NoDeltaGate final : public ForwardingBackend {
  void gated_rms_norm(Context&, const GatedRmsNormArgs& args) const override {
    const auto width = static_cast<std::int64_t>(args.weight.size());
    for (std::int64_t r = 0; r < args.x.rows; ++r) {
      for (std::int64_t c = 0; c < args.x.cols; c += width) norm(args, r, c, width);
    }
  }
  // style: allow(parameters) one head
  static void norm(const GatedRmsNormArgs& args, std::int64_t row, std::int64_t begin,
                   std::int64_t width) {
    const float* x = args.x.row(row) + begin;
    float squares = 0;
    for (std::int64_t i = 0; i < width; ++i) squares += x[i] * x[i];
    const float scale = 1 / std::sqrt(squares / static_cast<float>(width) + args.eps);
    for (std::int64_t i = 0; i < width; ++i) {
      args.out.row(row)[begin + i] = x[i] * scale * args.weight[static_cast<std::size_t>(i)];
    }
  }
};

/// The decay of a value head taken from its key head's index.
class DecayPerKeyHead final : public ForwardingBackend {
  void gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args) const override {
    const std::int64_t heads = args.shape.num_value_heads;
    const std::int64_t group = heads / args.shape.num_key_heads;
    std::vector<float> a_log, dt_bias, a;
    for (std::int64_t h = 0; h < heads; ++h) {
      a_log.push_back(args.a_log[static_cast<std::size_t>(h / group)]);
      dt_bias.push_back(args.dt_bias[static_cast<std::size_t>(h / group)]);
    }
    for (std::int64_t r = 0; r < args.a.rows; ++r) {
      for (std::int64_t h = 0; h < heads; ++h) a.push_back(args.a.row(r)[h / group]);
    }
    GatedDeltaRuleArgs changed = args;
    changed.a_log = a_log;
    changed.dt_bias = dt_bias;
    changed.a = ConstMatrix(a.data(), args.a.rows, heads);
    ForwardingBackend::gated_delta_rule(context, changed);
  }
};

class RecurrentStateForgotten final : public ForwardingBackend {
  void gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args) const override {
    GatedDeltaRuleArgs changed = args;
    changed.states = {};
    ForwardingBackend::gated_delta_rule(context, changed);
  }
};
class ConvolutionWindowForgotten final : public ForwardingBackend {
  void causal_conv1d(Context& context, const CausalConv1dArgs& args) const override {
    CausalConv1dArgs changed = args;
    changed.history = {};
    ForwardingBackend::causal_conv1d(context, changed);
  }
};

TEST(GenerationFault, NoFaultIsWithinTheTolerance) {
  for (const char* variant : {"v-heads-4", "tied"}) {
    const FaultyModel model(variant);
    EXPECT_LE(model.difference(std::make_shared<ForwardingBackend>()), kTolerance);
    EXPECT_LE(model.difference(std::make_shared<ForwardingBackend>(), {64, 1, 1}), kTolerance);
  }
}

TEST(GenerationFault, RopeOfNeighboursIsNoticed) {
  EXPECT_GT(FaultyModel("v-heads-4").difference(std::make_shared<NeighboursPaired>()), kNoticed);
}

TEST(GenerationFault, NormsWithoutOnePlusAreNoticed) {
  const FaultyModel model("v-heads-4");
  EXPECT_GT(model.difference(std::make_shared<BlockNormsWithoutOne>()), kNoticed);
  EXPECT_GT(model.difference(std::make_shared<HeadNormsWithoutOne>()), kNoticed);
  EXPECT_GT(model.difference(std::make_shared<GatedNormWithOne>()), kNoticed);
}

TEST(GenerationFault, MissingGatesAreNoticed) {
  const FaultyModel model("v-heads-4");
  EXPECT_GT(model.difference(std::make_shared<NoAttentionGate>()), kNoticed);
  EXPECT_GT(model.difference(std::make_shared<NoDeltaGate>()), kNoticed);
}

TEST(GenerationFault, DecayPerKeyHeadIsNoticed) {
  EXPECT_GT(FaultyModel("v-heads-4").difference(std::make_shared<DecayPerKeyHead>()), kNoticed);
}

// In one pass there is nothing to carry over; in two there is.
TEST(GenerationFault, StateThatIsNotCarriedOverIsNoticed) {
  const FaultyModel model("v-heads-4");
  for (const std::vector<std::size_t>& passes : {std::vector<std::size_t>{69}, {64}, {65, 1}}) {
    EXPECT_GT(model.difference(std::make_shared<RecurrentStateForgotten>(), passes), kNoticed);
    EXPECT_GT(model.difference(std::make_shared<ConvolutionWindowForgotten>(), passes), kNoticed);
  }
  EXPECT_LE(model.difference(std::make_shared<RecurrentStateForgotten>()), kTolerance);
  EXPECT_LE(model.difference(std::make_shared<ConvolutionWindowForgotten>()), kTolerance);
}

/// The difference of the logits after changing a weight of the variant.
double logits_after(const std::string& variant, const std::string& weight,
                    const std::function<void(std::span<float>)>& edit) {
  const ModelCopy copy = ModelCopy::of(generation_variant(variant).directory);
  edit_weight(copy.path() / "model.safetensors", weight, edit);
  const Model model = load_copy(copy);
  const GenerationCase c = load_generation_golden(generation_variant(variant)).cases[8];
  return max_abs_difference(last_logits(model.impl().generator().model(), c.ids), c.logits);
}

// What is read from the files, name by name.
TEST(GenerationFault, EveryWeightIsNoticed) {
  const auto zero = [](std::span<float> values) { std::ranges::fill(values, 0.0F); };
  const auto keep = [](std::span<float>) {};
  EXPECT_LE(logits_after("v-heads-4", "model.norm.weight", keep), 1e-4);
  for (const char* name :
       {"layers.0.linear_attn.A_log", "layers.0.linear_attn.dt_bias",
        "layers.1.linear_attn.conv1d.weight", "layers.0.linear_attn.norm.weight",
        "layers.2.linear_attn.in_proj_a.weight", "layers.0.linear_attn.in_proj_b.weight",
        "layers.1.linear_attn.in_proj_z.weight", "layers.3.self_attn.q_norm.weight",
        "layers.3.self_attn.k_norm.weight", "layers.0.input_layernorm.weight",
        "layers.3.post_attention_layernorm.weight", "norm.weight"}) {
    EXPECT_GT(logits_after("v-heads-4", std::string("model.") + name, zero), 1e-3) << name;
  }
  EXPECT_GT(logits_after("untied", "lm_head.weight", zero), 1e-3);
}

// q_proj split flat: what one head's gate is, is another head's query.
TEST(GenerationFault, FlatQueriesAndGatesAreNoticed) {
  const auto flat = [](std::span<float> rows) {
    constexpr std::size_t kHead = 16, kHeads = 4, kHidden = 32;
    const std::vector<float> stored(rows.begin(), rows.end());
    for (std::size_t h = 0; h < kHeads; ++h) {
      for (const std::size_t half : {0u, 1u}) {
        const std::size_t from = (half * kHeads + h) * kHead * kHidden;
        std::copy_n(stored.begin() + static_cast<std::ptrdiff_t>(from), kHead * kHidden,
                    rows.begin() + static_cast<std::ptrdiff_t>((2 * h + half) * kHead * kHidden));
      }
    }
  };
  EXPECT_GT(logits_after("v-heads-4", "model.layers.3.self_attn.q_proj.weight", flat), 1e-3);
}

/// The difference of a quantized copy's logits, of whose down_proj `shift` moves the scales by a
/// block.
double quantized_difference(bool shift) {
  const GenerationVariant& variant = generation_variant("v-heads-4");
  const TempDir copy;
  quantize_model(variant.directory, copy.path() / "q8");
  if (shift) {
    edit_weight_bytes(copy.path() / "q8" / "model.safetensors",
                      "model.layers.0.mlp.down_proj.weight",
                      [](std::string_view, std::span<char> bytes) {
                        constexpr std::size_t kBlock = sizeof(Q8WeightBlock);
                        for (std::size_t i = 0; i + kBlock < bytes.size(); i += kBlock) {
                          std::copy_n(&bytes[i + kBlock], sizeof(Float16), &bytes[i]);
                        }
                      });
  }
  const Model model =
      Model::from_directory(copy.path() / "q8", {.device = "cpu", .num_threads = 1});
  const GenerationCase c = load_generation_golden(variant).cases[8];
  return max_abs_difference(last_logits(model.impl().generator().model(), c.ids), c.logits);
}

// Against the error that Q8_0 has anyway.
TEST(GenerationFault, ScalesOfTheNextBlockAreNoticed) {
  EXPECT_GT(quantized_difference(true), 3 * quantized_difference(false));
}

}  // namespace
}  // namespace lattice
