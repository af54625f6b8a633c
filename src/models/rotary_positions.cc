#include "models/rotary_positions.h"

#include <algorithm>

namespace lattice {

RotaryPositions::RotaryPositions(const RotaryTable& table, const TokenBatch& batch,
                                 Workspace& workspace) {
  const SequenceLayout& layout = batch.layout;
  const auto positions = workspace.array<std::int32_t>(layout.num_tokens());
  std::size_t row = 0;
  std::int64_t longest = 0;
  for (std::int64_t s = 0; s < layout.num_seqs(); ++s) {
    const std::int64_t first = batch.num_earlier_tokens(s);
    for (std::int64_t t = 0; t < layout.length(s); ++t) {
      positions[row++] = static_cast<std::int32_t>(first + t);
    }
    longest = std::max(longest, first + layout.length(s));
  }
  positions_ = positions;
  if (!table.depends_on_length(longest)) {
    whole_ = {0, layout.num_tokens(), table.angles(longest)};
    return;
  }
  for (std::int64_t s = 0; s < layout.num_seqs(); ++s) {
    runs_.push_back({layout.begin(s), layout.end(s),
                     table.angles(batch.num_earlier_tokens(s) + layout.length(s))});
  }
}

void RotaryPositions::apply(Context& context, const QkNormRopeArgs& args) const {
  if (runs_.empty()) return apply_run(context, args, whole_);
  for (const Run& run : runs_) apply_run(context, args, run);
}

void RotaryPositions::apply_run(Context& context, const QkNormRopeArgs& args,
                                const Run& run) const {
  QkNormRopeArgs rows = args;
  rows.q = args.q.rows_between(run.begin, run.end);
  rows.k = args.k.rows_between(run.begin, run.end);
  rows.positions = positions_.subspan(static_cast<std::size_t>(run.begin),
                                      static_cast<std::size_t>(run.end - run.begin));
  rows.cos = run.angles->cos_matrix();
  rows.sin = run.angles->sin_matrix();
  qk_norm_rope(context, rows);
}

}  // namespace lattice
