#include <transport-replay/evidence/internet_checksum.hpp>
#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/host/host.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr unsigned kPriorityShift = 13;  // of the priority in the tag control information

// The GRH has the places of IPv6, so one reads both.
static_assert(place(kGrhFields, "infiniband.grh.sgid").bit == place(kIpv6Fields, "ipv6.src").bit &&
              kGrhLength == kIpv6Length &&
              place(kGrhFields, "infiniband.grh.dgid").bit == place(kIpv6Fields, "ipv6.dst").bit &&
              place(kGrhFields, "infiniband.grh.hoplmt").bit == place(kIpv6Fields, "ipv6.hlim").bit &&
              place(kGrhFields, "infiniband.grh.tclass").bit == place(kIpv6Fields, "ipv6.tclass").bit);

Claiming claiming_of(const HostSettings& settings) {
    if (settings.owner != AddressOwner::us) return Claiming::none;
    return settings.detect_duplicates ? Claiming::probed : Claiming::announced;
}

void earliest(std::optional<Instant>& at, std::optional<Instant> other) {
    if (other && (!at || *other < *at)) at = other;
}

}  // namespace

Host::Host(const HostSettings& settings, Instant now) : settings_(settings), memberships_(settings.mac) {
    const Claiming claiming = claiming_of(settings);
    if (settings.link_local && settings.owner == AddressOwner::us) {
        constexpr std::uint8_t kLinkLocalPrefix = 64;
        own_.add(link_local_of(settings.mac), kLinkLocalPrefix, claiming, now);
    }
    for (const AddressSetting& address : settings.addresses)
        if (settings.owner == AddressOwner::device || !is_loopback(address.address))
            own_.add(address.address, address.prefix, claiming, now);
    if (settings.owner == AddressOwner::device) return;
    memberships_.join(kAllHosts4, now);  // where queries come
    memberships_.join(kAllNodes, now);
    if (settings.owner != AddressOwner::us) return;
    for (const OwnAddress& own : own_.all())
        if (family_of(own.address) == Family::ipv6) memberships_.join(solicited_node(own.address), now);
}

std::optional<std::uint16_t> Host::tag(std::uint8_t priority) const {
    if (!settings_.vlan) return std::nullopt;
    return static_cast<std::uint16_t>((priority & 7U) << kPriorityShift | (*settings_.vlan & 0xfffU));
}

bool Host::settled() const {
    return std::ranges::none_of(own_.all(), [](const OwnAddress& own) { return own.state == AddressState::tentative; });
}

std::vector<Gid> Host::gids() const {
    const Address first = link_local_of(settings_.mac);
    std::vector<Gid> gids{{in_space(first, AddressSpace::roce_v1), Network::roce_v1}};
    for (const OwnAddress& own : own_.all()) {
        if (own.state != AddressState::ready) continue;
        if (own.address != first) gids.push_back({in_space(own.address, AddressSpace::roce_v1), Network::roce_v1});
        gids.push_back(
            {own.address, family_of(own.address) == Family::ipv4 ? Network::roce_v2_ipv4 : Network::roce_v2_ipv6});
    }
    return gids;
}

// --- what arrives

HostArrival Host::process(Bytes frame, Instant now) {
    HostArrival arrived;
    if (frame.size() >= kEthernetLength) {
        const auto ethernet = frame.first<kEthernetLength>();
        frame_destination_ = Mac{get<place(kEthernetFields, "eth.dst")>(ethernet)};
        frame_source_ = Mac{get<place(kEthernetFields, "eth.src")>(ethernet)};
        const bool ours = frame_destination_ == settings_.mac ||
                          (is_group(frame_destination_) &&
                           (frame_destination_ == kBroadcastMac || memberships_.listens_to(frame_destination_)));
        if (ours) {
            Frame whole;
            whole.bytes = frame;
            whole.wire_length = static_cast<std::uint32_t>(frame.size());
            whole.time = now;
            decode(whole, packet_);
            arrived = classify(now);
        } else {
            arrived.disposition = FrameDisposition::not_to_our_mac;
        }
    }
    ++counts_.frames[std::to_underlying(arrived.disposition)];
    return arrived;
}

