// NVMe over RDMA as layers: what every kind of capsule and data shows, in words, and that no cut of it shows what is
// not there.
#include <dissect/packet/render.hpp>
#include <dissect/packet/render_value.hpp>
#include <tests/support/nvme_capsules.hpp>
#include <tests/support/packets.hpp>

using namespace qps::dissect;
using namespace qps::tests;

namespace {

constexpr std::uint8_t kAdmin = nvme_detail(NvmeQueue::admin);
constexpr std::uint8_t kIo = nvme_detail(NvmeQueue::io);

const Field& field_of(LayerKind kind, std::string_view name) {
    const auto row = std::ranges::find(header(kind).fields, name, &Field::name);
    REQUIRE(row != header(kind).fields.end());
    return *row;
}

std::string words(const DecodedCapsule& message, LayerKind kind, std::string_view name) {
    std::string text;
    if (const auto value = message.value(name)) append_words(text, field_of(kind, name), *value);
    return text;
}

Capsule admin_entry(std::uint8_t opcode, std::uint32_t dword10, std::uint32_t dword11 = 0) {
    Capsule entry = nvme_entry(opcode, 7, 4096);
    put(entry, kArgumentsAt, kind::nvme_arguments, "nvme.cmd.dword10", dword10);
    put(entry, kArgumentsAt, kind::nvme_arguments, "nvme.cmd.dword11", dword11);
    return entry;
}

// A message of every kind that has layers of its own, with what is known of it.
struct Specimen {
    std::string name;
    Capsule message;
    std::uint8_t detail = 0;
};

std::vector<Specimen> specimens() {
    Capsule range = in_capsule(nvme_entry(0x09, 3, 0), 3 * kNvmeRange);
    Capsule connect = in_capsule(nvme_connect(0, 1), kNvmeConnectData);
    Capsule property = nvme_entry(kNvmeFabrics, 4, 0);
    property[4] = std::byte{4};
    property[kNvmeCommandHead + 20] = std::byte{0x14};
    Capsule authentication = nvme_entry(kNvmeFabrics, 4, 64);
    authentication[4] = std::byte{5};
    return {{"read", nvme_blocks_entry(2, 1, 4711, 8), kIo},
            {"write in capsule", in_capsule(nvme_blocks_entry(1, 1, 4711, 8), 4096), kIo},
            {"unknown queue", nvme_blocks_entry(2, 1, 4711, 8), 0},
            {"ranges", range, kIo},
            {"identify", admin_entry(0x06, 1), kAdmin},
            {"log", admin_entry(0x02, 0x00ff0070), kAdmin},
            {"set", admin_entry(0x09, 0x0f, 5000), kAdmin},
            {"get", admin_entry(0x0a, 0x07), kAdmin},
            {"abort", admin_entry(0x08, 0x00010000), kAdmin},
            {"connect", connect, kAdmin},
            {"property", property, kAdmin},
            {"authentication", authentication, kAdmin},
            {"response", nvme_response(1, 0x4002), kIo},
            {"connect response", nvme_response(0, 0, 1), nvme_detail(NvmeQueue::admin, NvmeAnswered::connect)},
            {"property response", nvme_response(0, 0, 0x460001),
             nvme_detail(NvmeQueue::admin, NvmeAnswered::configuration)}};
}

}  // namespace

TEST_CASE("a read command shows namespace, blocks and the key of the host's memory") {
    const DecodedCapsule read(nvme_blocks_entry(2, 0x1234, 0x1'0000'0001, 8, {0x1122334455667788, 0xaabbccdd}), kIo);
    CHECK(read.number("nvme.cmd.opc") == 2U);
    CHECK(words(read, kind::nvme_io_command, "nvme.cmd.opc") == "Read (0x02)");
    CHECK(read.number("nvme.cmd.cid") == 0x1234U);
    CHECK(read.number("nvme.cmd.nsid") == 1U);
    CHECK(read.number("nvme.cmd.psdt") == 1U);
    CHECK(read.number("nvme.cmd.fuse_op") == 0U);
    CHECK(read.number("nvme.cmd.slba") == 0x1'0000'0001U);
    CHECK(read.number("nvme.cmd.nlb") == 8U);
    CHECK(read.number("rdma.nvme.nlb") == 7U);
    CHECK(read.number("nvme.cmd.fua") == 0U);
    CHECK(read.number("nvme.cmd.sgl.type") == 4U);
    CHECK(read.number("nvme.cmd.sgl1.addr") == 0x1122334455667788U);
    CHECK(read.number("nvme.cmd.sgl1.len") == 4096U);
    CHECK(read.number("nvme.cmd.sgl1.key") == 0xaabbccddU);
    CHECK(read.count(LayerKind::data) == 0);
}

