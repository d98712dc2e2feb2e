// What a host says to an NVMe over RDMA target, as bytes: private data of a REQ, capsules, the data of a Connect.
// Right, unless the caller says otherwise. Places of fields are those of the decoder's tables
// (dissect/ulp/nvme_command.hpp).
#pragma once

#include <dissect/base/bytes.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace qps::transport::conformance::nvme {

using CapsuleBytes = std::vector<std::byte>;

inline constexpr std::uint64_t kMemory =
    0x1000'0000'1000;  // of ours, under that key; nothing is there: the script answers
inline constexpr std::uint32_t kKey = 0x1234;
inline constexpr std::uint16_t kAnyController = 0xffff;

// Figure 5 of the RDMA transport.
struct QueueRequest {
    std::uint16_t record_format = 0;
    std::uint16_t queue = 0;
    std::uint16_t receives = 32;
    std::uint16_t sends = 31;  // less one
};
[[nodiscard]] CapsuleBytes private_data(const QueueRequest& request = {});

// The byte of a descriptor that has its type and what it is in particular (figure 10).
inline constexpr std::uint8_t kKeyed = 0x40, kKeyedInvalidated = 0x4f, kByAddress = 0x00, kByOffset = 0x01,
                              kOfTcp = 0x5a;
struct Descriptor {
    std::uint32_t length = 0;
    std::uint8_t type = kKeyed;
    std::uint64_t address = kMemory;  // kByOffset: where in the capsule
};

inline constexpr std::uint8_t kWithSgl = 0x40, kFused = 0x41;
struct Connect {
    std::uint16_t cid = 0;
    std::uint8_t flags = kWithSgl;
    std::uint16_t record_format = 0;
    std::uint16_t queue = 0;
    std::uint16_t size = 31;  // less one
    Descriptor data{.length = 1024};
};
[[nodiscard]] CapsuleBytes capsule(const Connect& connect);

// Offsets of properties (Base 3.1.3).
inline constexpr std::uint32_t kCapabilities = 0x00, kVersion = 0x08, kConfiguration = 0x14, kStatus = 0x1c;
struct Property {
    std::uint16_t cid = 1;
    bool sets = false;
    bool wide = false;  // 8 bytes
    std::uint32_t offset = 0;
    std::uint64_t value = 0;
    bool reserved_zero = false;  // else they hold a keyed descriptor of nothing, as Linux' host has it
};
[[nodiscard]] CapsuleBytes capsule(const Property& property);

struct Command {
    std::uint8_t opcode = 0;
    std::uint16_t cid = 1;
    std::uint8_t fabrics = 0;  // the type of a fabrics command; else the first byte of the namespace
    Descriptor data{};
    std::uint32_t dword10 = 0;
};
[[nodiscard]] CapsuleBytes capsule(const Command& command);

[[nodiscard]] CapsuleBytes connect_data(std::string_view subsystem, std::string_view host,
                                        std::uint16_t controller = kAnyController);

}  // namespace qps::transport::conformance::nvme
