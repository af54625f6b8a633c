#include "text/aligned_text.h"

#include <gtest/gtest.h>

#include "lattice/error.h"
#include "text/text_rewriter.h"

namespace lattice {
namespace {

TEST(AlignedText, IdentityGivesWholeCharacters) {
  AlignedText text;
  text.assign("a\xC3\xA9z", 10, true);
  EXPECT_EQ(text.origin_of({0, 1}), (ByteRange{10, 11}));
  EXPECT_EQ(text.origin_of({2, 3}), (ByteRange{11, 13}));
  EXPECT_EQ(text.origin_of({0, 2}), (ByteRange{10, 13}));
  text.end_identity();
  EXPECT_EQ(text.origin_of({2, 3}), (ByteRange{11, 13}));
  EXPECT_EQ(text.origin_of({0, 4}), (ByteRange{10, 14}));
}

TEST(AlignedText, SlicesKeepTheirOrigins) {
  AlignedText text;
  AlignedText slice;
  text.assign("ab\xC3\xA9z", 5, true);
  text.slice_into({2, 5}, slice);
  EXPECT_EQ(slice.text, "\xC3\xA9z");
  EXPECT_EQ(slice.origin_begin, 7u);
  EXPECT_EQ(slice.origin_of({0, 3}), (ByteRange{7, 10}));
  text.end_identity();
  text.slice_into({4, 5}, slice);
  EXPECT_FALSE(slice.identity);
  EXPECT_EQ(slice.origin_begin, 9u);
  EXPECT_EQ(slice.origin_of({0, 1}), (ByteRange{9, 10}));
}

TEST(AlignedText, RefusesOriginsItDoesNotTrack) {
  AlignedText text;
  text.assign("abc", 0, false);
  EXPECT_EQ(text.origin_of({1, 2}), (ByteRange{1, 2}));
  prepend_text(text, "x");
  EXPECT_EQ(text.text, "xabc");
  EXPECT_FALSE(text.has_origin());
  EXPECT_THROW(text.origin_of({0, 1}), LatticeError);
}

TEST(TextRewriter, GivesOriginsToReplacedInsertedAndSkipped) {
  AlignedText text;
  text.assign(
      "a\xC3\xA9"
      "bc",
      3, true);
  TextRewriter rewriter(text);
  rewriter.copy({0, 1});
  rewriter.replace(U'e');      // for the two bytes of é
  rewriter.insert(U'\u0301');  // behind it
  rewriter.skip();             // b
  rewriter.copy({4, 5});
  rewriter.finish();
  EXPECT_EQ(text.text,
            "ae\xCC\x81"
            "c");
  EXPECT_EQ(text.origin_of({1, 2}), (ByteRange{4, 6}));
  EXPECT_EQ(text.origin_of({2, 4}), (ByteRange{4, 6}));
  EXPECT_EQ(text.origin_of({4, 5}), (ByteRange{7, 8}));
}

TEST(TextRewriter, StaysIdenticalWhileLengthsDo) {
  AlignedText text;
  text.assign("aBc", 0, true);
  TextRewriter rewriter(text);
  rewriter.copy({0, 1});
  rewriter.replace(U'b');
  rewriter.copy({2, 3});
  rewriter.finish();
  EXPECT_EQ(text.text, "abc");
  EXPECT_TRUE(text.identity);
  EXPECT_TRUE(text.origin.empty());
}

}  // namespace
}  // namespace lattice
