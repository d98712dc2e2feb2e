// Captures derived from a sample, as other taps, recorders and clocks would have made them: records in memory, changed
// one by one, merged.
#pragma once

#include <dissect/capture/capture_file.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::tests {

// A record of an Ethernet capture.
struct Recording {
    std::vector<std::byte> bytes;
    std::uint32_t wire_length = 0;
    dissect::Instant time{};
    std::uint16_t file = 0;
    std::uint32_t interface = 0;
};
using Recordings = std::vector<Recording>;

[[nodiscard]] inline Recordings recordings(std::string_view sample) {
    auto file = dissect::CaptureFile::open(std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + std::string(sample) +
                                           "/capture.pcap");
    REQUIRE(file.has_value());
    Recordings all;
    dissect::Batch batch;
    while (file->read(batch))
        for (const dissect::Frame& frame : batch.frames)
            all.push_back({{frame.bytes.begin(), frame.bytes.end()}, frame.wire_length, frame.time});
    REQUIRE(!all.empty());
    return all;
}

[[nodiscard]] inline Recordings each(Recordings all, const std::function<void(Recording&)>& change) {
    std::ranges::for_each(all, change);
    return all;
}
// By time, as mergecap does.
[[nodiscard]] inline Recordings merged(Recordings all, const Recordings& others) {
    all.insert(all.end(), others.begin(), others.end());
    std::ranges::stable_sort(all, {}, &Recording::time);
    return all;
}
// A clock that is `offset` ahead at the start and gains `ppm` millionths.
[[nodiscard]] inline Recordings by_clock(Recordings all, dissect::Duration offset, std::int64_t ppm) {
    const dissect::Instant start = all.front().time;
    return each(std::move(all), [&](Recording& one) {
        const dissect::Duration gone = one.time - start;
        one.time = one.time + offset + dissect::Duration{static_cast<std::int64_t>(gone) / 1'000'000 * ppm};
    });
}

constexpr std::size_t kEtherType = 12, kIp = 14;
[[nodiscard]] inline bool is_ipv4(const Recording& one) {
    return one.bytes.size() > 34 && one.bytes[kEtherType] == std::byte{8} && one.bytes[kEtherType + 1] == std::byte{0};
}
[[nodiscard]] inline bool is_ipv6(const Recording& one) {
    return one.bytes.size() > 54 && one.bytes[kEtherType] == std::byte{0x86};
}
[[nodiscard]] inline bool is_roce(const Recording& one) {
    constexpr std::size_t kPort = kIp + 22;
    return is_ipv4(one) && one.bytes.size() > kPort + 1 && one.bytes[kPort] == std::byte{0x12} &&
           one.bytes[kPort + 1] == std::byte{0xb7};
}

// What a router does; the checksum of IPv4 goes up by the 256 that the TTL's word goes down.
inline void lower_ttl(Recording& one) {
    if (is_ipv6(one)) one.bytes[kIp + 7] = std::byte(std::to_integer<unsigned>(one.bytes[kIp + 7]) - 1);
    if (!is_ipv4(one)) return;
    one.bytes[kIp + 8] = std::byte(std::to_integer<unsigned>(one.bytes[kIp + 8]) - 1);
    unsigned sum = std::to_integer<unsigned>(one.bytes[kIp + 10]) << 8 | std::to_integer<unsigned>(one.bytes[kIp + 11]);
    sum += 0x100;
    sum = (sum & 0xffff) + (sum >> 16);
    one.bytes[kIp + 10] = std::byte(sum >> 8);
    one.bytes[kIp + 11] = std::byte(sum & 0xff);
}
inline void add_vlan(Recording& one) {
    constexpr std::array kTag{std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{7}};
    one.bytes.insert(one.bytes.begin() + kEtherType, kTag.begin(), kTag.end());
    one.wire_length += 4;
}
inline void spoil_icrc(Recording& one) {
    if (is_roce(one)) std::ranges::fill(one.bytes.end() - 4, one.bytes.end(), std::byte{});
}
inline void cut_at(Recording& one, std::size_t length) {
    if (one.bytes.size() > length) one.bytes.resize(length);
}

// One pass over them; `traits`: what a pass before found.
[[nodiscard]] inline transport::Timeline analyse_once(const Recordings& all,
                                                      transport::AnalysisSettings settings = {}) {
    transport::Analysis analysis(std::move(settings));
    dissect::Packet packet;
    transport::Observation observation;
    std::uint64_t number = 0;
    for (const Recording& one : all) {
        dissect::Frame frame;
        frame.bytes = one.bytes;
        frame.wire_length = one.wire_length;
        frame.time = one.time;
        frame.index = dissect::FrameIndex{++number};
        frame.interface = dissect::InterfaceId{one.interface};
        dissect::decode(frame, packet);
        transport::observe(packet, observation);
        observation.file = one.file;
        static_cast<void>(analysis.observe(observation));
    }
    return analysis.finish();
}
// As the commands do with files: again, if the first pass found what a second one can use.
[[nodiscard]] inline transport::Timeline analyse_twice(const Recordings& all,
                                                       transport::IcrcPolicy icrc = transport::IcrcPolicy::automatic) {
    transport::Timeline once = analyse_once(all, {.icrc = icrc});
    if (!once.learned.any()) return once;
    return analyse_once(all, {.icrc = icrc, .traits = std::move(once.learned)});
}

}  // namespace qps::tests
