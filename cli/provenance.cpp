#include "provenance.hpp"

#include <dissect/render_value.hpp>
#include <packaging/version/version.hpp>

#include <span>
#include <string_view>

#include <fmt/format.h>
#include <sys/utsname.h>

namespace qps::cli {

using transport::conformance::ReportFact;

namespace {

// "Linux 6.1.0-50-amd64 x86_64 (tester-3)"
std::string system_text() {
    utsname system{};
    if (uname(&system) != 0) return "unknown";
    return fmt::format("{} {} {} ({})", system.sysname, system.release, system.machine, system.nodename);
}

std::string quoted(std::string_view word) {
    constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,@%+-";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
    std::string out = "'";
    for (const char each : word) out += each == '\'' ? "'\\''" : std::string(1, each);
    return out + "'";
}

}  // namespace

std::string command_line_of(int argc, char** argv) {
    std::string line = "qpscope";
    for (const char* word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) line += ' ' + quoted(word);
    return line;
}

std::vector<ReportFact> provenance(const Options& options, dissect::Instant made) {
    std::vector<ReportFact> facts;
    facts.push_back({"made", dissect::utc(made)});
    facts.push_back({"program", fmt::format("qpscope {}", version_text())});
    facts.push_back({"command", options.command_line});
    facts.push_back({"tester", system_text()});
    if (!options.live.interface.empty()) facts.push_back({"interface", options.live.interface});
    facts.push_back({"seed", options.live.seed ? fmt::format("{}", *options.live.seed) : "none given: identifiers are random"});
    return facts;
}

}  // namespace qps::cli
