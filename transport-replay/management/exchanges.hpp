// Exchanges: requests of management and their answers, matched by class, transaction, attribute and addresses
// (13.4.6.4).
//
// A request that comes again before its answer is a retry; one of a directed route that comes again with another hop
// pointer is the same on another link. What an attacker could feed: requests without end. Those that wait for an
// answer, and those that are kept, are bounded; the sums count them all.
#pragma once

#include <transport-replay/management/management_datagram.hpp>
#include <transport-replay/management/rmpp.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxOpenExchanges = 1 << 14;  // a manager has some hundred SMPs on the wire at a time

class Exchanges {
public:
    void observe(const ManagementDatagram& datagram, const RmppStep& rmpp, const Observation& observation);
    // Into the report; whatever waits at `now` is judged.
    void finish(dissect::Instant now, ManagementReport& report);

private:
    using Index = std::uint32_t;
    struct Key {
        std::uint64_t transaction = 0;
        Address requester;
        Address responder;
        std::uint32_t what = 0;  // class and attribute
        [[nodiscard]] bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        using is_avalanching = void;
        [[nodiscard]] std::size_t operator()(const Key& key) const {
            return static_cast<std::size_t>(
                mix(hash_of(key.requester) + 3 * hash_of(key.responder) + mix(key.transaction + key.what)));
        }
    };
    struct Waiting {
        Exchange exchange;
        std::uint8_t hop_pointer = 0;
        bool answered = false;  // RMPP goes on
    };

    void take_request(const ManagementDatagram& datagram, const Observation& observation);
    void take_answer(const ManagementDatagram& datagram, const RmppStep& rmpp, const Observation& observation);
    void take_rmpp(const RmppStep& rmpp, std::uint16_t attribute, const Observation& observation);
    void end(Waiting& waiting, ExchangeOutcome outcome);
    void make_room();
    ExchangeSum* sum_of(const Exchange& exchange);
    static Key key_of(const ManagementDatagram& datagram, const Address& requester, const Address& responder);

    boost::unordered_flat_map<Key, Waiting, KeyHash> waiting_;
    std::vector<ExchangeSum> sums_;
    std::deque<Exchange> ended_;
    std::uint32_t uids_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t unasked_ = 0;
};

}  // namespace qps::transport
