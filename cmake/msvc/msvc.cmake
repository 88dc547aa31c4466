# SPDX-License-Identifier: MIT
# Compiling for Windows with MSVC, on Linux: HEADROOM_MSVC names a folder that is laid out as Visual Studio installs, with
# VC/Tools/MSVC/VERSION and "Windows Kits/10". Its licence is Microsoft's; nothing here fetches it. cl, link and lib run under Wine.
include(${CMAKE_CURRENT_LIST_DIR}/folder.cmake)

# CMake wants one program for each job.
foreach(job IN ITEMS cl link lib rc mt)
  set(program ${CMAKE_BINARY_DIR}/msvc/${job})
  file(WRITE ${program} "#!/bin/sh\nexec '${CMAKE_CURRENT_LIST_DIR}/tool.sh' '${HEADROOM_MSVC}' ${job} \"$@\"\n")
  file(CHMOD ${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER ${CMAKE_BINARY_DIR}/msvc/cl)
set(CMAKE_CXX_COMPILER ${CMAKE_BINARY_DIR}/msvc/cl)
set(CMAKE_LINKER ${CMAKE_BINARY_DIR}/msvc/link)
set(CMAKE_AR ${CMAKE_BINARY_DIR}/msvc/lib)
set(CMAKE_RC_COMPILER ${CMAKE_BINARY_DIR}/msvc/rc)
set(CMAKE_MT ${CMAKE_BINARY_DIR}/msvc/mt)
