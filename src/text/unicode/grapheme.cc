#include "text/unicode/grapheme.h"

#include <vector>

#include "text/unicode/code_point_table.h"
#include "text/unicode/tables.h"
#include "text/utf8.h"

namespace lattice::unicode {
namespace {

// Numbers as in tools/unicode/generate_tables.py.
enum GraphemeClass : std::uint8_t {
  kOther,
  kControl,
  kExtend,
  kJoiner,
  kSpacingMark,
  kPrepend,
  kPictographic,
  kHangulL,
  kHangulV,
  kHangulT,
  kHangulLv,
  kHangulLvt,
};

enum ConjunctClass : std::uint8_t { kNoConjunct, kConsonant, kLinker, kConjunctExtend };

struct Classes {
  GraphemeClass grapheme;
  ConjunctClass conjunct;
};

Classes classes_of(char32_t c) {
  using ClassTable = CodePointTable<std::uint8_t>;
  static const ClassTable kTable = [] {
    std::vector<ClassTable::Run> runs;
    for (const std::uint32_t run : segmentation_data().grapheme_runs) {
      runs.push_back({run >> 8, static_cast<std::uint8_t>(run & 0xFFU)});
    }
    return ClassTable(runs);
  }();
  const std::uint8_t value = kTable[c];
  auto grapheme = static_cast<GraphemeClass>(value & 0xFU);
  // The table calls all Hangul syllables LVT.
  constexpr char32_t kHangulBase = 0xAC00;
  if (grapheme == kHangulLvt && (c - kHangulBase) % 28 == 0) grapheme = kHangulLv;
  return {grapheme, static_cast<ConjunctClass>(value >> 4)};
}

bool joins_hangul(GraphemeClass before, GraphemeClass after) {
  if (before == kHangulL) {
    return after == kHangulL || after == kHangulV || after == kHangulLv || after == kHangulLvt;
  }
  if (before == kHangulLv || before == kHangulV) return after == kHangulV || after == kHangulT;
  return (before == kHangulLvt || before == kHangulT) && after == kHangulT;
}

/// What the characters of a cluster so far mean to the next one.
class ClusterState {
 public:
  explicit ClusterState(Classes first) { take(first); }

  /// Whether there is no boundary before `next`.
  bool joins(Classes next) const {
    if (last_ == kControl || next.grapheme == kControl) return false;
    if (next.grapheme == kExtend || next.grapheme == kJoiner || next.grapheme == kSpacingMark) {
      return true;
    }
    if (last_ == kPrepend || joins_hangul(last_, next.grapheme)) return true;
    if (conjunct_ == Conjunct::kLinked && next.conjunct == kConsonant) return true;
    return picture_ == Picture::kJoined && next.grapheme == kPictographic;
  }

  void take(Classes next) {
    last_ = next.grapheme;
    if (next.grapheme == kPictographic) {
      picture_ = Picture::kSeen;
    } else if (picture_ == Picture::kSeen && next.grapheme == kJoiner) {
      picture_ = Picture::kJoined;
    } else if (picture_ != Picture::kSeen || next.grapheme != kExtend) {
      // Only a joiner right before a picture joins it, and only one.
      picture_ = Picture::kNone;
    }
    if (next.conjunct == kConsonant) {
      conjunct_ = Conjunct::kSeen;
    } else if (conjunct_ != Conjunct::kNone && next.conjunct == kLinker) {
      conjunct_ = Conjunct::kLinked;
    } else if (next.conjunct != kConjunctExtend) {
      conjunct_ = Conjunct::kNone;
    }
  }

 private:
  enum class Picture : std::uint8_t { kNone, kSeen, kJoined };
  enum class Conjunct : std::uint8_t { kNone, kSeen, kLinked };

  GraphemeClass last_ = kOther;
  Picture picture_ = Picture::kNone;
  Conjunct conjunct_ = Conjunct::kNone;
};

}  // namespace

std::size_t grapheme_end(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  const char32_t first = next_code_point(text, end);
  if (first == U'\r' && end < text.size() && text[end] == '\n') return end + 1;
  ClusterState state(classes_of(first));
  while (end < text.size()) {
    std::size_t next = end;
    const Classes classes = classes_of(next_code_point(text, next));
    if (!state.joins(classes)) break;
    state.take(classes);
    end = next;
  }
  return end;
}

}  // namespace lattice::unicode
