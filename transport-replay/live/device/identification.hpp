// The identification of an IPv4 packet whose header the kernel kept for itself, found again from the ICRC.
//
// The ICRC covers the identification and the flag "don't fragment", which a UDP socket does not tell. A CRC is linear
// over exclusive or: what these 17 bits change of it depends on nothing but the length of the packet, and no two ways
// to set them change it alike (they lie within 32 bits). So they follow from the ICRC of a whole packet; and where no
// way to set them makes the ICRC right, the packet is damaged. What that costs of its power to detect: a damage passes
// with chance 2^-15 instead of 2^-32.
#pragma once

#include <dissect/base/bytes.hpp>

namespace qps::transport::live {

// `packet` runs from the IPv4 header (without options, identification 0, "don't fragment" set) to the ICRC. Sets
// identification and flag so that the ICRC is right, the header checksum apart; false and unchanged where that cannot
// be, or where it is too short to have an ICRC.
[[nodiscard]] bool find_identification(dissect::MutableBytes packet);

}  // namespace qps::transport::live
