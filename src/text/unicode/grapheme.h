#pragma once

#include <cstddef>
#include <string_view>

namespace lattice::unicode {

/// The end of the extended grapheme cluster that starts at byte `begin` of `text`, valid UTF-8,
/// with begin < text.size(). Time linear in the cluster.
///
/// Two regional indicators (a flag) count as two clusters: what uses clusters here treats those of
/// more than five bytes character by character, so that it cannot tell.
/// Source: Unicode Standard Annex #29, section 3.1.1.
std::size_t grapheme_end(std::string_view text, std::size_t begin);

}  // namespace lattice::unicode
