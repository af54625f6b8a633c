#include "layers/weight_scope.h"

namespace lattice {

WeightScope::WeightScope(WeightFiles files, WeightFormat format)
    : shared_(std::make_shared<Shared>(Shared{std::move(files), format, {}, {}})) {}

WeightScope::WeightScope(std::shared_ptr<Shared> shared, std::string prefix)
    : shared_(std::move(shared)), prefix_(std::move(prefix)) {}

WeightScope WeightScope::child(std::string_view name) const {
  return WeightScope(shared_, fmt::format("{}{}.", prefix_, name));
}

bool WeightScope::has(std::string_view name) const {
  return shared_->files.contains(prefix_ + std::string(name));
}

std::optional<Tensor> WeightScope::find(std::string_view name, const Shape& shape) const {
  const std::string full_name = prefix_ + std::string(name);
  std::optional<Tensor> tensor = value_or_throw(shared_->files.find(full_name));
  if (!tensor) return std::nullopt;
  shared_->used.insert(full_name);
  if (!is_floating_point(tensor->dtype())) {
    raise(ErrorCode::kMalformed,
          "[weights] {}: tensor \"{}\": expected a floating-point dtype, got {}",
          shared_->files.source(), full_name, dtype_name(tensor->dtype()));
  }
  if (tensor->shape() != shape) {
    raise(ErrorCode::kMalformed, "[weights] {}: tensor \"{}\": expected shape {}, got {}",
          shared_->files.source(), full_name, shape_string(shape), shape_string(tensor->shape()));
  }
  return tensor;
}

void WeightScope::mark_quantizable(std::string_view name, const Tensor& tensor) const {
  if (tensor.rank() == 2) shared_->quantizable.insert(prefix_ + std::string(name));
}

Tensor WeightScope::require(std::string_view name, const Shape& shape) const {
  Tensor tensor = require_as_stored(name, shape);
  mark_quantizable(name, tensor);
  const bool quantize = shared_->format == WeightFormat::kQ8_0 && tensor.rank() == 2;
  return quantize ? tensor.as_q8_0() : tensor;
}

Tensor WeightScope::require_linear(std::string_view name, const Shape& shape) const {
  Tensor tensor = require_as_stored(name, shape);
  mark_quantizable(name, tensor);
  return tensor;
}

Tensor WeightScope::require_as_stored(std::string_view name, const Shape& shape) const {
  std::optional<Tensor> tensor = find(name, shape);
  if (!tensor) {
    raise(ErrorCode::kNotFound, "[weights] tensor \"{}{}\" {} is missing", prefix_, name,
          shape_string(shape));
  }
  return *std::move(tensor);
}

std::vector<float> WeightScope::require_floats(std::string_view name, std::int64_t size) const {
  std::vector<float> values(static_cast<std::size_t>(size));
  require_as_stored(name, {size}).copy_to_f32(0, values);
  return values;
}

std::vector<std::string> WeightScope::quantizable_names() const {
  return {shared_->quantizable.begin(), shared_->quantizable.end()};
}

std::vector<std::string> WeightScope::unused_names() const {
  std::vector<std::string> unused;
  for (std::string& name : shared_->files.names()) {
    if (!shared_->used.contains(name)) unused.push_back(std::move(name));
  }
  return unused;
}

}  // namespace lattice
