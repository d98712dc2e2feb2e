// A capture in which two queue pairs are asked the same PSNs side by side, so that whose answers are whose shows only
// once the second goes on alone: until then both flows of answers have numbers of their own, 3 and 4. A third that
// begins after that is given 5, and is connection 3 in the end.
#pragma once

#include <dissect/capture/writer.hpp>
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>

#include <string>
#include <utility>

namespace qps::tests {

inline constexpr std::uint64_t kLatePairs = 2, kLatePackets = 14, kPacketsOfThird = 4;
enum class ThirdPair : std::uint8_t { no, yes };

inline void write_late_pairs(const std::string& path, ThirdPair third = ThirdPair::no) {
    constexpr std::uint8_t kSendOnly = 0x04, kAcknowledge = 0x11;
    constexpr std::uint64_t kHost1 = 0xc0000201, kHost2 = 0xc0000202;  // 192.0.2.1
    auto writer = dissect::CaptureWriter::open(path, dissect::WriterFormat::pcap);
    REQUIRE(writer);
    std::uint32_t number = 0;
    const auto send = [&](std::uint8_t opcode, std::uint32_t qp, std::uint32_t psn) {
        const bool asks = opcode == kSendOnly;
        dissect::PacketSpec spec = dissect::transport_packet(dissect::Opcode{opcode}, dissect::Network::roce_v2_ipv4);
        REQUIRE(dissect::set(spec, "ip.src", asks ? kHost1 : kHost2));
        REQUIRE(dissect::set(spec, "ip.dst", asks ? kHost2 : kHost1));
        REQUIRE(dissect::set(spec, "ip.id", ++number));
        REQUIRE(dissect::set(spec, "infiniband.bth.destqp", qp));
        REQUIRE(dissect::set(spec, "infiniband.bth.psn", psn));
        if (asks) {
            REQUIRE(dissect::set(spec, "infiniband.bth.a", 1));
            spec.payload.resize(16);
        } else {
            REQUIRE(dissect::set(spec, "infiniband.aeth.msn", psn + 1));
        }
        const std::vector<std::byte> bytes = dissect::build(spec);
        dissect::Frame frame;
        frame.bytes = bytes;
        frame.wire_length = static_cast<std::uint32_t>(bytes.size());
        frame.time = dissect::Instant{1'700'000'000'000'000'000 + number * 1000};
        frame.has_time = true;
        REQUIRE(writer->write(frame));
    };
    for (std::uint32_t psn = 0; psn < 3; ++psn)
        for (std::uint32_t i = 0; i < kLatePairs; ++i) send(kSendOnly, 500 + i, psn);
    for (std::uint32_t psn = 0; psn < 3; ++psn)
        for (std::uint32_t i = 0; i < kLatePairs; ++i) send(kAcknowledge, 100 + i, psn);
    send(kSendOnly, 501, 3);
    send(kAcknowledge, 101, 3);
    REQUIRE(number == kLatePackets);
    for (std::uint32_t psn = 1000; third == ThirdPair::yes && psn < 1002; ++psn) {
        send(kSendOnly, 502, psn);
        send(kAcknowledge, 102, psn);
    }
    REQUIRE(writer->close());
}

}  // namespace qps::tests
