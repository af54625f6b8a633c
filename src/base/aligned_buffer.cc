#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace lattice {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

void* allocate_aligned(std::size_t num_bytes) {
  if (num_bytes > SIZE_MAX - kHugePage) throw std::bad_alloc();
  const bool large = num_bytes >= 2 * kHugePage;
  const std::size_t alignment = large ? kHugePage : kBufferAlignment;
  // The tail of a large block stays on small pages, so that nothing is wasted.
  void* memory = nullptr;
  const std::size_t size = std::max(round_up(num_bytes, kBufferAlignment), kBufferAlignment);
  if (::posix_memalign(&memory, alignment, size) != 0) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  // A hint: where it is refused, pages are small.
  if (large) ::madvise(memory, num_bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_aligned(void* memory) noexcept { std::free(memory); }

}  // namespace lattice
