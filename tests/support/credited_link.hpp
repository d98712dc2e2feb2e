// Both directions of an InfiniBand link as ERF records, as bytes: packets of a lane on capture port 0, flow control of
// both ends, port 1 granting the credits. The truth is what was drawn: a sender never sends more than it was granted.
#pragma once

#include <dissect/base/icrc.hpp>
#include <tests/support/reachability_frames.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace qps::tests {

struct LinkFrame {
    std::int64_t time = 0;  // ns
    FrameOctets octets;
};

// Of an InfiniBand packet: type 21; of a flow control packet: 25.
[[nodiscard]] inline FrameOctets erf_record(unsigned type, unsigned port, const FrameOctets& packet) {
    constexpr unsigned kHeader = 16;
    FrameOctets record;
    add_number(record, 0, 8);  // no time of its own
    add_number(record, type, 1);
    add_number(record, 4 | port, 1);
    add_number(record, kHeader + packet.size(), 2);
    add_number(record, 0, 2);
    add_number(record, packet.size(), 2);
    record.insert(record.end(), packet.begin(), packet.end());
    return record;
}

[[nodiscard]] inline FrameOctets flow_control(unsigned port, unsigned lane, unsigned sent, unsigned limit,
                                              bool init = false) {
    FrameOctets packet;
    add_number(packet, (init ? 0x1000U : 0U) | (sent & 0xfffU), 2);
    add_number(packet, lane << 12U | (limit & 0xfffU), 2);
    add_number(packet, 0xbeef, 2);
    return erf_record(25, port, packet);
}

// From LRH to VCRC: `words` of four bytes without that. The LIDs are in the LRH, the GIDs in a GRH where there are any.
struct LinkPacket {
    unsigned port = 0, lane = 0, words = 16;
    unsigned psn = 0, source = 1, destination = 2;
    unsigned opcode = 0x04;                            // RC SEND Only
    std::uint64_t source_prefix = 0, source_guid = 0;  // 0: no GRH
    std::uint64_t destination_prefix = 0xfe80000000000000, destination_guid = 2;
};
[[nodiscard]] inline FrameOctets link_packet(const LinkPacket& of) {
    constexpr std::size_t kVcrc = 2;
    const bool global = of.source_guid != 0;
    FrameOctets packet;
    add_number(packet, of.lane << 4U, 1);
    add_number(packet, global ? 3 : 2, 1);
    add_number(packet, of.destination, 2);
    add_number(packet, of.words, 2);
    add_number(packet, of.source, 2);
    if (global) {
        constexpr unsigned kRouting = 12;  // words of LRH and GRH
        add_number(packet, 0x60000000, 4);
        add_number(packet, std::uint64_t{of.words - kRouting} * 4, 2);
        add_number(packet, 0x1b01, 2);
        add_number(packet, of.source_prefix, 8);
        add_number(packet, of.source_guid, 8);
        add_number(packet, of.destination_prefix, 8);
        add_number(packet, of.destination_guid, 8);
    }
    add_number(packet, of.opcode << 24U | 0xffffU, 4);
    add_number(packet, 21, 4);
    add_number(packet, of.psn, 4);
    if (of.opcode >> 5U == 3) {  // DETH: Q_Key and source queue pair
        add_number(packet, 0x11111111, 4);
        add_number(packet, 22, 4);
    }
    constexpr std::size_t kLrh = 8, kIcrc = 4;
    packet.resize(std::size_t{of.words} * 4 - kIcrc);
    using dissect::IcrcCoverage;
    const auto covered = std::as_bytes(std::span(packet)).subspan(global ? kLrh : 0);
    add_number(packet, dissect::invariant_crc(global ? IcrcCoverage::grh : IcrcCoverage::native_local, covered), kIcrc);
    add_number(packet, dissect::variant_crc(std::as_bytes(std::span(packet))), kVcrc);
    return erf_record(21, of.port, packet);
}

struct CreditedLink {
    unsigned lane = 3;
    unsigned sender = 0, granter = 1;    // capture ports
    unsigned sent = 3900, limit = 3900;  // of the sender, for the sender; blocks, not modulo 4096
    unsigned other_sent = 77, other_limit = 500;
    unsigned words = 520;  // of a packet: 2080 bytes and 2, 33 blocks
    unsigned opcode = 0x04;
    unsigned psn = 0;
    std::int64_t time = 1'700'000'000'000'000'000;
    std::vector<LinkFrame> frames;

    static constexpr std::int64_t kMicrosecond = 1000;
    [[nodiscard]] unsigned blocks() const { return (words * 4 + 2 + 63) / 64; }
    void put(FrameOctets octets, std::int64_t after = kMicrosecond) {
        time += after;
        frames.push_back({time, std::move(octets)});
    }
    void packet(std::int64_t after = kMicrosecond) {
        put(link_packet({.port = sender, .lane = lane, .words = words, .psn = psn++, .opcode = opcode}), after);
        sent += blocks();
    }
    void says_sent(std::int64_t after = kMicrosecond) { put(flow_control(sender, lane, sent, other_limit), after); }
    void grants(std::int64_t after = kMicrosecond) { put(flow_control(granter, lane, other_sent, limit), after); }
    // As many packets as that, with credits to spare.
    void busy(unsigned packets) {
        for (unsigned i = 0; i < packets; ++i) {
            limit = sent + 200;
            grants();
            says_sent();
            packet();
        }
        says_sent();
    }
    // Packets until so many credits are left: a limit never goes back.
    void exhaust(unsigned credits) {
        const unsigned packets = (200 + blocks() - 1) / blocks();
        limit = sent + packets * blocks() + credits;
        grants();
        for (unsigned i = 0; i < packets; ++i) packet();
        says_sent();
    }
    // `credits` are left for so many times `every`; then enough, and a packet `behind` that.
    void starve(unsigned credits, unsigned times, std::int64_t every = 100 * kMicrosecond,
                std::int64_t behind = 5 * kMicrosecond) {
        exhaust(credits);
        for (unsigned i = 0; i < times; ++i) {
            grants(every);
            says_sent();
        }
        limit = sent + 100;
        grants(every);
        packet(behind);
        says_sent();
    }
};

}  // namespace qps::tests
