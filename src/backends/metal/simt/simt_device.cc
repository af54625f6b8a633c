#include "backends/metal/simt/simt_device.h"

#include "backends/metal/simt/signature.h"
#include "backends/metal/simt/simt_commands.h"
#include "backends/metal/simt/translate.h"
#include "base/check.h"

namespace lattice::metal::simt {

SimtPipeline::SimtPipeline(std::shared_ptr<const LoadedModule> module, const KernelRow& kernel)
    : module_(std::move(module)), kernel_(kernel) {
  const Module& table = module_->module();
  for (unsigned i = 0; i < table.num_arrays; ++i) {
    const ThreadgroupArray& array = table.arrays[i];
    if (std::string_view(array.kernel) != kernel.name) continue;
    threadgroup_bytes_ += static_cast<std::uint32_t>((array.size + 15) / 16 * 16);
    shadows_.push_back(std::make_unique<Shadow>(array.size, false));
    regions_.push_back({.begin = array.data,
                        .num_bytes = array.size,
                        .name = array.name,
                        .space = Space::kThreadgroup,
                        .shadow = shadows_.back().get()});
  }
}

SimtDevice::SimtDevice(SimtOptions options)
    : options_(std::move(options)),
      executor_(options_.schedule, options_.seed, options_.seconds_per_threadgroup) {
  if (options_.cache_directory.empty()) options_.cache_directory = LATTICE_SIMT_CACHE_DIR;
}

Result<std::unique_ptr<Buffer>> SimtDevice::make_buffer(std::size_t num_bytes) {
  return std::make_unique<SimtBuffer>(num_bytes);
}

std::unique_ptr<Buffer> SimtDevice::wrap_memory(std::span<const std::byte> bytes,
                                                std::shared_ptr<const void> owner) {
  if (!options_.wraps_memory) return nullptr;
  return std::make_unique<SimtBuffer>(bytes, std::move(owner));
}

Result<std::unique_ptr<Library>> SimtDevice::compile(std::string_view source) {
  auto kernels = parse_kernels(source);
  if (!kernels) return forward_error(kernels);
  return std::make_unique<SimtLibrary>(std::string(source));
}

Result<std::unique_ptr<Pipeline>> SimtDevice::make_pipeline(const Library& library,
                                                            std::string_view name) {
  const auto* own = dynamic_cast<const SimtLibrary*>(&library);
  check(own != nullptr, "[simt] a library of another device");
  auto source = keep_kernel(own->source(), name);
  if (!source) return forward_error(source);
  auto module = compile_module(
      *source, {.checked = options_.checked, .cache_directory = options_.cache_directory});
  if (!module) return forward_error(module);
  const std::shared_ptr<const LoadedModule> loaded = std::move(*module);
  auto pipeline = std::make_unique<SimtPipeline>(loaded, *loaded->kernel(name));
  if (pipeline->threadgroup_bytes() > kMaxThreadgroupBytes) {
    return fail(ErrorCode::kInternal,
                "[simt] kernel {}: {} bytes of threadgroup memory, at most {}", name,
                pipeline->threadgroup_bytes(), kMaxThreadgroupBytes);
  }
  return pipeline;
}

std::unique_ptr<Commands> SimtDevice::make_commands() {
  return std::make_unique<SimtCommands>(executor_, options_.checked);
}

}  // namespace lattice::metal::simt
