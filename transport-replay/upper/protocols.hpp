// THE table of upper protocols as far as following them goes: how each is recognised, its machine, its words. Their layers and
// field tables are in dissect/ulp/.
#pragma once

#include <transport-replay/upper/machines.hpp>

#include <span>
#include <string>

namespace qps::transport {

// How much a message looks like the protocol.
struct Likeness {
    std::uint8_t percent = 0;  // 0: it cannot be; from kSure on one message is enough
    bool from_active = false;  // if it is, the sender is the host, client or initiator
};
inline constexpr std::uint8_t kSure = 90;       // a magic number, or fields that random bytes have once in 2^32
inline constexpr std::uint8_t kPlausible = 50;  // kPlausibleNeeded of these and no contradiction are enough

struct ProtocolRow {
    UpperProtocol protocol{};
    std::span<const std::uint16_t> ports{};              // of RDMA_PS_TCP, RDMA_PS_IB services have none
    Likeness (*message)(const UpperMessage&) = nullptr;  // by a message alone; nullptr: cannot be told
    bool (*private_data)(const CmAttempt&) = nullptr;    // the attempt's private data or service id is its own
    UpperMachine (*machine)() = nullptr;
    std::string_view (*operation_name)(OperationCode) = nullptr;  // "Read"; never empty
    std::string (*describe)(const UpperOperation&) = nullptr;     // what it is about: "nsid 1, lba 0, 8 blocks"; may be empty
    std::string (*status)(const UpperOperation&) = nullptr;       // in words, of a failed one
    // What a finished attempt at a connection tells: refusals in the protocol's own words.
    void (*attempt)(const CmAttempt&, UpperReport&) = nullptr;
};

// In the order of UpperProtocol.
[[nodiscard]] std::span<const ProtocolRow> protocol_rows();
[[nodiscard]] const ProtocolRow& row_of(UpperProtocol protocol);

}  // namespace qps::transport
