# Installing: headers, the library, and a package that find_package(headroom) accepts by version.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS headroom EXPORT headroom-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/headroom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT headroom-targets NAMESPACE headroom:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headroom)
configure_package_config_file(cmake/headroom-config.cmake.in headroom-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headroom)
write_basic_package_version_file(headroom-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/headroom-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/headroom-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headroom)

# For those who do not use CMake: Make, Meson, and everything else that asks pkg-config.
# The prefix is found from where the file lies, so that an installed tree can be moved.
file(RELATIVE_PATH headroom_pc_prefix
  ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/headroom.pc.in headroom.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/headroom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
