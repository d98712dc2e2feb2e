// Stories of packets as fields: every member arrives, and every word of an enumeration is the one it was.
#include <dissect/filter/filter.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <transport-replay/analysis/annotator.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using qps::tests::Decoded;

namespace {

constexpr qps::dissect::Opcode kSendOnly{4};

// What a story must have for a filter to pass the packet it is of.
struct Told {
    void (*happened)(PacketStory&);
    std::string_view filter;
};

constexpr std::array kTold{
    Told{[](PacketStory& story) { story.connection = ConnectionId{3}; }, "rdma.connection == 3 and rdma.from == a"},
    Told{[](PacketStory& story) { story.connection = ConnectionId{3}, story.from = End::b; }, "rdma.from == b"},
    Told{[](PacketStory& story) { story.arrival = Arrival::first; }, "rdma.arrival == first"},
    Told{[](PacketStory& story) { story.arrival = Arrival::in_order; }, "rdma.arrival == in_order"},
    Told{[](PacketStory& story) { story.arrival = Arrival::ahead; }, "rdma.arrival == ahead"},
    Told{[](PacketStory& story) { story.arrival = Arrival::late; }, "rdma.arrival == late"},
    Told{[](PacketStory& story) { story.arrival = Arrival::repeated; }, "rdma.arrival == repeated"},
    Told{[](PacketStory& story) { story.arrival = Arrival::restart; }, "rdma.arrival == restart"},
    Told{[](PacketStory& story) { story.retransmission = true; }, "rdma.retransmission"},
    Told{[](PacketStory& story) { story.duplicated = true; }, "rdma.duplicated"},
    Told{[](PacketStory& story) { story.mirror_copy = true; }, "rdma.mirror_copy"},
    Told{[](PacketStory& story) { story.unmatched = true; }, "rdma.unmatched"},
    Told{[](PacketStory& story) { story.missing = 4; }, "rdma.psn_missing == 4"},
    Told{[](PacketStory& story) { story.completed = 2; }, "rdma.message.completed == 2"},
    Told{[](PacketStory& story) { story.latency = Duration{1500}; }, "rdma.message.latency == 0.000001500"},
    Told{[](PacketStory& story) { story.latency = Duration{0}; }, "rdma.message.latency == 0"},
};

}  // namespace

TEST_CASE("every member of a story is a field, in the same words") {
    Decoded decoded(transport_packet(kSendOnly, Network::roce_v2_ipv4));
    for (const Told& told : kTold) {
        INFO(told.filter);
        const auto filter = Filter::compile(told.filter);
        REQUIRE(filter);
        PacketStory story;
        Annotation known = annotation(story);
        decoded.packet.annotation = &known;
        CHECK_FALSE(filter->matches(decoded.packet));
        told.happened(story);
        known = annotation(story);
        CHECK(filter->matches(decoded.packet));
    }
}

TEST_CASE("a packet of no connection comes from no end of one") {
    PacketStory story;
    story.from = End::b;
    CHECK_FALSE(annotation(story).from);
}

TEST_CASE("an annotator tells of a packet what those before it say") {
    const PacketSpec spec = transport_packet(kSendOnly, Network::roce_v2_ipv4);
    Annotator annotator;
    Decoded first(spec);
    annotator.annotate(first.packet);
    CHECK(first.number("rdma.connection") == 1U);
    CHECK(first.number("rdma.arrival") == 0U);
    CHECK_FALSE(first.number("rdma.retransmission"));

    Decoded again(spec);
    again.packet.frame.index = FrameIndex{2};
    again.packet.frame.time = Instant{100'000'000};  // no copy of a mirror comes so late
    annotator.annotate(again.packet);
    CHECK(again.number("rdma.connection") == 1U);
    CHECK(again.number("rdma.retransmission") == 1U);
}
