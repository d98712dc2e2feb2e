// Field tables of NVMe over RDMA: private data, submission queue entries in the pieces that commands share,
// completions.
//
// A submission queue entry has 64 bytes: 24 that all commands have, a scatter gather list descriptor of 16, 24 that are
// the command's own. Everything is little-endian.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/ulp/nvme_kinds.hpp>
#include <dissect/ulp/nvme_names.hpp>
#include <dissect/ulp/nvme_status.hpp>

namespace qps::dissect {

inline constexpr std::size_t kNvmeCommand = 64;      // a submission queue entry
inline constexpr std::size_t kNvmeCommandHead = 24;  // of it: before the descriptor
inline constexpr std::size_t kNvmeSgl = 16;
inline constexpr std::size_t kNvmeArguments = 24;
inline constexpr std::size_t kNvmeProperty = 40;  // arguments of commands that have no descriptor
inline constexpr std::size_t kNvmeCompletion = 16;
inline constexpr std::size_t kNvmeResult = 8;  // of it: before queue and status
inline constexpr std::size_t kNvmePrivate = 32;
inline constexpr std::size_t kNvmeRejection = 4;

inline constexpr std::array kNvmeRequestFields{
    row::decimal("nvme-rdma.cm.req.recfmt", "Record format", at(0), 16).le(),
    row::decimal("nvme-rdma.cm.req.qid", "Queue ID, 0: admin", at(2), 16).le(),
    row::decimal("nvme-rdma.cm.req.hrqsize", "Host receive queue size", at(4), 16).le(),
    row::decimal("nvme-rdma.cm.req.hsqsize", "Host send queue size less one", at(6), 16).le(),
    row::hex("nvme-rdma.cm.req.cntlid", "Controller ID", at(8), 16).le(),
    row::bytes("nvme-rdma.cm.req.reserved", "Reserved", at(10), 176),
};
static_assert(tiles(kNvmeRequestFields, kNvmePrivate));

inline constexpr std::array kNvmeReplyFields{
    row::decimal("nvme-rdma.cm.rsp.recfmt", "Record format", at(0), 16).le(),
    row::decimal("nvme-rdma.cm.rsp.crqsize", "Controller receive queue size", at(2), 16).le(),
    row::bytes("nvme-rdma.cm.rsp.reserved", "Reserved", at(4), 224),
};
static_assert(tiles(kNvmeReplyFields, kNvmePrivate));

inline constexpr std::array kNvmeRejectionFields{
    row::decimal("nvme-rdma.cm.rej.recfmt", "Record format", at(0), 16).le(),
    row::decimal("nvme-rdma.cm.rej.status", "Status", at(2), 16).le().named(kNvmeRejections),
};
static_assert(tiles(kNvmeRejectionFields, kNvmeRejection));

// The first 24 bytes, with the words that opcodes have on that queue.
[[nodiscard]] constexpr auto nvme_command_fields(std::span<const ValueName> opcodes) {
    return std::array{
        row::hex("nvme.cmd.opc", "Opcode", at(0), 8).le().named(opcodes),
        row::decimal("nvme.cmd.fuse_op", "Fused operation", at(1), 2).le().named(kNvmeFuses),
        row::hex("nvme.cmd.rsvd", "Reserved", at(1, 2), 4).le(),
        row::decimal("nvme.cmd.psdt", "PRP or SGL", at(1, 6), 2).le().named(kNvmeDataPointers),
        row::hex("nvme.cmd.cid", "Command ID", at(2), 16).le(),
        row::decimal("nvme.cmd.nsid", "Namespace ID", at(4), 32).le(),
        row::bytes("nvme.cmd.rsvd1", "Dwords 2 and 3", at(8), 64),
        row::hex("nvme.cmd.mptr", "Metadata pointer", at(16), 64).le(),
    };
}
inline constexpr auto kNvmeCommandFields = nvme_command_fields({});
inline constexpr auto kNvmeAdminCommandFields = nvme_command_fields(kNvmeAdminCommands);
inline constexpr auto kNvmeIoCommandFields = nvme_command_fields(kNvmeIoCommands);
static_assert(tiles(kNvmeCommandFields, kNvmeCommandHead));

inline constexpr std::uint64_t kNvmeKeyed = 4;  // the type whose length has 24 bits, with a key behind it

inline constexpr std::array kNvmeSglFields{
    row::hex("nvme.cmd.sgl1.addr", "Address", at(0), 64).le(),
    Field{.meaning = "Length and key", .bit = at(8), .width = 56, .format = Format::hexadecimal, .little = true},
    row::decimal("nvme.cmd.sgl1.len", "Length", at(8), 24).le().part().only_if(at(15, 4), 4, kNvmeKeyed),
    row::hex("nvme.cmd.sgl1.key", "Key", at(11), 32).le().part().only_if(at(15, 4), 4, kNvmeKeyed),
    row::decimal("nvme.cmd.sgl1.len", "Length", at(8), 32).le().part().only_if(at(15, 6), 2, 0),
    row::decimal("nvme.cmd.sgl1.len", "Length", at(8), 32).le().part().only_if(at(15, 4), 4, 5),
    row::hex("nvme.cmd.sgl.subtype", "Descriptor subtype", at(15), 4).le().named(kNvmeSglSubtypes),
    row::hex("nvme.cmd.sgl.type", "Descriptor type", at(15, 4), 4).le().named(kNvmeSglTypes),
};
static_assert(tiles(kNvmeSglFields, kNvmeSgl));

// The field in the packet is 0's based; what people ask for is the number of blocks.
[[nodiscard]] inline std::optional<Value> nvme_blocks(const Packet& packet, const Layer& layer) {
    constexpr std::size_t kAt = 8;
    const Bytes bytes = packet.bytes_of(layer);
    if (bytes.size() < kAt + 2) return std::nullopt;
    return Value{std::uint64_t{read_le<std::uint16_t>(bytes, kAt)} + 1, {}};
}

inline constexpr std::array kNvmeBlocksFields{
    row::decimal("nvme.cmd.slba", "First LBA", at(0), 64).le(),
    row::decimal("rdma.nvme.nlb", "Blocks less one", at(8), 16).le(),
    row::computed("nvme.cmd.nlb", "Blocks", Format::decimal, nvme_blocks),
    row::hex("nvme.cmd.rsvd2", "Directive", at(10), 10).le(),
    row::decimal("rdma.nvme.dtype", "Directive type", at(10, 4), 4).le().part(),
    row::flag("rdma.nvme.stc", "Storage tag check", at(10, 8)).le().part(),
    row::hex("nvme.cmd.prinfo", "Protection information", at(10, 10), 4).le(),
    row::flag("nvme.cmd.prinfo.lbrtag", "Check reference tag", at(10, 10)).le().part(),
    row::flag("nvme.cmd.prinfo.apptag", "Check application tag", at(10, 11)).le().part(),
    row::flag("nvme.cmd.prinfo.guard", "Check guard", at(10, 12)).le().part(),
    row::flag("nvme.cmd.prinfo.action", "Insert or strip protection information", at(10, 13)).le().part(),
    row::flag("nvme.cmd.fua", "Force unit access", at(10, 14)).le(),
    row::flag("nvme.cmd.lr", "Limited retry", at(10, 15)).le(),
    row::decimal("nvme.cmd.dsm.access_freq", "Access frequency", at(12), 4).le(),
    row::decimal("nvme.cmd.dsm.access_lat", "Access latency", at(12, 4), 2).le(),
    row::flag("nvme.cmd.dsm.seq_req", "Sequential request", at(12, 6)).le(),
    row::flag("nvme.cmd.dsm.incompressible", "Incompressible", at(12, 7)).le(),
    row::hex("nvme.cmd.rsvd3", "Directive specific", at(13), 24).le(),
    row::hex("nvme.cmd.eilbrt", "Initial reference tag", at(16), 32).le(),
    row::hex("nvme.cmd.elbat", "Application tag", at(20), 16).le(),
    row::hex("nvme.cmd.elbatm", "Application tag mask", at(22), 16).le(),
};
static_assert(tiles(kNvmeBlocksFields, kNvmeArguments));

inline constexpr std::array kNvmeDatasetFields{
    row::decimal("rdma.nvme.dsm.nr", "Ranges less one", at(0), 8).le(),
    row::reserved(at(1), 24),
    row::flag("rdma.nvme.dsm.idr", "Will be read as a whole", at(4)).le(),
    row::flag("rdma.nvme.dsm.idw", "Will be written as a whole", at(4, 1)).le(),
    row::flag("rdma.nvme.dsm.ad", "Deallocate", at(4, 2)).le(),
    row::reserved(at(4, 3), 29).le(),
    row::reserved(at(8), 128),
};
static_assert(tiles(kNvmeDatasetFields, kNvmeArguments));

inline constexpr std::array kNvmeIdentifyFields{
    row::hex("nvme.cmd.identify.dword10", "Dword 10", at(0), 32).le(),
    row::hex("nvme.cmd.identify.dword10.cns", "Controller or namespace structure", at(0), 8)
        .le()
        .part()
        .named(kNvmeIdentifies),
    row::hex("nvme.cmd.identify.dword10.rsvd", "Reserved", at(1), 8).le().part(),
    row::decimal("nvme.cmd.identify.dword10.cntid", "Controller ID", at(2), 16).le().part(),
    row::hex("nvme.cmd.identify.dword11", "Dword 11", at(4), 32).le(),
    row::decimal("nvme.cmd.identify.dwrod11.nvmesetid", "NVM set or other specific ID", at(4), 16).le().part(),
    row::hex("nvme.cmd.identify.dword11.rsvd", "Reserved", at(6), 16).le().part(),
    row::hex("nvme.cmd.dword12", "Dword 12", at(8), 32).le(),
    row::hex("nvme.cmd.dword13", "Dword 13", at(12), 32).le(),
    row::hex("nvme.cmd.identify.dword14", "Dword 14", at(16), 32).le(),
    row::decimal("nvme.cmd.identify.dword14.uuid_index", "UUID index", at(16), 7).le().part(),
    row::hex("nvme.cmd.dword15", "Dword 15", at(20), 32).le(),
};
static_assert(tiles(kNvmeIdentifyFields, kNvmeArguments));

// Two fields of dwords together: how much of the page is wanted, less one.
[[nodiscard]] inline std::optional<Value> nvme_log_dwords(const Packet& packet, const Layer& layer) {
    constexpr std::size_t kLower = 2;
    constexpr std::size_t kUlp = 4;
    const Bytes bytes = packet.bytes_of(layer);
    if (bytes.size() < kUlp + 2) return std::nullopt;
    return Value{read_le<std::uint16_t>(bytes, kLower) | std::uint64_t{read_le<std::uint16_t>(bytes, kUlp)} << 16U, {}};
}

inline constexpr std::array kNvmeGetLogFields{
    row::hex("nvme.cmd.get_logpage.dword10", "Dword 10", at(0), 32).le(),
    row::hex("nvme.cmd.get_logpage.dword10.id", "Log page", at(0), 8).le().part().named(kNvmeLogPages),
    row::hex("nvme.cmd.get_logpage.dword10.lsp", "Log specific field", at(1), 5).le().part(),
    row::flag("nvme.cmd.get_logpage.dword10.rae", "Retain asynchronous event", at(1, 7)).le().part(),
    row::decimal("nvme.cmd.get_logpage.dword10.numdl", "Dwords less one, lower half", at(2), 16).le().part(),
    row::hex("nvme.cmd.get_logpage.dword11", "Dword 11", at(4), 32).le(),
    row::decimal("nvme.cmd.get_logpage.dword11.numdu", "Dwords less one, upper half", at(4), 16).le().part(),
    row::hex("nvme.cmd.get_logpage.dword11.lsi", "Log specific identifier", at(6), 16).le().part(),
    row::computed("nvme.cmd.get_logpage.numd", "Dwords less one", Format::decimal, nvme_log_dwords),
    row::decimal("nvme.cmd.get_logpage.lpo", "Offset", at(8), 64).le().in("bytes"),
    row::hex("nvme.cmd.dword13", "Dword 13", at(12), 32).le().part(),
    row::hex("nvme.cmd.get_logpage.dword14", "Dword 14", at(16), 32).le(),
    row::hex("nvme.cmd.dword15", "Dword 15", at(20), 32).le(),
};
static_assert(tiles(kNvmeGetLogFields, kNvmeArguments));

inline constexpr std::array kNvmeSetFeaturesFields{
    row::hex("nvme.cmd.set_features.dword10", "Dword 10", at(0), 32).le(),
    row::hex("nvme.cmd.set_features.dword10.fid", "Feature", at(0), 8).le().part().named(kNvmeFeatures),
    row::flag("nvme.cmd.set_features.dword10.sv", "Save", at(3, 7)).le().part(),
    row::hex("rdma.nvme.set_features.dword11", "Dword 11", at(4), 32).le(),
    row::hex("nvme.cmd.dword12", "Dword 12", at(8), 32).le(),
    row::hex("nvme.cmd.dword13", "Dword 13", at(12), 32).le(),
    row::hex("nvme.cmd.set_features.dword14", "Dword 14", at(16), 32).le(),
    row::decimal("nvme.cmd.set_features.dword14.uuid", "UUID index", at(16), 7).le().part(),
    row::hex("nvme.cmd.dword15", "Dword 15", at(20), 32).le(),
};
static_assert(tiles(kNvmeSetFeaturesFields, kNvmeArguments));

inline constexpr std::array kNvmeFeatureSelections{ValueName{0, "current"}, ValueName{1, "default"},
                                                   ValueName{2, "saved"}, ValueName{3, "supported capabilities"}};

inline constexpr std::array kNvmeGetFeaturesFields{
    row::hex("nvme.cmd.get_features.dword10", "Dword 10", at(0), 32).le(),
    row::hex("nvme.cmd.get_features.dword10.fid", "Feature", at(0), 8).le().part().named(kNvmeFeatures),
    row::decimal("nvme.cmd.set_features.dword10.sel", "Select", at(1), 3).le().part().named(kNvmeFeatureSelections),
    row::hex("nvme.cmd.dword11", "Dword 11", at(4), 32).le(),
    row::hex("nvme.cmd.dword12", "Dword 12", at(8), 32).le(),
    row::hex("nvme.cmd.dword13", "Dword 13", at(12), 32).le(),
    row::hex("nvme.cmd.get_features.dword14", "Dword 14", at(16), 32).le(),
    row::hex("nvme.cmd.dword15", "Dword 15", at(20), 32).le(),
};
static_assert(tiles(kNvmeGetFeaturesFields, kNvmeArguments));

inline constexpr std::array kNvmeArgumentsFields{
    row::hex("nvme.cmd.dword10", "Dword 10", at(0), 32).le(),
    row::hex("nvme.cmd.dword11", "Dword 11", at(4), 32).le(),
    row::hex("nvme.cmd.dword12", "Dword 12", at(8), 32).le(),
    row::hex("nvme.cmd.dword13", "Dword 13", at(12), 32).le(),
    row::hex("nvme.cmd.dword14", "Dword 14", at(16), 32).le(),
    row::hex("nvme.cmd.dword15", "Dword 15", at(20), 32).le(),
};
static_assert(tiles(kNvmeArgumentsFields, kNvmeArguments));

inline constexpr std::array kNvmeFabricsFields{
    row::hex("nvme.fabrics.cmd.opc", "Opcode", at(0), 8).le(),
    row::hex("nvme.fabrics.cmd.rsvd", "Flags", at(1), 8).le(),
    row::hex("nvme.fabrics.cmd.cid", "Command ID", at(2), 16).le(),
    row::hex("nvme.fabrics.cmd.fctype", "Fabrics command", at(4), 8).le().named(kNvmeFabricsCommands),
    row::reserved(at(5), 152),
};
static_assert(tiles(kNvmeFabricsFields, kNvmeCommandHead));

inline constexpr std::array kNvmeConnectFields{
    row::decimal("nvme.fabrics.cmd.connect.recfmt", "Record format", at(0), 16).le(),
    row::decimal("nvme.fabrics.cmd.connect.qid", "Queue ID, 0: admin", at(2), 16).le(),
    row::decimal("nvme.fabrics.cmd.connect.sqsize", "Submission queue size less one", at(4), 16).le(),
    row::hex("nvme.fabrics.cmd.connect.cattr", "Attributes", at(6), 8).le(),
    row::decimal("nvme.fabrics.cmd.connect.cattr.pc", "Priority class", at(6), 2).le().part(),
    row::flag("nvme.fabrics.cmd.connect.cattr.dfc", "No flow control of the submission queue", at(6, 2)).le().part(),
    row::flag("nvme.fabrics.cmd.connect.cattr.dioq", "Queues can be deleted one by one", at(6, 3)).le().part(),
    row::hex("nvme.fabrics.cmd.connect.rsvd2", "Reserved", at(7), 8).le(),
    row::decimal("nvme.fabrics.cmd.connect.kato", "Keep alive timeout", at(8), 32).le().in("ms"),
    row::bytes("nvme.fabrics.cmd.connect.rsvd3", "Reserved", at(12), 96),
};
static_assert(tiles(kNvmeConnectFields, kNvmeArguments));

inline constexpr std::uint64_t kNvmeConfiguration = 0x14;  // the offset of CC
inline constexpr std::array kNvmePropertySizes{ValueName{0, "4 bytes"}, ValueName{1, "8 bytes"}};

// Property Get and Set; the value is of Set.
inline constexpr std::array kNvmePropertyFields{
    row::reserved(at(0), 128),
    row::hex("nvme.fabrics.cmd.prop_get_set.attrib", "Attributes", at(16), 8).le(),
    row::decimal("nvme.fabrics.cmd.prop_get_set.attrib.size", "Size", at(16), 3).le().part().named(kNvmePropertySizes),
    row::hex("nvme.fabrics.cmd.prop_get_set.rsvd1", "Reserved", at(17), 24).le(),
    row::hex("nvme.fabrics.cmd.prop_get_set.offset", "Property", at(20), 32).le().named(kNvmeProperties),
    row::hex("rdma.nvme.property.value", "Value", at(24), 64).le(),
    row::hex("nvme.fabrics.prop_get_set.cc", "Controller configuration", at(24), 32)
        .le()
        .part()
        .only_if(at(20), 32, kNvmeConfiguration),
    row::reserved(at(32), 64),
};
static_assert(tiles(kNvmePropertyFields, kNvmeProperty));

inline constexpr std::array kNvmeResultFields{
    row::hex("nvme.cqe.dword0", "Dword 0", at(0), 32).le(),
    row::hex("nvme.cqe.dword1", "Dword 1", at(4), 32).le(),
};
static_assert(tiles(kNvmeResultFields, kNvmeResult));

inline constexpr std::array kNvmeConnectResultFields{
    row::hex("nvme.fabrics.cqe.connect.cntrlid", "Controller ID, or offset of the invalid parameter", at(0), 16).le(),
    row::hex("nvme.fabrics.cqe.connect.authreq", "Authentication required", at(2), 16).le(),
    row::bytes("nvme.fabrics.cqe.connect.rsvd", "Reserved", at(4), 32),
};
static_assert(tiles(kNvmeConnectResultFields, kNvmeResult));

// The value of a property: which one it is stands in the command, so only who followed the queue knows.
template <NvmeAnswered property, unsigned bit, unsigned width>
[[nodiscard]] std::optional<Value> nvme_property_part(const Packet& packet, const Layer& layer) {
    if (packet.annotation == nullptr || nvme_answered(packet.annotation->ulp.detail) != property) return std::nullopt;
    const Bytes bytes = packet.bytes_of(layer);
    if (bytes.size() < kNvmeResult) return std::nullopt;
    return Value{read_bits_le(bytes, bit, width), {}};
}

inline constexpr std::array kNvmePropertyResultFields{
    row::hex("rdma.nvme.property.result", "Value", at(0), 64).le(),
    row::computed("nvme.fabrics.prop_get.ccap", "Controller capabilities", Format::hexadecimal,
                  nvme_property_part<NvmeAnswered::capabilities, 0, 64>)
        .of_bits(64),
    row::computed("nvme.fabrics.prop_get.ccap.mqes", "Most queue entries less one", Format::decimal,
                  nvme_property_part<NvmeAnswered::capabilities, 0, 16>),
    row::computed("nvme.fabrics.prop_get.ccap.to", "Time to get ready in 500 ms", Format::decimal,
                  nvme_property_part<NvmeAnswered::capabilities, 24, 8>),
    row::computed("nvme.fabrics.prop_get.vs", "Version", Format::hexadecimal,
                  nvme_property_part<NvmeAnswered::version, 0, 32>)
        .of_bits(32),
    row::computed("nvme.fabrics.prop_get_set.cc", "Controller configuration", Format::hexadecimal,
                  nvme_property_part<NvmeAnswered::configuration, 0, 32>)
        .of_bits(32),
    row::computed("nvme.fabrics.prop_get_set.csts", "Controller status", Format::hexadecimal,
                  nvme_property_part<NvmeAnswered::status, 0, 32>)
        .of_bits(32),
    row::computed("nvme.fabrics.prop_get_set.csts.rdy", "Ready", Format::flag,
                  nvme_property_part<NvmeAnswered::status, 0, 1>),
    row::computed("nvme.fabrics.prop_get_set.csts.cfs", "Fatal", Format::flag,
                  nvme_property_part<NvmeAnswered::status, 1, 1>),
    row::computed("nvme.fabrics.prop_get_set.csts.shst", "Shutdown", Format::decimal,
                  nvme_property_part<NvmeAnswered::status, 2, 2>),
};
static_assert(tiles(kNvmePropertyResultFields, kNvmeResult));

// The status in the words it has for the command that was answered, which the layer before it tells.
[[nodiscard]] inline std::optional<Value> nvme_status_in_context(const Packet& packet, const Layer& layer) {
    constexpr std::size_t kStatus = 6;
    const Bytes bytes = packet.bytes_of(layer);
    if (bytes.size() < kStatus + 2) return std::nullopt;
    const std::uint32_t status = (std::uint32_t{read_le<std::uint16_t>(bytes, kStatus)} >> 1U) & kNvmeStatusBits;
    bool of_fabrics = false;
    for (const Layer& before : packet.layers())
        of_fabrics =
            of_fabrics || before.kind == kind::nvme_connect_result || before.kind == kind::nvme_property_result;
    return Value{of_fabrics && (status & 0x780U) == 0x180 ? status | kNvmeOfFabrics : status, {}};
}

inline constexpr std::array kNvmeCompletionFields{
    row::decimal("nvme.cqe.sqhd", "Submission queue head", at(0), 16).le(),
    row::decimal("nvme.cqe.sqid", "Submission queue ID", at(2), 16).le(),
    row::hex("nvme.cqe.cid", "Command ID", at(4), 16).le(),
    row::hex("nvme.cqe.status", "Status field", at(6), 16).le(),
    row::flag("rdma.nvme.phase", "Phase, reserved over fabrics", at(6)).le().part(),
    row::hex("nvme.cqe.status.sc", "Status code", at(6, 1), 8).le().part(),
    row::decimal("nvme.cqe.status.sct", "Status code type", at(6, 9), 3).le().part().named(kNvmeStatusTypes),
    row::decimal("nvme.cqe.status.crd", "Command retry delay", at(6, 12), 2).le().part(),
    row::flag("nvme.cqe.status.m", "More in the error log", at(6, 14)).le().part(),
    row::flag("nvme.cqe.status.dnr", "Do not retry", at(6, 15)).le().part(),
    row::computed("rdma.nvme.status", "Status", Format::hexadecimal, nvme_status_in_context)
        .of_bits(13)
        .named(kNvmeStatuses),
};
static_assert(tiles(kNvmeCompletionFields, kNvmeCompletion - kNvmeResult));

}  // namespace qps::dissect
