// How fast the CPU backend's linear layers are:
//
//   linear_bench [THREADS] [FORMAT]        (default: 1 thread, all formats: f32, bf16, q8_0)
//
// Prints per weight format and shape (M rows, K in, N out) the median time, multiply-adds counted
// as two operations per second, and bytes of weights per second, which bound a lone row.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench_main.h"
#include "measure.h"

namespace lattice {
namespace {

struct LinearShape {
  std::int64_t m;
  std::int64_t k;
  std::int64_t n;
};

// Layers of MiniLM, bge-base and a 0.6B decoder: one token, a short text, batches; and a head that
// no cache holds.
constexpr LinearShape kShapes[] = {
    {1, 384, 1536},    {16, 384, 1536},   {16, 384, 49152}, {128, 384, 49152}, {512, 384, 384},
    {512, 384, 1536},  {512, 1536, 384},  {512, 768, 3072}, {1, 1024, 6144},   {32, 1024, 6144},
    {512, 1024, 6144}, {512, 3072, 1024}, {1, 1024, 65536}};

void measure(Context& context, WeightFormat format, const LinearShape& shape) {
  LinearPart part{.weight =
                      Tensor::from_floats({shape.n, shape.k}, random_floats(shape.n * shape.k))};
  const auto weight = context.backend().pack_linear(context.threads(), {&part, 1}, format);
  const std::vector<float> x = random_floats(shape.m * shape.k);
  std::vector<float> out(static_cast<std::size_t>(shape.m * shape.n));
  const double seconds = median_seconds([&] {
    context.backend().linear(context, {.weight = weight.get(),
                                       .x = ConstMatrix(x.data(), shape.m, shape.k),
                                       .out = MutMatrix(out.data(), shape.m, shape.n)});
  });
  const double operations = 2.0 * static_cast<double>(shape.m * shape.k * shape.n);
  fmt::print("{:>5}  {:>4} x {:>4} -> {:>4}  {:>10.1f} us  {:>6.1f} GOP/s  {:>5.1f} GB/s\n",
             weight_format_name(format), shape.m, shape.k, shape.n, seconds * 1e6,
             operations / seconds / 1e9, static_cast<double>(weight->num_bytes()) / seconds / 1e9);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const std::size_t num_threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  const std::string_view wanted = argc > 2 ? argv[2] : "";
  Context context = cpu_context(num_threads);
  for (const auto format : {WeightFormat::kF32, WeightFormat::kBF16, WeightFormat::kQ8_0}) {
    if (!wanted.empty() && wanted != weight_format_name(format)) continue;
    for (const auto& shape : kShapes) measure(context, format, shape);
  }
  return 0;
}

}  // namespace
}  // namespace lattice

int main(int argc, char** argv) { return lattice::bench_main(&lattice::run, argc, argv); }
