// UCX, rxm and rxd: every header, what proves them, what nearly does, and what ends too early.
#include <dissect/ulp/libfabric.hpp>
#include <dissect/ulp/ucx.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/hinted.hpp>
#include <tests/support/message_libraries.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::tests;

namespace {

Octets with(WireBytes wire, const Octets& rest) { return wire.add(rest).bytes; }

}  // namespace

TEST_CASE("UCX: eager messages with their tags") {
    const Hinted only(with(ucx_active(2), little().put(std::uint64_t{0x1337}).zeros(40).bytes), UlpProtocol::ucx);
    CHECK(only.layers() == "rdma.ucx.am rdma.ucx.eager data");
    CHECK(only.number("rdma.ucx.am.id") == 2);
    CHECK(only.number("rdma.ucx.fc.grant") == 0);
    CHECK(only.number("rdma.ucx.tag") == 0x1337);
    CHECK(name_in(ucx::kActives, 2) == "EAGER_ONLY");
    const Hinted first(
        with(ucx_active(0x83),
             little().put(std::uint64_t{1}).put(std::uint64_t{9000}).put(std::uint64_t{44}).zeros(8).bytes),
        UlpProtocol::ucx);
    CHECK(first.layers() == "rdma.ucx.am rdma.ucx.eager.first data");
    CHECK(first.number("rdma.ucx.am.id") == 3);
    CHECK(first.number("rdma.ucx.fc.grant") == 1);
    CHECK(first.number("rdma.ucx.total_length") == 9000);
    CHECK(first.number("rdma.ucx.msg_id") == 44);
    const Hinted middle(with(ucx_active(4), little().put(std::uint64_t{44}).put(std::uint64_t{4096}).zeros(8).bytes),
                        UlpProtocol::ucx);
    CHECK(middle.number("rdma.ucx.msg_id") == 44);
    CHECK(middle.number("rdma.ucx.offset") == 4096);
    const Octets asks = little().put(std::uint64_t{5}).put(kUcxNear).put(std::uint64_t{12}).bytes;
    const Hinted sync(with(ucx_active(6), asks), UlpProtocol::ucx);
    CHECK(sync.layers() == "rdma.ucx.am rdma.ucx.eager.sync");
    CHECK(sync.number("rdma.ucx.ep_id") == kUcxNear);
    CHECK(sync.number("rdma.ucx.req_id") == 12);
    const Octets sync_first = little()
                                  .put(std::uint64_t{5})
                                  .put(std::uint64_t{9000})
                                  .put(std::uint64_t{3})
                                  .put(kUcxNear)
                                  .put(std::uint64_t{12})
                                  .bytes;
    CHECK(Hinted(with(ucx_active(7), sync_first), UlpProtocol::ucx).number("rdma.ucx.req_id") == 12);
    const Hinted done(with(ucx_active(8), little().put(std::uint64_t{12}).put(std::uint8_t{0}).bytes),
                      UlpProtocol::ucx);
    CHECK(done.layers() == "rdma.ucx.am rdma.ucx.reply");
    CHECK(done.number("rdma.ucx.status") == 0);
    CHECK_FALSE(done.number("rdma.ucx.size"));
    cut_everywhere(with(ucx_active(7), sync_first), UlpProtocol::ucx);
}

