// Judges of pause frames (IEEE 802.3 31B, 802.1Q 36): who asked whom to stop, for how long, and what came all the same.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::int64_t kQuantum = 512;               // bits
constexpr std::int64_t kLongestQuanta = 33'600'000;  // ns: 65535 quanta at 1 Gbit/s; behind that no pause goes on
constexpr std::int64_t kReaction = 100'000;          // ns that a link partner has
constexpr std::int64_t kStorm = 100'000'000;         // ns
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

// What a sentence speaks of: a sender, and a priority or nothing for the link.
struct Subject {
    std::string sender;
    std::optional<std::uint32_t> priority;
};

std::vector<Ask> asks_of(const Recording& recording, const Subject& subject) {
    constexpr std::uint32_t kControl = 0x8808, kPause = 1, kPriorities = 0x101;
    std::vector<Ask> asks;
    for (std::size_t i = 0; i < recording.records.size(); ++i) {
        const Octets& bytes = recording.records[i].bytes;
        if (bytes.size() < 36 || number_at(bytes, 12, 2) != kControl || mac_text(bytes, kMac) != subject.sender) continue;
        const std::uint32_t kind = number_at(bytes, 14, 2);
        if (kind == kPause && !subject.priority) asks.push_back({i + 1, recording.records[i].time, number_at(bytes, 16, 2)});
        if (kind == kPriorities && subject.priority && (number_at(bytes, 16, 2) >> *subject.priority & 1U) != 0)
            asks.push_back({i + 1, recording.records[i].time, number_at(bytes, 18 + 2 * std::size_t{*subject.priority}, 2)});
    }
    return asks;
}

// From the first frame that stops to that which lets go, or until the time of the last is over.
std::vector<Pause> pauses_of(const Recording& recording, const std::vector<Ask>& asks) {
    std::vector<Pause> out;
    const std::int64_t last = recording.records.back().time, speed = recording.gigabits;
    for (std::size_t i = 0; i < asks.size(); ++i) {
        if (asks[i].quanta == 0) continue;
        Pause pause{.frame = asks[i].frame, .start = asks[i].time, .bounded = speed != 0};
        for (;; ++i) {
            const std::int64_t until = speed != 0 ? asks[i].time + asks[i].quanta * kQuantum / speed : asks[i].time + kLongestQuanta;
            const bool more = i + 1 < asks.size() && asks[i + 1].time <= until;
            if (more && asks[i + 1].quanta != 0) continue;
            pause.known = more || speed != 0;
            pause.end = more ? asks[i + 1].time : speed != 0 ? std::min(until, last) : asks[i].time;
            break;
        }
        out.push_back(pause);
    }
    return out;
}

