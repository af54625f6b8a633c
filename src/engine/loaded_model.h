#pragma once

#include <memory>

#include "engine/context_pool.h"
#include "engine/length_limit.h"
#include "lattice/tokenizer.h"
#include "models/text_model.h"

namespace lattice {

/// What the tasks on one model share: text to ids, ids to hidden states, and where that runs.
/// Immutable but for the pool of contexts; thread-safe.
struct LoadedModel {
  Tokenizer tokenizer;
  std::unique_ptr<const TextModel> body;
  LengthLimit limit;
  std::unique_ptr<ContextPool> contexts;
};

}  // namespace lattice
