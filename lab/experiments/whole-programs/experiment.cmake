# SPDX-License-Identifier: MIT
# Its programs are built as the lab was built, when they are first run, and stay in the build folder.
find_package(Python3 COMPONENTS Interpreter QUIET)
set_property(SOURCE ${folder}/measure.cpp APPEND PROPERTY COMPILE_DEFINITIONS
  HEADROOM_LAB_PYTHON="${Python3_EXECUTABLE}" HEADROOM_LAB_PROGRAMS="${CMAKE_CURRENT_SOURCE_DIR}/${folder}/programs.py"
  HEADROOM_LAB_WHOLE="${PROJECT_BINARY_DIR}/whole-programs" HEADROOM_LAB_CXX="${CMAKE_CXX_COMPILER}"
  HEADROOM_LAB_LIBRARY="$<TARGET_FILE:headroom>")
