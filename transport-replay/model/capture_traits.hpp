// What a first reading of a capture finds out for a second one: which packets are recordings of another tap, and whose
// ICRCs say nothing. Values: learn_taps() and icrcs_not_judged() find them, CopyFilter and Analysis apply them.
#pragma once

#include <transport-replay/model/address.hpp>
#include <transport-replay/model/observation.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace qps::transport {

// What tells recordings of the same packet apart: the file, its interface, the VLAN and the TTL. Packed, to compare at
// once.
enum class TapLabel : std::uint64_t {};
inline constexpr std::uint64_t kWholeLabel = UINT64_MAX;
inline constexpr std::uint64_t kSourceOfLabel = 0xffff'ffff'0000'0000;  // file and interface

[[nodiscard]] constexpr TapLabel label_of(const Observation& observation) {
    return TapLabel{std::uint64_t{observation.file} << 48 |
                    (std::uint64_t{std::to_underlying(observation.interface)} & 0xffff) << 32 |
                    std::uint64_t{observation.vlan} << 8 | observation.hops};
}
[[nodiscard]] constexpr std::uint64_t part(TapLabel label, std::uint64_t mask) {
    return std::to_underlying(label) & mask;
}

// Two hosts, whichever sends; and one way between them.
struct HostsHash {
    std::uint64_t both = 0;
    std::uint64_t way = 0;
};
[[nodiscard]] constexpr HostsHash hosts_of(const FlowKey& flow) {
    const std::uint64_t source = hash_of(flow.source);
    const std::uint64_t destination = hash_of(flow.destination);
    return {mix(source + destination), mix(source + 3 * destination)};
}

// How much later than one tap's another tap's clock says that a packet passed: medians over parts of the capture, since
// clocks drift; in between it changes evenly.
struct ClockOffset {
    struct Part {
        dissect::Instant time{};
        dissect::Duration offset{};
    };
    static constexpr std::size_t kMostParts = 16;
    std::array<Part, kMostParts> parts{};  // in the order of time
    std::size_t used = 0;
    dissect::Duration tolerance{};  // how far copies are from it
    [[nodiscard]] dissect::Duration at(dissect::Instant time) const;
    [[nodiscard]] dissect::Duration middle() const { return used == 0 ? dissect::Duration{} : parts[used / 2].offset; }
    // From the first part to the last.
    [[nodiscard]] dissect::Duration drift() const {
        return used == 0 ? dissect::Duration{} : parts[used - 1].offset - parts[0].offset;
    }
};

// One way between two hosts as a tap recorded it that is not followed, since another one recorded the same packets.
struct OtherTap {
    std::uint64_t way = 0;  // HostsHash
    std::uint64_t label = 0;
    std::uint64_t mask = kWholeLabel;  // what of a label counts
};

// Two hosts each of whose packets is in the capture twice, where nothing but the time tells the recordings apart.
struct RecordedTwice {
    std::uint64_t hosts = 0;  // HostsHash
    ClockOffset offset;
    std::uint64_t doubtful_way =
        0;  // else 0: of this way alone, and as likely its sender sent everything again after that time
};

// For people: how many taps recorded the same packets.
struct VantagePoints {
    std::uint32_t taps = 1;   // of the pair of hosts that most taps recorded
    bool by_file = false;     // each has a file of its own
    std::uint64_t hosts = 0;  // pairs
    std::uint64_t pairs = 0;  // packets of the sample that tell the offset
    ClockOffset offset;       // of the pair of hosts that was seen most
};

// What a wrong ICRC means.
enum class IcrcPolicy : std::uint8_t {
    automatic,  // that the packet was corrupted, unless every ICRC of its sender is wrong although its packets are
                // accepted
    check,      // that the packet was corrupted
    ignore,     // nothing
};

struct CaptureTraits {
    std::vector<OtherTap> other_taps;  // sorted by way
    std::vector<RecordedTwice> twice;  // sorted by hosts
    std::uint64_t reach = 0;           // of these: packets from a packet to its copy, at most
    VantagePoints vantage;
    std::vector<Address> icrc_not_judged;  // senders, sorted
    std::vector<std::uint64_t> tenants;    // hosts (HostsHash::both) whose flows are others' in each network, sorted
    // How far the clocks of two taps are apart that only the time tells apart: beyond what a path delays; else 0.
    [[nodiscard]] dissect::Duration clocks_apart() const {
        constexpr dissect::Duration kPath{500'000};  // 500 us
        for (const RecordedTwice& one : twice)
            if (one.doubtful_way == 0 && magnitude(one.offset.middle()) >= kPath) return magnitude(one.offset.middle());
        return {};
    }
    [[nodiscard]] bool has_copies() const { return !other_taps.empty() || !twice.empty(); }
    [[nodiscard]] bool any() const { return has_copies() || !icrc_not_judged.empty() || !tenants.empty(); }
};

}  // namespace qps::transport
