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
