#include "backends/metal/msl_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "backends/metal/device.h"
#include "backends/metal/msl_parts.h"

namespace lattice::metal {
namespace {

// What the compiler itself defines.
constexpr std::string_view kPredefined = "__METAL_VERSION__";

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_placeholder(std::string_view word) {
  return word.size() > 4 && word.starts_with("__") && word.ends_with("__") && word != kPredefined &&
         std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

Result<void> check_threadgroup(std::int64_t head_dim, std::int64_t groups) {
  const std::int64_t threads = groups * kSimdWidth;
  const std::int64_t bytes = groups * (head_dim + kSimdWidth) * std::int64_t{sizeof(float)};
  if (threads > kMaxThreadsPerThreadgroup || bytes > kMaxThreadgroupBytes) {
    return fail(ErrorCode::kUnsupported,
                "[metal] {} query heads of {} per KV head need {} threads and {} bytes of "
                "threadgroup memory, at most {} and {}",
                groups, head_dim, threads, bytes, kMaxThreadsPerThreadgroup, kMaxThreadgroupBytes);
  }
  return {};
}

// What kernels of both sources need.
bool is_shared(const MslPart& part) {
  return part.name == "kernel_params.h" || part.name == "common.metal";
}

// Whether a head shape enters the part.
bool is_specialised(const MslPart& part) {
  return part.text.find("__FA_") != std::string_view::npos ||
         part.text.find("__FUSED_C_") != std::string_view::npos;
}

// The parts for one of the two sources.
std::string joined_parts(bool specialised) {
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n";
  for (const MslPart& part : msl_parts()) {
    if (!is_shared(part) && is_specialised(part) != specialised) continue;
    text += fmt::format("#line 1 \"{}\"\n{}\n", part.name, part.text);
  }
  return text;
}

}  // namespace

Result<void> validate_fused_kernel_shape(std::int64_t head_dim, std::int64_t num_attention_heads,
                                         std::int64_t num_key_value_heads) {
  if (head_dim <= 0 || head_dim % 4 != 0) {
    return fail(ErrorCode::kUnsupported,
                "[metal] head_dim: expected a positive multiple of 4, got {}", head_dim);
  }
  if (num_key_value_heads <= 0 || num_attention_heads <= 0 ||
      num_attention_heads % num_key_value_heads != 0) {
    return fail(ErrorCode::kUnsupported,
                "[metal] num_attention_heads: expected a multiple of num_key_value_heads, got {} "
                "and {}",
                num_attention_heads, num_key_value_heads);
  }
  return check_threadgroup(head_dim, num_attention_heads / num_key_value_heads);
}

std::int64_t fused_threads(std::int64_t head_dim) {
  const std::int64_t pairs = head_dim / 2;
  return (pairs + kSimdWidth - 1) / kSimdWidth * kSimdWidth;
}

Result<std::string> substitute_placeholders(std::string_view text,
                                            std::span<const Placeholder> placeholders) {
  std::string result;
  std::vector<bool> is_used(placeholders.size(), false);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word_char(text[end])) ++end;
    const std::string_view word = text.substr(at, std::max(end, at + 1) - at);
    at += word.size();
    const auto found = std::ranges::find(placeholders, word, &Placeholder::name);
    if (found != placeholders.end()) {
      is_used[static_cast<std::size_t>(found - placeholders.begin())] = true;
      result += fmt::to_string(found->value);
    } else if (is_placeholder(word)) {
      return fail(ErrorCode::kInternal, "[metal] placeholder {} has no value", word);
    } else {
      result += word;
    }
  }
  const auto unused = std::ranges::find(is_used, false);
  if (unused != is_used.end()) {
    return fail(ErrorCode::kInternal, "[metal] placeholder {} does not occur in the source",
                placeholders[static_cast<std::size_t>(unused - is_used.begin())].name);
  }
  return result;
}

Result<std::string> msl_source_for(std::int64_t head_dim, std::int64_t gqa_groups) {
  if (auto valid = validate_fused_kernel_shape(head_dim, gqa_groups, 1); !valid) {
    return tl::make_unexpected(valid.error());
  }
  if (fused_threads(head_dim) > kMaxThreadsPerThreadgroup) {
    return fail(ErrorCode::kUnsupported, "[metal] head_dim: {} needs {} threads, at most {}",
                head_dim, fused_threads(head_dim), kMaxThreadsPerThreadgroup);
  }
  const std::array<Placeholder, 5> placeholders = {{
      {"__FA_HEAD_DIM__", head_dim},
      {"__FA_GQA_GROUPS__", gqa_groups},
      {"__FUSED_C_HEAD_DIM__", head_dim},
      {"__FUSED_C_HALF_DIM__", head_dim / 2},
      {"__FUSED_C_THREADS__", fused_threads(head_dim)},
  }};
  return substitute_placeholders(joined_parts(true), placeholders);
}

Result<std::string> msl_source_for_any_heads() {
  return substitute_placeholders(joined_parts(false), {});
}

}  // namespace lattice::metal
