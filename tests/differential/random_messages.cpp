// Random messages of upper protocols: dialogues between two hosts, each behind the handshake that names the protocol.
#include <dissect/packet/build.hpp>
#include <tests/differential/random_packets.hpp>
#include <tests/support/iwarp_dialogue.hpp>
#include <tests/support/nvme_capsules.hpp>
#include <tests/support/rpc_messages.hpp>
#include <tests/support/scsi_ulp.hpp>
#include <tests/support/small_ulp.hpp>
#include <tests/support/smb_messages.hpp>

namespace qps::test {

using namespace dissect;

namespace {

using Octets = std::vector<std::byte>;

std::uint32_t word(Dice& dice) { return static_cast<std::uint32_t>(dice.throw_once() >> 32); }
std::uint16_t half(Dice& dice) { return static_cast<std::uint16_t>(dice.throw_once() >> 48); }

Octets noise(Dice& dice, std::size_t length) {
    Octets bytes(length);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice.throw_once());
    return bytes;
}

// Two hosts and a queue pair of each.
class Connection {
public:
    Connection(Dice& dice, Frames& frames) : dice_(dice), frames_(frames) {
        constexpr std::uint32_t kNet = 0x0a000000, kHosts = 0xffffff;
        for (std::size_t i = 0; i < 2; ++i) {
            address_[i] = kNet | (word(dice) & kHosts);
            qp_[i] = 2 + (word(dice) & 0x7fffff);
            psn_[i] = word(dice) & 0xffffff;
        }
    }

    // REQ, REP, RTU; private data of the consumer behind the header of the IP CM service (A11.3).
    void connect(std::uint16_t port, const Octets& of_req, const Octets& of_rep) {
        constexpr std::uint64_t kIpService = 0x0000000001060000;
        const std::uint64_t transaction = dice_.throw_once(), local = word(dice_), remote = word(dice_);
        tests::WireBytes data;
        data.put(std::uint8_t{0})
            .put(std::uint8_t{0x40})
            .put(half(dice_))
            .zeros(12)
            .put(address_[0])
            .zeros(12)
            .put(address_[1])
            .add(of_req);
        data.zeros(92 - data.bytes.size());
        message(0, 0, transaction,
                {{"infiniband.cm.req", local},
                 {"infiniband.cm.req.serviceid", kIpService | port},
                 {"infiniband.cm.req.localqpn", qp_[0]},
                 {"infiniband.cm.req.startpsn", psn_[1]},
                 {"infiniband.cm.req.pkey", 0xffff}},
                {{"infiniband.cm.req.prim_localgid", gid(0)},
                 {"infiniband.cm.req.prim_remotegid", gid(1)},
                 {"infiniband.cm.req.private", data.bytes}});
        Octets reply = of_rep;
        reply.resize(196);
        message(3, 1, transaction,
                {{"infiniband.cm.rep", remote},
                 {"infiniband.cm.rep.remotecommid", local},
                 {"infiniband.cm.rep.localqpn", qp_[1]},
                 {"infiniband.cm.rep.startpsn", psn_[0]}},
                {{"infiniband.cm.rep.private", reply}});
        message(4, 0, transaction,
                {{"infiniband.cm.rtu.localcommid", local}, {"infiniband.cm.rtu.remotecommid", remote}}, {});
    }

    void send(std::size_t from, const Octets& payload) {
        PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
        route(spec, from);
        set(spec, "infiniband.bth.destqp", qp_[1 - from]);
        set(spec, "infiniband.bth.psn", psn_[1 - from]++ & 0xffffff);
        set(spec, "infiniband.bth.a", below(dice_, 2));
        spec.payload = payload;
        frames_.push_back({build(spec)});
    }

private:
    struct Number {
        std::string_view field;
        std::uint64_t value;
    };
    struct Block {
        std::string_view field;
        Octets bytes;
    };

    void message(unsigned kind, std::size_t from, std::uint64_t transaction, const std::vector<Number>& numbers,
                 const std::vector<Block>& blocks) {
        const MadAttribute& row =
            *find_attribute(ManagementClass::communication, static_cast<std::uint16_t>(0x10 + kind));
        PacketSpec spec = mad_packet(ManagementClass::communication, row, Network::roce_v2_ipv4);
        route(spec, from);
        for (const auto& [field, value] : {Number{"infiniband.mad.method", 3},
                                           {"infiniband.mad.classversion", 2},
                                           {"infiniband.mad.transactionid", transaction}})
            set(spec, field, value);
        for (const auto& [field, value] : numbers)
            if (!set(spec, field, value)) throw std::runtime_error("no field " + std::string(field));
        for (const auto& [field, bytes] : blocks)
            if (!set(spec, field, Bytes(bytes))) throw std::runtime_error("no field " + std::string(field));
        frames_.push_back({build(spec)});
    }
    void route(PacketSpec& spec, std::size_t from) {
        set(spec, "ip.src", address_[from]);
        set(spec, "ip.dst", address_[1 - from]);
        set(spec, "udp.srcport", 0xc000 | qp_[from] % 0x4000);
    }
    // ::ffff:a.b.c.d
    Octets gid(std::size_t of) const {
        return tests::WireBytes{}.zeros(10).put(std::uint16_t{0xffff}).put(address_[of]).bytes;
    }

