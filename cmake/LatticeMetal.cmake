# The Metal backend's device, where there is Metal.framework. Its file is Objective-C++, a language of
# its own for CMake; everything else of the backend is C++ and built on every system.
if(APPLE)
  option(LATTICE_METAL "Build the Metal backend" ON)
else()
  set(LATTICE_METAL OFF)
endif()
if(LATTICE_METAL)
  enable_language(OBJCXX)
  set(CMAKE_OBJCXX_STANDARD 20)
  set(CMAKE_OBJCXX_STANDARD_REQUIRED ON)
  set(CMAKE_OBJCXX_EXTENSIONS OFF)
  set(CMAKE_OBJCXX_VISIBILITY_PRESET hidden)
endif()
