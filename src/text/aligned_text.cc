#include "text/aligned_text.h"

#include "base/check.h"
#include "text/utf8.h"

namespace lattice {

void AlignedText::assign(std::string_view piece, std::size_t begin, bool track_origin) {
  text.assign(piece);
  origin.clear();
  origin_begin = begin;
  tracks_origin = track_origin;
  identity = true;
}

void AlignedText::slice_into(ByteRange range, AlignedText& out) const {
  out.text.assign(text, range.begin, range.size());
  out.tracks_origin = tracks_origin;
  out.identity = identity;
  out.origin.clear();
  out.origin_begin = origin_begin;
  if (range.size() != 0 && has_origin()) out.origin_begin = origin_of(range).begin;
  if (!identity && tracks_origin) {
    const auto first = origin.begin() + static_cast<std::ptrdiff_t>(range.begin);
    out.origin.assign(first, first + static_cast<std::ptrdiff_t>(range.size()));
  }
}

ByteRange AlignedText::origin_of(ByteRange range) const {
  check(range.begin < range.end && range.end <= text.size(), "[text] origin of [{}, {}) of {}",
        range.begin, range.end, text.size());
  check(has_origin(), "[text] the origin of a text that does not track it");
  if (!identity) return {origin[range.begin].begin, origin[range.end - 1].end};
  // Inside a character, every byte stems from the whole character.
  while (is_utf8_continuation(text[range.begin])) --range.begin;
  while (range.end < text.size() && is_utf8_continuation(text[range.end])) ++range.end;
  return {origin_begin + range.begin, origin_begin + range.end};
}

void AlignedText::end_identity() {
  if (!identity) return;
  identity = false;
  if (!tracks_origin) return;
  origin.resize(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = at + utf8_length(text[at]);
    const ByteRange range = {origin_begin + at, origin_begin + end};
    for (; at < end; ++at) origin[at] = range;
  }
}

}  // namespace lattice
