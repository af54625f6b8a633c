#include "backends/metal/simt/text_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "backends/metal/simt/call_graph.h"
#include "backends/metal/simt/signature.h"
#include "backends/metal/simt/source_text.h"

namespace lattice::metal::simt {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

class Rules {
 public:
  explicit Rules(std::string_view source) : source_(source), blanked_(blank_comments(source)) {}

  void banned_words();
  void lambdas();
  void literals();
  void pointers();
  void threadgroup_arrays(const std::vector<KernelSignature>& kernels);
  void recursion();
  std::string take_problems() { return std::move(problems_); }

 private:
  template <typename... Args>
  void report(std::size_t at, fmt::format_string<Args...> format, Args&&... args) {
    problems_ += fmt::format("{}: {}\n", place_of(source_, at),
                             fmt::format(format, std::forward<Args>(args)...));
  }
  std::vector<std::string> type_names() const;
  void check_declarators(std::string_view type);
  std::string_view statement_at(std::size_t at) const {
    return trimmed(text().substr(at, blanked_.find(';', at) - at));
  }
  std::string_view text() const { return blanked_; }

  std::string_view source_;
  std::string blanked_;
  std::string problems_;
};

void Rules::banned_words() {
  constexpr std::array kWords = {"goto",
                                 "double",
                                 "INFINITY",
                                 "NAN",
                                 "HUGE_VALF",
                                 "isnan",
                                 "isinf",
                                 "isfinite",
                                 "virtual",
                                 "throw",
                                 "new",
                                 "delete",
                                 "auto",
                                 "static",
                                 "mutable",
                                 "typeid",
                                 "function_constant",
                                 "host_name",
                                 "operator",
                                 "bool2",
                                 "bool4",
                                 "quad_sum"};
  for (const std::string_view word : kWords) {
    const std::size_t at = find_word(blanked_, word);
    if (at != kNone) report(at, "\"{}\" is not used in kernels", word);
  }
}

void Rules::lambdas() {
  for (const std::string_view start : {"[&]", "[=]", "[]", "[&,", "[=,"}) {
    const std::size_t at = blanked_.find(start);
    if (at != kNone) report(at, "MSL before 3.2 has no lambdas");
  }
}

// 1.0 and 1e5 are double in C++ and float in MSL: an f makes them float for both.
void Rules::literals() {
  for (std::size_t at = 0; at < blanked_.size(); ++at) {
    const bool is_digit = blanked_[at] >= '0' && blanked_[at] <= '9';
    if (!is_digit || (at > 0 && (is_word_char(blanked_[at - 1]) || blanked_[at - 1] == '.')))
      continue;
    std::size_t end = at;
    const auto is_part = [&](char c) {
      const bool is_sign =
          (c == '-' || c == '+') && (blanked_[end - 1] == 'e' || blanked_[end - 1] == 'E');
      return is_word_char(c) || c == '.' || is_sign;
    };
    while (end < blanked_.size() && is_part(blanked_[end])) ++end;
    const std::string_view literal = text().substr(at, end - at);
    const bool is_hex = literal.starts_with("0x");
    const bool is_real = !is_hex && literal.find_first_of(".eE") != kNone;
    if (is_real && literal.back() != 'f' && literal.back() != 'h') {
      report(at, "expected {}f", literal);
    }
    at = end;
  }
}

std::vector<std::string> Rules::type_names() const {
  std::vector<std::string> names = {"float",       "float2", "float3",        "float4",
                                    "half",        "half4",  "bfloat",        "int",
                                    "uint",        "ulong",  "ushort",        "uchar",
                                    "char",        "bool",   "packed_float4", "simdgroup_float8x8",
                                    "atomic_uint", "int8_t", "long",          "char4"};
  for (const std::string_view keyword : {"struct", "typename", "class"}) {
    for (std::size_t at = find_word(blanked_, keyword); at != kNone;
         at = find_word(blanked_, keyword, at + 1)) {
      std::size_t begin = at + keyword.size();
      while (begin < blanked_.size() && !is_word_char(blanked_[begin])) ++begin;
      std::size_t end = begin;
      while (end < blanked_.size() && is_word_char(blanked_[end])) ++end;
      names.emplace_back(blanked_.substr(begin, end - begin));
    }
  }
  return names;
}

// Every `T*` and `T&` of a declaration or cast needs an address space before it.
void Rules::check_declarators(std::string_view type) {
  for (std::size_t at = find_word(blanked_, type); at != kNone;
       at = find_word(blanked_, type, at + 1)) {
    std::size_t next = at + type.size();
    if (next < blanked_.size() && blanked_[next] == '<') next = blanked_.find('>', next) + 1;
    while (next < blanked_.size() && blanked_[next] == ' ') ++next;
    if (blanked_.compare(next, 6, "const ") == 0) next += 6;
    const bool is_array_reference = blanked_.compare(next, 2, "(&") == 0;
    if (next >= blanked_.size() ||
        (blanked_[next] != '*' && blanked_[next] != '&' && !is_array_reference)) {
      continue;
    }
    const std::size_t begin = text().find_last_of("(,;{}<", at) + 1;
    const std::string_view before = text().substr(begin, at - begin);
    const auto has = [&](std::string_view word) { return find_word(before, word) != kNone; };
    if (!has("device") && !has("constant") && !has("threadgroup") && !has("thread")) {
      report(at, "a pointer or reference to {} without an address space", type);
    }
  }
}

void Rules::pointers() {
  for (const std::string& type : type_names()) check_declarators(type);
}

void Rules::threadgroup_arrays(const std::vector<KernelSignature>& kernels) {
  for (std::size_t at = find_word(blanked_, "threadgroup"); at != kNone;
       at = find_word(blanked_, "threadgroup", at + 1)) {
    const std::string_view statement = statement_at(at);
    const std::string_view head = statement.substr(0, statement.find('['));
    if (head.find_first_of("*&()") != kNone) continue;  // a pointer, a parameter, a cast
    const auto kernel = std::ranges::find_if(
        kernels, [at](const KernelSignature& k) { return k.body_begin < at && at < k.body_end; });
    if (kernel == kernels.end()) {
      report(at, "threadgroup memory outside a kernel");
      continue;
    }
    std::string_view before =
        trimmed(text().substr(kernel->body_begin + 1, at - kernel->body_begin - 1));
    while (before.starts_with("threadgroup "))
      before = trimmed(before.substr(before.find(';') + 1));
    if (!before.empty()) report(at, "threadgroup memory is declared first in a kernel");
    if (statement.find('[') == kNone) report(at, "threadgroup memory is an array");
    if (statement.find('=') != kNone) report(at, "threadgroup memory has no initial value");
    if (split_arguments(statement).size() > 1) report(at, "one array per statement");
  }
  const std::size_t argument = blanked_.find("[[threadgroup(");
  if (argument != kNone) report(argument, "threadgroup memory is no argument");
}

void Rules::recursion() {
  for (const RecursiveFunction& function : find_recursion(blanked_)) {
    report(function.offset, "{} calls itself", function.name);
  }
}

}  // namespace

Result<void> check_text_rules(std::string_view source) {
  const auto kernels = parse_kernels(source);
  if (!kernels) return fail(ErrorCode::kMalformed, "[lint] {}", kernels.error().message);
  Rules rules(source);
  rules.banned_words();
  rules.lambdas();
  rules.literals();
  rules.pointers();
  rules.threadgroup_arrays(*kernels);
  rules.recursion();
  const std::string problems = rules.take_problems();
  if (!problems.empty()) return fail(ErrorCode::kMalformed, "[lint] {}", problems);
  return {};
}

}  // namespace lattice::metal::simt
