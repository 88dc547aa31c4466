# SPDX-License-Identifier: MIT
# LMDB and STXXL take part where they are installed (Debian: liblmdb-dev, libstxxl-dev); measure.cpp notices.
find_library(HEADROOM_LMDB NAMES lmdb)
find_path(HEADROOM_LMDB_HEADERS NAMES lmdb.h)
find_library(HEADROOM_STXXL NAMES stxxl)
find_path(HEADROOM_STXXL_HEADERS NAMES stxxl/vector)
mark_as_advanced(HEADROOM_LMDB HEADROOM_LMDB_HEADERS HEADROOM_STXXL HEADROOM_STXXL_HEADERS)
include(CheckIncludeFileCXX)
check_include_file_cxx(omp.h HEADROOM_OPENMP_HEADER)    # STXXL's headers include it; Clang has it in a package of its own
if(NOT HEADROOM_OPENMP_HEADER)
  set(HEADROOM_STXXL_HEADERS "")
endif()
foreach(peer LMDB STXXL)
  if(HEADROOM_${peer} AND HEADROOM_${peer}_HEADERS)
    set_property(SOURCE ${folder}/measure.cpp ${folder}/stxxl.cpp APPEND PROPERTY COMPILE_DEFINITIONS HEADROOM_LAB_${peer})
    # (The program is not there yet, and what is deferred sees variables as they are then.)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL target_link_libraries headroom-lab-O2 PRIVATE \"${HEADROOM_${peer}}\")")
  endif()
endforeach()
# STXXL's headers are of 2013.
set_property(SOURCE ${folder}/stxxl.cpp APPEND PROPERTY COMPILE_OPTIONS -w -Wno-error)
