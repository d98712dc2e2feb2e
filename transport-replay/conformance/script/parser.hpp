// Text -> Script: line by line, with what it includes.
//
//   const auto script = parse_script("rsp-05.script", text, {.read = [&](std::string_view name) { return
//   read_beside(name); }}); if (!script) print(explain(script.error()));
//
// Nothing of a device is needed: a script that parses has known words, set variables and closed blocks. Any text is
// normal input; what is wrong is one error with its place, and the bounds of script.hpp hold.
#pragma once

#include <transport-replay/conformance/script/script.hpp>
#include <transport-replay/conformance/script/script_error.hpp>

#include <functional>
#include <span>

namespace qps::transport::conformance::script {

// The text of an included file by the name it was written with; else a sentence. None: nothing can be included.
using ReadFile = std::function<std::expected<std::string, std::string>(std::string_view name)>;

struct ParseOptions {
    std::vector<std::string> defined{};  // variables that have a value before the first line
    ReadFile read{};
};

[[nodiscard]] std::expected<Script, ScriptError> parse_script(std::string_view name, std::string_view text,
                                                              const ParseOptions& options = {});

// A variable that every script has.
struct GivenName {
    std::string_view name;
    std::string_view meaning;
};
[[nodiscard]] std::span<const GivenName> given_names();

// The words a line may begin with, with what they are for: the documentation's table.
struct Keyword {
    std::string_view word;
    std::string_view meaning;
};
[[nodiscard]] std::vector<Keyword> keywords();

}  // namespace qps::transport::conformance::script
