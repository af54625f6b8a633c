#include "engine/copy_model_files.h"

#include <algorithm>

#include "base/mapped_file.h"
#include "io/output_file.h"
#include "io/weight_files.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

// Deep enough for any model; a link to a folder above it ends here.
constexpr int kMaxDepth = 16;

void copy_content(const fs::path& from, const fs::path& to) {
  const MappedFile source = value_or_throw(MappedFile::open(from));
  OutputFile target = value_or_throw(OutputFile::open(to, OutputFile::Mode::kCreateNew));
  value_or_throw(target.write(source.bytes()));
  value_or_throw(target.sync());
  value_or_throw(target.close());
}

std::vector<fs::path> sorted_names(const fs::path& folder) {
  std::vector<fs::path> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename());
  }
  if (error) {
    raise(ErrorCode::kIo, "{}: cannot list the folder: {}", folder.string(), error.message());
  }
  std::ranges::sort(names);
  return names;
}

class Copier {
 public:
  explicit Copier(const ModelFilesToCopy& files) : files_(files) {}

  void copy_folder(const fs::path& folder, int depth) {
    if (depth > kMaxDepth) {
      raise(ErrorCode::kUnsupported, "{}: folders are nested deeper than {}",
            (files_.source / folder).string(), kMaxDepth);
    }
    for (const fs::path& name : sorted_names(files_.source / folder)) {
      if (!name.string().starts_with('.')) copy_entry(folder / name, depth);
    }
  }

  std::vector<std::string> take_skipped() { return std::move(skipped_); }

 private:
  void copy_entry(const fs::path& path, int depth) {
    if (files_.replaced.contains(path)) return;
    const fs::path from = files_.source / path;
    const fs::path to = files_.target / path;
    std::error_code error;
    const fs::file_status status = fs::status(from, error);
    if (fs::is_directory(status)) {
      fs::create_directory(to, error);
      if (error) {
        raise(ErrorCode::kIo, "{}: cannot make the folder: {}", to.string(), error.message());
      }
      copy_folder(path, depth + 1);
    } else if (!fs::is_regular_file(status)) {
      raise(ErrorCode::kUnsupported, "{}: expected a file or a folder{}{}", from.string(),
            error ? ": " : "", error ? error.message() : "");
    } else if (WeightFiles::looks_like_weights(path.filename().string()) && !in_module(path)) {
      skipped_.push_back(path.string());
    } else {
      copy_content(from, to);
    }
  }

  bool in_module(const fs::path& path) const {
    for (fs::path folder = path.parent_path(); !folder.empty(); folder = folder.parent_path()) {
      if (files_.module_folders.contains(folder)) return true;
    }
    return false;
  }

  const ModelFilesToCopy& files_;
  std::vector<std::string> skipped_;
};

}  // namespace

std::vector<std::string> copy_model_files(const ModelFilesToCopy& files) {
  Copier copier(files);
  copier.copy_folder("", 0);
  return copier.take_skipped();
}

}  // namespace lattice
