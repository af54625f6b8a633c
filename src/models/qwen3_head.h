#pragma once

#include "models/model_family.h"

namespace lattice {

/// The head of Qwen3ForSequenceClassification: score.weight on the last token that is not
/// pad_token_id. Throws kNotFound naming a missing tensor.
std::unique_ptr<SequenceHead> load_qwen3_head(const HeadSource& source);

}  // namespace lattice
