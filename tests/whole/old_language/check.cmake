# SPDX-License-Identifier: MIT
# A program compiled as C++17 is told once that it needs C++20, whichever header it includes.
#   cmake -D SOURCE=... -D WORK=... -D CXX=... -P check.cmake
file(GLOB headers RELATIVE ${SOURCE}/include ${SOURCE}/include/headroom/*.hpp)
list(LENGTH headers count)
if(count LESS 10)
  message(FATAL_ERROR "no headers in ${SOURCE}/include")
endif()
foreach(header IN LISTS headers)
  file(WRITE ${WORK}/old.cpp "#include <${header}>\n")
  execute_process(COMMAND ${CXX} -std=c++17 -I${SOURCE}/include -fsyntax-only ${WORK}/old.cpp
    RESULT_VARIABLE result ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX MATCHALL "error: " errors "${said}")
  list(LENGTH errors number)
  if(result EQUAL 0 OR number GREATER 2 OR NOT said MATCHES "Headroom needs C\\+\\+20: compile with -std=c\\+\\+20")
    message(FATAL_ERROR "${header}: ${number} errors, exit status ${result}:\n${said}")
  endif()
endforeach()
