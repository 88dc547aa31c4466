# Writes the header OUT with the commit of the tree SOURCE, "unknown" outside a repository; "+" marks local changes.
find_program(GIT git)
set(commit "unknown")
if(GIT)
  execute_process(COMMAND ${GIT} describe --always --abbrev=10 --dirty=+ --exclude=*
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE found RESULT_VARIABLE failed
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(commit ${found})
  endif()
endif()
set(text "// Generated.\n#pragma once\n#define HEADROOM_LAB_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUT} "${text}")
endif()