TEST_CASE("the bits of an I/O command lie where the command set draws them") {
    Capsule write = nvme_blocks_entry(1, 1, 0, 1);
    write[1] = std::byte{0x81};   // second of PSDT, first of a fused pair
    write[51] = std::byte{0xd4};  // LR, FUA, PRINFO 0101b
    write[52] = std::byte{0x7b};
    const DecodedCapsule decoded(write, kIo);
    CHECK(decoded.number("nvme.cmd.fuse_op") == 1U);
    CHECK(decoded.number("nvme.cmd.psdt") == 2U);
    CHECK(decoded.number("nvme.cmd.lr") == 1U);
    CHECK(decoded.number("nvme.cmd.fua") == 1U);
    CHECK(decoded.number("nvme.cmd.prinfo") == 5U);
    CHECK(decoded.number("nvme.cmd.prinfo.lbrtag") == 1U);
    CHECK(decoded.number("nvme.cmd.prinfo.apptag") == 0U);
    CHECK(decoded.number("nvme.cmd.prinfo.guard") == 1U);
    CHECK(decoded.number("nvme.cmd.prinfo.action") == 0U);
    CHECK(decoded.number("nvme.cmd.dsm.access_freq") == 0xbU);
    CHECK(decoded.number("nvme.cmd.dsm.access_lat") == 3U);
    CHECK(decoded.number("nvme.cmd.dsm.seq_req") == 1U);
    CHECK(decoded.number("nvme.cmd.dsm.incompressible") == 0U);
}

TEST_CASE("every type of descriptor has its length where it has it") {
    for (const unsigned type : {0U, 1U, 2U, 3U, 5U}) {
        Capsule entry = nvme_blocks_entry(1, 1, 0, 1);
        entry[24 + 15] = static_cast<std::byte>(type << 4U | 1U);
        entry[24 + 11] = std::byte{0x12};
        const DecodedCapsule decoded(entry, kIo);
        INFO(type);
        CHECK(decoded.number("nvme.cmd.sgl.type") == type);
        CHECK(decoded.number("nvme.cmd.sgl.subtype") == 1U);
        CHECK(decoded.number("nvme.cmd.sgl1.len") == 0x12000200U);
        CHECK_FALSE(decoded.number("nvme.cmd.sgl1.key"));
    }
}

TEST_CASE("data in the capsule is data behind the command") {
    const DecodedCapsule write(in_capsule(nvme_blocks_entry(1, 1, 0, 8), 4096), kIo);
    CHECK(write.number("nvme.cmd.sgl1.len") == 4096U);
    REQUIRE(write.count(LayerKind::data) == 1);
    CHECK(write.packet.layers().back().length == 4096);
}

TEST_CASE("an opcode has the words of its queue, and none where that is not known") {
    const Capsule entry = nvme_entry(0x02, 1, 4096);
    CHECK(words(DecodedCapsule(entry, kIo), kind::nvme_io_command, "nvme.cmd.opc") == "Read (0x02)");
    CHECK(words(DecodedCapsule(entry, kAdmin), kind::nvme_admin_command, "nvme.cmd.opc") == "Get Log Page (0x02)");
    const DecodedCapsule unknown(entry, 0);
    CHECK(words(unknown, kind::nvme_command, "nvme.cmd.opc") == "0x02");
    CHECK(unknown.count(kind::nvme_arguments) == 1);
    CHECK(unknown.number("nvme.cmd.nsid") == 0U);
}

TEST_CASE("admin commands show what is asked for") {
    const DecodedCapsule identify(admin_entry(0x06, 0x00050001), kAdmin);
    CHECK(words(identify, kind::nvme_identify, "nvme.cmd.identify.dword10.cns") == "Controller (0x01)");
    CHECK(identify.number("nvme.cmd.identify.dword10.cntid") == 5U);
    const DecodedCapsule log(admin_entry(0x02, 0x00ff8070, 2), kAdmin);
    CHECK(words(log, kind::nvme_get_log, "nvme.cmd.get_logpage.dword10.id") == "Discovery (0x70)");
    CHECK(log.number("nvme.cmd.get_logpage.dword10.rae") == 1U);
    CHECK(log.number("nvme.cmd.get_logpage.numd") == 0x200ffU);
    const DecodedCapsule set(admin_entry(0x09, 0x8000000f, 5000), kAdmin);
    CHECK(words(set, kind::nvme_set_features, "nvme.cmd.set_features.dword10.fid") == "Keep Alive Timer (0x0f)");
    CHECK(set.number("nvme.cmd.set_features.dword10.sv") == 1U);
    CHECK(set.number("rdma.nvme.set_features.dword11") == 5000U);
    const DecodedCapsule get(admin_entry(0x0a, 0x307), kAdmin);
    CHECK(words(get, kind::nvme_get_features, "nvme.cmd.get_features.dword10.fid") == "Number of Queues (0x07)");
    CHECK(get.number("nvme.cmd.set_features.dword10.sel") == 3U);
    CHECK(DecodedCapsule(admin_entry(0x08, 0x00010000), kAdmin).number("nvme.cmd.dword10") == 0x10000U);
}

