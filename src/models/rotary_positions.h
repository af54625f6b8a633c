#pragma once

#include <memory>
#include <vector>

#include "layers/rotary_table.h"
#include "models/text_model.h"

namespace lattice {

/// The positions of a batch's tokens, those of earlier passes counted, and their angles. Lives for
/// one forward pass, within the scope of `workspace` that it was made in.
class RotaryPositions {
 public:
  RotaryPositions(const RotaryTable& table, const TokenBatch& batch, Workspace& workspace);

  /// qk_norm_rope of all tokens; `args` lacks positions, cos and sin only.
  void apply(Context& context, const QkNormRopeArgs& args) const;

 private:
  /// Rows of the batch that share a table.
  struct Run {
    std::int64_t begin;
    std::int64_t end;
    std::shared_ptr<const RotaryAngles> angles;
  };
  void apply_run(Context& context, const QkNormRopeArgs& args, const Run& run) const;

  std::span<const std::int32_t> positions_;
  Run whole_;              // unless there are runs_
  std::vector<Run> runs_;  // per sequence, where its length changes the angles
};

}  // namespace lattice
