// What programs tell each other of their queue pairs over TCP: the texts, and connections that are sure from their
// first packet.
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/set_up/exchange_text.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

constexpr std::string_view kPingpong = "0000:000014:dc1054:00000000000000000000ffff0a4d000b";
constexpr std::string_view kPerftest =
    "0000:0001:00001c:867c98:00001334:00005621c2d49000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:4d:00:0b:00000000:";

constexpr std::string_view kXrc = "0000:000014:000015:dc1054:000002:00000000000000000000ffff0a4d000b";

std::string with_zero(std::string_view text) { return std::string(text) + '\0'; }
Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// Which packets of a sample are followed, and how often.
using Times = std::function<unsigned(const Observation&)>;
Timeline analysed(std::string_view sample, const Times& times = [](const Observation&) { return 1U; }) {
    Analysis analysis;
    Observation observation;
    qps::tests::for_each_packet((qps::tests::kSampleFolder / sample / "capture.pcap").string(),
                                [&](const Packet& packet) {
                                    observe(packet, observation);
                                    for (unsigned left = times(observation); left != 0; --left)
                                        analysis.observe(observation);
                                });
    return analysis.finish();
}
std::ptrdiff_t joined_by(const Timeline& timeline, JoinedBy how) {
    return std::ranges::count(timeline.connections, how, &Connection::joined_by);
}
bool is_frame(const Observation& packet, std::uint64_t number) { return packet.frame == FrameIndex{number}; }

}  // namespace

TEST_CASE("texts of an exchange name a queue pair, a PSN and a GID") {
    for (const std::string_view plain : {kPingpong, kXrc, kPerftest}) {
        const std::string text = with_zero(plain);
        const auto read = read_exchange(bytes_of(text));
        REQUIRE(read);
        CHECK(read->size == text.size());
        CHECK(qps::transport::text(read->end.address) == "10.77.0.11");
        CHECK(read->end.qpn == (plain == kPerftest ? Qpn{0x1c} : Qpn{0x14}));
        CHECK(read->initiator == (plain == kXrc ? std::optional(Qpn{0x15}) : std::nullopt));
        CHECK(read->end.psn == Psn(plain == kPerftest ? 0x867c98U : 0xdc1054U));
        const std::string twice = text + text;
        CHECK(read_exchange(bytes_of(twice))->size == text.size());
    }
}

TEST_CASE("a text is written with another GID, and without R_Key and address") {
    for (const std::string_view plain : {kPingpong, kXrc, kPerftest}) {
        const std::string text = with_zero(plain);
        std::string other(text.size(), '?');
        rewrite_exchange(bytes_of(text), {0x20010db800000000, 0x123456789abcdef0},
                         std::as_writable_bytes(std::span(other)));
        const auto before = read_exchange(bytes_of(text)), after = read_exchange(bytes_of(other));
        REQUIRE(after);
        CHECK(after->end.qpn == before->end.qpn);
        CHECK(after->initiator == before->initiator);
        CHECK(after->end.psn == before->end.psn);
        CHECK(qps::transport::text(after->end.address) == "2001:db8::1234:5678:9abc:def0");
        CHECK(other.find("1334") == std::string::npos);
        CHECK(other.find("5621c2d49000") == std::string::npos);
    }
}

TEST_CASE("what is nearly the text of an exchange is none") {
    for (const std::string_view plain : {kPingpong, kXrc, kPerftest}) {
        const std::string text = with_zero(plain);
        for (std::size_t size = 0; size < text.size(); ++size) {
            const std::string shorter = text.substr(0, size);
            CHECK_FALSE(read_exchange(bytes_of(shorter)));
        }
        for (std::size_t i = 0; i < text.size(); ++i)
            for (const char other : {'g', 'x', '@', '`', '\x80', ' '}) {
                std::string changed = text;
                changed[i] = other;
                CHECK_FALSE(read_exchange(bytes_of(changed)));
            }
        for (std::size_t i = 0; i < plain.size(); ++i) {
            std::string shifted = text;
            shifted[i] = plain[i] == ':' ? '0' : ':';
            CHECK_FALSE(read_exchange(bytes_of(shifted)));
        }
    }
}

TEST_CASE("queue pairs that programs told each other are joined by that, from their first request on") {
    struct Sample {
        std::string_view name;
        std::ptrdiff_t told;
    };
    for (const Sample& sample :
         {Sample{"rc_pingpong", 1}, Sample{"uc_pingpong", 1}, Sample{"ud_pingpong", 0}, Sample{"write_8k", 1},
          Sample{"read_8k", 1}, Sample{"atomic_cas", 1}, Sample{"loss_write", 1}, Sample{"rping_v4", 0}}) {
        INFO(sample.name);
        const Timeline timeline = analysed(sample.name);
        CHECK(joined_by(timeline, JoinedBy::exchange) == sample.told);
        for (const Connection& connection : timeline.connections) {
            if (connection.joined_by != JoinedBy::exchange) continue;
            CHECK(connection.confidence == Confidence::certain);
            CHECK((connection.ends[0].qpn && connection.ends[1].qpn));
        }
    }
    const Timeline several = analysed("multi_qp");
    CHECK(joined_by(several, JoinedBy::exchange) == std::ssize(several.connections));
    CHECK(several.connections.size() == 8);
}

TEST_CASE("both ends are known where one packet is all there is of a connection") {
    bool first = true;
    const Timeline timeline = analysed("rc_pingpong", [&](const Observation& packet) {
        const bool rdma = packet.kind == ObservationKind::transport;
        return rdma && !std::exchange(first, false) ? 0U : 1U;
    });
    REQUIRE(timeline.connections.size() == 1);
    const Connection& connection = timeline.connections[0];
    CHECK(connection.joined_by == JoinedBy::exchange);
    CHECK(connection.ends[0].qpn == Qpn{0x14});
    CHECK(connection.ends[1].qpn == Qpn{0x14});
}

TEST_CASE("what the capture lacks of an exchange, or has twice, joins nothing that does not belong together") {
    const Timeline whole = analysed("multi_qp");
    const auto same_pairs = [&](const Timeline& timeline) {
        for (const Connection& connection : timeline.connections) {
            const auto same = [&](const Connection& known) {
                const auto is = [&](End end, End as) {
                    return known.end(end).address == connection.end(as).address &&
                           known.end(end).qpn == connection.end(as).qpn;
                };
                return (is(End::a, End::a) && is(End::b, End::b)) || (is(End::a, End::b) && is(End::b, End::a));
            };
            if (connection.joined_by == JoinedBy::exchange) CHECK(std::ranges::any_of(whole.connections, same));
        }
    };
    for (std::uint64_t frame = 15; frame < 32; ++frame) {
        INFO("frame " << frame);
        const Timeline lacking =
            analysed("multi_qp", [&](const Observation& packet) { return is_frame(packet, frame) ? 0U : 1U; });
        CHECK(lacking.connections.size() == 8);
        same_pairs(lacking);
        const Timeline doubled =
            analysed("multi_qp", [&](const Observation& packet) { return is_frame(packet, frame) ? 2U : 1U; });
        CHECK(joined_by(doubled, JoinedBy::exchange) == 8);
        same_pairs(doubled);
    }
    // Another PSN than was told: the first request is not in the capture.
    bool first = true;
    const Timeline later = analysed("write_8k", [&](const Observation& packet) {
        const bool request = packet.access.has_value();
        return request && std::exchange(first, false) ? 0U : 1U;
    });
    CHECK(joined_by(later, JoinedBy::exchange) == 0);
}