    Dice& dice_;
    Frames& frames_;
    std::array<std::uint32_t, 2> address_{}, qp_{}, psn_{};
};

// An I/O queue: commands and their completions.
void nvme(Dice& dice, Frames& frames) {
    constexpr std::uint16_t kPort = 4420;
    Connection connection(dice, frames);
    tests::WireBytes req{.bytes = {}, .little = true}, rep{.bytes = {}, .little = true};
    const auto queue = static_cast<std::uint16_t>(1 + below(dice, 64));
    req.put(std::uint16_t{0}).put(queue).put(half(dice)).put(half(dice)).zeros(24);
    rep.put(std::uint16_t{0}).put(half(dice)).zeros(28);
    connection.connect(kPort, req.bytes, rep.bytes);
    connection.send(0, tests::in_capsule(tests::nvme_connect(0, queue), 0));
    connection.send(1, tests::nvme_response(0, 0, 1));
    const std::uint64_t commands = 1 + below(dice, 20);
    for (std::uint16_t cid = 1; cid <= commands; ++cid) {
        constexpr std::array<std::uint8_t, 2> kBlocks{1, 2};  // Write, Read; tshark names the words of no other
        const tests::NvmeKey key{dice.throw_once(), word(dice)};
        auto entry = tests::nvme_blocks_entry(kBlocks[below(dice, kBlocks.size())], cid, dice.throw_once(),
                                              static_cast<std::uint16_t>(1 + below(dice, 64)), key);
        tests::put(entry, 0, kind::nvme_command, "nvme.cmd.nsid", word(dice));
        connection.send(0, entry);
        constexpr unsigned kStatus = 11;  // type and code
        connection.send(1, tests::nvme_response(cid, below(dice, 2) == 0 ? 0 : word(dice) >> (32 - kStatus), 0));
    }
}

void rpc(Dice& dice, Frames& frames) {
    namespace rpcs = tests::rpc_messages;
    Connection connection(dice, frames);
    const std::uint64_t calls = 1 + below(dice, 20);
    for (std::uint64_t i = 0; i < calls; ++i) {
        const std::uint32_t xid = word(dice), credits = 1 + word(dice) % 1024;
        switch (below(dice, i == 0 ? 4 : 5)) {  // not the first: an answer without RPC in it names no protocol to us
            case 0:
                connection.send(0, rpcs::read_call(xid, credits));
                connection.send(1, rpcs::read_reply(xid, credits));
                break;
            case 1:
                connection.send(0, rpcs::write_call(xid));
                connection.send(1, rpcs::write_reply(xid, 0));
                break;
            case 2:
                connection.send(0, rpcs::lookup3_call(xid));
                connection.send(1, rpcs::status3_reply(xid, 2));
                break;
            case 3:
                connection.send(1, rpcs::recall_call(xid));
                connection.send(0, rpcs::recall_reply(xid));
                break;
            default:
                connection.send(0, rpcs::long_answer_call(xid));
                connection.send(1, rpcs::long_answer(xid, 64 + word(dice) % 4096));
                break;
        }
    }
}

void smb_direct(Dice& dice, Frames& frames) {
    namespace smb = tests::smb_messages;
    constexpr std::uint16_t kMost = 256;  // tshark takes a message that grants more for none of SMB Direct
    const auto credits = [&] { return static_cast<std::uint16_t>(1 + below(dice, kMost - 1)); };
    Connection connection(dice, frames);
    connection.send(0, smb::negotiate_request(credits()));
    connection.send(1, smb::negotiate_response(credits()));
    connection.send(1, smb::data({}, {.granted = credits()}));
    const std::uint64_t requests = 1 + below(dice, 20);
    for (std::uint64_t id = 1; id <= requests; ++id) {
        const smb::Fragment granted{.granted = credits()};
        if (below(dice, 2) == 0) {
            connection.send(
                0,
                smb::data(smb::read_request(
                              id, 8192, {{dice.throw_once(), word(dice), 4096}, {dice.throw_once(), word(dice), 4096}}),
                          granted));
            connection.send(1, smb::data(smb::response({.command = 8, .id = id}, 17, 14)));
        } else {
            connection.send(0, smb::data(smb::write_request(id, 4096, {dice.throw_once(), word(dice), 4096}), granted));
            connection.send(1, smb::data(smb::response({.command = 9, .id = id}, 17, 14)));
        }
    }
}

// READ(10) and WRITE(10) over iSER.
void iser(Dice& dice, Frames& frames) {
    constexpr std::uint16_t kPort = 3260;
    Connection connection(dice, frames);
    connection.connect(kPort, {}, {});
    connection.send(0, tests::iscsi_login_request("InitiatorName=iqn.2026-01.example:a", word(dice)));
    connection.send(1, tests::iscsi_login_response(0));
    const std::uint64_t commands = 1 + below(dice, 20);
    for (std::uint64_t i = 0; i < commands; ++i) {
        const std::uint32_t tag = word(dice);
        const auto blocks = static_cast<std::uint16_t>(1 + below(dice, 128));
        const bool reads = below(dice, 2) == 0;
        tests::IserSpec memory;
        (reads ? memory.read_stag : memory.write_stag) = 1 | word(dice);
        (reads ? memory.read_base : memory.write_base) = dice.throw_once();
        const std::uint32_t lba = word(dice);
        connection.send(
            0, tests::iscsi_command(tag, blocks * 512U,
                                    reads ? tests::read_10(lba, blocks) : tests::write_10(lba, blocks), memory));
        connection.send(1, tests::iscsi_response(tag, 0));
    }
}

// SRP: tshark has no dissector for it, so the packets around the messages are what is compared.
void srp(Dice& dice, Frames& frames) {
    Connection connection(dice, frames);
    const std::uint64_t commands = 1 + below(dice, 20);
    for (std::uint64_t i = 0; i < commands; ++i) {
        const std::uint64_t tag = dice.throw_once();
        connection.send(
            0, tests::srp_command(tag, tests::read_10(word(dice), 8), {}, {{dice.throw_once(), word(dice), 4096}}));
        connection.send(1, tests::srp_response(tag, 0));
    }
}

// MPA with and without CRCs; the tagged and untagged messages of RDMAP, whole in a segment each.
void iwarp_stream(Dice& dice, Frames& frames, bool markers) {
    using namespace tests;
    using transport::End;
    constexpr std::size_t kFirstPort = 49152, kPorts = 16384;  // its own for each connection of a capture
    const auto port = static_cast<std::uint16_t>(kFirstPort + frames.size() % kPorts);
    IwarpDialogue dialogue({.crc = below(dice, 2) == 0, .markers = markers, .first_seq = word(dice), .port = port});
    dialogue.connect(noise(dice, below(dice, 40)), noise(dice, below(dice, 40)));
    std::uint32_t sends = 0, reads = 0;
    const std::uint64_t messages = 1 + below(dice, 20);
    for (std::uint64_t i = 0; i < messages; ++i) {
        Octets payload(4 + below(dice, 200), std::byte{0xa5});
        switch (below(dice, 5)) {
            case 0: dialogue.post(End::a, ulpdu::send({.msn = ++sends}, payload)); break;
            case 1: dialogue.post(End::a, ulpdu::send({.msn = ++sends}, payload, word(dice))); break;
            case 2: dialogue.post(End::a, ulpdu::write(word(dice), dice.throw_once(), true, payload)); break;
            case 3: {
                const ulpdu::Read read{word(dice), dice.throw_once(), static_cast<std::uint32_t>(payload.size()),
                                       word(dice), dice.throw_once()};
                dialogue.post(End::a, ulpdu::read_request(++reads, read));
                dialogue.post(End::b, ulpdu::read_response(read.sink, read.sink_offset, true, payload));
                break;
            }
            default: dialogue.acknowledge(End::b);
        }
    }
    for (auto& frame : dialogue.frames) frames.push_back({std::move(frame)});
}

void iwarp(Dice& dice, Frames& frames) { iwarp_stream(dice, frames, false); }
void iwarp_markers(Dice& dice, Frames& frames) { iwarp_stream(dice, frames, true); }

constexpr std::array kMessageKinds{
    Kind{"random_nvme", "nvme_rdma", LinkType::ethernet, 4, nvme},
    Kind{"random_rpc", "nfs_rdma", LinkType::ethernet, 4, rpc},
    Kind{"random_smb_direct", "built_smb_direct", LinkType::ethernet, 3, smb_direct},
    Kind{"random_iser", "iser_io", LinkType::ethernet, 3, iser},
    Kind{"random_srp", "srp_io", LinkType::ethernet, 1, srp},
    Kind{"random_iwarp", "iwarp_read", LinkType::ethernet, 2, iwarp},
    Kind{"random_iwarp_markers", "iwarp_read", LinkType::ethernet, 1, iwarp_markers},
};

}  // namespace

std::span<const Kind> message_kinds() { return kMessageKinds; }

}  // namespace qps::test