// Packets to the sender, of the priority, from its first frame on; `late` of them in a pause whose end is known by its frames.
struct Traffic {
    std::uint64_t all = 0, late = 0;
};
Traffic traffic_of(const Recording& recording, const Subject& subject, const std::vector<Ask>& asks, const std::vector<Pause>& pauses) {
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

void whether_traffic_stopped(Hearing& hearing, const Subject& subject, const std::vector<Ask>& asks, const std::vector<Pause>& pauses) {
    const Traffic traffic = traffic_of(hearing.recording(), subject, asks, pauses);
    const bool long_enough =
        std::ranges::any_of(pauses, [](const Pause& pause) { return pause.bounded && pause.end - pause.start > kReaction; });
    if (const auto late = hearing.take(kNumber + " packets? to it followed more than 100 us into a pause"))
        return hearing.equal("late packets", count_of((*late)[1]).value_or(0), traffic.late);
    hearing.expect(traffic.late == 0, "packets came all the same");
    if (hearing.take("the capture has no packet(?: of that priority)? to that address after it"))
        return hearing.equal("packets to it", 0, traffic.all);
    if (hearing.take("nothing was sent to it meanwhile: traffic stopped"))
        return hearing.expect(long_enough, "no pause was long enough to tell");
    if (hearing.take("the speed of the link is not known")) return hearing.expect(hearing.recording().gigabits == 0, "the speed is known");
    if (hearing.must_say("no pause was longer than the time to react")) hearing.expect(!long_enough, "a pause was longer");
}

// Of everyone who pauses a link, or a priority.
std::uint64_t storms_of_all(const Recording& recording, const std::string& finding) {
    std::set<std::string> senders;
    for (const Record& record : recording.records)
        if (record.bytes.size() >= 16 && number_at(record.bytes, 12, 2) == 0x8808) senders.insert(mac_text(record.bytes, kMac));
    std::uint64_t storms = 0;
    for (const std::string& sender : senders)
        for (std::uint32_t priority = 0; priority < 8; ++priority) {
            const bool of_link = finding.starts_with("link");
            const auto asks = asks_of(recording, {sender, of_link ? std::nullopt : std::optional(priority)});
            if (of_link && priority != 0) break;
            for (const Pause& pause : pauses_of(recording, asks)) storms += pause.end - pause.start >= kStorm ? 1U : 0U;
        }
    return storms;
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
    if (const auto storm =
            hearing.take("paused for " + kQuantity + " without interruption \\(" + kNumber + " storms? of at least 100 ms\\)")) {
        hearing.equal("without interruption", (*storm)[1], static_cast<double>(longest));
        return hearing.equal("storms", count_of((*storm)[2]).value_or(0), storms_of_all(hearing.recording(), hearing.claim().id));
    }
    if (const auto times = hearing.take("paused " + kTimes + " for an unknown time")) {
        hearing.equal("pauses", count_of((*times)[1]).value_or(0), pauses.size());
        return hearing.equal("pauses without end", unknown, pauses.size());
    }
    const auto paused = hearing.must_say("paused for " + kQuantity + " in " + kNumber + " periods? \\(([\\d.]+) % of the capture, " +
                                         kQuantity + " at worst");
    if (!paused) return;
    hearing.equal("paused", (*paused)[1], static_cast<double>(all));
    hearing.equal("periods", count_of((*paused)[2]).value_or(0), pauses.size());
    hearing.share((*paused)[3], static_cast<std::uint64_t>(all), static_cast<std::uint64_t>(whole));
    hearing.equal("paused at worst", (*paused)[4], static_cast<double>(longest));
    const auto least = hearing.take("a lower bound: " + kNumber + " periods? had no end");
    hearing.equal("periods without end", least ? count_of((*least)[1]).value_or(0) : 0, unknown);
}

void paused(Hearing& hearing) {
    const auto said = hearing.must_say(
        "^((?:[0-9a-f]{2}:){5}[0-9a-f]{2}) sent (?:PFC for priority (\\d)|802.3x PAUSE for the whole link) "
        "on interface (\\d+) \\(" +
        kNumber + " XOFF, " + kNumber + " XON\\)");
    if (!said) return;
    const Subject subject{(*said)[1],
                          (*said)[2].empty() ? std::nullopt : std::optional(static_cast<std::uint32_t>(std::stoul((*said)[2])))};
    const bool of_link = hearing.claim().id.starts_with("link");
    hearing.expect(of_link == !subject.priority, "takes PAUSE for PFC, or PFC for PAUSE");
    const auto asks = asks_of(hearing.recording(), subject);
    if (asks.empty()) return hearing.object("there is no such frame");
    const auto pauses = pauses_of(hearing.recording(), asks);
    const auto stops = static_cast<std::uint64_t>(std::ranges::count_if(asks, [](const Ask& ask) { return ask.quanta != 0; }));
    hearing.equal("XOFF frames", count_of((*said)[4]).value_or(0), stops);
    hearing.equal("XON frames", count_of((*said)[5]).value_or(0), asks.size() - stops);
    lengths(hearing, pauses);
    whether_traffic_stopped(hearing, subject, asks, pauses);
    bool proven = false;
    for (const std::size_t frame : hearing.claim().frames) proven |= std::ranges::count(pauses, frame, &Pause::frame) != 0;
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
