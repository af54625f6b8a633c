#include "backends/metal/kernel_library.h"

#include "backends/metal/msl_source.h"

namespace lattice::metal {

const Pipeline& KernelLibrary::pipeline(std::string_view name) {
  const std::lock_guard lock(mutex_);
  auto found = pipelines_.find(name);
  if (found == pipelines_.end()) {
    auto made = value_or_throw(device_.make_pipeline(*library_, name));
    found = pipelines_.emplace(std::string(name), std::move(made)).first;
  }
  return *found->second;
}

KernelLibrary& KernelLibraries::for_heads(std::int64_t head_dim, std::int64_t groups) {
  const std::lock_guard lock(mutex_);
  const auto found = libraries_.find({head_dim, groups});
  if (found != libraries_.end()) return *found->second;
  auto compiled = compile(msl_source_for(head_dim, groups));
  return *libraries_.emplace(Shape{head_dim, groups}, std::move(compiled)).first->second;
}

KernelLibrary& KernelLibraries::for_any_heads() {
  const std::lock_guard lock(mutex_);
  if (for_any_heads_ == nullptr) for_any_heads_ = compile(msl_source_for_any_heads());
  return *for_any_heads_;
}

std::unique_ptr<KernelLibrary> KernelLibraries::compile(const Result<std::string>& source) {
  return std::make_unique<KernelLibrary>(device_,
                                         value_or_throw(device_.compile(value_or_throw(source))));
}

}  // namespace lattice::metal
