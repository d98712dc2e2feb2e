// Layers of RDS, IPoIB, rsockets and LNet: values, what is not theirs, and what ends too early.
#include <dissect/ulp/ipoib.hpp>
#include <dissect/ulp/lnet.hpp>
#include <dissect/ulp/rds.hpp>
#include <dissect/ulp/rsockets.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/hinted.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/small_ulp.hpp>

using namespace qps::dissect;
using namespace qps::tests;

TEST_CASE("RDS: header, extensions, data") {
    WireBytes extensions;
    extensions.put(std::uint8_t{5})
        .put(std::uint16_t{8})
        .put(std::uint8_t{3})
        .put(std::uint32_t{0xcafe})
        .put(std::uint32_t{64});
    const Octets message = rds_message(
        {.sequence = 17, .ack = 9, .length = 4100, .flags = 6, .credit = 3, .extensions = extensions.bytes}, 4096);
    const Hinted hinted(message, UlpProtocol::rds);
    CHECK(hinted.layers() == "rdma.rds rdma.rds.extension rdma.rds.extension data data");
    CHECK(hinted.number("rdma.rds.sequence") == 17);
    CHECK(hinted.number("rdma.rds.ack") == 9);
    CHECK(hinted.number("rdma.rds.len") == 4100);
    CHECK(hinted.number("rdma.rds.sport") == 5000);
    CHECK(hinted.number("rdma.rds.dport") == 6000);
    CHECK(hinted.number("rdma.rds.flags.ack_required") == 1);
    CHECK(hinted.number("rdma.rds.flags.retransmitted") == 1);
    CHECK(hinted.number("rdma.rds.flags.congestion_map") == 0);
    CHECK(hinted.number("rdma.rds.credit") == 3);
    CHECK(hinted.number("rdma.rds.extension.paths") == 8);
    CHECK(hinted.number("rdma.rds.extension.r_key") == 0xcafe);
    CHECK(hinted.number("rdma.rds.extension.offset") == 64);
    CHECK_FALSE(hinted.number("rdma.rds.extension.version"));
    cut_everywhere(cut(message, 64), UlpProtocol::rds);
    Octets wrong = message;
    wrong[16] ^= std::byte{1};  // the checksum is of all of it
    CHECK(Hinted(wrong, UlpProtocol::rds).layers() == "data");
}

TEST_CASE("RDS: private data in both forms") {
    WireBytes rest;
    rest.put(std::uint8_t{3})
        .put(std::uint8_t{1})
        .put(std::uint16_t{3})
        .zeros(4)
        .put(std::uint64_t{12})
        .put(std::uint32_t{0});
    const Octets four =
        joined({octets_of(std::uint32_t{0x0a000001}, false), octets_of(std::uint32_t{0x0a000002}, false), rest.bytes});
    CHECK(rds_connect_kind(four) == kind::rds_connect);
    const Octets six =
        joined({octets_of(std::uint64_t{0xfd00} << 48, false), octets_of(std::uint64_t{1}, false),
                octets_of(std::uint64_t{0xfd00} << 48, false), octets_of(std::uint64_t{2}, false), rest.bytes});
    CHECK(rds_connect_kind(six) == kind::rds_connect_ipv6);
    for (const Octets& plain : plain_messages()) CHECK(rds_connect_kind(plain) == kind::rds_header);
    CHECK(rds_connect_kind(cut(four, 27)) == kind::rds_header);
}

TEST_CASE("IPoIB: its header, then IP as anywhere else, the transport of the packet stays its own") {
    const Hinted hinted(ipoib_ipv4(17, udp_datagram(53, 5353, 20)), UlpProtocol::ipoib);
    CHECK(hinted.layers() == "ipoib ip udp data");
    CHECK(hinted.number("ipoib.type") == 0x0800);
    CHECK(hinted.number("ip.src") == 0x0a000001);
    CHECK(hinted.number("udp.dstport") == 5353);
    cut_everywhere(ipoib_ipv4(17, udp_datagram(53, 5353, 20)), UlpProtocol::ipoib);
    const Hinted roce(ipoib_ipv4(17, udp_datagram(49152, 4791, 40)), UlpProtocol::ipoib);
    CHECK_FALSE(roce.packet.has_transport());
    CHECK(roce.packet.payload.length == 4 + 20 + 8 + 40);
}

