// THE table of upper protocols as far as following them goes: how each is recognised, its machine, its words. Their
// layers and field tables are in dissect/ulp/.
#pragma once

#include <transport-replay/ulp/likeness.hpp>
#include <transport-replay/ulp/machines.hpp>

#include <span>
#include <string>

namespace qps::transport {

struct ProtocolRow {
    UlpProtocol protocol{};
    std::span<const std::uint16_t> ports{};            // of RDMA_PS_TCP, RDMA_PS_IB services have none
    Likeness (*message)(const UlpMessage&) = nullptr;  // by a message alone; nullptr: cannot be told
    bool (*private_data)(const CmAttempt&) = nullptr;  // the attempt's private data or service id is its own
    UlpMachine (*machine)() = nullptr;
    std::string_view (*operation_name)(OperationCode) = nullptr;  // "Read"; never empty
    std::string (*describe)(const UlpOperation&) =
        nullptr;                                           // what it is about: "nsid 1, lba 0, 8 blocks"; may be empty
    std::string (*status)(const UlpOperation&) = nullptr;  // in words, of a failed one
    bool (*everyday)(std::uint32_t status) = nullptr;      // programs that look for things expect it: "no such file"
    // What a finished attempt at a connection tells: refusals in the protocol's own words.
    void (*attempt)(const CmAttempt&, UlpReport&) = nullptr;
};

// In the order of UlpProtocol.
[[nodiscard]] std::span<const ProtocolRow> protocol_rows();
[[nodiscard]] const ProtocolRow& row_of(UlpProtocol protocol);

}  // namespace qps::transport
