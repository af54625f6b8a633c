#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/weight_files.h"
#include "tensor/tensor.h"

namespace lattice {

/// A view of a model's weights below a name prefix. A family's loader walks down with child() and
/// takes tensors by their short names and expected shapes. Loading ends on the first fault: all
/// methods throw LatticeError that names the full tensor name. Used by one thread while a model
/// loads.
class WeightScope {
 public:
  explicit WeightScope(WeightFiles files);

  /// The scope "<this>.<name>".
  WeightScope child(std::string_view name) const;

  bool has(std::string_view name) const;
  /// The tensor; kNotFound when missing, kMalformed when the shape differs or it is not
  /// floating-point.
  Tensor require(std::string_view name, const Shape& shape) const;
  std::optional<Tensor> find(std::string_view name, const Shape& shape) const;
  /// A small vector, converted to f32.
  std::vector<float> require_floats(std::string_view name, std::int64_t size) const;

  /// Names in the files that were never asked for, to be reported.
  std::vector<std::string> unused_names() const;

 private:
  struct Shared {
    WeightFiles files;
    std::set<std::string, std::less<>> used;
  };
  WeightScope(std::shared_ptr<Shared> shared, std::string prefix);

  std::shared_ptr<Shared> shared_;
  std::string prefix_;  // "" or ends with '.'
};

}  // namespace lattice
