#include "text/regex/translator.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/regex/properties.h"
#include "text/regex/scanner.h"

namespace lattice::regex {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxPattern = std::size_t{1} << 16;
constexpr std::size_t kMaxOutput = std::size_t{1} << 22;

void append_range(std::string& out, char32_t first, char32_t last) {
  if (first > last) return;
  out += fmt::format("\\x{{{:x}}}", static_cast<unsigned>(first));
  if (last != first) out += fmt::format("-\\x{{{:x}}}", static_cast<unsigned>(last));
}

/// PCRE2 refuses surrogates, which no text has.
void append_ranges(std::string& out, const CodePointSet& set) {
  for (const CodePointRange range : set.ranges()) {
    append_range(out, range.first, std::min<char32_t>(range.last, 0xD7FF));
    append_range(out, std::max<char32_t>(range.first, 0xE000), range.last);
  }
}

/// The set as one PCRE2 class, whichever of itself and its complement is shorter.
std::string class_text(const CodePointSet& set) {
  constexpr char32_t kFirstSurrogate = 0xD800;
  constexpr char32_t kLastSurrogate = 0xDFFF;
  const auto is_empty = [](const CodePointSet& any) {
    const auto ranges = any.ranges();
    return std::all_of(ranges.begin(), ranges.end(), [](const CodePointRange& range) {
      return range.first >= kFirstSurrogate && range.last <= kLastSurrogate;
    });
  };
  if (is_empty(set)) return "(?!)";
  const CodePointSet rest = set.complement();
  if (is_empty(rest)) return "(?s:.)";
  const bool negate = rest.ranges().size() < set.ranges().size();
  std::string out = negate ? "[^" : "[";
  append_ranges(out, negate ? rest : set);
  return out + "]";
}

struct Options {
  bool ignore_case = false;
  bool dot_all = false;
  bool extended = false;
};

class Translator {
 public:
  explicit Translator(std::string_view pattern) : scanner_(pattern) {}

  Result<std::string> run() {
    std::string out = alternation(Options{}, 0);
    if (!scanner_.at_end()) scanner_.malformed("a ')' without '('");
    if (scanner_.failed()) return tl::make_unexpected(scanner_.error());
    return out;
  }

 private:
  /// Branches up to an unmatched ')' or the end.
  std::string alternation(Options options, int depth) {
    if (depth > kMaxDepth) scanner_.unsupported("groups nested more than 64 deep");
    std::string out = branch(options, depth);
    while (scanner_.accept("|")) out += "|" + branch(options, depth);
    return out;
  }

  std::string branch(Options options, int depth) {
    std::string out;
    std::u32string literals;  // the run of literal characters read last
    while (!scanner_.at_end() && scanner_.peek() != '|' && scanner_.peek() != ')') {
      if (options.extended && skip_comment()) continue;
      if (const auto isolated = isolated_options(options)) {
        // From here to the end of the group, alternatives included.
        return out + "(?:" + alternation(*isolated, depth + 1) + ")";
      }
      const std::string atom = parse_atom(options, depth, literals);
      if (scanner_.failed()) break;
      out += quantified(atom, options);
      if (out.size() > kMaxOutput) scanner_.unsupported("a pattern of this size");
    }
    return out;
  }

  /// White space and comments under (?x).
  bool skip_comment() {
    const char c = scanner_.peek();
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      scanner_.next();
      return true;
    }
    if (c != '#') return false;
    while (!scanner_.at_end() && scanner_.peek() != '\n') scanner_.next();
    return true;
  }

  /// "(?i)" and the like, read and applied to `options`; nullopt without progress for others.
  std::optional<Options> isolated_options(Options options) {
    const std::size_t start = scanner_.offset();
    if (!scanner_.accept("(?") || !read_options(options) || !scanner_.accept(")")) {
      scanner_.rewind(scanner_.failed() ? scanner_.offset() : start);
      return std::nullopt;
    }
    return options;
  }

  /// Option letters; false if there is none.
  bool read_options(Options& options) {
    bool value = true;
    bool any = false;
    for (;; any = true) {
      if (scanner_.accept("-")) {
        value = false;
      } else if (scanner_.accept("i")) {
        options.ignore_case = value;
      } else if (scanner_.accept("m")) {
        options.dot_all = value;
      } else if (scanner_.accept("x")) {
        options.extended = value;
      } else {
        return any;
      }
    }
  }

  std::string parse_atom(const Options& options, int depth, std::u32string& literals) {
    if (scanner_.accept("(")) {
      literals.clear();
      return group(options, depth);
    }
    std::string special = parse_special(options);
    if (!special.empty() || scanner_.failed()) {
      literals.clear();
      return special;
    }
    const char32_t c = scanner_.accept("\\") ? parse_character_escape(scanner_) : scanner_.next();
    return literal(c, options, literals);
  }

