#include "text/regex/word_scanner.h"

#include <array>
#include <vector>

#include "text/regex/properties.h"
#include "text/unicode/code_point_table.h"
#include "text/utf8.h"

namespace lattice::regex {
namespace {

enum CharacterClass : std::uint8_t {
  kLetter = 1 << 0,
  kNumber = 1 << 1,
  kMark = 1 << 2,
  kSpace = 1 << 3,
  kNewline = 1 << 4,
};

using ClassTable = unicode::CodePointTable<std::uint8_t>;

ClassTable build_class_table() {
  struct Named {
    std::string_view name;
    CharacterClass bit;
  };
  constexpr Named kNamed[] = {{"L", kLetter}, {"N", kNumber}, {"M", kMark}, {"space", kSpace}};
  // The classes are disjoint, so that ranges can simply be sorted.
  std::vector<ClassTable::Run> runs;
  for (const Named& named : kNamed) {
    const CodePointSet set = find_property(named.name).value_or(CodePointSet());
    for (const CodePointRange range : set.ranges()) {
      runs.push_back({range.first, named.bit});
      runs.push_back({range.last + 1, 0});
    }
  }
  for (const char32_t c : {U'\n', U'\r'}) runs.push_back({c, kSpace | kNewline});
  // Where a range begins on another's end (or is a newline), the value that is not 0 and has more
  // bits wins.
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.value < b.value;
  });
  std::vector<ClassTable::Run> unique;
  for (const auto& run : runs) {
    if (!unique.empty() && unique.back().first == run.first) {
      unique.back().value = std::max(unique.back().value, run.value);
    } else {
      unique.push_back(run);
    }
  }
  // A newline inside a range of spaces ends after one character.
  std::vector<ClassTable::Run> split;
  for (const auto& run : unique) {
    split.push_back(run);
    if ((run.value & kNewline) == 0) continue;
    const bool next_known = &run != &unique.back() && (&run)[1].first == run.first + 1;
    if (!next_known) split.push_back({run.first + 1, kSpace});
  }
  return ClassTable(split);
}

const ClassTable& class_table() {
  static const ClassTable kTable = build_class_table();
  return kTable;
}

/// One text being scanned.
class Scan {
 public:
  Scan(std::string_view text, const WordRules& rules)
      : text_(text),
        rules_(rules),
        letters_(rules.marks_are_letters ? kLetter | kMark : kLetter),
        not_others_(static_cast<std::uint8_t>(letters_ | kNumber | kSpace)) {}

  /// The end of the match that starts at `at`.
  std::size_t match_end(std::size_t at) const {
    const Step first = step(at);
    if (text_[at] == '\'') {
      if (const std::size_t end = contraction_end(at); end != 0) return end;
    }
    if ((first.kind & letters_) != 0) return run_end(first.next, letters_);
    const bool may_precede_letters = rules_.letter_prefix == WordRules::Prefix::kSpace
                                         ? text_[at] == ' '
                                         : (first.kind & (kNumber | kNewline)) == 0;
    const Step second = first.next < text_.size() ? step(first.next) : Step{first.next, 0};
    const bool has_second = first.next < text_.size();
    if (may_precede_letters && (second.kind & letters_) != 0) {
      return run_end(second.next, letters_);
    }
    if ((first.kind & kNumber) != 0) return digits_end(first.next, 1);
    if (text_[at] == ' ' && rules_.number_takes_space && (second.kind & kNumber) != 0) {
      return digits_end(second.next, 1);
    }
    if ((first.kind & not_others_) == 0) return others_end(first.next);
    if (text_[at] == ' ' && has_second && (second.kind & not_others_) == 0) {
      return others_end(second.next);
    }
    return spaces_end(at);
  }

 private:
  struct Step {
    std::size_t next;
    std::uint8_t kind;
  };

  Step step(std::size_t at) const {
    std::size_t next = at;
    const char32_t c = next_code_point(text_, next);
    return {next, table_[c]};
  }

  /// The end of the run of characters of `kinds`.
  std::size_t run_end(std::size_t at, std::uint8_t kinds) const {
    while (at < text_.size()) {
      const Step next = step(at);
      if ((next.kind & kinds) == 0) break;
      at = next.next;
    }
    return at;
  }

  std::size_t digits_end(std::size_t at, std::uint32_t count) const {
    for (; count < rules_.most_digits && at < text_.size(); ++count) {
      const Step next = step(at);
      if ((next.kind & kNumber) == 0) break;
      at = next.next;
    }
    return at;
  }

  std::size_t others_end(std::size_t at) const {
    while (at < text_.size()) {
      const Step next = step(at);
      if ((next.kind & not_others_) != 0) break;
      at = next.next;
    }
    return rules_.newlines ? run_end(at, kNewline) : at;
  }

  /// Spaces: up to the last newline among them, else all but the last before a word.
  std::size_t spaces_end(std::size_t at) const {
    std::size_t after_newline = 0;
    std::size_t last = at;  // where the last space begins
    std::size_t end = at;
    while (end < text_.size()) {
      const Step next = step(end);
      if ((next.kind & kSpace) == 0) break;
      if ((next.kind & kNewline) != 0) after_newline = next.next;
      last = end;
      end = next.next;
    }
    if (rules_.newlines && after_newline != 0) return after_newline;
    return end == text_.size() || last == at ? end : last;
  }

  /// The end of a contraction at the apostrophe `at`, or 0.
  std::size_t contraction_end(std::size_t at) const {
    const bool any_case = rules_.contractions == WordRules::Contractions::kAnyCase;
    const auto letter = [&](std::size_t i) {
      if (i >= text_.size()) return '\0';
      const char c = text_[i];
      return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    const char first = letter(at + 1);
    const char second = letter(at + 2);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
    if ((first == 'r' || first == 'v') && second == 'e') return at + 3;
    if (first == 'l' && second == 'l') return at + 3;
    // The long s is an s when case is ignored.
    if (any_case && text_.substr(at + 1).starts_with("\xC5\xBF")) return at + 3;
    return 0;
  }

  std::string_view text_;
  const WordRules& rules_;
  std::uint8_t letters_;
  std::uint8_t not_others_;
  const ClassTable& table_ = class_table();
};

struct KnownExpression {
  std::string_view text;
  WordRules rules;
};

constexpr std::string_view kGpt2Text =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::uint32_t kAnyNumber = UINT32_MAX;

constexpr std::array kKnown = {
    KnownExpression{kGpt2Text,
                    {.contractions = WordRules::Contractions::kLowercase,
                     .letter_prefix = WordRules::Prefix::kSpace,
                     .number_takes_space = true,
                     .most_digits = kAnyNumber,
                     .newlines = false}},
    // Qwen2, Qwen2.5, Qwen3
    KnownExpression{
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
        {.most_digits = 1}},
    // Qwen3.5
    KnownExpression{
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
        {.marks_are_letters = true, .most_digits = 1}},
    // cl100k as Llama 3 spells it
    KnownExpression{
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
        {.most_digits = 3}},
};

}  // namespace

const std::string_view kGpt2Expression = kGpt2Text;

std::optional<WordRules> find_word_rules(std::string_view regular_expression) {
  for (const KnownExpression& known : kKnown) {
    if (known.text == regular_expression) return known.rules;
  }
  return std::nullopt;
}

void WordScanner::find_all(std::string_view subject, std::vector<ByteRange>& matches) const {
  const Scan scan(subject, rules_);
  for (std::size_t at = 0; at < subject.size();) {
    const std::size_t end = scan.match_end(at);
    matches.push_back({at, end});
    at = end;
  }
}

}  // namespace lattice::regex
