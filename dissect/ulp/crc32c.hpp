// CRC-32C (Castagnoli), as MPA and iSCSI use it (RFC 5044 4.4, RFC 3720 B.4).
//
// It is taken of every FPDU of a capture: eight bytes a step. A value is an integer whose most significant byte is the
// first on the wire, as all CRCs here (icrc.hpp); the CRC goes out least significant byte first.
#pragma once

#include <dissect/base/bytes.hpp>

namespace qps::dissect {

[[nodiscard]] std::uint32_t crc32c(Bytes covered);

}  // namespace qps::dissect