HostArrival Host::classify(Instant now) {
    const Layer* layer = first_behind_link(packet_);
    if (layer == nullptr || !is_individual(frame_source_)) return {FrameDisposition::unreadable};
    std::uint64_t vlan = 0;  // untagged, or tagged with a priority alone
    if (const Layer* before = layer - 1; before->kind == LayerKind::vlan)
        vlan = get<place(kVlanFields, "vlan.id")>(std::span<const std::byte, kVlanLength>(packet_.bytes_of(*before)));
    if (vlan != settings_.vlan.value_or(0)) return {FrameDisposition::other_vlan};
    switch (layer->kind) {
        case LayerKind::arp: {
            const auto message = read_arp(packet_);
            return {message ? take_arp(*message, now) : FrameDisposition::unreadable};
        }
        case LayerKind::grh: return take_roce();
        case LayerKind::ipv4:
        case LayerKind::ipv6: return packet_.has_transport() ? take_roce() : take_datagram(now);
        default: return {FrameDisposition::not_understood};
    }
}

// Whether packets to that address are for us: an address of ours, or a group that we joined, in a frame that fits.
bool Host::to_us(const Address& destination, bool roce_v1) const {
    if (is_multicast_group(destination))
        return memberships_.joined(destination) && frame_destination_ == group_mac(destination);
    if (frame_destination_ != settings_.mac) return false;  // addressed to one, sent to all
    return own_.ours(destination) ||
           (roce_v1 && destination == in_space(link_local_of(settings_.mac), AddressSpace::roce_v2));
}

HostArrival Host::take_roce() {
    const Layer* network = first_behind_link(packet_);
    const std::span<const Layer> layers = packet_.layers();
    const auto at = static_cast<std::size_t>(network - layers.data());
    const bool roce_v1 = network->kind == LayerKind::grh;
    // Nothing but UDP may lie between: the specification knows no tunnel and no options (A17).
    if (!packet_.has_transport() || packet_.network_layer != at) return {FrameDisposition::unreadable};
    const bool direct = std::ranges::all_of(layers.subspan(at + 1, packet_.bth_layer - at - 1), [](const Layer& layer) {
        return layer.fault == Fault::none && (layer.kind == LayerKind::udp || layer.kind == LayerKind::rdma);
    });
    if (!direct || network->fault != Fault::none) return {FrameDisposition::unreadable};
    const Bytes bytes = packet_.bytes_of(*network);
    HostArrival arrived{.disposition = FrameDisposition::roce, .packet = &packet_, .source_mac = frame_source_};
    std::uint64_t traffic_class = 0;
    if (network->kind == LayerKind::ipv4) {
        if (bytes.size() != kIpv4Length || checksum_of(word_sum(bytes)) != 0) return {FrameDisposition::unreadable};
        const auto ip = bytes.first<kIpv4Length>();
        arrived.source = ipv4_address(static_cast<std::uint32_t>(get<place(kIpv4Fields, "ip.src")>(ip)));
        arrived.destination = ipv4_address(static_cast<std::uint32_t>(get<place(kIpv4Fields, "ip.dst")>(ip)));
        arrived.hops = static_cast<std::uint8_t>(get<place(kIpv4Fields, "ip.ttl")>(ip));
        traffic_class = get<place(kIpv4Fields, "ip.dsfield")>(ip);
    } else {
        if (bytes.size() != kIpv6Length) return {FrameDisposition::unreadable};
        const auto ip = bytes.first<kIpv6Length>();
        arrived.source = {get_wide<place(kIpv6Fields, "ipv6.src")>(ip), AddressSpace::roce_v2};
        arrived.destination = {get_wide<place(kIpv6Fields, "ipv6.dst")>(ip), AddressSpace::roce_v2};
        arrived.hops = static_cast<std::uint8_t>(get<place(kIpv6Fields, "ipv6.hlim")>(ip));
        traffic_class = get<place(kIpv6Fields, "ipv6.tclass")>(ip);
        const bool mapped = family_of(arrived.source) == Family::ipv4 || family_of(arrived.destination) == Family::ipv4;
        if (mapped && !roce_v1) return {FrameDisposition::unreadable};
    }
    if (!to_us(arrived.destination, roce_v1)) return {FrameDisposition::not_to_our_address};
    if (is_multicast_group(arrived.source)) return {FrameDisposition::unreadable};
    if (!roce_v1) arrived.ecn = static_cast<Ecn>(traffic_class & 3U);
    if (roce_v1) arrived.source.space = arrived.destination.space = AddressSpace::roce_v1;
    return arrived;
}

