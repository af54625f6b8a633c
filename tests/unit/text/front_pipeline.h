#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/utf8.h"

namespace lattice {

/// A piece of text with the begin and end of the origin of each of its characters, in turn.
struct Piece {
  std::string text;
  std::vector<std::size_t> origins;

  bool operator==(const Piece&) const = default;
};

inline void PrintTo(const Piece& piece, std::ostream* out) {
  *out << testing::PrintToString(piece.text) << " from " << testing::PrintToString(piece.origins);
}

/// A normalizer and a pre-tokenizer, either of which may be missing.
struct Pipeline {
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;

  /// The pieces it makes of `text`, with origins when `tracks_origin`; `state` is reused.
  std::vector<Piece> run(std::string_view text, bool tracks_origin, PreTokenizedText& state) const {
    const bool needs_origin = pre_tokenizer != nullptr && pre_tokenizer->needs_origin();
    state.buffer.assign(text, 0, tracks_origin || needs_origin);
    if (normalizer != nullptr) normalizer->normalize(state.buffer);
    state.reset_splits();
    if (pre_tokenizer != nullptr) pre_tokenizer->split(state);
    state.map_bytes();
    std::vector<Piece> pieces;
    for (const ByteRange split : state.splits) {
      Piece piece{state.buffer.text.substr(split.begin, split.size()), {}};
      for (std::size_t at = split.begin; tracks_origin && at < split.end;) {
        const std::size_t begin = at;
        at += utf8_length(state.buffer.text[at]);
        const ByteRange origin = state.buffer.origin_of({begin, at});
        piece.origins.insert(piece.origins.end(), {origin.begin, origin.end});
      }
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }
};

/// The pipeline that `json` ({"normalizer": ..., "pre_tokenizer": ...}) describes; a test failure
/// and an empty one when it does not load.
inline Pipeline make_pipeline(const Json& json) {
  Pipeline pipeline;
  if (const Json* part = json.find("normalizer")) {
    auto made = make_normalizer(*part, "normalizer");
    EXPECT_TRUE(made) << made.error().message;
    if (made) pipeline.normalizer = std::move(*made);
  }
  if (const Json* part = json.find("pre_tokenizer")) {
    auto made = make_pre_tokenizer(*part, "pre_tokenizer");
    EXPECT_TRUE(made) << made.error().message;
    if (made) pipeline.pre_tokenizer = std::move(*made);
  }
  return pipeline;
}

}  // namespace lattice
