#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "layers/weight_scope.h"
#include "models/decoder_state.h"
#include "ops/ops.h"

namespace lattice {

/// Token ids of a packed ragged batch.
struct TokenBatch {
  std::span<const std::int32_t> input_ids;       ///< [num_tokens], each < vocab_size
  std::span<const std::int32_t> token_type_ids;  ///< [num_tokens], or empty for all 0
  SequenceLayout layout;
  /// Empty, or per sequence the state that its tokens continue, made by make_state() of the same
  /// model; a pass brings it up to date.
  std::span<DecoderState* const> states = {};

  /// The tokens before sequence `s`.
  std::int64_t num_earlier_tokens(std::int64_t s) const {
    return states.empty() ? 0 : states[static_cast<std::size_t>(s)]->num_tokens();
  }
};

/// Guards the states of a batch through a forward pass: one that ends in an exception leaves states
/// that refuse to be used.
class DecoderPass {
 public:
  explicit DecoderPass(const TokenBatch& batch) : batch_(batch) {
    for (DecoderState* state : batch.states) state->begin_pass();
  }
  /// All layers are done.
  void commit() const {
    for (std::size_t s = 0; s < batch_.states.size(); ++s) {
      batch_.states[s]->end_pass(batch_.layout.length(static_cast<std::int64_t>(s)));
    }
  }

 private:
  const TokenBatch& batch_;
};

/// Shows a test the activations inside a forward pass: "embeddings", "layer.0", ...
using ActivationTap = std::function<void(std::string_view name, ConstMatrix value)>;

/// What every family tells about itself.
struct ModelTraits {
  std::string family;  ///< "bert", "qwen3", ...
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  HeadShape heads;
  /// The positions that the model was made for: max_position_embeddings, as far as usable.
  std::int64_t max_positions = 0;
  /// Whether a longer sequence cannot be computed (a table of positions) or only leaves the range
  /// that the config states (rotary positions).
  bool positions_are_hard_limit = true;
  /// Whether positions are angles of a rotary table (RoPE).
  bool rotary_positions = false;
  /// Whether a token attends to later ones (an encoder).
  bool bidirectional = true;
  /// Whether a language model's head is the token table, unless the files have an lm_head.
  bool tie_word_embeddings = false;
};

class DraftHead;

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

  /// The state of a sequence that has no tokens yet; nullptr for a family without one (encoders).
  virtual std::unique_ptr<DecoderState> make_state() const { return nullptr; }

  /// What guesses tokens ahead, where the files hold such a head, else nullptr; lives as long as
  /// the model.
  virtual const DraftHead* draft_head() const { return nullptr; }

  /// Whether the tokens of a sequence that grows to `length` may be computed in several passes with
  /// the bits of one. Not for angles that depend on the final length.
  virtual bool can_continue(std::int64_t length) const { return length < 0; }
};

}  // namespace lattice
