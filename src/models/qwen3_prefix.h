#pragma once

#include <vector>

#include "base/aligned_buffer.h"
#include "models/text_model.h"

namespace lattice {

/// The rotated keys and the values of a prefix, layer by layer.
class Qwen3Prefix final : public SharedPrefix {
 public:
  Qwen3Prefix(std::int64_t num_tokens, std::int64_t kv_dim, std::int64_t num_layers);

  std::int64_t num_tokens() const override { return num_tokens_; }

  /// [num_tokens, 2 * kv_dim]: keys, then values.
  ConstMatrix layer(std::size_t i) const { return {layers_[i].data(), num_tokens_, 2 * kv_dim_}; }
  /// Keeps what one layer computed: kv [num_tokens, 2 * kv_dim].
  void store(std::size_t i, ConstMatrix kv);

 private:
  std::int64_t num_tokens_;
  std::int64_t kv_dim_;
  std::vector<AlignedBuffer<float>> layers_;
};

/// Per sequence of `layout`, the prefix's keys and values with those of its own tokens behind them,
/// copied into the context's workspace. kv [num_tokens, 2 * kv_dim].
std::vector<KeysValues> join_prefix(Context& context, ConstMatrix prefix, ConstMatrix kv,
                                    const SequenceLayout& layout);

}  // namespace lattice
