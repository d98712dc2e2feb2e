// CapturedHost: a host whose own capture was analysed apart from those of others, and joined with them.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport {

// A host by its place in Timeline::hosts, from 1 on; 0: none, or it does not matter because all is of one capture.
enum class HostNumber : std::uint16_t {};

struct CapturedHost {
    std::string name;                 // as the user gave it
    std::vector<std::string> inputs;  // captures of it
    std::uint64_t packets = 0;
    std::uint64_t frames_before = 0;  // frames are numbered through: those of the hosts before it
    std::uint64_t frames = 0;
    std::uint64_t shared = 0;               // its connections that are described from another host's capture
    std::uint64_t management_left_out = 0;  // its management datagrams: those of the host with most of them are told
    // How far its clock is ahead of that of the first host, within that much either way; times are the first one's.
    // Nothing: packets that both captured do not tell, and its times are its own.
    std::optional<dissect::Duration> clock_ahead;
    dissect::Duration clock_within{};
};

}  // namespace qps::transport
