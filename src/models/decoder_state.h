#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "models/delta_cache.h"
#include "models/kv_cache.h"

namespace lattice {

/// What each layer of a decoder keeps of a sequence.
using DecoderStateShape = std::vector<std::variant<KvShape, DeltaCacheShape>>;

/// Everything that a decoder keeps of the tokens it has seen of one sequence, so that more can
/// follow: keys and values of attention layers, convolution inputs and recurrent state of Gated
/// DeltaNet layers. Continuing gives the bits of computing the whole sequence at once.
///
/// Keys and values can be dropped back to any token. A recurrent state cannot be rewound beyond
/// rewind_limit(): take a copy(), which costs the last page and the recurrent states, where that
/// may be needed. One thread at a time; copies are independent.
class DecoderState {
 public:
  explicit DecoderState(const DecoderStateShape& shape);

  std::int64_t num_tokens() const { return num_tokens_; }

  /// False after a pass that was given up.
  bool usable() const { return !in_pass_; }

  /// An independent state of the same tokens.
  std::unique_ptr<DecoderState> copy() const;

  /// The fewest tokens that truncate() can go back to: the start of the recurrent layers' chunk, or
  /// 0 without such layers. Going back there does not lower it: the chunk before it is gone.
  std::int64_t rewind_limit() const { return recurrent_ ? chunk_start_ : 0; }

  /// Whether it can go back to any token: no layer is recurrent.
  bool rewindable() const { return !recurrent_; }

  /// Forgets all but the first `num_tokens` tokens. Throws LatticeError(kInternal) outside
  /// rewind_limit()..num_tokens(), and when an earlier pass was given up.
  void truncate(std::int64_t num_tokens);

  std::size_t num_bytes() const;

  // For the forward pass of a model:

  KvCache& attention(std::size_t layer) { return std::get<KvCache>(layers_.at(layer)); }
  DeltaCache& delta(std::size_t layer) { return std::get<DeltaCache>(layers_.at(layer)); }
  /// Throws LatticeError(kInternal) when an earlier pass over this state was given up.
  void begin_pass();
  /// All layers have taken in `count` more tokens.
  void end_pass(std::int64_t count);

 private:
  DecoderState(const DecoderState&) = default;

  std::vector<std::variant<KvCache, DeltaCache>> layers_;
  bool recurrent_ = false;
  std::int64_t num_tokens_ = 0;
  std::int64_t chunk_start_ = 0;  // where the recurrent layers' matrices are
  bool in_pass_ = false;
};

}  // namespace lattice
