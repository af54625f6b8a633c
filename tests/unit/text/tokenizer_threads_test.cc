#include <gtest/gtest.h>

#include <thread>

#include "lattice/tokenizer.h"
#include "support/small_tokenizers.h"

namespace lattice {
namespace {

std::vector<std::string> some_texts() {
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int j = 0; j < i % 17; ++j) {
      text += fmt::format("ab{} the\u00e9 {}\U0001F44D<think> a", i * j,
                          std::string(static_cast<std::size_t>(i), 'a'));
    }
    texts.push_back(text);
  }
  return texts;
}

// Under ThreadSanitizer this also proves that encoding takes no unsynchronised state.
TEST(TokenizerThreads, ManyThreadsShareOneTokenizer) {
  const auto texts = some_texts();
  for (const SmallTokenizer& small : small_tokenizers()) {
    const Tokenizer tokenizer = Tokenizer::from_json(small.json, small.name);
    std::vector<Encoding> expected;
    for (const auto& text : texts) {
      expected.push_back(tokenizer.encode_pair(text, "a", {.with_offsets = true}));
    }
    std::vector<std::size_t> differences(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < differences.size(); ++t) {
      threads.emplace_back([&, t, copy = tokenizer] {
        for (std::size_t i = 0; i < texts.size(); ++i) {
          const std::size_t at = (i * 7 + t * 31) % texts.size();
          const Encoding encoding = copy.encode_pair(texts[at], "a", {.with_offsets = true});
          differences[t] += encoding.ids != expected[at].ids ||
                            encoding.offsets != expected[at].offsets ||
                            copy.decode(encoding.ids) != tokenizer.decode(expected[at].ids);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(differences, std::vector<std::size_t>(4)) << small.name;
  }
}

}  // namespace
}  // namespace lattice
