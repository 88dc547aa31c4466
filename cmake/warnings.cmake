# The warnings that every target of ours must compile without.
function(headroom_warnings target)
  if(MSVC)    # clang-cl too, whose -Wall is something else
    target_compile_options(${target} PRIVATE /W3 /permissive- /Zc:__cplusplus /utf-8 /bigobj)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
    if(HEADROOM_WERROR)
      target_compile_options(${target} PRIVATE -Werror)
    endif()
  endif()
endfunction()
