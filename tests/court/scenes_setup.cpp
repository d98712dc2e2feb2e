// Scenes of how hosts are set up and what they get: classes, path MTUs, versions, depths, bursts, clocks.
#include <tests/court/stage.hpp>
#include <tests/court/wire.hpp>
#include <tests/support/catch.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

using namespace dissect;

Settings dscp(std::uint64_t value) { return {{"ip.dsfield.dscp", value}}; }

void dscp_differs(Stage& stage, unsigned variant) {
    constexpr std::array<std::array<std::uint64_t, 2>, kVariants> kClasses{{{26, 0}, {0, 26}, {46, 26}}};
    stage.dialogue(1, 2, 21, 8 + variant, dscp(kClasses[variant][0]), dscp(kClasses[variant][1]));
    stage.dialogue(3, 4, 22, 8);  // and one that agrees
}

void dscp_changes(Stage& stage, unsigned variant) {
    unsigned first = 0;
    for (const std::uint64_t value : {26U, 0U, 46U}) {
        if (value == 46 && variant == 0) continue;
        const unsigned count = 4 + static_cast<unsigned>(value % 5) + variant;
        stage.dialogue(1, 2, 21, count, dscp(value), dscp(26), first);
        first += count;
    }
}

void dscp_differs_between_connections(Stage& stage, unsigned variant) {
    for (std::uint64_t qp = 21; qp < 24 + variant; ++qp) stage.dialogue(1, 2, qp, 8, dscp(26), dscp(26));
    for (std::uint64_t qp = 31; qp < 32 + variant; ++qp)
        stage.dialogue(1, 2, qp, 8, dscp(variant == 2 ? 46 : 0), dscp(variant == 2 ? 46 : 0));
}

// WRITEs of `count` packets of the path MTU, of either of two hosts.
void write(Stage& stage, bool from_a, std::size_t mtu, unsigned count, std::uint64_t& psn, unsigned a = 1,
           unsigned b = 2) {
    constexpr std::uint8_t kFirst = 0x06, kMiddle = 0x07, kLast = 0x08;
    const std::uint64_t qp = from_a ? 21 : 1021;
    const unsigned from = from_a ? a : b, to = from_a ? b : a;
    for (unsigned i = 0; i < count; ++i) {
        Settings settings{{"infiniband.bth.destqp", qp}, {"infiniband.bth.psn", psn++}};
        if (i == 0)
            settings.insert(settings.end(), {{"infiniband.reth.dmalen", count * mtu}, {"infiniband.reth.r_key", 7}});
        if (i + 1 == count) settings.emplace_back("infiniband.bth.a", 1);
        stage.packet(i == 0 ? kFirst : i + 1 == count ? kLast : kMiddle, from, to, settings, mtu);
    }
    stage.packet(0x11, to, from,
                 {{"infiniband.bth.destqp", from_a ? 1021 : 21},
                  {"infiniband.bth.psn", psn - 1},
                  {"infiniband.aeth.syndrome", 0x1f}});
}

void path_mtu_differs(Stage& stage, unsigned variant) {
    if (variant == 1) stage.connect();  // path MTU 1024
    constexpr std::array<std::array<std::size_t, 2>, kVariants> kMtus{{{4096, 1024}, {2048, 2048}, {256, 512}}};
    std::uint64_t of_a = 21'000, of_b = variant == 1 ? 200 : 500;
    for (unsigned i = 0; i < 3; ++i) {
        write(stage, true, kMtus[variant][0], 3, of_a);
        write(stage, false, kMtus[variant][1], 2, of_b);
    }
}

void path_mtu_small(Stage& stage, unsigned variant) {
    constexpr std::array<std::size_t, kVariants> kSmall{1024, 512, 1024}, kGreat{4096, 2048, 2048};
    std::uint64_t psn = 21'000;
    for (unsigned i = 0; i < 24 + variant; ++i)
        write(stage, true, kSmall[variant], 96 * 1024 / static_cast<unsigned>(2 * kSmall[variant]), psn);
    psn = 500;
    write(stage, true, kGreat[variant], 4, psn, 11, 12);
}

void roce_version_mismatch(Stage& stage, unsigned variant) {
    const unsigned a = 1 + variant, b = 7 - variant;
    for (unsigned i = 0; i < 4 + variant; ++i) {
        PacketSpec spec = transport_packet(Opcode{0x04}, dissect::Network::roce_v1);
        std::array<std::byte, 16> gid{};
        gid[10] = gid[11] = std::byte{0xff};
        gid[12] = std::byte{0xc0};
        gid[14] = std::byte{0x02};
        gid[15] = static_cast<std::byte>(a);
        REQUIRE(set(spec, "infiniband.grh.sgid", Bytes(gid)));
        gid[15] = static_cast<std::byte>(b);
        REQUIRE(set(spec, "infiniband.grh.dgid", Bytes(gid)));
        REQUIRE(set(spec, "infiniband.bth.destqp", 21));
        REQUIRE(set(spec, "infiniband.bth.psn", i));
        stage.put(spec);
    }
    for (unsigned i = 0; i < 3 + 2 * variant; ++i) stage.send(b, a, 31, i);
}

