#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "backends/metal/simt/simt_device.h"

namespace lattice::metal {

/// A SimtDevice, checked, that changes sources before it compiles them: for planting faults in the
/// kernels that the backend runs.
class EditedDevice final : public Device {
 public:
  using Edit = std::function<std::string(std::string)>;

  EditedDevice(Edit edit, simt::SimtOptions options)
      : edit_(std::move(edit)), device_(std::move(options)) {}

  std::string name() const override { return device_.name(); }
  Result<std::unique_ptr<Buffer>> make_buffer(std::size_t num_bytes) override {
    return device_.make_buffer(num_bytes);
  }
  std::unique_ptr<Buffer> wrap_memory(std::span<const std::byte> bytes,
                                      std::shared_ptr<const void> owner) override {
    return device_.wrap_memory(bytes, std::move(owner));
  }
  Result<std::unique_ptr<Library>> compile(std::string_view source) override {
    return device_.compile(edit_(std::string(source)));
  }
  Result<std::unique_ptr<Pipeline>> make_pipeline(const Library& library,
                                                  std::string_view name) override {
    return device_.make_pipeline(library, name);
  }
  std::unique_ptr<Commands> make_commands() override { return device_.make_commands(); }

 private:
  Edit edit_;
  simt::SimtDevice device_;
};

}  // namespace lattice::metal
