#include "backends/metal/simt/lint.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "backends/metal/simt/subprocess.h"

namespace lattice::metal::simt {

Result<void> lint(std::string_view source) {
  static std::atomic<unsigned> counter = 0;
  const auto path = std::filesystem::temp_directory_path() /
                    fmt::format("lattice-lint-{}-{}.metal", getpid(), counter++);
  std::ofstream(path, std::ios::binary) << source;
  const auto process = run_process(
      {LATTICE_SIMT_CLANG, "-target", "spir64", "-x", "cl", "-cl-std=clc++2021", "-cl-no-stdinc",
       "-fsyntax-only", "-nostdinc", "-isystem", LATTICE_SIMT_LINT_DIR, "-Wall", "-Wextra",
       "-Werror", "-Wno-unknown-attributes", "-Wno-unused-function", "-Wno-unused-parameter",
       // Without the generic address space a pointer means what it says; no double.
       "-Xclang",
       "-cl-ext=-__opencl_c_generic_address_space,-cl_khr_fp64,-__opencl_c_fp64,"
       "-__opencl_c_program_scope_global_variables,+cl_khr_fp16,-__opencl_c_pipes,"
       "-__opencl_c_device_enqueue",
       path.string()});
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  if (!process) return tl::make_unexpected(process.error());
  if (process->exit_code != 0) {
    return fail(ErrorCode::kMalformed, "[lint] kernels break a rule of MSL:\n{}", process->output);
  }
  return {};
}

}  // namespace lattice::metal::simt
