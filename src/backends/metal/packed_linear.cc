#include "backends/metal/packed_linear.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/float16.h"
#include "tensor/q8_0.h"

namespace lattice::metal {
namespace {

template <typename T>
void store(Buffer& buffer, std::int64_t first_element, std::span<const T> values) {
  std::memcpy(buffer.contents().data() + static_cast<std::size_t>(first_element) * sizeof(T),
              values.data(), values.size_bytes());
}

std::unique_ptr<Buffer> allocate(Device& device, std::int64_t num_bytes) {
  return value_or_throw(
      device.make_buffer(static_cast<std::size_t>(std::max<std::int64_t>(num_bytes, 4))));
}

// What the elements of a weight are kept in.
DType dtype_for(std::span<const LinearPart> parts, WeightFormat format) {
  if (format == WeightFormat::kQ8_0) return DType::kQ8_0;
  if (format == WeightFormat::kBF16) return DType::kBF16;
  const DType first = parts.front().weight.dtype();
  const bool is_narrow = first == DType::kF16 || first == DType::kBF16;
  const bool is_alike = std::ranges::all_of(parts, [first](const LinearPart& part) {
    return part.weight.dtype() == first && !part.weight.has_blocks();
  });
  return is_narrow && is_alike ? first : DType::kF32;
}

// The weight in the tensor's own memory, which the buffer then keeps alive; null if it must be
// copied.
std::unique_ptr<Buffer> wrap(Device& device, std::span<const LinearPart> parts, DType dtype) {
  const Tensor& weight = parts.front().weight;
  const bool is_stored_so = parts.size() == 1 && dtype != DType::kQ8_0 && !weight.has_blocks() &&
                            weight.dtype() == dtype && weight.num_bytes() > 0;
  if (!is_stored_so) return nullptr;
  const auto address = std::bit_cast<std::uintptr_t>(weight.bytes().data());
  if (address % dtype_size(weight.dtype()) != 0) return nullptr;
  return device.wrap_memory(weight.bytes(), std::make_shared<const Tensor>(weight));
}

}  // namespace

MetalLinear::MetalLinear(Device& device, std::span<const LinearPart> parts, WeightFormat format)
    : in_features_(parts.front().weight.dim(1)), format_(format), dtype_(dtype_for(parts, format)) {
  for (const LinearPart& part : parts) {
    out_features_ += part.weight.dim(0);
    has_bias_ = has_bias_ || part.bias.has_value();
  }
  weight_ = wrap(device, parts, dtype_);
  const bool is_wrapped = weight_ != nullptr;
  if (!is_wrapped) allocate_weight(device);
  bias_ = allocate(device, has_bias_ ? out_features_ * std::int64_t{sizeof(float)} : 0);
  std::memset(bias_->contents().data(), 0, bias_->num_bytes());
  std::int64_t row = 0;
  for (const LinearPart& part : parts) {
    if (!is_wrapped) {
      format_ == WeightFormat::kQ8_0 ? append_blocks(part, row) : append_floats(part, row);
      part.weight.discard();
    }
    if (part.bias) {
      std::vector<float> bias(static_cast<std::size_t>(part.weight.dim(0)));
      part.bias->copy_to_f32(0, bias);
      store<float>(*bias_, row, bias);
    }
    row += part.weight.dim(0);
  }
}

std::size_t MetalLinear::num_bytes() const {
  return (weight_->is_read_only() ? 0 : weight_->num_bytes()) + bias_->num_bytes() +
         (scales_ ? scales_->num_bytes() : 0);
}

void MetalLinear::allocate_weight(Device& device) {
  if (format_ == WeightFormat::kQ8_0) {
    const std::int64_t num_blocks = out_features_ * num_q8_blocks(in_features_);
    weight_ = allocate(device, num_blocks * kQ8BlockSize);
    scales_ = allocate(device, num_blocks * std::int64_t{sizeof(float)});
  } else {
    const auto element = static_cast<std::int64_t>(dtype_size(dtype_));
    weight_ = allocate(device, out_features_ * in_features_ * element);
  }
}

void MetalLinear::append_floats(const LinearPart& part, std::int64_t first_row) {
  if (part.weight.dtype() == dtype_ && !part.weight.has_blocks()) {
    const auto offset = static_cast<std::size_t>(first_row * in_features_) * dtype_size(dtype_);
    return store<std::byte>(*weight_, static_cast<std::int64_t>(offset), part.weight.bytes());
  }
  std::vector<float> values(static_cast<std::size_t>(in_features_));
  std::vector<BFloat16> rounded(values.size());
  for (std::int64_t r = 0; r < part.weight.dim(0); ++r) {
    part.weight.copy_to_f32(r * in_features_, values);
    const std::int64_t at = (first_row + r) * in_features_;
    if (dtype_ == DType::kF32) {
      store<float>(*weight_, at, values);
      continue;
    }
    for (std::size_t i = 0; i < values.size(); ++i) rounded[i] = to_bfloat16(values[i]);
    store<BFloat16>(*weight_, at, rounded);
  }
}

void MetalLinear::append_blocks(const LinearPart& part, std::int64_t first_row) {
  const std::int64_t per_row = num_q8_blocks(in_features_);
  std::vector<Q8WeightBlock> blocks(static_cast<std::size_t>(per_row));
  const Tensor weight = part.weight.as_q8_0();
  for (std::int64_t r = 0; r < part.weight.dim(0); ++r) {
    weight.copy_to_q8_0(r, blocks);
    for (std::int64_t b = 0; b < per_row; ++b) {
      const Q8WeightBlock& block = blocks[static_cast<std::size_t>(b)];
      const std::int64_t at = (first_row + r) * per_row + b;
      store<std::int8_t>(*weight_, at * kQ8BlockSize, block.quants);
      const float scale = to_float(block.scale);
      store<float>(*scales_, at, std::span(&scale, 1));
    }
  }
}

}  // namespace lattice::metal
