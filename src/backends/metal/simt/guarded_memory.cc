#include "backends/metal/simt/guarded_memory.h"

#include <sys/mman.h>

#include <cstring>

#include "base/result.h"

namespace lattice::metal::simt {

GuardedMemory::GuardedMemory(std::size_t num_bytes) : num_bytes_(num_bytes) {
  void* memory =
      mmap(nullptr, reserved(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool is_usable =
      memory != MAP_FAILED && (num_bytes == 0 || mprotect(static_cast<std::byte*>(memory) + kGuard,
                                                          num_bytes, PROT_READ | PROT_WRITE) == 0);
  if (!is_usable) raise(ErrorCode::kUnavailable, "[simt] no memory for {} bytes", num_bytes);
  memory_ = static_cast<std::byte*>(memory);
  if (num_bytes > 0) std::memset(bytes().data(), 0xFF, num_bytes);
}

GuardedMemory::~GuardedMemory() { munmap(memory_, reserved()); }

std::size_t GuardedMemory::reserved() const { return num_bytes_ + 2 * kGuard; }

}  // namespace lattice::metal::simt
