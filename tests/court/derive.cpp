#include <tests/court/derive.hpp>
#include <tests/court/wire.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::int64_t kMicrosecond = 1000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;
constexpr std::size_t kLinkHeader = 14, kAddressesOfLink = 12;

template <class Keep> Recording kept(const Recording& whole, Keep keep) {
    Recording out{.link = whole.link, .records = {}};
    std::ranges::copy_if(whole.records, std::back_inserter(out.records), keep);
    return out;
}

// What has no addresses (ARP, pause frames) is in both halves.
Recording one_direction(const Recording& whole, bool upward) {
    return kept(whole, [&](const Record& record) {
        const std::string from = source_of(record.bytes), to = destination_of(record.bytes);
        return from == to || (from < to) == upward;
    });
}

Recording cut(const Recording& whole, std::size_t length) {
    Recording out = whole;
    for (Record& record : out.records) record.bytes.resize(std::min(record.bytes.size(), length));
    return out;
}

Recording from_percent(const Recording& whole, std::size_t percent) {
    Recording out{.link = whole.link, .records = {}};
    const std::size_t first = whole.records.size() * percent / 100;
    out.records.assign(whole.records.begin() + static_cast<std::ptrdiff_t>(first), whole.records.end());
    return out;
}

// A router passed it on: other hardware addresses, one hop less.
void route(Record& record) {
    const auto network = network_of(record.bytes);
    if (!network) return;
    Octets& bytes = record.bytes;
    for (std::size_t i = 0; i < kAddressesOfLink; ++i) bytes[i] = static_cast<std::uint8_t>(2 + i);
    const std::size_t ip = network->place;
    if (network->type == 0x0800 && ip + 20 <= bytes.size()) {
        --bytes[ip + 8];
        fix_checksum(bytes, ip);
    } else if (network->type == 0x86dd && ip + 40 <= bytes.size()) {
        --bytes[ip + 7];
    }
}

void tag(Record& record) {
    constexpr std::array<std::uint8_t, 4> kTag{0x81, 0x00, 0x60, 0x64};  // priority 3, VLAN 100
    if (record.bytes.size() < kLinkHeader) return;
    record.bytes.insert(record.bytes.begin() + static_cast<std::ptrdiff_t>(kAddressesOfLink), kTag.begin(), kTag.end());
    record.wire += static_cast<std::uint32_t>(kTag.size());
}

void sort_by_time(Recording& recording) { std::ranges::stable_sort(recording.records, {}, &Record::time); }

// A mirror session with two sources: each frame again, 2 us later, as it looks on its other side.
template <class Change> Recording mirrored(const Recording& whole, Change change) {
    Recording out = whole;
    for (const Record& record : whole.records) {
        Record copy = record;
        copy.time += 2 * kMicrosecond;
        change(copy);
        out.records.push_back(std::move(copy));
    }
    sort_by_time(out);
    return out;
}

// The captures of two hosts, merged by time: 1 us lies between them, and the clock of the second is ahead and goes
// fast. What has no addresses (ARP, pause frames) stays on its own link.
struct SecondTap {
    std::int64_t ahead = 0;        // ns
    std::int64_t per_million = 0;  // drift
    bool routed = false;
};
Recording two_taps(const Recording& whole, const SecondTap& second) {
    constexpr std::int64_t kTransit = kMicrosecond;
    Recording out = whole;
    const std::int64_t start = whole.records.empty() ? 0 : whole.records.front().time;
    for (const Record& record : whole.records) {
        if (source_of(record.bytes).empty()) continue;
        Record copy = record;
        // The tap of the whole is taken to be at the host with the lower address.
        const bool towards = source_of(record.bytes) < destination_of(record.bytes);
        copy.time += (towards ? kTransit : -kTransit) + second.ahead;
        copy.time += (record.time - start) / 1'000'000 * second.per_million +
                     (record.time - start) % 1'000'000 * second.per_million / 1'000'000;
        if (second.routed) route(copy);
        out.records.push_back(std::move(copy));
    }
    sort_by_time(out);
    return out;
}

// What a switch sends to a remote analyser: Ethernet, IPv4, GRE with sequence numbers, ERSPAN type II, the frame.
Recording wrapped(const Recording& whole) {
    constexpr std::size_t kIpv4 = 20, kGre = 8, kErspan = 8;
    Recording out = whole;
    std::uint32_t sequence = 0;
    for (Record& record : out.records) {
        Octets head(kLinkHeader + kIpv4 + kGre + kErspan);
        put_number(head, 0, 4, 0x02000000);
        put_number(head, 6, 4, 0x02000001);
        put_number(head, 12, 2, 0x0800);
        put_number(head, 14, 2, 0x4500);
        put_number(head, 16, 2, record.wire + static_cast<std::uint32_t>(kIpv4 + kGre + kErspan));
        put_number(head, 18, 2, sequence & 0xffffU);
        put_number(head, 22, 2, 0x402f);  // 64 hops, GRE
        put_number(head, 26, 4, 0xc0000201);
        put_number(head, 30, 4, 0xc0000202);
        fix_checksum(head, kLinkHeader);
        put_number(head, 34, 4, 0x100088be);  // with a sequence number
        put_number(head, 38, 4, sequence++);
        put_number(head, 42, 4, 0x10000001);  // version 1, session 1
        record.wire += static_cast<std::uint32_t>(head.size());
        record.bytes.insert(record.bytes.begin(), head.begin(), head.end());
    }
    return out;
}

