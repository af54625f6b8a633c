#pragma once

#include <cstdint>
#include <span>

namespace lattice {

/// Where each sequence of a packed ragged batch lies: sequence s owns the rows
/// [cu_seqlens[s], cu_seqlens[s + 1]). There is no padding.
struct SequenceLayout {
  /// [num_seqs + 1], starts at 0, non-decreasing.
  std::span<const std::int32_t> cu_seqlens;

  std::int64_t num_seqs() const { return static_cast<std::int64_t>(cu_seqlens.size()) - 1; }
  std::int64_t num_tokens() const { return cu_seqlens.back(); }
  std::int64_t begin(std::int64_t seq) const { return cu_seqlens[static_cast<std::size_t>(seq)]; }
  std::int64_t end(std::int64_t seq) const { return cu_seqlens[static_cast<std::size_t>(seq) + 1]; }
  std::int64_t length(std::int64_t seq) const { return end(seq) - begin(seq); }
};

/// Throws kInternal unless `layout` is well-formed and covers exactly `num_tokens` rows.
void check_layout(const char* op, const SequenceLayout& layout, std::int64_t num_tokens);

}  // namespace lattice
