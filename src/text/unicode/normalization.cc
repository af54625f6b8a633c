#include "text/unicode/normalization.h"

#include <algorithm>
#include <array>
#include <vector>

#include "text/text_rewriter.h"
#include "text/unicode/code_point.h"
#include "text/unicode/tables.h"

namespace lattice::unicode {
namespace {

constexpr char32_t kHangulBase = 0xAC00;
constexpr char32_t kLeadBase = 0x1100;
constexpr char32_t kVowelBase = 0x1161;
constexpr char32_t kTailBase = 0x11A7;
constexpr char32_t kLeadCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTailCount = 28;
constexpr char32_t kHangulCount = kLeadCount * kVowelCount * kTailCount;

bool is_hangul_syllable(char32_t c) { return c - kHangulBase < kHangulCount; }

/// Maps a code point to its decomposition in one pool.
class DecompositionTable {
 public:
  DecompositionTable(std::span<const std::uint32_t> index, std::span<const char32_t> pool)
      : pool_(pool), numbers_(build_numbers(index)) {
    entries_.push_back({0, 0});
    std::uint32_t begin = 0;
    for (const std::uint32_t packed : index) {
      entries_.push_back({begin, packed >> 24});
      begin += packed >> 24;
    }
  }

  std::span<const char32_t> find(char32_t c) const {
    const Entry entry = entries_[numbers_[c]];
    return pool_.subspan(entry.begin, entry.size);
  }

 private:
  using NumberTable = CodePointTable<std::uint16_t>;
  struct Entry {
    std::uint32_t begin, size;
  };

  static NumberTable build_numbers(std::span<const std::uint32_t> index) {
    std::vector<NumberTable::Run> runs;
    std::uint16_t number = 0;
    for (const std::uint32_t packed : index) {
      const char32_t c = packed & 0xFFFFFFU;
      if (!runs.empty() && runs.back().first == c) runs.pop_back();
      runs.push_back({c, ++number});
      runs.push_back({c + 1, 0});
    }
    return NumberTable(runs);
  }

  std::span<const char32_t> pool_;
  NumberTable numbers_;
  std::vector<Entry> entries_;
};

const DecompositionTable& canonical_table() {
  static const DecompositionTable kTable(normalization_data().canonical_index,
                                         normalization_data().canonical_pool);
  return kTable;
}

const DecompositionTable& compatibility_table() {
  static const DecompositionTable kTable(normalization_data().compatibility_index,
                                         normalization_data().compatibility_pool);
  return kTable;
}

Decomposition decompose_hangul(char32_t c) {
  const char32_t index = c - kHangulBase;
  const char32_t tail = index % kTailCount;
  Decomposition result;
  result.hangul[0] = kLeadBase + index / (kVowelCount * kTailCount);
  result.hangul[1] = kVowelBase + index / kTailCount % kVowelCount;
  result.hangul[2] = kTailBase + tail;
  result.hangul_size = tail == 0 ? 2 : 3;
  return result;
}

/// A character on its way out, with the library's count of characters added (1), or dropped from
/// the source (negative), for TextRewriter::apply.
struct Pending {
  char32_t c;
  std::uint8_t combining_class;
  int change;
};

/// Stable; linear also for the longest runs of marks.
void sort_by_class(std::vector<Pending>& marks) {
  constexpr std::size_t kInsertionLimit = 32;
  if (marks.size() > kInsertionLimit) {
    std::array<std::vector<Pending>, 256> buckets;
    for (const Pending& mark : marks) buckets[mark.combining_class].push_back(mark);
    marks.clear();
    for (const auto& bucket : buckets) marks.insert(marks.end(), bucket.begin(), bucket.end());
    return;
  }
  for (std::size_t i = 1; i < marks.size(); ++i) {
    const Pending mark = marks[i];
    std::size_t at = i;
    for (; at > 0 && marks[at - 1].combining_class > mark.combining_class; --at) {
      marks[at] = marks[at - 1];
    }
    marks[at] = mark;
  }
}

/// Sends decomposed characters on in canonical order.
template <typename Sink>
class CanonicalOrderer {
 public:
  explicit CanonicalOrderer(Sink& sink) : sink_(sink) {}

  void push(char32_t c, int change) {
    const std::uint8_t value = combining_class(c);
    if (value == 0) {
      flush();
      sink_.push({c, 0, change});
      return;
    }
    marks_.push_back({c, value, change});
  }

  void flush() {
    if (marks_.empty()) return;
    sort_by_class(marks_);
    for (const Pending& mark : marks_) sink_.push(mark);
    marks_.clear();
  }

 private:
  Sink& sink_;
  std::vector<Pending> marks_;
};

struct RewriterSink {
  TextRewriter& rewriter;
  void push(const Pending& pending) { rewriter.apply(pending.c, pending.change); }
  void flush() {}
};

/// Canonical composition: joins each starter with what follows it.
class Composer {
 public:
  explicit Composer(TextRewriter& rewriter) : rewriter_(rewriter) {}

