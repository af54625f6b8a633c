#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "text/aligned_text.h"

namespace lattice {

/// A normalized text cut into words: one contiguous buffer and the ranges of it that the model
/// tokenizes one by one. Reusable from text to text (keep one per thread).
struct PreTokenizedText {
  AlignedText buffer;
  /// Ordered, disjoint, non-empty ranges of buffer.text on character boundaries. Bytes outside
  /// every range were removed by a pre-tokenizer.
  std::vector<ByteRange> splits;
  /// When set, the text is still raw UTF-8, but the byte-level alphabet (each byte replaced by a
  /// printable character, space by U+0120) is due. A byte-level BPE model works on the raw bytes
  /// and never maps them; any other consumer calls map_bytes() first.
  bool byte_mapping_pending = false;

  /// Spare vectors that pre-tokenizers write to. Contents are meaningless.
  std::vector<ByteRange> spare_splits;
  std::vector<ByteRange> spare_matches;

  /// One split over the whole of `buffer` (none when it is empty). Call after filling `buffer`.
  void reset_splits();

  /// Replaces every byte of every split by its byte-level character if that is pending.
  void map_bytes();
};

/// One `pre_tokenizer` component of a tokenizer.json, exactly as Hugging Face `tokenizers` runs it.
/// Immutable: one instance serves any number of threads.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  /// Refines `text.splits`, and rewrites `text.buffer` where the component changes text. Linear in
  /// the size of the text. Throws LatticeError when a regular expression of the tokenizer file
  /// exceeds its match limits on this text.
  void split(PreTokenizedText& text) const {
    if (text.byte_mapping_pending) text.map_bytes();
    do_split(text);
  }

  /// Whether the splits depend on where the text sits in the original (Metaspace with
  /// prepend_scheme "first"): the caller must then set AlignedText::tracks_origin even if nobody
  /// wants offsets, unless the text is still `identity` when it arrives here.
  virtual bool needs_origin() const { return false; }

 private:
  virtual void do_split(PreTokenizedText& text) const = 0;
};

/// Builds the pre-tokenizer that `json` describes; nullptr for JSON null. `where` names the place
/// for messages, as in "tokenizer.json: pre_tokenizer". Errors: kUnsupported for an unknown type or
/// a regular expression that cannot be honoured, kMalformed for wrong fields; both name the path.
/// The result does not refer to `json`.
Result<std::unique_ptr<PreTokenizer>> make_pre_tokenizer(const Json& json,
                                                         const std::string& where);

}  // namespace lattice
