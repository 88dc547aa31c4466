# SPDX-License-Identifier: MIT
# GMP computes with numbers of any size (Debian: libgmp-dev); measure.cpp notices where it is missing.
find_library(HEADROOM_GMP NAMES gmp)
find_path(HEADROOM_GMP_HEADERS NAMES gmp.h)
mark_as_advanced(HEADROOM_GMP HEADROOM_GMP_HEADERS)
if(HEADROOM_GMP AND HEADROOM_GMP_HEADERS)
  set_property(SOURCE ${folder}/measure.cpp APPEND PROPERTY COMPILE_DEFINITIONS HEADROOM_LAB_GMP)
  # (The program is not there yet, and what is deferred sees variables as they are then.)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL target_link_libraries headroom-lab-O2 PRIVATE \"${HEADROOM_GMP}\")")
endif()
