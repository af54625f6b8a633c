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

/// Entries by hash; several may share one. Nothing is removed but by dropping the whole table. A
/// hit waits for main memory twice: for a slot, and then for the record and its block together. Not
/// thread-safe.
class EmbeddingTable {
 public:
  struct Record {
    std::uint64_t hash = 0;
    CachedEmbedding entry;
  };

  std::size_t size() const { return records_.size(); }
  const std::vector<Record>& records() const { return records_; }

  /// The entry with `hash` for which `same(entry)` is true, or nullptr. `num_words` is how much of
  /// its block the caller will read; other values are only slower.
  template <typename Same>
  const CachedEmbedding* find(std::uint64_t hash, std::size_t num_words, const Same& same) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      if (slots_[i].record == 0) return nullptr;
      if (slots_[i].tag != tag(hash)) continue;
      prefetch(slots_[i].words, num_words);
      const Record& record = records_[slots_[i].record - 1];
      if (record.hash == hash && same(record.entry)) return &record.entry;
    }
  }

  /// Adds an entry that is not there.
  void add(std::uint64_t hash, const CachedEmbedding& entry) {
    if (2 * (records_.size() + 1) > slots_.size()) grow();
    records_.push_back({hash, entry});
    place(records_.size());
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t record = 0;              // its index + 1; 0: free
    const std::uint32_t* words = nullptr;  // the record's block, to ask for it before the record
  };

  /// Asks for a whole block at once: its lines arrive together instead of one after the other.
  static void prefetch(const std::uint32_t* words, std::size_t count) {
    constexpr std::size_t kWordsPerLine = 16;
    for (std::size_t i = 0; i < count; i += kWordsPerLine) __builtin_prefetch(words + i, 0, 2);
  }

  static std::uint32_t tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  std::size_t mask() const { return slots_.size() - 1; }
  void place(std::size_t record) {
    const Record& placed = records_[record - 1];
    std::size_t i = placed.hash & mask();
    while (slots_[i].record != 0) i = (i + 1) & mask();
    slots_[i] = {tag(placed.hash), static_cast<std::uint32_t>(record), placed.entry.words.get()};
  }
  void grow() {
    constexpr std::size_t kFirstSlots = 64;
    slots_.assign(slots_.empty() ? kFirstSlots : 2 * slots_.size(), Slot{});
    for (std::size_t i = 1; i <= records_.size(); ++i) place(i);
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::vector<Record> records_;
};

}  // namespace lattice
