// Captures before tshark and qpscope, and what nothing excuses.
#include <tests/differential/verdicts.hpp>

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

namespace qps::test {

namespace {

void keep(const std::string& path) {
    const std::string folder = variable("QPSCOPE_DIFFERENTIAL_KEEP");
    if (folder.empty() || path.empty()) return;
    std::filesystem::copy_file(path, std::filesystem::path(folder) / std::filesystem::path(path).filename(),
                               std::filesystem::copy_options::overwrite_existing);
}

}  // namespace

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

void Verdicts::compare(const Capture& capture, std::string_view alike) {
    comparison_.compare(capture);
    for (const auto& [place, difference] : comparison_.tally().differences) {
        const auto& [field, name, side] = place;
        if (difference.where != capture.path || excuses_.excuse(field, name, alike, side)) continue;
        unexcused_.insert(place);
        keep(capture.path);
    }
}

void Verdicts::report(std::string_view what) const {
    const Tally& tally = comparison_.tally();
    fmt::print(
        "{}: {} packets, {} fields with a value, {} values, {} payloads; {} fields differ for a known reason, {} for none\n",
        what, tally.packets, tally.seen.size(), tally.values, tally.payloads,
        tally.differences.size() - unexcused_.size(), unexcused_.size());
    for (const auto& place : unexcused_)
        print(std::get<0>(place), std::get<1>(place), std::get<2>(place), tally.differences.at(place));
    for (const std::string& line : excuses_.problems()) fmt::print("WRONG: {}\n", line);
}

}  // namespace qps::test
