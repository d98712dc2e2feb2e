# Writes a table name -> text of all scripts of a folder as C++:
#   cmake -D FOLDER=... -D OUTPUT=table.cpp -P embed_scripts.cmake
# Names only: no path of the machine gets into the program.
file(GLOB names RELATIVE ${FOLDER} ${FOLDER}/*.script)
list(SORT names)
list(LENGTH names count)
set(table "// Made of conformance/scripts/*.script when the program is built.\n"
          "#include <transport-replay/conformance/suite/builtin_scripts.hpp>\n\n"
          "#include <array>\n\n"
          "namespace qps::transport::conformance {\n\n"
          "namespace {\n\n"
          "constexpr std::array<BuiltinScript, ${count}> kScripts{{\n")
string(CONCAT table ${table})
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}" text)
  string(FIND "${text}" ")script\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${name} holds what ends a text of C++")
  endif()
  string(APPEND table "    {\"${name}\", R\"script(${text})script\"},\n")
endforeach()
string(APPEND table "}};\n\n}  // namespace\n\n"
                    "std::span<const BuiltinScript> builtin_scripts() { return kScripts; }\n\n"
                    "}  // namespace qps::transport::conformance\n")
file(WRITE "${OUTPUT}" "${table}")
