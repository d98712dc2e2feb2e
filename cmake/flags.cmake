# The one place for compiler flags. They are of this project's folders, not of its targets: who links our libraries gets none of
# them (what users need, the language and the folder of the headers, is said in dissect/CMakeLists.txt).
include(${CMAKE_CURRENT_LIST_DIR}/static.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/libraries.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/unity.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/hardening.cmake)
set(CMAKE_CXX_EXTENSIONS OFF)
# No build path in the binaries: two clones build the same bytes.
add_compile_options(
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-align
  -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference -Wimplicit-fallthrough -Wformat=2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns about its own inlined library code under optimisation.
  add_compile_options(-Wduplicated-cond -Wlogical-op -Wno-null-dereference)
  add_compile_options($<$<CONFIG:Release>:-Wno-maybe-uninitialized> $<$<CONFIG:Release>:-Wno-restrict>)
  # In a unity build every source is an included file, whose unnamed namespaces GCC takes for those of a header.
  add_compile_options(-Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A precompiled header is told by what is in it, not by when it was made: else nothing that includes one is found in a cache.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  # The stable_sort of libstdc++ 12 calls what libstdc++ 12 deprecates, and clang reports it at our line.
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(QPSCOPE_WERROR)
  add_compile_options(-Werror)
endif()
if(QPSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${QPSCOPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${QPSCOPE_SANITIZE})
endif()

# Everything is instrumented for coverage; what drives the fuzzers is linked to them alone. AFL++ of Debian 12 has a compiler that is too
# old for us, but its runtime takes the guards of ours.
if(QPSCOPE_FUZZ AND QPSCOPE_FUZZ_ENGINE STREQUAL "afl")
  add_compile_options(-fsanitize-coverage=trace-pc-guard)
elseif(QPSCOPE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(QPSCOPE_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What includes a precompiled header would else be compiled anew each time; no header of ours tells the time. Another checkout hits what
  # this one compiled: paths below the root are taken relative to it, and what is compiled does not know its folder (see above).
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${CCACHE})
endif()

# How hard a release build works on a target, instead of the preset's -O2. Measured with bench.sh: -O3 over the packet path is as
# fast as link-time optimisation of everything was, -O2 there is 15 to 25 % slower, and what runs once a command needs neither.
function(qpscope_optimise target level)
  if(QPSCOPE_STATIC AND level STREQUAL "-O1")
    set(level -Os)  # a sixth less of code that runs once: the file is to stay below 15 MB
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()

# What sanitizers would make crawl: the packet path, and who reads much JSON. All else compiles in less than half the time without
# optimisation, and waits for these.
option(QPSCOPE_OPTIMISE_SANITISED "Optimise what sanitizers would make crawl" ON)
function(qpscope_optimise_sanitised)
  if(QPSCOPE_SANITIZE AND QPSCOPE_OPTIMISE_SANITISED)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -O1)
    endforeach()
  endif()
endfunction()
