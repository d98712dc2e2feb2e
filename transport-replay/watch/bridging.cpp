#include <transport-replay/model/link_priorities.hpp>
#include <transport-replay/watch/bridging.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

Instant end_of(const BridgingEnd& end) { return end.last_time + end.lifetime; }

// Whether what it announced last holds at that time.
bool holds(const BridgingEnd& end, Instant now) {
    return end.announced.whole && end.lifetime != Duration{} && now <= end_of(end);
}
bool has_lossless(const BridgingEnd& end) { return end.announced.pfc.value_or(0) != 0; }

// Where a link has one bridge and one station, the latter: who packets on the link are for.
const BridgingEnd* station_of(const BridgingLink& link) {
    if (link.ends.size() != 2 || link.ends[0].announced.bridge == link.ends[1].announced.bridge) return nullptr;
    return link.ends[0].announced.bridge ? &link.ends[1] : &link.ends[0];
}

// Another recording of its last announcement, by a tap whose clock is close; or one of before, in files that were put
// in the wrong order.
bool is_no_news(const BridgingEnd& end, const LldpAnnouncement& said, Instant time) {
    if (time < end.last_time) return true;
    return time - end.last_time < kSameAnnouncement && end.lifetime == said.lifetime &&
           (said.lifetime == Duration{} || end.announced == said.content);
}

void add_outside(BridgingEnd& end, const OutsidePfc& packets) {
    const auto same = [&](const OutsidePfc& one) {
        return one.priority == packets.priority && one.dscp == packets.dscp && one.tagged == packets.tagged;
    };
    const auto found = std::ranges::find_if(end.outside, same);
    if (found != end.outside.end()) found->packets += packets.packets;
    else if (end.outside.size() < kMaxOutsidePfc) end.outside.push_back(packets);
    else end.outside_left_out += packets.packets;
}

}  // namespace

BridgingTracker::Link* BridgingTracker::link_of(const Observation& observation) {
    const auto same = [&](const Link& link) {
        return link.report.interface == observation.interface && link.report.file == observation.file;
    };
    const auto found = std::ranges::find_if(links_, same);
    if (found != links_.end()) return &*found;
    if (observation.kind != ObservationKind::bridging) return nullptr;
    if (links_.size() >= kMaxBridgingLinks) {
        ++left_out_;
        return nullptr;
    }
    Link& link = links_.emplace_back();
    link.report.file = observation.file;
    link.report.interface = observation.interface;
    link.report.last_time = observation.time;
    return &link;
}

void BridgingTracker::take(const Observation& observation) {
    if (!observation.has_time) return;
    Link* link = link_of(observation);
    if (link == nullptr) return;
    const Duration still = observation.time - link->report.last_time;
    if (still > kLinkBreak)
        for (BridgingEnd& end : link->report.ends) end.unseen = end.unseen + still;
    if (observation.time >= link->report.last_time) {
        link->report.last_time = observation.time;
        link->report.last = observation.frame;
    }
    if (!link->cells.empty() && observation.time > link->expiry) {
        judge_packets(*link);
        await(*link, observation.time);
    }
    if (observation.kind == ObservationKind::bridging) take_announcement(*link, observation);
    else if (!link->cells.empty()) take_packet(*link, observation);
}

void BridgingTracker::take_announcement(Link& link, const Observation& observation) {
    auto said = read_announcement(observation.payload);
    if (!said) {
        ++link.report.unreadable;
        return;
    }
    if (observation.cut || observation.fault != Fault::none) said->content.whole = false;
    auto& ends = link.report.ends;
    const auto same = [&](const BridgingEnd& end) {
        return end.sender == observation.flow.source && end.station == said->station;
    };
    auto end = std::ranges::find_if(ends, same);
    if (end == ends.end()) {
        if (ends.size() >= kMaxBridgingEnds) {
            ++left_out_;
            return;
        }
        end = ends.emplace(ends.end());
        end->sender = observation.flow.source;
        end->station = said->station;
        end->first = observation.frame;
        end->first_time = observation.time;
    }
    if (end->frames == 0 || !is_no_news(*end, *said, observation.time)) say(link, *end, std::move(*said), observation);
}

