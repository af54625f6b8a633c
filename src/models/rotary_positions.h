#pragma once

#include <memory>
#include <vector>

#include "layers/rotary_table.h"
#include "models/text_model.h"

namespace lattice {

/// The positions of a batch's tokens, those of earlier passes counted, and their angles. Lives for
/// one forward pass.
class RotaryPositions {
 public:
  RotaryPositions(const RotaryTable& table, const TokenBatch& batch);

  /// qk_norm_rope of all tokens; `args` lacks positions, cos and sin only.
  void apply(Context& context, const QkNormRopeArgs& args) const;

 private:
  /// Rows of the batch that share a table.
  struct Run {
    std::int64_t begin;
    std::int64_t end;
    std::shared_ptr<const RotaryAngles> angles;
  };
  std::vector<std::int32_t> positions_;
  std::vector<Run> runs_;
};

}  // namespace lattice
