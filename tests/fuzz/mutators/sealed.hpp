// Mutators that know what guards the inside of their input: lengths and checksums that a change made wrong are made
// right again, or every packet would end at the first check. A share of the inputs stays wrong on purpose.
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/frame.hpp>

#include <cstddef>
#include <cstdint>

// libFuzzer's own mutation; where libFuzzer is not linked, plain_mutate.cpp's.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace qps::fuzz {

// The lengths of the IP and UDP headers, the checksum of the IPv4 header and the ICRC of a frame, as its other bytes
// want them.
void seal(dissect::MutableBytes frame, dissect::LinkType link);

// Changes the frame that follows `control` bytes of the input, and seals it in seven cases of eight. The first byte
// chooses the link type, as in the fuzzer of packets. Returns the new size, up to `most`.
[[nodiscard]] std::size_t mutate_packet(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed,
                                        std::size_t control);

// Changes a capture, pcap or pcapng, that begins at `control`: a record's frame, sealed; a record left out, doubled or
// moved; a time; or, in one case of eight and where it is no capture, any bytes.
[[nodiscard]] std::size_t mutate_capture(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed,
                                         std::size_t control);

}  // namespace qps::fuzz
