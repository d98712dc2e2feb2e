#include <dissect/mad/cm.hpp>
#include <tests/conformance/nvme_scenes.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::uint32_t kHostQp = 0x100, kTargetQp = 0x200;
constexpr std::size_t kReq = 0, kRep = 1, kRtu = 2, kRej = 3;

// Little-endian, behind the common header of a CM message, the ICRC right again.
void put_private(RecordedFrame& frame, LayerKind kind, const Field& field, std::size_t skip,
                 const std::vector<std::uint16_t>& words, std::uint8_t last) {
    dissect::Packet packet;
    decode(frame.frame(1), packet);
    const Layer* layer = find(packet, kind);
    REQUIRE(layer != nullptr);
    const std::size_t at = layer->offset + field.bit / 8U + skip;
    constexpr std::size_t kRoom = kNvmePrivate;
    std::fill_n(frame.bytes.begin() + static_cast<std::ptrdiff_t>(at), kRoom, std::byte{});
    for (std::size_t i = 0; i < words.size(); ++i) {
        frame.bytes[at + 2 * i] = static_cast<std::byte>(words[i]);
        frame.bytes[at + 2 * i + 1] = static_cast<std::byte>(words[i] >> 8U);
    }
    frame.bytes[at + kRoom - 1] = static_cast<std::byte>(last);
    seal_icrc(frame);
}
std::uint16_t le16(const Capsule& bytes, std::size_t at) { return read_le<std::uint16_t>(bytes, at); }

}  // namespace

NvmeDialogue::NvmeDialogue() {
    const RecordedCapture recorded = healed("nvme_rdma");
    cm_[kReq] = recorded.frames[matching(recorded, "infiniband.cm.req.serviceid.dport == 4420").front()];
    cm_[kRep] = recorded.frames[matching(recorded, "infiniband.cm.rep").front()];
    cm_[kRtu] = recorded.frames[matching(recorded, "infiniband.cm.rtu").front()];
    const RecordedCapture rejected = healed("cm_reject_noport");
    cm_[kRej] = rejected.frames[matching(rejected, "infiniband.cm.rej").front()];
    host_.address = static_cast<std::uint32_t>(field_of(cm_[kReq], "ip.src"));
    target_.address = static_cast<std::uint32_t>(field_of(cm_[kReq], "ip.dst"));
    REQUIRE(set_field(cm_[kRej], "ip.src", target_.address));
    REQUIRE(set_field(cm_[kRej], "ip.dst", host_.address));
}

void NvmeDialogue::add(RecordedFrame frame) {
    frame.time = clock_ += step;
    capture.frames.push_back(std::move(frame));
}

void NvmeDialogue::set_up(const Settings& settings) {
    ++set_ups_;
    host_.qp = kHostQp + set_ups_;
    target_.qp = kTargetQp + set_ups_;
    host_.psn = 0xfffffa;  // it wraps
    target_.psn = 0x1000;
    host_.msn = target_.msn = 0;
    head = 0;
    entries = static_cast<std::uint16_t>(settings.sends + 1);
    queue = settings.queue;
    const std::uint32_t asked = 0x77000000 + set_ups_;
    const std::uint32_t answered = 0x66000000 + set_ups_;
    auto frames = cm_;
    for (RecordedFrame& frame : frames) REQUIRE(set_field(frame, "infiniband.mad.transactionid", asked));
    const auto put_field = [&](std::size_t which, std::string_view name, std::uint64_t value) {
        REQUIRE(set_field(frames[which], name, value));
    };
    put_field(kReq, "infiniband.cm.req", asked);
    put_field(kReq, "infiniband.cm.req.localqpn", host_.qp);
    put_field(kReq, "infiniband.cm.req.startpsn", target_.psn);  // what it wants to hear
    put_private(frames[kReq], LayerKind::cm_req, named(kCmReqFields, "infiniband.cm.req.private"), kIpCmHeaderLength,
                {settings.record_format, settings.queue, settings.receives, settings.sends, settings.controller},
                settings.reserved);
    add(frames[kReq]);
    if (settings.rejection) {
        put_field(kRej, "infiniband.cm.rej.remotecommid", asked);
        put_field(kRej, "infiniband.cm.rej.reason", settings.reason);
        put_private(frames[kRej], LayerKind::cm_rej, named(kCmRejFields, "infiniband.cm.rej.private"), 0,
                    {settings.rejection_format, *settings.rejection}, 0);
        return add(frames[kRej]);
    }
    put_field(kRep, "infiniband.cm.rep", answered);
    put_field(kRep, "infiniband.cm.rep.remotecommid", asked);
    put_field(kRep, "infiniband.cm.rep.localqpn", target_.qp);
    put_field(kRep, "infiniband.cm.rep.startpsn", host_.psn);
    put_field(kRep, "infiniband.cm.rep.rnrretrcount", settings.target_retries);
    put_field(kRep, "infiniband.cm.rep.respres", settings.target_reads);
    put_private(frames[kRep], LayerKind::cm_rep, named(kCmRepFields, "infiniband.cm.rep.private"), 0,
                {settings.target_format, settings.target_receives}, settings.target_reserved);
    add(frames[kRep]);
    put_field(kRtu, "infiniband.cm.rtu.localcommid", asked);
    put_field(kRtu, "infiniband.cm.rtu.remotecommid", answered);
    add(frames[kRtu]);
}

