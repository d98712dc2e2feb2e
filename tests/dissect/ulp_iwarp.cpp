// iWARP's bytes: CRC-32C, where FPDUs and markers lie, every header's fields, and lengths that lie.
#include <dissect/base/field.hpp>
#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/iwarp_dialogue.hpp>
#include <tests/support/packets.hpp>

#include <utility>

using namespace qps::dissect;
using namespace qps::tests;
using qps::transport::End;

namespace {

constexpr std::size_t kHeaders = 14 + 20 + 20;  // Ethernet, IPv4, TCP

// The last frame of a dialogue, with iWARP in its place.
struct Shown {
    Annotation known;
    Decoded decoded;
    Shown(const Block& frame, const IwarpPlace& place, std::size_t captured = SIZE_MAX)
        : decoded(frame, LinkType::ethernet, captured) {
        known.ulp.iwarp = place;
        decoded.packet.annotation = &known;
        add_ulp_layers(decoded.packet, known.ulp);
    }
    [[nodiscard]] std::uint64_t number(std::string_view name) const {
        const auto found = decoded.number(name);
        INFO(name);
        REQUIRE(found);
        return *found;
    }
};

constexpr IwarpPlace kFpdus{.what = IwarpPlace::What::fpdus, .crc = true};
constexpr IwarpPlace kMarked{.what = IwarpPlace::What::fpdus, .crc = true, .markers = true};

Block one(const Block& ulpdu, bool markers = false) {
    IwarpDialogue dialogue({.markers = markers});
    dialogue.post(End::a, ulpdu);
    return dialogue.frames.back();
}

}  // namespace

TEST_CASE("CRC-32C is that of RFC 3720's examples") {
    CHECK(crc32c(block("123456789")) == 0x839206e3);
    CHECK(crc32c(Block(32, std::byte{0})) == 0xaa36918a);
    CHECK(crc32c(Block(32, std::byte{0xff})) == 0x43aba862);
    CHECK(crc32c({}) == 0);
}

TEST_CASE("the length of an FPDU counts its markers, but not the one behind it") {
    for (std::size_t to_marker = 0; to_marker < 512; to_marker += 4)
        for (std::size_t plain = 8; plain < 2100; plain += 4) {
            std::size_t position = 512 - to_marker, counted = 0;
            for (std::size_t left = plain; left > 0; left -= 4, counted += 4, position += 4)
                if (position % 512 == 0) counted += 4, position += 4;
            if (mpa::stream_bytes(plain, to_marker) != counted) FAIL(to_marker << " " << plain);
        }
    CHECK(mpa::stream_bytes(1000, std::nullopt) == 1000);
    CHECK(mpa::plain_bytes(34) == 40);
    CHECK(mpa::plain_bytes(35) == 44);
}

TEST_CASE("a SEND in one FPDU has its layers in order, and a good CRC") {
    const Shown shown(one(ulpdu::send({.msn = 9}, pattern(13))), kFpdus);
    CHECK(shown.decoded.layers() ==
          "eth ip tcp iwarp_mpa.fpdu iwarp_ddp.untagged iwarp_rdma data rdma.iwarp.padding rdma.iwarp.crc");
    CHECK(shown.number("iwarp_mpa.ulpdulength") == 31);
    CHECK(shown.number("iwarp_ddp.tagged_flag") == 0);
    CHECK(shown.number("iwarp_ddp.last_flag") == 1);
    CHECK(shown.number("iwarp_ddp.dv") == 1);
    CHECK(shown.number("iwarp_ddp.qn") == 0);
    CHECK(shown.number("iwarp_ddp.msn") == 9);
    CHECK(shown.number("iwarp_rdma.opcode") == 3);
    CHECK(shown.number("rdma.iwarp.crc.status") == 1);
    CHECK_FALSE(shown.decoded.number("rdma.iwarp.crc.expected"));
    CHECK(shown.decoded.plain("iwarp_mpa.pad") == "000000");
}

