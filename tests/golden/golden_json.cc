#include "golden/golden_json.h"

#include <algorithm>

#include "base/result.h"
#include "io/safetensors.h"

namespace lattice {

std::filesystem::path golden_dir() {
  return std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden";
}

const Json& member(const Json& object, const std::string& key) {
  const Json* value = object.find(key);
  if (value == nullptr) raise(ErrorCode::kMalformed, "golden: \"{}\" is missing", key);
  return *value;
}

std::size_t to_size(const Json& value) { return static_cast<std::size_t>(value.as_uint().value()); }

std::vector<double> read_doubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.num_elements()));
  if (tensor.dtype() == DType::kF64) {
    const auto bytes = tensor.bytes();
    std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(values)).begin());
    return values;
  }
  std::vector<float> floats(values.size());
  tensor.copy_to_f32(0, floats);
  std::copy(floats.begin(), floats.end(), values.begin());
  return values;
}

Tensor read_tensor(const std::filesystem::path& file, const std::string& name) {
  const SafetensorsFile tensors = value_or_throw(SafetensorsFile::open(file));
  const std::optional<Tensor> tensor = value_or_throw(tensors.find(name));
  if (!tensor) raise(ErrorCode::kMalformed, "{}: no tensor {}", file.string(), name);
  return *tensor;
}

GoldenCase parse_case(const Json& json) {
  GoldenCase c;
  if (const Json* text = json.find("text")) c.text = text->as_string().value();
  if (const Json* pair = json.find("pair")) c.pair = std::string(pair->as_string().value());
  c.ids = to_integers<std::int32_t>(member(json, "ids"));
  const Json* types = json.find("model_type_ids");
  if (types == nullptr) types = json.find("type_ids");
  if (types != nullptr) c.type_ids = to_integers<std::int32_t>(*types);
  c.type_ids.resize(c.ids.size(), 0);
  c.num_tokens = to_size(member(json, "tokens"));
  c.truncated = member(json, "truncated").as_bool().value();
  return c;
}

}  // namespace lattice
