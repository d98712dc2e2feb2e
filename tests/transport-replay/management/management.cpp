// What the management datagrams of a capture tell: a small fabric as it was made (tests/samples/fabric_sweep.cpp), and
// datagrams that lie, repeat and flood.
#include <dissect/mad/attributes.hpp>
#include <dissect/mad/performance.hpp>
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/observations.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/management/management_tracker.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/fabric.hpp>
#include <transport-replay/report/management_words.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

const Timeline& swept() {
    static const Timeline timeline = [] {
        Analysis analysis;
        qps::tests::for_each_observation(
            "fabric_sweep", [&](const Observation& observation) { static_cast<void>(analysis.observe(observation)); });
        return analysis.finish();
    }();
    return timeline;
}
const ManagementReport& report() { return swept().management; }

// One datagram after the other into a tracker.
struct Wire {
    ManagementTracker tracker;
    std::uint64_t frame = 0;
    std::int64_t now = 0;

    void say(const PacketSpec& spec, std::size_t captured = std::dynamic_extent) {
        const std::vector<std::byte> bytes = build(spec);
        Frame one = frame_of(spec, bytes, captured);
        one.index = FrameIndex{++frame};
        one.time = Instant{now += 1000};
        const auto packet = std::make_unique<Packet>();
        decode(one, *packet);
        Observation observation;
        observe(*packet, observation);
        if (observation.management) tracker.observe(observation);
    }
    ManagementReport finish(std::int64_t after = 0) { return tracker.finish(Instant{now + after}); }
};

PacketSpec datagram(ManagementClass management_class, std::uint16_t attribute, std::uint64_t method, std::uint64_t from,
                    std::uint64_t to, std::uint64_t transaction = 1) {
    PacketSpec spec = mad_packet(management_class, *find_attribute(management_class, attribute), Network::native_local);
    set(spec, "infiniband.lrh.slid", from);
    set(spec, "infiniband.lrh.dlid", to);
    set(spec, "infiniband.mad.method", method);
    set(spec, "infiniband.mad.transactionid", transaction);
    return spec;
}

constexpr auto kSa = ManagementClass::subnet_administration;

PacketSpec segment(std::uint64_t number, std::uint64_t flags, std::uint64_t payload, std::uint16_t attribute = 0x20,
                   std::uint64_t offset = 1) {
    PacketSpec spec = datagram(kSa, attribute, 0x92, 1, 4);
    set(spec, "infiniband.rmpp.rmppversion", 1);
    set(spec, "infiniband.rmpp.rmpptype", 1);
    set(spec, "infiniband.rmpp.rmppflags", flags);
    set(spec, "infiniband.rmpp.data1", number);
    set(spec, "infiniband.rmpp.data2", payload);
    set(spec, "infiniband.sa.attributeoffset", offset);
    return spec;
}

const ExchangeSum& sum(std::string_view request) {
    const auto found = std::ranges::find_if(report().sums, [&](const ExchangeSum& each) {
        return request_text(each.management_class, each.method, each.attribute) == request;
    });
    REQUIRE(found != report().sums.end());
    return *found;
}

}  // namespace

TEST_CASE("a sweep shows the nodes, their ports and descriptions") {
    const FabricMap& map = report().fabric;
    REQUIRE(map.nodes.size() == 4);
    const FabricNode& middle = map.nodes.front();
    CHECK(middle.description == "switch-1");
    CHECK(middle.type == 2);
    CHECK(middle.lid() == Lid{3});
    CHECK(middle.ports.size() == 5);
    CHECK(middle.ports.at(4).state == 1);
    CHECK(rate_text(middle.ports.at(2)) == "4x EDR");
    CHECK(rate_text(middle.ports.at(4)).empty());
    const FabricNode* node = FabricNodes(map).find(Lid{5});
    REQUIRE(node != nullptr);
    CHECK(node_text(*node) == "node-3 HCA-1");
    CHECK(node->ports.at(1).guid == 0x0002c90300000d31);
    CHECK(node->ports.at(1).manager == Lid{1});
    // Known from a record alone, and its port from a NodeInfo in it.
    REQUIRE(FabricNodes(map).find(Lid{1}) != nullptr);
    CHECK(FabricNodes(map).find(Lid{1})->description == "manager HCA-1");
}

TEST_CASE("links come from directed routes and from LinkRecords, each once") {
    const FabricMap& map = report().fabric;
    REQUIRE(map.links.size() == 3);
    const auto link_to = [&](std::string_view node) {
        return std::ranges::find_if(map.links, [&](const FabricLink& link) {
            return end_text(FabricNodes(map), link.a).starts_with(node) ||
                   end_text(FabricNodes(map), link.b).starts_with(node);
        });
    };
    REQUIRE(link_to("node-2") != map.links.end());
    CHECK(link_to("node-2")->walked);
    CHECK((link_to("node-2")->a.port == 2 || link_to("node-2")->b.port == 2));
    REQUIRE(link_to("manager") != map.links.end());
    CHECK_FALSE(link_to("manager")->walked);
}