  void push(const Pending& next) {
    if (!has_starter_) {
      if (next.combining_class == 0) {
        begin(next);
      } else {
        emit(next);
      }
      return;
    }
    // A character is blocked from the starter by one of the same or a higher class between them.
    const bool blocked = !marks_.empty() && marks_.back().combining_class >= next.combining_class;
    if (!blocked) {
      if (const char32_t composite = compose(starter_.c, next.c); composite != 0) {
        starter_.c = composite;
        starter_.change += next.change - 1;
        return;
      }
    }
    if (next.combining_class == 0) {
      flush();
      begin(next);
    } else {
      marks_.push_back(next);
    }
  }

  void flush() {
    if (has_starter_) emit(starter_);
    for (const Pending& mark : marks_) emit(mark);
    marks_.clear();
    has_starter_ = false;
  }

 private:
  void begin(const Pending& starter) {
    starter_ = starter;
    has_starter_ = true;
  }
  void emit(const Pending& pending) { rewriter_.apply(pending.c, pending.change); }

  TextRewriter& rewriter_;
  Pending starter_{};
  bool has_starter_ = false;
  std::vector<Pending> marks_;
};

/// Decomposes source[range] into `sink` in canonical order.
template <typename Sink>
void decompose_range(std::string_view source, ByteRange range, bool compatibility, Sink& sink) {
  CanonicalOrderer<Sink> orderer(sink);
  for (std::size_t at = range.begin; at < range.end;) {
    const char32_t c = next_code_point(source, at);
    const Decomposition parts = compatibility ? decompose_compatibility(c) : decompose_canonical(c);
    const auto characters = parts.characters();
    if (characters.empty()) orderer.push(c, 0);
    for (std::size_t i = 0; i < characters.size(); ++i) orderer.push(characters[i], i == 0 ? 0 : 1);
  }
  orderer.flush();
  sink.flush();
}

}  // namespace

Decomposition decompose_canonical(char32_t c) {
  if (is_hangul_syllable(c)) return decompose_hangul(c);
  Decomposition result;
  result.table = canonical_table().find(c);
  return result;
}

Decomposition decompose_compatibility(char32_t c) {
  if (is_hangul_syllable(c)) return decompose_hangul(c);
  Decomposition result;
  result.table = compatibility_table().find(c);
  if (result.table.empty()) result.table = canonical_table().find(c);
  return result;
}

std::uint8_t combining_class(char32_t c) {
  using ClassTable = CodePointTable<std::uint8_t>;
  static const ClassTable kTable = [] {
    std::vector<ClassTable::Run> runs;
    for (const std::uint32_t run : normalization_data().combining_runs) {
      runs.push_back({run >> 8, static_cast<std::uint8_t>(run & 0xFFU)});
    }
    return ClassTable(runs);
  }();
  return kTable[c];
}

char32_t compose(char32_t first, char32_t second) {
  if (first - kLeadBase < kLeadCount && second - kVowelBase < kVowelCount) {
    const char32_t lead = first - kLeadBase;
    return kHangulBase + (lead * kVowelCount + second - kVowelBase) * kTailCount;
  }
  if (is_hangul_syllable(first) && (first - kHangulBase) % kTailCount == 0 &&
      second - kTailBase - 1 < kTailCount - 1) {
    return first + (second - kTailBase);
  }
  const auto entries = normalization_data().compositions;
  const auto less = [](const CompositionEntry& entry, const CompositionEntry& key) {
    return entry.first != key.first ? entry.first < key.first : entry.second < key.second;
  };
  const CompositionEntry key = {first, second, 0};
  const auto found = std::lower_bound(entries.begin(), entries.end(), key, less);
  const bool known = found != entries.end() && found->first == first && found->second == second;
  return known ? found->composite : 0;
}

void normalize(AlignedText& text, Form form) {
  const bool composing = form == Form::kNfc || form == Form::kNfkc;
  const bool compatibility = form == Form::kNfkc || form == Form::kNfkd;
  const CodePointFlag decomposing = compatibility ? kHasCompatibility : kHasCanonical;
  const CodePointFlag unsafe = compatibility ? kNfkcUnsafe : kNfcUnsafe;
  // Characters with one of these flags change, or change what stands before them.
  const unsigned affected = composing ? unsigned{unsafe} : unsigned{decomposing} | kNonStarter;
  const FlagTable& flags = flag_table();
  TextRewriter rewriter(text);
  const std::string_view source = rewriter.source();
  std::size_t done = 0;     // everything before is written
  std::size_t starter = 0;  // the last character boundary from which composition could reach on
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t begin = at;
    if ((flags[next_code_point(source, at)] & affected) == 0) {
      starter = begin;
      continue;
    }
    // The affected stretch: back to the starter before it, on to the next unaffected character.
    const std::size_t from = std::max(done, starter);
    std::size_t to = at;
    while (to < source.size()) {
      std::size_t next = to;
      if ((flags[next_code_point(source, next)] & affected) == 0) break;
      to = next;
    }
    rewriter.copy({done, from});
    if (composing) {
      Composer composer(rewriter);
      decompose_range(source, {from, to}, compatibility, composer);
    } else {
      RewriterSink sink{rewriter};
      decompose_range(source, {from, to}, compatibility, sink);
    }
    done = at = to;
    starter = to;
  }
  rewriter.copy({done, source.size()});
  rewriter.finish();
}

}  // namespace lattice::unicode
