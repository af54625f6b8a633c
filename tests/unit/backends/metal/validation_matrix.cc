// Prints, as a table in Markdown, how far the ops whose kernels are specialised for a head shape
// are from the reference backend, for every configuration of the design. Fails if one is beyond its
// tolerance. The kernels are executed on the CPU with every access checked.

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "backends/metal/metal_backend.h"
#include "backends/metal/simt/simt_device.h"
#include "backends/registry.h"
#include "ops/ops.h"
#include "unit/backends/metal/must_shapes.h"

namespace lattice::metal {
namespace {

constexpr std::int64_t kNumKvHeads = 2;
constexpr double kTolerance = 1e-5;

// Numbers in [-1, 1).
std::vector<float> numbers(std::int64_t count) {
  std::mt19937 random(static_cast<std::uint32_t>(count));
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random()) * 0x1p-31f - 1.0f;
  return values;
}

// Queries, keys and values of a batch of two sequences; `num_earlier` keys come before each.
std::vector<float> attend(Context& context, const HeadShape& shape, std::int64_t num_earlier,
                          std::int64_t window, bool causal) {
  const std::vector<std::int32_t> cu_seqlens = {0, 3, 10};
  const std::int64_t num_tokens = cu_seqlens.back();
  const std::int64_t num_heads = kNumKvHeads * shape.groups;
  const std::int64_t kv_width = kNumKvHeads * shape.head_dim;
  std::vector<float> q = numbers(num_tokens * num_heads * shape.head_dim);
  for (float& value : q) value *= 8.0f;  // scores that are not all alike
  const std::int64_t num_keys = num_tokens + 2 * num_earlier;
  const std::vector<float> k = numbers(num_keys * kv_width), v = numbers(num_keys * kv_width + 1);
  std::vector<KeysValues> sequences;
  for (std::size_t s = 0; s < 2; ++s) {
    const std::int64_t begin = cu_seqlens[s] + static_cast<std::int64_t>(s) * num_earlier;
    const std::int64_t count = cu_seqlens[s + 1] - cu_seqlens[s] + num_earlier;
    sequences.emplace_back(ConstMatrix(k.data() + begin * kv_width, count, kv_width),
                           ConstMatrix(v.data() + begin * kv_width, count, kv_width),
                           shape.head_dim);
  }
  std::vector<float> out(q.size());
  attention(context, {.q = {q.data(), num_tokens, num_heads * shape.head_dim},
                      .k = {k.data(), num_tokens, kv_width},
                      .v = {v.data(), num_tokens, kv_width},
                      .out = {out.data(), num_tokens, num_heads * shape.head_dim},
                      .layout = {cu_seqlens},
                      .sequences = sequences,
                      .num_heads = num_heads,
                      .num_kv_heads = kNumKvHeads,
                      .head_dim = shape.head_dim,
                      .scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim)),
                      .causal = causal,
                      .window = window});
  return out;
}

std::vector<float> attend_all(Context& context, const HeadShape& shape) {
  return attend(context, shape, 0, 0, false);
}
std::vector<float> attend_causally(Context& context, const HeadShape& shape) {
  return attend(context, shape, 0, 0, true);
}
std::vector<float> attend_to_cache(Context& context, const HeadShape& shape) {
  return attend(context, shape, 70, 0, true);
}
std::vector<float> attend_in_window(Context& context, const HeadShape& shape) {
  return attend(context, shape, 70, 33, true);
}

// Norm and rotation of the first `rotary_dim` dimensions; q, then k.
std::vector<float> rotate(Context& context, const HeadShape& shape, std::int64_t rotary_dim,
                          float weight_offset) {
  const std::vector<std::int32_t> positions = {0, 5, 1, 900};
  const std::int64_t q_width = kNumKvHeads * shape.groups * shape.head_dim;
  const std::int64_t k_width = kNumKvHeads * shape.head_dim;
  std::vector<float> values = numbers(4 * (q_width + k_width));
  const std::vector<float> q_weight = numbers(shape.head_dim), k_weight = numbers(shape.head_dim);
  std::vector<float> cos, sin;
  for (std::int64_t position = 0; position <= positions.back(); ++position) {
    for (std::int64_t i = 0; i < rotary_dim / 2; ++i) {
      const double inverse =
          std::pow(1e6, -2.0 * static_cast<double>(i) / static_cast<double>(rotary_dim));
      cos.push_back(static_cast<float>(std::cos(static_cast<double>(position) * inverse)));
      sin.push_back(static_cast<float>(std::sin(static_cast<double>(position) * inverse)));
    }
  }
  qk_norm_rope(context, {.q = {values.data(), 4, q_width},
                         .k = {values.data() + 4 * q_width, 4, k_width},
                         .head_dim = shape.head_dim,
                         .q_weight = q_weight,
                         .k_weight = k_weight,
                         .weight_offset = weight_offset,
                         .positions = positions,
                         .cos = {cos.data(), positions.back() + 1, rotary_dim / 2},
                         .sin = {sin.data(), positions.back() + 1, rotary_dim / 2}});
  return values;
}

std::vector<float> rotate_all(Context& context, const HeadShape& shape) {
  return rotate(context, shape, shape.head_dim, 0.0f);
}
std::vector<float> rotate_a_quarter(Context& context, const HeadShape& shape) {
  return rotate(context, shape, shape.head_dim / 4, 1.0f);
}

struct Column {
  std::string_view title;
  std::vector<float> (*run)(Context& context, const HeadShape& shape);
};
constexpr Column kColumns[] = {
    {"QK-norm, RoPE", rotate_all},
    {"(1 + w), RoPE of a quarter", rotate_a_quarter},
    {"attention", attend_all},
    {"causal", attend_causally},
    {"causal, cached keys", attend_to_cache},
    {"sliding window", attend_in_window},
};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;  // a NaN stays
  }
  return largest;
}

std::string table_head() {
  std::string titles = "| head_dim | groups |", line = "|---|---|";
  for (const Column& column : kColumns) {
    titles += fmt::format(" {} |", column.title);
    line += "---|";
  }
  return titles + "\n" + line + "\n";
}

// Prints the table; whether all of it is within the tolerance.
bool print_matrix() {
  const auto threads = std::make_shared<ThreadPool>(1);
  Context reference(value_or_throw(make_backend("reference")), threads);
  Context metal(std::make_shared<const MetalBackend>(std::make_shared<simt::SimtDevice>()),
                threads);
  bool is_valid = true;
  fmt::print("{}", table_head());
  for (const HeadShape& shape : kMustShapes) {
    fmt::print("| {} | {} |", shape.head_dim, shape.groups);
    for (const Column& column : kColumns) {
      const double error =
          largest_difference(column.run(metal, shape), column.run(reference, shape));
      const bool is_near = error <= kTolerance;
      fmt::print(" {:.1e}{} |", error, is_near ? "" : " (!)");
      is_valid = is_valid && is_near;
    }
    fmt::print("\n");
  }
  return is_valid;
}

}  // namespace
}  // namespace lattice::metal

int main() {
  try {
    return lattice::metal::print_matrix() ? 0 : 1;
  } catch (const lattice::LatticeError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
