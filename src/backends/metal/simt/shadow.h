#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/metal/simt/fault.h"

namespace lattice::metal::simt {

enum class Space { kThreadgroup, kDevice };

/// Who accesses, and after how many barriers.
struct Accessor {
  std::uint32_t run = 0;         ///< number of the threadgroup's execution, never reused
  std::uint32_t epoch = 0;       ///< threadgroup barriers passed that order the address space
  std::uint32_t simd_epoch = 0;  ///< simdgroup barriers, likewise
  std::uint16_t thread = 0;
  bool is_atomic = false;
  const void* pc = nullptr;

  std::uint32_t simd_group() const { return thread / 32u; }
};

/// What happened to each byte of a piece of memory: the last writer, the last atomic access and the
/// last two readers that differ. Finds races between threads and, for memory that starts out
/// undefined, reads of bytes that nobody wrote.
///
/// Two accesses of different threads are ordered by a threadgroup barrier between them, or by a
/// simdgroup barrier within a SIMD group; nothing orders threadgroups. Collective operations are
/// deliberately no fence.
class Shadow {
 public:
  Shadow(std::size_t num_bytes, bool starts_defined)
      : cells_(num_bytes), defined_(starts_defined) {}

  /// Records an access to bytes [offset, offset + size). `first_run` is the first run of the
  /// current dispatch: earlier ones are ordered. Returns what is wrong with it.
  std::optional<Fault> access(std::size_t offset, std::size_t size, const Accessor& who,
                              bool is_write, std::uint32_t first_run);
  /// Nobody has touched anything (memory that starts out undefined is so again).
  void clear() { cells_.assign(cells_.size(), {}); }

 private:
  struct Cell {
    Accessor writer;
    Accessor atomic;  // the last atomic access
    Accessor readers[2];
  };
  static void remember_reader(Cell& cell, const Accessor& who, std::uint32_t first_run);

  std::vector<Cell> cells_;
  bool defined_;
};

/// A piece of memory that a kernel may touch.
struct Region {
  const char* begin = nullptr;
  std::size_t num_bytes = 0;
  std::string name;
  Space space = Space::kDevice;
  bool is_read_only = false;
  Shadow* shadow = nullptr;  ///< null for read-only memory

  bool contains(const char* address) const {
    return address >= begin && address < begin + num_bytes;
  }
};

}  // namespace lattice::metal::simt
