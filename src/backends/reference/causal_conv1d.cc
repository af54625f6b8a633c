#include "backends/reference/reference_backend.h"

namespace lattice {

void ReferenceBackend::causal_conv1d(Context&, const CausalConv1dArgs& args) const {
  for (std::int64_t s = 0; s < args.layout.num_seqs(); ++s) {
    for (std::int64_t t = 0; t < args.layout.length(s); ++t) {
      for (std::int64_t c = 0; c < args.x.cols; ++c) {
        double sum = 0.0;
        for (std::int64_t i = 0; i < args.kernel_size(); ++i) {
          const float* x = args.tap(s, t, i);
          if (x == nullptr) continue;
          sum += static_cast<double>(args.weight.row(i)[c]) * static_cast<double>(x[c]);
        }
        args.out.row(args.layout.begin(s) + t)[c] =
            static_cast<float>(apply_activation(args.activation, sum));
      }
    }
  }
}

}  // namespace lattice
