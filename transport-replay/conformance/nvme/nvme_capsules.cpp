#include <dissect/ulp/nvme.hpp>
#include <transport-replay/conformance/nvme/nvme_capsules.hpp>

#include <algorithm>

namespace qps::transport::conformance::nvme {

using namespace dissect;

namespace {

constexpr std::size_t kDescriptorAt = kNvmeCommandHead, kArgumentsAt = kNvmeCommandHead + kNvmeSgl;
constexpr std::uint8_t kConnectCommand = 1, kSetCommand = 0, kGetCommand = 4;

// The first field of that name.
template <std::size_t kCount>
void put(CapsuleBytes& bytes, std::size_t header, const std::array<Field, kCount>& fields, std::string_view field,
         std::uint64_t value) {
    const auto row = std::ranges::find(fields, field, &Field::name);
    if (row != fields.end()) set_value(MutableBytes(bytes).subspan(header), *row, {value, {}});
}
template <std::size_t kCount>
void put_text(CapsuleBytes& bytes, const std::array<Field, kCount>& fields, std::string_view field,
              std::string_view text) {
    const auto row = std::ranges::find(fields, field, &Field::name);
    if (row != fields.end()) set_value(bytes, *row, {0, std::as_bytes(std::span(text))});
}

CapsuleBytes entry(std::uint8_t opcode, std::uint8_t flags, std::uint16_t cid, std::uint8_t fabrics) {
    constexpr std::size_t kFlagsAt = 1;
    CapsuleBytes made(kNvmeCommand);
    put(made, 0, kNvmeFabricsFields, "nvme.fabrics.cmd.opc", opcode);
    made[kFlagsAt] = std::byte{flags};
    put(made, 0, kNvmeFabricsFields, "nvme.fabrics.cmd.cid", cid);
    put(made, 0, kNvmeFabricsFields, "nvme.fabrics.cmd.fctype", fabrics);
    return made;
}

void put_descriptor(CapsuleBytes& made, const Descriptor& descriptor) {
    constexpr std::size_t kLengthAt = 8, kTypeAt = 15, kLengthBits = 32;
    const MutableBytes own = MutableBytes(made).subspan(kDescriptorAt, kNvmeSgl);
    own[kTypeAt] = std::byte{descriptor.type};
    if (std::uint64_t{descriptor.type} >> 4U == kNvmeKeyed) {
        put(made, kDescriptorAt, kNvmeSglFields, "nvme.cmd.sgl1.len", descriptor.length);
        if (descriptor.length == 0) return;
        put(made, kDescriptorAt, kNvmeSglFields, "nvme.cmd.sgl1.key", kKey);
    } else {
        write_bits_le(own, kLengthAt * 8, kLengthBits, descriptor.length);
    }
    put(made, kDescriptorAt, kNvmeSglFields, "nvme.cmd.sgl1.addr", descriptor.address);
}

}  // namespace

CapsuleBytes private_data(const QueueRequest& request) {
    CapsuleBytes made(kNvmePrivate);
    put(made, 0, kNvmeRequestFields, "nvme-rdma.cm.req.recfmt", request.record_format);
    put(made, 0, kNvmeRequestFields, "nvme-rdma.cm.req.qid", request.queue);
    put(made, 0, kNvmeRequestFields, "nvme-rdma.cm.req.hrqsize", request.receives);
    put(made, 0, kNvmeRequestFields, "nvme-rdma.cm.req.hsqsize", request.sends);
    return made;
}

CapsuleBytes capsule(const Connect& connect) {
    CapsuleBytes made = entry(kNvmeFabrics, connect.flags, connect.cid, kConnectCommand);
    put_descriptor(made, connect.data);
    put(made, kArgumentsAt, kNvmeConnectFields, "nvme.fabrics.cmd.connect.recfmt", connect.record_format);
    put(made, kArgumentsAt, kNvmeConnectFields, "nvme.fabrics.cmd.connect.qid", connect.queue);
    put(made, kArgumentsAt, kNvmeConnectFields, "nvme.fabrics.cmd.connect.sqsize", connect.size);
    return made;
}

CapsuleBytes capsule(const Property& property) {
    CapsuleBytes made = entry(kNvmeFabrics, kWithSgl, property.cid, property.sets ? kSetCommand : kGetCommand);
    if (!property.reserved_zero) put_descriptor(made, {.address = 0});
    put(made, kNvmeCommandHead, kNvmePropertyFields, "nvme.fabrics.cmd.prop_get_set.attrib.size",
        property.wide ? 1 : 0);
    put(made, kNvmeCommandHead, kNvmePropertyFields, "nvme.fabrics.cmd.prop_get_set.offset", property.offset);
    put(made, kNvmeCommandHead, kNvmePropertyFields, "rdma.nvme.property.value", property.value);
    return made;
}

CapsuleBytes capsule(const Command& command) {
    CapsuleBytes made = entry(command.opcode, kWithSgl, command.cid, command.fabrics);
    put_descriptor(made, command.data);
    put(made, kArgumentsAt, kNvmeIdentifyFields, "nvme.cmd.identify.dword10", command.dword10);
    return made;
}

CapsuleBytes connect_data(std::string_view subsystem, std::string_view host, std::uint16_t controller) {
    constexpr std::size_t kIdentifier = 16;
    CapsuleBytes made(kNvmeConnectData);
    for (std::size_t i = 0; i < kIdentifier; ++i)
        made[i] = static_cast<std::byte>(0x51 + i);  // of the host: any, always the same
    put(made, 0, kNvmeConnectDataFields, "nvme.fabrics.cmd.connect.data.cntrlid", controller);
    put_text(made, kNvmeConnectDataFields, "nvme.fabrics.cmd.connect.data.subnqn", subsystem);
    put_text(made, kNvmeConnectDataFields, "nvme.fabrics.cmd.connect.data.hostnqn", host);
    return made;
}

}  // namespace qps::transport::conformance::nvme