TEST_CASE("UCX: rendezvous") {
    const auto ready = [](std::uint8_t opcode) {
        return with(ucx_active(9), little()
                                       .put(std::uint64_t{0x77})
                                       .put(kUcxNear)
                                       .put(std::uint64_t{12})
                                       .put(std::uint64_t{0x7f00'0000'1000})
                                       .put(std::uint64_t{1 << 20})
                                       .put(opcode)
                                       .zeros(6)
                                       .bytes);
    };
    const Hinted rts(ready(0), UlpProtocol::ucx);
    CHECK(rts.layers() == "rdma.ucx.am rdma.ucx.rts");
    CHECK(rts.number("rdma.ucx.tag") == 0x77);
    CHECK(rts.number("rdma.ucx.size") == 1 << 20);
    CHECK(rts.number("rdma.ucx.rts.address") == 0x7f00'0000'1000);
    const Hinted user(ready(1), UlpProtocol::ucx);
    CHECK_FALSE(user.number("rdma.ucx.tag"));
    CHECK(user.number("rdma.ucx.rts.header") == 0x77);
    CHECK(Hinted(ready(2), UlpProtocol::ucx).layers() == "rdma.ucx.am data");  // of a version that nobody described
    WireBytes receive = ucx_active(11);
    receive.put(std::uint64_t{12})
        .put(std::uint64_t{13})
        .put(std::uint64_t{0x7f00'0000'2000})
        .put(std::uint64_t{4096})
        .put(std::uint64_t{8192});
    const Hinted rtr(receive.bytes, UlpProtocol::ucx);
    CHECK(rtr.number("rdma.ucx.req_id") == 12);
    CHECK(rtr.number("rdma.ucx.rtr.req_id") == 13);
    CHECK(rtr.number("rdma.ucx.offset") == 8192);
    const Hinted data(with(ucx_active(12), little().put(std::uint64_t{13}).put(std::uint64_t{64}).zeros(9).bytes),
                      UlpProtocol::ucx);
    CHECK(data.layers() == "rdma.ucx.am rdma.ucx.rndv data");
    for (const std::uint8_t id : {std::uint8_t{10}, std::uint8_t{16}}) {
        const Hinted done(
            with(ucx_active(id), little().put(std::uint64_t{13}).put(std::uint8_t{0}).put(std::uint64_t{4096}).bytes),
            UlpProtocol::ucx);
        CHECK(done.number("rdma.ucx.size") == 4096);
    }
    cut_everywhere(ready(0), UlpProtocol::ucx);
    cut_everywhere(receive.bytes, UlpProtocol::ucx);
}

TEST_CASE("UCX: messages of users, numbers without a header, the byte of adapters that match tags") {
    const Octets user = little().put(std::uint16_t{300}).put(std::uint16_t{1}).put(std::uint32_t{16}).zeros(30).bytes;
    const Hinted single(with(ucx_active(23), user), UlpProtocol::ucx);
    CHECK(single.number("rdma.ucx.user.id") == 300);
    CHECK(single.number("rdma.ucx.user.header_length") == 16);
    CHECK(Hinted(with(ucx_active(18), user), UlpProtocol::ucx).layers() == "rdma.ucx.am data");
    CHECK(Hinted(with(ucx_active(13), user), UlpProtocol::ucx).layers() == "rdma.ucx.am data");
    const Hinted behind(with(little().put(std::uint8_t{0}), with(ucx_active(23), user)), UlpProtocol::ucx);
    CHECK(behind.layers() == "rdma.ucx.tmh rdma.ucx.am rdma.ucx.user data");
    CHECK(Hinted(Octets(1), UlpProtocol::ucx).layers() == "rdma.ucx.am");
}

TEST_CASE("UCX: datagrams") {
    const Hinted asks(ucx_connection(1), UlpProtocol::ucx_datagram);
    CHECK(asks.layers() == "rdma.ucx.ud rdma.ucx.ud.control");
    CHECK(asks.number("rdma.ucx.ud.dest") == 0xffffff);
    CHECK(asks.number("rdma.ucx.ud.ctl") == 1);
    CHECK_FALSE(asks.number("rdma.ucx.am.id"));
    CHECK(asks.number("rdma.ucx.ud.psn") == 1);
    CHECK(asks.number("rdma.ucx.ud.type") == 1);
    CHECK(asks.number("rdma.ucx.ud.qpn") == 0x18);
    CHECK(asks.number("rdma.ucx.ud.pid") == 346);
    const Hinted answers(ucx_connection(2), UlpProtocol::ucx_datagram);
    CHECK(answers.number("rdma.ucx.ud.ack_req") == 1);
    CHECK(answers.number("rdma.ucx.ud.type") == 2);
    CHECK(answers.number("rdma.ucx.ud.ep") == 0x18);
    CHECK_FALSE(answers.number("rdma.ucx.ud.qpn"));
    const Hinted active(with({.bytes = ucx_datagram_head(0x0b000000, 3, 1), .little = true}, ucx_wireup(1)),
                        UlpProtocol::ucx_datagram);
    CHECK(active.layers() == "rdma.ucx.ud rdma.ucx.wireup");
    CHECK(active.number("rdma.ucx.am.id") == 1);
    CHECK(active.number("rdma.ucx.wireup.type") == 1);
    CHECK(active.number("rdma.ucx.wireup.src_ep") == kUcxNear);
    CHECK_FALSE(active.number("rdma.ucx.ud.ctl"));
    CHECK(Hinted(ucx_datagram_head(0, 4, 2), UlpProtocol::ucx_datagram).layers() == "rdma.ucx.ud");
    for (const std::uint8_t type : {std::uint8_t{1}, std::uint8_t{2}})
        cut_everywhere(ucx_connection(type), UlpProtocol::ucx_datagram);
}

