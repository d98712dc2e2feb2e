// What tells whether two hosts' packets were recorded twice where labels do not: the times that recordings are apart,
// identifications that count up, and answers that go back.
//
// What an attacker could feed: any packets. What is kept is of the sample, which is bounded.
#pragma once

#include <transport-replay/tracking/copy_sampler.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kFewestPairs = 4;          // below, only if no packet lacks its copy
inline constexpr std::size_t kFewestPerPart = 8;        // pairs that have a median of their own
inline constexpr std::size_t kFewestOneWay = 16;        // packets of a sender that counts them
inline constexpr std::size_t kFewestOneWayLater = 6;    // likewise, later than a network doubles any
inline constexpr std::size_t kFewestRegressed = 4;      // ACKs that came once more after later ones
inline constexpr std::size_t kFewestByTime = 32;        // packets that the time alone proves to be copies
inline constexpr std::size_t kFewestAnswersByTime = 8;  // of them: so many answers in a row do not get lost

struct TimedOffset {
    dissect::Instant time{};
    dissect::Duration offset{};
};

// Medians over parts of them.
[[nodiscard]] ClockOffset offset_of(std::vector<TimedOffset> pairs);

// What of two hosts was recorded twice, as far as the time tells.
struct Twice {
    std::uint64_t hosts = 0;
    std::size_t all = 0;         // packets
    std::size_t even = 0;        // of them: each recording has its copy
    std::size_t answers = 0;     // of these
    std::size_t identified = 0;  // of all: with an IP identification
    std::size_t regressed = 0;   // ACKs whose copy came after one of more messages
    std::set<std::uint16_t> identifications;
    struct Way {
        std::size_t all = 0, even = 0;
        std::size_t pairs = 0, alone = 0;  // recordings
        std::size_t chained = 0;           // copies that have a copy themselves
        // So much of what was recorded has its copy, in percent.
        [[nodiscard]] std::size_t paired() const { return pairs == 0 ? 0 : 100 * 2 * pairs / (2 * pairs + alone); }
    };
    std::map<std::uint64_t, Way> ways;
    ClockOffset offset;
    std::vector<TimedOffset> pairs;
    std::uint64_t reach = 0;
    std::optional<dissect::Instant> begin;
    dissect::Instant end{};

    void see(const SampledPacket& packet, const std::vector<SampledPacket::Recording>& recordings) {
        begin = std::min(begin.value_or(recordings.front().time), recordings.front().time);
        end = std::max(end, recordings.front().time);
        if (packet.ip_id == 0) return;
        ++identified;
        identifications.insert(packet.ip_id);
    }
    [[nodiscard]] std::size_t even_ways() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(ways, [](const auto& way) { return way.second.even != 0; }));
    }
    // What the one host sent reached both taps, and what the other one did was lost between them. No network doubles
    // all of it later by more than queues take.
    [[nodiscard]] bool one_way() const {
        const bool slow = is_beyond_queues();
        return std::ranges::any_of(ways, [&](const auto& way) {
            return way.second.even >= (slow ? kFewestOneWayLater : kFewestOneWay) &&
                   100 * way.second.even >= (slow ? 90 : 95) * way.second.all;
        });
    }
    [[nodiscard]] bool is_beyond_queues() const {
        return magnitude(offset.middle()) >= kLeastTolerance + kLeastTolerance;
    }
    // A responder counts messages up: what it said of fewer, after it had said more, another tap recorded.
    [[nodiscard]] bool goes_back() const {
        constexpr std::size_t kMost = 50;  // percent
        return is_beyond_queues() && regressed >= kFewestRegressed &&
               std::ranges::all_of(ways, [](const auto& way) { return way.second.paired() >= kMost; });
    }
    // Whether that sender sent packets again and again after this time, of which the other one is a multiple.
    [[nodiscard]] bool is_timer_of(std::uint64_t way, dissect::Duration time) const {
        constexpr std::int64_t kMostRounds = 8;
        const std::int64_t interval = std::to_underlying(magnitude(offset.middle())),
                           rest = std::to_underlying(magnitude(time)) % std::max<std::int64_t>(interval, 1);
        const auto found = ways.find(way);
        return is_beyond_queues() && found != ways.end() && found->second.chained != 0 &&
               std::to_underlying(magnitude(time)) / kMostRounds <= interval &&
               std::min(rest, interval - rest) <= kMostRounds * std::to_underlying(offset.tolerance);
    }
    // The way that came twice while the other one did not: lost between two taps, or its sender sent everything again.
    [[nodiscard]] std::uint64_t doubtful_way() const {
        constexpr std::size_t kLeast = 80, kMost = 20;  // percent
        std::uint64_t doubled = 0;
        std::size_t others = 0;
        for (const auto& [name, way] : ways) {
            if (way.paired() >= kLeast && way.pairs >= kFewestPairs) doubled = name;
            else if (way.paired() <= kMost) ++others;
        }
        return is_beyond_queues() && ways.size() == 2 && others == 1 ? doubled : 0;
    }
    [[nodiscard]] dissect::Duration length() const { return begin ? end - *begin : dissect::Duration{}; }
    // TCP begins with 0, and a counter passes it.
    [[nodiscard]] bool counts() const {
        return (10 * identified >= 9 * all || identified + ways.size() >= all) && identifications.size() > 1;
    }
};

}  // namespace qps::transport
