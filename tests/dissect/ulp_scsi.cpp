// Layers of iSER, iSCSI, SCSI and SRP: values of messages, what is not theirs, and what ends too early.
#include <dissect/packet/render_value.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/scsi_ulp.hpp>

#include <memory>

using namespace qps::dissect;
using namespace qps::tests;

namespace {

// A message in a block of exactly its size.
class Message {
public:
    Message(const Octets& bytes, UlpProtocol protocol) : block_(std::make_unique<std::byte[]>(bytes.size())) {
        std::ranges::copy(bytes, block_.get());
        decode_message({block_.get(), bytes.size()}, {.protocol = protocol, .from_active = true}, packet);
    }
    // In words, of the n-th field of that name; empty where there is none.
    [[nodiscard]] std::string words(std::string_view name, std::size_t which = 0) const {
        std::string text;
        each(name, which, [&](const Field& field, const Value& value) { append_words(text, field, value); });
        return text;
    }
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name, std::size_t which = 0) const {
        std::optional<std::uint64_t> found;
        each(name, which, [&](const Field&, const Value& value) { found = value.number; });
        return found;
    }
    [[nodiscard]] std::string layers() const {
        std::string names;
        for (const Layer& layer : packet.layers())
            names += (names.empty() ? "" : " ") + std::string(header(layer.kind).name);
        return names;
    }
    [[nodiscard]] bool faulty() const {
        return std::ranges::any_of(packet.layers(), [](const Layer& layer) { return layer.fault != Fault::none; });
    }
    Packet packet;

private:
    template <class Do> void each(std::string_view name, std::size_t which, Do&& act) const {
        for (const Layer& layer : packet.layers())
            for (const Field& field : header(layer.kind).fields) {
                if (field.name != name) continue;
                if (const auto value = value_of(packet, layer, field); value && which-- == 0) return act(field, *value);
            }
    }
    std::unique_ptr<std::byte[]> block_;
};

Message as_iser(const Octets& bytes) { return {bytes, UlpProtocol::iser}; }
Message as_srp(const Octets& bytes) { return {bytes, UlpProtocol::srp}; }

// Whatever is missing at the end: no layer leaves the message, and nothing is read that is not there.
void cut_scsi_everywhere(const Octets& message, UlpProtocol protocol) {
    for (std::size_t length = 0; length < message.size(); ++length) {
        const Message decoded({message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length)}, protocol);
        for (const Layer& layer : decoded.packet.layers()) {
            INFO(length << " of " << message.size() << ": " << decoded.layers());
            CHECK(std::size_t{layer.offset} + layer.length <= length);
            for (const Field& field : header(layer.kind).fields)
                static_cast<void>(value_of(decoded.packet, layer, field));
        }
    }
}

constexpr IserSpec kRead{.read_stag = 0xfcb9, .read_base = 0xff48cb8085b09000};

}  // namespace

TEST_CASE("a SCSI command in iSCSI in iSER has a layer each, and the memory that it names") {
    const Message decoded = as_iser(iscsi_command(0x10000005, 4096, read_10(64, 8), kRead));
    CHECK(decoded.layers() == "iser rdma.iscsi.command scsi.cdb");
    CHECK_FALSE(decoded.faulty());
    CHECK(decoded.number("iser.flags.opcode") == 1);
    CHECK(decoded.number("iser.flags.rsv") == 1);
    CHECK(decoded.number("iser.flags.wsv") == 0);
    CHECK(decoded.number("iser.read_stag") == 0xfcb9);
    CHECK(decoded.number("iser.read_base_offset") == 0xff48cb8085b09000);
    CHECK(decoded.words("iscsi.opcode").contains("SCSI Command"));
    CHECK(decoded.number("iscsi.initiatortasktag") == 0x10000005);
    CHECK(decoded.number("iscsi.scsicommand.expecteddatatransferlength") == 4096);
    CHECK(decoded.number("iscsi.scsicommand.R") == 1);
    CHECK(decoded.words("iscsi.scsicommand.attr").contains("simple"));
    CHECK(decoded.number("iscsi.cmdsn") == 7);
    CHECK(decoded.words("scsi_sbc.opcode").contains("READ(10)"));
    CHECK(decoded.number("scsi_sbc.rdwr10.lba") == 64);
    CHECK(decoded.number("scsi_sbc.rdwr10.xferlen") == 8);
}