TEST_CASE("UCX: what proves a connection, and what nearly does") {
    const auto sent = [](const Octets& said) { return with(ucx_active(1), said); };
    CHECK(ucx::proves_connection(sent(ucx_wireup())));
    CHECK(ucx::proves_connection(sent(ucx_wireup(1))));
    CHECK(ucx::proves_connection(with(little().put(std::uint8_t{0}), sent(ucx_wireup()))));
    CHECK(ucx::proves_connection(sent(ucx_wireup(3, kUcxNear, kUcxFar, 16))));
    CHECK_FALSE(ucx::proves_connection(sent(ucx_wireup(3, kUcxNear, kUcxFar, 8))));  // no version has an address there
    Octets anonymised = sent(ucx_wireup(3, 0x440b'2454'a000, 0x0100'0000'0008));
    std::fill(anonymised.end() - 11, anonymised.end(), std::byte{0});
    CHECK(ucx::proves_connection(anonymised));
    anonymised[22] = std::byte{1};
    CHECK_FALSE(ucx::proves_connection(anonymised));
    CHECK_FALSE(ucx::proves_connection(sent(ucx_wireup(0))));
    CHECK_FALSE(ucx::proves_connection(sent(ucx_wireup(4))));
    CHECK_FALSE(ucx::proves_connection(sent(ucx_wireup(3, 0x300, 0x400))));  // numbers: anybody's
    CHECK_FALSE(ucx::proves_connection(sent(ucx_wireup(3, kUcxNear + 1, kUcxFar))));
    CHECK_FALSE(ucx::proves_connection(with(ucx_active(2), ucx_wireup())));
    for (std::size_t length = 0; length < 31; ++length)
        CHECK_FALSE(ucx::proves_connection(cut(sent(ucx_wireup()), length)));
    // a structure of small numbers that begins with 1
    for (std::uint64_t second = 0; second < 4; ++second)
        CHECK_FALSE(ucx::proves_connection(
            little().put(std::uint64_t{0x301}).put(second << 22).put(second << 40).put(second).put(second).bytes));
    for (const Octets& plain : plain_messages()) CHECK_FALSE(ucx::proves_connection(plain));
}

TEST_CASE("UCX: what proves datagrams, and what nearly does") {
    CHECK(ucx::proves_datagrams(ucx_connection(1)));
    CHECK(ucx::proves_datagrams(ucx_connection(2)));
    const auto changed = [](std::uint8_t type, std::size_t at) {
        Octets message = ucx_connection(type);
        message[at] ^= std::byte{1};
        return ucx::proves_datagrams(message);
    };
    for (const std::size_t at : {0U, 3U, 4U, 6U, 8U, 9U, 11U, 30U}) CHECK_FALSE(changed(1, at));
    for (const std::size_t at : {3U, 8U, 9U, 11U, 30U}) CHECK_FALSE(changed(2, at));
    Octets nameless = ucx_connection(1);
    nameless[28] = std::byte{0};
    CHECK_FALSE(ucx::proves_datagrams(nameless));
    Octets longer = ucx_connection(2);
    longer.resize(longer.size() + 1);
    CHECK_FALSE(ucx::proves_datagrams(longer));
    for (std::size_t length = 0; length < 48; ++length)
        CHECK_FALSE(ucx::proves_datagrams(cut(ucx_connection(1), length)));
    for (const Octets& plain : plain_messages()) CHECK_FALSE(ucx::proves_datagrams(plain));
}

