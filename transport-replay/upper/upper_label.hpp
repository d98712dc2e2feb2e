// UpperLabel: which operation of an upper protocol a message belongs to.
#pragma once

#include <dissect/ulp/upper_hint.hpp>

#include <cstdint>

namespace qps::transport {

using dissect::UpperProtocol;

// What is asked for, as the protocol numbers it: its row (protocols.hpp) has the names.
enum class OperationCode : std::uint16_t {};

struct UpperLabel {
    enum class Part : std::uint8_t { request, data, answer } part{};
    UpperProtocol protocol{};
    OperationCode code{};
    std::uint64_t tag = 0;  // by which the answer is found: CID, initiator task tag, XID
};

}  // namespace qps::transport
