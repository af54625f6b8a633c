#include "io/weight_index.h"

#include "base/bytes.h"
#include "base/mapped_file.h"
#include "io/config_reader.h"
#include "io/json.h"
#include "io/model_directory.h"

namespace lattice {

Result<WeightMap> parse_weight_index(std::string_view text, const std::string& source) {
  auto document = JsonDocument::parse(text, source);
  if (!document) return forward_error(document);
  ConfigReader reader(document->root(), source);
  const Json* entries = reader.get("weight_map");
  if (auto status = reader.finish(); !status) return forward_error(status);
  if (entries == nullptr || !entries->is_object() || entries->members().empty()) {
    return fail(ErrorCode::kMalformed,
                "{}: weight_map: expected an object of tensor names and shards, got {}", source,
                entries == nullptr     ? "nothing"
                : entries->is_object() ? "an empty one"
                                       : entries->kind_name());
  }
  WeightMap map;
  for (const JsonMember& member : entries->members()) {
    const auto shard = member.value.as_string();
    const std::string field = fmt::format("{}: weight_map[\"{}\"]", source, member.key);
    if (!shard) {
      return fail(ErrorCode::kMalformed, "{}: expected a file name, got {}", field,
                  member.value.kind_name());
    }
    if (auto status = check_relative_name(*shard, field); !status) return forward_error(status);
    if (!shard->ends_with(".safetensors")) {
      return fail(ErrorCode::kMalformed, "{}: expected a .safetensors file, got \"{}\"", field,
                  *shard);
    }
    if (!map.emplace(member.key, *shard).second) {
      return fail(ErrorCode::kMalformed, "{}: the tensor occurs twice", field);
    }
  }
  return map;
}

Result<WeightMap> read_weight_index(const std::filesystem::path& path) {
  constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  auto file = MappedFile::open(path);
  if (!file) return forward_error(file);
  const auto bytes = file->bytes();
  if (bytes.size() > kMaxBytes) {
    return fail(ErrorCode::kMalformed, "{}: expected an index of at most {} bytes, got {}",
                path.string(), kMaxBytes, bytes.size());
  }
  return parse_weight_index(as_text(bytes), path.string());
}

}  // namespace lattice
