#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "io/json.h"
#include "text/byte_level.h"
#include "text/decoder.h"
#include "text/utf8.h"

namespace lattice {

/// What a decoder component of a tokenizer.json makes of a complete list of tokens, as plainly as
/// possible: the specification of the streaming decoders. Replace takes "String" patterns only.
class WholeDecoder {
 public:
  using Tokens = std::vector<std::string>;

  /// `json` must outlive the decoder; null joins tokens by spaces.
  explicit WholeDecoder(const Json& json) : json_(json) {}

  std::string decode(Tokens tokens) const {
    if (!json_.is_null()) run(json_, tokens);
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (json_.is_null() && i > 0) text += ' ';
      text += tokens[i];
    }
    return text;
  }

 private:
  static std::string text_at(const Json& json, std::string_view key) {
    return std::string(json.find(key)->as_string().value());
  }
  static std::size_t number_at(const Json& json, std::string_view key) {
    return static_cast<std::size_t>(json.find(key)->as_uint().value());
  }
  static bool flag_at(const Json& json, std::string_view key) {
    return json.find(key)->as_bool().value();
  }

  static void run(const Json& json, Tokens& tokens) {
    const std::string type = text_at(json, "type");
    if (type == "Sequence") {
      for (const Json& step : json.find("decoders")->items()) run(step, tokens);
    } else if (type == "ByteLevel") {
      tokens = {byte_level(tokens)};
    } else if (type == "ByteFallback") {
      byte_fallback(tokens);
    } else if (type == "Fuse") {
      std::string all;
      for (const std::string& token : tokens) all += token;
      tokens = {all};
    } else if (type == "CTC") {
      ctc(json, tokens);
    } else {
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        tokens[i] = rewrite(json, type, tokens[i], i == 0, i + 1 == tokens.size());
      }
    }
  }

  static std::string rewrite(const Json& json, const std::string& type, std::string token,
                             bool is_first, bool is_last) {
    if (type == "WordPiece") {
      const std::string prefix = text_at(json, "prefix");
      if (!is_first) token = token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
      return flag_at(json, "cleanup") ? clean_up(token) : token;
    }
    if (type == "BPEDecoder")
      return replace_all(token, text_at(json, "suffix"), is_last ? "" : " ");
    if (type == "Metaspace") {
      const bool drops = is_first && text_at(json, "prepend_scheme") != "never";
      return replace_all(token, text_at(json, "replacement"), drops ? "" : " ");
    }
    if (type == "Replace") {
      return replace_all(token, text_at(*json.find("pattern"), "String"), text_at(json, "content"));
    }
    const std::string content = text_at(json, "content");  // Strip
    for (std::size_t i = 0; i < number_at(json, "start") && token.starts_with(content); ++i) {
      token.erase(0, content.size());
    }
    for (std::size_t i = 0; i < number_at(json, "stop") && token.ends_with(content); ++i) {
      token.resize(token.size() - content.size());
    }
    return token;
  }

  static std::string clean_up(std::string text) {
    for (const char* word : {".", "?", "!", ","})
      text = replace_all(text, " " + std::string(word), word);
    text = replace_all(text, " ' ", "'");
    for (const char* word : {"n't", "'m"}) text = replace_all(text, " " + std::string(word), word);
    text = replace_all(text, " do not", " don't");
    for (const char* word : {"'s", "'ve", "'re"}) {
      text = replace_all(text, " " + std::string(word), word);
    }
    return text;
  }

  static std::string byte_level(const Tokens& tokens) {
    std::string bytes;
    for (const std::string& token : tokens) {
      std::string spelled;
      bool all_known = true;
      for (std::size_t at = 0; at < token.size();) {
        const char32_t character = next_code_point(token, at);
        std::size_t byte = 0;
        while (byte < 256 && kByteLevelAlphabet[byte] != character) ++byte;
        all_known = all_known && byte < 256;
        spelled += static_cast<char>(static_cast<unsigned char>(byte));
      }
      bytes += all_known ? spelled : token;
    }
    std::string text;
    append_utf8_lossy(bytes, text);
    return text;
  }

  static std::optional<char> byte_of(const std::string& token) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (token == fmt::format("<0x{:02X}>", byte)) {
        return static_cast<char>(static_cast<unsigned char>(byte));
      }
    }
    return std::nullopt;
  }

  static void byte_fallback(Tokens& tokens) {
    Tokens out;
    std::string run;
    tokens.emplace_back("end");
    for (const std::string& token : tokens) {
      if (const auto byte = byte_of(token)) {
        run += *byte;
        continue;
      }
      if (find_invalid_utf8(run)) {
        out.insert(out.end(), run.size(), "\uFFFD");
      } else if (!run.empty()) {
        out.push_back(run);
      }
      run.clear();
      out.push_back(token);
    }
    out.pop_back();
    tokens = out;
  }

  static void ctc(const Json& json, Tokens& tokens) {
    Tokens out;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i] == tokens[i - 1]) continue;
      std::string text = replace_all(tokens[i], text_at(json, "pad_token"), "");
      if (flag_at(json, "cleanup")) {
        text = replace_all(clean_up(text), text_at(json, "word_delimiter_token"), " ");
      }
      if (!text.empty()) out.push_back(text);
    }
    tokens = out;
  }

  const Json& json_;
};

}  // namespace lattice
