#include <dissect/base/packet.hpp>
#include <transport-replay/index/slice_rows.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kWatchedEvery = 4096;  // packets; some milliseconds

// What its row says of a packet, where that is enough to tell.
bool told_by_row(const PacketRow& row, const Timeline& timeline) {
    const auto connection = row.connection();
    return connection && timeline.find(*connection) != nullptr;
}

Address link_address(std::uint64_t mac) { return {{0, mac}, AddressSpace::ethernet}; }

class Counting {
public:
    explicit Counting(Leaving& leaving) : leaving_(leaving) {}

    void take(const Frame& frame) {
        ++leaving_.packets;
        leaving_.bytes += frame.bytes.size();
        decode(frame, packet_);
        observe(packet_, observation_ = {});
        if (observation_.kind == ObservationKind::transport && !observation_.management)
            leaving_.payload += std::min<std::uint64_t>(observation_.payload.size(), observation_.payload_length);
        if (observation_.kind == ObservationKind::stream) leaving_.payload += observation_.payload_length;
        take_link(frame);
        for (const Address& address : {observation_.flow.source, observation_.flow.destination})
            if (address.space != AddressSpace::none) name(address);
    }

private:
    void take_link(const Frame& frame) {
        const auto layers = packet_.layers();
        const auto ethernet = std::ranges::find(layers, LayerKind::ethernet, &Layer::kind);
        constexpr std::size_t kMacs = 12;
        if (ethernet == layers.end() || ethernet->offset + kMacs > frame.bytes.size()) return;
        const std::size_t at = std::size_t{ethernet->offset} * 8;
        for (const std::size_t mac : {std::size_t{0}, std::size_t{48}})
            name(link_address(read_bits(frame.bytes, at + mac, 48)));
    }
    void name(const Address& address) {
        const auto known = leaving_.addresses.find(address);
        if (known != leaving_.addresses.end()) ++known->second;
        else if (leaving_.addresses.size() < Leaving::kMostAddresses) leaving_.addresses.emplace(address, 1);
        else ++leaving_.more_addresses;
    }

    Leaving& leaving_;
    Packet packet_;
    Observation observation_;
};

}  // namespace

std::optional<RowSet> slice_rows(const CaptureIndex& index, const Timeline& timeline, const SliceRequest& request,
                                 const std::function<bool()>& stopped) {
    const Slice slice(timeline, request, {});
    RowSet rows;
    FrameBuffer buffer;
    Packet packet;
    Observation observation;
    const std::uint64_t packets = index.packets.size();
    for (std::uint64_t at = 0; at < packets; ++at) {
        if (at % kWatchedEvery == 0 && stopped && stopped()) return std::nullopt;
        const FrameIndex number{at + 1};
        const PacketRow& row = index.packets[at];
        observation = {};
        observation.frame = number;
        if (!told_by_row(row, timeline)) {
            const auto frame = index.frame(number, buffer);
            if (!frame) continue;
            decode(*frame, packet);
            observe(packet, observation);
        }
        PacketRecord record;
        record.connection = row.connection();
        if (slice.takes(observation, record)) rows.set(number, true);
    }
    return rows;
}

std::optional<Leaving> leaving(const CaptureIndex& index, const Chosen& chosen, const ExtractWatch& watch) {
    Leaving found;
    Counting counting(found);
    FrameBuffer buffer;
    const std::uint64_t all = count(chosen, index);
    std::uint64_t done = 0;
    bool going = true;
    for_each_chosen(chosen, index, [&](FrameIndex number) {
        if (done++ % kWatchedEvery == 0) {
            going = !watch.stopped || !watch.stopped();
            if (watch.progressed) watch.progressed(done - 1, all);
        }
        if (!going) return false;
        if (const auto frame = index.frame(number, buffer)) counting.take(*frame);
        else ++found.unreadable;
        return true;
    });
    return going ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace qps::transport
