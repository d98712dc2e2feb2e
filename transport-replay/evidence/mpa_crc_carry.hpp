// MpaCrcCarry: the CRCs of FPDUs that go from one TCP segment into others, where segments are changed one by one.
//
// A CRC is linear: it changes by the CRC of what was changed, less that of as many zeros. So what was changed is kept until the
// segment comes that ends the FPDU. Segments that do not follow one another, and streams with markers, are left with the CRC they had.
//
// What an attacker could feed: any segments. One FPDU of a way is kept, of at most kMostWays ways.
#pragma once

#include <dissect/packet.hpp>
#include <dissect/ulp/ulp_hint.hpp>
#include <transport-replay/model/address.hpp>

#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class MpaCrcCarry {
public:
    static constexpr std::size_t kMostWays = 256;  // of 64 KiB: with an FPDU under way at the same time

    // `before` is the packet with its layers as it was, `after` its bytes as they are now, which get the CRC.
    void pass(const FlowKey& way, const dissect::Packet& before, const dissect::UlpHint& hint, dissect::MutableBytes after);

private:
    struct Open {
        std::uint32_t next = 0;       // sequence number
        std::size_t remaining = 0;    // bytes of the FPDU that are still to come
        std::vector<std::byte> changed;  // both exclusive or'ed, from the beginning of the FPDU
    };
    boost::unordered_flat_map<FlowKey, Open, FlowHash> open_;
};

}  // namespace qps::transport
