#include <algorithm>
#include <vector>

#include "backends/reference/reference_backend.h"
#include "base/check.h"
#include "base/float16.h"
#include "tensor/q8_0.h"

namespace lattice {
namespace {

// All of a weight, rounded to what the format can hold but kept in f32.
void copy_rounded(const Tensor& weight, WeightFormat format, std::span<float> out) {
  if (format == WeightFormat::kQ8_0) return weight.as_q8_0().copy_to_f32(0, out);
  weight.copy_to_f32(0, out);
  if (format == WeightFormat::kF32) return;
  for (float& value : out) value = to_float(to_bfloat16(value));
}

void round_activations(WeightFormat format, std::span<const float> x, std::span<double> out) {
  if (format != WeightFormat::kQ8_0) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      out[k] =
          static_cast<double>(format == WeightFormat::kBF16 ? to_float(to_bfloat16(x[k])) : x[k]);
    }
    return;
  }
  for (std::size_t first = 0; first < x.size(); first += kQ8BlockSize) {
    const auto values = x.subspan(first, std::min<std::size_t>(kQ8BlockSize, x.size() - first));
    const Q8Block block = quantize_block(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      out[first + i] = static_cast<double>(block.scale) * static_cast<double>(block.quants[i]);
    }
  }
}

// The weight as nn.Linear stores it, row-major, rounded to the format but kept in f32.
class ReferenceLinear final : public PackedLinear {
 public:
  ReferenceLinear(std::span<const LinearPart> parts, WeightFormat format)
      : in_features_(parts.front().weight.dim(1)), format_(format) {
    for (const LinearPart& part : parts) append(part);
  }

  std::int64_t in_features() const override { return in_features_; }
  std::int64_t out_features() const override { return static_cast<std::int64_t>(bias_.size()); }
  WeightFormat format() const override { return format_; }
  std::size_t num_bytes() const override { return (weight_.size() + bias_.size()) * sizeof(float); }

  const float* weight_row(std::int64_t n) const { return weight_.data() + n * in_features_; }
  float bias(std::int64_t n) const { return bias_[static_cast<std::size_t>(n)]; }

 private:
  void append(const LinearPart& part) {
    const auto num_rows = static_cast<std::size_t>(part.weight.dim(0));
    const std::size_t old_weights = weight_.size();
    weight_.resize(old_weights + num_rows * static_cast<std::size_t>(in_features_));
    copy_rounded(part.weight, format_, std::span(weight_).subspan(old_weights));
    part.weight.discard();
    const std::size_t old_rows = bias_.size();
    bias_.resize(old_rows + num_rows, 0.0f);
    if (part.bias) part.bias->copy_to_f32(0, std::span(bias_).subspan(old_rows));
  }

  std::int64_t in_features_;
  WeightFormat format_;
  std::vector<float> weight_;
  std::vector<float> bias_;
};

}  // namespace

std::shared_ptr<const PackedLinear> ReferenceBackend::pack_linear(ThreadPool&,
                                                                  std::span<const LinearPart> parts,
                                                                  WeightFormat format) const {
  return std::make_shared<const ReferenceLinear>(parts, format);
}

void ReferenceBackend::linear(Context&, const LinearArgs& args) const {
  const auto* packed = dynamic_cast<const ReferenceLinear*>(args.weight);
  check(packed != nullptr, "[linear] the weight was packed by another backend");
  std::vector<double> x(static_cast<std::size_t>(args.x.cols));
  for (std::int64_t m = 0; m < args.x.rows; ++m) {
    round_activations(packed->format(), args.x.row_span(m), x);
    for (std::int64_t n = 0; n < args.out.cols; ++n) {
      const float* w = packed->weight_row(n);
      double sum = 0.0;
      for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * static_cast<double>(w[k]);
      sum = apply_activation(args.activation, sum + static_cast<double>(packed->bias(n)));
      if (args.residual) sum += static_cast<double>(args.residual->row(m)[n]);
      args.out.row(m)[n] = static_cast<float>(sum);
    }
  }
}

}  // namespace lattice
