# SPDX-License-Identifier: MIT
# The warnings that every target of ours must compile without.
function(headroom_warnings target)
  if(MSVC)    # clang-cl too, whose -Wall is something else
    target_compile_options(${target} PRIVATE /W4 /permissive- /Zc:__cplusplus /utf-8 /bigobj)
    if(HEADROOM_WERROR)
      target_compile_options(${target} PRIVATE /WX)
    endif()
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
    if(HEADROOM_WERROR)
      target_compile_options(${target} PRIVATE -Werror)
    endif()
  endif()
endfunction()

# More warnings that programs ask for, without which the public headers compile. A cast of a size to 32 bits is useless only where sizes
# have them, so there GCC is not asked for such casts.
function(headroom_strangers_warnings target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT MSVC)
    target_compile_options(${target} PRIVATE -Weffc++ -Wold-style-cast)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    target_compile_options(${target} PRIVATE -Wuseless-cast)
  endif()
endfunction()