void NvmeDialogue::send(bool by_host, const Packet& packet) {
    End& from = by_host ? host_ : target_;
    const End& to = by_host ? target_ : host_;
    PacketSpec spec = transport_packet(Opcode{packet.opcode}, Network::roce_v2_ipv4);
    const auto put_field = [&](std::string_view name, std::uint64_t value) {
        REQUIRE(dissect::set(spec, name, value));
    };
    put_field("ip.src", from.address);
    put_field("ip.dst", to.address);
    put_field("udp.srcport", 0xc000 + from.qp);
    put_field("infiniband.bth.destqp", to.qp);
    const bool answers = packet.psn.has_value();
    put_field("infiniband.bth.psn", answers ? *packet.psn : from.psn);
    put_field("infiniband.bth.m", 1);
    if (!answers) put_field("infiniband.bth.a", 1);
    if (packet.access) {
        put_field("infiniband.reth.va", packet.access->key.address + packet.access->offset);
        put_field("infiniband.reth.r_key", packet.access->key.key);
        put_field("infiniband.reth.dmalen", packet.access->length);
    }
    if (packet.invalidate) {
        std::array<std::byte, 4> key{};
        for (std::size_t i = 0; i < key.size(); ++i)
            key[i] = static_cast<std::byte>(*packet.invalidate >> (24 - 8 * i));
        REQUIRE(dissect::set(spec, "infiniband.ieth", Bytes(key)));
    }
    if (answers) {
        put_field("infiniband.aeth.syndrome", 0x1f);
        put_field("infiniband.aeth.msn", from.msn);
    } else {
        from.psn = (from.psn + 1) & 0xffffffU;
    }
    spec.payload = packet.payload;
    add({.bytes = build(spec), .link = LinkType::ethernet, .time = 0});
}

void NvmeDialogue::acknowledge(bool by_host) {
    End& from = by_host ? host_ : target_;
    const End& of = by_host ? target_ : host_;
    ++from.msn;
    send(by_host, {.opcode = 0x11, .psn = (of.psn - 1) & 0xffffffU});
}

void NvmeDialogue::host(const Capsule& capsule, std::uint8_t opcode) {
    Packet packet{.opcode = opcode, .payload = capsule};
    if (opcode == 0x17) packet.invalidate = 1;
    send(true, packet);
    acknowledge(false);
}
void NvmeDialogue::target(const Capsule& capsule, std::optional<std::uint32_t> invalidate) {
    send(false,
         {.opcode = static_cast<std::uint8_t>(invalidate ? 0x17 : 0x04), .payload = capsule, .invalidate = invalidate});
    acknowledge(true);
}
void NvmeDialogue::target_sends(const Capsule& capsule, std::uint8_t opcode) {
    send(false, {.opcode = opcode, .payload = capsule});
    acknowledge(true);
}
void NvmeDialogue::write(const Data& data, const Capsule& bytes, std::uint8_t opcode) {
    Capsule payload = bytes;
    payload.resize(data.length);
    send(false, {.opcode = opcode, .payload = payload, .access = data});
    acknowledge(true);
}
void NvmeDialogue::read(const Data& data, bool answered, const Capsule& bytes) {
    last_read_ = target_.psn;
    send(false, {.opcode = 0x0c, .access = data});
    if (!answered) return;
    Capsule payload = bytes;
    if (bytes.empty() && data.length == kNvmeConnectData) payload = nvme_connect_data("nqn.host", "nqn.subsystem");
    payload.resize(data.length);
    answer_read(payload);
}
void NvmeDialogue::answer_read(const Capsule& bytes) {
    ++host_.msn;
    send(true, {.opcode = 0x10, .payload = bytes, .psn = last_read_});
}
void NvmeDialogue::atomic(bool by_host, NvmeKey) { send(by_host, {.opcode = 0x14}); }
void NvmeDialogue::host_moves(bool reads, NvmeKey key) {
    send(true, {.opcode = static_cast<std::uint8_t>(reads ? 0x0c : 0x0a),
                .payload = reads ? Capsule{} : Capsule(8),
                .access = Data{key, 0, 8}});
}

