# lattice_component(NAME SOURCES ... LIBS ...): one folder's object library.
#
# Include paths: src/ for internal headers ("base/result.h") and include/ for the public ones.
function(lattice_component name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_library(lattice_${name} OBJECT ${arg_SOURCES})
  target_include_directories(lattice_${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(lattice_${name} PUBLIC lattice_options Threads::Threads PkgConfig::FMT
    ${arg_LIBS})
  set_property(GLOBAL APPEND PROPERTY LATTICE_COMPONENTS lattice_${name})
  set_property(GLOBAL APPEND PROPERTY LATTICE_LINK_LIBS ${arg_LIBS})
endfunction()

# Joins all components into the `lattice` archive (alias lattice::lattice).
function(lattice_combine)
  get_property(components GLOBAL PROPERTY LATTICE_COMPONENTS)
  get_property(libs GLOBAL PROPERTY LATTICE_LINK_LIBS)
  list(REMOVE_DUPLICATES libs)
  list(FILTER libs INCLUDE REGEX "^PkgConfig::|^-framework ")
  set(objects "")
  foreach(component IN LISTS components)
    list(APPEND objects $<TARGET_OBJECTS:${component}>)
  endforeach()
  add_library(lattice STATIC ${objects})
  add_library(lattice::lattice ALIAS lattice)
  set_target_properties(lattice PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(lattice PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(lattice PUBLIC cxx_std_20)
  target_link_libraries(lattice PUBLIC Threads::Threads PRIVATE PkgConfig::FMT ${libs}
    $<BUILD_INTERFACE:lattice_options>)
endfunction()
