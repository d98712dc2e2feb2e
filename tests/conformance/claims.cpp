// Queue pairs that somebody claims at an endpoint: their frames are his, wrong ones too; what he sends goes out as it
// is.
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/damage.hpp>
#include <tests/support/program_pair.hpp>

using namespace qps;
using namespace qps::dissect;
using namespace qps::tests;

namespace {

// From the client to the server of a pair, to that queue pair.
FrameBytes frame_to(Qpn qp, bool right) {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    set(spec, "eth.src", 0x0200'0000'0002);
    set(spec, "eth.dst", 0x0200'0000'0001);
    set(spec, "ip.src", 0xc0000202);
    set(spec, "ip.dst", 0xc0000201);
    set(spec, "infiniband.bth.destqp", std::to_underlying(qp));
    spec.payload.resize(16);
    if (!right) spec.icrc = 1;
    return build(spec);
}

}  // namespace

TEST_CASE("frames for a claimed queue pair are kept as they came, and nobody else sees them") {
    ProgramPair pair({});
    REQUIRE(pair.server.claim(Qpn{77}));
    REQUIRE(pair.client.send_raw(frame_to(Qpn{77}, true)));
    REQUIRE(pair.client.send_raw(frame_to(Qpn{77}, false)));
    REQUIRE(pair.client.send_raw(frame_to(Qpn{78}, true)));
    CHECK(pair.client.raw_waiting() == 3);
    CHECK(pair.client.poll_at() == transport::live::kAtOnce);
    for (int i = 0; i < 20; ++i) static_cast<void>(pair.turn(nullptr, nullptr));
    CHECK(pair.client.counts().raw_sent == 3);
    const auto taken = pair.server.take_claimed();
    REQUIRE(taken.size() == 2);
    CHECK(decoded(taken[0].bytes).icrc.status == CrcStatus::good);
    CHECK(decoded(taken[1].bytes).icrc.status == CrcStatus::bad);
    CHECK(pair.server.counts().claimed == 2);
    CHECK(pair.server.counts().wrong_icrc == 0);
    CHECK(pair.server.adapter().counts().of(transport::verbs::Refusal::unknown_qp) == 1);  // the third
    CHECK(pair.server.take_claimed().empty());
}

TEST_CASE("what was released is the adapter's again, bounds of claims and raw frames hold") {
    ProgramPair pair({});
    REQUIRE(pair.server.claim(Qpn{77}));
    pair.server.release(Qpn{77});
    REQUIRE(pair.client.send_raw(frame_to(Qpn{77}, true)));
    for (int i = 0; i < 20; ++i) static_cast<void>(pair.turn(nullptr, nullptr));
    CHECK(pair.server.take_claimed().empty());
    CHECK(pair.server.adapter().counts().of(transport::verbs::Refusal::unknown_qp) == 1);
    for (std::uint32_t i = 0; i < transport::live::kMaxClaims; ++i) REQUIRE(pair.server.claim(Qpn{1000 + i}));
    CHECK_FALSE(pair.server.claim(Qpn{5}));
    CHECK(pair.server.claim(Qpn{1000}));  // again is no more
    CHECK_FALSE(pair.client.send_raw(FrameBytes(100'000)));
    for (std::size_t i = 0; i < transport::live::kMaxRaw; ++i) REQUIRE(pair.client.send_raw(frame_to(Qpn{77}, true)));
    CHECK_FALSE(pair.client.send_raw(frame_to(Qpn{77}, true)));
}