TEST_CASE("immediate data of a command is its data segment, an additional header a layer of its own") {
    const Octets data = characters("0123456789");
    const Message decoded = as_iser(iscsi_command(1, 10, write_10(1, 1), {.write_stag = 9, .write_base = 10}, data));
    CHECK(decoded.layers() == "iser rdma.iscsi.command scsi.cdb rdma.iscsi.data_segment data");
    CHECK(decoded.number("iscsi.datasegmentlength") == 10);
    // A bidirectional command's AHS: length 5, type 2, 32 bits.
    IscsiSpec spec{.opcode = 0x01, .rest = WireBytes{}.zeros(12).add(read_10(0, 1)).bytes};
    spec.additional = WireBytes{}.put(std::uint16_t{5}).put(std::uint8_t{2}).zeros(1).put(std::uint32_t{8192}).bytes;
    const Message with = as_iser(iser_message(spec));
    CHECK(with.layers() == "iser rdma.iscsi.command scsi.cdb iscsi.ahs");
    CHECK(with.number("iscsi.ahs.bidir.length") == 8192);
    CHECK(with.words("iscsi.ahs.type").contains("bidirectional"));
}

TEST_CASE("CDBs say what they are about by their opcode") {
    const auto cdb = [](WireBytes wire) { return as_iser(iscsi_command(1, 0, cdb_area(wire), {})); };
    const Message sixteen =
        cdb(WireBytes{}.put(std::uint16_t{0x8a08}).put(std::uint64_t{0x123456789a}).put(std::uint32_t{2048}));
    CHECK(sixteen.words("scsi_sbc.opcode").contains("WRITE(16)"));
    CHECK(sixteen.number("scsi_sbc.rdwr16.lba") == 0x123456789a);
    CHECK(sixteen.number("scsi_sbc.rdwr12.xferlen") == 2048);
    CHECK(sixteen.number("scsi_sbc.fua") == 1);
    CHECK_FALSE(sixteen.number("scsi_sbc.rdwr10.lba"));
    const Message six = cdb(WireBytes{}.put(std::uint32_t{0x081f0102}).put(std::uint16_t{0x0400}));
    CHECK(six.number("scsi_sbc.rdwr6.lba") == 0x1f0102);
    CHECK(six.number("scsi_sbc.rdwr6.xferlen") == 4);
    const Message twelve = cdb(WireBytes{}.put(std::uint16_t{0xa800}).put(std::uint32_t{5}).put(std::uint32_t{6}));
    CHECK(twelve.number("scsi_sbc.rdwr10.lba") == 5);
    CHECK(twelve.number("scsi_sbc.rdwr12.xferlen") == 6);
    const Message page = cdb(WireBytes{}.put(std::uint16_t{0x1201}).put(std::uint8_t{0x83}).put(std::uint16_t{255}));
    CHECK(page.number("scsi.inquiry.evpd.pagecode") == 0x83);
    CHECK(page.number("scsi.cdb.alloclen16") == 255);
    CHECK_FALSE(cdb(WireBytes{}.put(std::uint16_t{0x1200})).number("scsi.inquiry.evpd.pagecode"));
    const Message capacity = cdb(WireBytes{}.put(std::uint16_t{0x9e10}).zeros(8).put(std::uint32_t{32}));
    CHECK(capacity.words("scsi_sbc.sa").contains("READ CAPACITY(16)"));
    CHECK(capacity.number("scsi_sbc.alloclen32") == 32);
    const Message luns = cdb(WireBytes{}.put(std::uint16_t{0xa000}).zeros(4).put(std::uint32_t{4096}));
    CHECK(luns.number("scsi.cdb.alloclen32") == 4096);
    const Message reserve = cdb(WireBytes{}
                                    .put(std::uint8_t{0x5f})
                                    .put(std::uint8_t{1})
                                    .put(std::uint8_t{0x05})
                                    .zeros(2)
                                    .put(std::uint32_t{24}));
    CHECK(reserve.words("scsi.persresvout.svcaction").contains("RESERVE"));
    CHECK(reserve.words("scsi.persresv.type").contains("registrants only"));
    const Message unmap = cdb(WireBytes{}.put(std::uint8_t{0x42}).zeros(6).put(std::uint16_t{24}));
    CHECK(unmap.number("scsi.cdb.paramlen16") == 24);
}

TEST_CASE("a SCSI response has status and sense data in words") {
    const Message decoded = as_iser(iscsi_response(7, 2, sense_fixed()));
    CHECK(decoded.layers() == "iser rdma.iscsi.response rdma.iscsi.sense scsi.sns");
    CHECK_FALSE(decoded.faulty());
    CHECK(decoded.words("iscsi.scsiresponse.status").contains("CHECK CONDITION"));
    CHECK(decoded.number("iscsi.scsiresponse.senselength") == 18);
    CHECK(decoded.words("scsi.sns.key").contains("illegal request"));
    CHECK(decoded.words("scsi.sns.ascascq").contains("invalid command operation code"));
    const Message descriptors =
        as_iser(iscsi_response(7, 2, WireBytes{}.put(std::uint16_t{0x7206}).put(std::uint16_t{0x2900}).zeros(4).bytes));
    CHECK(descriptors.words("scsi.sns.key").contains("unit attention"));
    CHECK(descriptors.words("scsi.sns.ascascq").contains("power on"));
    // A sense length that says more than there is.
    Octets lying = iscsi_response(7, 2, sense_fixed());
    lying[28 + 48] = std::byte{0x40};
    CHECK(as_iser(lying).faulty());
}

