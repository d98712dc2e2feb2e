// Types of ICMP and ICMPv6 messages that somebody here reads or writes (IANA, "ICMP Type Numbers" and "ICMPv6 type
// Numbers").
#pragma once

#include <cstdint>

namespace qps::dissect {

enum class IcmpType : std::uint8_t {
    echo_reply = 0,
    unreachable = 3,
    source_quench = 4,
    redirect = 5,
    echo_request = 8,
    time_exceeded = 11,
    parameter = 12,
};
enum class Icmpv6Type : std::uint8_t {
    unreachable = 1,
    too_big = 2,
    time_exceeded = 3,
    parameter = 4,
    echo_request = 128,
    echo_reply = 129,
    mld_query = 130,
    mld_report = 131,
    mld_done = 132,
    router_solicitation = 133,
    router_advertisement = 134,
    neighbour_solicitation = 135,
    neighbour_advertisement = 136,
    redirect = 137,
    mld2_report = 143,
};

}  // namespace qps::dissect
