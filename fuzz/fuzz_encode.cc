#include <vector>

#include "fuzz_support.h"
#include "lattice/tokenizer.h"
#include "support/small_tokenizers.h"
#include "text/utf8.h"

namespace lattice {
namespace {

struct Loaded {
  Tokenizer tokenizer;
  bool is_lossless;
};

const std::vector<Loaded>& loaded_tokenizers() {
  static const std::vector<Loaded> tokenizers = [] {
    std::vector<Loaded> list;
    for (const SmallTokenizer& small : small_tokenizers()) {
      list.push_back({Tokenizer::from_json(small.json, small.name), small.is_lossless});
    }
    return list;
  }();
  return tokenizers;
}

void check_encoding(const Tokenizer& tokenizer, const Encoding& encoding, std::size_t text_size) {
  const std::size_t count = encoding.ids.size();
  fuzz_check(encoding.type_ids.size() == count && encoding.offsets.size() == count &&
             encoding.special_tokens_mask.size() == count);
  fuzz_check(encoding.num_tokens_untruncated >= count);
  fuzz_check(encoding.truncated == (encoding.num_tokens_untruncated > count));
  for (const std::int32_t id : encoding.ids) {
    fuzz_check(id >= 0 && static_cast<std::size_t>(id) < tokenizer.id_bound());
  }
  for (const auto& [begin, end] : encoding.offsets) fuzz_check(begin <= end && end <= text_size);
}

EncodeOptions read_options(unsigned bits) {
  EncodeOptions options;
  options.with_offsets = true;
  options.add_special_tokens = (bits & 1) == 0;
  if ((bits & 2) != 0) options.max_length = (bits >> 4) % 9;
  options.side = (bits & 4) != 0 ? TruncationSide::kLeft : TruncationSide::kRight;
  options.strategy =
      (bits & 8) != 0 ? TruncationStrategy::kOnlyFirst : TruncationStrategy::kLongestFirst;
  return options;
}

void check_single(const Loaded& loaded, std::string_view text) {
  const Tokenizer& tokenizer = loaded.tokenizer;
  const Encoding encoding = tokenizer.encode(text, {.with_offsets = true});
  check_encoding(tokenizer, encoding, text.size());
  fuzz_check(tokenizer.encode(text).ids == encoding.ids);
  const std::string decoded = tokenizer.decode(encoding.ids, false);
  fuzz_check(!find_invalid_utf8(decoded));
  if (loaded.is_lossless) fuzz_check(decoded == text);
}

void check_pair(const Tokenizer& tokenizer, std::string_view first, std::string_view second,
                const EncodeOptions& options) {
  try {
    const Encoding encoding = tokenizer.encode_pair(first, second, options);
    check_encoding(tokenizer, encoding, std::max(first.size(), second.size()));
    if (options.max_length) fuzz_check(encoding.ids.size() <= *options.max_length);
  } catch (const LatticeError& error) {
    fuzz_check(options.max_length.has_value());
    fuzz_check(error.code() == ErrorCode::kTooLong || error.code() == ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace lattice

// Two bytes choose the tokenizer and the options; a byte 0xFF separates two texts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lattice;
  if (size < 2) return 0;
  const Loaded& loaded = loaded_tokenizers()[data[0] % loaded_tokenizers().size()];
  const EncodeOptions options = read_options(data[1]);
  const std::string_view text = fuzz_text(data + 2, size - 2);
  const std::size_t cut = std::min(text.find('\xFF'), text.size());
  const std::string_view first = text.substr(0, cut);
  const std::string_view second = text.substr(std::min(cut + 1, text.size()));
  for (const std::string_view part : {first, second}) {
    if (!find_invalid_utf8(part)) continue;
    try {
      loaded.tokenizer.encode(part);
      fuzz_check(false);
    } catch (const LatticeError& error) {
      fuzz_check(error.code() == ErrorCode::kInvalidArgument);
    }
    return 0;
  }
  check_single(loaded, first);
  check_pair(loaded.tokenizer, first, second, options);
  return 0;
}
