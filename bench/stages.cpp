// What each stage of the analysis costs, in one thread:  bench_stages FILE [ROUNDS]
//
// Prints the least nanoseconds a packet over the rounds: decoding, decoding again from warm caches, that with
// observations made, and each tracker alone over the same observations, a batch at a time. For files that
// bench_generate wrote.
#include <dissect/base/packet.hpp>
#include <dissect/capture/capture_file.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/cm/cm_ladder.hpp>
#include <transport-replay/tracking/quality.hpp>
#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/watch/congestion.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace qps;

enum Stage : std::uint8_t { read, decode, decode_again, observe, quality, congestion, cm, tracker, analysis, stages };
constexpr std::array<std::string_view, stages> kNames{
    "read", "decode", "decode_again", "decode_observe", "quality", "congestion", "cm", "tracker", "analysis"};

constexpr std::size_t kAhead = 8;  // packets

class Watch {
public:
    // Adds the time since the last call to that stage.
    void lap(Stage stage) {
        const auto now = std::chrono::steady_clock::now();
        spent_[stage] += std::chrono::duration<double, std::nano>(now - last_).count();
        last_ = now;
    }
    [[nodiscard]] const std::array<double, stages>& spent() const { return spent_; }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
    std::array<double, stages> spent_{};
};

struct Round {
    std::array<double, stages> nanoseconds{};  // a packet
    std::uint64_t packets = 0;
    std::uint64_t check = 0;  // of what was found, so that nothing can be left out
};

struct Trackers {
    transport::QualityTracker quality;
    transport::CongestionTracker congestion;
    transport::CmTracker cm;
    transport::Tracker tracker{{}};
    transport::Analysis analysis;
};

std::optional<Round> measure(const char* path) {
    auto capture = dissect::CaptureFile::open(path);
    if (!capture) return {};
    Trackers trackers;
    Round round;
    Watch watch;
    dissect::Batch batch;
    dissect::Packet packet;
    std::vector<transport::Observation> seen;
    while (capture->read(batch)) {
        const std::size_t count = batch.frames.size();
        seen.resize(std::max(seen.size(), count));
        const auto ahead = [&](std::size_t i) -> const transport::Observation& {
            return seen[std::min(i + kAhead, count - 1)];
        };
        watch.lap(read);
        for (const Stage stage : {decode, decode_again}) {
            for (const dissect::Frame& frame : batch.frames) {
                dissect::decode(frame, packet);
                round.check += packet.layer_count;
            }
            watch.lap(stage);
        }
        for (std::size_t i = 0; i < count; ++i) {
            dissect::decode(batch.frames[i], packet);
            transport::observe(packet, seen[i]);
        }
        watch.lap(observe);
        for (std::size_t i = 0; i < count; ++i) {
            trackers.quality.prefetch(ahead(i));
            round.check += trackers.quality.observe(seen[i]) != transport::Repetition::none ? 1U : 0U;
        }
        watch.lap(quality);
        for (std::size_t i = 0; i < count; ++i) {
            trackers.congestion.prefetch_index(ahead(i + kAhead));
            trackers.congestion.prefetch(ahead(i));
            trackers.congestion.observe(seen[i]);
        }
        watch.lap(congestion);
        for (std::size_t i = 0; i < count; ++i) static_cast<void>(trackers.cm.observe(seen[i]));
        watch.lap(cm);
        for (std::size_t i = 0; i < count; ++i) {
            transport::PacketRecord record;
            trackers.tracker.observe(seen[i], transport::Repetition::none, {}, record);
            round.check += record.retransmission ? 1U : 0U;
        }
        watch.lap(tracker);
        for (std::size_t i = 0; i < count; ++i)
            round.check += trackers.analysis.observe(seen[i]).retransmission ? 1U : 0U;
        watch.lap(analysis);
        round.packets += count;
    }
    for (std::size_t i = 0; i < stages; ++i)
        round.nanoseconds[i] = watch.spent()[i] / static_cast<double>(std::max<std::uint64_t>(1, round.packets));
    return round;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    std::size_t rounds = 1;
    if (argc == 3) {
        const std::string_view text = arguments[2];
        std::from_chars(text.begin(), text.end(), rounds);
    }
    if (argc < 2 || argc > 3 || rounds == 0) {
        fmt::print(stderr, "usage: bench_stages FILE [ROUNDS]\n");
        return 2;
    }
    std::array<double, stages> least{};
    least.fill(std::numeric_limits<double>::max());
    Round last;
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto round = measure(arguments[1]);
        if (!round) {
            fmt::print(stderr, "bench_stages: cannot read {}\n", arguments[1]);
            return 1;
        }
        last = *round;
        for (std::size_t stage = 0; stage < stages; ++stage)
            least[stage] = std::min(least[stage], last.nanoseconds[stage]);
    }
    fmt::print("packets={}", last.packets);
    for (std::size_t stage = 0; stage < stages; ++stage) fmt::print(" {}={:.1f}", kNames[stage], least[stage]);
    fmt::print(" check={}\n", last.check);
    return 0;
}
