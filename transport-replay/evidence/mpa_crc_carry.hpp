// MpaCrcCarry: the CRCs of FPDUs that go from one TCP segment into others, where segments are changed one by one.
//
// The FPDU is kept, as it was and as it is now, until the segment comes that ends it: a CRC that was right is right
// again, one that was 0 stays so, another becomes wrong by a difference of the key alone. Of segments that do not
// follow one another, and of streams with markers, nobody knows what is right: their CRCs are left as the caller has
// them.
//
// What an attacker could feed: any segments. One FPDU of a way is kept, of at most kMostWays ways.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/base/ulp_hint.hpp>
#include <transport-replay/evidence/crc_difference.hpp>
#include <transport-replay/model/address.hpp>

#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class MpaCrcCarry {
public:
    static constexpr std::size_t kMostWays = 256;  // of 128 KiB: with an FPDU under way at the same time

    explicit MpaCrcCarry(const CrcDifference& difference) : difference_(difference) {}

    // `before` is the packet with its layers as it was, `after` its bytes as they are now, which get the CRC.
    void pass(const FlowKey& way, const dissect::Packet& before, const dissect::UlpHint& hint,
              dissect::MutableBytes after);

private:
    struct Open {
        std::uint32_t next = 0;                // sequence number
        std::size_t remaining = 0;             // bytes of the FPDU that are still to come
        std::vector<std::byte> before, after;  // from the beginning of the FPDU
    };
    CrcDifference difference_;
    boost::unordered_flat_map<FlowKey, Open, FlowHash> open_;
};

}  // namespace qps::transport
