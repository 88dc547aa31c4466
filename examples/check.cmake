# SPDX-License-Identifier: MIT
# Runs PROGRAM and compares what it prints with the file EXPECTED.
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE result OUTPUT_VARIABLE output)
string(REPLACE "\r\n" "\n" output "${output}")
file(READ ${EXPECTED} expected)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "it ended with ${result}")
elseif(NOT output STREQUAL expected)
  message(FATAL_ERROR "it printed\n${output}instead of\n${expected}")
endif()
