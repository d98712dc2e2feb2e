// NcclOffer: what a receiver of NCCL writes to its sender by a short WRITE: where the next message may go, how much
// fits, and whose message it is to be. The entries differ by version; the number of requests and the length of the
// WRITE tell them apart.
//
// What an attacker could feed: any payload; what is no entry of a known form is nothing.
#pragma once

#include <dissect/base/bytes.hpp>

#include <cstdint>
#include <optional>

namespace qps::transport {

struct NcclOffer {
    std::uint64_t address = 0;
    std::uint64_t size = 0;    // bytes that fit
    std::uint32_t sender = 0;  // rank, the tag of the request
    std::uint64_t index = 0;   // of all offers of the connection, from 1
};

inline constexpr std::uint32_t kMostNcclRequests = 8;  // of an offer
inline constexpr std::uint32_t kMostNcclOffer = 512;   // bytes: eight entries of 64

// The first entry of a WRITE of `length` bytes, of which `payload` was captured.
[[nodiscard]] std::optional<NcclOffer> nccl_offer(dissect::Bytes payload, std::uint32_t length);

}  // namespace qps::transport
