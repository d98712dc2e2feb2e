// RmppTransfers: answers and requests of several segments, put together again (13.6): data of each segment in its
// order, what was acknowledged, and how it ended.
//
// Sans I/O. The data of a transfer is valid until the next call.
//
// What an attacker could feed: segment numbers and lengths that lie, transfers without end. A segment counts at most
// the 200 bytes it has room for; segments out of order wait in a bounded place, and those of a transfer, of all
// transfers, and their number are bounded.
#pragma once

#include <transport-replay/management/management_datagram.hpp>

#include <map>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxRmppTransfers = 256;  // at a time; a subnet administrator answers a handful
inline constexpr std::size_t kMaxRmppBytes = 4 << 20;  // of one: NodeRecords of 37,000 nodes
inline constexpr std::size_t kMaxRmppHeld = 16 << 20;  // of all
inline constexpr std::size_t kMaxRmppOutOfOrder = 64;  // segments that wait: what Linux' window is at most

// Which transfer a datagram belongs to: its data goes from `sender` to `receiver`.
struct RmppKey {
    std::uint64_t transaction = 0;
    Address sender;
    Address receiver;
    dissect::ManagementClass management_class{};
    [[nodiscard]] bool operator==(const RmppKey&) const = default;
};
struct RmppKeyHash {
    using is_avalanching = void;
    [[nodiscard]] std::size_t operator()(const RmppKey& key) const {
        return static_cast<std::size_t>(mix(hash_of(key.sender) + 3 * hash_of(key.receiver) + mix(key.transaction)));
    }
};

// What a datagram did to its transfer.
struct RmppStep {
    bool rmpp = false;  // it was one of RMPP; else nothing of what follows is meant
    bool data = false;  // a segment, else ACK, STOP or ABORT
    const RmppKey* key = nullptr;
    RmppTransfer transfer;        // so far
    dissect::Bytes records;       // of a transfer that this segment completed
    std::size_t record_size = 0;  // in them; 0 where the sender says none
};

class RmppTransfers {
public:
    RmppStep observe(const ManagementDatagram& datagram, const Observation& observation);
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

private:
    struct Transfer {
        RmppTransfer transfer;
        std::uint32_t next = 1;  // segment that would be in order
        std::uint32_t last = 0;  // 0: not known
        std::size_t record_size = 0;
        std::uint64_t begun = 0;  // in which order they began
        std::vector<std::byte> data;
        std::map<std::uint32_t, std::vector<std::byte>> waiting;
    };
    void take_data(Transfer& transfer, const ManagementDatagram& datagram);
    void take_in_order(Transfer& transfer, dissect::Bytes data);
    void take_ack(Transfer& transfer, dissect::Bytes rmpp);
    void give_up(Transfer& transfer);
    Transfer* find_or_begin(const RmppKey& key, bool first);

    boost::unordered_flat_map<RmppKey, Transfer, RmppKeyHash> transfers_;
    RmppKey key_;
    std::vector<std::byte> completed_;
    std::size_t held_ = 0;  // bytes of all transfers
    std::uint64_t begun_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace qps::transport
