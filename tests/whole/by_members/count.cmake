# SPDX-License-Identifier: MIT
# Fails unless each of the six functions in OBJECT was replaced by one that takes members (its name ends in ".isra").
execute_process(COMMAND ${NM} ${OBJECT} OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(element_of|size_of)[^\n]*[.]isra" by_members "${names}")
list(LENGTH by_members count)
if(NOT count EQUAL 6)
  message(FATAL_ERROR "${count} of 6 functions take a container's members:\n${names}")
endif()
