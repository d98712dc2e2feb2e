# Writes a text file as a function of C++ that returns it:
#   cmake -D INPUT=text.md -D OUTPUT=text.cpp -D HEADER=cli/finding_pages.hpp -D FUNCTION=qps::cli::finding_pages -P embed_text.cmake
file(READ "${INPUT}" text)
string(FIND "${text}" ")text\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${INPUT} holds what ends a text of C++")
endif()
get_filename_component(name "${INPUT}" NAME)
file(WRITE "${OUTPUT}" "// Made of ${name} when the program is built.\n#include <${HEADER}>\n\n"
                       "std::string_view ${FUNCTION}() { return R\"text(${text})text\"; }\n")