void BridgingTracker::say(Link& link, BridgingEnd& end, LldpAnnouncement&& said, const Observation& observation) {
    const bool stops = said.lifetime == Duration{};
    const bool held = end.lifetime != Duration{} && observation.time <= end_of(end);
    const bool again = held && !stops && end.announced == said.content;
    if (!again) judge_packets(link);
    ++end.frames;
    end.last = observation.frame;
    end.last_time = observation.time;
    end.lifetime = said.lifetime;
    end.unseen = {};
    if (!said.name.empty()) end.name = std::move(said.name);
    if (again) {
        ++end.same;
        ++end.repeated;
    } else {
        for (BridgingEnd& each : link.report.ends) each.repeated = 0;
        end.since = observation.frame;
        end.since_time = observation.time;
        end.same = 1;
        if (!stops) end.announced = said.content;
    }
    await(link, observation.time);
}

// CNPs and management datagrams need no lossless class.
void BridgingTracker::take_packet(Link& link, const Observation& observation) {
    if (observation.kind != ObservationKind::transport || !observation.plain_link || observation.management) return;
    if (info(observation.opcode).verb == Verb::notify || observation.dscp >= kCodePoints) return;
    if (observation.link_destination == 0 || observation.link_destination != link.station) return;
    const std::size_t pcp = observation.pcp < kLinkPriorities ? observation.pcp : kLinkPriorities;
    Cell& cell = link.cells[pcp * kCodePoints + observation.dscp];
    if (cell.packets++ != 0) return;
    cell.first = observation.frame;
    cell.first_time = observation.time;
}

// Of all packets since what the ends announce changed: for which of them no possible priority has PFC.
void BridgingTracker::judge_packets(Link& link) {
    for (std::size_t place = 0; place < link.cells.size(); ++place) {
        Cell& cell = link.cells[place];
        if (cell.packets == 0) continue;
        const std::size_t pcp = place / kCodePoints, dscp = place % kCodePoints;
        for (BridgingEnd& end : link.report.ends) {
            if (!holds(end, end.last_time) || !has_lossless(end) || end_of(end) < link.expiry) continue;
            const bool tagged = pcp != kLinkPriorities;
            const auto tag = tagged ? std::optional(static_cast<unsigned>(pcp)) : std::nullopt;
            const PriorityBits possible = possible_priorities(end.announced, tag, static_cast<unsigned>(dscp));
            if (possible == 0 || (possible & *end.announced.pfc) != 0) continue;
            const auto priority = tagged ? pcp : static_cast<std::size_t>(std::countr_zero(end.announced.dscp[dscp]));
            add_outside(end, {static_cast<std::uint8_t>(priority), static_cast<std::uint8_t>(dscp), tagged,
                              cell.packets, cell.first, cell.first_time});
        }
        cell = {};
    }
}

// Packets are counted as long as what an end announced holds that has a lossless class.
void BridgingTracker::await(Link& link, Instant now) {
    const BridgingEnd* const station = station_of(link.report);
    link.station = station == nullptr ? 0 : station->sender.bits[1];
    std::optional<Instant> next;
    for (const BridgingEnd& end : link.report.ends)
        if (holds(end, now) && has_lossless(end)) next = std::min(next.value_or(end_of(end)), end_of(end));
    if (!next) {
        link.cells.clear();
        return;
    }
    link.cells.resize(kCodePoints * (kLinkPriorities + 1));
    link.expiry = *next;
}

BridgingReport BridgingTracker::finish() {
    BridgingReport report;
    for (Link& link : links_) {
        judge_packets(link);
        report.links.push_back(std::move(link.report));
    }
    report.left_out = left_out_;
    return report;
}

}  // namespace qps::transport