TEST_CASE("every kind of message has its fields") {
    SECTION("SEND with invalidation") {
        const Shown shown(one(ulpdu::send({}, pattern(4), 0xabcd)), kFpdus);
        CHECK(shown.number("iwarp_rdma.inval_stag") == 0xabcd);
        CHECK_FALSE(shown.decoded.value("iwarp_rdma.reserved"));
    }
    SECTION("WRITE") {
        const Shown shown(one(ulpdu::write(0x1234, 0x5678, true, pattern(8))), kFpdus);
        CHECK(shown.number("iwarp_ddp.stag") == 0x1234);
        CHECK(shown.number("iwarp_ddp.tagged_offset") == 0x5678);
        CHECK(shown.decoded.plain("iwarp_ddp.rsvdulp") == "40");
    }
    SECTION("READ request") {
        const Shown shown(one(ulpdu::read_request(3, {.length = 4096})), kFpdus);
        CHECK(shown.number("iwarp_rdma.sinkstag") == 0x22);
        CHECK(shown.number("iwarp_rdma.sinkto") == 0x2000);
        CHECK(shown.number("iwarp_rdma.rdmardsz") == 4096);
        CHECK(shown.number("iwarp_rdma.srcstag") == 0x11);
        CHECK(shown.number("iwarp_rdma.srcto") == 0x1000);
    }
    SECTION("atomics") {
        const Shown add(one(ulpdu::atomic_request(1, {.operation = 0})), kFpdus);
        CHECK(add.number("iwarp_rdma.atomic.add_data") == 5);
        CHECK_FALSE(add.decoded.value("iwarp_rdma.atomic.swap_data"));
        CHECK_FALSE(add.decoded.value("iwarp_rdma.atomic.compare_data"));
        const Shown swap(one(ulpdu::atomic_request(1, {.operation = 2})), kFpdus);
        CHECK(swap.number("iwarp_rdma.atomic.swap_data") == 5);
        CHECK(swap.number("iwarp_rdma.atomic.compare_data") == 9);
        CHECK(swap.number("iwarp_rdma.atomic.remote_tagged_offset") == 0x3000);
        const Shown answer(one(ulpdu::atomic_response(1, 7, 99)), kFpdus);
        CHECK(answer.number("iwarp_rdma.atomic.original_request_identifier") == 7);
        CHECK(answer.number("iwarp_rdma.atomic.original_remote_data_value") == 99);
    }
    SECTION("immediate data") {
        CHECK(Shown(one(ulpdu::immediate(1, 0x1122334455)), kFpdus).number("rdma.iwarp.immediate") == 0x1122334455);
    }
}

TEST_CASE("a Terminate says which layer found which error, about which segment") {
    const Shown tagged(one(ulpdu::terminate(1, 1, 1)), kFpdus);
    CHECK(tagged.number("iwarp_rdma.term_layer") == 1);
    CHECK(tagged.number("iwarp_rdma.term_etype_ddp") == 1);
    CHECK(tagged.number("iwarp_rdma.term_errcode_ddp_tagged") == 1);
    CHECK_FALSE(tagged.decoded.number("iwarp_rdma.term_errcode_rdma"));
    const Shown low(one(ulpdu::terminate(2, 0, 2)), kFpdus);
    CHECK(low.number("iwarp_rdma.term_errcode_llp") == 2);
    const Block about = qps::tests::joined(hex("0040"), ulpdu::write(0x77, 0x88, true, {}));
    const Shown whole(one(ulpdu::terminate(0, 1, 2, 6, about)), kFpdus);
    CHECK(whole.number("iwarp_rdma.term_errcode_rdma") == 2);
    CHECK(whole.decoded.plain("iwarp_rdma.term_ddp_seg_len") == "0040");
    CHECK(whole.decoded.plain("iwarp_rdma.term_ddp_h") == "c140000000770000000000000088");
    CHECK_FALSE(whole.decoded.value("iwarp_rdma.term_rdma_h"));
}

TEST_CASE("a wrong CRC is called so, with the right one, one that nobody checks is not") {
    Block frame = one(ulpdu::send({}, pattern(16)));
    const std::uint64_t right = Shown(frame, kFpdus).number("iwarp_mpa.crc_check");
    frame[frame.size() - 6] ^= std::byte{1};
    const Shown shown(frame, kFpdus);
    CHECK(shown.number("rdma.iwarp.crc.status") == 2);
    CHECK(shown.number("rdma.iwarp.crc.expected") != right);
    IwarpPlace without = kFpdus;
    without.crc = false;
    const Shown unused(frame, without);
    CHECK(unused.number("iwarp_mpa.crc") == right);
    CHECK_FALSE(unused.decoded.number("rdma.iwarp.crc.status"));
}

