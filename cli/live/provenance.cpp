#include <cli/live/options/wire_options.hpp>
#include <cli/live/provenance.hpp>
#include <cli/options/command_line.hpp>
#include <dissect/packet/render_value.hpp>

#include <fmt/format.h>
#include <packaging/version/version.hpp>
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

}  // namespace

std::vector<ReportFact> provenance(std::span<const std::string> command_line, const WireOptions& wire,
                                   dissect::Instant made) {
    std::vector<ReportFact> facts;
    facts.push_back({"made", dissect::utc(made)});
    facts.push_back({"program", fmt::format("qpscope {}", version_text())});
    facts.push_back({"command", command_text(command_line)});
    facts.push_back({"tester", system_text()});
    if (!wire.interface.empty()) facts.push_back({"interface", wire.interface});
    facts.push_back({"seed", wire.seed ? fmt::format("{}", *wire.seed) : "none given: identifiers are random"});
    return facts;
}

}  // namespace qps::cli