// A tap before the engine that fills in the ICRC.
Recording without_icrc(const Recording& whole) {
    Recording out = whole;
    for (Record& record : out.records)
        if (const auto wire = read_wire(record, 1); wire && wire->icrc) put_number(record.bytes, *wire->icrc, 4, 0);
    return out;
}

// A recorder that keeps up with 98 % of the frames.
Recording thinned(const Recording& whole, std::uint32_t seed) {
    std::minstd_rand random(seed);
    return kept(whole, [&](const Record&) { return random() % 100 >= 2; });
}

// A host whose receive queue is read before its send queue: answers stand before the requests that they answer.
Recording answers_first(const Recording& whole) {
    constexpr std::int64_t kBetweenQueues = kMillisecond;
    Recording out = whole;
    for (std::size_t i = 1; i < out.records.size(); ++i) {
        Record &before = out.records[i - 1], &here = out.records[i];
        const auto request = read_wire(before, i), answer = read_wire(here, i + 1);
        if (!request || !answer || !request->request() || !answer->answer() ||
            here.time - before.time >= kBetweenQueues)
            continue;
        if (request->psn != answer->psn || request->from == answer->from) continue;
        std::swap(before, here);
        std::swap(before.time, here.time);
    }
    return out;
}

// A tap of two ports whose clocks are apart: what goes to higher addresses is recorded so much later.
Recording clocks_apart(const Recording& whole, std::int64_t by) {
    Recording out = whole;
    for (Record& record : out.records)
        if (source_of(record.bytes) < destination_of(record.bytes)) record.time += by;
    sort_by_time(out);
    return out;
}

}  // namespace

std::vector<Derivation> derivations(bool all) {
    std::vector<Derivation> out;
    const auto add = [&](std::string name, auto derive, std::vector<std::string> true_of_it = {}) {
        out.push_back({.name = std::move(name), .derive = derive, .true_of_it = std::move(true_of_it)});
    };
    const std::vector<std::string> too_short{"capture-truncated"}, lost{"capture-lost-packets"};
    add("whole", [](const Recording& whole) { return whole; });
    add("direction-up", [](const Recording& whole) { return one_direction(whole, true); });
    add("direction-down", [](const Recording& whole) { return one_direction(whole, false); });

    std::vector<std::size_t> lengths{54, 62, 66, 74, 96, 128, 256};
    if (all) {
        lengths.clear();
        for (std::size_t length = 54; length <= 256; ++length) lengths.push_back(length);
    }
    for (const std::size_t length : lengths)
        add(fmt::format("snap-{}", length), [length](const Recording& whole) { return cut(whole, length); }, too_short);

    std::vector<std::size_t> starts{25, 40, 50, 75};
    if (all) {
        starts.clear();
        for (std::size_t percent = 5; percent < 100; percent += 5) starts.push_back(percent);
    }
    for (const std::size_t percent : starts)
        add(fmt::format("from-{}%", percent),
            [percent](const Recording& whole) { return from_percent(whole, percent); });

    add("mirror-ttl", [](const Recording& whole) { return mirrored(whole, route); });
    add("mirror-vlan", [](const Recording& whole) { return mirrored(whole, tag); });

    struct Clock {
        std::string_view name;
        SecondTap tap;
    };
    std::vector<Clock> clocks{{"-5s", {.ahead = -5 * kSecond}},
                              {"-2ms", {.ahead = -2 * kMillisecond}},
                              {"+0", {}},
                              {"+2ms-routed", {.ahead = 2 * kMillisecond, .routed = true}},
                              {"+50ms-drift", {.ahead = 50 * kMillisecond, .per_million = 40}},
                              {"+5s-routed-drift", {.ahead = 5 * kSecond, .per_million = -40, .routed = true}}};
    if (all)
        clocks.insert(clocks.end(), {{"-500ms", {.ahead = -kSecond / 2}},
                                     {"-20ms-drift", {.ahead = -20 * kMillisecond, .per_million = 100}},
                                     {"-100us", {.ahead = -100 * kMicrosecond}},
                                     {"-5us", {.ahead = -5 * kMicrosecond}},
                                     {"+20us", {.ahead = 20 * kMicrosecond}},
                                     {"+700us-routed", {.ahead = 700 * kMicrosecond, .routed = true}},
                                     {"+1s", {.ahead = kSecond}}});
    for (const Clock& clock : clocks)
        add(fmt::format("taps{}", clock.name),
            [tap = clock.tap](const Recording& whole) { return two_taps(whole, tap); });

    add("erspan", wrapped);
    for (const std::size_t length : {std::size_t{104}, std::size_t{128}})
        add(
            fmt::format("erspan-{}", length), [length](const Recording& whole) { return cut(wrapped(whole), length); },
            too_short);
    add("icrc-zero", without_icrc);
    add("answers-first", answers_first);
    std::vector<std::int64_t> apart{-2000, 200, 2000};  // us
    if (all) apart.insert(apart.end(), {-4500, -200, -20, 20, 4500});
    for (const std::int64_t by : apart)
        add(fmt::format("clock-offset{:+}us", by),
            [by](const Recording& whole) { return clocks_apart(whole, by * kMicrosecond); });
    for (std::uint32_t seed = 1; seed <= (all ? 20 : 3); ++seed)
        add(fmt::format("thinned-{}", seed), [seed](const Recording& whole) { return thinned(whole, seed); }, lost);
    return out;
}

}  // namespace qps::court
