#include "backends/cpu/kernels/gemm.h"
#include "base/aligned_buffer.h"
#include "base/float16.h"

namespace lattice {

void pack_panel_f32(const float* rows, std::int64_t panel_cols, std::int64_t k, std::byte* panel) {
  auto* out = storage_cast<float>(panel);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t col = 0; col < panel_cols; ++col) *out++ = rows[col * k + i];
  }
}

void pack_panel_bf16(const float* rows, std::int64_t panel_cols, std::int64_t k, std::byte* panel) {
  auto* out = storage_cast<std::uint32_t>(panel);
  for (std::int64_t i = 0; i < k; i += 2) {
    for (std::int64_t col = 0; col < panel_cols; ++col) {
      const float* row = rows + col * k;
      const std::uint32_t even = to_bfloat16(row[i]).bits;
      const std::uint32_t odd = i + 1 < k ? to_bfloat16(row[i + 1]).bits : 0;
      *out++ = odd << 16 | even;
    }
  }
}

}  // namespace lattice
