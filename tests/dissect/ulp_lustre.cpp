// Lustre above LNet: the header of a message, its body, what reads, writes and changes are about; what is nearly such a
// message; what ends too early.
#include <dissect/ulp/lustre.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/hinted.hpp>
#include <tests/support/lustre.hpp>

using namespace qps::dissect;
using namespace qps::tests;

TEST_CASE("Lustre: a request with its fields") {
    const Octets message = lustre_put(lustre_message({.opcode = 400}), 0x1000, 28);
    const Hinted hinted(message, UlpProtocol::lnet);
    CHECK(hinted.layers() == "lnet.ib lnet lustre.lustre_msg_v2 rdma.lustre.pad lustre.ptlrpc_body");
    CHECK(hinted.number("lustre.lustre_msg_v2.lm_bufcount") == 1);
    CHECK(hinted.number("lustre.lustre_msg_v2.lm_magic") == 0x0bd00bd3);
    CHECK(hinted.number("lustre.lustre_msg_v2.lm_repsize") == 320);
    CHECK(hinted.number("lustre.lustre_msg_v2.lm_cksum") == 0x1234);
    CHECK(hinted.number("rdma.lustre.flags.adaptive_timeouts") == 1);
    CHECK(hinted.number("lustre.lustre_msg_v2.lm_buflens") == 184);
    CHECK_FALSE(hinted.number("lustre.lustre_msg_v2.lm_buflens", 1));
    CHECK(hinted.number("lustre.ptlrpc_body.pb_type") == 4711);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_version") == 3);
    CHECK(hinted.number("rdma.lustre.service") == 3);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_opc") == 400);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_status") == 0);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_last_xid") == 1700);
    CHECK(hinted.number("rdma.lustre.slot") == 2);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_last_committed") == 40);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_transno") == 41);
    CHECK(hinted.number("rdma.lustre.flags.resent") == 1);
    CHECK(hinted.number("rdma.lustre.flags.replay") == 0);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_conn_cnt") == 3);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_timeout") == 32);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_slv") == 0x77);
    CHECK(hinted.number("lustre.ptlrpc_body.pb_pre_version", 3) == 8);
    CHECK(hinted.number("rdma.lustre.mbits") == 0xb17);
    CHECK(name_in(lustre::kOpcodes, 400) == "OBD_PING");
    cut_everywhere(message, UlpProtocol::lnet);
}

TEST_CASE("Lustre: bodies of every version") {
    for (const std::size_t body : {std::size_t{88}, std::size_t{152}, std::size_t{184}}) {
        const Hinted hinted(lustre_put(lustre_message({.body = body}), 1, 28), UlpProtocol::lnet);
        CHECK(hinted.number("lustre.ptlrpc_body.pb_opc") == 400);
        CHECK(hinted.number("rdma.lustre.mbits").has_value() == (body > 88));
    }
}

TEST_CASE("Lustre: a write names its object and its extents") {
    const Octets message = lustre_message({.opcode = 4, .buffers = lustre_extents(77, 0x100000, 2)});
    const Hinted hinted(lustre_put(message, 5, 6), UlpProtocol::lnet);
    CHECK(hinted.layers() == "lnet.ib lnet lustre.lustre_msg_v2 lustre.ptlrpc_body rdma.lustre.buffer lustre.obd_ioobj "
                             "lustre.niobuf_remote lustre.niobuf_remote");
    CHECK(hinted.number("lustre.lustre_msg_v2.lm_buflens", 3) == 32);
    CHECK(hinted.number("lustre.obd_ioobj.ioo_id") == 77);
    CHECK(hinted.number("lustre.obd_ioobj.ioo_bufcnt") == 2);
    CHECK(hinted.number("lustre.niobuf_remote.offset", 1) == 0x102000);
    CHECK(hinted.number("lustre.niobuf_remote.len", 1) == 4096);
    const auto said = lustre::said_by(message);
    REQUIRE(said);
    CHECK(said->object == 77);
    CHECK(said->offset == 0x100000);
    CHECK(said->bytes == 8192);
    cut_everywhere(lustre_put(message, 5, 6), UlpProtocol::lnet);
    // many extents: four in layers, the others as bytes
    const Hinted many(lustre_put(lustre_message({.opcode = 3, .buffers = lustre_extents(77, 0, 9)}), 5, 6),
                      UlpProtocol::lnet);
    CHECK(many.number("lustre.niobuf_remote.len", 3) == 4096);
    CHECK_FALSE(many.number("lustre.niobuf_remote.len", 4));
    CHECK(lustre::said_by(lustre_message({.opcode = 3, .buffers = lustre_extents(77, 0, 9)}))->bytes == 9 * 4096);
    // its reply has no extents in these places
    const Hinted reply(
        lustre_put(lustre_message({.type = 4713, .opcode = 4, .buffers = lustre_extents(77, 0, 2)}), 5, 6),
        UlpProtocol::lnet);
    CHECK_FALSE(reply.number("lustre.obd_ioobj.ioo_id"));
    CHECK_FALSE(
        lustre::said_by(lustre_message({.type = 4713, .opcode = 4, .buffers = lustre_extents(77, 0, 2)}))->has_extents);
}