TEST_CASE("several FPDUs in a segment are several of each layer, and what was begun before is data") {
    IwarpDialogue dialogue({});
    const Block first = dialogue.fpdu(End::a, ulpdu::send({.msn = 1}, pattern(20)));
    const Block second = dialogue.fpdu(End::a, ulpdu::send({.msn = 2}, pattern(24)));
    const Block third = dialogue.fpdu(End::a, ulpdu::send({.msn = 3}, pattern(200)));
    Block all = qps::tests::joined(qps::tests::joined(first, second), third);
    constexpr std::size_t kBegun = 12;
    all.erase(all.begin(), all.begin() + kBegun);
    all.resize(all.size() - 100);
    dialogue.segment(End::a, all);
    IwarpPlace place = kFpdus;
    place.first = static_cast<std::uint16_t>(first.size() - kBegun);
    const Shown shown(dialogue.frames.back(), place);
    CHECK(shown.decoded.layers() == "eth ip tcp data iwarp_mpa.fpdu iwarp_ddp.untagged iwarp_rdma data rdma.iwarp.crc "
                                    "iwarp_mpa.fpdu iwarp_ddp.untagged iwarp_rdma data");
    CHECK(shown.number("iwarp_ddp.msn") == 2);
    CHECK(shown.decoded.packet.layers().back().fault == Fault::fragment);
}

TEST_CASE("markers are layers between others, wherever they fall") {
    const Block payload = pattern(1400);
    const Shown shown(one(ulpdu::write(1, 2, true, payload), true), kMarked);
    CHECK(shown.decoded.layers() == "eth ip tcp iwarp_mpa.markers iwarp_mpa.fpdu iwarp_ddp.tagged iwarp_rdma data "
                                    "iwarp_mpa.markers data iwarp_mpa.markers data rdma.iwarp.crc");
    CHECK(shown.number("rdma.iwarp.crc.status") == 1);
    std::size_t data = 0;
    for (const Layer& layer : shown.decoded.packet.layers())
        if (layer.kind == LayerKind::data) data += layer.length;
    CHECK(data == payload.size());
    // A first FPDU of every length moves the marker through all of the second.
    for (std::size_t length = 0; length < 520; length += 4) {
        IwarpDialogue dialogue({.markers = true});
        const Block before = dialogue.fpdu(End::a, ulpdu::send({}, pattern(length)));
        dialogue.segment(End::a,
                         qps::tests::joined(before, dialogue.fpdu(End::a, ulpdu::read_request(1, {.length = 8}))));
        IwarpPlace place = kMarked;
        const Shown both(dialogue.frames.back(), place);
        std::size_t good = 0, markers = 0;
        for (const Layer& layer : both.decoded.packet.layers()) {
            if (layer.kind == qps::dissect::kind::mpa_crc)
                good += iwarp::crc_status(both.decoded.packet, layer)->number == std::to_underlying(CrcStatus::good)
                            ? 1U
                            : 0U;
            if (layer.kind != qps::dissect::kind::mpa_marker) continue;
            ++markers;
            CHECK(both.decoded.packet.bytes_of(layer)[0] == std::byte{0});
        }
        INFO(length);
        CHECK(good == 2);
        CHECK(markers == (dialogue.frames.back().size() - kHeaders + 511) / 512);
    }
}

TEST_CASE("the set-up of MPA has its flags, its private data and what RFC 6581 put there") {
    IwarpDialogue dialogue({.markers = true, .revision = 2});
    dialogue.segment(End::a, dialogue.set_up(false, hex("c0104020 cafe")));
    const Shown shown(dialogue.frames.back(), {.what = IwarpPlace::What::set_up});
    CHECK(shown.decoded.layers() == "eth ip tcp iwarp_mpa.req rdma.iwarp.depths");
    CHECK(shown.number("iwarp_mpa.marker_flag") == 1);
    CHECK(shown.number("iwarp_mpa.crc_flag") == 1);
    CHECK(shown.number("iwarp_mpa.rej_flag") == 0);
    CHECK(shown.number("rdma.iwarp.enhanced") == 1);
    CHECK(shown.number("iwarp_mpa.rev") == 2);
    CHECK(shown.number("iwarp_mpa.pdlength") == 6);
    CHECK(shown.number("rdma.iwarp.peer_to_peer") == 1);
    CHECK(shown.number("rdma.iwarp.ird") == 16);
    CHECK(shown.number("rdma.iwarp.rtr_read") == 1);
    CHECK(shown.number("rdma.iwarp.ord") == 32);
    IwarpDialogue refused({});
    refused.segment(End::b, refused.set_up(true, {}, true));
    const Shown reply(refused.frames.back(), {.what = IwarpPlace::What::set_up});
    CHECK(reply.decoded.layers() == "eth ip tcp iwarp_mpa.rep");
    CHECK(reply.number("iwarp_mpa.rej_flag") == 1);
}

