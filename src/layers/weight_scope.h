#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/weight_files.h"
#include "ops/linear.h"
#include "tensor/tensor.h"

namespace lattice {

/// A view of a model's weights below a name prefix. A family's loader walks down with child() and
/// takes tensors by their short names and expected shapes. Loading ends on the first fault: all
/// methods throw LatticeError that names the full tensor name. Used by one thread while a model
/// loads.
class WeightScope {
 public:
  /// With `format` kQ8_0, tables read as if they were stored in Q8_0: require().
  explicit WeightScope(WeightFiles files, WeightFormat format = WeightFormat::kF32);

  /// The scope "<this>.<name>".
  WeightScope child(std::string_view name) const;

  bool has(std::string_view name) const;
  /// A tensor that the model computes with; kNotFound when missing, kMalformed when the shape
  /// differs or it is not floating-point. A matrix is taken for a table of tokens (the embedding, a
  /// language model's head): where the weights are to be Q8_0 it reads as such.
  Tensor require(std::string_view name, const Shape& shape) const;
  /// The weight of a linear layer, as stored: packing gives it the layer's format.
  Tensor require_linear(std::string_view name, const Shape& shape) const;
  /// Any other tensor, as stored: no format of weights changes it (a small table, a vector).
  Tensor require_as_stored(std::string_view name, const Shape& shape) const;
  /// Like require_as_stored(), but nothing when the tensor is missing.
  std::optional<Tensor> find(std::string_view name, const Shape& shape) const;
  /// A small vector, converted to f32.
  std::vector<float> require_floats(std::string_view name, std::int64_t size) const;

  /// Full names of the matrices that require() and require_linear() gave: what a quantized copy of
  /// the model stores in Q8_0. Sorted.
  std::vector<std::string> quantizable_names() const;

  /// Names in the files that were never asked for, to be reported.
  std::vector<std::string> unused_names() const;

 private:
  struct Shared {
    WeightFiles files;
    WeightFormat format;
    std::set<std::string, std::less<>> used;
    std::set<std::string, std::less<>> quantizable;
  };
  WeightScope(std::shared_ptr<Shared> shared, std::string prefix);
  void mark_quantizable(std::string_view name, const Tensor& tensor) const;

  std::shared_ptr<Shared> shared_;
  std::string prefix_;  // "" or ends with '.'
};

}  // namespace lattice