Capsule NvmeDialogue::response(std::uint16_t cid, std::uint32_t status, std::uint64_t result) {
    head = static_cast<std::uint16_t>((head + 1) % entries);
    Capsule made = nvme_response(cid, status, result);
    put(made, 8, kind::nvme_completion, "nvme.cqe.sqhd", head);
    put(made, 8, kind::nvme_completion, "nvme.cqe.sqid", queue);
    return made;
}

void NvmeDialogue::exchange_last() {
    REQUIRE(capture.frames.size() >= 2);
    std::swap(capture.frames.back().bytes, capture.frames[capture.frames.size() - 2].bytes);
}

RecordedCapture nvme_scene(const NvmePlay& play) {
    NvmeDialogue dialogue;
    play(dialogue);
    return dialogue.capture;
}

Capsule property_entry(bool sets, std::uint16_t cid, std::uint32_t offset, bool wide, std::uint64_t value) {
    Capsule entry = nvme_entry(kNvmeFabrics, cid, 0);
    entry[4] = std::byte{static_cast<std::uint8_t>(sets ? 0x00 : 0x04)};
    entry[kNvmeCommandHead + 15] = std::byte{};
    put(entry, kNvmeCommandHead, kind::nvme_property, "nvme.fabrics.cmd.prop_get_set.attrib.size", wide ? 1 : 0);
    put(entry, kNvmeCommandHead, kind::nvme_property, "nvme.fabrics.cmd.prop_get_set.offset", offset);
    put(entry, kNvmeCommandHead, kind::nvme_property, "rdma.nvme.property.value", value);
    return entry;
}

Capsule admin_entry(std::uint8_t opcode, std::uint16_t cid, std::uint32_t length, std::uint32_t dword10, NvmeKey key) {
    Capsule entry = nvme_entry(opcode, cid, length, key);
    put(entry, kArgumentsAt, kind::nvme_arguments, "nvme.cmd.dword10", dword10);
    return entry;
}

Capsule connect_entry(std::uint16_t cid, std::uint16_t queue, std::uint16_t size) {
    Capsule entry = nvme_connect(cid, queue);
    put(entry, kArgumentsAt, kind::nvme_connect, "nvme.fabrics.cmd.connect.sqsize", size);
    return entry;
}

Capsule invalidating(Capsule entry) {
    entry[kNvmeCommandHead + 15] = std::byte{0x4f};
    return entry;
}

void play_connect(NvmeDialogue& dialogue, const NvmeDialogue::Settings& settings, std::uint16_t id) {
    dialogue.set_up(settings);
    dialogue.host(connect_entry(0, settings.queue, settings.sends));
    Capsule data = nvme_connect_data("nqn.host", "nqn.subsystem");
    if (settings.queue != 0) {
        data[16] = static_cast<std::byte>(id);
        data[17] = std::byte{};
    }
    dialogue.read({{}, 0, 1024}, true, data);
    dialogue.respond(0, 0, id);
    REQUIRE(le16(data, 16) != 0);
}

void play_admin(NvmeDialogue& dialogue) {
    play_connect(dialogue);
    dialogue.host(property_entry(true, 1, 0x14, false, 0x460001));
    dialogue.respond(1);
}

void play_io(NvmeDialogue& dialogue, std::uint16_t sends) {
    play_connect(dialogue, {.queue = 1,
                            .receives = static_cast<std::uint16_t>(sends + 1),
                            .sends = sends,
                            .controller = 5,
                            .target_receives = static_cast<std::uint16_t>(sends + 1)});
}

void go_on(NvmeDialogue& dialogue, std::uint16_t cid) {
    dialogue.host(nvme_entry(dialogue.queue == 0 ? 0x18 : 0x00, cid, 0));
    dialogue.respond(cid);
}

}  // namespace qps::tests
