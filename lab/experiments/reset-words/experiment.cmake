# SPDX-License-Identifier: MIT
# A program of its own, for whoever has automata: README.md.
add_executable(headroom-reset-words ${folder}/program/reset_words.cpp)
target_link_libraries(headroom-reset-words PRIVATE headroom::headroom)
target_include_directories(headroom-reset-words PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(headroom-reset-words PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
headroom_warnings(headroom-reset-words)
