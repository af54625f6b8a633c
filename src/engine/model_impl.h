#pragma once

#include <memory>

#include "engine/embedder.h"
#include "engine/generation/generator.h"
#include "engine/scorer.h"
#include "lattice/model.h"

namespace lattice {

/// Everything behind a Model handle. The tasks that the directory does not serve are absent.
class Model::Impl {
 public:
  struct Parts {
    std::shared_ptr<const LoadedModel> model;
    std::unique_ptr<const Embedder> embedder;
    std::unique_ptr<const Scorer> scorer;
    std::unique_ptr<const Generator> generator;
    std::optional<Error> why_no_generator;  ///< set where there is none
    ModelInfo info;
  };
  explicit Impl(Parts parts) : parts_(std::move(parts)) {}

  /// Loads a directory; see Model::from_directory.
  static std::shared_ptr<const Impl> load(const std::filesystem::path& path,
                                          const ModelOptions& options);

  const LoadedModel& model() const { return *parts_.model; }
  /// Throws LatticeError(kUnsupported) when the directory holds no embedding model.
  const Embedder& embedder() const;
  /// Throws LatticeError(kUnsupported) when the directory holds no cross-encoder.
  const Scorer& scorer() const;
  /// Throws LatticeError(kUnsupported) when the directory holds no language model, and says why.
  const Generator& generator() const;
  const ModelInfo& info() const { return parts_.info; }

 private:
  Parts parts_;
};

}  // namespace lattice