TEST_CASE("READ depths of consumers without RFC 6581 are fields, in either order of bytes") {
    struct Said {
        std::uint8_t revision;
        bool reply;
        const char* data;
        std::optional<std::uint64_t> ird, ord;
    };
    for (const Said& said :
         {Said{1, false, "00000020 00000001", 32, 1}, Said{1, true, "00000000 00000010", 0, 16},
          Said{1, false, "20000000 01000000", 32, 1}, Said{1, true, "00000000 01000000", 0, 1},
          Said{2, false, "00400040 00000008 00000004", 8, 4}, Said{1, false, "f6ab0e18 01000303", {}, {}},
          Said{1, false, "00000000 00000000", {}, {}}, Said{1, false, "00000020 01000000", {}, {}},
          Said{1, false, "00000020 00000001 00", {}, {}}, Said{2, false, "00400040 00000008", {}, {}}}) {
        INFO(said.data);
        IwarpDialogue dialogue({.revision = said.revision});
        const End from = said.reply ? End::b : End::a;
        dialogue.segment(from, dialogue.set_up(said.reply, hex(said.data)));
        const Shown shown(dialogue.frames.back(), {.what = IwarpPlace::What::set_up});
        CHECK(shown.decoded.number("rdma.iwarp.legacy_ird") == said.ird);
        CHECK(shown.decoded.number("rdma.iwarp.legacy_ord") == said.ord);
    }
}

TEST_CASE("iWARP cut anywhere, on the wire or by the capture, is decoded as far as it goes") {
    IwarpDialogue dialogue({.markers = true, .revision = 2});
    std::vector<std::pair<Block, IwarpPlace>> whole;
    dialogue.segment(End::a, dialogue.set_up(false, pattern(40)));
    whole.emplace_back(dialogue.frames.back(), IwarpPlace{.what = IwarpPlace::What::set_up});
    dialogue.segment(
        End::a, qps::tests::joined(qps::tests::joined(dialogue.fpdu(End::a, ulpdu::terminate(0, 1, 2, 7, pattern(48))),
                                                      dialogue.fpdu(End::a, ulpdu::atomic_request(1, {}))),
                                   qps::tests::joined(dialogue.fpdu(End::a, ulpdu::send({}, pattern(700), 5)),
                                                      dialogue.fpdu(End::a, ulpdu::read_request(2, {})))));
    whole.emplace_back(dialogue.frames.back(), kMarked);
    for (const auto& [frame, place] : whole)
        for (std::size_t length = kHeaders; length <= frame.size(); ++length) {
            const Shown captured(frame, place, length);
            Block shorter(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
            const auto total = static_cast<std::uint16_t>(length - 14);
            shorter[16] = static_cast<std::byte>(total >> 8);
            shorter[17] = static_cast<std::byte>(total & 0xff);
            const Shown sent(shorter, place);
            for (const Shown* shown : {&captured, &sent})
                for (const Layer& layer : shown->decoded.packet.layers()) {
                    REQUIRE(layer.offset + layer.length <= length);
                    for (const Field& field : header(layer.kind).fields) {
                        const auto value = value_of(shown->decoded.packet, layer, field);
                        REQUIRE((!value || value->bytes.size() <= length));
                    }
                }
        }
}

TEST_CASE("a place that cannot be leaves the segment as it was") {
    const Block frame = one(ulpdu::send({}, pattern(4)));
    IwarpPlace beyond = kFpdus;
    beyond.first = 4000;
    CHECK(Shown(frame, beyond).decoded.layers() == "eth ip tcp data");
    IwarpPlace inside = kFpdus;
    inside.first = 9;
    CHECK(Shown(frame, inside).decoded.layers() == "eth ip tcp data iwarp_mpa.fpdu data");
    CHECK(Shown(frame, {}).decoded.layers() == "eth ip tcp data");
}
