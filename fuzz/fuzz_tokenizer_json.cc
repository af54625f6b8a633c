#include <array>

#include "fuzz_support.h"
#include "lattice/tokenizer.h"

namespace lattice {
namespace {

// Texts that reach every part of a pipeline: words, marks, spaces, other scripts, bytes to escape.
constexpr std::array<std::string_view, 6> kTexts = {
    "",
    "a",
    " The end. don't  \n",
    "caf\u00e9 e\u0301 \u65e5\u672c \U0001F44D\U0001F3FD",
    "[CLS] <s> <mask> <unk>aaaaaaaa",
    "\u2581x\t\u00a0\u3000_1,2.3"};

/// Whatever loads must encode and decode without a fault; a model may lack its unknown token.
void use(const Tokenizer& tokenizer) {
  for (const std::string_view text : kTexts) {
    try {
      const Encoding encoding = tokenizer.encode_pair(text, kTexts[2], {.with_offsets = true});
      fuzz_check(encoding.offsets.size() == encoding.ids.size());
      for (const std::int32_t id : encoding.ids) {
        fuzz_check(id >= 0 && static_cast<std::size_t>(id) < tokenizer.id_bound());
      }
      fuzz_check(tokenizer.encode(text).ids == tokenizer.encode(text, {.with_offsets = true}).ids);
      tokenizer.decode(encoding.ids);
    } catch (const LatticeError& error) {
      fuzz_check(error.code() == ErrorCode::kMalformed || error.code() == ErrorCode::kUnsupported ||
                 error.code() == ErrorCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lattice;
  try {
    use(Tokenizer::from_json(fuzz_text(data, size)));
  } catch (const LatticeError& error) {
    fuzz_check(error.code() != ErrorCode::kInternal);
    fuzz_check(std::string_view(error.what()).find("tokenizer.json") != std::string_view::npos);
  }
  return 0;
}
