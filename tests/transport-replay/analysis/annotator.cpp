// Records of packets as fields: every member arrives, and every word of an enumeration is the one it was.
#include <dissect/filter/filter.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <transport-replay/analysis/annotator.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using qps::tests::Decoded;

namespace {

constexpr qps::dissect::Opcode kSendOnly{4};

// What a record must have for a filter to pass the packet it is of.
struct Member {
    void (*happened)(PacketRecord&);
    std::string_view filter;
};

constexpr std::array kMembers{
    Member{[](PacketRecord& record) { record.connection = ConnectionId{3}; },
           "rdma.connection == 3 and rdma.from == a"},
    Member{[](PacketRecord& record) { record.connection = ConnectionId{3}, record.from = End::b; }, "rdma.from == b"},
    Member{[](PacketRecord& record) { record.arrival = Arrival::first; }, "rdma.arrival == first"},
    Member{[](PacketRecord& record) { record.arrival = Arrival::in_order; }, "rdma.arrival == in_order"},
    Member{[](PacketRecord& record) { record.arrival = Arrival::ahead; }, "rdma.arrival == ahead"},
    Member{[](PacketRecord& record) { record.arrival = Arrival::late; }, "rdma.arrival == late"},
    Member{[](PacketRecord& record) { record.arrival = Arrival::repeated; }, "rdma.arrival == repeated"},
    Member{[](PacketRecord& record) { record.arrival = Arrival::restart; }, "rdma.arrival == restart"},
    Member{[](PacketRecord& record) { record.retransmission = true; }, "rdma.retransmission"},
    Member{[](PacketRecord& record) { record.duplicated = true; }, "rdma.duplicated"},
    Member{[](PacketRecord& record) { record.mirror_copy = true; }, "rdma.mirror_copy"},
    Member{[](PacketRecord& record) { record.unmatched = true; }, "rdma.unmatched"},
    Member{[](PacketRecord& record) { record.missing = 4; }, "rdma.psn_missing == 4"},
    Member{[](PacketRecord& record) { record.completed = 2; }, "rdma.message.completed == 2"},
    Member{[](PacketRecord& record) { record.latency = Duration{1500}; }, "rdma.message.latency == 0.000001500"},
    Member{[](PacketRecord& record) { record.latency = Duration{0}; }, "rdma.message.latency == 0"},
};

}  // namespace

TEST_CASE("every member of a packet record is a field, in the same words") {
    Decoded decoded(transport_packet(kSendOnly, Network::roce_v2_ipv4));
    for (const Member& member : kMembers) {
        INFO(member.filter);
        const auto filter = Filter::compile(member.filter);
        REQUIRE(filter);
        PacketRecord record;
        Annotation known = annotation(record);
        decoded.packet.annotation = &known;
        CHECK_FALSE(filter->matches(decoded.packet));
        member.happened(record);
        known = annotation(record);
        CHECK(filter->matches(decoded.packet));
    }
}

TEST_CASE("a packet of no connection comes from no end of one") {
    PacketRecord record;
    record.from = End::b;
    CHECK_FALSE(annotation(record).from);
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
