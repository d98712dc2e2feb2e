// THE table of upper protocols as far as following them goes: how each is recognised, its machine, its words. Their layers and
// field tables are in dissect/ulp/.
#pragma once

#include <transport-replay/upper/likeness.hpp>
#include <transport-replay/upper/machines.hpp>

#include <span>
#include <string>

namespace qps::transport {

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
