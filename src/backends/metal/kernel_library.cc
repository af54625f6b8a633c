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
  return find_or_compile({head_dim, groups});
}

KernelLibrary& KernelLibraries::for_any_heads() {
  const std::lock_guard lock(mutex_);
  return libraries_.empty() ? find_or_compile({64, 1}) : *libraries_.begin()->second;
}

KernelLibrary& KernelLibraries::find_or_compile(const Shape& shape) {
  std::unique_ptr<KernelLibrary>& library = libraries_[shape];
  if (library == nullptr) {
    try {
      const std::string source = value_or_throw(msl_source_for(shape.first, shape.second));
      library = std::make_unique<KernelLibrary>(device_, value_or_throw(device_.compile(source)));
    } catch (...) {
      libraries_.erase(shape);
      throw;
    }
  }
  return *library;
}

}  // namespace lattice::metal
