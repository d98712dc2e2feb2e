// Rewriting a frame is building it with other values: every field of every packet that a rule is about, checksums and
// ICRC included.
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>
#include <transport-replay/live/faults.hpp>
#include <transport-replay/live/replay/rewriter.hpp>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;

namespace {

using Frames = std::vector<std::byte>;

Rewriter rewriter(const std::vector<std::string>& texts) {
    std::vector<RewriteRule> rules;
    for (const std::string& text : texts) {
        const auto rule = parse_rewrite(text);
        INFO(text << ": " << (rule ? "" : rule.error()));
        REQUIRE(rule);
        rules.push_back(*rule);
    }
    return Rewriter(rules);
}

Frames rewritten(const Frames& frame, const std::vector<std::string>& texts) {
    Frames room = frame;
    room.resize(frame.size() + 8);
    const std::size_t length = rewriter(texts).apply(room, frame.size());
    room.resize(length);
    return room;
}

void set_all(PacketSpec& spec, Network network, bool after) {
    const std::uint32_t host = after ? 0xc0a80900 : 0x0a4d0000;  // 192.168.9.0 instead of 10.77.0.0
    std::array<std::byte, 16> source{std::byte{0xfd}, std::byte{1}}, destination = source;
    if (after) source[1] = destination[1] = std::byte{2};
    source[15] = std::byte{11};
    destination[15] = std::byte{12};
    if (network == Network::roce_v2_ipv4) {
        set(spec, "ip.src", host + 11);
        set(spec, "ip.dst", host + 12);
        set(spec, "ip.id", 4711);
    } else {
        const bool grh = network == Network::roce_v1;
        set(spec, grh ? "infiniband.grh.sgid" : "ipv6.src", Bytes(source));
        set(spec, grh ? "infiniband.grh.dgid" : "ipv6.dst", Bytes(destination));
    }
    set(spec, "eth.src", after ? 0x02000000000b : 0x020000000001);
    set(spec, "eth.dst", after ? 0x0200000000ff : 0x020000000002);
    set(spec, "infiniband.bth.destqp", after ? 0x42 : 0x11);
    set(spec, "infiniband.bth.psn", after ? 4 : 0xffffff);
    set(spec, "infiniband.bth.p_key", after ? 0x8001 : 0xffff);
    set(spec, "infiniband.deth.srcqp", after ? 0x43 : 0x12);
    set(spec, "infiniband.reth.r_key", after ? 0x99 : 0x1234);
    const std::array key{std::byte{0}, std::byte{0}, after ? std::byte{0} : std::byte{0x12},
                         after ? std::byte{0x99} : std::byte{0x34}};
    set(spec, "infiniband.ieth", Bytes(key));
    spec.payload.assign(37, std::byte{0x5a});
}

const std::vector<std::string> kEverything{"ip 10.77.0.0/24=192.168.9.0/24",
                                           "ip fd01::/16=fd02::/16",
                                           "src-mac *=02:00:00:00:00:0b",
                                           "dst-mac 02:00:00:00:00:02=02:00:00:00:00:ff",
                                           "qpn 0x11=0x42",
                                           "qpn 18=67",
                                           "psn 17+5",
                                           "pkey 0xffff=0x8001",
                                           "rkey 0x1234=0x99"};

// The sum of a UDP datagram in IPv4 with its pseudo header: all ones where its checksum is right.
std::uint16_t udp_sum(Bytes frame) {
    const std::size_t length = read_be<std::uint16_t>(frame, 38);
    return checksum_of(word_sum(slice(frame, 34, length), word_sum(slice(frame, 26, 8), 17 + length)));
}

}  // namespace

TEST_CASE("rewriting a packet is building another, for every opcode and network of Ethernet") {
    for (const Network network : {Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1})
        for (std::size_t code = 0; code < 256; ++code) {
            if (!kOpcodes[code].defined) continue;
            PacketSpec before = transport_packet(static_cast<Opcode>(code), network), after = before;
            set_all(before, network, false);
            set_all(after, network, true);
            INFO(kOpcodes[code].name() << " over network " << static_cast<int>(network));
            REQUIRE(rewritten(build(before), kEverything) == build(after));
        }
}