TEST_CASE("Connect shows queue, size, timeout and the names in its data") {
    Capsule message = in_capsule(nvme_connect(9, 3, 5000), 0);
    const Capsule data = nvme_connect_data("nqn.host", "nqn.subsystem");
    message.insert(message.end(), data.begin(), data.end());
    const DecodedCapsule connect(message, kAdmin);
    CHECK(words(connect, kind::nvme_fabrics, "nvme.fabrics.cmd.fctype") == "Connect (0x01)");
    CHECK(connect.number("nvme.fabrics.cmd.cid") == 9U);
    CHECK(connect.number("nvme.fabrics.cmd.connect.qid") == 3U);
    CHECK(connect.number("nvme.fabrics.cmd.connect.sqsize") == 31U);
    CHECK(connect.number("nvme.fabrics.cmd.connect.kato") == 5000U);
    CHECK(connect.number("nvme.fabrics.cmd.connect.data.cntrlid") == 0xffffU);
    CHECK(connect.text("nvme.fabrics.cmd.connect.data.subnqn") == "nqn.subsystem");
    CHECK(connect.text("nvme.fabrics.cmd.connect.data.hostnqn") == "nqn.host");
}

TEST_CASE("a property has its name, and the answer to Get the fields of that property") {
    Capsule get = nvme_entry(kNvmeFabrics, 4, 0);
    get[4] = std::byte{4};
    get[40] = std::byte{1};
    put(get, kNvmeCommandHead, kind::nvme_property, "nvme.fabrics.cmd.prop_get_set.offset", 0x1c);
    const DecodedCapsule decoded(get, kAdmin);
    CHECK(words(decoded, kind::nvme_property, "nvme.fabrics.cmd.prop_get_set.offset") ==
          "Controller Status (0x0000001c)");
    CHECK(decoded.number("nvme.fabrics.cmd.prop_get_set.attrib.size") == 1U);

    Capsule set = get;
    set[4] = std::byte{};
    put(set, kNvmeCommandHead, kind::nvme_property, "nvme.fabrics.cmd.prop_get_set.offset", 0x14);
    put(set, kNvmeCommandHead, kind::nvme_property, "rdma.nvme.property.value", 0x460001);
    CHECK(DecodedCapsule(set, kAdmin).number("nvme.fabrics.prop_get_set.cc") == 0x460001U);
    CHECK_FALSE(decoded.number("nvme.fabrics.prop_get_set.cc"));

    const DecodedCapsule status(nvme_response(4, 0, 0x9), nvme_detail(NvmeQueue::admin, NvmeAnswered::status), false);
    CHECK(status.number("nvme.fabrics.prop_get_set.csts") == 9U);
    CHECK(status.number("nvme.fabrics.prop_get_set.csts.rdy") == 1U);
    CHECK(status.number("nvme.fabrics.prop_get_set.csts.shst") == 2U);
    CHECK_FALSE(status.number("nvme.fabrics.prop_get_set.cc"));
    const DecodedCapsule version(nvme_response(4, 0, 0x10300), nvme_detail(NvmeQueue::admin, NvmeAnswered::version),
                                 false);
    CHECK(version.number("nvme.fabrics.prop_get.vs") == 0x10300U);
    CHECK_FALSE(version.number("nvme.fabrics.prop_get_set.csts"));
}

