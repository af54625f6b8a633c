#include "unit/backends/metal/kernel_runner.h"

#include <cstring>

namespace lattice::metal {

Result<void> run_kernel(Device& device, std::string_view source, std::string_view kernel,
                        std::vector<KernelArgument> arguments, Extent threadgroups,
                        Extent threads) {
  auto library = device.compile(source);
  if (!library) return forward_error(library);
  auto pipeline = device.make_pipeline(**library, kernel);
  if (!pipeline) return forward_error(pipeline);
  return run_pipeline(device, **pipeline, std::move(arguments), threadgroups, threads);
}

Result<void> run_pipeline(Device& device, const Pipeline& pipeline,
                          std::vector<KernelArgument> arguments, Extent threadgroups,
                          Extent threads) {
  const auto commands = device.make_commands();
  commands->set_pipeline(pipeline);
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_array()) {
      commands->set_bytes(i, arguments[i].bytes);
      buffers.push_back(nullptr);
      continue;
    }
    const auto bytes = arguments[i].array;
    auto buffer = device.make_buffer(bytes.size());
    if (!buffer) return forward_error(buffer);
    if (!bytes.empty()) std::memcpy((*buffer)->contents().data(), bytes.data(), bytes.size());
    commands->set_buffer(i, **buffer, 0);
    buffers.push_back(std::move(*buffer));
  }
  commands->dispatch(threadgroups, threads);
  auto done = commands->commit_and_wait();
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    if (buffers[i] == nullptr) continue;
    const auto bytes = buffers[i]->contents();
    if (!bytes.empty()) std::memcpy(arguments[i].array.data(), bytes.data(), bytes.size());
  }
  return done;
}

std::string test_source(std::string_view body) {
  return "#include <metal_stdlib>\nusing namespace metal;\n#line 1 \"test.metal\"\n" +
         std::string(body);
}

}  // namespace lattice::metal