TEST_CASE("set-up messages say the same as the packets they set up") {
    struct Message {
        std::uint16_t attribute;
        const char* qpn;
        const char* psn;
    };
    constexpr std::array kMessages{Message{0x10, "infiniband.cm.req.localqpn", "infiniband.cm.req.startpsn"},
                                   Message{0x13, "infiniband.cm.rep.localqpn", "infiniband.cm.rep.startpsn"}};
    for (const Message& message : kMessages) {
        const MadAttribute* attribute = find_attribute(ManagementClass::communication, message.attribute);
        REQUIRE(attribute != nullptr);
        const auto make = [&](bool after) {
            PacketSpec spec = mad_packet(ManagementClass::communication, *attribute, Network::roce_v2_ipv4);
            const std::uint32_t host = after ? 0xc0a8090b : 0x0a4d000b;
            set(spec, "ip.src", host);
            set(spec, "infiniband.bth.p_key", after ? 0x8001 : 0xffff);
            REQUIRE(set(spec, message.qpn, after ? 0x42 : 0x11));
            REQUIRE(set(spec, message.psn, after ? 105 : 100));
            set(spec, "infiniband.cm.req.pkey", after ? 0x8001 : 0xffff);
            std::array<std::byte, 16> gid{};
            write_bits(gid, 80, 16, 0xffff);
            write_bits(gid, 96, 32, host);
            set(spec, "infiniband.cm.req.prim_localgid", Bytes(gid));
            return build(spec);
        };
        INFO(attribute->name);
        CHECK(rewritten(make(false), {"ip 10.77.0.0/24=192.168.9.0/24", "qpn *=0x42 at 10.77.0.11",
                                      "psn 17+5 at 10.77.0.11", "pkey 0xffff=0x8001"}) == make(true));
    }
}

TEST_CASE("checksums that were right stay right, wrong ones wrong") {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    spec.payload.assign(101, std::byte{0x5a});
    Frames frame = build(spec);
    CHECK(read_be<std::uint16_t>(frame, 40) == 0);
    Frames changed = rewritten(frame, {"ip *=192.168.9.1", "qpn *=0x42", "psn *-7"});
    CHECK(read_be<std::uint16_t>(changed, 40) == 0);  // none stays none
    write_bits(frame, 40 * 8, 16, udp_sum(frame));
    REQUIRE(udp_sum(frame) == 0);
    changed = rewritten(frame, {"src-ip *=192.168.9.1", "qpn *=0x42", "psn *-7"});
    CHECK(changed != frame);
    CHECK(udp_sum(changed) == 0);
    CHECK(checksum_of(word_sum(slice(changed, 14, 20))) == 0);

    frame[41] ^= std::byte{1};
    frame[25] ^= std::byte{1};
    CHECK(udp_sum(rewritten(frame, {"src-ip *=192.168.9.1"})) != 0);
    CHECK(checksum_of(word_sum(slice(rewritten(frame, {"src-ip *=192.168.9.1"}), 14, 20))) != 0);

    // A flipped bit that the ICRC sees is one that it still sees.
    spec.icrc.reset();
    frame = build(spec);
    flip_bit(frame, 70 * 8 + 1);
    changed = rewritten(frame, {"qpn *=0x42"});
    flip_bit(changed, 70 * 8 + 1);
    flip_bit(frame, 70 * 8 + 1);
    CHECK(changed == rewritten(frame, {"qpn *=0x42"}));
}

