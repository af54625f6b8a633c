#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/tensor.h"

namespace lattice {

/// The weights of a model directory, by tensor name, whether in one safetensors file or in shards.
///
/// `model.safetensors` is used when it exists (as transformers does, even beside an index, which is
/// then reported as ignored); otherwise `model.safetensors.index.json` is the authority: a tensor
/// is read from the shard that its weight_map names and from no other, and what a shard holds
/// beyond the map is ignored. Shards are mapped when a tensor of theirs is first asked for, and
/// stay mapped. Names are as the files spell them: prefixes ("bert.", "model.") are the models'
/// business. Copies are cheap and share the shards; all methods are const and thread-safe.
class WeightFiles {
 public:
  /// Reads the header of the single file, or the index. Errors: kNotFound when there are no weights
  /// or shards are missing (the message names them and what they hold), kUnsupported when the
  /// directory has weights in another format only (the message says how to convert), kMalformed
  /// for a bad header or index.
  static Result<WeightFiles> open(const std::filesystem::path& directory);

  /// Whether a file's name is one that programs give to weights, in any format.
  static bool looks_like_weights(std::string_view file_name);

  bool contains(std::string_view name) const;

  /// The tensor called `name`, or nothing when the model has none. Errors: those of
  /// SafetensorsFile::open and find for the shard; kMalformed when the index maps `name` to a shard
  /// that lacks it.
  Result<std::optional<Tensor>> find(std::string_view name) const;

  /// Like find(), but a missing tensor is kNotFound.
  Result<Tensor> require(std::string_view name) const;

  /// kNotFound listing every one of `names` that the model lacks.
  Result<void> require_all(std::span<const std::string> names) const;

  /// The single file or the index, for messages.
  const std::string& source() const;

  /// The file that holds the tensor `name`; empty when the model has none.
  std::filesystem::path file_of(std::string_view name) const;

  /// All tensor names, sorted.
  std::vector<std::string> names() const;

  /// The files that hold the weights, sorted by name.
  std::vector<std::filesystem::path> files() const;

  /// Bytes of tensor data in files(). Opens every shard.
  Result<std::uint64_t> total_bytes() const;

 private:
  struct State;
  explicit WeightFiles(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace lattice
