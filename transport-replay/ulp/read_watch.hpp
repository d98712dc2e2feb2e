// ReadWatch: READs of memory whose bytes somebody wants to see, from the request to its last response, of one way of a
// connection. Responses name no memory: they are found by the PSN of their request (9.7.3).
//
// A response that misses one before it ends what is kept: pieces with a hole are not the memory. What an attacker could
// feed: requests without responses, responses of gigabytes. kMaxReads and kMaxKeptOfRead bound them, a share of the
// memory all of them.
#pragma once

#include <transport-replay/model/byte_share.hpp>
#include <transport-replay/model/observation.hpp>

#include <deque>

namespace qps::transport {

class ReadWatch {
public:
    static constexpr std::size_t kMaxReads = 256;  // as many as a responder has resources for, 8 bits
    static constexpr std::size_t kMaxKeptOfRead = std::size_t{1} << 20;  // as of an operation, see OpenOperations

    // `detail`: what walks must know of the memory from its first byte on. One that is asked again begins anew.
    void asked(dissect::Psn psn, bool keep, std::uint8_t detail);
    // A READ response. The detail of the memory where it begins with this packet, else 0.
    std::uint8_t answered(const Observation& observation, ByteShare& share);
    // The bytes that answered the READ of that PSN; it and those before it are forgotten.
    [[nodiscard]] HeldBytes take(dissect::Psn psn);

private:
    struct Reading {
        dissect::Psn psn;
        dissect::Psn next;
        bool keep = false;
        std::uint8_t detail = 0;
        HeldBytes payload;
    };
    std::deque<Reading> reads_;  // by PSN
    Reading* current_of(dissect::Psn psn);
};

}  // namespace qps::transport