TEST_CASE("VLAN tags are renumbered, put on and taken off") {
    const Frames plain = build(transport_packet(Opcode{0x04}, Network::roce_v2_ipv4));
    const Frames five = rewritten(plain, {"vlan none=5"});
    REQUIRE(five.size() == plain.size() + 4);
    CHECK(read_be<std::uint32_t>(five, 12) == 0x8100'0005);
    CHECK(rewritten(five, {"vlan 5=none"}) == plain);
    CHECK(rewritten(five, {"vlan *=none"}) == plain);
    CHECK(rewritten(plain, {"vlan *=none"}) == plain);
    CHECK(rewritten(five, {"vlan 6=7"}) == five);
    Frames urgent = five;
    urgent[14] |= std::byte{0xe0};
    CHECK(read_be<std::uint16_t>(rewritten(urgent, {"vlan 5=4094"}), 14) == 0xeffe);  // its priority stays
    CHECK(rewritten(plain, {"vlan 5=7"}) == plain);
    // With other rules: the packet behind a new tag is found.
    CHECK(rewritten(rewritten(plain, {"vlan none=5", "qpn *=9"}), {"vlan *=none"}) == rewritten(plain, {"qpn *=9"}));
    Frames tight = plain;
    CHECK(rewriter({"vlan none=5"}).apply(tight, tight.size()) == 0);
}

TEST_CASE("a rule is about one side, one host, one network, the first counts") {
    PacketSpec spec = transport_packet(Opcode{0x64}, Network::roce_v2_ipv4);  // UD SEND Only: a source queue pair too
    set(spec, "ip.src", 0x0a000001);
    set(spec, "ip.dst", 0x0a000102);
    set(spec, "infiniband.bth.destqp", 0x11);
    set(spec, "infiniband.deth.srcqp", 0x11);
    const Frames frame = build(spec);
    const auto with = [&](std::initializer_list<std::pair<const char*, std::uint64_t>> fields) {
        PacketSpec other = spec;
        for (const auto& [name, value] : fields) REQUIRE(set(other, name, value));
        return build(other);
    };
    CHECK(rewritten(frame, {"src-ip *=1.2.3.4"}) == with({{"ip.src", 0x01020304}}));
    CHECK(rewritten(frame, {"dst-ip *=1.2.3.4"}) == with({{"ip.dst", 0x01020304}}));
    CHECK(rewritten(frame, {"ip 10.0.1.0/24=10.9.9.0/24"}) == with({{"ip.dst", 0x0a090902}}));
    CHECK(rewritten(frame, {"ip 10.0.0.1=10.0.1.2", "ip 10.0.1.2=10.0.0.1"}) ==
          with({{"ip.src", 0x0a000102}, {"ip.dst", 0x0a000001}}));
    CHECK(rewritten(frame, {"ip 10.0.0.1=1.1.1.1", "ip *=2.2.2.2"}) ==
          with({{"ip.src", 0x01010101}, {"ip.dst", 0x02020202}}));
    CHECK(rewritten(frame, {"ip *=::1"}) == frame);  // an IPv4 packet has no room for it
    CHECK(rewritten(frame, {"qpn 17=5 at 10.0.0.1"}) == with({{"infiniband.deth.srcqp", 5}}));
    CHECK(rewritten(frame, {"qpn 17=5 at 10.0.1.2", "ip *=9.9.9.9"}) ==
          with({{"infiniband.bth.destqp", 5}, {"ip.src", 0x09090909}, {"ip.dst", 0x09090909}}));
    CHECK(rewritten(frame, {"psn 17+1 at 10.0.0.1"}) == frame);
    CHECK(rewritten(frame, {"psn 17-1 at 10.0.1.2"}) == with({{"infiniband.bth.psn", 0xffffff}}));
    CHECK(rewritten(frame, {"psn 18+1", "pkey 1=2", "rkey *=1", "mac 00:00:00:00:00:99=02:00:00:00:00:01"}) == frame);
    for (const std::uint32_t known : {0U, 1U, 0xffffffU}) {
        set(spec, "infiniband.bth.destqp", known);
        const Frames special = build(spec);
        CHECK(read_bits(rewritten(special, {"qpn *=5"}), 47 * 8, 24) == known);
        CHECK(read_bits(rewritten(special, {fmt::format("qpn {}=5", known)}), 47 * 8, 24) == 5);
    }
}

TEST_CASE("rewriting survives whatever a frame says") {
    Draws draws(3);
    Rewriter all = rewriter({"ip *=192.168.9.1", "ip *=fd00::1", "mac *=02:00:00:00:00:0b", "qpn *=5", "psn *+5",
                             "pkey *=1", "rkey *=1", "vlan *=7"});
    for (int i = 0; i < 20'000; ++i) {
        const auto network = kNetworks[draws.below(3)];
        PacketSpec spec = transport_packet(static_cast<Opcode>(draws.below(256)), network);
        spec.payload.resize(draws.below(64));
        Frames frame = build(spec);
        for (std::uint64_t flips = draws.below(8); flips > 0; --flips) flip_bit(frame, draws.below(frame.size() * 8));
        frame.resize(draws.below(frame.size() + 1));
        const std::size_t length = frame.size();
        auto room = std::make_unique<std::byte[]>(length + 4);
        std::ranges::copy(frame, room.get());
        const std::size_t after = all.apply({room.get(), length + 4}, length);
        CHECK((after == length || after == length + 4));
    }
}

TEST_CASE("the text of a rule that is wrong") {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"",
         "invalid rewrite rule '': unknown field '': expected one of mac, src-mac, dst-mac, ip, src-ip, dst-ip, vlan, qpn, psn, pkey, rkey"},
        {"port 1=2",
         "invalid rewrite rule 'port 1=2': unknown field 'port': expected one of mac, src-mac, dst-mac, ip, src-ip, dst-ip, vlan, qpn, psn, pkey, rkey"},
        {"qpn 17", "invalid rewrite rule 'qpn 17': invalid mapping '17': expected OLD=NEW"},
        {"qpn 17=0x1000000",
         "invalid rewrite rule 'qpn 17=0x1000000': invalid value '0x1000000': expected a number of 24 bits, or *"},
        {"qpn 17=*", "invalid rewrite rule 'qpn 17=*': the new value cannot be *"},
        {"qpn 17=18 on 10.0.0.1", "invalid rewrite rule 'qpn 17=18 on 10.0.0.1': unexpected 'on'"},
        {"qpn 17=18 at", "invalid rewrite rule 'qpn 17=18 at': invalid host address ''"},
        {"qpn 17=18 at 10.0.0.0/8",
         "invalid rewrite rule 'qpn 17=18 at 10.0.0.0/8': invalid host address '10.0.0.0/8'"},
        {"ip 10.0.0.1=1.1.1.1 at 10.0.0.1", "invalid rewrite rule 'ip 10.0.0.1=1.1.1.1 at 10.0.0.1': unexpected 'at'"},
        {"ip 10.0.0.1=fd00::1", "invalid rewrite rule 'ip 10.0.0.1=fd00::1': address families differ: IPv4 and IPv6"},
        {"ip 10.0.0.0/8=11.0.0.0/16", "invalid rewrite rule 'ip 10.0.0.0/8=11.0.0.0/16': prefix lengths differ"},
        {"ip 10.0.0.0/33=11.0.0.0/33",
         "invalid rewrite rule 'ip 10.0.0.0/33=11.0.0.0/33': invalid value '10.0.0.0/33': expected an address or network such as 10.0.0.1, 10.0.0.0/24, "
         "2001:db8::1, or *"},
        {"mac 02:00=02:01",
         "invalid rewrite rule 'mac 02:00=02:01': invalid value '02:00': expected a MAC address such as 02:00:00:00:00:01, or *"},
        {"vlan 4096=1",
         "invalid rewrite rule 'vlan 4096=1': invalid value '4096': expected the number of a VLAN, none, or *"},
        {"psn 17=5", "invalid rewrite rule 'psn 17=5': invalid rule '17=5': expected QP+NUMBER or QP-NUMBER"},
        {"psn 17+x", "invalid rewrite rule 'psn 17+x': invalid value 'x': expected a number of 24 bits"},
        {"rkey 1=0x100000000",
         "invalid rewrite rule 'rkey 1=0x100000000': invalid value '0x100000000': expected a number of 32 bits, or *"},
        {"pkey 1=2 at 10.0.0.1", "invalid rewrite rule 'pkey 1=2 at 10.0.0.1': unexpected 'at'"},
    };
    for (const auto& [text, sentence] : wrong) {
        const auto rule = parse_rewrite(text);
        INFO(text);
        REQUIRE_FALSE(rule);
        CHECK(rule.error() == sentence);
    }
}
