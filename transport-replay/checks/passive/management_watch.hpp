// ManagementWatch: passive checks of CM datagrams: their headers, what REQs say of themselves, transaction IDs, what
// lies behind the lengths they tell. Datagrams are rare; fields are read through their tables.
//
// What an attacker could feed: any datagrams. What was not captured whole is not judged; transactions remembered are
// bounded.
#pragma once

#include <transport-replay/checks/passive/host_tallies.hpp>
#include <transport-replay/checks/passive/packet_facts.hpp>
#include <transport-replay/cm/cm_machine.hpp>
#include <transport-replay/model/observation.hpp>

#include <unordered_map>

namespace qps::transport::conformance {

inline constexpr std::size_t kMostTransactions = 1 << 17;  // of some 80 bytes: as many as attempts are kept

class ManagementWatch {
public:
    void observe(const Observation& datagram, const PacketFacts& facts, HostTallies& tallies);

private:
    // A message that waits for answers: who sent it to whom, under which communication ID.
    struct Key {
        Address host;
        Address peer;
        std::uint64_t id = 0;  // with the family of the message above it
        [[nodiscard]] bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        [[nodiscard]] std::size_t operator()(const Key& key) const {
            return mix(hash_of(key.host) + 3 * hash_of(key.peer) + mix(key.id));
        }
    };
    struct Transaction {
        std::uint64_t id = 0;
        std::uint64_t digest = 0;  // of the message that began it
    };
    void take_transaction(const CmDatagram& message, const Observation& datagram, HostTallies& tallies);

    std::unordered_map<Key, Transaction, KeyHash> open_;
};

}  // namespace qps::transport::conformance
