// Exchanges over TCP that nearly prove something: cut anywhere, out of step, with PSNs that nobody drew, of queue pairs that are used anew.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

constexpr std::uint32_t kClientPort = 40000, kServerPort = 18515;
constexpr std::byte kSyn{0x02}, kFin{0x01}, kAck{0x10};

std::string text_of(std::uint32_t host, std::uint32_t qpn, std::uint32_t psn) {
    return fmt::format("0000:{:06x}:{:06x}:00000000000000000000ffff0a{:06x}", qpn, psn, host) + '\0';
}

// A TCP connection of host 1 with host 2, and RDMA between them.
struct Programs {
    AnalysedWire wire;
    std::array<std::uint32_t, 2> seq{1000, 5000};

    void segment(std::size_t from, std::uint32_t at, const std::string& data, std::byte flags = kAck) {
        std::vector<std::byte> bytes(20);
        write_bits(bytes, 32, 32, at);
        bytes[12] = std::byte{0x50};
        bytes[13] = flags;
        for (const char c : data) bytes.push_back(static_cast<std::byte>(c));
        Observation made;
        made.kind = ObservationKind::stream;
        made.frame = FrameIndex{++wire.clock};
        made.time = Instant{static_cast<std::int64_t>(wire.clock * 1000)};
        const auto port = [&](std::size_t end) { return Qpn{end == 0 ? kClientPort : kServerPort}; };
        made.flow = {AnalysedWire::host(from == 0 ? 1 : 2), AnalysedWire::host(from == 0 ? 2 : 1), port(1 - from), port(from)};
        made.flow_hash = FlowHash{}(made.flow);
        made.packet_hash = mix(wire.clock);
        made.payload = bytes;
        made.payload_length = static_cast<std::uint32_t>(data.size());
        made.wire_length = 100;
        wire.analysis.observe(made);
    }
    void say(std::size_t from, const std::string& data) {
        segment(from, seq[from], data);
        seq[from] += static_cast<std::uint32_t>(data.size());
    }
    void skip(std::size_t from, std::size_t bytes) { seq[from] += static_cast<std::uint32_t>(bytes); }
    void tell(std::uint32_t a, std::uint32_t psn_a, std::uint32_t b, std::uint32_t psn_b) {
        say(0, text_of(1, a, psn_a));
        say(1, text_of(2, b, psn_b));
    }
    // SENDs of host 1 to queue pair `b`, which queue pair `a` gets the ACKs of.
    void send(std::uint32_t a, std::uint32_t b, std::uint32_t psn, unsigned count = 8) {
        for (unsigned i = 0; i < count; ++i) {
            wire.packet(1, 2, b, kRcSendOnly, psn + i);
            wire.packet(2, 1, a, kRcAcknowledge, psn + i);
        }
    }
    Timeline finish() { return wire.analysis.finish(); }
};

std::uint32_t number(const Endpoint& end) { return end.qpn ? static_cast<std::uint32_t>(*end.qpn) : 0; }
// "17-33 exchange", by the queue pair of host 2.
std::vector<std::string> pairs(const Timeline& timeline) {
    std::vector<std::string> said;
    for (const Connection& connection : timeline.connections) {
        const bool turned = connection.ends[0].address == AnalysedWire::host(2);
        said.push_back(fmt::format("{}-{} {}", number(connection.ends[turned ? 1 : 0]), number(connection.ends[turned ? 0 : 1]),
                                   kJoinedByNames[static_cast<std::size_t>(connection.joined_by)]));
    }
    std::ranges::sort(said);
    return said;
}
using Said = std::vector<std::string>;
constexpr std::uint32_t kPsnA = 0x123456, kPsnB = 0xabcdef;

}  // namespace

TEST_CASE("texts that segments cut anywhere are put together") {
    const std::string all = text_of(1, 17, kPsnA) + text_of(1, 18, kPsnA + 5000);
    for (std::size_t cut = 20; cut < all.size(); ++cut) {
        INFO("cut at " << cut);
        Programs programs;
        programs.say(0, all.substr(0, cut));
        programs.say(0, all.substr(cut));
        programs.say(1, text_of(2, 33, kPsnB));
        programs.say(1, text_of(2, 34, kPsnB + 5000));
        programs.send(17, 33, kPsnA);
        programs.send(18, 34, kPsnA + 5000);
        CHECK(pairs(programs.finish()) == Said{"17-33 exchange", "18-34 exchange"});
    }
}

