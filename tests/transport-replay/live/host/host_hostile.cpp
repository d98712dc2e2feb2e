// A host and what strangers send it: what is handed on, answered, believed, survived.
#include <tests/support/lan.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>

#include <memory>
#include <random>

using namespace qps::tests::lan;
using qps::tests::Decoded;

TEST_CASE("only what is for us is handed on") {
    Lan lan;
    lan.settle();
    const auto disposition = [&](const PacketSpec& spec) {
        return lan.a.process(frame_from_stranger(spec), lan.now).disposition;
    };
    PacketSpec good = roce_to_a(Network::roce_v2_ipv4);
    CHECK(disposition(good) == FrameDisposition::roce);
    SECTION("another MAC address") {
        set(good, "eth.dst", std::to_underlying(kMacB));
        CHECK(disposition(good) == FrameDisposition::not_to_our_mac);
        set(good, "eth.dst", std::to_underlying(group_mac(kGroup)));
        CHECK(disposition(good) == FrameDisposition::not_to_our_mac);
    }
    SECTION("our address, but said to all") {
        set(good, "eth.dst", std::to_underlying(kBroadcastMac));
        CHECK(disposition(good) == FrameDisposition::not_to_our_address);
    }
    SECTION("another address") {
        set(good, "ip.dst", ipv4_bits(kB));
        CHECK(disposition(good) == FrameDisposition::not_to_our_address);
    }
    SECTION("a tag: of a priority alone it is ours, of a VLAN not") {
        insert_before(good, LayerKind::ipv4, {{LayerKind::vlan}});
        CHECK(disposition(good) == FrameDisposition::roce);
        set(good, "vlan.id", 7);
        CHECK(disposition(good) == FrameDisposition::other_vlan);
    }
    SECTION("inside a tunnel") {
        PacketSpec tunnel = good;
        HeaderSpec outer_ip = *find(tunnel, LayerKind::ipv4);
        insert_before(tunnel, LayerKind::ethernet,
                      {*find(tunnel, LayerKind::ethernet), outer_ip, {LayerKind::udp}, {LayerKind::vxlan}});
        REQUIRE(Decoded(tunnel).packet.has_transport());
        CHECK(disposition(tunnel) == FrameDisposition::unreadable);
    }
    SECTION("a fragment, a wrong header checksum, options") {
        PacketSpec fragment = good;
        set(fragment, "ip.flags.mf", 1);
        CHECK(disposition(fragment) == FrameDisposition::unreadable);
        set(good, "ip.checksum", 1);
        CHECK(disposition(good) == FrameDisposition::unreadable);
    }
    SECTION("from a group") {
        set(good, "eth.src", 0x0300'0000'0000);
        CHECK(disposition(good) == FrameDisposition::unreadable);
    }
    SECTION("nothing at all") {
        CHECK(lan.a.process({}, lan.now).disposition == FrameDisposition::unreadable);
        CHECK(lan.a.counts().frames[std::to_underlying(FrameDisposition::unreadable)] == 1);
    }
}

