#include "text/serde_number.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

// Each pair: a number in a file, and what the Hugging Face package reads.
TEST(SerdeNumber, ReadsFractionsAsThePackageDoes) {
  EXPECT_EQ(serde_number(-2.8119303107181874), -2.811930310718187);
  EXPECT_EQ(serde_number(-3.5685627019242894), -3.56856270192429);
  EXPECT_EQ(serde_number(-7.4040066128497335), -7.404006612849733);
  EXPECT_EQ(serde_number(-6.7180430786795196), -6.71804307867952);
}

TEST(SerdeNumber, LeavesShortNumbersAlone) {
  for (const double value : {0.0, -0.0, 1.0, -3.5, 12.25, 1e22, 1e-5, 0.1, 123456789.0, 5e-324}) {
    EXPECT_EQ(serde_number(value), value);
  }
}

}  // namespace
}  // namespace lattice
