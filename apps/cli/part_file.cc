#include "part_file.h"

#include <fstream>
#include <sstream>

#include "base/result.h"
#include "cli.h"

namespace lattice::cli {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

PartFile::PartFile(const std::filesystem::path& file, const std::string& identity, bool resume)
    : file_(file), part_(file.string() + ".part"), run_(file.string() + ".part.run") {
  if (resume && std::filesystem::exists(part_)) {
    if (read_text(run_) != identity) {
      throw UsageError(fmt::format(
          "--resume: {} was begun with another model, options or input; finish it with those, or "
          "remove it",
          part_.string()));
    }
    resumed_ = true;
    return;
  }
  if (resume && std::filesystem::exists(file_)) {
    throw UsageError(
        fmt::format("--resume: {} is complete; remove it to compute it anew", file_.string()));
  }
  std::filesystem::remove(part_);
  std::ofstream run(run_, std::ios::binary | std::ios::trunc);
  run << identity;
  run.close();
  if (!run) raise(ErrorCode::kIo, "{}: cannot write", run_.string());
}

void PartFile::finish() {
  std::error_code error;
  std::filesystem::rename(part_, file_, error);
  if (error) {
    raise(ErrorCode::kIo, "{}: cannot rename to {}: {}", part_.string(), file_.string(),
          error.message());
  }
  std::filesystem::remove(run_, error);
}

}  // namespace lattice::cli
