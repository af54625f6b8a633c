#include "tensor/tensor.h"

#include <fmt/ranges.h>

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
  return dtype_ == DType::kF32 && std::bit_cast<std::uintptr_t>(data_) % alignof(float) == 0;
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

Tensor Tensor::slice_rows(std::int64_t begin, std::int64_t end) const {
  check(!shape_.empty() && begin >= 0 && begin <= end && end <= shape_[0],
        "[tensor] rows {}..{} are outside shape {}", begin, end, shape_string(shape_));
  Shape shape = shape_;
  shape[0] = end - begin;
  const std::int64_t row = shape_[0] == 0 ? 0 : num_elements_ / shape_[0];
  const auto offset = static_cast<std::size_t>(begin * row) * dtype_size(dtype_);
  return Tensor(dtype_, std::move(shape), data_ + offset, storage_);
}

void Tensor::discard() const noexcept {
  if (storage_) storage_->discard(bytes());
}

}  // namespace lattice
