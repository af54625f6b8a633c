#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "layers/layer_norm.h"
#include "layers/linear.h"

namespace lattice {

/// A step after pooling: sentence vectors in, sentence vectors out. Immutable, thread-safe.
class SentenceModule {
 public:
  SentenceModule() = default;
  SentenceModule(const SentenceModule&) = delete;
  SentenceModule& operator=(const SentenceModule&) = delete;
  virtual ~SentenceModule() = default;

  virtual std::int64_t output_dimension() const = 0;
  /// x [num_seqs, input_dimension] -> out [num_seqs, output_dimension]; no aliasing.
  virtual void forward(Context& context, ConstMatrix x, MutMatrix out) const = 0;
};

/// act(W x + b) [+ x or residual.weight x]. Reads <directory>/config.json and its
/// model.safetensors. The default activation is Tanh; the file must call the result `output_name`.
/// Source: sentence-transformers, Dense module.
std::unique_ptr<SentenceModule> load_dense_module(const std::filesystem::path& directory,
                                                  std::int64_t input_dimension,
                                                  std::string_view output_name);

/// nn.LayerNorm with eps 1e-5. Source: sentence-transformers, LayerNorm module.
std::unique_ptr<SentenceModule> load_layer_norm_module(const std::filesystem::path& directory,
                                                       std::int64_t input_dimension);

}  // namespace lattice
