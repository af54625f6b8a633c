#include "text/decoder.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "io/config_reader.h"
#include "text/byte_alphabet.h"
#include "text/component_json.h"
#include "text/regex/pattern.h"
#include "text/utf8.h"

namespace lattice {
namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";
constexpr int kMaxDepth = 16;

// Undoes what English word tokenizers do to punctuation, in this order.
std::string clean_up(std::string text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kRules = {
      {{" .", "."},
       {" ?", "?"},
       {" !", "!"},
       {" ,", ","},
       {" ' ", "'"},
       {" n't", "n't"},
       {" 'm", "'m"},
       {" do not", " don't"},
       {" 's", "'s"},
       {" 've", "'ve"},
       {" 're", "'re"}}};
  if (text.find(' ') == std::string::npos) return text;
  for (const auto& [from, to] : kRules) text = replace_all(text, from, to);
  return text;
}

class WordPieceDecoder final : public TokenDecoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup)
      : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void decode(std::vector<std::string>& tokens) const override {
    bool first = true;
    for (std::string& token : tokens) {
      if (!first) {
        if (token.starts_with(prefix_)) {
          token.erase(0, prefix_.size());
        } else {
          token.insert(token.begin(), ' ');
        }
      }
      if (cleanup_) token = clean_up(std::move(token));
      first = false;
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class BpeDecoder final : public TokenDecoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void decode(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      token = replace_all(token, suffix_, &token == &tokens.back() ? "" : " ");
    }
  }

 private:
  std::string suffix_;
};

class ByteLevelDecoder final : public TokenDecoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) {
      const std::size_t before = bytes.size();
      if (!append_byte_level_bytes(token, bytes)) {
        bytes.resize(before);
        bytes += token;
      }
    }
    std::string text;
    append_utf8_lossy(bytes, text);
    tokens.assign(1, std::move(text));
  }
};

class ByteFallbackDecoder final : public TokenDecoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::vector<std::string> decoded;
    std::string bytes;
    for (std::string& token : tokens) {
      if (const auto byte = parse_byte(token)) {
        bytes += *byte;
        continue;
      }
      flush(bytes, decoded);
      decoded.push_back(std::move(token));
    }
    flush(bytes, decoded);
    tokens = std::move(decoded);
  }

 private:
  // "<0x41>"; the library's number parser also takes a plus sign for the first digit.
  static std::optional<char> parse_byte(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
    const int low = hex_digit(token[4]);
    const int high = token[3] == '+' ? 0 : hex_digit(token[3]);
    if (low < 0 || high < 0) return std::nullopt;
    return static_cast<char>(static_cast<unsigned char>(high * 16 + low));
  }
  static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }
  static void flush(std::string& bytes, std::vector<std::string>& decoded) {
    if (bytes.empty()) return;
    if (find_invalid_utf8(bytes)) {
      decoded.insert(decoded.end(), bytes.size(), std::string(kReplacementCharacter));
    } else {
      decoded.push_back(bytes);
    }
    bytes.clear();
  }
};

class MetaspaceDecoder final : public TokenDecoder {
 public:
  MetaspaceDecoder(std::string replacement, bool drops_first)
      : replacement_(std::move(replacement)), drops_first_(drops_first) {}
  void decode(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      token =
          replace_all(token, replacement_, drops_first_ && &token == &tokens.front() ? "" : " ");
    }
  }

 private:
  std::string replacement_;
  bool drops_first_;  // every replacement character of the first token
};

class CtcDecoder final : public TokenDecoder {
 public:
  CtcDecoder(std::string pad, std::string delimiter, bool cleanup)
      : pad_(std::move(pad)), delimiter_(std::move(delimiter)), cleanup_(cleanup) {}
  void decode(std::vector<std::string>& tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      token = replace_all(token, pad_, "");
      if (cleanup_) token = replace_all(clean_up(std::move(token)), delimiter_, " ");
    }
    std::erase(tokens, "");
  }

 private:
  std::string pad_, delimiter_;
  bool cleanup_;
};

class FuseDecoder final : public TokenDecoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::string fused;
    for (const std::string& token : tokens) fused += token;
    tokens.assign(1, std::move(fused));
  }
};

class StripDecoder final : public TokenDecoder {
 public:
  StripDecoder(std::string content, std::size_t start, std::size_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  void decode(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (std::size_t i = 0; i < start_ && rest.starts_with(content_); ++i) {
        rest.remove_prefix(content_.size());
      }
      for (std::size_t i = 0; i < stop_ && rest.ends_with(content_); ++i) {
        rest.remove_suffix(content_.size());
      }
      token = std::string(rest);
    }
  }

