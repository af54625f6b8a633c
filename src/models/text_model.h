#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "layers/weight_scope.h"
#include "ops/ops.h"

namespace lattice {

/// What a decoder keeps of tokens that many sequences begin with. Immutable, shared by threads.
class SharedPrefix {
 public:
  SharedPrefix() = default;
  SharedPrefix(const SharedPrefix&) = delete;
  SharedPrefix& operator=(const SharedPrefix&) = delete;
  virtual ~SharedPrefix() = default;
  virtual std::int64_t num_tokens() const = 0;
};

/// Token ids of a packed ragged batch.
struct TokenBatch {
  std::span<const std::int32_t> input_ids;       ///< [num_tokens], each < vocab_size
  std::span<const std::int32_t> token_type_ids;  ///< [num_tokens], or empty for all 0
  SequenceLayout layout;
  /// Every sequence continues behind these tokens, which make_prefix() of the same model computed.
  const SharedPrefix* prefix = nullptr;
};

/// Shows a test the activations inside a forward pass: "embeddings", "layer.0", ...
using ActivationTap = std::function<void(std::string_view name, ConstMatrix value)>;

/// What every family tells about itself.
struct ModelTraits {
  std::string family;  ///< "bert", "qwen3", ...
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  /// The positions that the model was made for: max_position_embeddings, as far as usable.
  std::int64_t max_positions = 0;
  /// Whether a longer sequence cannot be computed (a table of positions) or only leaves the range
  /// that the config states (rotary positions).
  bool positions_are_hard_limit = true;
  /// Whether positions are angles of a rotary table (RoPE).
  bool rotary_positions = false;
  /// Whether a token attends to later ones (an encoder).
  bool bidirectional = true;
};

/// A transformer body: token ids in, last hidden states out. Immutable and thread-safe; one Context
/// per concurrent call.
class TextModel {
 public:
  TextModel() = default;
  TextModel(const TextModel&) = delete;
  TextModel& operator=(const TextModel&) = delete;
  virtual ~TextModel() = default;

  virtual const ModelTraits& traits() const = 0;

  /// hidden [num_tokens, hidden_size] = last hidden state. Every sequence of the batch must have
  /// at least one token and, if positions_are_hard_limit, at most max_positions.
  virtual void forward(Context& context, const TokenBatch& batch, MutMatrix hidden,
                       const ActivationTap& tap = {}) const = 0;

  /// Whether sequences of up to `length` tokens may share their first tokens' computation.
  virtual bool can_share_prefix(std::int64_t length) const { return length < 0; }

  /// Computes `ids` once for sequences that begin with them; hidden states behind a prefix have the
  /// bits that they have without. Only where can_share_prefix().
  virtual std::shared_ptr<const SharedPrefix> make_prefix(Context& context,
                                                          std::span<const std::int32_t> ids) const;
};

}  // namespace lattice
