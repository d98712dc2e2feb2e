// Random packets before tshark and qpscope: the same value of every field that both know.
//
// Captures of some thousand packets, one kind in each, are drawn, read by both and forgotten, so that memory does not
// grow with the run. What tests/parity excuses of a capture like it is excused here too; what only random packets show
// is in differences.txt.
#include <dissect/capture/writer.hpp>
#include <tests/differential/random_packets.hpp>
#include <tests/differential/verdicts.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>
#include <tests/support/temporary_file.hpp>

#include <stdexcept>

#include <fmt/format.h>

namespace qps::test {

using namespace dissect;

namespace {

constexpr std::uint64_t kFixedSeed = 1;
constexpr std::size_t kUsually = 20'000;             // packets of every run of the tests
constexpr std::size_t kEveryDifference = 1'000'000;  // packets that show every difference of the list
constexpr std::size_t kOfACapture = 4'000;

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

// The captures of a run, kind by kind in shares of their weights.
void play(std::size_t packets, std::uint64_t seed, Verdicts& verdicts) {
    const auto kinds = wanted_kinds();
    std::size_t weights = 0;
    for (const Kind& kind : kinds) weights += kind.weight;
    for (const Kind& kind : kinds) {
        std::size_t left = packets * kind.weight / weights;
        for (std::uint64_t i = 0; left > 0; ++i) {
            const TemporaryFolder folder;
            const std::size_t some = std::min(left, kOfACapture);
            verdicts.compare(write_capture(folder, kind, (seed << 32U) + i, some), kind.alike);
            left -= some;
        }
    }
}

}  // namespace

TEST_CASE("random packets have the same values as tshark's") {
    if (!is_installed("tshark"))
        return fmt::print(
            "SKIPPED: tshark is not installed, so nothing was compared with it (Debian package: tshark)\n");
    const std::size_t packets = number_of("QPSCOPE_DIFFERENTIAL", tests::share(kUsually));
    std::vector<std::uint64_t> seeds{kFixedSeed};
    if (!variable("QPSCOPE_SEED").empty()) seeds.push_back(number_of("QPSCOPE_SEED", 0));
    for (const std::uint64_t seed : seeds) {
        Verdicts verdicts;
        play(packets, seed, verdicts);
        verdicts.report(fmt::format("seed {}", seed));
        CHECK(verdicts.good());
        if (packets < kEveryDifference || !variable("QPSCOPE_DIFFERENTIAL_KIND").empty()) continue;
        for (const std::string& sentence : verdicts.stale()) FAIL_CHECK(sentence);
    }
}

}  // namespace qps::test