 private:
  std::string content_;  // one character
  std::size_t start_, stop_;
};

class ReplaceDecoder final : public TokenDecoder {
 public:
  ReplaceDecoder(std::unique_ptr<regex::Pattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void decode(std::vector<std::string>& tokens) const override {
    std::vector<ByteRange> matches;
    for (std::string& token : tokens) {
      if (token.empty()) continue;
      matches.clear();
      pattern_->find_all(token, matches);
      std::string replaced;
      std::size_t at = 0;
      for (const ByteRange match : matches) {
        replaced.append(token, at, match.begin - at);
        replaced += content_;
        at = match.end;
      }
      replaced.append(token, at);
      token = std::move(replaced);
    }
  }

 private:
  std::unique_ptr<regex::Pattern> pattern_;
  std::string content_;
};

class SequenceDecoder final : public TokenDecoder {
 public:
  explicit SequenceDecoder(std::vector<std::unique_ptr<TokenDecoder>> steps)
      : steps_(std::move(steps)) {}
  void decode(std::vector<std::string>& tokens) const override {
    for (const auto& step : steps_) step->decode(tokens);
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
  return std::make_unique<MetaspaceDecoder>(std::move(replacement),
                                            add_prefix_space && scheme != "never");
}

DecoderResult make_replace(ConfigReader& reader) {
  std::string content = reader.require_string("content");
  const TextPattern text = require_pattern(reader, "pattern");
  if (auto status = reader.finish(); !status) return forward_error(status);
  auto pattern = regex::compile(text, reader.source() + ": pattern");
  if (!pattern) return forward_error(pattern);
  return std::make_unique<ReplaceDecoder>(std::move(*pattern), std::move(content));
}

DecoderResult make_ctc(ConfigReader& reader) {
  std::string pad = reader.require_string("pad_token");
  std::string delimiter = reader.require_string("word_delimiter_token");
  const bool cleanup = reader.get_bool("cleanup", true);
  if (auto status = reader.finish(); !status) return forward_error(status);
  return std::make_unique<CtcDecoder>(std::move(pad), std::move(delimiter), cleanup);
}

DecoderResult make_strip(ConfigReader& reader) {
  std::string content = require_character_text(reader, "content");
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  const auto start = static_cast<std::size_t>(reader.require_int("start", 0, kMax));
  const auto stop = static_cast<std::size_t>(reader.require_int("stop", 0, kMax));
  if (auto status = reader.finish(); !status) return forward_error(status);
  return std::make_unique<StripDecoder>(std::move(content), start, stop);
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
  if (type == "ByteLevel") return std::make_unique<ByteLevelDecoder>();
  if (type == "ByteFallback") return std::make_unique<ByteFallbackDecoder>();
  if (type == "Fuse") return std::make_unique<FuseDecoder>();
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
    return std::make_unique<BpeDecoder>(std::move(suffix));
  }
  return fail(ErrorCode::kUnsupported, "{}: unknown decoder \"{}\"", where, type);
}

}  // namespace

Result<std::unique_ptr<TokenDecoder>> make_decoder(const Json& json, const std::string& where) {
  return make(json, where, 0);
}

std::unique_ptr<TokenDecoder> make_wordpiece_decoder(std::string prefix, bool cleanup) {
  return std::make_unique<WordPieceDecoder>(std::move(prefix), cleanup);
}

void append_utf8_lossy(std::string_view bytes, std::string& text) {
  while (const auto bad = find_invalid_utf8(bytes)) {
    text += bytes.substr(0, *bad);
    text += kReplacementCharacter;
    // The maximal subpart: a lead byte with those continuation bytes that could still follow it.
    bytes.remove_prefix(*bad);
    const auto lead = static_cast<unsigned char>(bytes[0]);
    const std::size_t length = lead >= 0xC2 && lead <= 0xF4 ? utf8_length(bytes[0]) : 1;
    std::size_t taken = 1;
    while (taken < length && taken < bytes.size()) {
      const auto next = static_cast<unsigned char>(bytes[taken]);
      unsigned char low = 0x80, high = 0xBF;
      if (taken == 1) {
        if (lead == 0xE0) low = 0xA0;
        if (lead == 0xED) high = 0x9F;
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;
      }
      if (next < low || next > high) break;
      ++taken;
    }
    bytes.remove_prefix(taken);
  }
  text += bytes;
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
