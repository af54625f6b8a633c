#include "engine/module_list.h"

#include <array>
#include <optional>

#include "io/config_reader.h"

namespace lattice {
namespace {

struct KindRow {
  std::string_view class_name;
  ModuleKind kind;
};

constexpr std::array<KindRow, 6> kKinds = {{
    {"Transformer", ModuleKind::kTransformer},
    {"Pooling", ModuleKind::kPooling},
    {"Dense", ModuleKind::kDense},
    {"Normalize", ModuleKind::kNormalize},
    {"LayerNorm", ModuleKind::kLayerNorm},
    {"LogitScore", ModuleKind::kLogitScore},
}};

std::optional<ModuleKind> parse_kind(std::string_view type) {
  const std::string_view class_name = type.substr(type.rfind('.') + 1);
  for (const KindRow& row : kKinds) {
    if (row.class_name == class_name) return row.kind;
  }
  return std::nullopt;
}

ModuleEntry parse_entry(const Json& item, const ModelDirectory& directory,
                        const std::string& where) {
  ConfigReader reader(item, where);
  const std::string type = reader.require_string("type");
  const std::string path = reader.get_string("path", "");
  value_or_throw(reader.finish());
  const auto kind = parse_kind(type);
  if (!kind) {
    raise(ErrorCode::kUnsupported, "{}: module class \"{}\" is not implemented", where, type);
  }
  // Normalize has no files, and many repositories do not even hold its folder.
  const bool has_files = *kind != ModuleKind::kNormalize;
  return ModuleEntry{
      *kind, has_files ? value_or_throw(directory.subdirectory(path, where)) : directory, path};
}

}  // namespace

std::vector<ModuleEntry> load_module_list(const ModelDirectory& directory) {
  const std::filesystem::path file = directory.path() / "modules.json";
  std::vector<ModuleEntry> modules;
  if (!directory.has_file("modules.json")) return modules;
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
  if (!document.root().is_array()) {
    raise(ErrorCode::kMalformed, "{}: expected an array of modules, got {}", file.string(),
          document.root().kind_name());
  }
  for (std::size_t i = 0; i < document.root().items().size(); ++i) {
    modules.push_back(parse_entry(document.root().items()[i], directory,
                                  fmt::format("{}: [{}]", file.string(), i)));
  }
  if (modules.empty() || modules[0].kind != ModuleKind::kTransformer) {
    raise(ErrorCode::kMalformed, "{}: expected a Transformer module first", file.string());
  }
  return modules;
}

bool is_embedding_chain(std::span<const ModuleEntry> modules) {
  return modules.size() >= 2 && modules[0].kind == ModuleKind::kTransformer &&
         modules[1].kind == ModuleKind::kPooling;
}

void check_embedding_modules(std::span<const ModuleEntry> modules, const std::string& file) {
  if (!is_embedding_chain(modules)) {
    raise(ErrorCode::kMalformed, "{}: expected a Transformer module followed by a Pooling module",
          file);
  }
  for (std::size_t i = 2; i < modules.size(); ++i) {
    const ModuleKind kind = modules[i].kind;
    if (kind == ModuleKind::kTransformer || kind == ModuleKind::kPooling ||
        kind == ModuleKind::kLogitScore) {
      raise(ErrorCode::kUnsupported, "{}: [{}]: this module after a Pooling is not implemented",
            file, i);
    }
  }
}

}  // namespace lattice
