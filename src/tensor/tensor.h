#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/float16.h"
#include "tensor/dtype.h"

namespace lattice {

/// Dimensions, outermost first, row-major.
using Shape = std::vector<std::int64_t>;

/// The product of the dimensions (1 for a scalar). Callers have checked that it fits.
std::int64_t num_elements(const Shape& shape);

/// "[30522, 384]".
std::string shape_string(const Shape& shape);

/// Keeps a tensor's memory alive, and may be told that parts of it are no longer needed.
class TensorStorage {
 public:
  TensorStorage() = default;
  TensorStorage(const TensorStorage&) = delete;
  TensorStorage& operator=(const TensorStorage&) = delete;
  virtual ~TensorStorage() = default;
  /// A hint that `bytes` will not be read soon (see MappedFile::discard_pages).
  virtual void discard(std::span<const std::byte> bytes) const noexcept;
};

/// A read-only, contiguous, row-major host tensor: a view plus shared ownership of the memory
/// behind it, so that a weight can never outlive its file mapping. Copies are cheap. Immutable,
/// hence safe to share between threads. The data may be unaligned when it comes from a file.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Shape shape, const std::byte* data,
         std::shared_ptr<const TensorStorage> storage);

  /// An owning f32 tensor with the given values (tests, converted weights).
  static Tensor from_floats(Shape shape, std::span<const float> values);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t dim(std::size_t axis) const { return shape_.at(axis); }
  std::size_t rank() const { return shape_.size(); }
  std::int64_t num_elements() const { return num_elements_; }
  std::size_t num_bytes() const {
    return static_cast<std::size_t>(num_elements_) * dtype_size(dtype_);
  }
  bool empty() const { return data_ == nullptr; }

  std::span<const std::byte> bytes() const { return {data_, num_bytes()}; }

  /// The f32 data without a copy. Throws kInternal unless dtype is F32 and the data is aligned.
  const float* f32() const;
  bool is_aligned_f32() const;

  /// Elements [begin, begin + out.size()) converted to f32; any float dtype, any alignment.
  void copy_to_f32(std::int64_t begin, std::span<float> out) const;

  /// Rows [begin, end) of the outermost dimension; shares the storage.
  Tensor slice_rows(std::int64_t begin, std::int64_t end) const;

  /// Hints that this tensor's bytes will not be read soon.
  void discard() const noexcept;

 private:
  DType dtype_ = DType::kF32;
  Shape shape_;
  std::int64_t num_elements_ = 0;
  const std::byte* data_ = nullptr;
  std::shared_ptr<const TensorStorage> storage_;
};

}  // namespace lattice
