// Captures made to order, for what the real ones do not hold: every opcode, every management attribute, native
// InfiniBand, tunnels, congestion, a fabric under management, captures cut short, packets that are wrong.
//
// The table below is what make_samples writes into captures/; a test demands that the files there are just these.
#pragma once

#include <dissect/packet/build.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace qps::tests {

struct SamplePacket {
    dissect::PacketSpec spec;
    std::size_t captured = std::dynamic_extent;  // bytes the capture keeps
    std::uint64_t pause = 0;                     // nanoseconds before it, besides those that are between all
};

struct Sample {
    std::string_view name;  // folder in captures/
    dissect::LinkType link;
    std::vector<SamplePacket> (*make)();
    std::uint64_t step = 10'000;  // nanoseconds between all packets
};

[[nodiscard]] std::span<const Sample> samples();

// The capture file of a sample, byte for byte.
[[nodiscard]] std::vector<std::byte> capture_of(const Sample& sample);

}  // namespace qps::tests
