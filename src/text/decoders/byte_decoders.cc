// Decoders whose tokens spell bytes of UTF-8.
#include <optional>

#include "text/byte_alphabet.h"
#include "text/decoders/decoders.h"
#include "text/utf8.h"

namespace lattice {
namespace {

class ByteLevelStage final : public WholeTokenStage {
 public:
  using WholeTokenStage::WholeTokenStage;

  void take(std::string_view token) override {
    const std::size_t before = bytes_.size();
    if (!append_byte_level_bytes(token, bytes_)) {
      bytes_.resize(before);
      bytes_ += token;
    }
    put_text(bytes_.size() - incomplete_utf8_suffix(bytes_));
  }

  void finish() override {
    put_text(bytes_.size());
    next().put("", true);
    next().finish();
  }

 private:
  void put_text(std::size_t size) {
    std::string text;
    append_utf8_lossy(std::string_view(bytes_).substr(0, size), text);
    bytes_.erase(0, size);
    next().put(text, false);
  }

  std::string bytes_;  // of a character that is not complete
};

// "<0x41>"; the library's number parser also takes a plus sign for the first digit.
std::optional<char> parse_byte(std::string_view token) {
  const auto hex_digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const int low = hex_digit(token[4]);
  const int high = token[3] == '+' ? 0 : hex_digit(token[3]);
  if (low < 0 || high < 0) return std::nullopt;
  return static_cast<char>(static_cast<unsigned char>(high * 16 + low));
}

class ByteFallbackStage final : public WholeTokenStage {
 public:
  using WholeTokenStage::WholeTokenStage;

  void take(std::string_view token) override {
    if (const auto byte = parse_byte(token)) {
      run_ += *byte;
      if (is_invalid_ || turned_invalid()) put_invalid();
      return;
    }
    end_run();
    next().put(token, true);
  }

  void finish() override {
    end_run();
    next().finish();
  }

 private:
  // Looks at each byte once, but for those of a character that was not complete.
  bool turned_invalid() {
    const std::string_view rest = std::string_view(run_).substr(num_valid_);
    const std::size_t incomplete = incomplete_utf8_suffix(rest);
    if (find_invalid_utf8(rest.substr(0, rest.size() - incomplete))) return true;
    num_valid_ = run_.size() - incomplete;
    return false;
  }

  void put_invalid() {
    is_invalid_ = true;
    for (std::size_t i = 0; i < run_.size(); ++i) next().put(kReplacementCharacter, true);
    run_.clear();
  }

  void end_run() {
    if (num_valid_ < run_.size()) {
      put_invalid();
    } else if (!run_.empty()) {
      next().put(run_, true);
    }
    run_.clear();
    num_valid_ = 0;
    is_invalid_ = false;
  }

  std::string run_;            // byte tokens that were not passed on
  std::size_t num_valid_ = 0;  // its bytes that are whole characters
  bool is_invalid_ = false;    // whether the run, some of it passed on already, is not UTF-8
};

template <typename Stage>
class PlainDecoder final : public TokenDecoder {
 public:
  std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const override {
    return std::make_unique<Stage>(std::move(next));
  }
};

}  // namespace

std::unique_ptr<TokenDecoder> make_byte_level_decoder() {
  return std::make_unique<PlainDecoder<ByteLevelStage>>();
}
std::unique_ptr<TokenDecoder> make_byte_fallback_decoder() {
  return std::make_unique<PlainDecoder<ByteFallbackStage>>();
}

}  // namespace lattice
