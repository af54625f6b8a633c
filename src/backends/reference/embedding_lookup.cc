#include <algorithm>
#include <vector>

#include "backends/reference/reference_backend.h"

namespace lattice {

void ReferenceBackend::embedding_lookup(Context&, const EmbeddingLookupArgs& args) const {
  std::vector<float> term_row(static_cast<std::size_t>(args.out.cols));
  for (std::int64_t t = 0; t < args.out.rows; ++t) {
    const std::span<float> out = args.out.row_span(t);
    std::fill(out.begin(), out.end(), 0.0f);
    for (const EmbeddingTerm& term : args.terms) {
      term.table->copy_to_f32(term.ids[static_cast<std::size_t>(t)] * args.out.cols, term_row);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += term_row[i];
    }
  }
}

}  // namespace lattice