TEST_CASE("pings are answered, of both families") {
    HostSettings settings = settings_of(kMacA, kA, kA6);
    settings.detect_duplicates = false;
    const Instant now{1};
    Host host(settings, now);
    sent_by(host, now);
    const DatagramEnds ends4{kB, kA}, ends6{kB6, kA6};
    // What a reply's writer makes, turned into a request: the type is another, and the checksum with it.
    const auto request = [&](const DatagramEnds& ends, std::uint8_t type, std::size_t size) {
        std::vector<std::byte> body(8 + size, std::byte{0x61});
        body[0] = std::byte{type};
        body[1] = body[2] = body[3] = std::byte{0};
        std::vector<std::byte> frame = echo_reply_frame({kMacB, kMacA}, ends, body);
        const std::size_t at = kEthernetLength + (family_of(ends.source) == Family::ipv4 ? kIpv4Length : kIpv6Length);
        const MutableBytes message(frame.data() + at, body.size());
        message[0] = std::byte{type};
        message[2] = message[3] = std::byte{0};
        const std::uint64_t before = family_of(ends.source) == Family::ipv4 ? 0 : pseudo_header_sum(ends, body.size());
        write_bits(message, 16, 16, checksum_of(word_sum(message, before)));
        return frame;
    };
    for (const auto& [ends, type, reply] : {std::tuple(ends4, 8, 0), std::tuple(ends6, 128, 129)}) {
        for (const std::size_t size : {std::size_t{0}, std::size_t{56}, std::size_t{1400}}) {
            const auto frame = request(ends, static_cast<std::uint8_t>(type), size);
            CHECK(host.process(frame, now).disposition == FrameDisposition::consumed);
            const auto answers = sent_by(host, now);
            REQUIRE(answers.size() == 1);
            const Decoded decoded(answers[0], LinkType::ethernet);
            CHECK(decoded.number("eth.dst") == std::to_underlying(kMacB));
            const auto datagram = read_datagram(decoded.packet);
            REQUIRE(datagram);
            CHECK(datagram->ends.source == ends.destination);
            CHECK(datagram->ends.destination == ends.source);
            CHECK(datagram->payload[0] == static_cast<std::byte>(reply));
            const std::uint64_t before = type == 8 ? 0 : pseudo_header_sum(datagram->ends, datagram->payload.size());
            CHECK(checksum_of(word_sum(datagram->payload, before)) == 0);
            CHECK(datagram->payload.size() == 8 + size);
        }
    }
    auto wrong = request(ends4, 8, 56);
    wrong[50] ^= std::byte{1};
    CHECK(host.process(wrong, now).disposition == FrameDisposition::not_understood);
    CHECK(host.process(request({kB, ipv4_address(0xc000'02ff)}, 8, 56), now).disposition ==
          FrameDisposition::not_to_our_address);
    CHECK(host.process(request({ipv4_address(0xe000'0001), kA}, 8, 56), now).disposition ==
          FrameDisposition::unreadable);
    // A flood is answered as far as the queue goes.
    for (std::size_t i = 0; i < 3 * kMaxQueued; ++i) host.process(request(ends4, 8, 56), now);
    CHECK(sent_by(host, now).size() == kMaxQueued);
    CHECK(host.counts().dropped == 2 * kMaxQueued);
    CHECK(host.counts().echoed == 6 + 3 * kMaxQueued);
}

TEST_CASE("liars change nothing that is in use") {
    Lan lan;
    lan.settle();
    Route route = route_over(Network::roce_v2_ipv4, kB);
    CHECK(lan.a.complete(route, 0, lan.now) == Reach::resolving);
    lan.pump();
    REQUIRE(lan.a.complete(route, 0, lan.now) == Reach::ready);
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        const Address liar = ipv4_address(0xc0000200 + i % 256);
        const bool to_all = i % 2 == 0;
        const Mac to = to_all ? kBroadcastMac : kMacA;
        const ArpOperation operation = i % 3 == 0 ? ArpOperation::request : ArpOperation::reply;
        lan.a.process(arp_frame({kStranger, to}, {operation, kStranger, liar, kMacA, i % 5 == 0 ? kA : liar}), lan.now);
        const NeighbourMessage lie{Icmpv6Type::neighbour_advertisement, !to_all, true, kB6, kStranger};
        lan.a.process(
            neighbour_frame({kStranger, to_all ? group_mac(kAllNodes) : kMacA}, {kB6, to_all ? kAllNodes : kA6}, lie),
            lan.now);
        if (i % 100 == 0) lan.pass(50);
        REQUIRE(lan.a.complete(route, 0, lan.now) == Reach::ready);
        REQUIRE(route.destination_mac == std::to_underlying(kMacB));
    }
    CHECK(lan.a.neighbours().size() <= kMaxUnsolicited + 2);
    CHECK(lan.a.neighbours().counts().contradicted > 0);
}

TEST_CASE("mutilated frames are survived") {
    Lan lan;
    lan.settle();
    lan.a.join(kGroup, lan.now);
    lan.a.join(kGroup6, lan.now);
    Frames seeds = sent_by(lan.a, lan.now);
    seeds.push_back(arp_frame({kMacB, kMacA}, {ArpOperation::request, kMacB, kB, Mac{}, kA}));
    seeds.push_back(
        neighbour_frame({kMacB, kMacA}, {kB6, kA6}, {Icmpv6Type::neighbour_solicitation, false, false, kA6, kMacB}));
    seeds.push_back(
        neighbour_frame({kMacB, kMacA}, {kB6, kA6}, {Icmpv6Type::neighbour_advertisement, true, true, kB6, kMacB}));
    seeds.push_back(report_frame(kMacB, std::nullopt, kB, {QueryVersion::current, GroupRecord::is_exclude, kGroup}));
    seeds.push_back(report_frame(kMacB, std::nullopt, kB6, {QueryVersion::current, GroupRecord::is_exclude, kGroup6}));
    seeds.push_back(frame_from_stranger(roce_to_a(Network::roce_v2_ipv4)));
    seeds.push_back(frame_from_stranger(roce_to_a(Network::roce_v2_ipv6)));
    seeds.push_back(frame_from_stranger(roce_to_a(Network::roce_v1)));
    std::mt19937 dice(7);
    std::uint64_t processed = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::vector<std::byte> frame = seeds[dice() % seeds.size()];
        const std::size_t changes = dice() % 4;
        for (std::size_t i = 0; i < changes; ++i) frame[dice() % frame.size()] = static_cast<std::byte>(dice());
        if (dice() % 3 == 0) frame.resize(dice() % (frame.size() + 1));
        const auto exact = std::make_unique<std::byte[]>(frame.size());  // a sanitizer sees one byte too far
        std::ranges::copy(frame, exact.get());
        lan.a.process({exact.get(), frame.size()}, lan.now);
        ++processed;
        if (round % 10 == 0) {
            sent_by(lan.a, lan.now);
            lan.now = lan.now + microseconds(10'000);
        }
    }
    const auto& frames = lan.a.counts().frames;
    std::uint64_t counted = 0;
    for (const std::uint64_t count : frames) counted += count;
    CHECK(counted >= processed);
    CHECK(frames[std::to_underlying(FrameDisposition::roce)] > 0);
    CHECK(frames[std::to_underlying(FrameDisposition::consumed)] > 0);
    CHECK(frames[std::to_underlying(FrameDisposition::unreadable)] > 0);
}
