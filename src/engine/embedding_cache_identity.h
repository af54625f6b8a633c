#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/model_directory.h"
#include "io/weight_files.h"

namespace lattice {

/// Names a loaded model, so that vectors kept by another process can be told from another model's.
/// Immutable, thread-safe.
///
/// The weights are sampled, not read: every tensor's name, dtype and shape, all of its bytes up to
/// 16 KiB, and 16 places of 64 bytes spread evenly over a larger one. Training moves every element
/// of the tensors it touches, so two checkpoints differ in the samples; an edit by hand of a few
/// elements between them is not seen. Sharded or not, with any header layout, the same tensors give
/// the same name.
class ModelFingerprint {
 public:
  /// What a model was loaded from.
  struct Source {
    const ModelDirectory& directory;
    std::span<const std::filesystem::path> module_directories;  ///< modules after the Transformer
    WeightFiles weights;
    std::string tokenizer;  ///< Tokenizer::fingerprint()
    std::string compute;    ///< "dtype f32\ndevice cpu\ntarget avx2\n"
  };

  /// Reads the configuration files; the weights wait until model() is called. Throws LatticeError.
  explicit ModelFingerprint(const Source& source);

  /// Lines of "key value": numerics, configuration, weights, tokenizer. Throws LatticeError when a
  /// shard cannot be opened.
  const std::string& model() const;

  /// Lines of "key value": dtype, device, target.
  const std::string& compute() const { return compute_; }

 private:
  std::string configuration_;
  std::string tokenizer_;
  std::string compute_;
  std::vector<WeightFiles> weights_;
  mutable std::mutex mutex_;
  mutable std::optional<std::string> model_;  // guarded by mutex_ until set, then constant
};

/// How two models' texts differ, for a message: "weights: expected 01ab..., got 23cd...". Empty
/// when they do not.
std::string describe_difference(std::string_view expected, std::string_view got);

}  // namespace lattice