HostArrival Host::take_datagram(Instant now) {
    const auto datagram = read_datagram(packet_);
    if (!datagram) return {FrameDisposition::unreadable};
    const Address& to = datagram->ends.destination;
    if (const auto query = read_query(*datagram)) {
        if (!to_us(to, false)) return {FrameDisposition::not_to_our_address};
        memberships_.queried(*query, now);
        return {FrameDisposition::consumed};
    }
    if (const auto message = read_neighbour(*datagram)) {
        // A solicitation comes to the group of addresses that end alike, of which ours need be none.
        return {take_neighbour(*datagram, *message, now)};
    }
    if (!to_us(to, false)) return {FrameDisposition::not_to_our_address};
    if (is_unreachable(*datagram)) {
        ++counts_.unreachable;
        return {FrameDisposition::consumed};
    }
    return {is_echo_request(*datagram) ? take_echo(*datagram) : FrameDisposition::not_understood};
}

// Whether that MAC address may be what belongs to that address of our link.
bool Host::believable(const Address& address, Mac mac) const {
    if (!is_individual(mac) || mac == settings_.mac || own_.find(address) != nullptr) return false;
    if (is_unspecified(address) || is_multicast_group(address) || is_loopback(address)) return false;
    const bool gateway =
        address == settings_.gateway_ipv4 || address == settings_.gateway_ipv6;  // of a /32 it is on no link
    return (gateway || own_.on_link(address)) && std::ranges::none_of(own_.all(), [&](const OwnAddress& own) {
               return is_broadcast(address, own.address, own.prefix);
           });
}

FrameDisposition Host::take_arp(const ArpMessage& message, Instant now) {
    if (settings_.owner == AddressOwner::device || message.sender_mac == settings_.mac)
        return FrameDisposition::consumed;
    const bool probe = is_unspecified(message.sender);
    const bool to_ours = own_.ours(message.target);
    if (settings_.owner == AddressOwner::us) {
        // A host that claims an address of ours, or asks for one that we ask for ourselves.
        const bool both_ask = probe && !to_ours;
        if (own_.claimed(both_ask ? message.target : message.sender, now)) {
            ++counts_.conflicts;
            return FrameDisposition::consumed;
        }
    }
    if (!probe && believable(message.sender, message.sender_mac)) {
        const bool to_us_alone = frame_destination_ == settings_.mac;
        if (message.operation == ArpOperation::reply && to_us_alone)
            neighbours_.answered(message.sender, message.sender_mac, now);
        else if (to_ours) neighbours_.asked_us(message.sender, message.sender_mac, now);
        else neighbours_.announced(message.sender, message.sender_mac, now);
    }
    if (message.operation != ArpOperation::request || !to_ours)
        return to_ours || !probe ? FrameDisposition::consumed : FrameDisposition::not_to_our_address;
    if (settings_.owner != AddressOwner::us || !is_individual(message.sender_mac)) return FrameDisposition::consumed;
    ++counts_.answered;
    queue(arp_frame(link_to(message.sender_mac),
                    {ArpOperation::reply, settings_.mac, message.target, message.sender_mac, message.sender}));
    return FrameDisposition::consumed;
}

