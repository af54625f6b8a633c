#pragma once

#include "models/draft_head.h"
#include "models/qwen3_5_block.h"

namespace lattice {

/// What the multi-token prediction head takes from the model that it belongs to, which outlives it.
struct Qwen35MtpOwner {
  const Qwen35Config& config;
  const RotaryTable& rope;
  const Tensor& embed_tokens;  ///< [vocab_size, hidden_size]
};

/// The multi-token prediction head under `scope` ("mtp"):
///   x = fc([rms(embed(next)), rms(hidden)]);  norm(attention block(x))
/// nullptr where the files have none, or one of a kind that is not implemented (several layers, a
/// token table of its own), which is logged. Throws LatticeError(kNotFound) for half a head.
/// Source: the Qwen3.5 releases; names as in their files.
std::unique_ptr<const DraftHead> load_qwen3_5_mtp(const WeightScope& scope, Qwen35MtpOwner owner,
                                                  WeightFormat format);

}  // namespace lattice
