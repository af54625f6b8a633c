#ifndef LATTICE_METAL_KERNEL_PARAMS_H
#define LATTICE_METAL_KERNEL_PARAMS_H

// The constant arguments of the kernels, for host and shader alike: 32-bit members only, so both
// lay them out alike. Strides count elements. Flags are 0 or 1. This text is part of the MSL
// source.

#ifndef __METAL_VERSION__
#include <cstdint>
namespace lattice::metal {
#endif

struct EmbeddingParams {
  uint32_t hidden_size;
  uint32_t out_stride;
  uint32_t accumulate;  // add to what out holds
};

struct NormParams {
  uint32_t size;  // of a row
  uint32_t x_stride;
  uint32_t residual_stride;
  uint32_t sum_stride;  // of x + residual, where a kernel writes it
  uint32_t out_stride;
  uint32_t has_residual;
  uint32_t has_bias;
  float weight_offset;
  float eps;
};

struct GatedNormParams {
  uint32_t head_dim;
  uint32_t x_stride;
  uint32_t gate_stride;
  uint32_t out_stride;
  uint32_t activation;
  float eps;
};

struct QkNormRopeParams {
  uint32_t num_heads;
  uint32_t q_stride;
  uint32_t k_stride;
  uint32_t rotary_half;  // pairs that rotate
  uint32_t table_stride;
  uint32_t has_q_weight;
  uint32_t has_k_weight;
  float weight_offset;
  float eps;
};

struct AttentionParams {
  uint32_t num_seqs;
  uint32_t q_stride;
  uint32_t k_stride;
  uint32_t v_stride;
  uint32_t out_stride;
  uint32_t causal;
  uint32_t window;  // keys that a query sees at most; 0: no limit
  float scale;
};

struct GemmParams {
  uint32_t num_rows;     // M
  uint32_t num_columns;  // N
  uint32_t depth;        // K
  uint32_t x_stride;
  uint32_t out_stride;
  uint32_t residual_stride;
  uint32_t activation;
  uint32_t has_bias;
  uint32_t has_residual;
};

struct QuantizeParams {
  uint32_t depth;  // K
  uint32_t num_blocks;
  uint32_t x_stride;
};

struct ActivationParams {
  uint32_t num_columns;
  uint32_t stride;
  uint32_t activation;
  uint32_t has_bias;
};

struct GatedActivationParams {
  uint32_t num_columns;
  uint32_t gate_stride;
  uint32_t up_stride;
  uint32_t out_stride;
  uint32_t activation;
};

struct ConvParams {
  uint32_t num_seqs;
  uint32_t channels;
  uint32_t kernel_size;
  uint32_t x_stride;
  uint32_t out_stride;
  uint32_t activation;
  uint32_t has_history;
};

struct DeltaRuleParams {
  uint32_t num_key_heads;
  uint32_t num_value_heads;
  uint32_t key_head_dim;
  uint32_t value_head_dim;
  uint32_t value_stride;
};

// The tokens of one chunk of 64: rows [first_row, first_row + num_rows) of the buffers, of which
// the first num_old are there already; the others are tokens of the call from first_token on.
struct DeltaRuleChunk {
  uint32_t first_row;
  uint32_t num_old;
  uint32_t num_rows;
  uint32_t first_token;
};

struct PoolParams {
  uint32_t hidden_size;
  uint32_t x_stride;
  uint32_t out_stride;
  uint32_t mode;
  uint32_t has_skip;
};

struct RowParams {
  uint32_t size;
  uint32_t stride;
  float eps;
};

#ifndef __METAL_VERSION__
}  // namespace lattice::metal
#endif

#endif
