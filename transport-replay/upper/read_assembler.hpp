// ReadAssembler: the payload of READs of one way whose bytes somebody wants, from the responses as they come.
//
// Responses are taken by their PSN, in order; a response that the capture lacks ends what is known of its READ. What an attacker
// could feed: READs that nobody answers; kMostAsked and kMostHeld bound what is kept.
#pragma once

#include <transport-replay/observation.hpp>

#include <deque>
#include <vector>

namespace qps::transport {

class ReadAssembler {
public:
    static constexpr std::size_t kMostAsked = 32;                   // READs wait for an answer; adapters have some 16 at a time
    static constexpr std::size_t kMostHeld = std::size_t{1} << 20;  // bytes of one

    // A READ whose first response has that PSN.
    void asked(dissect::Psn first);
    // A response. Cheap where nothing was asked.
    void answered(const Observation& response);
    // What came of that READ, which is forgotten then; empty where nothing is known.
    [[nodiscard]] std::vector<std::byte> take(dissect::Psn first);

private:
    struct Read {
        dissect::Psn first;
        dissect::Psn next;
        std::vector<std::byte> bytes;
    };
    std::deque<Read> reads_;
};

}  // namespace qps::transport
