# One program that needs nothing of the machine it runs on (packaging/static/build): archives in place of shared libraries, glibc among
# them. A plain program, not a static-pie: that one has a dynamic section and relocates itself by it, 1.1 MB of relocations, for
# addresses of its own code that an attacker cannot know. What it would gain is little beside the sandbox, and the file is to have
# nothing that a loader could be asked to do.
option(QPSCOPE_STATIC "Link programs that need no library of the machine" OFF)
if(NOT QPSCOPE_STATIC)
  return()
endif()
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(PKG_CONFIG_ARGN --static)  # with the libraries that a library needs
# What nobody calls stays out, function by function.
add_compile_options(-ffunction-sections -fdata-sections)
# Warnings are of functions of glibc that load its libraries when they are called: SQLite would load extensions, were it asked to.
string(APPEND CMAKE_EXE_LINKER_FLAGS " -static -no-pie -Wl,--gc-sections,--fatal-warnings,--wrap=dlopen")
