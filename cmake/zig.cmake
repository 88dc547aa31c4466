# SPDX-License-Identifier: MIT
# Cross-compiling with the compiler of the Python package ziglang, which brings the headers and libraries of each system:
# for HEADROOM_ZIG_TARGET, as in x86_64-macos. `./dev test --everywhere` puts the package into .venv.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HEADROOM_ZIG_TARGET)
string(REGEX MATCH "^([a-z0-9_]+)-([a-z]+)" target "${HEADROOM_ZIG_TARGET}")
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
if(CMAKE_MATCH_2 STREQUAL "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_OSX_SYSROOT "")
  set(CMAKE_INSTALL_NAME_TOOL true)    # asked for, never used: nothing is installed
elseif(CMAKE_MATCH_2 STREQUAL "freebsd")
  set(CMAKE_SYSTEM_NAME FreeBSD)
endif()

# CMake wants one program for each job.
get_filename_component(zig "${CMAKE_CURRENT_LIST_DIR}/../.venv/bin/python" ABSOLUTE)
foreach(job IN ITEMS cc c++ ar ranlib)
  set(flags "")
  if(job MATCHES "^c")
    set(flags "-target ${HEADROOM_ZIG_TARGET}")
  endif()
  set(program ${CMAKE_BINARY_DIR}/zig-${job})
  file(WRITE ${program} "#!/bin/sh\nexec '${zig}' -m ziglang ${job} ${flags} \"$@\"\n")
  file(CHMOD ${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER ${CMAKE_BINARY_DIR}/zig-cc)
set(CMAKE_CXX_COMPILER ${CMAKE_BINARY_DIR}/zig-c++)
# The same everywhere, in CMake's own trials too: for each other way to compile, a C++ library is built first, for minutes.
set(CMAKE_CXX_FLAGS_INIT -O1)
set(CMAKE_AR ${CMAKE_BINARY_DIR}/zig-ar)
set(CMAKE_RANLIB ${CMAKE_BINARY_DIR}/zig-ranlib)
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)    # that compiler's are not found again
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
