#include "backends/metal/simt/shadow.h"

namespace lattice::metal::simt {
namespace {

bool conflicts(const Accessor& before, const Accessor& now, std::uint32_t first_run) {
  if (before.run < first_run) return false;  // of an earlier dispatch, or nobody
  if (before.is_atomic && now.is_atomic) return false;
  if (before.run != now.run) return true;
  if (before.thread == now.thread || before.epoch != now.epoch) return false;
  return before.simd_group() != now.simd_group() || before.simd_epoch == now.simd_epoch;
}

const char* describe_race(const Accessor& before, const Accessor& now) {
  return before.run != now.run ? "race between threadgroups" : "race";
}

// How likely a later writer is to conflict with `before` though not with `now`.
int strangeness(const Accessor& before, const Accessor& now, std::uint32_t first_run) {
  if (before.run < first_run) return 0;
  if (before.run != now.run) return 3;
  if (before.thread == now.thread || before.epoch != now.epoch) return 0;
  return before.simd_group() != now.simd_group() ? 2 : 1;
}

Fault race(const Accessor& before, const char* did, const Accessor& now) {
  return {.what = describe_race(before, now),
          .other = Place{.thread = before.thread, .pc = before.pc, .doing = did}};
}

}  // namespace

void Shadow::remember_reader(Cell& cell, const Accessor& who, std::uint32_t first_run) {
  if (strangeness(cell.readers[0], who, first_run) >=
      strangeness(cell.readers[1], who, first_run)) {
    cell.readers[1] = cell.readers[0];
  }
  cell.readers[0] = who;
}

std::optional<Fault> Shadow::access(std::size_t offset, std::size_t size, const Accessor& who,
                                    bool is_write, std::uint32_t first_run) {
  for (std::size_t i = offset; i < offset + size; ++i) {
    Cell& cell = cells_[i];
    if (conflicts(cell.writer, who, first_run)) return race(cell.writer, "wrote", who);
    if (conflicts(cell.atomic, who, first_run)) return race(cell.atomic, "used atomically", who);
    if (!is_write) {
      const bool is_defined = defined_ || cell.writer.run == who.run || cell.atomic.run == who.run;
      if (!is_defined) return Fault{.what = "read of memory that nobody wrote"};
      remember_reader(cell, who, first_run);
      continue;
    }
    for (const Accessor& reader : cell.readers) {
      if (conflicts(reader, who, first_run)) return race(reader, "read", who);
    }
    (who.is_atomic ? cell.atomic : cell.writer) = who;
  }
  return std::nullopt;
}

}  // namespace lattice::metal::simt
