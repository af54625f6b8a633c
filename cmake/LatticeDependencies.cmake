# Every third-party library comes from the distribution; a missing one stops the configuration and
# names its Debian package.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

function(lattice_find target module package)
  pkg_check_modules(${target} IMPORTED_TARGET ${module})
  if(NOT TARGET PkgConfig::${target})
    message(FATAL_ERROR "lattice needs ${module}: apt-get install ${package}")
  endif()
endfunction()

lattice_find(HWY libhwy libhwy-dev)
lattice_find(SIMDJSON simdjson libsimdjson-dev)
lattice_find(FMT fmt libfmt-dev)
lattice_find(UTF8PROC libutf8proc libutf8proc-dev)
lattice_find(PCRE2 libpcre2-8 libpcre2-dev)
lattice_find(XXHASH libxxhash libxxhash-dev)
# On x86 the library may choose AVX2 or AVX-512 at run time; its header says so, its binary decides.
include(CheckSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::XXHASH)
check_source_compiles(CXX "#include <xxh_x86dispatch.h>\nint main() { return XXH3_64bits(\"\", 0) == 0; }" LATTICE_XXHASH_DISPATCH)
unset(CMAKE_REQUIRED_LIBRARIES)
lattice_find(CURL libcurl libcurl4-openssl-dev)
lattice_find(CRYPTO libcrypto libssl-dev)

find_path(LATTICE_EXPECTED_INCLUDE tl/expected.hpp)
if(NOT LATTICE_EXPECTED_INCLUDE)
  message(FATAL_ERROR "lattice needs tl/expected.hpp: apt-get install libexpected-dev")
endif()