  /// Classes, sets and assertions; empty for what is a literal character.
  std::string parse_special(const Options& options) {
    if (scanner_.accept("[")) return class_text(parse_class(scanner_, options.ignore_case));
    if (scanner_.accept(".")) return options.dot_all ? "(?s:.)" : "[^\\x{a}]";
    if (scanner_.accept("^")) return "(?m:^)";
    if (scanner_.accept("$")) return "(?m:$)";
    if (scanner_.sees("*") || scanner_.sees("+") || scanner_.sees("?")) {
      scanner_.malformed("a quantifier without anything to repeat");
      return "";
    }
    if (scanner_.peek() != '\\') return "";
    const std::size_t start = scanner_.offset();
    scanner_.accept("\\");
    if (const auto set = parse_set_escape(scanner_, false)) return class_text(*set);
    if (scanner_.accept("A")) return "\\A";
    if (scanner_.accept("z")) return "\\z";
    if (scanner_.accept("Z")) return "\\Z";
    if (scanner_.accept("N")) return "[^\\x{a}]";
    if (scanner_.accept("O")) return "(?s:.)";
    if (scanner_.accept("R")) return "(?>\\x{d}\\x{a}|[\\x{a}-\\x{d}\\x{85}\\x{2028}\\x{2029}])";
    if (scanner_.accept("b")) return word_boundary(false);
    if (scanner_.accept("B")) return word_boundary(true);
    scanner_.rewind(start);
    return "";
  }

  static std::string word_boundary(bool negated) {
    const std::string word = class_text(find_property("word").value_or(CodePointSet()));
    return negated ? fmt::format("(?:(?<={0})(?={0})|(?<!{0})(?!{0}))", word)
                   : fmt::format("(?:(?<={0})(?!{0})|(?<!{0})(?={0}))", word);
  }

  std::string literal(char32_t c, const Options& options, std::u32string& literals) {
    if (!options.ignore_case) return fmt::format("\\x{{{:x}}}", static_cast<unsigned>(c));
    literals += c;
    if (folds_to_several(c) || contains_multiple_fold(literals)) {
      scanner_.unsupported("ignored case where one character matches several");
    }
    CodePointSet set;
    set.add(c, c);
    close_over_case(set);
    return class_text(set);
  }

  /// What follows a '('.
  std::string group(const Options& options, int depth) {
    std::string opening = "(?:";
    Options inner = options;
    if (scanner_.accept("?#")) return comment_group();
    if (scanner_.accept("*")) {
      scanner_.unsupported("a callout");
    } else if (scanner_.accept("?")) {
      opening = group_opening(inner);
    }
    std::string out = opening + alternation(inner, depth + 1);
    if (!scanner_.accept(")")) scanner_.malformed("a group without ')'");
    return out + ")";
  }

  std::string comment_group() {
    while (!scanner_.at_end() && !scanner_.accept(")")) {
      if (scanner_.accept("\\") && scanner_.at_end()) break;
      scanner_.next();
    }
    return "(?:)";
  }

  /// What follows "(?": the PCRE2 opening; may change the options inside.
  std::string group_opening(Options& inner) {
    for (const char* kind : {":", "=", "!", "<=", "<!", ">"}) {
      if (scanner_.accept(kind)) return fmt::format("(?{}", kind);
    }
    for (const char* quote : {"<", "'"}) {
      if (!scanner_.accept(quote)) continue;
      // A name only matters to back references, which are refused.
      const char* end = *quote == '<' ? ">" : "'";
      while (!scanner_.at_end() && !scanner_.sees(end)) scanner_.next();
      if (!scanner_.accept(end)) scanner_.malformed("a group name");
      return "(?:";
    }
    if (!read_options(inner) || !scanner_.accept(":")) scanner_.unsupported("this kind of group");
    return "(?:";
  }

  /// `atom` with the quantifiers that follow.
  std::string quantified(const std::string& atom, const Options& options) {
    std::string out = atom;
    bool simple_before = false;  // whether a *, + or ? was the last quantifier
    for (bool first = true; !scanner_.failed(); first = false) {
      while (options.extended && skip_comment()) {
      }
      const std::size_t start = scanner_.offset();
      std::string quantifier = simple_quantifier();
      const bool simple = !quantifier.empty();
      if (!simple) quantifier = interval();
      if (quantifier.empty()) break;
      if (simple && simple_before) {
        scanner_.fail_at(start, ErrorCode::kUnsupported, "a quantifier of a quantifier");
      }
      out = (first ? out : "(?:" + out + ")") + quantifier;
      simple_before = simple;
    }
    return out;
  }

  std::string simple_quantifier() {
    for (const char* sign : {"*", "+", "?"}) {
      if (!scanner_.accept(sign)) continue;
      std::string out = sign;
      if (scanner_.accept("?")) return out + "?";
      if (scanner_.accept("+")) return out + "+";
      return out;
    }
    return "";
  }

  /// {n}, {n,}, {n,m} or {,m}, lazy with a '?' except {n}; empty and no progress if it is none.
  std::string interval() {
    const std::size_t start = scanner_.offset();
    if (!scanner_.accept("{")) return "";
    const auto low = scanner_.number();
    const bool comma = scanner_.accept(",");
    const auto high = comma ? scanner_.number() : low;
    if ((!low && !high) || !scanner_.accept("}")) {
      scanner_.rewind(start);
      return "";
    }
    constexpr unsigned kMost = 65535;
    if (low.value_or(0) > kMost || high.value_or(0) > kMost || (high && low.value_or(0) > *high)) {
      scanner_.fail_at(start, ErrorCode::kUnsupported, "this repeat count");
      return "";
    }
    std::string out = fmt::format("{{{}", low.value_or(0));
    if (comma) out += high ? fmt::format(",{}", *high) : ",";
    out += "}";
    if (comma && scanner_.accept("?")) out += "?";
    return out;
  }

  Scanner scanner_;
};

}  // namespace

Result<std::string> translate_to_pcre(std::string_view pattern) {
  if (pattern.size() > kMaxPattern) {
    return fail(ErrorCode::kUnsupported, "a regular expression of {} bytes, at most {}",
                pattern.size(), kMaxPattern);
  }
  return Translator(pattern).run();
}

}  // namespace lattice::regex
