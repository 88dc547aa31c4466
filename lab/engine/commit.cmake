# SPDX-License-Identifier: MIT
# Writes the header OUT with the commit of the tree SOURCE, and with git's hashes of what its folders include/ and src/ hold: the same
# library in whatever commit. "unknown" outside a repository; "+" marks local changes.
find_program(GIT git)
set(commit "unknown")
set(library "unknown")
if(GIT)
  execute_process(COMMAND ${GIT} describe --always --abbrev=10 --dirty=+ --exclude=*
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE found RESULT_VARIABLE failed
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(commit ${found})
    execute_process(COMMAND ${GIT} rev-parse HEAD:include HEAD:src
      WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE found ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^(........)[^\n]*\n(........).*$" "\\1-\\2" library "${found}")
    execute_process(COMMAND ${GIT} diff --quiet HEAD -- include src WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE changed)
    if(changed)
      string(APPEND library "+")
    endif()
  endif()
endif()
set(text "// Generated.\n#pragma once\n#define HEADROOM_LAB_COMMIT \"${commit}\"\n#define HEADROOM_LAB_LIBRARY_HASH \"${library}\"\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUT} "${text}")
endif()
