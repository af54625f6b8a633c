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
#include "tensor/q8_0.h"

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
/// hence safe to share between threads. The data may be unaligned when it comes from a file. A Q8_0
/// tensor is [N, K]; its bytes are N rows of ceil(K / 32) blocks.
class Tensor {
 public:
  Tensor() = default;
  /// Throws kInternal for a Q8_0 tensor that is not 2-D.
  Tensor(DType dtype, Shape shape, const std::byte* data,
         std::shared_ptr<const TensorStorage> storage);

  /// An owning f32 tensor with the given values (tests, converted weights).
  static Tensor from_floats(Shape shape, std::span<const float> values);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t dim(std::size_t axis) const { return shape_.at(axis); }
  std::size_t rank() const { return shape_.size(); }
  std::int64_t num_elements() const { return num_elements_; }
  std::size_t num_bytes() const { return num_bytes_; }
  bool empty() const { return data_ == nullptr; }

  std::span<const std::byte> bytes() const { return {data_, num_bytes()}; }

  /// The f32 data without a copy. Throws kInternal unless is_aligned_f32().
  const float* f32() const;
  /// Whether the data is what copy_to_f32() gives, aligned as floats are.
  bool is_aligned_f32() const;

  /// This floating-point matrix, read as if it were stored in Q8_0: each block is quantized when it
  /// is read, so that nothing is computed or kept here and every read has the bits that the stored
  /// tensor would give. dtype() and bytes() stay those of the storage.
  Tensor as_q8_0() const;
  /// Whether reads go through blocks: the tensor is stored in Q8_0, or is seen as if it were.
  bool has_blocks() const { return as_q8_0_ || dtype_ == DType::kQ8_0; }

  /// Elements [begin, begin + out.size()) converted to f32; any float dtype, any alignment. A block
  /// whose scale is not finite is NaN throughout.
  void copy_to_f32(std::int64_t begin, std::span<float> out) const;

  /// Rows of this matrix from `row` on as Q8_0 blocks, out.size() / num_q8_blocks(K) of them:
  /// stored blocks as they are, other floats quantized. A scale that is not finite is NaN. Throws
  /// kInternal for rows outside the tensor or a part of a row.
  void copy_to_q8_0(std::int64_t row, std::span<Q8WeightBlock> out) const;

  /// Rows [begin, end) of the outermost dimension; shares the storage.
  Tensor slice_rows(std::int64_t begin, std::int64_t end) const;

  /// Hints that this tensor's bytes will not be read soon.
  void discard() const noexcept;

 private:
  Q8WeightBlock block(std::int64_t row, std::int64_t block_idx) const;
  void copy_stored(std::int64_t begin, std::span<float> out) const;
  void copy_blocks(std::int64_t begin, std::span<float> out) const;

  DType dtype_ = DType::kF32;
  bool as_q8_0_ = false;
  Shape shape_;
  std::int64_t num_elements_ = 0;
  std::size_t num_bytes_ = 0;
  const std::byte* data_ = nullptr;
  std::shared_ptr<const TensorStorage> storage_;
};

}  // namespace lattice
