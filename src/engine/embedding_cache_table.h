#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lattice {

/// A key and its vector, immutable and shared: ids, type ids and the vector's bits in one block.
struct CachedEmbedding {
  std::uint32_t identity = 0;
  std::uint32_t num_ids = 0;
  std::uint32_t num_type_ids = 0;
  std::uint32_t dimensions = 0;
  std::shared_ptr<const std::uint32_t[]> words;

  std::size_t num_key_words() const { return std::size_t{num_ids} + num_type_ids; }
  std::size_t num_words() const { return num_key_words() + dimensions; }
};

/// Entries by hash; several may share one. Nothing is removed but by dropping the whole table. The
/// slots stay small enough for the processor's caches, so that a hit waits for main memory once,
/// for the entry's block. Not thread-safe.
class EmbeddingTable {
 public:
  struct Record {
    std::uint64_t hash = 0;
    CachedEmbedding entry;
  };

  std::size_t size() const { return records_.size(); }
  const std::vector<Record>& records() const { return records_; }

  /// The entry with `hash` for which `same(entry)` is true, or nullptr.
  template <typename Same>
  const CachedEmbedding* find(std::uint64_t hash, const Same& same) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      if (slots_[i].record == 0) return nullptr;
      if (slots_[i].hash != hash) continue;
      const CachedEmbedding& entry = records_[slots_[i].record - 1].entry;
      if (same(entry)) return &entry;
    }
  }

  /// Adds an entry that is not there.
  void add(std::uint64_t hash, const CachedEmbedding& entry) {
    if (2 * (records_.size() + 1) > slots_.size()) grow();
    records_.push_back({hash, entry});
    place(hash, records_.size());
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::size_t record = 0;  // its index + 1; 0: free
  };

  std::size_t mask() const { return slots_.size() - 1; }
  void place(std::uint64_t hash, std::size_t record) {
    std::size_t i = hash & mask();
    while (slots_[i].record != 0) i = (i + 1) & mask();
    slots_[i] = {hash, record};
  }
  void grow() {
    constexpr std::size_t kFirstSlots = 64;
    slots_.assign(slots_.empty() ? kFirstSlots : 2 * slots_.size(), Slot{});
    for (std::size_t i = 0; i < records_.size(); ++i) place(records_[i].hash, i + 1);
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::vector<Record> records_;
};

}  // namespace lattice
