#include "io/q8_0_metadata.h"

#include <unordered_map>

#include "io/json.h"

namespace lattice {
namespace {

constexpr std::string_view kPrefix = "lattice.q8_0.";
constexpr std::int64_t kBlockBytes = sizeof(Q8WeightBlock);

/// "[N, K]", or nothing when the text is anything else.
std::optional<Shape> parse_shape(const std::string& text, const std::string& source) {
  const auto document = JsonDocument::parse(text, source);
  if (!document || !document->root().is_array()) return std::nullopt;
  Shape shape;
  for (const Json& item : document->root().items()) {
    const auto dim = item.kind() == Json::Kind::kInt ? item.as_int() : std::nullopt;
    if (!dim || *dim < 1) return std::nullopt;
    shape.push_back(*dim);
  }
  return shape.size() == 2 ? std::optional(std::move(shape)) : std::nullopt;
}

/// Whether a stored shape is what N rows of K columns take. Divides, so that nothing overflows.
bool holds(const Shape& stored, const Shape& logical) {
  return stored.size() == 2 && stored[0] == logical[0] && stored[1] % kBlockBytes == 0 &&
         stored[1] / kBlockBytes == num_q8_blocks(logical[1]);
}

}  // namespace

std::string q8_0_metadata_key(std::string_view name) { return fmt::format("{}{}", kPrefix, name); }

Result<void> apply_q8_0_metadata(SafetensorsHeader& header, const std::string& path) {
  std::unordered_map<std::string_view, SafetensorsEntry*> by_name;
  for (SafetensorsEntry& entry : header.entries) by_name.emplace(entry.name, &entry);
  for (const auto& [key, value] : header.metadata) {
    if (!key.starts_with(kPrefix)) continue;
    const std::string_view name = std::string_view(key).substr(kPrefix.size());
    const auto malformed = [&](const std::string& what) {
      return fail(ErrorCode::kMalformed, "[safetensors] {}: tensor \"{}\": __metadata__ {}: {}",
                  path, name, key, what);
    };
    const auto found = by_name.find(name);
    if (found == by_name.end()) return malformed("the file has no such tensor");
    std::optional<Shape> shape = parse_shape(value, key);
    if (!shape) {
      return malformed(fmt::format("expected \"[rows, columns]\", got \"{}\"", value));
    }
    SafetensorsEntry& entry = *found->second;
    if (entry.dtype != DType::kU8 || !holds(entry.shape, *shape)) {
      return malformed(fmt::format("expected U8 [{}, {} blocks of {} bytes] for {}, got {} {}",
                                   (*shape)[0], num_q8_blocks((*shape)[1]), kBlockBytes,
                                   shape_string(*shape), entry.dtype_name,
                                   shape_string(entry.shape)));
    }
    entry.dtype = DType::kQ8_0;
    entry.shape = *std::move(shape);
  }
  return {};
}

}  // namespace lattice