TEST_CASE("logins have their keys one by one, status and stages in words") {
    const auto request = as_iser(iscsi_login_request(std::string_view("InitiatorName=iqn.a\0TargetName=iqn.b\0", 37)));
    CHECK(request.layers() == "iser rdma.iscsi.login_request rdma.iscsi.key rdma.iscsi.key");
    CHECK(request.words("iscsi.keyvalue") == "InitiatorName=iqn.a");
    CHECK(request.words("iscsi.keyvalue", 1) == "TargetName=iqn.b");
    CHECK(request.words("iscsi.login.csg").contains("operational"));
    CHECK(request.words("iscsi.login.nsg").contains("full feature"));
    const auto response = as_iser(iscsi_login_response(0x0203));
    CHECK(response.words("iscsi.login.status").contains("target not found"));
    // More keys than a packet has layers for: the rest is data, the message is whole.
    std::string many;
    for (int i = 0; i < 100; ++i) many += "Key" + std::to_string(i) + "=Yes" + '\0';
    const auto long_one = as_iser(iscsi_login_request(many));
    CHECK(long_one.layers().ends_with("rdma.iscsi.key data"));
    CHECK(long_one.packet.layers().back().offset + long_one.packet.layers().back().length ==
          28 + 48 + (many.size() + 3) / 4 * 4);
}

TEST_CASE("every other PDU has its words") {
    const auto say = [](std::uint8_t opcode, std::uint8_t flags, std::uint8_t third, const Octets& rest = {}) {
        return as_iser(iser_message({.opcode = opcode, .flags = flags, .third = third, .rest = rest}));
    };
    CHECK(say(0x02, 0x85, 0).words("iscsi.taskmanfun.function").contains("LOGICAL UNIT RESET"));
    CHECK(say(0x22, 0x80, 1).words("iscsi.taskmanfun.response").contains("task does not exist"));
    CHECK_FALSE(say(0x22, 0x80, 1).number("iscsi.taskmanfun.function"));
    CHECK(say(0x06, 0x81, 0).words("iscsi.logout.reason").contains("close the connection"));
    CHECK(say(0x26, 0x80, 3).words("iscsi.logout.response").contains("cleanup failed"));
    CHECK(say(0x3f, 0x80, 4).words("iscsi.reject.reason").contains("protocol error"));
    CHECK(say(0x32, 0x80, 0, WireBytes{}.zeros(16).put(std::uint8_t{1}).bytes)
              .words("iscsi.asyncevent")
              .contains("logout"));
    CHECK(say(0x31, 0x80, 0, WireBytes{}.zeros(24).put(std::uint32_t{512}).bytes).number("iscsi.desireddatalength") ==
          512);
    CHECK(say(0x10, 0x81, 0).words("iscsi.snack.type").contains("Status"));
    const auto ping =
        say(0x20, 0x80, 0,
            WireBytes{}.put(std::uint32_t{9}).put(std::uint32_t{1}).put(std::uint32_t{2}).put(std::uint32_t{3}).bytes);
    CHECK(ping.number("iscsi.statsn") == 1);
    CHECK(ping.number("iscsi.expcmdsn") == 2);
    CHECK(ping.number("iscsi.maxcmdsn") == 3);
    CHECK_FALSE(ping.number("iscsi.cmdsn"));
    Octets hello = WireBytes{}.put(std::uint8_t{0x20}).put(std::uint8_t{0xaa}).put(std::uint16_t{16}).zeros(24).bytes;
    CHECK(as_iser(hello).number("iser.ird") == 16);
    hello[0] = std::byte{0x31};
    CHECK(as_iser(hello).number("iser.ord") == 16);
    CHECK(as_iser(hello).number("iser.flags.rej") == 1);
}

