# Which tests CTest runs of a program of Catch: one for each case; under sanitizers one for each source, because there a program
# takes longer to start and to be searched for leaks than most cases take to run.
include(Catch)

# qpscope_discover_tests(TARGET PREFIX [PROPERTIES...])
function(qpscope_discover_tests target prefix)
  if(NOT QPSCOPE_SANITIZE)
    catch_discover_tests(${target} EXTRA_ARGS --warn NoTests TEST_PREFIX "${prefix}: " PROPERTIES ${ARGN})
    return()
  endif()
  # -# gives each case its source as a tag, by the name without folders: sources of one name are run together.
  get_target_property(sources ${target} SOURCES)
  set(known "")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} cases REGEX "^TEST_CASE")
    list(FILTER cases EXCLUDE REGEX "\\[\\.")  # hidden
    get_filename_component(name ${source} NAME_WE)
    if(NOT cases OR name IN_LIST known)
      continue()
    endif()
    list(APPEND known ${name})
    set(test "${prefix}: ${name}.cpp")
    add_test(NAME ${test} COMMAND ${target} --warn NoTests -\# "[#${name}]~[.]")
    set_tests_properties(${test} PROPERTIES ${ARGN})
  endforeach()
endfunction()
