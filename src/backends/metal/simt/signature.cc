#include "backends/metal/simt/signature.h"

#include <charconv>

#include "backends/metal/device.h"
#include "backends/metal/simt/source_text.h"

namespace lattice::metal::simt {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// "buffer(3)" -> ("buffer", 3); false if the number is missing or no number.
bool split_attribute(std::string_view text, std::string& name, std::uint32_t& number) {
  const std::size_t open = text.find('(');
  name = std::string(trimmed(text.substr(0, open)));
  if (open == kNone) return name != "buffer";
  const std::string_view digits = trimmed(text.substr(open + 1, text.find(')') - open - 1));
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return code == std::errc{} && end == digits.data() + digits.size();
}

Result<KernelParameter> parse_parameter(std::string_view text, int line) {
  const std::size_t open = text.find("[[");
  const std::size_t close = open == kNone ? kNone : text.find("]]", open);
  if (close == kNone || text.find("[[", close) != kNone) {
    return fail(ErrorCode::kMalformed, "line {}: expected one [[attribute]] at parameter \"{}\"",
                line, text);
  }
  KernelParameter parameter;
  if (!split_attribute(text.substr(open + 2, close - open - 2), parameter.attribute,
                       parameter.index)) {
    return fail(ErrorCode::kMalformed, "line {}: expected [[buffer(number)]] at parameter \"{}\"",
                line, text);
  }
  const std::string_view declaration = trimmed(text.substr(0, open));
  std::size_t name_begin = declaration.size();
  while (name_begin > 0 && is_word_char(declaration[name_begin - 1])) --name_begin;
  parameter.name = std::string(declaration.substr(name_begin));
  parameter.type = std::string(trimmed(declaration.substr(0, name_begin)));
  const bool is_indirect = parameter.type.ends_with('*') || parameter.type.ends_with('&');
  if (parameter.type.empty() || is_indirect != parameter.is_buffer()) {
    return fail(ErrorCode::kMalformed,
                "line {}: expected a pointer or reference for a buffer and a value for an index, "
                "got parameter \"{}\"",
                line, text);
  }
  return parameter;
}

// n of [[max_total_threads_per_threadgroup(n)]], a product of numbers, before a kernel's name.
std::uint32_t declared_max_threads(std::string_view head) {
  constexpr std::string_view kAttribute = "max_total_threads_per_threadgroup(";
  const std::size_t at = head.find(kAttribute);
  if (at == kNone) return kMaxThreadsPerThreadgroup;
  std::string_view text = head.substr(at + kAttribute.size());
  text = text.substr(0, text.find(')'));
  std::uint32_t product = 1;
  for (const char* c = text.data(); c < text.data() + text.size(); ++c) {
    std::uint32_t factor = 0;
    const auto [end, error] = std::from_chars(c, text.data() + text.size(), factor);
    if (error != std::errc()) continue;  // a space or a star
    product *= factor;
    c = end - 1;
  }
  return product;
}

// The kernel whose word `kernel` stands at `at` of the blanked source.
Result<KernelSignature> parse_kernel(std::string_view blanked, std::size_t at) {
  KernelSignature kernel;
  kernel.line = line_of(blanked, at);
  const std::size_t result = find_word(blanked, "void", at);
  std::size_t name_begin = result == kNone ? kNone : result + 4;
  while (name_begin < blanked.size() && !is_word_char(blanked[name_begin])) ++name_begin;
  std::size_t name_end = name_begin;
  while (name_end < blanked.size() && is_word_char(blanked[name_end])) ++name_end;
  const std::size_t open = blanked.find('(', name_end);
  const std::size_t close = open == kNone ? kNone : closing_bracket(blanked, open);
  const std::size_t brace = close == kNone ? kNone : blanked.find('{', close);
  if (brace == kNone || !trimmed(blanked.substr(name_end, open - name_end)).empty()) {
    return fail(ErrorCode::kMalformed, "line {}: expected \"kernel void name(...) {{\"",
                kernel.line);
  }
  kernel.name = std::string(blanked.substr(name_begin, name_end - name_begin));
  const std::size_t before = blanked.find_last_of("};", at);  // the end of what comes before it
  const std::size_t head = before == kNone ? 0 : before + 1;
  kernel.max_threads = declared_max_threads(blanked.substr(head, name_begin - head));
  kernel.body_begin = brace;
  kernel.body_end = closing_bracket(blanked, brace);
  for (const std::string_view text : split_arguments(blanked.substr(open + 1, close - open - 1))) {
    auto parameter = parse_parameter(text, kernel.line);
    if (!parameter) return forward_error(parameter);
    kernel.parameters.push_back(std::move(*parameter));
  }
  return kernel;
}

}  // namespace

std::string KernelParameter::value_type() const {
  std::string_view text = type;
  text.remove_suffix(1);
  for (const std::string_view word : {"constant", "device", "const"}) {
    if (const std::size_t at = find_word(text, word); at == 0) text.remove_prefix(word.size());
    text = trimmed(text);
  }
  return std::string(text);
}

bool KernelParameter::is_read_only() const {
  return find_word(type, "constant") != kNone || find_word(type, "const") != kNone;
}

Result<std::vector<KernelSignature>> parse_kernels(std::string_view source) {
  const std::string blanked = blank_comments(source);
  std::vector<KernelSignature> kernels;
  for (std::size_t at = find_word(blanked, "kernel"); at != kNone;
       at = find_word(blanked, "kernel", at + 1)) {
    auto kernel = parse_kernel(blanked, at);
    if (!kernel) return forward_error(kernel);
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

}  // namespace lattice::metal::simt
