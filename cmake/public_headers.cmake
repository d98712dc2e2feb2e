# The headers of the installed libraries: the entry points listed here and whatever those include, nothing else.
#
# Who makes a header an entry point adds it to its library's list. The rest follows by itself: what an entry point includes is
# installed with it (and costs every user its time, so tests/rules/header_costs.txt bounds it); what no entry point reaches stays
# inside. docs/library.md says what each is for; tests/library compiles them from an installed tree.
#   cmake -D SOURCE=ROOT -P cmake/public_headers.cmake   prints all of them, a line each
cmake_policy(VERSION 3.25)  # for those who include this file in a script
set(qpscope_dissect_headers
  dissect/packet/build.hpp
  dissect/capture/capture_file.hpp
  dissect/capture/writer.hpp
  dissect/packet/census.hpp
  dissect/filter/filter.hpp
  dissect/packet/notation.hpp
  dissect/base/packet.hpp
  dissect/packet/pipeline.hpp
  dissect/packet/render.hpp
  dissect/packet/tree.hpp)
set(qpscope_analysis_headers
  transport-replay/analysis/analysis.hpp
  transport-replay/analysis/annotator.hpp
  transport-replay/analysis/observation_batch.hpp
  transport-replay/capture/listener.hpp
  transport-replay/checks/passive/passive_suite.hpp
  transport-replay/findings/findings.hpp
  transport-replay/model/timeline.hpp
  transport-replay/report/json.hpp)
set(qpscope_live_headers
  transport-replay/live/device/capture_tap.hpp
  transport-replay/live/device/fault_injector.hpp
  transport-replay/live/device/packet_ring.hpp
  transport-replay/live/device/pcap_device.hpp
  transport-replay/live/device/sim_device.hpp
  transport-replay/live/device/udp_device.hpp
  transport-replay/live/endpoint.hpp
  transport-replay/live/peers/program.hpp)
set(qpscope_conformance_headers
  transport-replay/conformance/script/parser.hpp
  transport-replay/conformance/stage/script_program.hpp
  transport-replay/conformance/suite/suite_program.hpp)

# RESULT: all public headers below SOURCE, sorted.
function(qpscope_public_headers source result)
  set(waiting ${qpscope_dissect_headers} ${qpscope_analysis_headers} ${qpscope_live_headers} ${qpscope_conformance_headers})
  set(found "")
  while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST found)
      continue()
    endif()
    if(NOT EXISTS ${source}/${header})
      message(FATAL_ERROR "cmake/public_headers.cmake names ${header}, which is not there")
    endif()
    list(APPEND found ${header})
    file(STRINGS ${source}/${header} lines REGEX "^[ \t]*#[ \t]*include[ \t]*<(dissect|transport-replay)/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^<]*<([^>]*)>.*" "\\1" included "${line}")
      list(APPEND waiting ${included})
    endforeach()
  endwhile()
  list(SORT found)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# In the script of an installation.
function(qpscope_install_headers source destination)
  qpscope_public_headers(${source} headers)
  foreach(header IN LISTS headers)
    get_filename_component(folder ${header} DIRECTORY)
    file(INSTALL ${source}/${header} DESTINATION ${destination}/${folder})
  endforeach()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  qpscope_public_headers(${SOURCE} headers)
  list(JOIN headers "\n" text)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${text}")
endif()
