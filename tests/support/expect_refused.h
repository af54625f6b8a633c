#pragma once

#include <gmock/gmock.h>

#include <string>

#include "lattice/error.h"

namespace lattice {

/// Fails unless `call` throws a LatticeError with this code, whose message holds `part`.
void expect_refused(const auto& call, ErrorCode code, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "accepted; expected an error naming " << part;
  } catch (const LatticeError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

}  // namespace lattice
