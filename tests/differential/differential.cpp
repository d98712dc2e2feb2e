// Random packets before tshark and qpscope: the same value of every field that both know.
//
// Captures of some thousand packets, one kind in each, are drawn, read by both and forgotten, so that memory does not grow with the run.
// What tests/parity excuses of a capture like it is excused here too; what only random packets show is in differences.txt.
#include <dissect/capture/writer.hpp>
#include <tests/differential/random_packets.hpp>
#include <tests/parity/comparison.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

namespace qps::test {

using namespace dissect;

namespace {

constexpr std::uint64_t kFixedSeed = 1;
constexpr std::size_t kUsually = 20'000;  // packets of every run of the tests
constexpr std::size_t kOfACapture = 4'000;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
    const std::string text = variable(name);
    return text.empty() ? otherwise : std::stoull(text);
}

std::vector<Kind> wanted_kinds() {
    std::vector<Kind> kinds;
    const std::string only = variable("QPSCOPE_DIFFERENTIAL_KIND");
    for (const auto some : {packet_kinds(), message_kinds()})
        for (const Kind& kind : some)
            if (only.empty() || only == kind.name) kinds.push_back(kind);
    return kinds;
}

Capture write_capture(const TemporaryFolder& folder, const Kind& kind, std::uint64_t seed, std::size_t count) {
    Dice dice(seed);
    Frames frames;
    while (frames.size() < count) kind.draw(dice, frames);
    Capture capture{std::string(kind.name), folder.file(fmt::format("{}-{}.pcap", kind.name, seed))};
    auto writer = CaptureWriter::open(capture.path, WriterFormat::pcap, kind.link);
    std::int64_t time = 1'700'000'000'000'000'000;
    for (const DrawnFrame& drawn : frames) {
        Frame frame;
        frame.link = kind.link;
        frame.bytes = drawn.bytes;
        frame.wire_length = static_cast<std::uint32_t>(drawn.bytes.size());
        frame.time = Instant{time += 1'000 + static_cast<std::int64_t>(below(dice, 1'000'000))};
        if (!writer || !writer->write(frame)) throw std::runtime_error("cannot write " + capture.path);
    }
    if (!writer || !writer->close()) throw std::runtime_error("cannot write " + capture.path);
    return capture;
}

// Both lists of excuses; of the list of parity's what it says of the capture that a kind is like.
class AllExcuses {
public:
    AllExcuses()
        : parity_(read_excuses(read_text(QPSCOPE_SOURCE_DIR "/tests/parity/differences.txt"))),
          own_(read_excuses(read_text(QPSCOPE_SOURCE_DIR "/tests/differential/differences.txt"))) {}

    [[nodiscard]] bool excuse(const std::string& field, const std::string& name, std::string_view alike, Side side) {
        return own_.excuse(field, name, side) || parity_.excuse(field, name, side) || (!alike.empty() && parity_.excuse(field, alike, side));
    }
    [[nodiscard]] const std::vector<std::string>& problems() const { return own_.problems; }
    [[nodiscard]] std::vector<std::string> stale() const { return own_.stale(); }

private:
    Excuses parity_, own_;
};

void keep(const std::string& path) {
    const std::string folder = variable("QPSCOPE_DIFFERENTIAL_KEEP");
    if (folder.empty() || path.empty()) return;
    std::filesystem::copy_file(path, std::filesystem::path(folder) / std::filesystem::path(path).filename(),
                               std::filesystem::copy_options::overwrite_existing);
}

// The captures of a run, kind by kind in shares of their weights.
class Run {
public:
    Run(std::size_t packets, std::uint64_t seed) : packets_(packets), seed_(seed) {}

    void play() {
        const auto kinds = wanted_kinds();
        std::size_t weights = 0;
        for (const Kind& kind : kinds) weights += kind.weight;
        for (const Kind& kind : kinds) {
            std::size_t left = packets_ * kind.weight / weights;
            for (std::uint64_t i = 0; left > 0; ++i) {
                const std::size_t some = std::min(left, kOfACapture);
                compare(kind, (seed_ << 32U) + i, some);
                left -= some;
            }
        }
    }
    void report(std::string_view what, double seconds) const {
        const Tally& tally = comparison_.tally();
        fmt::print("{}: {} packets, {} fields with a value, {} values, {} payloads, {:.1f} s; {} fields differ for a known reason, {} for none\n",
                   what, tally.packets, tally.seen.size(), tally.values, tally.payloads, seconds, tally.differences.size() - unexcused.size(),
                   unexcused.size());
        for (const auto& place : unexcused) print(std::get<0>(place), std::get<1>(place), std::get<2>(place), tally.differences.at(place));
        for (const std::string& line : excuses.problems()) fmt::print("WRONG: {}\n", line);
        if (std::getenv("QPSCOPE_DIFFERENTIAL_ALL") != nullptr)
            for (const auto& [place, difference] : tally.differences)
                print(std::get<0>(place), std::get<1>(place), std::get<2>(place), difference);
    }

    std::set<std::tuple<std::string, std::string, Side>> unexcused{};
    AllExcuses excuses{};

private:
    void compare(const Kind& kind, std::uint64_t seed, std::size_t count) {
        const TemporaryFolder folder;
        const Capture capture = write_capture(folder, kind, seed, count);
        comparison_.compare(capture);
        for (const auto& [place, difference] : comparison_.tally().differences) {
            const auto& [field, name, side] = place;
            if (difference.where != capture.path || excuses.excuse(field, name, kind.alike, side)) continue;
            unexcused.insert(place);
            keep(capture.path);
        }
    }

    std::size_t packets_;
    std::uint64_t seed_;
    Comparison comparison_{QPSCOPE_PROGRAM};
};

}  // namespace

TEST_CASE("random packets have the same values as tshark's") {
    if (!is_installed("tshark")) return fmt::print("SKIPPED: tshark is not installed, so nothing was compared with it (Debian package: tshark)\n");
    const std::size_t packets = number_of("QPSCOPE_DIFFERENTIAL", kUsually);
    std::vector<std::uint64_t> seeds{kFixedSeed};
    if (!variable("QPSCOPE_SEED").empty()) seeds.push_back(number_of("QPSCOPE_SEED", 0));
    for (const std::uint64_t seed : seeds) {
        const auto start = std::chrono::steady_clock::now();
        Run run(packets, seed);
        run.play();
        run.report(fmt::format("seed {}", seed), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        CHECK(run.unexcused.empty());
        CHECK(run.excuses.problems().empty());
    }
}

}  // namespace qps::test
