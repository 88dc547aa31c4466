# What each preset builds and runs: what it can find something in. (Presets stand in CMakePresets.json, the order of a whole run
# in scripts/dev/test.sh.)
#
# | preset | builds and runs | because it finds |
# |---|---|---|
# | dev | every room but tools/ and lab/; the checks that need one build only | wrong behaviour; what Clang warns of; a header that lacks an include (each test file is compiled by itself) |
# | tools | tests/tools/ and tests/lab/, with the headroom command and every experiment, by GCC, unoptimised | the same of the command, whose programs to profile are GCC's, and of the lab's engine; an experiment that does not compile |
# | asan-ubsan | what dev runs, but for files that only compile something, or ask what the differential tests and those of exceptions, refusals, insertion and removal do to memory as well; and the command's readers of what others wrote | accesses outside of objects and lifetimes, undefined behaviour, leaks |
# | tsan | files with threads, by GCC, optimised | races and lock orders, which need threads; what GCC makes of the library when it optimises |
# | i686 | files labelled `core`, by GCC | sizes and shifts that fit 64 bits alone; what GCC warns of in what every compiler must compile |
# | valgrind | one file of each kind of memory that somebody writes into | reads of memory that nobody wrote, which ASan does not see; marks of ours that Valgrind misreads |
# | release, gcc, clang, ... (--everywhere) | every room | what another compiler, library or processor makes of it |

# The test is that they compile: when they run there is nothing for a sanitizer or Valgrind to watch.
set(only_compiled derived_names_test foreign_macros_test foreign_names_test relocatable_test strict_warnings_test vector_compile_test)

# What such files do to memory others do, too, at random and with what throws and is refused; the presets asan and ubsan have them.
set(done_by_others "_(access|allocators|arguments|assigning|beyond|compile|conformance|leads|move_only|names|short|stability|static|store)_test$|^small_vector_(construct|erase|insert|ranges)_test$")
set(of_strangers_bytes file_command_test maps_reading_test profile_trace_test)

# headroom_chosen(RESULT NAME LABEL...): whether this build has the test file.
function(headroom_chosen result name)
  set(labels ${ARGN})
  set(${result} NO PARENT_SCOPE)
  # What cannot be built or run here.
  if(("lab" IN_LIST labels AND NOT HEADROOM_LAB) OR ("tools" IN_LIST labels AND NOT HEADROOM_TOOLS)
      OR ("posix" IN_LIST labels AND WIN32) OR ("linux" IN_LIST labels AND NOT pages STREQUAL "linux")
      OR ("gcc" IN_LIST labels AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      OR ("views" IN_LIST labels AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
      OR ("no-sanitizer" IN_LIST labels AND HEADROOM_SANITIZE)
      OR ("own-heap" IN_LIST labels AND HEADROOM_SANITIZE MATCHES "memory"))
    return()
  endif()
  # What nobody would find anything with.
  if(HEADROOM_ONLY_LABEL)
    foreach(wanted IN LISTS HEADROOM_ONLY_LABEL)
      if(wanted IN_LIST labels)
        set(${result} YES PARENT_SCOPE)
      endif()
    endforeach()
    return()
  elseif("slow" IN_LIST labels OR (HEADROOM_SANITIZE AND name IN_LIST only_compiled))
    return()
  elseif(HEADROOM_SANITIZE STREQUAL "address,undefined"
      AND (name MATCHES "${done_by_others}" OR ("tools" IN_LIST labels AND NOT name IN_LIST of_strangers_bytes)))
    return()
  endif()
  set(${result} YES PARENT_SCOPE)
endfunction()

# headroom_chosen_for_valgrind(RESULT NAME LABEL...): whether the test runs under Valgrind, too. Not where it would only repeat
# another on the same paths, or nothing is written into memory.
function(headroom_chosen_for_valgrind result name)
  set(${result} NO PARENT_SCOPE)
  if("no-valgrind" IN_LIST ARGN OR "tools" IN_LIST ARGN OR "lab" IN_LIST ARGN OR name IN_LIST only_compiled
      OR name MATCHES "_(access|beyond|move_only|names|ranges|static|conformance|elsewhere|stability|upkeep|pages)_test$|^small_vector_(arguments|assigning|construct|erase|exceptions|insert)_test$|^(foreign|odd)_|^settled_vector_refusals_test$")
    return()
  endif()
  set(${result} YES PARENT_SCOPE)
endfunction()
