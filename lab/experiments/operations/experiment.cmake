# SPDX-License-Identifier: MIT
# It compiles as the lab was compiled. GCC puts code written as assembly in front of functions only if it may not order them anew.
set(placed "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(placed " -fno-toplevel-reorder")
endif()
set_property(SOURCE ${folder}/measure.cpp APPEND PROPERTY COMPILE_DEFINITIONS
  HEADROOM_LAB_CXX="${CMAKE_CXX_COMPILER}" HEADROOM_LAB_HEADERS="${PROJECT_SOURCE_DIR}/include" HEADROOM_LAB_PLACED="${placed}"
  HEADROOM_LAB_OPERATIONS="${CMAKE_CURRENT_SOURCE_DIR}/${folder}/program/operations.cpp" HEADROOM_LAB_LIBRARY="$<TARGET_FILE:headroom>")
