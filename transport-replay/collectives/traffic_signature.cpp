#include <transport-replay/collectives/nccl_offer.hpp>
#include <transport-replay/collectives/traffic_signature.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint32_t kFewest = 3;  // of anything that is called a habit

// NCCL (transport/net_ib): what a receiver offers is written to its sender, entries of 32 or 64 bytes, eight at a time
// at most.
constexpr std::size_t kEntry = 32, kMostEntries = 512;

// UCX (ucp_am_id_t): the low five bits of the first byte are what the message is, above them is flow control.
constexpr unsigned kActiveMask = 31;
constexpr unsigned kReadyToSend = 9, kWasRead = 10, kWasWritten = 16, kMostActive = 25;

// libfabric (ofi_proto.h, rxm.h): a control header of 32 bytes, then one of the operation with the length of the data.
constexpr std::size_t kOperation = 32, kOperationHeader = 32, kDataLength = 40;
constexpr unsigned kControlOldest = 2, kControlNewest = 4, kMostControl = 15, kOperationVersion = 3,
                   kMostOperation = 10;

std::uint32_t swapped(std::uint32_t number) {
    return number >> 24 | (number >> 8 & 0xff00) | (number << 8 & 0xff'0000) | number << 24;
}

bool is_reliable_data(const Observation& observation) {
    const Bytes bytes = observation.payload;
    if (bytes.size() < kOperation + kOperationHeader) return false;
    const unsigned version = read_be<std::uint8_t>(bytes, 0), type = read_be<std::uint8_t>(bytes, 1);
    const unsigned operation = read_be<std::uint8_t>(bytes, kOperation + 2);
    return version >= kControlOldest && version <= kControlNewest && type <= kMostControl &&
           read_be<std::uint8_t>(bytes, kOperation) == kOperationVersion && operation < kMostOperation &&
           read_le<std::uint64_t>(bytes, kDataLength) <= UINT32_MAX;
}

}  // namespace

void TrafficSignature::take_begun_or_ended(const Observation& observation, End from) {
    const OpcodeRow& row = info(observation.opcode);
    Habits& habits = ends_[static_cast<std::size_t>(from)];
    if (row.verb == Verb::write) return take_write(observation, from);
    if (row.verb == Verb::send && begins_message(row.place)) return take_send(observation, habits);
    if (row.verb == Verb::read_request) ++habits.reads;
}

void TrafficSignature::take_write(const Observation& observation, End from) {
    Habits& mine = ends_[static_cast<std::size_t>(from)];
    const Habits& theirs = ends_[static_cast<std::size_t>(other(from))];
    const Place place = info(observation.opcode).place;
    const std::uint32_t length = observation.payload_length;
    const bool offer =
        place == Place::only && !observation.immediate && length != 0 && length % kEntry == 0 && length <= kMostEntries;
    if (offer) {
        if (const auto address = read_le<std::uint64_t>(observation.payload, 0); address != 0)
            mine.offered[mine.offers % kOffers] = address;
        if (const auto entry = nccl_offer(observation.payload, length)) {
            if (mine.number != 0 && entry->index == mine.number + 1) ++mine.numbered;
            mine.number = entry->index;
        }
        ++mine.offers;
        return;
    }
    if (observation.access && observation.access->address != 0 &&
        std::ranges::find(theirs.offered, observation.access->address) != theirs.offered.end())
        ++mine.used;
    mine.since += length;
    if (!ends_message(place)) return;
    if (!observation.immediate) {
        ++mine.writes;
        return;
    }
    ++mine.immediates;
    if (mine.since != 0 && (*observation.immediate == mine.since || swapped(*observation.immediate) == mine.since))
        ++mine.sized;
    mine.since = 0;
}

void TrafficSignature::take_send(const Observation& observation, Habits& habits) {
    ++habits.sends;
    const unsigned first = read_be<std::uint8_t>(observation.payload, 0) & kActiveMask;
    if (first != 0 && first <= kMostActive) {
        ++habits.active;
        if (first == kReadyToSend) ++habits.ready;
        if (first == kWasRead || first == kWasWritten) ++habits.acknowledged;
    }
    if (is_reliable_data(observation)) ++habits.reliable_data;
}

// The offers of one end count themselves; or the other WRITEs to where they are, be it an empty message; or what it
// says with each immediate is the length, and the one only offers.
bool TrafficSignature::is_nccl(End sender) const {
    const Habits& sends = ends_[static_cast<std::size_t>(sender)];
    const Habits& receives = ends_[static_cast<std::size_t>(other(sender))];
    const std::uint64_t control = std::uint64_t{sends.sends} + receives.sends;
    if (receives.numbered >= kFewest && control <= receives.numbered / 8 && receives.immediates == 0) return true;
    if (sends.immediates < kFewest || receives.offers < kFewest || control > sends.immediates / 8) return false;
    const bool follows = sends.used >= kFewest && sends.used * 2 >= sends.immediates;
    const bool sized = sends.sized * 10 >= sends.immediates * 8 && receives.offers * 2 >= sends.immediates &&
                       receives.writes + receives.immediates <= receives.offers / 8;
    return follows || sized;
}

// Ready to send, then READs of the other end or WRITEs, then its acknowledgment.
bool TrafficSignature::is_ucx(End sender) const {
    const Habits& sends = ends_[static_cast<std::size_t>(sender)];
    const Habits& receives = ends_[static_cast<std::size_t>(other(sender))];
    const std::uint64_t all = std::uint64_t{sends.sends} + receives.sends;
    if (sends.ready < kFewest || (std::uint64_t{sends.active} + receives.active) * 20 < all * 19) return false;
    const bool reads = receives.reads * 2 >= sends.ready && receives.acknowledged * 2 >= sends.ready;
    const bool writes = sends.writes * 2 >= sends.ready && sends.acknowledged * 2 >= sends.ready;
    return reads || writes;
}

bool TrafficSignature::is_libfabric() const {
    const std::uint64_t all = std::uint64_t{ends_[0].sends} + ends_[1].sends;
    const std::uint64_t like = std::uint64_t{ends_[0].reliable_data} + ends_[1].reliable_data;
    return like >= kFewest && like * 10 >= all * 9;
}

CollectiveLibrary TrafficSignature::library() const {
    for (const End end : {End::a, End::b}) {
        if (is_nccl(end)) return CollectiveLibrary::nccl;
        if (is_ucx(end)) return CollectiveLibrary::ucx;
    }
    return is_libfabric() ? CollectiveLibrary::libfabric : CollectiveLibrary::unknown;
}

}  // namespace qps::transport
