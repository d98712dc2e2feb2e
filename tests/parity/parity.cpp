// Parity with tshark: the same values for every field that both know, in every packet of every sample capture and of
// captures built for the purpose.
//
//   parity QPSCOPE CAPTURES DIFFERENCES [CASE...]
//
// CAPTURES is the folder with catalogue.json, DIFFERENCES the list of excuses. With CASEs only those are compared, and stale
// excuses are no failure. Exit code 0: no difference without an excuse; 1: some, or a stale excuse; 77: no tshark.
#include <tests/cli/process.hpp>
#include <tests/parity/excuses.hpp>
#include <tests/parity/field_names.hpp>
#include <tests/parity/specimens.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using namespace qps::test;

constexpr int kSkipped = 77;

// Where a field differs in a capture: how often, and the first place.
struct Difference {
    std::size_t packets = 0;
    std::size_t frame = 0;
    std::string theirs;
    std::string ours;
};

struct Tally {
    std::size_t packets = 0;
    std::size_t values = 0;
    std::size_t payloads = 0;
    std::set<std::string> seen;                                                    // fields with a value
    std::map<std::tuple<std::string, std::string, Side>, Difference> differences;  // by field, capture, side
};

std::string read_text(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A user's preferences for tshark must not count.
Ending run_tshark(std::vector<std::string> words) {
    words.insert(words.begin(), "tshark");
    return run(words, {.environment = {"HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent", "LC_ALL=C.UTF-8", "TZ=UTC"}});
}

std::string must(const Ending& ending, std::string_view what) {
    if (ending.code != 0) throw std::runtime_error(fmt::format("{} ended with code {}: {}", what, ending.code, ending.err));
    return ending.out;
}

std::vector<std::string_view> rows_of(std::string_view text) {
    auto rows = split(text, '\n');
    rows.pop_back();
    return rows;
}

std::string shortened(std::string_view text) {
    constexpr std::size_t kMost = 60;
    return text.size() <= kMost ? std::string(text) : fmt::format("{}... ({} characters)", text.substr(0, kMost), text.size());
}

class Comparison {
public:
    Comparison(std::string qpscope, std::vector<SharedField> fields) : qpscope_(std::move(qpscope)), fields_(std::move(fields)) {
        for (std::size_t i = 0; i < fields_.size(); ++i) index_[fields_[i].name] = i;
    }

    void compare(const Capture& capture) {
        auto theirs = std::async(std::launch::async, [&] { return run_tshark(their_words(capture)); });
        const std::string our_text = must(run(our_words(capture)), "qpscope");
        const Ending their_ending = theirs.get();
        if (their_ending.code != 0) {
            tally_.differences[{"-", capture.name, Side::unreadable}].theirs = their_ending.err;
            return;
        }
        const std::string& their_text = their_ending.out;
        const auto our_rows = rows_of(our_text);
        const auto their_rows = rows_of(their_text);
        if (our_rows.size() != their_rows.size() + 1)  // ours have a heading
            throw std::runtime_error(
                fmt::format("{}: {} packets of ours, {} of theirs", capture.name, our_rows.size() - 1, their_rows.size()));
        for (std::size_t i = 0; i < their_rows.size(); ++i)
            compare_packet(capture, i + 1, split(our_rows[i + 1], '\t'), split(their_rows[i], '\t'));
    }

    [[nodiscard]] const Tally& tally() const { return tally_; }

private:
    // tshark has one column more: which protocols it saw.
    std::vector<std::string> their_words(const Capture& capture) const {
        std::vector<std::string> words{"-r", capture.path, "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,"};
        for (const SharedField& field : fields_) words.insert(words.end(), {"-e", field.name});
        words.insert(words.end(), {"-e", "frame.protocols"});
        return words;
    }
    std::vector<std::string> our_words(const Capture& capture) const {
        std::vector<std::string> words{qpscope_, "packets", "-f", "tsv"};
        for (const SharedField& field : fields_) words.insert(words.end(), {"-e", field.name});
        words.push_back(capture.path);
        return words;
    }

    void note(const Capture& capture, std::size_t frame, const std::string& field, std::string_view ours, std::string_view theirs) {
        const Side side = theirs.empty() ? Side::ours : ours.empty() ? Side::theirs : Side::both;
        Difference& difference = tally_.differences[{field, capture.name, side}];
        if (difference.packets++ == 0) {
            difference.frame = frame;
            difference.ours = ours;
            difference.theirs = theirs;
        }
    }

    void compare_packet(const Capture& capture, std::size_t frame, const std::vector<std::string_view>& ours,
                        const std::vector<std::string_view>& theirs) {
        if (ours.size() != fields_.size() || theirs.size() != fields_.size() + 1)
            throw std::runtime_error(fmt::format("{}: frame {} has not one cell for each field", capture.name, frame));
        ++tally_.packets;
        for (std::size_t i = 0; i < fields_.size(); ++i) {
            if (ours[i].empty() && theirs[i].empty()) continue;
            ++tally_.values;
            tally_.seen.insert(fields_[i].name);
            if (canonical_values(fields_[i], Writer::qpscope, ours[i]) != canonical_values(fields_[i], Writer::tshark, theirs[i]))
                note(capture, frame, fields_[i].name, ours[i], theirs[i]);
        }
        compare_payload(capture, frame, ours, theirs);
    }

    // Where no dissector of theirs took the payload, they call it data, and leave the pad in it.
    void compare_payload(const Capture& capture, std::size_t frame, const std::vector<std::string_view>& ours,
                         const std::vector<std::string_view>& theirs) {
        const std::string_view pad_count = ours[index_.at("infiniband.bth.padcnt")];
        if (!theirs.back().ends_with(":infiniband:data") || pad_count.empty()) return;
        ++tally_.payloads;
        constexpr std::size_t kDigits = 2;
        const std::string_view padded = theirs[index_.at("data.data")];
        const std::string_view payload = ours[index_.at("infiniband.payload")];
        const auto pad = static_cast<std::size_t>(pad_count.front() - '0');
        if (!padded.starts_with(payload) || padded.size() != payload.size() + kDigits * pad)
            note(capture, frame, "infiniband.payload", payload, padded);
    }

    std::string qpscope_;
    std::vector<SharedField> fields_;
    std::map<std::string, std::size_t> index_;
    Tally tally_;
};

// The sample captures and those in `captures`, as far as they are wanted.
std::vector<Capture> captures_in(const std::string& folder, std::vector<Capture> captures, const std::vector<std::string>& wanted) {
    const auto catalogue = nlohmann::json::parse(read_text(folder + "/catalogue.json"));
    for (const auto& row : catalogue["captures"]) {
        const auto name = row["case"].get<std::string>();
        captures.push_back({name, fmt::format("{}/{}/{}", folder, name, row["file"].get<std::string>())});
    }
    if (!wanted.empty())
        std::erase_if(captures, [&](const Capture& capture) { return std::ranges::find(wanted, capture.name) == wanted.end(); });
    return captures;
}

// Prints what has no excuse, and returns how many.
std::size_t report(const Tally& tally, Excuses& excuses) {
    std::size_t unexcused = 0;
    for (const auto& [place, difference] : tally.differences) {
        const auto& [field, capture, side] = place;
        if (excuses.excuse(field, capture, side)) continue;
        ++unexcused;
        fmt::print("DIFFERENT ({}): {} in {}, {} packets, first in frame {}\n    tshark  {}\n    qpscope {}\n", name(side), field, capture,
                   difference.packets, difference.frame, shortened(difference.theirs), shortened(difference.ours));
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

    Comparison comparison(qpscope, shared_fields(must(run({qpscope, "fields", "-f", "tsv"}), "qpscope fields"),
                                                 must(run_tshark({"-G", "fields"}), "tshark -G fields")));
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
    if (!same_version) fmt::print("the list of differences is about tshark {}: what it has too much is no failure here\n", excuses.tshark);
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
