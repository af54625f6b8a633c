#include "backends/metal/simt/compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "backends/metal/simt/subprocess.h"
#include "backends/metal/simt/translate.h"
#include "base/hash.h"

namespace lattice::metal::simt {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> compiler_flags(bool checked) {
  std::vector<std::string> flags = {
      LATTICE_SIMT_CLANG, "-x", "c++", "-std=c++17", "-fsigned-char", "-nostdinc", "-isystem",
      LATTICE_SIMT_SHIM_DIR, "-fPIC", "-shared", "-nostdlib++", "-nostartfiles",
      "--rtlib=compiler-rt", "--unwindlib=none", "-fuse-ld=lld", "-fvisibility=hidden", "-g1",
      "-Wall", "-Wextra", "-Werror", "-Wno-unknown-attributes", "-Wno-unused-function",
      "-Wno-unused-parameter", "-Wno-unused-const-variable",
      // MSL 3 is C++14, its literals are float, its half arithmetic rounds after each operation.
      "-Wpre-c++17-compat", "-Xclang", "-cl-single-precision-constant", "-fno-finite-loops",
      "-fno-exceptions", "-fno-rtti", "-ffp-contract=off"};
#if defined(__x86_64__)
  flags.insert(flags.end(), {"-Xclang", "-ffloat16-excess-precision=none"});
#endif
  if (checked) {
    flags.insert(flags.end(), {"-O1", "-fsanitize=thread,array-bounds,alignment", "-fno-vectorize",
                               "-fno-slp-vectorize", "-mllvm", "-tsan-instrument-func-entry-exit=0",
                               "-fno-optimize-sibling-calls"});  // reports need return addresses
  } else {
    flags.push_back("-O2");
  }
  return flags;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The compiler and the shim: what every library of this process is built from. A compiler's file is
// told by size and age: asking it for its version would take longer than many a test.
Result<std::uint64_t> hash_environment() {
  std::error_code error;
  const fs::path compiler = fs::canonical(LATTICE_SIMT_CLANG, error);
  const auto size = error ? 0 : fs::file_size(compiler, error);
  const auto age = error ? fs::file_time_type() : fs::last_write_time(compiler, error);
  if (error) {
    return fail(ErrorCode::kUnavailable, "[simt] {}: {}", LATTICE_SIMT_CLANG, error.message());
  }
  std::uint64_t hash =
      hash_bytes(fmt::format("{} {} {}", compiler.string(), size, age.time_since_epoch().count()));
  std::vector<fs::path> files = {fs::path(LATTICE_SIMT_SHIM_DIR).parent_path() / "abi.h"};
  for (const auto& entry : fs::directory_iterator(LATTICE_SIMT_SHIM_DIR)) files.push_back(entry);
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    hash = hash_bytes(path.filename().string(), hash);
    hash = hash_bytes(read_file(path), hash);
  }
  return hash;
}

Result<void> compile_to(const fs::path& target, const std::string& unit,
                        std::vector<std::string> command) {
  static std::atomic<unsigned> counter = 0;
  const std::string temporary = fmt::format("{}.{}.{}", target.string(), getpid(), counter++);
  const std::string input = temporary + ".cc";
  std::ofstream(input, std::ios::binary) << unit;
  command.insert(command.end(), {input, "-lm", "-o", temporary});
  const auto process = run_process(command);
  std::error_code ignored;
  fs::remove(input, ignored);
  if (!process) return tl::make_unexpected(process.error());
  if (process->exit_code != 0) {
    fs::remove(temporary, ignored);
    return fail(ErrorCode::kInternal, "[simt] kernels do not compile:\n{}", process->output);
  }
  fs::rename(temporary, target, ignored);
  if (ignored) return fail(ErrorCode::kIo, "[simt] {}: {}", target.string(), ignored.message());
  return {};
}

Result<std::unique_ptr<LoadedModule>> load(const fs::path& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(ErrorCode::kInternal, "[simt] {}", dlerror());
  void* symbol = dlsym(handle, "simt_module");
  if (symbol == nullptr) return fail(ErrorCode::kInternal, "[simt] {}: no module", path.string());
  return std::make_unique<LoadedModule>(handle, reinterpret_cast<Module (*)()>(symbol)(),
                                        path.string());
}

}  // namespace

LoadedModule::~LoadedModule() { dlclose(handle_); }

const KernelRow* LoadedModule::kernel(std::string_view name) const {
  for (unsigned i = 0; i < module_.num_kernels; ++i) {
    if (module_.kernels[i].name == name) return &module_.kernels[i];
  }
  return nullptr;
}

Result<std::unique_ptr<LoadedModule>> compile_module(std::string_view source,
                                                     const CompileOptions& options) {
  static const Result<std::uint64_t> environment = hash_environment();
  if (!environment) return tl::make_unexpected(environment.error());
  auto unit = translate(source);
  if (!unit) return tl::make_unexpected(unit.error());
  const std::vector<std::string> command = compiler_flags(options.checked);
  std::uint64_t key = hash_bytes(*unit, *environment);
  for (const std::string& flag : command) key = hash_bytes(flag, key);
  const fs::path path = fs::path(options.cache_directory) /
                        fmt::format("{:016x}{:016x}.so", key, hash_bytes(*unit, key));
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    fs::create_directories(options.cache_directory, ignored);
    if (auto done = compile_to(path, *unit, command); !done) return forward_error(done);
  }
  return load(path);
}

}  // namespace lattice::metal::simt
