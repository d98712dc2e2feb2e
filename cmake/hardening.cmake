# What makes a defect in our code hard to use: for the programs, whatever the build type, so that the tests run what users run. Not
# with sanitizers, which see more and sooner. "rules: hardening" reads it from the programs that were built.
include_guard()

# What is left out for the code that every packet goes through. Measured on `analyze` of messages of 64 bytes, all of it cost 6 %:
# lengths that the C library checks 2 to 3, canaries 2, probes of large stack frames less than 1, landing pads nothing. That code
# reads through bounded views (dissect/base/bytes.hpp), and no frame of it grows with its input. What sees the bytes themselves keeps all
# canaries; what follows works on values, and keeps those of functions with arrays of characters.
# What is left costs 1 to 3 %. The assertions of the C++ library (_GLIBCXX_ASSERTIONS) would cost 7 to 10 more there, so nothing has them.
function(qpscope_packet_path target canaries)
  if(NOT QPSCOPE_SANITIZE AND NOT QPSCOPE_FUZZ)
    # "SHELL:", else CMake takes it for the same as the -U before -D.
    target_compile_options(${target} PRIVATE -fno-stack-clash-protection "SHELL:-U _FORTIFY_SOURCE" "SHELL:${canaries}")
  endif()
endfunction()

if(QPSCOPE_SANITIZE OR QPSCOPE_FUZZ)
  return()
endif()
include(CheckCXXCompilerFlag)

# Position-independent code and programs. Among the general flags, so that the stronger -fPIC of targets that need it (Qt's) wins.
string(APPEND CMAKE_CXX_FLAGS " -fPIE")
if(NOT QPSCOPE_STATIC)
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -pie")
endif()
# All relocations are made before the program starts, and read-only then.
string(APPEND CMAKE_EXE_LINKER_FLAGS " -Wl,-z,relro,-z,now")

# Canaries before return addresses; no stack that jumps over its guard page; landing pads and shadow stacks of x86, the same of Arm.
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "QPSCOPE_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    add_compile_options(${flag})
  endif()
endforeach()

# Lengths that the C library checks; it needs an optimiser to know them, and says so where there is none.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "-O(g|s|[1-9]|fast)")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  set(QPSCOPE_FORTIFIED ON)
endif()
