#include "backends/metal/simt/report.h"

#include <fmt/format.h>

#include "backends/metal/simt/subprocess.h"

namespace lattice::metal::simt {
namespace {

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The innermost frame at `pc` that is a kernel's text, not the shim's.
std::string line_of_pc(const void* pc, const LoadedModule& library) {
  const auto offset = static_cast<const char*>(pc) - library.module().image_begin - 1;
  const auto process = run_process({LATTICE_SIMT_SYMBOLIZER, "--inlines", "--no-demangle",
                                    "--obj=" + library.path(), fmt::format("{:#x}", offset)});
  if (!process) return "an unknown line";
  std::string_view output = process->output;
  while (!output.empty()) {
    next_line(output);  // the function's name
    const std::string_view place = base_name(next_line(output));
    if (place.find(".metal:") != std::string_view::npos) return std::string(place);
  }
  return "an unknown line";
}

std::string describe_place(const Place& place, const LoadedModule& library) {
  std::string text = fmt::format("thread {}", place.thread);
  if (place.doing[0] != '\0') text += fmt::format(" {}", place.doing);
  if (place.site) {
    text += fmt::format(" at {}:{}:{}", base_name(place.site->file), place.site->line,
                        place.site->column);
  } else if (place.pc != nullptr) {
    text += fmt::format(" at {}", line_of_pc(place.pc, library));
  }
  return text;
}

}  // namespace

std::string describe_fault(const Fault& fault, std::string_view kernel, Extent threadgroup,
                           const LoadedModule& library) {
  std::string text =
      fmt::format("[simt] kernel {}, threadgroup ({}, {}, {}): {}: {}", kernel, threadgroup.x,
                  threadgroup.y, threadgroup.z, fault.what, describe_place(fault.here, library));
  if (fault.memory != nullptr) {
    text += fmt::format(", byte {} of {} with {} bytes", fault.offset, fault.memory,
                        fault.memory_bytes);
  }
  if (fault.other) text += fmt::format("; {}", describe_place(*fault.other, library));
  return text;
}

}  // namespace lattice::metal::simt