TEST_CASE("a completion has its status in the words of the command that was answered") {
    const DecodedCapsule response(nvme_response(0xbeef, 0x4281, 0x1122334455667788), kIo, false);
    CHECK(response.number("nvme.cqe.cid") == 0xbeefU);
    CHECK(response.number("nvme.cqe.dword0") == 0x55667788U);
    CHECK(response.number("nvme.cqe.dword1") == 0x11223344U);
    CHECK(response.number("nvme.cqe.status.sc") == 0x81U);
    CHECK(response.number("nvme.cqe.status.sct") == 2U);
    CHECK(response.number("nvme.cqe.status.dnr") == 1U);
    CHECK(response.number("nvme.cqe.status.m") == 0U);
    CHECK(words(response, kind::nvme_completion, "rdma.nvme.status") == "unrecovered read error (0x0281)");

    const DecodedCapsule io(nvme_response(1, 0x182), kIo, false);
    CHECK(words(io, kind::nvme_completion, "rdma.nvme.status").starts_with("attempted write to read-only range"));
    const DecodedCapsule connect(nvme_response(1, 0x4182, 0x10100),
                                 nvme_detail(NvmeQueue::admin, NvmeAnswered::connect), false);
    CHECK(words(connect, kind::nvme_completion, "rdma.nvme.status").starts_with("connect invalid parameters"));
    CHECK(connect.number("nvme.fabrics.cqe.connect.cntrlid") == 0x100U);
    CHECK_FALSE(connect.number("nvme.cqe.dword0"));
}

TEST_CASE("every status has one word, and words of fabrics are used for fabrics alone") {
    CHECK(nvme_status(0, false) == "success");
    CHECK(nvme_status(0x4184, true) == "connect invalid host");
    CHECK(nvme_status(0x184, false).empty());
    CHECK(nvme_status(0x180, false) == "conflicting attributes");
    CHECK(nvme_status(0x180, true) == "incompatible format");
    CHECK(nvme_status(0x101, true) == "invalid queue identifier");
    CHECK(nvme_status(0x303, false) == "asymmetric access transition");
    CHECK(nvme_status(0x7ff, false).empty());
}

TEST_CASE("what is no capsule stays data") {
    for (const std::size_t size : {1UL, 8UL, 15UL, 17UL, 63UL}) {
        const DecodedCapsule message(Capsule(size), kIo);
        INFO(size);
        REQUIRE(message.packet.layer_count == 1);
        CHECK(message.packet.layer_storage[0].kind == LayerKind::data);
    }
}

TEST_CASE("a list of ranges without end fills the layers and no more") {
    const DecodedCapsule ranges(in_capsule(nvme_entry(0x09, 1, 0), 256 * kNvmeRange), kIo);
    CHECK(ranges.packet.layer_count == kMaxLayers);
    CHECK(ranges.count(kind::nvme_dataset_range) > 20);
}

TEST_CASE("no cut of a message makes a field of what is not there") {
    for (const Specimen& specimen : specimens())
        for (std::size_t captured = 0; captured <= specimen.message.size(); ++captured) {
            if (captured > 200 && captured < specimen.message.size() - 2 && captured % 97 != 0) continue;
            const DecodedCapsule cut(specimen.message, specimen.detail, true, captured);
            INFO(specimen.name << " " << captured);
            for (const Layer& layer : cut.packet.layers()) {
                REQUIRE(std::size_t{layer.offset} + layer.length <= captured);
                for (const Field& field : header(layer.kind).fields) {
                    const auto value = value_of(cut.packet, layer, field);
                    if (value && !field.computed() && field.width != kToEnd)
                        CHECK(field.bit + field.width <= layer.length * 8U);
                }
            }
            std::string tree;
            append_tree(tree, cut.packet);
            CHECK((captured == 0 || !tree.empty()));
        }
}

TEST_CASE("a capture that ends inside a capsule has its first layers") {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    spec.payload = nvme_blocks_entry(2, 1, 4711, 8);
    const std::size_t whole = build(spec).size();
    for (std::size_t captured = 0; captured <= whole; ++captured) {
        Decoded decoded(spec, captured);
        add_ulp_layers(decoded.packet, {UlpProtocol::nvme, true, kIo});
        INFO(captured);
        const auto opcode = decoded.number("nvme.cmd.opc");
        CHECK(opcode.has_value() == (captured > whole - 4 - kNvmeCommand));
        CHECK(decoded.number("nvme.cmd.slba").has_value() == (captured >= whole - 4 - 16));
        for (const Layer& layer : decoded.packet.layers())
            REQUIRE(std::size_t{layer.offset} + layer.length <= captured);
    }
    Decoded decoded(spec);
    add_ulp_layers(decoded.packet, {UlpProtocol::nvme, true, kIo});
    CHECK(decoded.layers().ends_with("infiniband.bth nvme.cmd nvme.cmd.sgl rdma.nvme.blocks infiniband.invariant"));
}

