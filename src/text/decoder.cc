#include "text/decoder.h"

#include <limits>

#include "io/config_reader.h"
#include "text/component_json.h"
#include "text/decoders/decoders.h"
#include "text/utf8.h"

namespace lattice {
namespace {

constexpr int kMaxDepth = 16;

class SequenceDecoder final : public TokenDecoder {
 public:
  explicit SequenceDecoder(std::vector<std::unique_ptr<TokenDecoder>> steps)
      : steps_(std::move(steps)) {}
  std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const override {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      next = (*step)->stream(std::move(next));
    }
    return next;
  }

 private:
  std::vector<std::unique_ptr<TokenDecoder>> steps_;
};

using DecoderResult = Result<std::unique_ptr<TokenDecoder>>;

std::string require_character_text(ConfigReader& reader, std::string_view key) {
  std::string text;
  append_utf8(text, require_character(reader, key));
  return text;
}

DecoderResult make_metaspace(ConfigReader& reader) {
  std::string replacement = require_character_text(reader, "replacement");
  const bool add_prefix_space = reader.get_bool("add_prefix_space", true);
  const std::string scheme = reader.get_string("prepend_scheme", "always");
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    reader.set_error(ErrorCode::kMalformed,
                     fmt::format("{}: prepend_scheme: expected always, first or never, got \"{}\"",
                                 reader.source(), scheme));
  } else if (!add_prefix_space && reader.has("prepend_scheme") && scheme != "never") {
    reader.set_error(ErrorCode::kMalformed,
                     reader.source() + ": add_prefix_space contradicts prepend_scheme");
  }
  if (auto status = reader.finish(); !status) return forward_error(status);
  return make_metaspace_decoder(std::move(replacement), add_prefix_space && scheme != "never");
}

DecoderResult make_replace(ConfigReader& reader) {
  std::string content = reader.require_string("content");
  const TextPattern text = require_pattern(reader, "pattern");
  if (auto status = reader.finish(); !status) return forward_error(status);
  auto pattern = regex::compile(text, reader.source() + ": pattern");
  if (!pattern) return forward_error(pattern);
  return make_replace_decoder(std::move(*pattern), std::move(content));
}

DecoderResult make_ctc(ConfigReader& reader) {
  std::string pad = reader.require_string("pad_token");
  std::string delimiter = reader.require_string("word_delimiter_token");
  const bool cleanup = reader.get_bool("cleanup", true);
  if (auto status = reader.finish(); !status) return forward_error(status);
  return make_ctc_decoder(std::move(pad), std::move(delimiter), cleanup);
}

DecoderResult make_strip(ConfigReader& reader) {
  std::string content = require_character_text(reader, "content");
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  const auto start = static_cast<std::size_t>(reader.require_int("start", 0, kMax));
  const auto stop = static_cast<std::size_t>(reader.require_int("stop", 0, kMax));
  if (auto status = reader.finish(); !status) return forward_error(status);
  return make_strip_decoder(std::move(content), start, stop);
}

DecoderResult make(const Json& json, const std::string& where, int depth);

DecoderResult make_sequence(ConfigReader& reader, int depth) {
  const Json* list = reader.get("decoders");
  if (list == nullptr || !list->is_array()) {
    return fail(ErrorCode::kMalformed, "{}: decoders: expected an array", reader.source());
  }
  std::vector<std::unique_ptr<TokenDecoder>> steps;
  for (const Json& item : list->items()) {
    const std::string where = fmt::format("{}.decoders[{}]", reader.source(), steps.size());
    auto step = make(item, where, depth + 1);
    if (!step) return step;
    if (*step == nullptr) return fail(ErrorCode::kMalformed, "{}: null", where);
    steps.push_back(std::move(*step));
  }
  return std::make_unique<SequenceDecoder>(std::move(steps));
}

DecoderResult make(const Json& json, const std::string& where, int depth) {
  if (json.is_null()) return std::unique_ptr<TokenDecoder>();
  if (depth > kMaxDepth) return fail(ErrorCode::kMalformed, "{}: nested too deeply", where);
  ConfigReader reader(json, where);
  const std::string type = reader.require_string("type");
  if (auto status = reader.finish(); !status) return forward_error(status);
  if (type == "Sequence") return make_sequence(reader, depth);
  if (type == "ByteLevel") return make_byte_level_decoder();
  if (type == "ByteFallback") return make_byte_fallback_decoder();
  if (type == "Fuse") return make_fuse_decoder();
  if (type == "Metaspace") return make_metaspace(reader);
  if (type == "Replace") return make_replace(reader);
  if (type == "Strip") return make_strip(reader);
  if (type == "CTC") return make_ctc(reader);
  if (type == "WordPiece") {
    std::string prefix = reader.require_string("prefix");
    const bool cleanup = reader.get_bool("cleanup", true);
    if (auto status = reader.finish(); !status) return forward_error(status);
    return make_wordpiece_decoder(std::move(prefix), cleanup);
  }
  if (type == "BPEDecoder") {
    std::string suffix = reader.require_string("suffix");
    if (auto status = reader.finish(); !status) return forward_error(status);
    return make_bpe_decoder(std::move(suffix));
  }
  return fail(ErrorCode::kUnsupported, "{}: unknown decoder \"{}\"", where, type);
}

}  // namespace

Result<std::unique_ptr<TokenDecoder>> make_decoder(const Json& json, const std::string& where) {
  return make(json, where, 0);
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  if (from.empty()) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = utf8_length(text[at]);
      out += to;
      out += text.substr(at, length);
      at += length;
    }
    return out += to;
  }
  std::size_t at = 0;
  for (std::size_t hit; (hit = text.find(from, at)) != std::string_view::npos;) {
    out += text.substr(at, hit - at);
    out += to;
    at = hit + from.size();
  }
  out += text.substr(at);
  return out;
}

}  // namespace lattice
