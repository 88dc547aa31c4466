# SPDX-License-Identifier: MIT
# It compiles as the lab was compiled.
set_property(SOURCE ${folder}/measure.cpp APPEND PROPERTY COMPILE_DEFINITIONS
  HEADROOM_LAB_CXX="${CMAKE_CXX_COMPILER}" HEADROOM_LAB_HEADERS="${PROJECT_SOURCE_DIR}/include")