TEST_CASE("managers, partitions and groups are as the datagrams say") {
    const FabricMap& map = report().fabric;
    REQUIRE(map.managers.size() == 1);
    CHECK(map.managers[0].lid == Lid{1});
    CHECK(map.managers[0].state == 3);
    CHECK(map.managers[0].answers == 2);
    REQUIRE(map.partitions.size() == 1);
    CHECK(map.partitions[0].key == 0x7fff);
    CHECK(map.partitions[0].members.size() == 2);
    CHECK(map.partitions[0].members[0].full);
    CHECK(partition_text(FabricNodes(map), map.partitions[0]) == "0x7fff: node-2 HCA-1 port 1, node-3 HCA-1 port 1");
    REQUIRE(map.groups.size() == 1);
    CHECK(map.groups[0].lid == Lid{0xc000});
    REQUIRE(map.groups[0].members.size() == 2);
    CHECK_FALSE(map.groups[0].members[0].left);
    CHECK(map.groups[0].members[1].left);
}

TEST_CASE("requests meet their answers, with status, latency and repetitions") {
    CHECK(sum("Subn_DirectedRoute Get NodeInfo").requests == 4);
    CHECK(sum("Subn_DirectedRoute Get NodeInfo").answered == 3);
    CHECK(sum("Subn_DirectedRoute Get NodeInfo").unanswered == 1);
    CHECK(sum("Subn_DirectedRoute Get NodeInfo").retries == 2);
    CHECK(sum("Subn_DirectedRoute Set PortInfo").answered == 2);
    CHECK(sum("SubnAdm Get PathRecord").refused == 1);
    CHECK(sum("SubnAdm Get PathRecord").fastest == Duration{10'000});
    CHECK(sum("SubnAdm Report Notice").answered == 1);
    CHECK(report().unasked == 0);
    const auto lost = std::ranges::find(report().exchanges, ExchangeOutcome::unanswered, &Exchange::outcome);
    REQUIRE(lost != report().exchanges.end());
    CHECK(text(*lost->path) == "0,1,4");
    CHECK(lost->retries == 2);
    CHECK(exchange_text(*lost) == "Subn_DirectedRoute Get NodeInfo along 0,1,4: unanswered, sent 3 times");
    const Exchange& first = report().exchanges.front();
    CHECK(first.latency == Duration{10'000});
    REQUIRE(first.return_path);
    CHECK(text(*first.return_path) == "0,1");
}

TEST_CASE("an answer of several segments is put together, with its acknowledgments") {
    const auto table = std::ranges::find_if(report().exchanges,
                                            [](const Exchange& each) { return each.rmpp && each.rmpp->segments > 1; });
    REQUIRE(table != report().exchanges.end());
    CHECK(table->outcome == ExchangeOutcome::answered);
    CHECK(table->rmpp->segments == 3);
    CHECK(table->rmpp->records == 4);
    CHECK(table->rmpp->bytes == 4 * 112);
    CHECK(table->rmpp->complete);
    CHECK(table->rmpp->acks == 1);  // the last one comes when the answer is whole
    CHECK(table->rmpp->window == 2);
}

TEST_CASE("counters that moved are told from those that stand") {
    REQUIRE(report().counters.size() == 1);
    const PortCounterHistory& history = report().counters[0];
    CHECK(history.port == 2);
    CHECK(history.answers == 3);
    CHECK(moved_texts(history, true) == std::vector<std::string>{"Symbol errors +10 to 17"});
    CHECK(moved_texts(history, false).size() == 2);
    CHECK(owner_text(FabricNodes(report().fabric), history) == "switch-1 port 2");
}

TEST_CASE("traps and reports are told in words, and repetitions counted") {
    REQUIRE(report().events.size() == 2);
    CHECK(report().events[0].count == 2);
    CHECK(event_text(report().events[0]) == "trap 128, Link state of a port changed: LID of the switch 3");
    CHECK(report().events[1].reported);
    CHECK(event_text(report().events[1]) == "trap 65, GID out of service: GID fe80::2:c903:0:d31");
}

TEST_CASE("segments out of order, repeated and late are the same answer") {
    Wire wire;
    wire.say(datagram(kSa, 0x20, 0x12, 4, 1));
    wire.say(segment(1, 3, 0));
    wire.say(segment(3, 5, 20 + 8));
    wire.say(segment(1, 3, 0));
    wire.say(segment(2, 1, 0));
    wire.say(segment(2, 1, 0));
    const ManagementReport found = wire.finish();
    REQUIRE(found.exchanges.size() == 1);
    const Exchange& exchange = found.exchanges[0];
    CHECK(exchange.outcome == ExchangeOutcome::answered);
    CHECK(exchange.rmpp->segments == 3);
    CHECK(exchange.rmpp->repeated == 1);
    CHECK(exchange.rmpp->records == (200 + 200 + 8) / 8);
}

TEST_CASE("an aborted answer is incomplete and says by whom it was ended") {
    Wire wire;
    wire.say(datagram(kSa, 0x20, 0x12, 4, 1));
    wire.say(segment(1, 3, 0));
    PacketSpec abort = datagram(kSa, 0x20, 0x12, 4, 1);
    set(abort, "infiniband.rmpp.rmpptype", 4);
    set(abort, "infiniband.rmpp.rmppflags", 1);
    set(abort, "infiniband.rmpp.rmppstatus", 118);
    wire.say(abort);
    wire.say(segment(2, 5, 28));
    const ManagementReport found = wire.finish();
    REQUIRE(found.exchanges.size() == 1);
    CHECK(found.exchanges[0].outcome == ExchangeOutcome::incomplete);
    CHECK(found.exchanges[0].rmpp->stopped == 118);
    CHECK(found.exchanges[0].rmpp->aborted);
    CHECK(found.fabric.links.empty());
}

TEST_CASE("segment numbers and lengths that lie cost nothing") {
    Wire wire;
    wire.say(datagram(kSa, 0x20, 0x12, 4, 1));
    wire.say(segment(1, 3, 0xffffffff));
    wire.say(segment(0xffffffff, 5, 0xffffffff));
    wire.say(segment(0, 7, 0));
    const ManagementReport found = wire.finish();
    CHECK(found.rmpp_dropped == 1);
    REQUIRE(found.exchanges.size() == 1);
    CHECK(found.exchanges[0].outcome == ExchangeOutcome::incomplete);
    CHECK(found.exchanges[0].rmpp->given_up);
}

TEST_CASE("segments of more answers than are followed at a time are counted") {
    Wire wire;
    for (std::uint64_t transaction = 1; transaction <= kMaxRmppTransfers + 10; ++transaction) {
        PacketSpec first = segment(1, 3, 0);
        set(first, "infiniband.mad.transactionid", transaction);
        wire.say(first);
    }
    const ManagementReport found = wire.finish();
    CHECK(found.rmpp_dropped == 10);
    CHECK(found.unasked == kMaxRmppTransfers + 10);
}

TEST_CASE("a floods of requests is bounded, and all are counted") {
    Wire wire;
    const std::size_t all = kMaxOpenExchanges + 1000;
    PacketSpec spec = datagram(kSa, 0x35, 1, 4, 1);
    for (std::uint64_t transaction = 0; transaction < all; ++transaction) {
        set(spec, "infiniband.mad.transactionid", transaction);
        wire.say(spec);
    }
    const ManagementReport found = wire.finish();
    REQUIRE(found.sums.size() == 1);
    CHECK(found.sums[0].requests == all);
    CHECK(found.exchanges.size() == all);
    CHECK(found.sums[0].unanswered > 0);
    CHECK(std::ranges::is_sorted(found.exchanges, {}, &Exchange::uid));
}

TEST_CASE("silence is no answer only after the time that managers wait") {
    for (const bool long_after : {false, true}) {
        Wire wire;
        wire.say(datagram(ManagementClass::subnet_lid_routed, 0x15, 1, 1, 3));
        const ManagementReport found = wire.finish(long_after ? 2'000'000'000 : 1000);
        REQUIRE(found.exchanges.size() == 1);
        CHECK(found.exchanges[0].outcome == (long_after ? ExchangeOutcome::unanswered : ExchangeOutcome::open));
    }
}

TEST_CASE("an SMP of a directed route on its next link is no repetition") {
    Wire wire;
    PacketSpec spec = datagram(ManagementClass::subnet_directed, 0x11, 1, 0xffff, 0xffff);
    set(spec, "infiniband.smpdirected.hopcount", 2);
    set(spec, "infiniband.smpdirected.hoppointer", 1);
    wire.say(spec);
    set(spec, "infiniband.smpdirected.hoppointer", 2);
    wire.say(spec);
    const ManagementReport found = wire.finish();
    REQUIRE(found.exchanges.size() == 1);
    CHECK(found.exchanges[0].retries == 0);
}

TEST_CASE("a counter that goes back was cleared, one at its end may hide more") {
    Wire wire;
    for (const std::uint64_t value : {65530U, 65535U, 3U}) {
        PacketSpec answer = datagram(ManagementClass::performance, 0x12, 0x81, 3, 1);
        set(answer, "infiniband.portcounters.portselect", 1);
        set(answer, "infiniband.portcounters.symbolerrorcounter", value);
        wire.say(answer);
    }
    const ManagementReport found = wire.finish();
    REQUIRE(found.counters.size() == 1);
    const CounterHistory& symbols = found.counters[0].counters[0];
    CHECK(symbols.first == 65530);
    CHECK(symbols.increments == 5 + 3);
    CHECK(symbols.resets == 1);
    CHECK_FALSE(symbols.saturated);
    CHECK(found.unasked == 3);
}

TEST_CASE("counters are all that the tables count, and errors are told from traffic") {
    const auto fields = counter_fields(LayerKind::port_counters);
    CHECK(fields.size() == 18);
    CHECK(std::ranges::count_if(fields, [](const Field* field) { return counts_errors(*field); }) == 13);
    const auto extended = counter_fields(LayerKind::port_counters_extended);
    CHECK(extended.size() == 22);
    CHECK(std::ranges::count_if(extended, [](const Field* field) { return counts_errors(*field); }) == 13);
}

TEST_CASE("what two managers say of one path is what was said last") {
    Wire wire;
    for (const std::uint64_t guid : {0x10U, 0x20U}) {
        PacketSpec answer = datagram(ManagementClass::subnet_directed, 0x11, 0x81, 0xffff, 0xffff);
        set(answer, "infiniband.mad.status", 0x8000);
        set(answer, "infiniband.smpdirected.hopcount", 1);
        set(answer, "infiniband.nodeinfo.nodeguid", guid);
        wire.say(answer);
        PacketSpec named = datagram(ManagementClass::subnet_directed, 0x10, 0x81, 0xffff, 0xffff);
        set(named, "infiniband.mad.status", 0x8000);
        set(named, "infiniband.smpdirected.hopcount", 1);
        const std::vector<std::byte> text(64, static_cast<std::byte>('a' + guid / 16));
        set(named, "infiniband.nodedescription.nodestring", Bytes(text));
        wire.say(named);
    }
    const ManagementReport found = wire.finish();
    REQUIRE(found.fabric.nodes.size() == 2);
    CHECK(found.fabric.nodes[0].description == std::string(64, 'b'));
    CHECK(found.fabric.nodes[1].description == std::string(64, 'c'));
}

TEST_CASE("datagrams cut at any byte tell nothing that is wrong") {
    const PacketSpec spec = datagram(ManagementClass::subnet_lid_routed, 0x11, 0x81, 3, 1);
    for (std::size_t captured = 0; captured < build(spec).size(); ++captured) {
        Wire wire;
        wire.say(spec, captured);
        const ManagementReport found = wire.finish();
        CAPTURE(captured);
        // The ICRC and the VCRC may be cut off.
        CHECK(found.fabric.nodes.empty() == (captured < 8 + 12 + 8 + kMadLength));
    }
}

TEST_CASE("words of status are those of their class") {
    CHECK(status_text(kSa, 0) == "ok");
    CHECK(status_text(kSa, 0x0300) == "No records (0x0300)");
    CHECK(status_text(ManagementClass::performance, 0x000c) ==
          "Method and attribute combination not supported (0x000c)");
    CHECK(status_text(ManagementClass::performance, 0x0001) == "Busy (0x0001)");
    CHECK(status_text(ManagementClass::performance, 0x0100) == "status 0x0100");
}

TEST_CASE("a fabric is drawn as a graph of its nodes and links") {
    std::string dot;
    append_dot(dot, report().fabric);
    CHECK(dot.starts_with("graph fabric {"));
    CHECK(std::ranges::count(dot, '-') >= 6);
    CHECK(dot.find("\"0x0002c902004000b0\" [label=\"switch-1\", shape=oval];") != std::string::npos);
    CHECK(dot.ends_with("}\n"));
}

TEST_CASE("rows of the fabric have each port with its other end and its errors") {
    const std::vector<FabricRow> rows = fabric_rows(report());
    REQUIRE(rows.size() >= 8);
    const auto second =
        std::ranges::find_if(rows, [](const FabricRow& row) { return row.node.type == 2 && row.port.number == 2; });
    REQUIRE(second != rows.end());
    REQUIRE(second->peer != nullptr);
    CHECK(second->peer_words == "node-2 HCA-1 port 1");
    CHECK(second->errors == "Symbol errors +10 to 17");
    CHECK(tone_of(*second) == Tone::warning);
}
