#include "io/temporary_name.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <random>

namespace lattice {

namespace fs = std::filesystem;

fs::path directory_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

fs::path temporary_sibling(const fs::path& target) {
  static std::atomic<unsigned> counter = 0;
  std::random_device random;
  return directory_of(target) /
         fmt::format(".lattice-{}-{}-{:08x}.tmp", ::getpid(), counter++, random());
}

void try_sync_directory(const fs::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace lattice
