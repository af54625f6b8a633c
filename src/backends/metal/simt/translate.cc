#include "backends/metal/simt/translate.h"

#include <fmt/format.h>

#include "backends/metal/simt/signature.h"
#include "backends/metal/simt/source_text.h"

namespace lattice::metal::simt {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// `threadgroup float scratch[32]` without its first word, or nothing if the statement declares no
// memory but, say, a pointer.
std::string_view array_declaration(std::string_view statement) {
  const std::string_view head = statement.substr(0, statement.find('['));
  if (head.find_first_of("*&=(") != kNone) return {};
  return trimmed(statement.substr(std::string_view("threadgroup").size()));
}

std::string_view declared_name(std::string_view declaration) {
  const std::string_view head = trimmed(declaration.substr(0, declaration.find('[')));
  std::size_t begin = head.size();
  while (begin > 0 && is_word_char(head[begin - 1])) --begin;
  return head.substr(begin);
}

// A static array, a gap behind it that belongs to nobody, and its row for the host.
std::string static_array(std::string_view declaration) {
  const std::string_view name = declared_name(declaration);
  constexpr std::string_view kInSection =
      R"(static __attribute__((used, aligned(16), section("{}"))))";
  const std::string memory = fmt::format(kInSection, "simt_memory");
  return fmt::format(
      "{0} {1}; {0} char simt_gap_{2}[256]; static const simt::ThreadgroupArray "
      "__attribute__((used, section(\"simt_arrays\"))) simt_row_{2} = {{__func__, \"{2}\", "
      "(char*)&{2}, sizeof({2})}};",
      memory, declaration, name);
}

std::string with_static_arrays(std::string_view source,
                               const std::vector<KernelSignature>& kernels) {
  const std::string blanked = blank_comments(source);
  std::string result;
  std::size_t copied = 0;
  for (const KernelSignature& kernel : kernels) {
    for (std::size_t at = find_word(blanked, "threadgroup", kernel.body_begin);
         at < kernel.body_end; at = find_word(blanked, "threadgroup", at + 1)) {
      const std::size_t end = blanked.find(';', at);
      const std::string_view statement = std::string_view(blanked).substr(at, end - at);
      const std::string_view declaration = array_declaration(statement);
      if (declaration.empty()) continue;
      result += source.substr(copied, at - copied);
      result += static_array(declaration);
      copied = end + 1;
    }
  }
  result += source.substr(copied);
  return result;
}

std::string argument(const KernelParameter& parameter) {
  if (!parameter.is_buffer()) return fmt::format("simt::{}(in)", parameter.attribute);
  return fmt::format("simt::{}{{in.buffers[{}]}}",
                     parameter.is_reference() ? "AsReference" : "AsPointer", parameter.index);
}

std::string binding(const KernelParameter& parameter) {
  return fmt::format("{{{}, \"{}\", {}, {}}}, ", parameter.index, parameter.name,
                     parameter.is_read_only(),
                     parameter.is_reference() ? fmt::format("sizeof({})", parameter.value_type())
                                              : std::string("0"));
}

// The kernel's entry function and its bindings.
std::string entry(const KernelSignature& kernel) {
  std::string arguments, bindings;
  std::size_t num_bindings = 0;
  for (const KernelParameter& parameter : kernel.parameters) {
    if (!arguments.empty()) arguments += ", ";
    arguments += argument(parameter);
    if (!parameter.is_buffer()) continue;
    bindings += binding(parameter);
    ++num_bindings;
  }
  return fmt::format(
      "static void simt_entry_{0}([[maybe_unused]] const simt::Invocation& in) {{ {0}({1}); }}\n"
      "static const simt::Binding simt_bindings_{0}[] = {{ {2}{{0, nullptr, false, 0}} }};\n"
      "static constexpr unsigned simt_num_bindings_{0} = {3};\n",
      kernel.name, arguments, bindings, num_bindings);
}

}  // namespace

Result<std::string> keep_kernel(std::string_view source, std::string_view name) {
  const auto kernels = parse_kernels(source);
  if (!kernels) return fail(ErrorCode::kMalformed, "[simt] {}", kernels.error().message);
  std::string kept(source);
  bool is_found = false;
  for (const KernelSignature& kernel : *kernels) {
    if (kernel.name == name) {
      is_found = true;
      continue;
    }
    for (std::size_t at = kernel.body_begin + 1; at < kernel.body_end; ++at) {
      if (kept[at] != '\n') kept[at] = ' ';
    }
  }
  if (!is_found) return fail(ErrorCode::kInternal, "[simt] no kernel {}", name);
  return kept;
}

Result<std::string> translate(std::string_view source) {
  const auto kernels = parse_kernels(source);
  if (!kernels) return fail(ErrorCode::kMalformed, "[simt] {}", kernels.error().message);
  std::string unit = "#include <metal_stdlib>\n#line 1 \"library.metal\"\n";
  unit += with_static_arrays(source, *kernels);
  unit += "\n#line 1 \"entries\"\n#include \"entry.h\"\n";
  unit +=
      "#pragma clang attribute push(__attribute__((no_sanitize(\"thread\", \"bounds\", "
      "\"alignment\"))), apply_to = function)\n";
  std::string rows;
  for (const KernelSignature& kernel : *kernels) {
    unit += entry(kernel);
    rows +=
        fmt::format("{{\"{0}\", &simt_entry_{0}, simt_bindings_{0}, simt_num_bindings_{0}, {1}}}, ",
                    kernel.name, kernel.max_threads);
  }
  unit += fmt::format(
      "static const simt::KernelRow simt_rows[] = {{ {}{{nullptr, nullptr, nullptr, 0, 0}} }};\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) simt::Module simt_module() {{\n"
      "  return simt::describe(simt_rows, {});\n}}\n#pragma clang attribute pop\n",
      rows, kernels->size());
  return unit;
}

}  // namespace lattice::metal::simt