FrameDisposition Host::take_neighbour(const IpDatagram& datagram, const NeighbourMessage& message, Instant now) {
    if (settings_.owner == AddressOwner::device) return FrameDisposition::consumed;
    const bool us = settings_.owner == AddressOwner::us;
    const Address& asker = datagram.ends.source;
    const bool target_ours = own_.ours(message.target);
    if (message.type == Icmpv6Type::neighbour_advertisement) {
        if (us && message.mac != settings_.mac && own_.claimed(message.target, now)) {
            ++counts_.conflicts;
            return FrameDisposition::consumed;
        }
        const Mac mac = message.mac.value_or(frame_source_);
        if (!believable(message.target, mac)) return FrameDisposition::consumed;
        if (message.solicited && frame_destination_ == settings_.mac) neighbours_.answered(message.target, mac, now);
        else neighbours_.announced(message.target, mac, now);
        return FrameDisposition::consumed;
    }
    const bool probe = is_unspecified(asker);
    if (us && probe && !target_ours && frame_source_ != settings_.mac && own_.claimed(message.target, now)) {
        ++counts_.conflicts;
        return FrameDisposition::consumed;
    }
    if (!target_ours) return FrameDisposition::not_to_our_address;
    if (!probe && message.mac && believable(asker, *message.mac)) neighbours_.asked_us(asker, *message.mac, now);
    if (!us) return FrameDisposition::consumed;
    ++counts_.answered;
    const Address to = probe ? kAllNodes : asker;
    queue(neighbour_frame(link_to(probe ? group_mac(kAllNodes) : message.mac.value_or(frame_source_)),
                          {message.target, to},
                          {Icmpv6Type::neighbour_advertisement, !probe, true, message.target, settings_.mac}));
    return FrameDisposition::consumed;
}

// Answered the way it came: the router that passed it on passes the answer back.
FrameDisposition Host::take_echo(const IpDatagram& datagram) {
    if (settings_.owner != AddressOwner::us || !own_.ours(datagram.ends.destination)) return FrameDisposition::consumed;
    const Address& asker = datagram.ends.source;
    if (is_unspecified(asker) || is_multicast_group(asker) || is_loopback(asker) || own_.find(asker) != nullptr)
        return FrameDisposition::unreadable;
    ++counts_.echoed;
    queue(echo_reply_frame(link_to(frame_source_), {datagram.ends.destination, asker}, datagram.payload));
    return FrameDisposition::consumed;
}

// --- what leaves

Reach Host::next_hop(Route& route, Instant now) {
    const Address to = in_space(route.destination, AddressSpace::roce_v2);
    if (is_multicast_group(to)) {
        route.destination_mac = std::to_underlying(group_mac(to));
        return Reach::ready;
    }
    // RoCEv1 asks nobody for a GID that was made of a MAC address.
    if (const auto mac = mac_in(to); mac && route.network == Network::roce_v1) {
        route.destination_mac = std::to_underlying(*mac);
        return Reach::ready;
    }
    const std::optional<Address>& gateway =
        family_of(to) == Family::ipv4 ? settings_.gateway_ipv4 : settings_.gateway_ipv6;
    const bool near = own_.on_link(to);
    if (!near && (!gateway || route.network == Network::roce_v1)) return Reach::no_gateway;  // RoCEv1 is not routed
    const Neighbour hop = neighbours_.find(near ? to : in_space(*gateway, AddressSpace::roce_v2), now);
    if (hop.resolution == Resolution::resolving) return Reach::resolving;
    if (hop.resolution == Resolution::unreachable) return Reach::unreachable;
    route.destination_mac = std::to_underlying(hop.mac);
    return Reach::ready;
}

Reach Host::complete(Route& route, std::uint8_t priority, Instant now) {
    if (route.network == Network::native_local || route.network == Network::native_global) return Reach::no_such;
    const Address to = in_space(route.destination, AddressSpace::roce_v2);
    const bool ipv4 = family_of(to) == Family::ipv4;
    if ((route.network == Network::roce_v2_ipv4 && !ipv4) || (route.network == Network::roce_v2_ipv6 && ipv4))
        return Reach::no_such;
    const bool broadcast = std::ranges::any_of(
        own_.all(), [&](const OwnAddress& own) { return is_broadcast(to, own.address, own.prefix); });
    const bool device = settings_.owner == AddressOwner::device;
    if (is_unspecified(to) || broadcast || (is_loopback(to) && !device)) return Reach::no_such;
    const AddressSpace space = route.network == Network::roce_v1 ? AddressSpace::roce_v1 : AddressSpace::roce_v2;
    const Address wanted = in_space(route.source, AddressSpace::roce_v2);
    if (route.source.space == AddressSpace::none || is_unspecified(wanted)) {
        const OwnAddress* own = own_.source_for(to);
        if (own == nullptr) return Reach::no_source;
        route.source = own->address;
    } else if (!own_.ours(wanted) && !(route.network == Network::roce_v1 && wanted == link_local_of(settings_.mac))) {
        return Reach::no_source;
    }
    route.source.space = route.destination.space = space;
    route.source_mac = std::to_underlying(settings_.mac);
    route.destination_mac = std::to_underlying(settings_.mac);
    const Reach reach = device ? Reach::ready : next_hop(route, now);
    if (reach != Reach::ready) return reach;
    route.vlan = tag(priority);
    route.identification = identification_++;
    return Reach::ready;
}

