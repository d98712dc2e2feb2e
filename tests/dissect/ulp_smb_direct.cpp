// Messages of SMB Direct as layers: negotiation, data transfers, SMB2 with descriptors, and messages that end anywhere.
#include <dissect/base/field.hpp>
#include <dissect/packet/render_value.hpp>
#include <dissect/ulp/smb_direct.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/smb_messages.hpp>

#include <memory>

using namespace qps::dissect;
using namespace qps::tests;
namespace frames = qps::tests::smb_messages;

namespace {

struct SmbDecoded {
    explicit SmbDecoded(const std::vector<std::byte>& bytes, std::size_t length = SIZE_MAX)
        : size(std::min(length, bytes.size())), block(std::make_unique<std::byte[]>(size)) {
        std::copy_n(bytes.begin(), size, block.get());
        decode_message({block.get(), size}, {UlpProtocol::smb_direct, true}, packet);
    }
    [[nodiscard]] std::string values(std::string_view name) const {
        std::string text;
        for (const Layer& layer : packet.layers())
            for (const Field& field : header(layer.kind).fields) {
                if (field.name != name) continue;
                const auto value = value_of(packet, layer, field);
                if (!value) continue;
                if (!text.empty()) text += ',';
                append_plain(text, field, *value);
            }
        return text;
    }
    [[nodiscard]] bool covers_all() const {
        std::size_t next = 0;
        for (const Layer& layer : packet.layers()) {
            if (layer.offset != next) return false;
            next += layer.length;
        }
        return next == size;
    }

    std::size_t size;
    std::unique_ptr<std::byte[]> block;
    Packet packet;
};

}  // namespace

TEST_CASE("SMB Direct negotiates with a request and a response of fixed shape") {
    const SmbDecoded request(frames::negotiate_request(255));
    CHECK(request.values("smb_direct.version.min") == "256");
    CHECK(request.values("smb_direct.credits.requested") == "255");
    CHECK(request.values("smb_direct.max_receive_size") == "8192");
    CHECK(request.values("smb_direct.max_fragmented_size") == "1048576");
    const SmbDecoded response(frames::negotiate_response(12));
    CHECK(response.values("smb_direct.credits.granted") == "12");
    CHECK(response.values("smb_direct.max_read_write_size") == "8388608");
    CHECK(response.values("smb_direct.status") == "0");
}

TEST_CASE("SMB2 READ and WRITE name memory by descriptors") {
    const SmbDecoded read(
        frames::data(frames::read_request(7, 8192, {{0x1000, 0x11, 4096}, {0x9000, 0x12, 4096}}), {.granted = 3}));
    CHECK(read.values("smb_direct.credits.granted") == "3");
    CHECK(read.values("smb_direct.data_offset") == "24");
    CHECK(read.values("smb2.cmd") == "8");
    CHECK(read.values("smb2.msg_id") == "7");
    CHECK(read.values("smb2.tid") == "5");
    CHECK(read.values("smb2.nt_status") == "");
    CHECK(read.values("smb2.credits.requested") == "33");
    CHECK(read.values("smb2.credits.granted") == "");
    CHECK(read.values("smb2.read_length") == "8192");
    CHECK(read.values("smb2.file_offset") == "65536");
    CHECK(read.values("smb2.channel") == "1");
    CHECK(read.values("smb2.buffer_descriptor.token") == "17,18");
    CHECK(read.values("smb2.buffer_descriptor.length") == "4096,4096");
    CHECK(read.covers_all());
    const SmbDecoded write(frames::data(frames::write_request(8, 4096, {0x2000, 0x21, 4096})));
    CHECK(write.values("smb2.remaining_bytes") == "4096");
    CHECK(write.values("smb2.buffer_descriptor.offset") == "8192");
    CHECK(write.covers_all());
    const SmbDecoded answer(frames::data(frames::response({.command = 9, .status = 0xc0000022, .id = 8}, 9, 7)));
    CHECK(answer.values("smb2.nt_status") == "3221225506");
    CHECK(answer.values("smb2.credits.granted") == "33");
    CHECK(answer.values("smb2.credits.requested") == "");
}

TEST_CASE("commands in a chain are all shown, and a dialect is told") {
    MessageWriter chain = frames::header({.command = 5, .id = 1, .next = 72});
    chain.little(57, 2).zeros(6);
    chain.add(frames::header({.command = 6, .id = 2}).little(24, 2).zeros(22).bytes());
    const SmbDecoded decoded(frames::data(chain.bytes()));
    CHECK(decoded.values("smb2.cmd") == "5,6");
    CHECK(decoded.values("smb2.msg_id") == "1,2");
    CHECK(decoded.covers_all());
    CHECK(SmbDecoded(frames::data(frames::negotiate_dialect(0, 0x311))).values("smb2.dialect") == "785");
}

TEST_CASE("messages of SMB Direct may end anywhere, and lie") {
    const std::vector<std::vector<std::byte>> messages{
        frames::negotiate_request(),
        frames::negotiate_response(),
        frames::data({}, {.granted = 9}),
        frames::data(frames::read_request(7, 8192, {{0x1000, 0x11, 4096}})),
        frames::data(frames::write_request(8, 4096, {0x2000, 0x21, 4096})),
        frames::data(frames::tree_connect(3)),
        frames::data(frames::negotiate_dialect(0, 0x311))};
    for (const auto& message : messages)
        for (std::size_t length = 0; length <= message.size(); ++length)
            for (const std::size_t flip : {SIZE_MAX, std::size_t{12}, std::size_t{24 + 20}, std::size_t{24 + 64 + 44},
                                           std::size_t{24 + 64 + 46}}) {
                std::vector<std::byte> bytes = message;
                if (flip < bytes.size()) bytes[flip] = std::byte{0xff};
                const SmbDecoded decoded(bytes, length);
                INFO(length << " of " << message.size() << ", changed at " << flip);
                CHECK((length == 0 || decoded.covers_all()));
                for (const Layer& layer : decoded.packet.layers())
                    for (const Field& field : header(layer.kind).fields) (void)value_of(decoded.packet, layer, field);
            }
}