TEST_CASE("Lustre: a change of names says which, a buffer of odd length has its pad") {
    Octets change(29);
    change[0] = std::byte{4};
    const Octets message = lustre_put(lustre_message({.opcode = 36, .buffers = {change, Octets(9)}}), 5, 12);
    const Hinted hinted(message, UlpProtocol::lnet);
    CHECK(hinted.layers() ==
          "lnet.ib lnet lustre.lustre_msg_v2 rdma.lustre.pad lustre.ptlrpc_body lustre.mdt_rec_reint rdma.lustre.pad "
          "rdma.lustre.buffer rdma.lustre.pad");
    CHECK(hinted.number("lustre.mdt_rec_reint.opcode") == 4);
    CHECK(name_in(lustre::kChanges, 4) == "UNLINK");
    cut_everywhere(message, UlpProtocol::lnet);
}

TEST_CASE("Lustre: what is nearly a message is data") {
    const auto layers = [](const Octets& message) {
        return Hinted(lustre_put(message, 1, 28), UlpProtocol::lnet).layers();
    };
    const Octets good = lustre_message({});
    Octets magic = good;
    magic[8] ^= std::byte{1};
    CHECK(layers(magic) == "lnet.ib lnet data");
    Octets none = good;
    none[0] = std::byte{0};
    CHECK(layers(none) == "lnet.ib lnet data");
    Octets many = good;
    many[0] = std::byte{33};
    CHECK(layers(many) == "lnet.ib lnet data");
    // wrapped by a security flavor: the first buffer is no body
    CHECK(layers(lustre_message({.type = 4710})) == "lnet.ib lnet lustre.lustre_msg_v2 rdma.lustre.pad data");
    CHECK(layers(lustre_message({.body = 80})) == "lnet.ib lnet lustre.lustre_msg_v2 rdma.lustre.pad data");
    Octets longer = good;
    longer[33] = std::byte{1};  // a body of 440 bytes that are not there
    CHECK(layers(longer) == "lnet.ib lnet lustre.lustre_msg_v2 rdma.lustre.pad data");
    for (const Octets& plain : plain_messages()) CHECK_FALSE(lustre::said_by(plain));
    for (std::size_t length = 0; length < 40 + 88; ++length) CHECK_FALSE(lustre::said_by(cut(good, length)));
    // an ACK and a REPLY of LNet carry none
    const Octets reply = lnet_message(0xd1, joined({lnet_header(3, 0, 9, {}), good}));
    CHECK(Hinted(reply, UlpProtocol::lnet).layers() == "lnet.ib lnet data");
}

TEST_CASE("Lustre: lengths that lie do not leave the message") {
    for (const std::uint32_t lie : {std::uint32_t{0xffffffff}, std::uint32_t{0x7fffffff}, std::uint32_t{4000}}) {
        Octets message = lustre_message({.opcode = 4, .buffers = lustre_extents(77, 0, 2)});
        for (std::size_t buffer = 0; buffer < 4; ++buffer) {
            Octets wrong = message;
            const Octets number = octets_of(lie);
            std::ranges::copy(number, wrong.begin() + static_cast<std::ptrdiff_t>(32 + 4 * buffer));
            const Hinted hinted(lustre_put(wrong, 1, 28), UlpProtocol::lnet);
            for (const Layer& layer : hinted.packet.layers())
                CHECK(std::size_t{layer.offset} + layer.length <= 120 + message.size());
            const auto said = lustre::said_by(wrong);
            CHECK((buffer == 0 ? !said : said && !said->has_extents));
        }
    }
}
