# The one place for compiler flags: everything of ours links qpscope_flags.
include(${CMAKE_CURRENT_LIST_DIR}/libraries.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/unity.cmake)
add_library(qpscope_flags INTERFACE)
target_compile_features(qpscope_flags INTERFACE cxx_std_23)
target_include_directories(qpscope_flags INTERFACE ${PROJECT_SOURCE_DIR})
set(CMAKE_CXX_EXTENSIONS OFF)
# No build path in the binaries: two clones build the same bytes.
target_compile_options(qpscope_flags INTERFACE
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-align
  -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference -Wimplicit-fallthrough -Wformat=2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns about its own inlined library code under optimisation.
  target_compile_options(qpscope_flags INTERFACE -Wduplicated-cond -Wlogical-op -Wno-null-dereference)
  # In a unity build every source is an included file, whose unnamed namespaces GCC takes for those of a header.
  target_compile_options(qpscope_flags INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # The stable_sort of libstdc++ 12 calls what libstdc++ 12 deprecates, and clang reports it at our line.
  target_compile_options(qpscope_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(QPSCOPE_WERROR)
  target_compile_options(qpscope_flags INTERFACE -Werror)
endif()
if(QPSCOPE_SANITIZE)
  target_compile_options(qpscope_flags INTERFACE -fsanitize=${QPSCOPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(qpscope_flags INTERFACE -fsanitize=${QPSCOPE_SANITIZE})
endif()

if(QPSCOPE_FUZZ)
  # Everything is instrumented for coverage; libFuzzer itself is linked to the fuzzers alone.
  target_compile_options(qpscope_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(qpscope_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# How hard a release build works on a target, instead of the preset's -O2. Measured with bench.sh: -O3 over the packet path is as
# fast as link-time optimisation of everything was, -O2 there is 15 to 25 % slower, and what runs once a command needs neither.
function(qpscope_optimise target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()
