#include "text/vocabulary.h"

#include <algorithm>
#include <random>

#include "base/hash.h"

namespace lattice {
namespace {

// Differs from run to run, so that no file can be made to fill one hash chain.
std::uint64_t hash_token(std::string_view token) {
  static const std::uint64_t seed =
      (std::uint64_t{std::random_device{}()} << 32) ^ std::uint64_t{std::random_device{}()};
  return hash_bytes(token, seed);
}

}  // namespace

Result<Vocabulary> Vocabulary::from_json(const Json& object, const std::string& path) {
  if (!object.is_object()) {
    return fail(ErrorCode::kMalformed, "{}: expected an object, got {}", path, object.kind_name());
  }
  Vocabulary vocabulary;
  for (const JsonMember& member : object.members()) {
    const auto id = member.value.as_int();
    if (!id || *id < 0 || *id > kMaxId) {
      return fail(ErrorCode::kMalformed, "{}[\"{}\"]: expected an id in [0, {}]", path, member.key,
                  kMaxId);
    }
    if (member.key.size() > kMaxTokenBytes) {
      return fail(ErrorCode::kUnsupported, "{}: token {} has {} bytes, more than {}", path, *id,
                  member.key.size(), kMaxTokenBytes);
    }
    if (vocabulary.text_.size() + member.key.size() > UINT32_MAX) {
      return fail(ErrorCode::kUnsupported, "{}: more than 4 GiB of token text", path);
    }
    vocabulary.insert(member.key, static_cast<std::int32_t>(*id));
  }
  if (auto status = vocabulary.build_index(path); !status) return forward_error(status);
  return vocabulary;
}

void Vocabulary::insert(std::string_view token, std::int32_t id) {
  if ((entries_.size() + 1) * 2 > slots_.size()) grow();
  const std::uint64_t hash = hash_token(token);
  Slot& slot = slots_[find_slot(token, hash)];
  if (slot.entry_plus_1 != 0) {
    entries_[slot.entry_plus_1 - 1].id = id;
    return;
  }
  entries_.push_back(
      {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(token.size()), id});
  text_ += token;
  slot = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(entries_.size())};
}

void Vocabulary::insert_another(std::string_view token, std::int32_t id) {
  const std::size_t before = entries_.size();
  const auto old_id = find(token);
  insert(token, id);
  if (entries_.size() != before) return;
  const std::size_t slot = find_slot(token, hash_token(token));
  Entry old = entries_[slots_[slot].entry_plus_1 - 1];
  old.id = *old_id;
  old_ids_.push_back(old);
}

Result<void> Vocabulary::build_index(const std::string& path) {
  id_bound_ = 0;
  for (const Entry& entry : entries_) {
    id_bound_ = std::max(id_bound_, static_cast<std::size_t>(entry.id) + 1);
  }
  for (const Entry& old : old_ids_) {
    id_bound_ = std::max(id_bound_, static_cast<std::size_t>(old.id) + 1);
  }
  if (id_bound_ > entries_.size() * 16 + (std::size_t{1} << 20)) {
    return fail(ErrorCode::kUnsupported, "{}: {} tokens with ids up to {}: too sparse", path,
                entries_.size(), id_bound_ - 1);
  }
  entry_of_id_.assign(id_bound_, 0);
  std::uint32_t number = 0;
  for (const Entry& entry : entries_) entry_of_id_[static_cast<std::size_t>(entry.id)] = ++number;
  for (const Entry& old : old_ids_) {
    const std::size_t slot = find_slot(text(old), hash_token(text(old)));
    entry_of_id_[static_cast<std::size_t>(old.id)] = slots_[slot].entry_plus_1;
  }
  return {};
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[find_slot(token, hash_token(token))];
  if (slot.entry_plus_1 == 0) return std::nullopt;
  return entries_[slot.entry_plus_1 - 1].id;
}

std::optional<std::string_view> Vocabulary::token(std::int32_t id) const {
  const auto index = static_cast<std::size_t>(id);  // a negative id becomes out of range
  if (index >= entry_of_id_.size() || entry_of_id_[index] == 0) return std::nullopt;
  return text(entries_[entry_of_id_[index] - 1]);
}

void Vocabulary::grow() {
  std::vector<Slot> old(std::max<std::size_t>(64, slots_.size() * 2));
  old.swap(slots_);
  std::uint32_t number = 0;
  for (const Entry& entry : entries_) {
    const std::uint64_t hash = hash_token(text(entry));
    std::size_t index = hash & (slots_.size() - 1);
    while (slots_[index].entry_plus_1 != 0) index = (index + 1) & (slots_.size() - 1);
    slots_[index] = {static_cast<std::uint32_t>(hash >> 32), ++number};
  }
}

std::size_t Vocabulary::find_slot(std::string_view token, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  const auto check = static_cast<std::uint32_t>(hash >> 32);
  std::size_t index = hash & mask;
  while (slots_[index].entry_plus_1 != 0) {
    const Slot& slot = slots_[index];
    if (slot.hash == check && text(entries_[slot.entry_plus_1 - 1]) == token) break;
    index = (index + 1) & mask;
  }
  return index;
}

}  // namespace lattice
