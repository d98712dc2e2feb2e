#include <dissect/mad/attributes.hpp>
#include <dissect/mad/forwarding.hpp>
#include <dissect/mad/subnet.hpp>
#include <tests/samples/fabric_sweep.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace qps::tests {

using namespace dissect;

namespace {

struct Node {
    std::string_view description;
    std::uint64_t guid;
    std::uint64_t lid;
    std::uint64_t type;
    std::uint64_t ports;
};
constexpr Node kManager{"manager HCA-1", 0x0002c90300000a10, 1, 1, 1};
constexpr Node kSwitch{"switch-1", 0x0002c902004000b0, 3, 2, 4};
constexpr Node kNode2{"node-2 HCA-1", 0x0002c90300000c20, 4, 1, 1};
constexpr Node kNode3{"node-3 HCA-1", 0x0002c90300000d30, 5, 1, 1};
constexpr std::uint64_t kPermissive = 0xffff;
constexpr std::uint64_t kPrefix = 0xfe80000000000000;
constexpr std::uint64_t kGet = 1, kSet = 2, kTrap = 5, kReport = 6, kRepress = 7, kGetTable = 0x12, kDelete = 0x15,
                        kResponse = 0x80;

using Gid = std::array<std::byte, 16>;
Gid gid_of(std::uint64_t prefix, std::uint64_t guid) {
    Gid gid{};
    write_bits(gid, 0, 64, prefix);
    write_bits(gid, 64, 64, guid);
    return gid;
}
constexpr std::uint64_t kBroadcastHigh = 0xff12401bffff0000, kBroadcastLow = 0x00000000ffffffff;

// Writes what is said one after the other; a transaction is a number that counts.
class Sweep {
public:
    [[nodiscard]] std::vector<SamplePacket> packets() && { return std::move(packets_); }
    void wait(std::uint64_t nanoseconds) { pause_ += nanoseconds; }
    void next_transaction() { ++transaction_; }

    PacketSpec datagram(ManagementClass management_class, std::uint16_t attribute, std::uint64_t method,
                        std::uint64_t from, std::uint64_t to) const {
        PacketSpec spec =
            mad_packet(management_class, *find_attribute(management_class, attribute), Network::native_local);
        spec.link = LinkType::erf;
        spec.headers.insert(spec.headers.begin(), {LayerKind::erf});
        set(spec, "infiniband.lrh.slid", from);
        set(spec, "infiniband.lrh.dlid", to);
        if (group_of(management_class) == MadGroup::subnet) set(spec, "infiniband.lrh.vl", 15);
        set(spec, "infiniband.mad.classversion", management_class == ManagementClass::subnet_administration ? 2 : 1);
        set(spec, "infiniband.mad.method", method);
        set(spec, "infiniband.mad.transactionid", 0x0000beef00000000 + transaction_);
        return spec;
    }
    void say(PacketSpec spec) { packets_.push_back({std::move(spec), std::dynamic_extent, std::exchange(pause_, 0)}); }

private:
    std::vector<SamplePacket> packets_;
    std::uint64_t transaction_ = 0x100;
    std::uint64_t pause_ = 0;
};

void describe(PacketSpec& spec, const Node& node, std::uint64_t arrived_by) {
    set(spec, "infiniband.nodeinfo.baseversion", 1);
    set(spec, "infiniband.nodeinfo.classversion", 1);
    set(spec, "infiniband.nodeinfo.nodetype", node.type);
    set(spec, "infiniband.nodeinfo.numports", node.ports);
    set(spec, "infiniband.nodeinfo.systemimageguid", node.guid + 3);
    set(spec, "infiniband.nodeinfo.nodeguid", node.guid);
    set(spec, "infiniband.nodeinfo.portguid", node.guid + (node.type == 2 ? 0 : 1));
    set(spec, "infiniband.nodeinfo.partitioncap", 64);
    set(spec, "infiniband.nodeinfo.deviceid", node.type == 2 ? 0xc738 : 0x1017);
    set(spec, "infiniband.nodeinfo.vendorid", 0x0002c9);
    set(spec, "infiniband.nodeinfo.localportnum", arrived_by);
    std::array<std::byte, 64> text{};
    std::ranges::copy(std::as_bytes(std::span(node.description)), text.begin());
    set(spec, "infiniband.nodedescription.nodestring", Bytes(text));
}

void give_port(PacketSpec& spec, std::uint64_t lid, std::uint64_t number, std::uint64_t state) {
    set(spec, "infiniband.portinfo.guid", kPrefix);
    set(spec, "infiniband.portinfo.lid", lid);
    set(spec, "infiniband.portinfo.mastersmlid", kManager.lid);
    set(spec, "infiniband.portinfo.localportnum", number);
    set(spec, "infiniband.portinfo.linkwidthactive", 2);
    set(spec, "infiniband.portinfo.portstate", state);
    set(spec, "infiniband.portinfo.portphysicalstate", state > 1 ? 5 : 2);
    set(spec, "infiniband.portinfo.linkspeedactive", 4);
    set(spec, "infiniband.portinfo.linkspeedextactive", 2);
    set(spec, "infiniband.portinfo.neighbormtu", lid == kNode2.lid ? 3 : 4);
}

// The switch's way to each LID; the manager forgot that of node 2.
void forward(PacketSpec& spec) {
    const auto table = std::ranges::find(spec.headers, kind::linear_forwarding_table, &HeaderSpec::kind);
    for (std::size_t lid = 0; lid < kPortsOfBlock; ++lid) {
        const std::uint64_t port = lid == kManager.lid ? 1 : lid == kSwitch.lid ? 0 : lid == kNode3.lid ? 3 : kNoPort;
        table->settings.push_back({.field = &kLinearForwardingFields[lid], .number = port});
    }
}

// A request along a path and, where `fill` is given, its answer.
struct Asked {
    Sweep& sweep;
    std::vector<std::uint8_t> path;  // empty: LID routed
    std::uint64_t lid = kPermissive;