void Host::queue(FrameBytes frame) {
    if (queue_.size() == kMaxQueued) ++counts_.dropped;
    else queue_.push_back(std::move(frame));
}

void Host::announce(const Announcement& announcement) {
    const Address& address = announcement.address;
    if (family_of(address) == Family::ipv4) {
        const Address sender = announcement.probe ? ipv4_address(0) : address;
        return queue(arp_frame(link_to(kBroadcastMac), {ArpOperation::request, settings_.mac, sender, Mac{}, address}));
    }
    if (announcement.probe) {
        const Address group = solicited_node(address);
        return queue(neighbour_frame(link_to(group_mac(group)), {ipv6_address(0, 0), group},
                                     {Icmpv6Type::neighbour_solicitation, false, false, address, std::nullopt}));
    }
    queue(neighbour_frame(link_to(group_mac(kAllNodes)), {address, kAllNodes},
                          {Icmpv6Type::neighbour_advertisement, false, true, address, settings_.mac}));
}

void Host::ask(const Question& question) {
    const OwnAddress* own = own_.source_for(question.target);
    if (own == nullptr) return;
    if (family_of(question.target) == Family::ipv4) {
        return queue(arp_frame(link_to(question.to.value_or(kBroadcastMac)),
                               {ArpOperation::request, settings_.mac, own->address, Mac{}, question.target}));
    }
    const Address group = solicited_node(question.target);
    queue(neighbour_frame(link_to(question.to.value_or(group_mac(group))),
                          {own->address, question.to ? question.target : group},
                          {Icmpv6Type::neighbour_solicitation, false, false, question.target, settings_.mac}));
}

void Host::report(const GroupReport& report) {
    const bool ipv4 = family_of(report.group) == Family::ipv4;
    // MLD speaks from a link-local address, or from none (RFC 3590).
    const OwnAddress* own = own_.source_for(ipv4 ? kAllHosts4 : ipv6_address(0xfe80'0000'0000'0000, 1));
    if (own != nullptr && !ipv4 && !is_link_local(own->address)) own = nullptr;
    queue(report_frame(settings_.mac, tag(0),
                       own != nullptr ? own->address
                       : ipv4         ? ipv4_address(0)
                                      : ipv6_address(0, 0),
                       report));
}

// Everything that is due becomes frames, as far as the queue has room.
void Host::collect(Instant now) {
    const auto room = [&] { return queue_.size() < kMaxQueued; };
    while (room()) {
        if (const auto announcement = own_.due(now)) announce(*announcement);
        else if (const auto question = neighbours_.due(now)) ask(*question);
        else if (const auto due = memberships_.due(now)) report(*due);
        else return;
    }
}

std::size_t Host::poll(Instant now, MutableBytes into) {
    if (settings_.owner == AddressOwner::device || into.empty()) return 0;  // no room now: later
    if (queue_.empty()) collect(now);
    while (!queue_.empty()) {
        const FrameBytes frame = std::move(queue_.front());
        queue_.pop_front();
        if (frame.size() <= into.size()) {
            std::ranges::copy(frame, into.begin());
            return frame.size();
        }
        ++counts_.dropped;
    }
    return 0;
}

std::optional<Instant> Host::poll_at() const {
    if (settings_.owner == AddressOwner::device) return std::nullopt;
    if (!queue_.empty()) return kAtOnce;
    std::optional<Instant> at = own_.due_at();
    earliest(at, neighbours_.due_at());
    earliest(at, memberships_.due_at());
    return at;
}

}  // namespace qps::transport::live
