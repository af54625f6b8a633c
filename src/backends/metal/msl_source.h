#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice::metal {

/// Whether the fused kernels exist for a model's heads. Errors: kUnsupported unless head_dim > 0
/// and head_dim % 4 == 0, num_attention_heads is a multiple of num_key_value_heads, and the query
/// heads of one KV head fit into a threadgroup.
Result<void> validate_fused_kernel_shape(std::int64_t head_dim, std::int64_t num_attention_heads,
                                         std::int64_t num_key_value_heads);

/// The MSL source of the kernels for heads, specialised for heads of `head_dim` and `gqa_groups`
/// query heads per KV head. Errors: those of validate_fused_kernel_shape and
/// substitute_placeholders.
Result<std::string> msl_source_for(std::int64_t head_dim, std::int64_t gqa_groups);

/// The MSL source of all other kernels, which is the same for every model. Errors: those of
/// substitute_placeholders.
Result<std::string> msl_source_for_any_heads();

/// Threads of a threadgroup of the kernel qk_norm_rope: one per pair, in whole SIMD groups.
std::int64_t fused_threads(std::int64_t head_dim);

/// A name of the form __NAME__ in a template, and what to put in its place.
struct Placeholder {
  std::string_view name;
  std::int64_t value = 0;
};

/// `text` with every placeholder replaced wherever it stands as a whole word. Errors: kInternal,
/// naming it, for a placeholder that does not occur and for a word __NAME__ that is left over.
Result<std::string> substitute_placeholders(std::string_view text,
                                            std::span<const Placeholder> placeholders);

}  // namespace lattice::metal