TEST_CASE("what is sent again with more behind it brings what is new") {
    Programs programs;
    const std::string first = text_of(1, 17, kPsnA), second = text_of(1, 18, kPsnA + 5000);
    programs.say(0, first);
    programs.segment(0, programs.seq[0] - static_cast<std::uint32_t>(first.size()), first + second);
    programs.say(1, text_of(2, 33, kPsnB) + text_of(2, 34, kPsnB + 5000));
    programs.send(17, 33, kPsnA);
    programs.send(18, 34, kPsnA + 5000);
    CHECK(pairs(programs.finish()) == Said{"17-33 exchange", "18-34 exchange"});
}

TEST_CASE("ends that are out of step, with PSNs that nobody drew, prove nothing") {
    for (const std::uint32_t psn : {0U, 1U, 0xfffU, 0x123456U}) {
        INFO("PSN " << psn);
        Programs programs;
        programs.skip(0, text_of(1, 17, psn).size());  // the capture begins behind it
        programs.say(1, text_of(2, 33, psn));
        for (std::uint32_t i = 1; i < 4; ++i) programs.tell(17 + i, psn, 33 + i, psn);
        for (std::uint32_t i = 0; i < 4; ++i) programs.send(17 + i, 33 + i, psn);
        CHECK(pairs(programs.finish()) == Said{"17-33 traffic", "18-34 traffic", "19-35 traffic", "20-36 traffic"});
    }
}

TEST_CASE("ends that are out of step with PSNs that were drawn are not joined by what they told") {
    Programs programs;
    programs.skip(0, text_of(1, 17, kPsnA).size());
    programs.say(1, text_of(2, 33, kPsnB));
    for (std::uint32_t i = 1; i < 4; ++i) programs.tell(17 + i, kPsnA + 5000 * i, 33 + i, kPsnB + 5000 * i);
    for (std::uint32_t i = 0; i < 4; ++i) programs.send(17 + i, 33 + i, kPsnA + 5000 * i);
    CHECK(pairs(programs.finish()) == Said{"17-33 traffic", "18-34 traffic", "19-35 traffic", "20-36 traffic"});
}

TEST_CASE("a queue pair whose program tells of it anew begins anew") {
    SECTION("with another peer, after one request") {
        Programs programs;
        programs.tell(17, kPsnA, 34, kPsnB);
        programs.wire.packet(1, 2, 34, kRcSendOnly, kPsnA);
        programs.segment(0, programs.seq[0], "", kFin | kAck);
        programs.tell(18, kPsnA + 70000, 34, kPsnB + 70000);
        programs.send(18, 34, kPsnA + 70000);
        CHECK(pairs(programs.finish()) == Said{"17-34 exchange", "18-34 exchange"});
    }
    SECTION("with the same numbers and other PSNs") {
        Programs programs;
        for (std::uint32_t run = 0; run < 5; ++run) {
            programs.tell(17, kPsnA + 70000 * run, 34, kPsnB + 70000 * run);
            programs.send(17, 34, kPsnA + 70000 * run);
        }
        CHECK(pairs(programs.finish()) == Said(5, "17-34 exchange"));
    }
    SECTION("but not who tells the same once more, between runs and behind them") {
        Programs programs;
        for (std::uint32_t run = 0; run < 3; ++run) {
            programs.tell(17, kPsnA, 34, kPsnB);
            programs.send(17, 34, kPsnA + 8 * run);
        }
        programs.tell(17, kPsnA, 34, kPsnB);
        const Timeline timeline = programs.finish();
        CHECK(pairs(timeline) == Said{"17-34 exchange"});
        CHECK(timeline.connections[0].packets() == 48);
    }
    SECTION("nor where the capture began in the middle of a run") {
        Programs programs;
        programs.send(17, 34, kPsnA + 100);
        programs.tell(17, kPsnA, 34, kPsnB);
        programs.send(17, 34, kPsnA + 108);
        CHECK(pairs(programs.finish()) == Said{"17-34 traffic"});
    }
}

TEST_CASE("two programs that tell of the same queue pair: the last one counts, and only for its PSN") {
    Programs programs;
    programs.tell(17, kPsnA, 34, kPsnB);
    programs.tell(18, kPsnA, 34, kPsnB + 5000);
    programs.send(17, 34, kPsnA);
    CHECK(pairs(programs.finish()) == Said{"17-34 traffic"});
}

TEST_CASE("exchanges without end are forgotten, and cost no more than they may") {
    Programs programs;
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        programs.tell(1000 + i, kPsnA + i, 100'000 + i, kPsnB + i);
        if (i % 7 == 0) programs.segment(0, programs.seq[0], "", kSyn);
    }
    programs.tell(17, kPsnA, 34, kPsnB);
    programs.send(17, 34, kPsnA);
    CHECK(programs.finish().connections.size() == 1);
}
