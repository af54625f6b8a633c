#include "engine/length_limit.h"

#include <limits>

namespace lattice {

LengthLimit resolve_length_limit(const LengthLimitInputs& inputs) {
  LengthLimit limit{std::numeric_limits<std::int32_t>::max(), "no file sets a limit"};
  if (inputs.max_seq_length) {
    limit = {*inputs.max_seq_length, inputs.max_seq_length_source + ": max_seq_length"};
  } else if (inputs.model_max_length && *inputs.model_max_length < limit.max_tokens) {
    limit = {*inputs.model_max_length, "tokenizer_config.json: model_max_length"};
  }
  const bool positions_apply = inputs.positions_are_hard_limit || !inputs.max_seq_length;
  if (positions_apply && inputs.max_positions > 0 && inputs.max_positions < limit.max_tokens) {
    limit = {inputs.max_positions, "config.json: max_position_embeddings"};
  }
  return limit;
}

}  // namespace lattice
