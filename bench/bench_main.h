#pragma once

#include <cstdio>
#include <exception>

namespace lattice {

/// What `run` returns; 1, with the reason on standard error, where it throws.
inline int bench_main(int (*run)(int argc, char** argv), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace lattice
