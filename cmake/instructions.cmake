# cuzk_choose_instructions(LIST): sets for each file of the list variable what its suffix says it may use:
# *_adx.c BMI2 and ADX, *_ifma.c AVX-512 IFMA, *_shani.c SHA-NI. Elsewhere than on x86-64 such files leave
# the list. They are only entered after a run-time check (math/cpu.h).
function(cuzk_choose_instructions list)
  set(sources ${${list}})
  if(NOT CUZK_X86_64)
    list(FILTER sources EXCLUDE REGEX "_(adx|ifma|shani)\\.(c|S)$")
  endif()
  foreach(s IN LISTS sources)
    if(s MATCHES "_adx\\.c$")
      set_property(SOURCE ${s} APPEND PROPERTY COMPILE_OPTIONS -mbmi2 -madx)
    elseif(s MATCHES "_ifma\\.c$")
      set_property(SOURCE ${s} APPEND PROPERTY COMPILE_OPTIONS
        -mbmi2 -madx -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx512ifma)
      if(CUZK_SANITIZE MATCHES "undefined") # minutes for each file otherwise; fuzzing compares these
        set_property(SOURCE ${s} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=undefined)
      endif()
    elseif(s MATCHES "_shani\\.c$")
      set_property(SOURCE ${s} APPEND PROPERTY COMPILE_OPTIONS -msse4.1 -msha)
    endif()
  endforeach()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()
