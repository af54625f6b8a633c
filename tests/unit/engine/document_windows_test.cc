#include "engine/document_windows.h"

#include <gtest/gtest.h>

#include "lattice/model.h"
#include "support/tiny_models.h"

namespace lattice {
namespace {

const Tokenizer& tokenizer() {
  static const Tokenizer instance = Tokenizer::from_directory(tiny_directory("bert-mean"));
  return instance;
}

std::size_t count(const std::string& text) {
  EncodeOptions options;
  options.add_special_tokens = false;
  return tokenizer().encode(text, options).ids.size();
}

TEST(DocumentWindows, AShortDocumentIsItsOnlyWindow) {
  EXPECT_EQ(document_windows(tokenizer(), "  one two ", 8), std::vector<std::string>{"  one two "});
  EXPECT_EQ(document_windows(tokenizer(), "", 8), std::vector<std::string>{""});
}

TEST(DocumentWindows, CoverTheDocumentWithOverlap) {
  std::string document;
  for (int i = 0; i < 60; ++i) document += "the " + std::to_string(i) + ". cat ";
  const std::size_t whole = count(document);
  const std::vector<std::string> windows = document_windows(tokenizer(), document, 20);
  ASSERT_GT(windows.size(), 2u);
  std::size_t covered = 0;
  for (const std::string& window : windows) {
    const std::size_t at = document.find(window);
    ASSERT_NE(at, std::string::npos);
    EXPECT_LE(at, covered) << "a gap before \"" << window << '"';
    covered = at + window.size();
    EXPECT_LE(count(window), 20u);
  }
  EXPECT_EQ(covered, document.size());
  EXPECT_LE(windows.size(), whole / 15 + 1);
}

}  // namespace
}  // namespace lattice