TEST_CASE("rxm: headers, segments, rendezvous") {
    const Hinted eager(rxm_message({}), UlpProtocol::rxm);
    CHECK(eager.layers() == "rdma.rxm rdma.rxm.operation data");
    CHECK(eager.number("rdma.rxm.ctrl.version") == 4);
    CHECK(eager.number("rdma.rxm.ctrl.type") == 0);
    CHECK(eager.number("rdma.rxm.ctrl.conn_id") == 5);
    CHECK(eager.number("rdma.rxm.ctrl.msg_id") == 6);
    CHECK(eager.number("rdma.rxm.op") == 1);
    CHECK(eager.number("rdma.rxm.op.size") == 100);
    CHECK(eager.number("rdma.rxm.op.cq_data") == 9);
    CHECK(eager.number("rdma.rxm.op.flags.remote_cq_data") == 1);
    CHECK(eager.number("rdma.rxm.tag") == 0x4711);
    CHECK_FALSE(eager.number("rdma.rxm.seg.type"));
    CHECK_FALSE(Hinted(rxm_message({.op = 0}), UlpProtocol::rxm).number("rdma.rxm.tag"));
    const Hinted segment(rxm_message({.type = 1, .size = 70000}), UlpProtocol::rxm);
    CHECK(segment.number("rdma.rxm.seg.type") == 2);
    CHECK(segment.number("rdma.rxm.seg.offset") == 4096);
    const Octets offered = rxm_message({.type = 2, .size = 1 << 20, .data = rxm_rendezvous(1 << 20)});
    const Hinted rendezvous(offered, UlpProtocol::rxm);
    CHECK(rendezvous.layers() == "rdma.rxm rdma.rxm.operation rdma.rxm.rndv");
    CHECK(rendezvous.number("rdma.rxm.rndv.key") == 0xbeef);
    CHECK(rendezvous.number("rdma.rxm.rndv.len") == 1 << 20);
    CHECK(rendezvous.number("rdma.rxm.rndv.count") == 1);
    cut_everywhere(offered, UlpProtocol::rxm);
    cut_everywhere(rxm_message({}), UlpProtocol::rxm);
}

TEST_CASE("rxm: what proves it, and what nearly does") {
    using libfabric::Fit;
    const auto fit = [](const Octets& message) { return libfabric::fits_rxm(message, message.size()); };
    CHECK(fit(rxm_message({})) == Fit::sure);
    CHECK(fit(rxm_message({.control_version = 2, .version = 2})) == Fit::sure);
    CHECK(fit(rxm_message({.size = 99})) == Fit::none);
    CHECK(fit(rxm_message({.size = 101})) == Fit::none);
    CHECK(fit(rxm_message({.control_version = 5})) == Fit::none);
    CHECK(fit(rxm_message({.control_version = 1})) == Fit::none);
    CHECK(fit(rxm_message({.version = 1})) == Fit::none);
    CHECK(fit(rxm_message({.type = 9})) == Fit::none);
    CHECK(fit(rxm_message({.op = 10})) == Fit::none);
    CHECK(fit(rxm_message({.type = 6, .size = 0, .data = {}})) == Fit::possible);
    CHECK(fit(rxm_message({.type = 2, .size = 500, .data = rxm_rendezvous(500)})) == Fit::sure);
    CHECK(fit(rxm_message({.type = 2, .size = 500, .data = rxm_rendezvous(499)})) == Fit::possible);
    CHECK(fit(rxm_message({.type = 2, .size = 500, .data = rxm_rendezvous(500, 5)})) == Fit::possible);
    for (std::size_t length = 0; length < 64; ++length) CHECK(fit(cut(rxm_message({}), length)) == Fit::none);
    for (const Octets& plain : plain_messages()) CHECK(fit(plain) == Fit::none);
    CHECK(Hinted(rxm_message({.version = 1}), UlpProtocol::rxm).layers() == "data");
}

