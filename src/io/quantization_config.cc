#include "io/quantization_config.h"

#include "io/json_writer.h"
#include "tensor/q8_0.h"

namespace lattice {
namespace {

constexpr std::string_view kKey = "quantization_config";
constexpr std::string_view kMethod = "lattice";
constexpr std::string_view kFormat = "q8_0";

void refuse(ConfigReader& reader, std::string_view what) {
  reader.set_error(ErrorCode::kUnsupported, fmt::format("{}: {}", reader.source(), what));
}

void read_q8_0(ConfigReader& reader) {
  const std::string method = reader.get_string("quant_method", "");
  if (method != kMethod) {
    return refuse(reader, fmt::format("quant_method: \"{}\" is not implemented (only \"{}\")",
                                      method, kMethod));
  }
  const std::string format = reader.get_string("format", "");
  if (format != kFormat) {
    return refuse(reader,
                  fmt::format("format: \"{}\" is not implemented (only \"{}\")", format, kFormat));
  }
  const std::int64_t size = reader.get_int("block_size", 0, 0, std::int64_t{1} << 30);
  if (size != kQ8BlockSize) {
    refuse(reader, fmt::format("block_size: {} is not implemented (only {})", size, kQ8BlockSize));
  }
  for (const std::string& key : reader.unread_keys()) {
    refuse(reader, fmt::format("{} is not implemented", key));
  }
}

}  // namespace

StoredQuantization read_quantization(ConfigReader& reader) {
  const Json* object = reader.get(kKey);
  if (object == nullptr) return StoredQuantization::kNone;
  ConfigReader inner(*object, fmt::format("{}: {}", reader.source(), kKey));
  if (inner.ok()) read_q8_0(inner);
  if (const auto status = inner.finish(); !status) {
    reader.set_error(status.error().code, status.error().message);
  }
  return StoredQuantization::kQ8_0;
}

std::string q8_0_quantization_config() {
  return JsonWriter()
      .begin_object()
      .field("quant_method", kMethod)
      .field("format", kFormat)
      .field("block_size", kQ8BlockSize)
      .end_object()
      .take();
}

Result<void> check_quantization(StoredQuantization stored, const WeightFiles& weights,
                                const std::string& config_path) {
  bool found = false;
  for (const std::string& name : weights.names()) {
    const auto tensor = weights.find(name);
    if (!tensor) return tl::make_unexpected(tensor.error());
    if (!*tensor || (*tensor)->dtype() != DType::kQ8_0) continue;
    if (stored == StoredQuantization::kNone) {
      return fail(ErrorCode::kMalformed,
                  "[weights] {}: tensor \"{}\" is stored in Q8_0, but {} has no {}",
                  weights.source(), name, config_path, kKey);
    }
    found = true;
  }
  if (stored == StoredQuantization::kQ8_0 && !found) {
    return fail(ErrorCode::kMalformed,
                "{}: {}: expected tensors stored in Q8_0, but {} declares none", config_path, kKey,
                weights.source());
  }
  return {};
}

}  // namespace lattice
