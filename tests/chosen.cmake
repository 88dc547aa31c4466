# SPDX-License-Identifier: MIT
# What each preset builds and runs: what it can find something in. (Presets stand in CMakePresets.json, the order of a whole run
# in scripts/dev/test.sh.)
#
# | preset | builds and runs | because it finds |
# |---|---|---|
# | dev | every room but tools/ and lab/; the checks that need one build only | wrong behaviour; what Clang warns of; a header that lacks an include (each test file is compiled by itself); in consumers' projects, what GCC makes and warns of when it optimises |
# | tools | tests/tools/ and tests/lab/, with the headroom command and every experiment, unoptimised | the same of the command, with programs to profile by GCC and by Clang, and of the lab's engine; an experiment that does not compile |
# | asan-ubsan | each kind of memory and container at random beside a model, with what throws and is refused; pools; whatever reads what others wrote | accesses outside of objects and lifetimes, undefined behaviour, leaks (null pointers, where they are used, as any access outside. In --slow, --everywhere and --only also where they are passed on, the examples, and what `seldom` names) |
# | tsan | files with threads | races and lock orders, which need threads (unoptimised: no access is left out) |
# | i686 | files labelled `core`, by GCC, but for those about types alone | sizes and shifts that fit 64 bits alone; what GCC warns of in what every compiler must compile |
# | valgrind | one file of each kind of memory that somebody writes into | reads of memory that nobody wrote, which ASan does not see; marks of ours that Valgrind misreads |
# | release, gcc, clang, asan, ubsan, ... (--everywhere, --only) | every room | what another compiler, library or processor makes of it; for what is left out above |
#
# What is left out is named by pattern, so that a new file is in until somebody says why not.

option(HEADROOM_WIDER_CHOICE "Build also what asan-ubsan leaves to ./dev test --slow and --everywhere" OFF)

# The test is that they compile: when they run there is nothing for a sanitizer or Valgrind to watch.
set(only_compiled derived_names_test foreign_macros_test foreign_names_test relocatable_test strict_warnings_test vector_compile_test)

# What such files do to memory the differential tests do as well, at random, and those of exceptions and refusals with what throws
# and is refused.
set(done_at_random "^(odd|settled|small|file|vector|foreign)_([a-z_]*_)?(access|allocators|arguments|assigning|beyond|compile|conformance|construct|elsewhere|erase|growth|insert|insert_allocated|insert_mapped|large|leads|lookup|move_only|names|ranges|ranges_refused|room|short|stability|static|store)_test$")
# What such files ask of kills, forks, descriptors and counts dev asks: a sanitizer sees nothing more in it, and makes it three times as long.
set(of_the_system "_(crash|fork|fork_order|handles|lives|middle|programs|systems)_test$|^(allowance|assertions|errno|exec_and_signals|extremes|faults_below|fork|formatting|helper_thread|memory_limit|process_facts|resource_allocator)_test$|hardened_test$|^file_vector_strangers_test$")
# Found as well by what is there: of a concurrent_vector its random operations grow it, throw and are refused; a small_vector with
# elements outside is a vector, whose exceptions are asked for. The examples are such programs as the rooms have, and dev runs them.
set(seldom "^(concurrent_vector_(grow|refusals)|small_vector_exceptions)_test$")
set(of_strangers_bytes file_command_test maps_reading_test)
# They start threads to ask something else, which dev asks.
set(threads_beside "^(errno|foreign_heap|hardened|memory_static|resource_extremes|vector_mapping)_test$")
# About types, which are the same with any size of a pointer; other compilers have them (--everywhere).
set(about_types "_names_test$|^small_vector_(arguments|construct|insert)_test$|^(odd_allocators|odd_ranges|relocatable|settled_vector_construct|strict_warnings|vector_compile|vector_construct)_test$")

# What runs for seconds where others take milliseconds: begun first, so that it is not waited for alone in the end.
set(long_runs "_differential_test$|^(faults|hardened|memory_fork_order|file_vector_power_failing|file_table_crash|vector_large|memory_checks_refused|soak_slow)_test$")

# headroom_chosen(RESULT NAME LABEL...): whether this build has the test file.
function(headroom_chosen result name)
  set(labels ${ARGN})
  set(${result} NO PARENT_SCOPE)
  # What cannot be built or run here.
  if(("lab" IN_LIST labels AND NOT HEADROOM_LAB) OR ("tools" IN_LIST labels AND NOT HEADROOM_TOOLS)
      OR ("posix" IN_LIST labels AND WIN32) OR ("linux" IN_LIST labels AND NOT pages STREQUAL "linux")
      OR ("views" IN_LIST labels AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
      OR ("no-sanitizer" IN_LIST labels AND HEADROOM_SANITIZE)
      OR ("own-heap" IN_LIST labels AND HEADROOM_SANITIZE MATCHES "memory"))
    return()
  endif()
  # What nobody would find anything with.
  if(HEADROOM_ONLY_LABEL)
    if((HEADROOM_SANITIZE STREQUAL "thread" AND name MATCHES "${threads_beside}")
        OR (CMAKE_SYSTEM_PROCESSOR STREQUAL "i686" AND name MATCHES "${about_types}"))
      return()
    endif()
    foreach(wanted IN LISTS HEADROOM_ONLY_LABEL)
      if(wanted IN_LIST labels)
        set(${result} YES PARENT_SCOPE)
      endif()
    endforeach()
    return()
  elseif("slow" IN_LIST labels OR (HEADROOM_SANITIZE AND name IN_LIST only_compiled))
    return()
  elseif(HEADROOM_SANITIZE STREQUAL "address,undefined"
      AND (name MATCHES "${done_at_random}|${of_the_system}" OR (name MATCHES "${seldom}" AND NOT HEADROOM_WIDER_CHOICE) OR ("tools" IN_LIST labels AND NOT name IN_LIST of_strangers_bytes)))
    return()
  endif()
  set(${result} YES PARENT_SCOPE)
endfunction()

# headroom_examples_chosen(RESULT): whether this build has the examples.
function(headroom_examples_chosen result)
  if(HEADROOM_ONLY_LABEL OR (HEADROOM_SANITIZE STREQUAL "address,undefined" AND NOT HEADROOM_WIDER_CHOICE))
    set(${result} NO PARENT_SCOPE)
  else()
    set(${result} YES PARENT_SCOPE)
  endif()
endfunction()

# headroom_chosen_for_valgrind(RESULT NAME LABEL...): whether the test runs under Valgrind, too. Not where it would only repeat
# another on the same paths, or nothing is written into memory.
function(headroom_chosen_for_valgrind result name)
  set(${result} NO PARENT_SCOPE)
  if("no-valgrind" IN_LIST ARGN OR "tools" IN_LIST ARGN OR "lab" IN_LIST ARGN OR name IN_LIST only_compiled
      OR name MATCHES "_(access|arguments|assigning|beyond|conformance|elsewhere|exceptions|grow|move_only|names|nested|pages|ranges|readers|refusals|short|stability|static|store|table|threads|upkeep)_test$|^small_vector_(construct|erase|insert)_test$|^settled_vector_(construct|erase)_test$|^(annotations|batches|formatting|growth|own_slots|dlpack|concurrent_vector|file_vector_construct|file_vector_erase|vector_insert_allocated|vector_insert_mapped)_test$|^(foreign|odd)_")
    return()
  endif()
  set(${result} YES PARENT_SCOPE)
endfunction()
