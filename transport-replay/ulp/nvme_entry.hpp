// What machine and recognition read of a submission queue entry: through the rows of its field tables.
#pragma once

#include <dissect/ulp/nvme_command.hpp>
#include <transport-replay/model/observation.hpp>

namespace qps::transport::nvme {

inline constexpr std::uint8_t kConnect = 0x01;  // fabrics command types
inline constexpr std::uint8_t kAuthenticationSend = 0x05;
inline constexpr std::uint8_t kPropertySet = 0x00;
inline constexpr std::uint8_t kPropertyGet = 0x04;
inline constexpr std::uint8_t kGetLogPage = 0x02;  // admin opcodes
inline constexpr std::uint8_t kIdentify = 0x06;
inline constexpr std::uint8_t kSetFeatures = 0x09;
inline constexpr std::uint8_t kGetFeatures = 0x0a;
inline constexpr std::uint8_t kEventRequest = 0x0c;
inline constexpr std::uint8_t kKeepAlive = 0x18;
inline constexpr std::uint8_t kDatasetManagement = 0x09;  // an I/O opcode
inline constexpr std::uint32_t kKeepAliveFeature = 0x0f;

// A scatter gather list descriptor: memory of the host under a key, or a place in the capsule.
struct Descriptor {
    std::uint8_t type = 0;
    std::uint8_t subtype = 0;
    RemoteAccess memory;
    [[nodiscard]] bool keyed() const { return type == dissect::kNvmeKeyed; }
    // A data block whose address is an offset into the capsule (base specification, SGL descriptor sub type).
    [[nodiscard]] bool in_capsule() const { return type == 0 && subtype == 1; }
};

[[nodiscard]] inline Descriptor descriptor(dissect::Bytes entry) {
    using namespace dissect;
    constexpr Field kAddress = named(kNvmeSglFields, "nvme.cmd.sgl1.addr");
    constexpr Field kType = named(kNvmeSglFields, "nvme.cmd.sgl.type");
    constexpr Field kSubtype = named(kNvmeSglFields, "nvme.cmd.sgl.subtype");
    constexpr Field kKey = named(kNvmeSglFields, "nvme.cmd.sgl1.key");
    constexpr Field kKeyedLength = named(kNvmeSglFields, "nvme.cmd.sgl1.len");
    constexpr std::size_t kLength = 8;
    static_assert(kKeyedLength.width == 24 && kKeyedLength.bit == kLength * 8);
    const Bytes bytes = slice(entry, kNvmeCommandHead, kNvmeSgl);
    Descriptor made;
    made.type = static_cast<std::uint8_t>(read(bytes, kType));
    made.subtype = static_cast<std::uint8_t>(read(bytes, kSubtype));
    made.memory.address = read(bytes, kAddress);
    made.memory.length =
        made.keyed() ? static_cast<std::uint32_t>(read(bytes, kKeyedLength)) : read_le<std::uint32_t>(bytes, kLength);
    made.memory.key = static_cast<Rkey>(made.keyed() ? read(bytes, kKey) : 0);
    return made;
}

// The entry's arguments: dword 10 to 15.
[[nodiscard]] inline std::uint32_t dword(dissect::Bytes entry, std::size_t number) {
    return dissect::read_le<std::uint32_t>(entry, number * sizeof(std::uint32_t));
}

// Whether the bits that every entry has are as hosts set them: a fused operation that exists, SGLs, reserved bits 0.
[[nodiscard]] inline bool has_shape(dissect::Bytes entry) {
    constexpr std::uint8_t kMostType = 5;
    constexpr std::uint8_t kVendorType = 15;
    const auto flags = dissect::read_le<std::uint8_t>(entry, 1);
    const unsigned pointer = flags >> 6U;
    if ((flags & 0x3cU) != 0 || (flags & 3U) == 3 || pointer == 3) return false;
    // A Flush names a namespace, and no queue is deleted over fabrics: zeros, as an anonymised capture has them, are no
    // command.
    if (dissect::read_le<std::uint8_t>(entry, 0) == 0 && dword(entry, 1) == 0) return false;
    const Descriptor data = descriptor(entry);
    if (pointer == 0 && data.memory.length != 0) return false;  // PRPs do not exist over fabrics
    return data.type <= kMostType || data.type == kVendorType;
}

}  // namespace qps::transport::nvme