TEST_CASE("rxd: every type") {
    const Hinted opens(rxd_ready_to_send(), UlpProtocol::rxd);
    CHECK(opens.layers() == "rdma.rxd rdma.rxd.rts");
    CHECK(opens.number("rdma.rxd.version") == 2);
    CHECK(opens.number("rdma.rxd.type") == 9);
    CHECK(opens.number("rdma.rxd.rts_addr") == 1);
    CHECK(opens.number("rdma.rxd.source.qpn") == 0x25);
    const Octets two = little().put(std::uint64_t{1}).put(std::uint64_t{2}).bytes;
    CHECK(Hinted(with(rxd_base(10), two), UlpProtocol::rxd).number("rdma.rxd.cts_addr") == 2);
    const Hinted ack(
        with(rxd_base(11), little().put(std::uint32_t{8}).put(std::uint32_t{9}).put(std::uint64_t{10}).bytes),
        UlpProtocol::rxd);
    CHECK(ack.layers() == "rdma.rxd rdma.rxd.ext");
    CHECK(ack.number("rdma.rxd.seq_no") == 7);
    CHECK(ack.number("rdma.rxd.tx_id") == 8);
    CHECK(ack.number("rdma.rxd.rx_id") == 9);
    CHECK(ack.number("rdma.rxd.seg_no") == 10);
    CHECK(Hinted(with(rxd_base(12), with({.bytes = two, .little = true}, Octets(30))), UlpProtocol::rxd).layers() ==
          "rdma.rxd rdma.rxd.ext data");
    CHECK(Hinted(with(rxd_base(0, 0x20), Octets(4)), UlpProtocol::rxd).layers() == "rdma.rxd data");
    const Octets segments = little()
                                .put(std::uint64_t{9000})
                                .put(std::uint64_t{3})
                                .put(std::uint32_t{4})
                                .put(std::uint8_t{1})
                                .zeros(3)
                                .bytes;
    const Octets tagged = with(rxd_base(1, 0x11), with(little().put(std::uint64_t{0x55}).put(std::uint64_t{0x66}),
                                                       with({.bytes = segments, .little = true}, Octets(9))));
    const Hinted all(tagged, UlpProtocol::rxd);
    CHECK(all.layers() == "rdma.rxd rdma.rxd.tag_hdr rdma.rxd.data_hdr rdma.rxd.sar data");
    CHECK(all.number("rdma.rxd.tag") == 0x55);
    CHECK(all.number("rdma.rxd.cq_data") == 0x66);
    CHECK(all.number("rdma.rxd.size") == 9000);
    CHECK(all.number("rdma.rxd.num_segs") == 3);
    const Octets atomic =
        with(rxd_base(7, 0x20),
             little().zeros(16).put(std::uint64_t{0xaa}).zeros(72).put(std::uint32_t{5}).put(std::uint32_t{2}).bytes);
    const Hinted fetch(atomic, UlpProtocol::rxd);
    CHECK(fetch.layers() == "rdma.rxd rdma.rxd.rma rdma.rxd.atomic");
    CHECK(fetch.number("rdma.rxd.rma.key") == 0xaa);
    CHECK(fetch.number("rdma.rxd.atomic.datatype") == 5);
    CHECK(Hinted(with(rxd_base(3), Octets(9)), UlpProtocol::rxd).layers() ==
          "rdma.rxd data");  // a type that is reserved
    CHECK(Hinted(rxd_base(14).bytes, UlpProtocol::rxd).layers() == "rdma.rxd");
    for (const Octets& message : {rxd_ready_to_send(), tagged, atomic}) cut_everywhere(message, UlpProtocol::rxd);
}

TEST_CASE("rxd: what opens a conversation proves it, nothing else does") {
    using libfabric::Fit;
    const auto fit = [](const Octets& message) { return libfabric::fits_rxd(message, message.size()); };
    CHECK(fit(rxd_ready_to_send()) == Fit::sure);
    for (const std::size_t at : {2U, 4U, 8U, 15U}) {
        Octets changed = rxd_ready_to_send();
        changed[at] = std::byte{1};
        CHECK(fit(changed) == Fit::none);
    }
    Octets longer = rxd_ready_to_send();
    longer.push_back({});
    CHECK(fit(longer) == Fit::none);
    CHECK(fit(rxd_base(0, 0x20).bytes) == Fit::possible);
    CHECK(fit(rxd_base(15).bytes) == Fit::none);
    Octets version = rxd_ready_to_send();
    version[0] = std::byte{1};
    CHECK(fit(version) == Fit::none);
    for (const Octets& plain : plain_messages()) CHECK(fit(plain) == Fit::none);
}
