#include "engine/inference_config.h"

#include <fmt/ranges.h>

#include "io/config_reader.h"

namespace lattice {
namespace {

constexpr std::int64_t kMaxTablePositions = std::int64_t{1} << 20;  // half a gigabyte or less
constexpr std::int64_t kMaxPositions = std::int64_t{1} << 30;
constexpr std::int64_t kMaxTokenId = (std::int64_t{1} << 31) - 1;
constexpr const char* kFileName = "inference_config.json";

std::optional<Sourced<std::int64_t>> read_int(ConfigReader& reader, std::string_view key,
                                              std::int64_t min, std::int64_t max) {
  if (!reader.has(key)) return std::nullopt;
  return Sourced<std::int64_t>{reader.require_int(key, min, max),
                               fmt::format("{}: {}", kFileName, key)};
}

}  // namespace

InferenceConfig load_inference_config(const std::filesystem::path& directory) {
  InferenceConfig config;
  const std::filesystem::path file = directory / kFileName;
  if (!std::filesystem::exists(file)) return config;
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
  ConfigReader reader(document.root(), file.string());
  config.eos_token_id = read_int(reader, "eos_token_id", 0, kMaxTokenId);
  if (auto length = read_int(reader, "rope_table_max_seq_len", 1, kMaxTablePositions)) {
    config.rope_table_max_seq_len = *std::move(length);
  }
  config.gpu_max_seq_len = read_int(reader, "gpu_max_seq_len", 1, kMaxPositions);
  value_or_throw(reader.finish());
  const std::vector<std::string> unknown = reader.unread_keys();
  if (!unknown.empty()) {
    raise(ErrorCode::kMalformed,
          "{}: unknown key \"{}\" (known: eos_token_id, gpu_max_seq_len, rope_table_max_seq_len)",
          file.string(), fmt::join(unknown, "\", \""));
  }
  return config;
}

}  // namespace lattice
