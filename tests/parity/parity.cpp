// Parity with tshark: the same values for every field that both know, in every packet of every sample capture and of
// captures built for the purpose.
//
//   parity QPSCOPE CAPTURES DIFFERENCES [CASE...]
//
// CAPTURES is the folder with catalogue.json, DIFFERENCES the list of excuses. With CASEs only those are compared, and
// stale excuses are no failure. Exit code 0: no difference without an excuse; 1: some, or a stale excuse; 77: no
// tshark.
#include <tests/cli/process.hpp>
#include <tests/parity/comparison.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using namespace qps::test;

constexpr int kSkipped = 77;

// The sample captures and those in `captures`, as far as they are wanted.
std::vector<Capture> captures_in(const std::string& folder, std::vector<Capture> captures,
                                 const std::vector<std::string>& wanted) {
    const auto catalogue = nlohmann::json::parse(read_text(folder + "/catalogue.json"));
    for (const auto& row : catalogue["captures"]) {
        const auto name = row["case"].get<std::string>();
        captures.push_back({name, fmt::format("{}/{}/{}", folder, name, row["file"].get<std::string>())});
    }
    if (!wanted.empty())
        std::erase_if(captures,
                      [&](const Capture& capture) { return std::ranges::find(wanted, capture.name) == wanted.end(); });
    return captures;
}

// Prints what has no excuse, and returns how many.
std::size_t report(const Tally& tally, Excuses& excuses) {
    std::size_t unexcused = 0;
    for (const auto& [place, difference] : tally.differences) {
        const auto& [field, capture, side] = place;
        if (excuses.excuse(field, capture, side)) continue;
        ++unexcused;
        print(field, capture, side, difference);
    }
    return unexcused;
}

int compare_all(const std::vector<std::string>& words) {
    const std::string& qpscope = words.at(0);
    const std::vector<std::string> wanted(words.begin() + 3, words.end());
    Excuses excuses = read_excuses(read_text(words.at(2)));
    const std::string version = must(run_tshark({"--version"}), "tshark --version");
    const std::string about = version.substr(0, version.find('\n'));
    const bool same_version = about.contains(" " + excuses.tshark + ".");

    Comparison comparison(qpscope);
    const TemporaryFolder folder;
    const auto captures = captures_in(words.at(1), write_specimens(folder.path()), wanted);
    for (const Capture& capture : captures) comparison.compare(capture);

    const Tally& tally = comparison.tally();
    const std::size_t unexcused = report(tally, excuses);
    std::size_t stale = 0;
    for (const std::string& sentence : excuses.problems) fmt::print("WRONG: {}\n", sentence);
    if (wanted.empty() && same_version)
        for (const std::string& sentence : excuses.stale()) {
            fmt::print("STALE: {}\n", sentence);
            ++stale;
        }
    fmt::print("{}\n", about);
    if (!same_version)
        fmt::print("the list of differences is about tshark {}: what it has too much is no failure here\n",
                   excuses.tshark);
    fmt::print(
        "{} captures, {} packets, {} fields with a value, {} values, {} payloads; {} differences without an excuse, {} stale excuses\n",
        captures.size(), tally.packets, tally.seen.size(), tally.values, tally.payloads, unexcused, stale);
    return unexcused + stale + excuses.problems.size() == 0 && tally.packets > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr int kWrongUse = 2;
    if (argc < 4) {
        std::fputs("parity QPSCOPE CAPTURES DIFFERENCES [CASE...]\n", stderr);
        return kWrongUse;
    }
    if (!is_installed("tshark")) {
        std::puts("SKIPPED: tshark is not installed, so nothing was compared with it (Debian package: tshark)");
        return kSkipped;
    }
    try {
        return compare_all({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print("FAILED: {}\n", error.what());
        return 1;
    }
}
