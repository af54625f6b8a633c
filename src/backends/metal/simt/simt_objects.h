#pragma once

// The buffer, library and pipeline of SimtDevice.

#include <memory>
#include <optional>
#include <vector>

#include "backends/metal/device.h"
#include "backends/metal/simt/compiler.h"
#include "backends/metal/simt/guarded_memory.h"
#include "backends/metal/simt/shadow.h"
#include "base/check.h"

namespace lattice::metal::simt {

class SimtBuffer final : public Buffer {
 public:
  explicit SimtBuffer(std::size_t num_bytes)
      : memory_(std::in_place, num_bytes), bytes_(memory_->bytes()) {}
  /// Memory of somebody else, which has no inaccessible ranges around it.
  SimtBuffer(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}

  std::span<std::byte> contents() override {
    check(!is_read_only(), "[simt] a read-only buffer is to be written to");
    return memory_->bytes();
  }
  std::size_t num_bytes() const override { return bytes_.size(); }
  bool is_read_only() const override { return !memory_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Made when a kernel first may write to the buffer.
  Shadow& shadow() {
    if (!shadow_) shadow_ = std::make_unique<Shadow>(num_bytes(), true);
    return *shadow_;
  }

 private:
  std::optional<GuardedMemory> memory_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::unique_ptr<Shadow> shadow_;
};

/// Source whose kernels are compiled one by one, when their pipelines are made.
class SimtLibrary final : public Library {
 public:
  explicit SimtLibrary(std::string source) : source_(std::move(source)) {}
  const std::string& source() const { return source_; }

 private:
  std::string source_;
};

class SimtPipeline final : public Pipeline {
 public:
  SimtPipeline(std::shared_ptr<const LoadedModule> module, const KernelRow& kernel);
  std::string_view name() const override { return kernel_.name; }
  std::uint32_t max_threads_per_threadgroup() const override { return kernel_.max_threads; }
  std::uint32_t threadgroup_bytes() const override { return threadgroup_bytes_; }

  const KernelRow& kernel() const { return kernel_; }
  const LoadedModule& module() const { return *module_; }
  /// The kernel's threadgroup arrays.
  const std::vector<Region>& threadgroup_regions() const { return regions_; }

 private:
  std::shared_ptr<const LoadedModule> module_;
  const KernelRow& kernel_;
  std::uint32_t threadgroup_bytes_ = 0;
  std::vector<std::unique_ptr<Shadow>> shadows_;
  std::vector<Region> regions_;
};

}  // namespace lattice::metal::simt