TEST_CASE("SRP commands have descriptors, single or in a table") {
    const SrpMemory memory{0xffff888004fa1300, 0x26fe0, 4096};
    const Message direct = as_srp(srp_command(0x2000, read_10(8, 8), {}, {memory}));
    CHECK(direct.layers() == "rdma.srp.cmd scsi.cdb rdma.srp.desc");
    CHECK(direct.number("rdma.srp.tag") == 0x2000);
    CHECK(direct.words("rdma.srp.data_in_format").contains("direct"));
    CHECK(direct.number("rdma.srp.desc.key") == 0x26fe0);
    CHECK(direct.words("scsi_sbc.opcode").contains("READ(10)"));
    const Message table = as_srp(srp_command(1, write_10(8, 16), {memory, {memory.address + 8192, 5, 4096}}, {}));
    CHECK(table.layers() == "rdma.srp.cmd scsi.cdb rdma.srp.table rdma.srp.desc rdma.srp.desc");
    CHECK(table.number("rdma.srp.table.data_length") == 8192);
    CHECK(table.number("rdma.srp.desc.key", 1) == 5);
    const Message many = as_srp(srp_command(1, write_10(8, 16), std::vector<SrpMemory>(200, memory), {}));
    CHECK(many.layers().ends_with("rdma.srp.desc data"));
}

TEST_CASE("SRP responses, logouts, credits and events have their words") {
    const Message failed = as_srp(srp_response(3, 2, sense_fixed(6, 0x2900)));
    CHECK(failed.layers() == "rdma.srp.rsp scsi.sns");
    CHECK(failed.words("rdma.srp.rsp.status").contains("CHECK CONDITION"));
    CHECK(failed.words("scsi.sns.key").contains("unit attention"));
    CHECK(failed.number("rdma.srp.req_lim_delta") == 1);
    const Message refused = as_srp(srp_response(3, 0, {}, 1, WireBytes{}.zeros(3).put(std::uint8_t{5}).bytes));
    CHECK(refused.words("rdma.srp.rsp.code").contains("failed"));
    CHECK(as_srp(srp_short(0x80, 1, 0)).words("rdma.srp.logout_reason").contains("inactive"));
    CHECK(as_srp(srp_short(0x81, 9, 0)).number("rdma.srp.req_lim_delta") == 9);
    CHECK_FALSE(as_srp(srp_short(0x81, 9, 0)).number("rdma.srp.logout_reason"));
    Octets task = WireBytes{}
                      .put(std::uint8_t{1})
                      .zeros(7)
                      .put(std::uint64_t{9})
                      .zeros(14)
                      .put(std::uint8_t{8})
                      .zeros(1)
                      .put(std::uint64_t{3})
                      .zeros(8)
                      .bytes;
    CHECK(as_srp(task).words("rdma.srp.task_function").contains("LOGICAL UNIT RESET"));
    CHECK(as_srp(task).number("rdma.srp.task_tag") == 3);
    CHECK(as_srp(srp_login_reject(0x00010006)).words("rdma.srp.rej_reason").contains("channel limit"));
    CHECK(as_srp(srp_login_response(128)).number("rdma.srp.max_it_iu_len") == 8276);
}

TEST_CASE("what is neither stays data") {
    for (const Octets& plain : plain_messages()) {
        INFO(plain.size());
        const Message decoded = as_srp(plain);
        CHECK_FALSE(decoded.layers().empty());
        CHECK_FALSE(as_iser(plain).layers().empty());
    }
    CHECK(as_iser(Octets(100, std::byte{0xff})).layers() == "data");
    CHECK(as_srp(Octets(100, std::byte{0xff})).layers() == "data");
}

TEST_CASE("storage messages may end anywhere") {
    cut_scsi_everywhere(
        iscsi_command(1, 10, write_10(1, 1), {.write_stag = 9, .write_base = 10}, characters("0123456789")),
        UlpProtocol::iser);
    cut_scsi_everywhere(iscsi_response(7, 2, sense_fixed()), UlpProtocol::iser);
    cut_scsi_everywhere(iscsi_login_request(std::string_view("InitiatorName=iqn.a\0TargetName=iqn.b\0", 37)),
                        UlpProtocol::iser);
    const SrpMemory memory{1, 2, 3};
    cut_scsi_everywhere(srp_command(1, write_10(8, 16), {memory, memory}, {memory}), UlpProtocol::srp);
    cut_scsi_everywhere(srp_response(3, 2, sense_fixed(), 1, Octets(4)), UlpProtocol::srp);
    for (const int opcode : {0x00, 0x01, 0x03, 0x41, 0x42, 0x80, 0x81, 0x82, 0xc0, 0xc2})
        cut_scsi_everywhere(WireBytes{}.put(static_cast<std::uint8_t>(opcode)).zeros(80).bytes, UlpProtocol::srp);
    for (unsigned opcode = 0; opcode < 64; ++opcode)
        cut_scsi_everywhere(iser_message({.opcode = static_cast<std::uint8_t>(opcode), .data = characters("a=b")}),
                            UlpProtocol::iser);
}
