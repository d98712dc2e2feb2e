// The texts of the scripts become scripts, in the order of play.
#include <transport-replay/checks/catalogue.hpp>
#include <transport-replay/conformance/suite/builtin_scripts.hpp>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace qps::transport::conformance {

namespace {

// Of its first check; a script of none is last.
std::size_t place_of(const script::Script& script) {
    const CheckRow* check = script.checks.empty() ? nullptr : find_check(script.checks.front());
    return check == nullptr ? std::numeric_limits<std::size_t>::max() : place(*check);
}

bool is_dangerous(const script::Script& script) {
    return script.dangerous || std::ranges::any_of(script.checks, [](const std::string& id) {
               const CheckRow* check = find_check(id);
               return check != nullptr && check->dangerous;
           });
}

std::expected<std::string, std::string> read_builtin(std::string_view name) {
    const BuiltinScript* found = find_builtin_script(name);
    if (found == nullptr) return std::unexpected(fmt::format("no such script {}", name));
    return std::string(found->text);
}

}  // namespace

const BuiltinScript* find_builtin_script(std::string_view name) {
    constexpr std::string_view kEnding = ".script";
    if (name.ends_with(kEnding)) name.remove_suffix(kEnding.size());
    for (const BuiltinScript& each : builtin_scripts())
        if (each.name.substr(0, each.name.size() - kEnding.size()) == name) return &each;
    return nullptr;
}

std::expected<std::vector<script::Script>, script::ScriptError> parse_builtin_scripts(
    const std::vector<std::string>& defined) {
    std::vector<script::Script> scripts;
    for (const BuiltinScript& each : builtin_scripts()) {
        auto script = script::parse_script(each.name, each.text, {.defined = defined, .read = read_builtin});
        if (!script) return std::unexpected(std::move(script).error());
        scripts.push_back(std::move(*script));
    }
    std::ranges::stable_sort(scripts, {},
                             [](const script::Script& each) { return std::pair(is_dangerous(each), place_of(each)); });
    return scripts;
}

}  // namespace qps::transport::conformance
