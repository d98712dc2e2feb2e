// A host among others: finding and being found, groups, whose address it is.
#include <tests/support/lan.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>

using namespace qps::tests::lan;
using qps::tests::Decoded;
using qps::tests::hex;

TEST_CASE("addresses: link-local, groups, prefixes, path MTU") {
    CHECK(link_local_of(Mac{0x0011'2233'4455}) == ipv6_address(0xfe80'0000'0000'0000, 0x0211'22ff'fe33'4455));
    CHECK(mac_in(link_local_of(kMacA)) == kMacA);
    CHECK_FALSE(mac_in(ipv6_address(0xfe80'0000'0000'0000, 1)));
    CHECK(group_mac(ipv4_address(0xef81'0203)) == Mac{0x0100'5e01'0203});
    CHECK(group_mac(kGroup6) == Mac{0x3333'1234'5678});
    CHECK(solicited_node(ipv6_address(0x2001'0db8'0000'0000, 0x1122'33aa'bbcc)) ==
          ipv6_address(0xff02'0000'0000'0000, 0x1'ffaa'bbcc));
    CHECK(same_prefix(kA, kB, 24));
    CHECK_FALSE(same_prefix(kA, kB, 31));
    CHECK(same_prefix(kA, ipv4_address(1), 0));
    CHECK_FALSE(same_prefix(kA, kA6, 0));
    CHECK(same_prefix(kA6, kB6, 127));
    CHECK_FALSE(same_prefix(kA6, kB6, 128));
    CHECK(is_broadcast(ipv4_address(0xc000'02ff), kA, 24));
    CHECK_FALSE(is_broadcast(kB, kA, 24));
    CHECK_FALSE(is_broadcast(kA, ipv4_address(0xc0000200), 31));
    CHECK(path_mtu_of(1500) == PathMtu::bytes_1024);
    CHECK(path_mtu_of(9000) == PathMtu::bytes_4096);
    CHECK(path_mtu_of(4191) == PathMtu::bytes_2048);
    CHECK(path_mtu_of(4192) == PathMtu::bytes_4096);
    CHECK(path_mtu_of(1119) == PathMtu::bytes_512);
    CHECK_FALSE(path_mtu_of(351));
}

TEST_CASE("a host probes its addresses, announces them, and is ready") {
    Lan lan;
    CHECK_FALSE(lan.a.settled());
    CHECK(lan.a.gids().size() == 1);  // RoCEv1's alone
    Route early = route_over(Network::roce_v2_ipv4, kB);
    CHECK(lan.a.complete(early, 0, lan.now) == Reach::no_source);
    std::size_t probes = 0, announcements = 0;
    for (int i = 0; i < 100; ++i) {
        for (const auto& frame : sent_by(lan.a, lan.now)) {
            const Decoded decoded(frame, LinkType::ethernet);
            CHECK(frame.size() >= 60);
            if (decoded.number("arp.opcode") != 1) continue;
            CHECK(decoded.number("arp.dst.proto_ipv4") == ipv4_bits(kA));
            CHECK(decoded.number("eth.dst") == 0xffff'ffff'ffff);
            if (decoded.number("arp.src.proto_ipv4") == 0) ++probes;
            else ++announcements;
        }
        lan.now = lan.now + microseconds(50'000);
    }
    CHECK(probes == kProbes);
    CHECK(announcements == kAnnouncements);
    CHECK(lan.a.settled());
    const auto gids = lan.a.gids();
    REQUIRE(gids.size() == 6);
    CHECK(gids[0].network == Network::roce_v1);
    CHECK(text(gids[0].address) == "fe80::ff:fe00:aa");
    CHECK(gids[1].network == Network::roce_v2_ipv6);
    CHECK(text(gids[3].address) == "192.0.2.1");
    CHECK_FALSE(lan.a.poll_at());  // nothing left to do
}

TEST_CASE("an address that another has is given up before it is used, one in use is defended") {
    Lan lan(settings_of(kMacA, kA, kA6), settings_of(kMacB, kA, kB6));
    const auto state_in = [](const Host& host, const Address& address) {
        for (const OwnAddress& own : host.addresses())
            if (own.address == address) return own.state;
        FAIL("no such address");
        return AddressState::tentative;
    };
    SECTION("both start at once: the first to ask gets it") {
        lan.settle();
        CHECK(state_in(lan.a, kA) == AddressState::ready);
        CHECK(state_in(lan.b, kA) == AddressState::duplicate);
        CHECK(state_in(lan.b, kB6) == AddressState::ready);
        CHECK(lan.b.counts().conflicts > 0);
    }
    SECTION("one has it") {
        for (int i = 0; i < 100; ++i, lan.now = lan.now + microseconds(50'000)) sent_by(lan.a, lan.now);
        REQUIRE(state_in(lan.a, kA) == AddressState::ready);
        Host late(settings_of(kMacB, kA, kA6), lan.now);
        for (int i = 0; i < 20; ++i, lan.now = lan.now + microseconds(50'000)) {
            for (const auto& frame : sent_by(late, lan.now)) lan.a.process(frame, lan.now);
            for (const auto& frame : sent_by(lan.a, lan.now)) late.process(frame, lan.now);
        }
        CHECK(state_in(late, kA) == AddressState::duplicate);
        CHECK(state_in(late, kA6) == AddressState::duplicate);
        CHECK(state_in(lan.a, kA) == AddressState::ready);
        // Somebody takes it all the same: it is defended, at most every ten seconds.
        std::size_t defences = 0;
        for (int i = 0; i < 100; ++i, lan.now = lan.now + microseconds(50'000)) {
            lan.a.process(arp_frame({kStranger, kBroadcastMac}, {ArpOperation::request, kStranger, kA, Mac{}, kA}),
                          lan.now);
            for (const auto& frame : sent_by(lan.a, lan.now)) {
                CHECK(Decoded(frame, LinkType::ethernet).number("arp.src.proto_ipv4") == ipv4_bits(kA));
                ++defences;
            }
        }
        CHECK(defences == 1);
        CHECK(state_in(lan.a, kA) == AddressState::ready);
    }
}

TEST_CASE("two hosts find each other over every network") {
    Lan lan;
    lan.settle();
    SECTION("IPv4") {
        Route route = route_over(Network::roce_v2_ipv4, kB);
        CHECK(lan.a.complete(route, 0, lan.now) == Reach::resolving);
        const auto frames = sent_by(lan.a, lan.now);
        REQUIRE(frames.size() == 1);
        const Decoded question(frames[0], LinkType::ethernet);
        CHECK(question.plain("arp.dst.proto_ipv4") == "192.0.2.2");
        CHECK(question.plain("arp.src.proto_ipv4") == "192.0.2.1");
        CHECK(lan.b.process(frames[0], lan.now).disposition == FrameDisposition::consumed);
        lan.pump();
        REQUIRE(lan.a.complete(route, 0, lan.now) == Reach::ready);
        CHECK(route.destination_mac == std::to_underlying(kMacB));
        CHECK(route.source_mac == std::to_underlying(kMacA));
        CHECK(route.source == kA);
        CHECK_FALSE(route.vlan);
        const HostArrival arrived = send(lan, lan.a, lan.b, route);
        CHECK(arrived.disposition == FrameDisposition::roce);
        CHECK(arrived.source == kA);
        CHECK(arrived.destination == kB);
        CHECK(arrived.source_mac == kMacA);
        CHECK(arrived.ecn == Ecn::capable_0);
        CHECK(arrived.hops == 64);
        Route back = route_over(Network::roce_v2_ipv4, kA);  // a request makes its sender known
        CHECK(lan.b.complete(back, 0, lan.now) == Reach::ready);
        CHECK(lan.b.counts().answered == 1);
    }
    SECTION("IPv6, global and link-local") {
        for (const Address& to : {kB6, link_local_of(kMacB)}) {
            Route route = route_over(Network::roce_v2_ipv6, to);
            CHECK(lan.a.complete(route, 0, lan.now) == Reach::resolving);
            lan.pump();
            REQUIRE(lan.a.complete(route, 0, lan.now) == Reach::ready);
            CHECK(route.source == (to == kB6 ? kA6 : link_local_of(kMacA)));
            CHECK(send(lan, lan.a, lan.b, route).disposition == FrameDisposition::roce);
        }
    }
    SECTION("RoCEv1: a GID out of a MAC address asks nobody, others are resolved") {
        Route route = route_over(Network::roce_v1, in_space(link_local_of(kMacB), AddressSpace::roce_v1));
        REQUIRE(lan.a.complete(route, 0, lan.now) == Reach::ready);
        CHECK(route.destination_mac == std::to_underlying(kMacB));
        CHECK(route.source.space == AddressSpace::roce_v1);
        const HostArrival arrived = send(lan, lan.a, lan.b, route);
        CHECK(arrived.disposition == FrameDisposition::roce);
        CHECK(arrived.source == in_space(link_local_of(kMacA), AddressSpace::roce_v1));
        Route by_ip = route_over(Network::roce_v1, in_space(kB, AddressSpace::roce_v1));
        CHECK(lan.a.complete(by_ip, 0, lan.now) == Reach::resolving);
        lan.pump();
        CHECK(lan.a.complete(by_ip, 0, lan.now) == Reach::ready);
        CHECK(send(lan, lan.a, lan.b, by_ip).destination == in_space(kB, AddressSpace::roce_v1));
    }
    SECTION("identifications count") {
        Route route = route_over(Network::roce_v2_ipv4, kGroup);
        REQUIRE(lan.a.complete(route, 0, lan.now) == Reach::ready);
        const std::uint16_t first = route.identification;
        REQUIRE(lan.a.complete(route, 0, lan.now) == Reach::ready);
        CHECK(route.identification == first + 1);
    }
}

TEST_CASE("who cannot be reached, and why") {
    Lan lan;
    lan.settle();
    const auto reach = [&](Host& host, Network network, const Address& to, const Address& from = {}) {
        Route route = route_over(network, to);
        route.source = from;
        return host.complete(route, 0, lan.now);
    };
    CHECK(reach(lan.a, Network::roce_v2_ipv4, ipv4_address(0xc0000263)) == Reach::resolving);
    lan.pass(3500);
    CHECK(reach(lan.a, Network::roce_v2_ipv4, ipv4_address(0xc0000263)) == Reach::unreachable);
    CHECK(reach(lan.a, Network::roce_v2_ipv4, ipv4_address(0x0808'0808)) == Reach::no_gateway);
    CHECK(reach(lan.a, Network::roce_v1, ipv4_address(0x0808'0808)) == Reach::no_gateway);
    CHECK(reach(lan.a, Network::roce_v2_ipv4, kB, kB) == Reach::no_source);
    CHECK(reach(lan.a, Network::roce_v2_ipv6, kB) == Reach::no_such);
    CHECK(reach(lan.a, Network::roce_v2_ipv4, kB6) == Reach::no_such);
    CHECK(reach(lan.a, Network::native_local, kB) == Reach::no_such);
    CHECK(reach(lan.a, Network::roce_v2_ipv4, ipv4_address(0xc000'02ff)) == Reach::no_such);
    CHECK(reach(lan.a, Network::roce_v2_ipv4, ipv4_address(0x7f00'0001)) == Reach::no_such);
    CHECK(reach(lan.a, Network::roce_v2_ipv4, ipv4_address(0)) == Reach::no_such);
    HostSettings only_ipv4{.mac = kMacA, .addresses = {{kA, 24}}, .link_local = false};
    Host poor(only_ipv4, lan.now);
    CHECK(reach(poor, Network::roce_v2_ipv6, kB6) == Reach::no_source);
}

TEST_CASE("beyond the link frames go to the gateway, with the VLAN tag and its priority") {
    HostSettings first = settings_of(kMacA, kA, kA6);
    first.gateway_ipv4 = kB;
    first.gateway_ipv6 = kB6;
    first.vlan = 100;
    HostSettings second = settings_of(kMacB, kB, kB6);
    second.vlan = 100;
    Lan lan(first, second);
    lan.settle();
    for (const auto& [network, to] : {std::pair(Network::roce_v2_ipv4, ipv4_address(0x0808'0808)),
                                      std::pair(Network::roce_v2_ipv6, ipv6_address(0x2001'0db8'ffff'0000, 1))}) {
        Route route = route_over(network, to);
        CHECK(lan.a.complete(route, 5, lan.now) == Reach::resolving);
        lan.pump();
        REQUIRE(lan.a.complete(route, 5, lan.now) == Reach::ready);
        CHECK(route.destination_mac == std::to_underlying(kMacB));
        CHECK(route.destination == to);
        CHECK(route.vlan == (5U << 13 | 100));
        CHECK(send(lan, lan.a, lan.b, route).disposition ==
              FrameDisposition::not_to_our_address);  // a router would pass it on
    }
    Route near = route_over(Network::roce_v2_ipv4, kB);
    CHECK(send(lan, lan.a, lan.b, near).disposition == FrameDisposition::roce);
}

TEST_CASE("an address without a subnet reaches all by its gateway") {
    HostSettings alone{.mac = kMacA, .addresses = {{kA, 32}}, .gateway_ipv4 = kB};
    Lan lan(alone, settings_of(kMacB, kB, kB6));
    lan.settle();
    Route route = route_over(Network::roce_v2_ipv4, ipv4_address(0xc0000263));
    CHECK(lan.a.complete(route, 0, lan.now) == Reach::resolving);
    lan.pump();
    REQUIRE(lan.a.complete(route, 0, lan.now) == Reach::ready);
    CHECK(route.destination_mac == std::to_underlying(kMacB));
}

TEST_CASE("where the operating system has the address we ask and learn, and say nothing else") {
    HostSettings settings = settings_of(kMacA, kA, kA6);
    settings.owner = AddressOwner::system;
    Lan lan(settings, settings_of(kMacB, kB, kB6));
    CHECK(lan.a.settled());
    CHECK(sent_by(lan.a, lan.now).empty());
    lan.settle();
    Route back = route_over(Network::roce_v2_ipv4, kA);
    CHECK(lan.b.complete(back, 0, lan.now) == Reach::resolving);
    lan.pump();
    CHECK(lan.b.complete(back, 0, lan.now) == Reach::resolving);  // that was the operating system's to answer
    Route route = route_over(Network::roce_v2_ipv4, kB);
    CHECK(lan.a.complete(route, 0, lan.now) == Reach::ready);  // b asked, so its MAC address is known
    lan.now = lan.now + microseconds(1);
    Route route6 = route_over(Network::roce_v2_ipv6, kB6);
    CHECK(lan.a.complete(route6, 0, lan.now) == Reach::resolving);
    lan.pump();
    CHECK(lan.a.complete(route6, 0, lan.now) == Reach::ready);
    CHECK(lan.a.counts().answered == 0);
}

TEST_CASE("where the device finds the way nothing is asked") {
    HostSettings settings{.mac = kMacA, .addresses = {{ipv4_address(0x7f00'0001), 8}}, .owner = AddressOwner::device};
    const Instant now{1};
    Host host(settings, now);
    Route route = route_over(Network::roce_v2_ipv4, ipv4_address(0x7f00'0002));
    CHECK(host.complete(route, 0, now) == Reach::ready);
    CHECK(route.source == ipv4_address(0x7f00'0001));
    CHECK(sent_by(host, now).empty());
    CHECK_FALSE(host.poll_at());
}

TEST_CASE("groups are reported when joined, when asked for and when left, in the querier's version") {
    HostSettings settings = settings_of(kMacA, kA, kA6);
    settings.detect_duplicates = false;
    settings.link_local = true;
    Instant now{1'700'000'000'000'000'000};
    Host host(settings, now);
    const auto settle = [&] {
        for (int i = 0; i < 200; ++i, now = now + microseconds(50'000)) sent_by(host, now);
    };
    settle();
    const auto reports = [&](std::int64_t milliseconds) {
        Frames frames;
        for (std::int64_t i = 0; i < milliseconds; i += 50, now = now + microseconds(50'000))
            for (auto& frame : sent_by(host, now)) frames.push_back(std::move(frame));
        return frames;
    };
    CHECK_FALSE(host.join(kB, now));
    PacketSpec multicast = roce_to_a(Network::roce_v2_ipv4);
    set(multicast, "eth.dst", std::to_underlying(group_mac(kGroup)));
    set(multicast, "ip.dst", ipv4_bits(kGroup));
    CHECK(host.process(frame_from_stranger(multicast), now).disposition == FrameDisposition::not_to_our_mac);

    REQUIRE(host.join(kGroup, now));
    REQUIRE(host.join(kGroup, now));  // once a member more
    const auto joined = reports(3000);
    REQUIRE(joined.size() == kRobustness);
    // IGMPv3, 3.4: type 0x22, one record, TO_EX (4); router alert; to 224.0.0.22, TTL 1.
    CHECK(std::ranges::equal(Bytes(joined[0]).first(54), hex("01005e000016 0200000000aa 0800"
                                                             "4600002800004000010242b8c0000201e0000016 94040000"
                                                             "2200e8f900000001 04000000ef010203")));
    CHECK(host.process(frame_from_stranger(multicast), now).disposition == FrameDisposition::roce);
    CHECK(std::ranges::count(host.group_macs(), group_mac(kGroup)) == 1);
    Route route = route_over(Network::roce_v2_ipv4, kGroup);
    REQUIRE(host.complete(route, 0, now) == Reach::ready);
    CHECK(route.destination_mac == std::to_underlying(group_mac(kGroup)));

    SECTION("left with the last member") {
        host.leave(kGroup, now);
        CHECK(reports(3000).empty());
        host.leave(kGroup, now);
        const auto left = reports(3000);
        REQUIRE(left.size() == kRobustness);
        CHECK(left[0][46] == std::byte{3});  // TO_IN
        CHECK(host.process(frame_from_stranger(multicast), now).disposition == FrameDisposition::not_to_our_mac);
        host.leave(kGroup, now);
        CHECK(reports(3000).empty());
    }
    SECTION("asked for by a querier of version 2") {
        PacketSpec query;
        query.headers = {{LayerKind::ethernet}, {LayerKind::ipv4}};
        set(query, "eth.dst", std::to_underlying(group_mac(kAllHosts4)));
        set(query, "eth.src", std::to_underlying(kMacB));
        set(query, "ip.src", ipv4_bits(kB));
        set(query, "ip.dst", ipv4_bits(kAllHosts4));
        set(query, "ip.ttl", 1);
        set(query, "ip.proto", 2);
        query.payload = hex("1164ee9b00000000");  // answer within ten seconds
        CHECK(host.process(frame_from_stranger(query), now).disposition == FrameDisposition::consumed);
        const auto answers = reports(10'050);
        REQUIRE(answers.size() == 1);
        const Decoded decoded(answers[0], LinkType::ethernet);
        CHECK(decoded.plain("ip.dst") == "239.1.2.3");
        CHECK(decoded.number("eth.dst") == std::to_underlying(group_mac(kGroup)));
        CHECK(answers[0][38] == std::byte{0x16});
        host.leave(kGroup, now);
        host.leave(kGroup, now);
        const auto left = reports(3000);
        REQUIRE_FALSE(left.empty());
        CHECK(Decoded(left[0], LinkType::ethernet).plain("ip.dst") == "224.0.0.2");
    }
    SECTION("MLD") {
        REQUIRE(host.join(kGroup6, now));
        const auto six = reports(3000);
        REQUIRE(six.size() == kRobustness);
        const Decoded decoded(six[0], LinkType::ethernet);
        CHECK(decoded.plain("ipv6.dst") == "ff02::16");
        CHECK(decoded.plain("ipv6.src") == "fe80::ff:fe00:aa");
        CHECK(decoded.number("ipv6.hlim") == 1);
        const auto datagram = read_datagram(decoded.packet);
        REQUIRE(datagram);
        CHECK(datagram->protocol == 58);
        CHECK(datagram->payload[0] == std::byte{143});
        CHECK(checksum_of(word_sum(datagram->payload, pseudo_header_sum(datagram->ends, datagram->payload.size()))) ==
              0);
    }
}
