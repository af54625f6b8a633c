#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/json.h"

namespace lattice {

/// Tokens and their ids, both ways. Reading is thread-safe.
class Vocabulary {
 public:
  /// Larger ids are refused: they could not index an embedding table.
  static constexpr std::int64_t kMaxId = (std::int64_t{1} << 31) - 1;
  /// Longer tokens are refused.
  static constexpr std::size_t kMaxTokenBytes = 4096;

  /// Reads {"token": id, ...}. A token listed twice keeps the later id, as the Hugging Face library
  /// does. `path` (file and place in it) prefixes messages. Errors: kMalformed; kUnsupported when
  /// the ids are so sparse that a table of them would be far larger than the vocabulary.
  static Result<Vocabulary> from_json(const Json& object, const std::string& path);

  /// Adds a token, or gives an existing token a new id. Call build_index() afterwards.
  void insert(std::string_view token, std::int32_t id);
  /// The same, but an old id keeps standing for the token, and both count in size().
  void insert_another(std::string_view token, std::int32_t id);
  /// Prepares id_to_token(). Errors: kUnsupported for sparse ids.
  Result<void> build_index(const std::string& path);

  std::optional<std::int32_t> find(std::string_view token) const;
  /// The token of `id`; nullopt when there is none. Of two tokens with one id, the later.
  std::optional<std::string_view> token(std::int32_t id) const;

  /// The number of tokens.
  std::size_t size() const { return entries_.size() + old_ids_.size(); }
  /// One more than the largest id; 0 when empty.
  std::size_t id_bound() const { return id_bound_; }

  struct Entry {
    std::uint32_t offset;
    std::uint32_t length;
    std::int32_t id;
  };
  /// In order of first insertion.
  const std::vector<Entry>& entries() const { return entries_; }
  std::string_view text(const Entry& entry) const {
    return std::string_view(text_).substr(entry.offset, entry.length);
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t entry_plus_1 = 0;
  };
  void grow();
  std::size_t find_slot(std::string_view token, std::uint64_t hash) const;

  std::string text_;  // all tokens, one after the other
  std::vector<Entry> entries_;
  std::vector<Entry> old_ids_;  // of tokens that were given another one, by insert_another()
  std::vector<Slot> slots_;     // open addressing; a power of two, at most half full
  std::vector<std::uint32_t> entry_of_id_;  // entry + 1; 0 for none
  std::size_t id_bound_ = 0;
};

}  // namespace lattice