TEST_CASE("what a WRITE moves has layers where it is known what it holds, as far as there is of it") {
    PacketSpec spec = transport_packet(Opcode{0x0a}, Network::roce_v2_ipv4);  // RC RDMA WRITE Only
    spec.payload.resize(3 * kNvmeDiscoveryPart);
    put(spec.payload, 0, kind::nvme_discovery, "nvme.cmd.get_logpage.identify.numrec", 2);
    spec.payload[kNvmeDiscoveryPart] = std::byte{1};
    put_text(spec.payload, kNvmeDiscoveryPart + 256, "nqn.first");
    put_text(spec.payload, kNvmeDiscoveryPart + 32, "4420");
    Decoded log(spec);
    add_ulp_layers(log.packet, {UlpProtocol::nvme, false, nvme_detail(NvmeData::discovery)});
    CHECK(log.number("nvme.cmd.get_logpage.identify.numrec") == 2U);
    CHECK(log.plain("nvme.cmd.get_logpage.identify.rcrd.subnqn") == "nqn.first");
    CHECK(log.plain("nvme.cmd.get_logpage.identify.rcrd.trsvcid") == "4420");
    CHECK(log.number("nvme.cmd.get_logpage.identify.rcrd.tsas.rdma_qptype") == 0U);

    Decoded unknown(spec);
    add_ulp_layers(unknown.packet, {UlpProtocol::nvme, false, 0});
    CHECK(find(unknown.packet, LayerKind::payload) != nullptr);

    spec.payload.resize(100);
    put_text(spec.payload, 24, "A model");
    Decoded piece(spec);
    add_ulp_layers(piece.packet, {UlpProtocol::nvme, false, nvme_detail(NvmeData::controller)});
    CHECK(piece.plain("nvme.cmd.identify.ctrl.mn").starts_with("A model"));
    CHECK(piece.number("nvme.cmd.identify.ctrl.ctratt") == 0U);
    CHECK_FALSE(piece.number("nvme.cmd.identify.ctrl.cntrltype"));
}

TEST_CASE("data in an impossible detail is left alone") {
    PacketSpec spec = transport_packet(Opcode{0x0a}, Network::roce_v2_ipv4);
    spec.payload.resize(64);
    for (unsigned detail = 0; detail < 256; ++detail) {
        Decoded decoded(spec);
        add_ulp_layers(decoded.packet, {UlpProtocol::nvme, false, static_cast<std::uint8_t>(detail)});
        const DecodedCapsule response(nvme_response(1), static_cast<std::uint8_t>(detail), false);
        CHECK(decoded.packet.layers().back().kind == LayerKind::icrc);
        CHECK(response.number("nvme.cqe.cid") == 1U);
    }
}

TEST_CASE("private data of CM has its sizes, and a rejection its reason in words") {
    const auto decoded = [](LayerKind message, std::span<const std::uint8_t> data, bool from_active) {
        const auto row =
            std::ranges::find_if(kMadAttributes, [&](const auto& attribute) { return attribute.data == message; });
        REQUIRE(row != kMadAttributes.end());
        PacketSpec spec = mad_packet(ManagementClass::communication, *row, Network::roce_v2_ipv4);
        for (const Field& field : header(message).fields)
            if (field.name.ends_with(".private")) REQUIRE(set(spec, field.name, std::as_bytes(data)));
        Decoded made(spec);
        add_ulp_layers(made.packet, {UlpProtocol::nvme, from_active, 0});
        return made;
    };
    constexpr std::array<std::uint8_t, 10> kRequest{0, 0, 3, 0, 128, 0, 127, 0, 1, 0};
    const Decoded request = decoded(LayerKind::cm_req, kRequest, true);
    CHECK(request.number("nvme-rdma.cm.req.qid") == 3U);
    CHECK(request.number("nvme-rdma.cm.req.hrqsize") == 128U);
    CHECK(request.number("nvme-rdma.cm.req.hsqsize") == 127U);
    CHECK(request.number("nvme-rdma.cm.req.cntlid") == 1U);
    constexpr std::array<std::uint8_t, 4> kReply{0, 0, 128, 0};
    CHECK(decoded(LayerKind::cm_rep, kReply, false).number("nvme-rdma.cm.rsp.crqsize") == 128U);
    constexpr std::array<std::uint8_t, 4> kRejected{0, 0, 4, 0};
    const Decoded rejection = decoded(LayerKind::cm_rej, kRejected, false);
    CHECK(rejection.number("nvme-rdma.cm.rej.status") == 4U);
    CHECK(nvme_word(kNvmeRejections, 4) == "invalid host send queue size");
    CHECK_FALSE(decoded(LayerKind::cm_rej, kRejected, true).number("nvme-rdma.cm.rej.status"));
}
