#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/token_span.h"

namespace lattice {

/// A piece of text on its way through the tokenizer, together with where each of its bytes came
/// from in the original text. The contract is that of Hugging Face's NormalizedString: a token that
/// covers the bytes [b, e) of `text` stems from origin_of({b, e}) of the original.
///
/// While every byte still sits where it was (`identity`) no table is kept: the original range of a
/// character is its own range plus `origin_begin`. The first change of length fills `origin` when
/// `tracks_origin` is set, and merely ends `identity` when it is not, so that callers who do not
/// want offsets pay nothing.
///
/// Meant to be reused from text to text: assign() keeps the capacity of every buffer. Not
/// thread-safe; each thread owns its own.
struct AlignedText {
  /// The current text, valid UTF-8.
  std::string text;
  /// One range of original bytes per byte of `text`, all bytes of one character alike; empty
  /// unless `tracks_origin && !identity`.
  std::vector<ByteRange> origin;
  /// Where in the original text the piece this was made from begins.
  std::size_t origin_begin = 0;
  bool tracks_origin = false;
  bool identity = true;

  /// Spare buffers that transformations write to before swapping. Contents are meaningless.
  std::string spare_text;
  std::vector<ByteRange> spare_origin;
  std::vector<ByteRange> spare_matches;

  /// Starts anew with `piece`, which begins at byte `begin` of the original text.
  void assign(std::string_view piece, std::size_t begin, bool track_origin);

  /// Makes `out` a copy of the bytes `range` (on character boundaries) with their origins.
  void slice_into(ByteRange range, AlignedText& out) const;

  /// The original bytes from which the non-empty `range` of `text` stems: from the start of its
  /// first byte's origin to the end of its last byte's. Throws kInternal when the origins are
  /// unknown (!has_origin()).
  ByteRange origin_of(ByteRange range) const;

  /// Whether origin_of() can answer.
  bool has_origin() const { return tracks_origin || identity; }

  /// Fills `origin` from the identity mapping where it is needed, and ends `identity`. To be
  /// called before a change of length that edits `origin`.
  void end_identity();
};

}  // namespace lattice
