// The frames that a filter with sets lets through, of those that a test has.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/filter/filter.hpp>
#include <dissect/filter/named_set.hpp>
#include <tests/support/catch.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace qps::tests {

inline std::vector<std::uint64_t> frames_of(std::string_view filter, const dissect::SetReader& sets) {
    constexpr std::uint64_t kFrames = 12;
    const auto compiled = dissect::Filter::compile(filter, sets);
    REQUIRE(compiled);
    std::vector<std::uint64_t> passed;
    for (std::uint64_t number = 1; number <= kFrames; ++number) {
        dissect::Frame frame;
        frame.index = dissect::FrameIndex{number};
        dissect::Packet packet;
        dissect::decode(frame, packet);
        if (compiled->matches(packet)) passed.push_back(number);
    }
    return passed;
}

}  // namespace qps::tests