    PacketSpec packet(std::uint16_t attribute, std::uint64_t method, std::uint64_t modifier, bool back) const {
        const bool directed = !path.empty();
        const auto management_class = directed ? ManagementClass::subnet_directed : ManagementClass::subnet_lid_routed;
        const std::uint64_t here = directed ? kPermissive : kManager.lid;
        const std::uint64_t there = directed ? kPermissive : lid;
        PacketSpec spec = sweep.datagram(management_class, attribute, method | (back ? kResponse : 0),
                                         back ? there : here, back ? here : there);
        set(spec, "infiniband.mad.attributemodifier", modifier);
        if (!directed) return spec;
        set(spec, "infiniband.mad.status", back ? 0x8000 : 0);
        set(spec, "infiniband.smpdirected.hoppointer", 1);
        set(spec, "infiniband.smpdirected.hopcount", path.size());
        set(spec, "infiniband.smpdirected.drslid", kPermissive);
        set(spec, "infiniband.smpdirected.drdlid", kPermissive);
        std::array<std::byte, kSmpPathLength> forth{}, return_path{};
        for (std::size_t i = 0; i < path.size(); ++i) forth[i + 1] = static_cast<std::byte>(path[i]);
        if (back)
            for (std::size_t i = 1; i <= path.size(); ++i) return_path[i] = std::byte{1};
        set(spec, "infiniband.smpdirected.initialpath", Bytes(forth));
        set(spec, "infiniband.smpdirected.returnpath", Bytes(return_path));
        return spec;
    }
    template <class Fill>
    void ask(std::uint16_t attribute, std::uint64_t method, std::uint64_t modifier, Fill fill) const {
        sweep.next_transaction();
        sweep.say(packet(attribute, method, modifier, false));
        PacketSpec answer = packet(attribute, method == kSet ? kGet : method, modifier, true);
        fill(answer);
        sweep.say(std::move(answer));
    }
};

void ask_switches(Sweep& sweep) {
    const Asked to_switch{sweep, {1}};
    to_switch.ask(0x11, kGet, 0, [](PacketSpec& spec) { describe(spec, kSwitch, 1); });
    to_switch.ask(0x10, kGet, 0, [](PacketSpec& spec) { describe(spec, kSwitch, 1); });
    to_switch.ask(0x15, kGet, 0, [](PacketSpec& spec) { give_port(spec, kSwitch.lid, 0, 4); });
    for (std::uint64_t port = 1; port <= kSwitch.ports; ++port)
        to_switch.ask(0x15, kGet, port, [&](PacketSpec& spec) { give_port(spec, 0, 1, port == 4 ? 1 : 4); });
    for (const auto& [port, node] : {std::pair{2, &kNode2}, std::pair{3, &kNode3}}) {
        const Asked to_node{sweep, {1, static_cast<std::uint8_t>(port)}};
        to_node.ask(0x11, kGet, 0, [&](PacketSpec& spec) { describe(spec, *node, 1); });
        to_node.ask(0x10, kGet, 0, [&](PacketSpec& spec) { describe(spec, *node, 1); });
        to_node.ask(0x15, kSet, 1, [&](PacketSpec& spec) { give_port(spec, node->lid, 1, 4); });
        to_node.ask(0x16, kGet, 0, [](PacketSpec& spec) { set(spec, "infiniband.p_keytable.p_key", 0xffff); });
    }
    const Asked nobody{sweep, {1, 4}};
    sweep.next_transaction();
    for (int i = 0; i < 3; ++i) {
        sweep.say(nobody.packet(0x11, kGet, 0, false));
        sweep.wait(200'000'000);
    }
    const Asked routed{sweep, {}, kSwitch.lid};
    routed.ask(0x19, kSet, 0, forward);
    routed.ask(0x1b, kSet, 0,
               [](PacketSpec& spec) { set(spec, "infiniband.multicastforwardingtable.portmask", 0x000e); });
}

void watch_managers(Sweep& sweep) {
    sweep.next_transaction();
    PacketSpec request = sweep.datagram(ManagementClass::subnet_lid_routed, 0x20, kGet, kNode2.lid, kManager.lid);
    sweep.say(request);
    PacketSpec answer =
        sweep.datagram(ManagementClass::subnet_lid_routed, 0x20, kGet | kResponse, kManager.lid, kNode2.lid);
    set(answer, "infiniband.sminfo.guid", kManager.guid + 1);
    set(answer, "infiniband.sminfo.actcount", 1234);
    set(answer, "infiniband.sminfo.priority", 14);
    set(answer, "infiniband.sminfo.smstate", 3);
    sweep.say(answer);
}

struct Query {
    Sweep& sweep;
    const Node& asker;
    [[nodiscard]] PacketSpec packet(std::uint16_t attribute, std::uint64_t method, bool back) const {
        PacketSpec spec =
            sweep.datagram(ManagementClass::subnet_administration, attribute, method | (back ? kResponse : 0),
                           back ? kManager.lid : asker.lid, back ? asker.lid : kManager.lid);
        set(spec, "infiniband.rmpp.rmppversion", 1);
        return spec;
    }
    void acknowledge(std::uint16_t attribute, std::uint64_t segment, std::uint64_t window) const {
        PacketSpec ack = packet(attribute, kGetTable, false);
        set(ack, "infiniband.rmpp.rmpptype", 2);
        set(ack, "infiniband.rmpp.rmppflags", 1);
        set(ack, "infiniband.rmpp.data1", segment);
        set(ack, "infiniband.rmpp.data2", window);
        sweep.say(ack);
    }
};

void put_segment(PacketSpec& spec, std::uint64_t number, std::uint64_t flags, std::uint64_t payload,
                 std::uint64_t record_size) {
    set(spec, "infiniband.rmpp.rmpptype", 1);
    set(spec, "infiniband.rmpp.rmppflags", flags);
    set(spec, "infiniband.rmpp.data1", number);
    set(spec, "infiniband.rmpp.data2", payload);
    set(spec, "infiniband.sa.attributeoffset", record_size / 8);
}

// The records one after the other as the bytes that segments carry.
std::vector<std::byte> node_records() {
    constexpr std::size_t kRecord = 112;
    std::vector<std::byte> all;
    for (const Node* node : {&kManager, &kSwitch, &kNode2, &kNode3}) {
        PacketSpec spec =
            mad_packet(ManagementClass::subnet_administration,
                       *find_attribute(ManagementClass::subnet_administration, 0x11), Network::native_local);
        spec.headers.push_back({LayerKind::node_info});
        spec.headers.push_back({LayerKind::node_description});
        set(spec, "infiniband.sa.lid", node->lid);
        describe(spec, *node, 1);
        const std::vector<std::byte> bytes = build(spec);
        const auto record = bytes.end() - (2 + 4 + kMadLength) + mad_places::kSa;
        all.insert(all.end(), record, record + kRecord);
    }
    return all;
}

// An answer of several segments: all headers behind the SA header give way to the bytes of the records.
void answer_table(const Query& query, std::uint16_t attribute, const std::vector<std::byte>& records,
                  std::uint64_t record_size) {
    constexpr std::size_t kRoom = 200;
    const std::size_t segments = (records.size() + kRoom - 1) / kRoom;
    for (std::size_t i = 0; i < segments; ++i) {
        const bool last = i + 1 == segments;
        const std::size_t length = std::min(kRoom, records.size() - i * kRoom);
        PacketSpec spec = query.packet(attribute, kGetTable, true);
        put_segment(spec, i + 1, 1U + (i == 0 ? 2U : 0U) + (last ? 4U : 0U),
                    last     ? length + 20
                    : i == 0 ? records.size() + 20 * segments
                             : 0,
                    record_size);
        HeaderSpec& sa = *find(spec, LayerKind::sa);
        spec.headers.resize(static_cast<std::size_t>(&sa - spec.headers.data()) + 1);
        spec.headers.back().tail.assign(records.begin() + static_cast<std::ptrdiff_t>(i * kRoom),
                                        records.begin() + static_cast<std::ptrdiff_t>(i * kRoom + length));
        query.sweep.say(spec);
        if (i == 1) query.acknowledge(attribute, 2, 4);
    }
    query.acknowledge(attribute, segments, segments + 2);
}

void ask_administration(Sweep& sweep) {
    const Query nodes{sweep, kNode2};
    sweep.next_transaction();
    sweep.say(nodes.packet(0x11, kGetTable, false));
    answer_table(nodes, 0x11, node_records(), 112);

    sweep.next_transaction();
    sweep.say(nodes.packet(0x20, kGetTable, false));
    std::vector<std::byte> links(8);
    write_bits(links, 0, 64, 0x0001010100030000);  // LID 1 port 1 -> port 1 of LID 3
    answer_table(nodes, 0x20, links, 8);

    sweep.next_transaction();
    PacketSpec path = nodes.packet(0x35, kGet, false);
    set(path, "infiniband.pathrecord.slid", kNode2.lid);
    set(path, "infiniband.pathrecord.dlid", kNode3.lid);
    sweep.say(path);
    set(path, "infiniband.lrh.slid", kManager.lid);
    set(path, "infiniband.lrh.dlid", kNode2.lid);
    set(path, "infiniband.mad.method", kGet | kResponse);
    set(path, "infiniband.pathrecord.mtu", 5);
    set(path, "infiniband.pathrecord.rate", 16);
    sweep.say(path);

    sweep.next_transaction();
    sweep.say(nodes.packet(0x35, kGet, false));
    PacketSpec none = nodes.packet(0x35, kGet, true);
    set(none, "infiniband.mad.status", 0x0300);
    sweep.say(none);
}

void join_groups(Sweep& sweep) {
    for (const auto& [node, method] : {std::pair{&kNode2, kSet}, {&kNode3, kSet}, {&kNode3, kDelete}}) {
        const Query query{sweep, *node};
        sweep.next_transaction();
        for (const bool back : {false, true}) {
            PacketSpec spec = query.packet(0x38, back && method == kSet ? kGet : method, back);
            set(spec, "infiniband.mcmemberrecord.mgid", Bytes(gid_of(kBroadcastHigh, kBroadcastLow)));
            set(spec, "infiniband.mcmemberrecord.portgid", Bytes(gid_of(kPrefix, node->guid + 1)));
            set(spec, "infiniband.mcmemberrecord.p_key", 0xffff);
            set(spec, "infiniband.mcmemberrecord.joinstate", 1);
            if (back) set(spec, "infiniband.mcmemberrecord.q_key", 0x0b1b);
            if (back) set(spec, "infiniband.mcmemberrecord.mlid", 0xc000);
            if (back)
                set(spec, "infiniband.mcmemberrecord.mtuselector", 2), set(spec, "infiniband.mcmemberrecord.mtu", 4);
            if (back)
                set(spec, "infiniband.mcmemberrecord.rateselector", 2), set(spec, "infiniband.mcmemberrecord.rate", 3);
            sweep.say(spec);
        }
    }
}

void measure(Sweep& sweep) {
    for (std::uint64_t round = 0; round < 3; ++round) {
        sweep.next_transaction();
        for (const bool back : {false, true}) {
            PacketSpec spec = sweep.datagram(ManagementClass::performance, 0x12, kGet | (back ? kResponse : 0),
                                             back ? kSwitch.lid : kManager.lid, back ? kManager.lid : kSwitch.lid);
            set(spec, "infiniband.portcounters.portselect", 2);
            if (back) set(spec, "infiniband.portcounters.symbolerrorcounter", 7 + 5 * round);
            if (back) set(spec, "infiniband.portcounters.linkdownedcounter", 1);
            if (back) set(spec, "infiniband.portcounters.portxmitpkts", 1000 * (round + 1));
            sweep.say(spec);
        }
        sweep.wait(100'000'000);
    }
}

void add_events(Sweep& sweep) {
    sweep.next_transaction();
    for (const std::uint64_t method : {kTrap, kTrap, kRepress}) {
        const bool repress = method == kRepress;
        PacketSpec spec = sweep.datagram(ManagementClass::subnet_lid_routed, 2, method,
                                         repress ? kManager.lid : kSwitch.lid, repress ? kSwitch.lid : kManager.lid);
        set(spec, "infiniband.notice.isgeneric", 1);
        set(spec, "infiniband.notice.type", 1);
        set(spec, "infiniband.notice.producertypevendorid", 2);
        set(spec, "infiniband.notice.trapnumberdeviceid", 128);
        set(spec, "infiniband.notice.issuerlid", kSwitch.lid);
        std::array<std::byte, kNoticeDetailsLength> details{};
        details[1] = static_cast<std::byte>(kSwitch.lid);
        set(spec, "infiniband.notice.datadetails", Bytes(details));
        sweep.say(spec);
    }
    sweep.next_transaction();
    for (const bool back : {false, true}) {
        PacketSpec spec = sweep.datagram(ManagementClass::subnet_administration, 2, kReport | (back ? kResponse : 0),
                                         back ? kNode2.lid : kManager.lid, back ? kManager.lid : kNode2.lid);
        set(spec, "infiniband.notice.isgeneric", 1);
        set(spec, "infiniband.notice.type", 3);
        set(spec, "infiniband.notice.producertypevendorid", 4);
        set(spec, "infiniband.notice.trapnumberdeviceid", 65);
        set(spec, "infiniband.notice.issuerlid", kManager.lid);
        std::array<std::byte, kNoticeDetailsLength> details{};
        std::ranges::copy(gid_of(kPrefix, kNode3.guid + 1), details.begin() + 6);
        set(spec, "infiniband.notice.datadetails", Bytes(details));
        sweep.say(spec);
    }
}

}  // namespace

std::vector<SamplePacket> fabric_sweep() {
    Sweep sweep;
    ask_switches(sweep);
    watch_managers(sweep);
    ask_administration(sweep);
    join_groups(sweep);
    measure(sweep);
    add_events(sweep);
    sweep.wait(2'000'000'000);  // as long as nobody waits for an answer
    watch_managers(sweep);
    return std::move(sweep).packets();
}

}  // namespace qps::tests