TEST_CASE("IPoIB: ARP with addresses of 20 bytes") {
    const Hinted hinted(ipoib_arp(false), UlpProtocol::ipoib);
    CHECK(hinted.layers() == "ipoib rdma.ipoib.arp");
    CHECK(hinted.number("arp.hw.type") == 32);
    CHECK(hinted.number("arp.hw.size") == 20);
    CHECK(hinted.number("arp.opcode") == 1);
    CHECK(hinted.number("rdma.ipoib.arp.src.flags") == 0x80);
    CHECK(hinted.number("rdma.ipoib.arp.src.qpn") == 0x123);
    CHECK(hinted.number("arp.src.proto_ipv4") == 0x0a000001);
    CHECK(hinted.number("arp.dst.proto_ipv4") == 0x0a000002);
    cut_everywhere(ipoib_arp(true), UlpProtocol::ipoib);
}

TEST_CASE("IPoIB layers take the place of a datagram's payload, and pad and CRCs stay behind them") {
    PacketSpec spec = transport_packet(Opcode{0x64}, Network::native_global);
    spec.payload = ipoib_ipv4(17, udp_datagram(53, 5353, 21));
    set(spec, "infiniband.bth.destqp", 0x48);
    set(spec, "infiniband.deth.srcqp", 0x49);
    Decoded decoded(spec);
    const std::string before = decoded.layers();
    add_ulp_layers(decoded.packet, {UlpProtocol::ipoib, false});
    CHECK(decoded.layers().find("infiniband.deth ipoib ip udp data") != std::string::npos);
    CHECK(decoded.layers().substr(decoded.layers().rfind("infiniband.")) == before.substr(before.rfind("infiniband.")));
    CHECK(decoded.packet.has_transport());
    CHECK(decoded.packet.icrc.status == CrcStatus::good);
}

TEST_CASE("rsockets: private data, everything else is data") {
    CHECK(is_rsockets_connect(rsockets_private()));
    for (const Octets& plain : plain_messages()) CHECK_FALSE(is_rsockets_connect(plain));
    for (std::size_t length = 0; length < kRsocketsConnect; ++length)
        CHECK_FALSE(is_rsockets_connect(cut(rsockets_private(), length)));
    CHECK(Hinted(rsockets_private(), UlpProtocol::rsockets).layers() == "data");
}

