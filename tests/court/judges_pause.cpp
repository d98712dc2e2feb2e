// Judges of pause frames (IEEE 802.3 31B, 802.1Q 36): who asked whom to stop, for how long, and what came all the same.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::int64_t kQuantum = 512;        // bits
constexpr std::int64_t kFastest = 1600;       // Gbit/s
constexpr std::int64_t kReaction = 100'000;   // ns that a link partner has
constexpr std::int64_t kStorm = 100'000'000;  // ns
constexpr std::size_t kMac = 6;

// A frame of the sender that says something of the priority, or of the whole link.
struct Ask {
    std::size_t frame = 0;
    std::int64_t time = 0;
    std::uint32_t quanta = 0;
};
struct Pause {
    std::size_t frame = 0;
    std::int64_t start = 0, end = 0;
    bool known = true;    // its end
    bool bounded = true;  // each of its frames says until when
};

std::string mac_text(const Octets& frame, std::size_t at) {
    std::string text;
    for (std::size_t i = 0; i < kMac; ++i) text += fmt::format("{}{:02x}", i == 0 ? "" : ":", frame[at + i]);
    return text;
}

// What a finding is about: a sender, and a priority or nothing for the link.
struct Subject {
    std::string sender;
    std::optional<std::uint32_t> priority;
};

std::vector<Ask> asks_of(const Recording& recording, const Subject& subject) {
    constexpr std::uint32_t kControl = 0x8808, kPause = 1, kPriorities = 0x101;
    std::vector<Ask> asks;
    for (std::size_t i = 0; i < recording.records.size(); ++i) {
        const Octets& bytes = recording.records[i].bytes;
        if (bytes.size() < 36 || number_at(bytes, 12, 2) != kControl || mac_text(bytes, kMac) != subject.sender)
            continue;
        const std::uint32_t kind = number_at(bytes, 14, 2);
        if (kind == kPause && !subject.priority)
            asks.push_back({i + 1, recording.records[i].time, number_at(bytes, 16, 2)});
        if (kind == kPriorities && subject.priority && (number_at(bytes, 16, 2) >> *subject.priority & 1U) != 0)
            asks.push_back(
                {i + 1, recording.records[i].time, number_at(bytes, 18 + 2 * std::size_t{*subject.priority}, 2)});
    }
    return asks;
}

// Times of packets to the sender that it may have stopped: of the priority, or of any where the link has no tags.
std::vector<std::int64_t> traffic_to(const Recording& recording, const Subject& subject) {
    std::vector<std::int64_t> times;
    for (const Record& record : recording.records) {
        if (record.bytes.size() < 16 || mac_text(record.bytes, 0) != subject.sender) continue;
        const bool tagged = number_at(record.bytes, 12, 2) == 0x8100;
        if (!subject.priority || !tagged || record.bytes[14] >> 5U == *subject.priority) times.push_back(record.time);
    }
    return times;
}

// From the first frame that stops to that which lets go, or until the time of the last is over. At a speed that is
// assumed, no longer than until the first packet to the sender; and it is known only if each frame came before the one
// before it was over at the fastest.
std::vector<Pause> pauses_of(const Recording& recording, const std::vector<Ask>& asks, const Subject& subject) {
    std::vector<Pause> out;
    const std::int64_t last = recording.records.back().time;
    const bool told = recording.gigabits != 0;
    const std::int64_t speed = told ? recording.gigabits : 1, fastest = told ? speed : kFastest;
    const std::vector<std::int64_t> traffic = traffic_to(recording, subject);
    for (std::size_t i = 0; i < asks.size(); ++i) {
        if (asks[i].quanta == 0) continue;
        Pause pause{.frame = asks[i].frame, .start = asks[i].time, .bounded = told};
        for (;; ++i) {
            const std::int64_t over = asks[i].time + asks[i].quanta * kQuantum / speed;
            const auto first = std::ranges::upper_bound(traffic, asks[i].time);
            const std::int64_t until = told || first == traffic.end() ? over : std::min(over, *first);
            const bool more = i + 1 < asks.size() && asks[i + 1].time <= until;
            pause.known &= told || (more && asks[i + 1].time - asks[i].time <= asks[i].quanta * kQuantum / fastest);
            if (more && asks[i + 1].quanta != 0) continue;
            pause.end = more ? asks[i + 1].time : std::min(until, last);
            break;
        }
        out.push_back(pause);
    }
    return out;
}

// Packets to the sender, of the priority, from its first frame on; `late` of them in a pause whose end is known by its
// frames.
struct Traffic {
    std::uint64_t all = 0, late = 0;
};
Traffic traffic_of(const Recording& recording, const Subject& subject, const std::vector<Ask>& asks,
                   const std::vector<Pause>& pauses) {
    Traffic traffic;
    for (std::size_t i = asks.front().frame; i < recording.records.size(); ++i) {
        const Record& record = recording.records[i];
        if (record.bytes.size() < 16 || mac_text(record.bytes, 0) != subject.sender) continue;
        const bool tagged = number_at(record.bytes, 12, 2) == 0x8100;
        if (subject.priority && (!tagged || record.bytes[14] >> 5U != *subject.priority)) continue;
        ++traffic.all;
        const auto in = [&](const Pause& pause) {
            return pause.bounded && record.time > pause.start + kReaction && record.time <= pause.end;
        };
        traffic.late += std::ranges::any_of(pauses, in) ? 1U : 0U;
    }
    return traffic;
}

