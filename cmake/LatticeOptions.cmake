# Language level, warnings, sanitizers and ccache for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(LATTICE_CCACHE ccache)
if(LATTICE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 ${LATTICE_CCACHE})
endif()

add_library(lattice_options INTERFACE)
target_compile_options(lattice_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  # The same f32 expression must give the same bits wherever it is inlined: contraction to FMA
  # happens only where a kernel asks for it.
  -ffp-contract=off)
if(LATTICE_WERROR)
  target_compile_options(lattice_options INTERFACE -Werror)
endif()
if(LATTICE_SANITIZE)
  target_compile_options(lattice_options INTERFACE
    -fsanitize=${LATTICE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lattice_options INTERFACE -fsanitize=${LATTICE_SANITIZE})
endif()
# To find inputs a fuzzer watches what they reach; beside tests it only replays known ones.
if(LATTICE_BUILD_FUZZERS AND NOT LATTICE_BUILD_TESTS)
  target_compile_options(lattice_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(LATTICE_COVERAGE)
  target_compile_options(lattice_options INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(lattice_options INTERFACE -fprofile-instr-generate)
endif()
