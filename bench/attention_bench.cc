// How fast the CPU backend's attention is:
//
//   attention_bench [THREADS]        (default: 1)
//
// Prints per shape (queries of the sequence's last tokens, keys, heads, KV heads, head_dim) the
// median time, multiply-adds counted as two operations per second, and bytes of keys and values
// read once per second, which bound a lone query.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench_main.h"
#include "measure.h"
#include "models/kv_cache.h"

namespace lattice {
namespace {

struct AttentionShape {
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t head_dim;
};

// Decoding and prompts of Qwen3-0.6B and Qwen3.5-0.8B, one layer.
constexpr AttentionShape kShapes[] = {
    {1, 64, 16, 8, 128},    {1, 512, 16, 8, 128},   {1, 4096, 16, 8, 128},
    {1, 32768, 16, 8, 128}, {1, 512, 8, 2, 256},    {1, 4096, 8, 2, 256},
    {8, 4096, 16, 8, 128},  {512, 512, 16, 8, 128}, {512, 4096, 16, 8, 128}};

void measure(Context& context, const AttentionShape& shape) {
  const std::int64_t kv_dim = shape.kv_heads * shape.head_dim;
  KvCache cache({shape.kv_heads, shape.head_dim});
  const std::vector<float> kv = random_floats(shape.keys * 2 * kv_dim);
  cache.write(0, ConstMatrix(kv.data(), shape.keys, 2 * kv_dim));
  const KeysValues keys_values = cache.view(shape.keys);
  const std::int64_t q_dim = shape.heads * shape.head_dim;
  const std::vector<float> q = random_floats(shape.queries * q_dim);
  std::vector<float> out(q.size());
  const std::int32_t offsets[] = {0, static_cast<std::int32_t>(shape.queries)};
  const double seconds = median_seconds([&] {
    context.backend().attention(context, {.q = ConstMatrix(q.data(), shape.queries, q_dim),
                                          .k = ConstMatrix(nullptr, shape.queries, kv_dim),
                                          .v = ConstMatrix(nullptr, shape.queries, kv_dim),
                                          .out = MutMatrix(out.data(), shape.queries, q_dim),
                                          .layout = {offsets},
                                          .sequences = {&keys_values, 1},
                                          .num_heads = shape.heads,
                                          .num_kv_heads = shape.kv_heads,
                                          .head_dim = shape.head_dim,
                                          .scale = 0.1f,
                                          .causal = true});
  });
  const double pairs = static_cast<double>(shape.queries) *
                       (static_cast<double>(shape.keys) - static_cast<double>(shape.queries) / 2);
  fmt::print(
      "{:>4} x {:>5} keys, {:>2} heads, {} KV heads of {}  {:>9.1f} us  {:>6.1f} GOP/s  {:>5.1f} "
      "GB/s\n",
      shape.queries, shape.keys, shape.heads, shape.kv_heads, shape.head_dim, seconds * 1e6,
      4.0 * pairs * static_cast<double>(q_dim) / seconds / 1e9,
      static_cast<double>(kv.size() * sizeof(float)) / seconds / 1e9);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const std::size_t num_threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  Context context = cpu_context(num_threads);
  for (const auto& shape : kShapes) measure(context, shape);
  return 0;
}

}  // namespace
}  // namespace lattice

int main(int argc, char** argv) { return lattice::bench_main(&lattice::run, argc, argv); }