// READs of `bytes`, `depth` at a time, each answered after `time`.
void read_depth_limited(Stage& stage, unsigned variant) {
    constexpr std::array<unsigned, kVariants> kDepths{2, 4, 8};
    const unsigned depth = kDepths[variant], all = 200;
    const std::size_t bytes = std::size_t{512} << variant;
    if (variant == 0) stage.connect();
    const auto ask = [&](unsigned i) {
        stage.packet(0x0c, 1, 2,
                     {{"infiniband.bth.destqp", 21},
                      {"infiniband.bth.psn", 21'000 + i},
                      {"infiniband.bth.a", 1},
                      {"infiniband.reth.va", 0x1000},
                      {"infiniband.reth.r_key", 0x55},
                      {"infiniband.reth.dmalen", bytes}});
    };
    for (unsigned i = 0; i < depth; ++i) ask(i);
    for (unsigned i = 0; i < all; ++i) {
        stage.wait((7 + variant) * kAMicrosecond);
        stage.packet(0x10, 2, 1,
                     {{"infiniband.bth.destqp", 1021},
                      {"infiniband.bth.psn", 21'000 + i},
                      {"infiniband.aeth.syndrome", 0x1f},
                      {"infiniband.aeth.msn", i + 1}},
                     bytes);
        if (i + depth < all) ask(i + depth);
    }
}

void requests_unanswered(Stage& stage, unsigned variant) {
    stage.dialogue(1, 2, 21);
    for (unsigned i = 0; i <= variant; ++i) stage.send(1, 2, 21, 8 + i);
    stage.wait((2 + variant) * kASecond);
    stage.dialogue(3, 4, 22, 2 + variant);
}

// A sender whose rate is the same before and after each burst of CNPs.
void cnp_without_effect(Stage& stage, unsigned variant) {
    constexpr std::uint8_t kCnp = 0x81;
    std::uint64_t psn = 0;
    for (unsigned burst = 0; burst < 5 + variant; ++burst)
        for (unsigned i = 0; i < 200; ++i) {
            stage.wait(100 * kAMicrosecond - kAMicrosecond);
            const bool marks = i >= 95 && i < 100;
            stage.packet(
                0x04, 1, 2,
                {{"infiniband.bth.destqp", 21}, {"infiniband.bth.psn", psn++}, {"ip.dsfield.ecn", marks ? 3 : 2}},
                1000 + 8 * variant);
            if (i == 100) stage.packet(kCnp, 2, 1, {{"infiniband.bth.destqp", 1021}});
        }
}

void incast(Stage& stage, unsigned variant) {
    const unsigned senders = 5 + variant;
    for (unsigned burst = 0; burst <= variant; ++burst) {
        for (unsigned i = 0; i < 70; ++i)
            stage.packet(0x04, 10 + i % senders, 2,
                         {{"infiniband.bth.destqp", 40 + i % senders},
                          {"infiniband.bth.psn", 100 * burst + i / senders},
                          {"ip.dsfield.ecn", i % (9 + variant) == 0 ? 3 : 2}},
                         4096 - 256 * variant);
        stage.wait(10 * kAMillisecond);
    }
    stage.dialogue(1, 2, 21);
}

// Halves of connections between two hosts that nothing joins: answers to queue pairs that no request has told of.
void pairing_uncertain(Stage& stage, unsigned variant) {
    for (std::uint64_t qp = 21; qp < 23 + variant; ++qp)
        for (unsigned i = 0; i < 4; ++i) {
            stage.send(1, 2, qp, i);
            stage.send(2, 1, qp + 2000, 500 + i);
        }
}

void clock_coarse(Stage& stage, unsigned variant) {
    constexpr std::array<std::int64_t, kVariants> kTicks{kAMillisecond, 10 * kAMillisecond, 100 * kAMicrosecond};
    stage.dialogue(1, 2, 21, 40);
    std::int64_t tick = 0;
    for (Record& record : stage.recording.records) record.time = 1'700'000'000 * kASecond + ++tick * kTicks[variant];
}

// CNPs to more queue pairs than are followed: 65536.
void beyond_bounds(Stage& stage, unsigned variant) {
    constexpr std::size_t kQueuePairOfBth = 5, kStreams = 65536;
    stage.packet(0x81, 2, 1, {{"infiniband.bth.destqp", 16}});
    const Record first = stage.recording.records.front();
    const auto wire = read_wire(first, 1);
    REQUIRE((wire && wire->icrc));
    for (std::uint32_t i = 1; i < kStreams + 100 * (variant + 1); ++i) {
        Octets frame = first.bytes;
        put_number(frame, wire->bth + kQueuePairOfBth, 3, 16 + i);
        const std::uint32_t crc = invariant_crc(frame, wire->ip, *wire->icrc);
        for (std::size_t octet = 0; octet < 4; ++octet)
            frame[*wire->icrc + octet] = static_cast<std::uint8_t>(crc >> 8U * octet);
        stage.put(std::move(frame));
    }
    for (unsigned i = 0; i < 7 * variant; ++i)
        stage.packet(0x81, 2, 1, {{"infiniband.bth.destqp", 16 + i}});  // of those that are followed
}

constexpr std::array kSetupScenes{
    Scene{"dscp-differs", dscp_differs},
    Scene{"dscp-changes", dscp_changes},
    Scene{"dscp-differs-between-connections", dscp_differs_between_connections},
    Scene{"path-mtu-differs", path_mtu_differs},
    Scene{"path-mtu-small", path_mtu_small},
    Scene{"roce-version-mismatch", roce_version_mismatch},
    Scene{"read-depth-limited", read_depth_limited},
    Scene{"requests-unanswered", requests_unanswered},
    Scene{"cnp-without-effect", cnp_without_effect},
    Scene{"incast", incast},
    Scene{"pairing-uncertain", pairing_uncertain},
    Scene{"clock-coarse", clock_coarse},
    Scene{"analysis-bounded", beyond_bounds},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> setup_scenes() { return scenes::kSetupScenes; }

}  // namespace qps::court
