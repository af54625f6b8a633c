#include <cstring>

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

void pack_panel_f32_bf16(const float* rows, std::int64_t panel_cols, std::int64_t k,
                         std::byte* panel) {
  auto* out = storage_cast<std::uint16_t>(panel);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t col = 0; col < panel_cols; ++col) {
      *out++ = to_bfloat16(rows[col * k + i]).bits;
    }
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

void pack_panel_q8_0(const Q8WeightBlock* rows, std::int64_t panel_cols, std::int64_t depth,
                     std::int64_t group_size, std::byte* panel) {
  const std::int64_t quant_bytes = panel_cols * kQ8BlockSize;
  for (std::int64_t b = 0; b < depth; ++b) {
    for (std::int64_t col = 0; col < panel_cols; ++col) {
      const Q8WeightBlock& block = rows[col * depth + b];
      for (std::int64_t i = 0; i < kQ8BlockSize; i += group_size) {
        std::memcpy(panel + i * panel_cols + col * group_size, block.quants + i,
                    static_cast<std::size_t>(group_size));
      }
      std::memcpy(panel + quant_bytes + col * static_cast<std::int64_t>(sizeof(Float16)),
                  &block.scale, sizeof(Float16));
    }
    panel += quant_bytes + panel_cols * static_cast<std::int64_t>(sizeof(Float16));
  }
}

}  // namespace lattice
