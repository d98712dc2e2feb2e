// The scripts that come with the program: conformance/scripts/*.script, as CMake found them when it was built.
//
// Their names are those of files, without a folder, in the order of the alphabet; what they include is among them. A
// test demands that all of them parse.
#pragma once

#include <transport-replay/conformance/script/parser.hpp>

namespace qps::transport::conformance {

struct BuiltinScript {
    std::string_view name;  // "rsp-05.script"
    std::string_view text;
};
[[nodiscard]] std::span<const BuiltinScript> builtin_scripts();

// "rsp-05.script", or "rsp-05". Nothing for a name that none has.
[[nodiscard]] const BuiltinScript* find_builtin_script(std::string_view name);

// All of them, in the order in which a device is asked: that of the catalogue, those that may bring it down last.
// `defined`: variables that have a value before the first line.
[[nodiscard]] std::expected<std::vector<script::Script>, script::ScriptError> parse_builtin_scripts(
    const std::vector<std::string>& defined = {});

}  // namespace qps::transport::conformance
