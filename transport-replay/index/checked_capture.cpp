#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/checks/passive/packet_facts.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/index/checked_capture.hpp>
#include <transport-replay/model/memory_amount.hpp>

namespace qps::transport {

using namespace dissect;
using namespace conformance;

namespace {

constexpr std::uint64_t kAskedEvery = 4096;  // packets; some milliseconds

class Checking {
public:
    Checking(const CaptureIndex& index, CaptureTraits traits, const UlpHints& hints, const MemoryBudget& memory)
        : index_(index), suite_(memory), analysis_(settings(std::move(traits), hints, memory)) {}

    void take(FrameIndex number) {
        const auto frame = index_.frame(number, buffer_);
        if (!frame) return void(++unreadable_);
        decode(*frame, packet_);
        observe(packet_, observation_ = {});
        observation_.file = static_cast<std::uint16_t>(index_.row(number).file());
        const PacketRecord record = analysis_.observe(observation_);
        if (record.icrc_not_judged) {
            packet_.icrc.status = CrcStatus::not_checkable;
            observation_.icrc = CrcStatus::not_checkable;
        }
        look_at(packet_, facts_);
        suite_.observe(observation_, facts_, record);
        for (const Ended& each : ended_) suite_.message(each.connection, each.requester, each.message);
        ended_.clear();
    }

    [[nodiscard]] Timeline finish(const Drops& drops) {
        Timeline timeline = analysis_.finish(drops);
        for (const Ended& each : ended_) suite_.message(each.connection, each.requester, each.message);
        return timeline;
    }
    [[nodiscard]] std::vector<CheckResult> results(const Timeline& timeline) { return suite_.finish(timeline); }
    [[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }

private:
    struct Ended {
        ConnectionId connection{};
        End requester{};
        Message message;
    };

    AnalysisSettings settings(CaptureTraits traits, const UlpHints& hints, const MemoryBudget& memory) {
        AnalysisSettings settings;
        settings.message = [this](ConnectionId connection, End requester, const Message& message) {
            ended_.push_back({connection, requester, message});
        };
        settings.hints = hints;
        settings.traits = std::move(traits);
        settings.memory = beside(memory, PassiveSuite::memory_of(memory));
        return settings;
    }

    const CaptureIndex& index_;
    PassiveSuite suite_;
    std::vector<Ended> ended_;  // with the packet that is looked at
    Analysis analysis_;
    FrameBuffer buffer_;
    Packet packet_;
    Observation observation_;
    PacketFacts facts_;
    std::uint64_t unreadable_ = 0;
};

}  // namespace

std::optional<CheckedCapture> check(const CaptureIndex& index, std::uint64_t packets, const Timeline& timeline, const UlpHints& hints,
                                    const MemoryBudget& memory, const ExtractWatch& watch) {
    CaptureTraits traits;
    // As on the command line: once, and once more where that showed that its findings need it.
    for (std::uint64_t reading = 0; reading < 2; ++reading) {
        Checking checking(index, traits, hints, memory);
        for (std::uint64_t at = 0; at < packets; ++at) {
            if (at % kAskedEvery == 0) {
                if (watch.stopped && watch.stopped()) return std::nullopt;
                if (watch.progressed) watch.progressed(at, packets);
            }
            checking.take(FrameIndex{at + 1});
        }
        Timeline again = checking.finish(timeline.quality.drops);
        if (reading == 0 && again.learned.any()) {
            traits = std::move(again.learned);
            continue;
        }
        return CheckedCapture{checking.results(again), packets, checking.unreadable()};
    }
    return std::nullopt;
}

}  // namespace qps::transport