TEST_CASE("LNet: every type of message") {
    const Octets put = joined({lnet_header(1, 4096, 3, lnet_put_rest()), octets_of(std::uint64_t{0xc001})});
    const Hinted hinted(lnet_message(0xd2, put, true, 4), UlpProtocol::lnet);
    CHECK(hinted.layers() == "lnet.ib lnet rdma.lnet.request");
    CHECK(hinted.number("lnet.ib.magic") == 0x0be91b91);
    CHECK(hinted.number("lnet.ib.type") == 0xd2);
    CHECK(hinted.number("lnet.ib.credits") == 4);
    CHECK(hinted.number("lnet.ib.nob") == 48 + put.size());
    CHECK(hinted.number("lnet.nid.addr", 0) == 0x0a000001);
    CHECK(hinted.number("lnet.nid.addr", 1) == 0x0a000002);
    CHECK(hinted.number("lnet.nid.type", 0) == 5);
    CHECK(hinted.number("lnet.dest_pid") == 12345);
    CHECK(hinted.number("lnet.msg_type") == 1);
    CHECK(hinted.number("lnet.payload_length") == 4096);
    CHECK(hinted.number("lnet.msg_dst_match_bits") == 0xabcdef);
    CHECK(hinted.number("lnet.msg_hdr_data") == 7);
    CHECK(hinted.number("lnet.ptl_index") == 8);
    CHECK_FALSE(hinted.number("lnet.sink_length"));
    CHECK(hinted.number("lnet.o2ib.cookie") == 0xc001);

    const Octets get = joined(
        {lnet_header(2, 0, 3, lnet_get_rest(8192)), octets_of(std::uint64_t{0xc002}), lnet_memory(0x77, 8192, 0x1000)});
    const Hinted asked(lnet_message(0xd6, get), UlpProtocol::lnet);
    CHECK(asked.layers() == "lnet.ib lnet rdma.lnet.request lnet.rdma");
    CHECK(asked.number("lnet.sink_length") == 8192);
    CHECK(asked.number("lnet.ptl_index") == 28);
    CHECK(asked.number("lnet.rdma.key") == 0x77);
    CHECK(asked.number("lnet.rdma.nfrags") == 1);
    CHECK(asked.number("lnet.rdma_frag.size") == 8192);
    CHECK(asked.number("lnet.rdma_frag.addr") == 0x1000);

    const Octets accepted =
        joined({octets_of(std::uint64_t{1}), octets_of(std::uint64_t{2}), lnet_memory(0x78, 4096, 0x2000)});
    CHECK(Hinted(lnet_message(0xd4, accepted), UlpProtocol::lnet).layers() == "lnet.ib rdma.lnet.put_ack lnet.rdma");
    const Octets done = joined({octets_of(std::uint64_t{1}), octets_of(std::uint32_t{0})});
    for (const std::uint8_t type : std::array<std::uint8_t, 3>{0xd3, 0xd5, 0xd7})
        CHECK(Hinted(lnet_message(type, done), UlpProtocol::lnet).layers() == "lnet.ib rdma.lnet.completion");
    CHECK(Hinted(lnet_message(0xd0, {}), UlpProtocol::lnet).layers() == "lnet.ib");
    CHECK(Hinted(lnet_message(0xd1, joined({lnet_header(3, 5, 9, {}), Octets(5)})), UlpProtocol::lnet).layers() ==
          "lnet.ib lnet data");
    const Octets connect =
        joined({octets_of(std::uint16_t{8}), octets_of(std::uint16_t{256}), octets_of(std::uint32_t{4096})});
    const Hinted asks(lnet_message(0xc0, connect), UlpProtocol::lnet);
    CHECK(asks.number("lnet.connparam.qdepth") == 8);
    CHECK(asks.number("lnet.connparam.max_frags") == 256);
    CHECK(asks.number("lnet.connparam.max_size") == 4096);
    for (const Octets& body : {put, get, accepted, done, connect}) {
        cut_everywhere(lnet_message(0xd2, body), UlpProtocol::lnet);
        cut_everywhere(lnet_message(0xd4, body), UlpProtocol::lnet);
        cut_everywhere(lnet_message(0xd6, body), UlpProtocol::lnet);
    }
}

TEST_CASE("LNet: the other byte order is known, a wrong version and a type that does not exist are not") {
    const Hinted big(lnet_message(0xd0, {}, false, 7), UlpProtocol::lnet);
    CHECK(big.layers() == "lnet.ib");
    CHECK(big.number("lnet.ib.credits") == 7);
    CHECK(big.number("lnet.nid.addr") == 0x0a000001);
    CHECK(big.number("lnet.nid.type") == 5);
    CHECK(lnet_order(lnet_message(0xd0, {})) == LnetOrder::little);
    CHECK(lnet_order(lnet_message(0xdd, {})) == LnetOrder::none);
    Octets other = lnet_message(0xd0, {});
    other[4] = std::byte{0x33};
    CHECK(lnet_order(other) == LnetOrder::none);
    for (const Octets& plain : plain_messages()) CHECK(lnet_order(plain) == LnetOrder::none);
}
