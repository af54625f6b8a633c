#include "tensor/tensor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/aligned_buffer.h"

namespace lattice {
namespace {

class OwnedFloats : public TensorStorage {
 public:
  explicit OwnedFloats(std::span<const float> values) : buffer_(values.size()) {
    if (!values.empty()) std::memcpy(buffer_.data(), values.data(), values.size_bytes());
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(buffer_.span()); }

 private:
  AlignedBuffer<float> buffer_;
};

template <typename Stored>
float load_as_float(const std::byte* data) {
  Stored value;
  std::memcpy(&value, data, sizeof(value));
  if constexpr (std::is_arithmetic_v<Stored>) {
    return static_cast<float>(value);
  } else {
    return to_float(value);
  }
}

template <typename Stored>
void convert(const std::byte* data, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = load_as_float<Stored>(data + i * sizeof(Stored));
  }
}

std::size_t stored_bytes(DType dtype, const Shape& shape, std::int64_t num_elements) {
  if (dtype != DType::kQ8_0) return static_cast<std::size_t>(num_elements) * dtype_size(dtype);
  check(shape.size() == 2, "[tensor] expected a Q8_0 matrix, got shape {}", shape_string(shape));
  return static_cast<std::size_t>(shape[0]) * row_bytes(dtype, static_cast<std::size_t>(shape[1]));
}

}  // namespace

std::int64_t num_elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) count *= dim;
  return count;
}

std::string shape_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

void TensorStorage::discard(std::span<const std::byte>) const noexcept {}

Tensor::Tensor(DType dtype, Shape shape, const std::byte* data,
               std::shared_ptr<const TensorStorage> storage)
    : dtype_(dtype),
      shape_(std::move(shape)),
      num_elements_(lattice::num_elements(shape_)),
      num_bytes_(stored_bytes(dtype_, shape_, num_elements_)),
      data_(data),
      storage_(std::move(storage)) {}

Tensor Tensor::from_floats(Shape shape, std::span<const float> values) {
  check(lattice::num_elements(shape) == static_cast<std::int64_t>(values.size()),
        "[tensor] {} values do not fill shape {}", values.size(), shape_string(shape));
  auto storage = std::make_shared<const OwnedFloats>(values);
  const std::byte* data = storage->bytes().data();
  return Tensor(DType::kF32, std::move(shape), data, std::move(storage));
}

bool Tensor::is_aligned_f32() const {
  return dtype_ == DType::kF32 && !has_blocks() &&
         std::bit_cast<std::uintptr_t>(data_) % alignof(float) == 0;
}

const float* Tensor::f32() const {
  check(is_aligned_f32(), "[tensor] expected aligned F32 data, got {}", dtype_name(dtype_));
  // The bytes are a file mapping or an owned float array, aligned as just checked.
  return reinterpret_cast<const float*>(data_);
}

void Tensor::copy_to_f32(std::int64_t begin, std::span<float> out) const {
  check(begin >= 0 && begin <= num_elements_ &&
            out.size() <= static_cast<std::uint64_t>(num_elements_ - begin),
        "[tensor] {} elements from {} on are outside shape {}", out.size(), begin,
        shape_string(shape_));
  if (has_blocks()) return copy_blocks(begin, out);
  copy_stored(begin, out);
}

void Tensor::copy_stored(std::int64_t begin, std::span<float> out) const {
  const std::byte* data = data_ + static_cast<std::size_t>(begin) * dtype_size(dtype_);
  switch (dtype_) {
    case DType::kF32:
      if (!out.empty()) std::memcpy(out.data(), data, out.size_bytes());
      return;
    case DType::kF64:
      return convert<double>(data, out);
    case DType::kF16:
      return convert<Float16>(data, out);
    case DType::kBF16:
      return convert<BFloat16>(data, out);
    default:
      raise(ErrorCode::kUnsupported, "[tensor] expected a floating-point dtype, got {}",
            dtype_name(dtype_));
  }
}

Tensor Tensor::as_q8_0() const {
  check(rank() == 2 && is_floating_point(dtype_),
        "[tensor] expected a floating-point matrix, got {} {}", dtype_name(dtype_),
        shape_string(shape_));
  Tensor blocks = *this;
  blocks.as_q8_0_ = true;
  return blocks;
}

Q8WeightBlock Tensor::block(std::int64_t row, std::int64_t block_idx) const {
  Q8WeightBlock block;
  if (dtype_ == DType::kQ8_0) {
    const std::int64_t idx = row * num_q8_blocks(shape_[1]) + block_idx;
    std::memcpy(&block, data_ + static_cast<std::size_t>(idx) * sizeof(block), sizeof(block));
  } else {
    const std::int64_t first = block_idx * kQ8BlockSize;
    const auto count = static_cast<std::size_t>(std::min(kQ8BlockSize, shape_[1] - first));
    float values[kQ8BlockSize];
    copy_stored(row * shape_[1] + first, std::span(values).first(count));
    block = quantize_weight_block(std::span(values).first(count));
  }
  // An infinite scale would be NaN for some quants and infinite for others: make it NaN for all.
  constexpr Float16 kNan{0x7E00};
  if (!std::isfinite(to_float(block.scale))) block.scale = kNan;
  return block;
}

void Tensor::copy_blocks(std::int64_t begin, std::span<float> out) const {
  while (!out.empty()) {
    const std::int64_t row = begin / shape_[1];
    const std::int64_t column = begin % shape_[1];
    const auto first = static_cast<std::size_t>(column % kQ8BlockSize);
    const auto count = std::min({static_cast<std::size_t>(kQ8BlockSize) - first,
                                 static_cast<std::size_t>(shape_[1] - column), out.size()});
    const Q8WeightBlock values = block(row, column / kQ8BlockSize);
    for (std::size_t i = 0; i < count; ++i) out[i] = dequantize(values, first + i);
    out = out.subspan(count);
    begin += static_cast<std::int64_t>(count);
  }
}

void Tensor::copy_to_q8_0(std::int64_t row, std::span<Q8WeightBlock> out) const {
  check(rank() == 2 && is_floating_point(dtype_),
        "[tensor] expected a floating-point matrix, got {} {}", dtype_name(dtype_),
        shape_string(shape_));
  const std::int64_t blocks = num_q8_blocks(shape_[1]);
  const auto count = static_cast<std::int64_t>(out.size());
  check(row >= 0 && row <= shape_[0] && (blocks == 0 ? count == 0 : count % blocks == 0) &&
            (blocks == 0 || count / blocks <= shape_[0] - row),
        "[tensor] {} blocks from row {} on are no rows of shape {}", count, row,
        shape_string(shape_));
  for (std::int64_t i = 0; i < count; ++i) {
    out[static_cast<std::size_t>(i)] = block(row + i / blocks, i % blocks);
  }
}

Tensor Tensor::slice_rows(std::int64_t begin, std::int64_t end) const {
  check(!shape_.empty() && begin >= 0 && begin <= end && end <= shape_[0],
        "[tensor] rows {}..{} are outside shape {}", begin, end, shape_string(shape_));
  Shape shape = shape_;
  shape[0] = end - begin;
  const std::size_t row = shape_[0] == 0 ? 0 : num_bytes_ / static_cast<std::size_t>(shape_[0]);
  const auto offset = static_cast<std::size_t>(begin) * row;
  Tensor rows(dtype_, std::move(shape), data_ + offset, storage_);
  rows.as_q8_0_ = as_q8_0_;
  return rows;
}

void Tensor::discard() const noexcept {
  if (storage_) storage_->discard(bytes());
}

}  // namespace lattice
