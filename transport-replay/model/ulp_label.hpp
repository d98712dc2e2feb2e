// UlpLabel: which operation of an upper protocol a message belongs to.
#pragma once

#include <dissect/base/ulp_hint.hpp>

#include <cstdint>

namespace qps::transport {

using dissect::UlpProtocol;

// What is asked for, as the protocol numbers it: its row (protocols.hpp) has the names.
enum class OperationCode : std::uint16_t {};

struct UlpLabel {
    enum class Part : std::uint8_t { request, data, answer } part{};
    UlpProtocol protocol{};
    OperationCode code{};
    std::uint64_t tag = 0;  // by which the answer is found: CID, initiator task tag, XID
};

}  // namespace qps::transport
