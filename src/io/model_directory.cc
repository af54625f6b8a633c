#include "io/model_directory.h"

#include <string>
#include <system_error>

namespace lattice {

namespace fs = std::filesystem;

Result<void> check_relative_name(std::string_view name, std::string_view source) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kMalformed,
                "{}: expected a name inside the model's directory, got \"{}\": {}", source, name,
                why);
  };
  if (name.empty()) return refuse("it is empty");
  if (name.find('\0') != name.npos) return refuse("it contains a NUL byte");
  if (name.find('\\') != name.npos) return refuse("it contains a backslash");
  const fs::path path(name);
  if (path.is_absolute()) return refuse("it is absolute");
  for (const fs::path& part : path) {
    if (part == "..") return refuse("it leaves the directory");
  }
  return {};
}

Result<ModelDirectory> ModelDirectory::open(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return fail(ErrorCode::kNotFound, "{}: no such model directory", path.string());
  }
  if (!fs::is_directory(path, ignored)) {
    return fail(ErrorCode::kInvalidArgument, "{}: expected a model directory, got a file",
                path.string());
  }
  return ModelDirectory(path);
}

Result<fs::path> ModelDirectory::resolve(std::string_view name, std::string_view source) const {
  if (auto status = check_relative_name(name, source); !status) return forward_error(status);
  return path_ / fs::path(name);
}

Result<ModelDirectory> ModelDirectory::subdirectory(std::string_view name,
                                                    std::string_view source) const {
  if (name.empty() || name == ".") return *this;
  auto path = resolve(name, source);
  if (!path) return forward_error(path);
  std::error_code ignored;
  if (!fs::is_directory(*path, ignored)) {
    return fail(ErrorCode::kNotFound, "{}: names the folder \"{}\", which is missing", source,
                name);
  }
  return ModelDirectory(std::move(*path));
}

bool ModelDirectory::has_file(std::string_view name) const {
  std::error_code ignored;
  return fs::is_regular_file(path_ / fs::path(name), ignored);
}

}  // namespace lattice
