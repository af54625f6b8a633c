// Runs normalizers and pre-tokenizers for the differential tests.
//
//   text_probe < requests > answers
//
// A request is one line of JSON. An object {"normalizer": ..., "pre_tokenizer": ...} chooses the
// pipeline and is answered "ok" or with the error; a string is a text and is answered by the
// pieces: a JSON array of [piece, [begin, end of the origin of each character ...]]. With
// {"tracks_origin": false} the origins are left out.
#include <iostream>
#include <string>

#include "io/json.h"
#include "json_string.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/utf8.h"

namespace lattice {
namespace {

class Probe {
 public:
  /// Chooses the pipeline. Returns "ok" or the error.
  std::string configure(const Json& json) {
    normalizer_.reset();
    pre_tokenizer_.reset();
    const Json* track = json.find("tracks_origin");
    tracks_origin_ = track == nullptr || track->as_bool().value_or(true);
    if (const Json* part = json.find("normalizer")) {
      auto made = make_normalizer(*part, "normalizer");
      if (!made) return made.error().message;
      normalizer_ = std::move(*made);
    }
    if (const Json* part = json.find("pre_tokenizer")) {
      auto made = make_pre_tokenizer(*part, "pre_tokenizer");
      if (!made) return made.error().message;
      pre_tokenizer_ = std::move(*made);
    }
    return "ok";
  }

  std::string run(std::string_view text) {
    const bool needs_origin = pre_tokenizer_ != nullptr && pre_tokenizer_->needs_origin();
    text_.buffer.assign(text, 0, tracks_origin_ || needs_origin);
    if (normalizer_ != nullptr) normalizer_->normalize(text_.buffer);
    text_.reset_splits();
    if (pre_tokenizer_ != nullptr) pre_tokenizer_->split(text_);
    text_.map_bytes();
    std::string out = "[";
    for (const ByteRange split : text_.splits) {
      if (out.size() > 1) out += ',';
      append_piece(out, split);
    }
    return out + "]";
  }

 private:
  void append_piece(std::string& out, ByteRange split) const {
    const std::string_view text = text_.buffer.text;
    out += '[';
    append_json_string(out, text.substr(split.begin, split.size()));
    out += ",[";
    for (std::size_t at = split.begin; tracks_origin_ && at < split.end;) {
      const std::size_t begin = at;
      at += utf8_length(text[at]);
      const ByteRange origin = text_.buffer.origin_of({begin, at});
      out += fmt::format("{}{},{}", begin == split.begin ? "" : ",", origin.begin, origin.end);
    }
    out += "]]";
  }

  std::unique_ptr<Normalizer> normalizer_;
  std::unique_ptr<PreTokenizer> pre_tokenizer_;
  bool tracks_origin_ = true;
  PreTokenizedText text_;
};

std::string answer(Probe& probe, const std::string& line) {
  const auto document = JsonDocument::parse(line, "request");
  if (!document) return document.error().message;
  try {
    const auto text = document->root().as_string();
    return text ? probe.run(*text) : probe.configure(document->root());
  } catch (const LatticeError& error) {
    return fmt::format("error: {}", error.what());
  }
}

}  // namespace
}  // namespace lattice

int main() {
  std::ios::sync_with_stdio(false);
  lattice::Probe probe;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << lattice::answer(probe, line) << '\n' << std::flush;
  }
}