void whether_traffic_stopped(Hearing& hearing, const Subject& subject, const std::vector<Ask>& asks,
                             const std::vector<Pause>& pauses) {
    const Traffic traffic = traffic_of(hearing.recording(), subject, asks, pauses);
    const bool long_enough = std::ranges::any_of(
        pauses, [](const Pause& pause) { return pause.bounded && pause.end - pause.start > kReaction; });
    const std::string said = hearing.word("paused_traffic").value_or("");
    if (said == "went_on") {
        hearing.equal_fact("late_packets", static_cast<double>(traffic.late));
        return hearing.equal_fact("reaction_time_ns", kReaction);
    }
    hearing.expect(traffic.late == 0, "packets came all the same");
    if (said == "silent") {
        const std::vector<std::int64_t> times = traffic_to(hearing.recording(), subject);
        const auto longest =
            std::ranges::max_element(pauses, {}, [](const Pause& pause) { return pause.end - pause.start; });
        const auto behind = std::ranges::upper_bound(times, longest->start);
        if (behind == times.begin() || behind == times.end())
            return hearing.object("there is no traffic before and behind it");
        return hearing.equal_fact("traffic_silence_ns", static_cast<double>(*behind - *std::prev(behind)));
    }
    if (said == "none") return hearing.equal("packets to it", 0, traffic.all);
    if (said == "stopped") return hearing.expect(long_enough, "no pause was long enough to tell");
    if (said == "speed_unknown") return hearing.expect(hearing.recording().gigabits == 0, "the speed is known");
    hearing.expect(said == "too_short", "does not say whether traffic stopped");
    hearing.expect(!long_enough, "a pause was longer");
}

void lengths(Hearing& hearing, const std::vector<Pause>& pauses) {
    std::int64_t all = 0, longest = 0;
    std::uint64_t unknown = 0;
    for (const Pause& pause : pauses) {
        const std::int64_t length = pause.end - pause.start;
        all += length, longest = std::max(longest, length);
        unknown += pause.known ? 0U : 1U;
    }
    const auto& records = hearing.recording().records;
    const std::int64_t whole = records.back().time - records.front().time;
    const auto speed = hearing.number("assumed_speed");
    if (speed) hearing.expect(*speed == 1e9 || hearing.flag("speed_shown"), "assumes a speed, and does not say why");
    if (hearing.claim().id.ends_with("storm")) {
        hearing.equal_fact("longest_pause_ns", static_cast<double>(longest));
        const bool told = hearing.recording().gigabits != 0;
        hearing.expect(speed.has_value() == !told, "the speed is known, or it is not and nobody says so");
        hearing.expect((hearing.claim().severity == Severity::error) == told,
                       "an error at a speed that is not known, or none at one that is");
        const auto storms =
            std::ranges::count_if(pauses, [](const Pause& pause) { return pause.end - pause.start >= kStorm; });
        hearing.equal_fact("storms", static_cast<double>(storms));
        return hearing.equal_fact("storm_length_ns", kStorm);
    }
    hearing.equal_fact("pauses", static_cast<double>(pauses.size()));
    hearing.equal("pauses without a known end",
                  static_cast<std::uint64_t>(hearing.number("unknown_lengths").value_or(0)), unknown);
    if (!hearing.number("paused_ns")) return hearing.equal("pauses without end", unknown, pauses.size());
    hearing.equal_fact("paused_ns", static_cast<double>(all));
    hearing.near_fact("paused_share", static_cast<double>(all) / static_cast<double>(whole));
    hearing.equal_fact("longest_pause_ns", static_cast<double>(longest));
    hearing.expect(speed.has_value() == (unknown != 0),
                   "a speed is assumed without need, or the lengths are not known and nobody says so");
}

void paused(Hearing& hearing) {
    const auto sender = hearing.word("pauser");
    if (!sender) return hearing.object("does not say who asked for a pause");
    const auto priority = hearing.number("paused_priority");
    const Subject subject{*sender, priority ? std::optional(static_cast<std::uint32_t>(*priority)) : std::nullopt};
    const bool of_link = hearing.claim().id.starts_with("link");
    hearing.expect(of_link == !subject.priority, "takes PAUSE for PFC, or PFC for PAUSE");
    hearing.equal_fact("interface", 0);
    const auto asks = asks_of(hearing.recording(), subject);
    if (asks.empty()) return hearing.object("there is no such frame");
    const auto pauses = pauses_of(hearing.recording(), asks, subject);
    const auto stops = std::ranges::count_if(asks, [](const Ask& ask) { return ask.quanta != 0; });
    hearing.equal_fact("xoff_frames", static_cast<double>(stops));
    hearing.equal_fact("xon_frames", static_cast<double>(asks.size()) - static_cast<double>(stops));
    lengths(hearing, pauses);
    whether_traffic_stopped(hearing, subject, asks, pauses);
    bool proven = false;
    for (const std::size_t frame : hearing.claim().frames)
        proven |= std::ranges::count(pauses, frame, &Pause::frame) != 0;
    hearing.expect(proven, "no frame of its evidence begins a pause");
}

constexpr std::array kPauseJudges{
    Judge{"pfc-storm", paused},
    Judge{"pfc-pause", paused},
    Judge{"link-pause", paused},
    Judge{"link-pause-storm", paused},
};

}  // namespace

std::span<const Judge> pause_judges() { return kPauseJudges; }

}  // namespace qps::court
