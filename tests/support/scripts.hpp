// The scripts of the repository, read.
#pragma once

#include <tests/support/catch.hpp>
#include <transport-replay/conformance/script/parser.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace qps::tests {

inline std::filesystem::path script_folder() {
    return std::string(QPSCOPE_SOURCE_DIR) + "/transport-replay/conformance/scripts";
}

inline std::expected<std::string, std::string> script_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::unexpected("there is no file " + path.filename().string());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// Of all that stand in the folder, without ".script".
inline std::vector<std::string> script_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(script_folder()))
        if (entry.path().extension() == ".script") names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

inline transport::conformance::script::Script script_of(const std::string& name, const std::string& text) {
    auto script = transport::conformance::script::parse_script(
        name, text,
        {.read = [](std::string_view included) { return script_text(script_folder() / std::string(included)); }});
    INFO((script ? std::string{} : explain(script.error())));
    REQUIRE(script);
    return std::move(*script);
}

inline transport::conformance::script::Script script_named(const std::string& name) {
    const auto text = script_text(script_folder() / (name + ".script"));
    REQUIRE(text);
    return script_of(name + ".script", *text);
}

}  // namespace qps::tests
