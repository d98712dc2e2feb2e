# Which tests CTest runs of a program of Catch: one for each source. A process for each case would load two dozen libraries for a
# millisecond of work, 2,300 times, and under sanitizers search for leaks as often.
# qpscope_discover_tests(TARGET PREFIX [PROPERTIES...])
function(qpscope_discover_tests target prefix)
  # -# gives each case its source as a tag, by the name without folders: sources of one name are run together.
  get_target_property(sources ${target} SOURCES)
  set(known "")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} cases REGEX "^(TEMPLATE_[A-Z_]*)?(TEST_CASE|SCENARIO)")
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
