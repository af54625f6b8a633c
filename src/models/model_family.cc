#include "models/model_family.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "io/config_reader.h"

namespace lattice {
namespace {

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string implemented_architectures() {
  std::vector<std::string_view> all;
  for (const ModelFamily* family : model_families()) {
    all.insert(all.end(), family->architectures.begin(), family->architectures.end());
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

const ModelFamily& find_model_family(const Json& config, const std::string& config_path) {
  ConfigReader reader(config, config_path);
  const std::string model_type = reader.get_string("model_type", "");
  const Json* architectures = reader.get("architectures");
  value_or_throw(reader.finish());
  std::string architecture;
  if (architectures != nullptr && !architectures->items().empty()) {
    architecture = architectures->items()[0].as_string().value_or("");
  }
  if (architecture.empty() && model_type.empty()) {
    raise(ErrorCode::kMalformed, "{}: expected \"architectures\" or \"model_type\"", config_path);
  }
  for (const ModelFamily* family : model_families()) {
    const bool type_fits = model_type.empty() || contains(family->model_types, model_type);
    const bool architecture_fits =
        architecture.empty() || contains(family->architectures, architecture);
    if (type_fits && architecture_fits) return *family;
  }
  raise(ErrorCode::kUnsupported,
        "{}: architecture {} (model_type {}) is not implemented; implemented: {}", config_path,
        architecture.empty() ? "(none)" : architecture, model_type.empty() ? "(none)" : model_type,
        implemented_architectures());
}

}  // namespace lattice
