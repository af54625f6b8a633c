#include "engine/pooling_config.h"

#include <array>
#include <optional>

#include "io/config_reader.h"

namespace lattice {
namespace {

struct ModeRow {
  PoolingMode mode;
  std::string_view name;
  std::string_view old_key;
};

// In the order in which several old booleans concatenate.
constexpr std::array<ModeRow, 6> kModes = {{
    {PoolingMode::kCls, "cls", "pooling_mode_cls_token"},
    {PoolingMode::kMax, "max", "pooling_mode_max_tokens"},
    {PoolingMode::kMean, "mean", "pooling_mode_mean_tokens"},
    {PoolingMode::kMeanSqrtLen, "mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"},
    {PoolingMode::kWeightedMean, "weightedmean", "pooling_mode_weightedmean_tokens"},
    {PoolingMode::kLastToken, "lasttoken", "pooling_mode_lasttoken"},
}};

std::optional<PoolingMode> parse_mode(std::string_view name) {
  for (const ModeRow& row : kModes) {
    if (row.name == name) return row.mode;
  }
  return std::nullopt;
}

void add_mode(ConfigReader& reader, const Json& value, std::vector<PoolingMode>& modes) {
  const auto name = value.as_string();
  if (!name) return reader.wrong_type("pooling_mode", "a mode's name", value);
  const auto mode = parse_mode(*name);
  if (!mode) {
    return reader.set_error(
        ErrorCode::kUnsupported,
        fmt::format("{}: pooling_mode: unknown mode \"{}\"", reader.source(), *name));
  }
  modes.push_back(*mode);
}

std::vector<PoolingMode> read_modes(ConfigReader& reader) {
  std::vector<PoolingMode> modes;
  std::vector<PoolingMode> old_modes;
  for (const ModeRow& row : kModes) {
    if (reader.get_bool(row.old_key, false)) old_modes.push_back(row.mode);
  }
  const Json* mode = reader.get("pooling_mode");
  if (mode == nullptr) {
    modes = std::move(old_modes);
  } else if (mode->is_array()) {
    for (const Json& item : mode->items()) add_mode(reader, item, modes);
  } else {
    add_mode(reader, *mode, modes);
  }
  if (modes.empty()) modes = {PoolingMode::kMean};
  return modes;
}

}  // namespace

PoolingConfig parse_pooling_config(const std::filesystem::path& file, std::int64_t hidden_size) {
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
  ConfigReader reader(document.root(), file.string());
  PoolingConfig config;
  config.source = file.string();
  config.modes = read_modes(reader);
  config.include_prompt = reader.get_bool("include_prompt", true);
  for (const std::string_view key : {"word_embedding_dimension", "embedding_dimension"}) {
    const std::int64_t width = reader.get_int(key, hidden_size, 1, 1 << 24);
    if (width != hidden_size) {
      reader.set_error(ErrorCode::kMalformed,
                       fmt::format("{}: {}: expected the model's hidden size {}, got {}",
                                   file.string(), key, hidden_size, width));
    }
  }
  value_or_throw(reader.finish());
  reader.warn_unread_keys();
  return config;
}

std::string_view pooling_mode_name(PoolingMode mode) {
  for (const ModeRow& row : kModes) {
    if (row.mode == mode) return row.name;
  }
  return "mean";
}

std::string pooling_name(const std::vector<PoolingMode>& modes) {
  std::string name;
  for (const PoolingMode mode : modes) {
    if (!name.empty()) name += '+';
    name += pooling_mode_name(mode);
  }
  return name;
}

}  // namespace lattice
