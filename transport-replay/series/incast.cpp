#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/incast.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace qps::transport::series {

using namespace dissect;

namespace {

constexpr std::uint64_t kAnswersShare = 20;  // of the bytes of a connection: acknowledgments are about that

// Every way that carries data, as visit(sender, receiver, connection, end).
template <class Visit> void each_data_way(const Timeline& timeline, Visit visit) {
    for (const Connection& connection : timeline.connections)
        for (const End from : {End::a, End::b}) {
            const std::uint64_t bytes = connection.way(from).bytes;
            if (bytes == 0 || bytes < connection.all_bytes() / kAnswersShare) continue;
            visit(connection.end(from).address, connection.end(other(from)).address, connection, from);
        }
}

struct Sender {
    std::uint64_t bytes = 0;
    std::vector<std::pair<ConnectionId, End>> ways;
    void add_to(Scope& scope) const {
        for (const auto& [connection, from] : ways) scope.add(connection, from);
    }
};

// What happened to what they send, and what the receiver said of it.
class Events {
public:
    Events(const Scope& ways, Incast& made) : ways_(ways), made_(made) {}
    void take(const PacketRow& row, FrameIndex frame) {
        const auto connection = row.connection();
        if (!connection || row.has(Mark::timeless) || row.has(Mark::mirror_copy)) return;
        const Point point{row.time(), 1, frame};
        if (Scope::notifies(row)) {
            if (ways_.has(*connection, Scope::way_of(row))) made_.notifications.push_back(point);
        } else if (ways_.has(*connection, row.from())) {
            if (row.has(Mark::congestion_experienced)) made_.marks.push_back(point);
            if (row.has(Mark::retransmission)) made_.retransmissions.push_back(point);
        }
        const auto syndrome = row.syndrome();
        if (!syndrome || !ways_.has(*connection, other(row.from()))) return;
        const Acknowledgment said{*syndrome, {}};
        const auto type = static_cast<SyndromeType>(said.type());
        if (type == SyndromeType::rnr_nak) made_.rnr_naks.push_back(point);
        if (type == SyndromeType::nak && said.code() == 0) made_.naks.push_back(point);
    }

private:
    const Scope& ways_;
    Incast& made_;
};

}  // namespace

std::vector<IncastReceiver> incast_receivers(const Timeline& timeline) {
    std::map<Address, std::pair<IncastReceiver, std::set<Address>>> found;
    each_data_way(timeline,
                  [&](const Address& sender, const Address& receiver, const Connection& connection, End from) {
                      auto& [sum, senders] = found[receiver];
                      sum.address = receiver;
                      sum.bytes += connection.way(from).bytes;
                      senders.insert(sender);
                  });
    for (const IncastBurst& burst : timeline.congestion.incasts)
        if (const auto known = found.find(burst.destination); known != found.end()) ++known->second.first.bursts;
    std::vector<IncastReceiver> receivers;
    for (auto& [address, one] : found) {
        one.first.senders = one.second.size();
        if (one.first.senders > 1) receivers.push_back(one.first);
    }
    std::ranges::stable_sort(receivers, std::greater{},
                             [](const IncastReceiver& one) { return std::tuple(one.bursts, one.senders, one.bytes); });
    if (receivers.size() > kMostIncastReceivers) receivers.resize(kMostIncastReceivers);
    return receivers;
}

std::optional<Incast> incast(const CaptureIndex& index, const Timeline& timeline, const Address& receiver,
                             const Range& range, const Stop& stop) {
    std::map<Address, Sender> senders;
    Scope all;
    each_data_way(timeline, [&](const Address& sender, const Address& to, const Connection& connection, End from) {
        if (to != receiver) return;
        senders[sender].bytes += connection.way(from).bytes;
        senders[sender].ways.emplace_back(connection.uid, from);
        all.add(connection.uid, from);
    });
    Incast made;
    if (senders.empty()) return made;
    std::vector<std::pair<Address, Sender>> largest(senders.begin(), senders.end());
    std::ranges::stable_sort(largest, std::greater{}, [](const auto& one) { return one.second.bytes; });
    // One more alone costs no more room than "1 other".
    const std::size_t alone = largest.size() <= kMostIncastSenders ? largest.size() : kMostIncastSenders - 1;
    Scope rest;
    for (std::size_t i = 0; i < largest.size(); ++i) {
        auto& [address, sender] = largest[i];
        if (i < alone) {
            Scope own;
            sender.add_to(own);
            auto sums = throughput(index, own, range, stop);
            if (!sums) return std::nullopt;
            made.senders.push_back({address, sender.bytes, std::move(*sums)});
            continue;
        }
        ++made.others;
        sender.add_to(rest);
    }
    if (made.others != 0) {
        auto sums = throughput(index, rest, range, stop);
        if (!sums) return std::nullopt;
        made.rest = std::move(*sums);
    }
    Events events(all, made);
    const auto take = [&](const PacketRow& row, std::uint64_t at) { events.take(row, frame_at(at)); };
    if (!scan(index.packets, 0, index.packets.size(), stop, take)) return std::nullopt;
    return made;
}

}  // namespace qps::transport::series
