#include <algorithm>

#include "text/jinja/compare.h"
#include "text/jinja/value.h"

namespace lattice::jinja {
namespace {

// Smaller dicts are searched one by one.
constexpr std::size_t kSmall = 8;

}  // namespace

std::size_t Dict::find_index(const Value& key, std::size_t hash) const {
  if (slots_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (equal(entries_[i].first, key)) return i;
    }
    return kNone;
  }
  for (std::size_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot] == 0) return kNone;
    const std::size_t index = slots_[slot] - 1;
    if (equal(entries_[index].first, key)) return index;
  }
}

void Dict::rehash() {
  std::size_t capacity = 4 * kSmall;
  while (capacity < 2 * entries_.size() + 2) capacity *= 2;
  slots_.assign(capacity, 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = hash_value(entries_[i].first) & (capacity - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (capacity - 1);
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

void Dict::set(Value key, Value value) {
  const std::size_t hash = slots_.empty() ? 0 : hash_value(key);
  const std::size_t index = find_index(key, hash);
  weight_ = add_weights(weight_, add_weights(key.weight(), value.weight()));
  depth_ = std::max({depth_, depth_above(key.depth()), depth_above(value.depth())});
  if (index != kNone) {
    entries_[index].second = std::move(value);
    return;
  }
  entries_.emplace_back(std::move(key), std::move(value));
  if (entries_.size() > kSmall && 2 * entries_.size() > slots_.size()) {
    rehash();
  } else if (!slots_.empty()) {
    std::size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  }
}

const Value* Dict::find(const Value& key) const {
  const std::size_t index = find_index(key, slots_.empty() ? 0 : hash_value(key));
  return index == kNone ? nullptr : &entries_[index].second;
}

const Value* Dict::find(std::string_view key) const {
  if (slots_.empty()) {
    for (const auto& [name, value] : entries_) {
      if (name.is_string() && name.text().bytes() == key) return &value;
    }
    return nullptr;
  }
  return find(Value::string(key));
}

}  // namespace lattice::jinja
