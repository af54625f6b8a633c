# The test instrument that executes Metal kernels on the CPU. It compiles them with clang-19 at run
# time and switches stacks by hand, so it is left out where there is no clang-19, where nobody wrote
# the switch, under sanitizers, which lose track of the stacks, and when cross-compiling: that compiler
# makes code for the processor it runs on.
find_program(LATTICE_SIMT_CLANG clang++-19)
find_program(LATTICE_SIMT_SYMBOLIZER llvm-symbolizer-19)
set(default OFF)
if(LATTICE_BUILD_TESTS AND LATTICE_SIMT_CLANG AND LATTICE_SIMT_SYMBOLIZER AND NOT LATTICE_SANITIZE
   AND NOT CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_NAME STREQUAL "Linux"
   AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$")
  set(default ON)
endif()
option(LATTICE_BUILD_SIMT "Build what executes Metal kernels on the CPU in tests" ${default})
