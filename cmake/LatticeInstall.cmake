# Installs the library, the public headers, the program and a CMake package: find_package(lattice).
include(CMakePackageConfigHelpers)

install(TARGETS lattice EXPORT lattice_targets)
install(DIRECTORY include/lattice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lattice_targets NAMESPACE lattice:: FILE lattice-targets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lattice)
configure_package_config_file(cmake/lattice-config.cmake.in lattice-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lattice)
write_basic_package_version_file(lattice-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lattice-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/lattice-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lattice)
