#pragma once

#include <memory>

#include "engine/embedder.h"
#include "lattice/model.h"

namespace lattice {

/// Everything behind a Model handle.
class Model::Impl {
 public:
  Impl(std::unique_ptr<const Embedder> embedder, ModelInfo info)
      : embedder_(std::move(embedder)), info_(std::move(info)) {}

  const Embedder& embedder() const { return *embedder_; }
  const ModelInfo& info() const { return info_; }

 private:
  std::unique_ptr<const Embedder> embedder_;
  ModelInfo info_;
};

}  // namespace lattice
