# SPDX-License-Identifier: MIT
# Installing: headers, the library, and a package that find_package(headroom) accepts by version.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/headroom)

# The core and its components, each with an export of its own, so that a packager can part them: headroom-config.cmake includes those that
# are there. A shared library is CMake's component `runtime`, `runtime_file` or `runtime_exchange`; what a program is built with is
# `development`, `development_file` or `development_exchange`, and the headers are all in the first.
function(headroom_install target export runtime development)
  install(TARGETS ${target} EXPORT ${export}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${development}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${runtime} NAMELINK_COMPONENT ${development}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${runtime})
  install(EXPORT ${export} NAMESPACE headroom:: DESTINATION ${package} COMPONENT ${development})
endfunction()
headroom_install(headroom headroom-targets runtime development)
headroom_install(headroom_testing headroom-testing-targets development development)
foreach(component IN LISTS headroom_components)
  headroom_install(headroom_${component} headroom-${component}-targets runtime_${component} development_${component})
endforeach()
install(DIRECTORY include/headroom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
# The licence asks for its text in each copy.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/headroom COMPONENT development)
install(FILES modules/headroom.cppm DESTINATION ${CMAKE_INSTALL_DATADIR}/headroom COMPONENT development)
if(MSVC)
  target_sources(headroom INTERFACE $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_DATADIR}/headroom/headroom.natvis>)
endif()
# gdb runs the printers of a shared library that has a script by its name in gdb's own folder of scripts, which it trusts. (The folder
# of the library is part of that name, so it is the one that the library is installed to.) Printers to be sourced serve every program.
# Visual Studio's view of the containers goes into what find_package() declares, so that each project's debugger has it.
install(FILES src/debuggers/gdb_printers.py src/debuggers/headroom.natvis DESTINATION ${CMAKE_INSTALL_DATADIR}/headroom COMPONENT development)
get_target_property(type headroom TYPE)
if(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF" AND type STREQUAL "SHARED_LIBRARY")
  set(headroom_libraries "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(headroom_libraries "${CMAKE_INSTALL_LIBDIR}")
  endif()
  install(FILES src/debuggers/gdb_printers.py DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load${headroom_libraries}"
    RENAME $<TARGET_FILE_NAME:headroom>-gdb.py COMPONENT runtime)
endif()
configure_package_config_file(cmake/headroom-config.cmake.in headroom-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(headroom-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/headroom-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/headroom-config-version.cmake
  DESTINATION ${package} COMPONENT development)

# For those who do not use CMake: Make, Meson, and everything else that asks pkg-config.
# The prefix is found from where the file lies, so that an installed tree can be moved.
file(RELATIVE_PATH headroom_pc_prefix
  ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
function(headroom_describe name component)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()
headroom_describe(headroom development)
headroom_describe(headroom-testing development)
foreach(component IN LISTS headroom_components)
  headroom_describe(headroom-${component} development_${component})
endforeach()
