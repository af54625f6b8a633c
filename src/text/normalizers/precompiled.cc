#include <array>

#include "text/normalizers/charsmap.h"
#include "text/normalizers/normalizers.h"
#include "text/text_rewriter.h"
#include "text/unicode/grapheme.h"

namespace lattice::normalizers {
namespace {

/// Sends replacements to a TextRewriter the way the library lists its changes. A replacement longer
/// than what it replaces ends in inserted characters; a shorter one charges what is left over to
/// the last character produced, even to one from an earlier replacement, and to none at the start
/// of the text.
class ChangeList {
 public:
  explicit ChangeList(TextRewriter& rewriter) : rewriter_(rewriter) {}

  void copy(ByteRange range) {
    if (range.size() == 0) return;
    flush();
    rewriter_.copy(range);
    any_ = true;
  }

  void replace(std::size_t old_count, std::string_view replacement) {
    std::size_t produced = 0;
    for (std::size_t at = 0; at < replacement.size(); ++produced) {
      flush();
      const char32_t c = next_code_point(replacement, at);
      any_ = true;
      if (produced < old_count) {
        rewriter_.replace(c);
      } else {
        inserted_ = c;
        has_inserted_ = true;
      }
    }
    if (!any_) return;
    for (std::size_t left = old_count; left > produced; --left) skip_one();
  }

  void flush() {
    if (has_inserted_) rewriter_.insert(inserted_);
    has_inserted_ = false;
  }

 private:
  /// An inserted character that is charged with a dropped one replaces it instead.
  void skip_one() {
    if (has_inserted_) {
      rewriter_.replace(inserted_);
      has_inserted_ = false;
    } else {
      rewriter_.skip();
    }
  }

  TextRewriter& rewriter_;
  bool any_ = false;  // whether anything was produced
  // The last character, when it is an inserted one not yet handed on.
  char32_t inserted_ = 0;
  bool has_inserted_ = false;
};

/// SentencePiece's normalization. Looks up each grapheme cluster of at most five bytes, then each
/// character by itself; either is replaced whole by what the shortest key it starts with maps to.
class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(Charsmap map) : map_(std::move(map)) {
    for (std::size_t byte = 0; byte < 128; ++byte) {
      const char c = static_cast<char>(byte);
      ascii_stays_[byte] = !map_.find({&c, 1});
    }
  }

  void normalize(AlignedText& text) const override {
    TextRewriter rewriter(text);
    ChangeList changes(rewriter);
    const std::string_view source = rewriter.source();
    std::size_t kept = 0;  // source[kept, at) is to be copied
    const auto replace = [&](ByteRange range, std::size_t count, std::string_view replacement) {
      changes.copy({kept, range.begin});
      changes.replace(count, replacement);
      kept = range.end;
    };
    for (std::size_t at = 0; at < source.size();) {
      if (stays_alone(source, at)) {
        ++at;
        continue;
      }
      const ByteRange cluster = {at, unicode::grapheme_end(source, at)};
      at = cluster.end;
      const std::string_view bytes = source.substr(cluster.begin, cluster.size());
      if (cluster.size() < kLongCluster) {
        if (const auto found = map_.find(bytes)) {
          replace(cluster, count_characters(bytes), *found);
          continue;
        }
      }
      for (std::size_t i = cluster.begin; i < cluster.end;) {
        const ByteRange character = {i, i + utf8_length(source[i])};
        i = character.end;
        const auto found = map_.find(source.substr(character.begin, character.size()));
        if (found) replace(character, 1, *found);
      }
    }
    changes.copy({kept, source.size()});
    changes.flush();
    rewriter.finish();
  }

 private:
  // Clusters from this size on are looked up by characters only. Source: tokenizers
  // (normalizers/precompiled.rs).
  static constexpr std::size_t kLongCluster = 6;

  /// An unmapped ASCII character that the next one, ASCII too, does not join.
  bool stays_alone(std::string_view source, std::size_t at) const {
    const auto byte = static_cast<unsigned char>(source[at]);
    if (byte >= 128 || !ascii_stays_[byte] || byte == '\r') return false;
    return at + 1 == source.size() || static_cast<unsigned char>(source[at + 1]) < 128;
  }

  static std::size_t count_characters(std::string_view bytes) {
    std::size_t count = 0;
    for (const char byte : bytes) count += is_utf8_continuation(byte) ? 0 : 1;
    return count;
  }

  Charsmap map_;
  std::array<bool, 128> ascii_stays_;
};

}  // namespace

Made make_precompiled(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const std::string encoded = reader.require_string("precompiled_charsmap");
  if (auto status = finish_component(reader); !status) return forward_error(status);
  const auto blob = decode_base64(encoded);
  if (!blob) {
    return fail(ErrorCode::kMalformed, "{}: precompiled_charsmap: not base64", where);
  }
  auto map = Charsmap::parse(*blob);
  if (!map) {
    return fail(map.error().code, "{}: precompiled_charsmap: {}", where, map.error().message);
  }
  return std::make_unique<Precompiled>(std::move(*map));
}

}  // namespace lattice::normalizers
