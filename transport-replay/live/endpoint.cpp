#include <dissect/headers/infiniband.hpp>
#include <transport-replay/live/endpoint.hpp>
#include <transport-replay/live/field_place.hpp>
#include <transport-replay/live/frame_writer.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::size_t kBatchesAtOnce =
    4;  // frames taken before anything is sent: acknowledgments do not wait for a flood
constexpr std::size_t kSendsAtOnce = 64;   // packets sent before arrivals have their turn again
constexpr std::uint8_t kHostPriority = 0;  // of what the host says itself: ARP, neighbour discovery, groups, pings

// A packet whose way is not known yet, with everything it borrowed.
struct Waiting {
    TransportPacket packet;
    std::vector<std::byte> payload;
    Route route;
    verbs::AddressHandle to;
};

// Those that are still being probed too: connections are made once they are ready.
std::vector<Address> addresses_of(const Host& host, bool roce_v1) {
    std::vector<Address> addresses;
    for (const bool link_local : {false, true})  // that made of the MAC address is the last choice as a source
        for (const OwnAddress& own : host.addresses())
            if (is_link_local(own.address) == link_local)
                addresses.push_back(roce_v1 ? in_space(own.address, AddressSpace::roce_v1) : own.address);
    return addresses;
}

CaGuid guid_of(Mac mac) {
    return CaGuid{link_local_of(mac).bits[1]};
}  // the EUI-64 that is its interface identifier too

verbs::AdapterSettings adapter_settings(const EndpointSettings& settings, const Host& host) {
    verbs::AdapterSettings adapter = settings.adapter;
    adapter.addresses = addresses_of(host, settings.roce_v1);
    adapter.mtu = std::min(adapter.mtu, host.path_mtu().value_or(PathMtu::bytes_256));
    adapter.tagged = settings.host.vlan.has_value();
    return adapter;
}

}  // namespace

struct Endpoint::State {
    State(Device opened, const EndpointSettings& settings, Instant now)
        : device(std::move(opened)),
          pauses(settings.link_speed == BitsPerSecond{} ? device.limits().link_speed : settings.link_speed),
          obeys(settings.obey_pauses),
          host(settings.host, now),
          adapter(adapter_settings(settings, host)),
          manager({.seed = settings.seed, .guid = guid_of(host.mac()), .mtu = adapter.settings().mtu}),
          connections(adapter, manager,
                      {.addresses = adapter.settings().addresses,
                       .mtu = adapter.settings().mtu,
                       .dscp = settings.dscp,
                       .sl = settings.priority,
                       .seed = settings.seed}) {}

    void receive(Instant now);
    void take(const ReceivedFrame& frame, Instant now);
    void manage(Instant now);
    void follow_groups(Instant now);
    void send(Instant now);
    void send_waiting(Instant now);
    [[nodiscard]] bool send_next(Instant now, MutableBytes room);
    void keep(const verbs::OutgoingPacket& departure, const Route& route);
    void write(const TransportPacket& packet, const Route& route, MutableBytes room, Instant now);
    [[nodiscard]] bool keep_claimed(const Packet& packet, const ReceivedFrame& frame);
    void send_raw(Instant now);
    void heed_pauses(Instant now);
    [[nodiscard]] bool may_send(std::optional<std::uint8_t> priority) const {
        return !priority || (stopped >> *priority & 1) == 0;
    }

    Device device;
    LinkPauses pauses;
    bool obeys;
    std::uint8_t stopped = 0;  // bit n: priority n, when we last sent
    Host host;
    verbs::Adapter adapter;
    ConnectionManager manager;
    Connections connections;
    EndpointCounts counts;
    std::deque<Waiting> waiting;
    std::vector<Address> joined;
    std::vector<Qpn> claims;
    std::vector<ClaimedFrame> claimed;
    std::deque<std::vector<std::byte>> raw;
    std::size_t raw_stopped = 0;  // of the raw ones, when we last sent: by a pause
    bool full = false;            // the device had no room when we last sent
};

void Endpoint::State::receive(Instant now) {
    for (std::size_t batch = 0; batch < kBatchesAtOnce; ++batch) {
        const auto frames = device.receive(now);
        for (const ReceivedFrame& frame : frames) take(frame, now);
        if (frames.size() < kDeviceBatch) return;
    }
}

// Stops and lets go what PAUSE and PFC frames say.
void Endpoint::State::heed_pauses(Instant now) {
    if (!pauses.running() && stopped == 0) return;
    stopped = pauses.stopped(now);
    adapter.hold(stopped);
}

void Endpoint::State::take(const ReceivedFrame& frame, Instant now) {
    if (obeys && is_mac_control(frame.bytes)) return pauses.take(frame.bytes, std::to_underlying(host.mac()), now);
    const HostArrival arrived = host.process(frame.bytes, now);
    if (arrived.disposition != FrameDisposition::roce) return;
    const Packet& packet = *arrived.packet;
    if (!claims.empty() && keep_claimed(packet, frame)) return;
    const auto readable = from_packet(packet);
    if (!readable) {
        ++(packet.icrc.status == CrcStatus::bad ? counts.wrong_icrc : counts.malformed);
        return;
    }
    ++counts.packets_received;
    constexpr live::FieldBits kVersion = place(kBthFields, "infiniband.bth.tver");
    const Bytes bth = packet.bytes_of(packet.layers()[packet.bth_layer]);
    adapter.process({.packet = *readable,
                     .source = arrived.source,
                     .destination = arrived.destination,
                     .source_mac = std::to_underlying(arrived.source_mac),
                     .ecn = arrived.ecn,
                     .hops = arrived.hops,
                     .transport_version = static_cast<std::uint8_t>(read_bits(bth, kVersion.bit, kVersion.width))},
                    now);
}

bool Endpoint::State::keep_claimed(const Packet& packet, const ReceivedFrame& frame) {
    if (!packet.has_transport() || std::ranges::find(claims, packet.dest_qp) == claims.end()) return false;
    ++counts.claimed;
    if (claimed.size() < kMaxClaimed) claimed.push_back({{frame.bytes.begin(), frame.bytes.end()}, frame.time});
    else ++counts.claimed_lost;
    return true;
}

void Endpoint::State::manage(Instant now) {
    for (const ManagementDatagram& datagram : adapter.take_datagrams()) manager.process(datagram, now);
    connections.poll(now);
    while (const auto datagram = manager.poll(now))
        if (!adapter.send_datagram(*datagram)) ++counts.unroutable;
    connections.poll(now);  // what timers had to tell: nobody may call again for long
    follow_groups(now);
}

// Switches that snoop forward a group only to who asked for it.
void Endpoint::State::follow_groups(Instant now) {
    std::vector<Address> groups = adapter.groups();
    if (groups == joined) return;
    const auto among = [](const std::vector<Address>& all, const Address& group) {
        return std::ranges::find(all, group) != all.end();
    };
    for (const Address& group : groups)
        if (!among(joined, group)) static_cast<void>(host.join(group, now));
    for (const Address& group : joined)
        if (!among(groups, group)) host.leave(group, now);
    joined = std::move(groups);
}

void Endpoint::State::write(const TransportPacket& packet, const Route& route, MutableBytes room, Instant now) {
    const std::size_t length = write_frame(packet, route, room);
    if (length == 0) {
        ++counts.unroutable;  // longer than the interface carries
        return;
    }
    device.commit(length, now);
    ++counts.packets_sent;
}

void Endpoint::State::keep(const verbs::OutgoingPacket& departure, const Route& route) {
    if (waiting.size() >= kMaxWaiting) {
        ++counts.unroutable;
        return;
    }
    Waiting& kept = waiting.emplace_back(Waiting{
        departure.packet, {departure.packet.payload.begin(), departure.packet.payload.end()}, route, departure.to});
    kept.packet.payload = {};
}

// One packet of the adapter; false where it has none.
bool Endpoint::State::send_next(Instant now, MutableBytes room) {
    const auto departure = adapter.poll(now);
    if (!departure) return false;
    Route route = verbs::route_of(*departure);
    switch (host.complete(route, departure->to.sl, now)) {
        case Reach::ready: write(departure->packet, route, room, now); break;
        case Reach::resolving: keep(*departure, route); break;
        case Reach::no_source:
            if (!host.settled()) keep(*departure, route);  // an address that is still being probed
            else ++counts.unroutable;
            break;
        default: ++counts.unroutable;
    }
    return true;
}

void Endpoint::State::send_waiting(Instant now) {
    for (std::size_t left = waiting.size(); left > 0; --left) {
        Waiting& first = waiting.front();
        const Reach reach = host.complete(first.route, first.to.sl, now);
        const bool stops = reach == Reach::ready && !may_send(verbs::priority_of(first.to, adapter.settings().tagged));
        if (stops || reach == Reach::resolving || (reach == Reach::no_source && !host.settled())) {
            waiting.push_back(std::move(first));
        } else if (reach == Reach::ready) {
            const MutableBytes room = device.reserve(now);
            if (room.empty()) return;
            first.packet.payload = first.payload;
            write(first.packet, first.route, room, now);
        } else {
            ++counts.unroutable;
        }
        waiting.pop_front();
    }
}

void Endpoint::State::send_raw(Instant now) {
    raw_stopped = 0;
    for (auto frame = raw.begin(); frame != raw.end();) {
        if (stopped != 0 && !may_send(priority_of(*frame))) {
            ++raw_stopped;
            ++frame;
            continue;
        }
        const MutableBytes room = device.reserve(now);
        if (room.size() < frame->size()) {
            ++counts.send_later;
            full = true;
            return;
        }
        std::ranges::copy(*frame, room.begin());
        device.commit(frame->size(), now);
        ++counts.raw_sent;
        frame = raw.erase(frame);
    }
}

void Endpoint::State::send(Instant now) {
    heed_pauses(now);
    full = false;
    for (MutableBytes room = device.reserve(now); !room.empty() && may_send(kHostPriority);
         room = device.reserve(now)) {
        const std::size_t length = host.poll(now, room);
        if (length == 0) break;
        device.commit(length, now);
    }
    if (!waiting.empty()) send_waiting(now);
    send_raw(now);
    for (std::size_t sent = 0; sent < kSendsAtOnce; ++sent) {
        const MutableBytes room = device.reserve(now);
        if (room.empty()) {
            ++counts.send_later;
            full = true;
            break;
        }
        if (!send_next(now, room)) break;
    }
    device.flush(now);
}

Endpoint::Endpoint(Device device, const EndpointSettings& settings, Instant now)
    : state_(std::make_unique<State>(std::move(device), settings, now)) {}
Endpoint::Endpoint(Endpoint&&) noexcept = default;
Endpoint& Endpoint::operator=(Endpoint&&) noexcept = default;
Endpoint::~Endpoint() = default;

void Endpoint::arrive(Instant now) {
    state_->receive(now);
    state_->manage(now);
}

void Endpoint::depart(Instant now) { state_->send(now); }

void Endpoint::poll(Instant now) {
    arrive(now);
    depart(now);
}

std::optional<Instant> Endpoint::poll_at() const {
    std::optional<Instant> first;
    // What is ready cannot go before the device has room, where it knows when that will be.
    if (state_->full && state_->device.poll_at()) return state_->device.poll_at();
    if (state_->raw.size() > state_->raw_stopped) return kAtOnce;
    const auto host = state_->may_send(kHostPriority) ? state_->host.poll_at() : std::nullopt;
    const auto pause = state_->pauses.running() ? state_->pauses.ends_at() : std::nullopt;
    for (const auto& time :
         {state_->device.poll_at(), host, state_->adapter.poll_at(), state_->manager.poll_at(), pause})
        if (time && (!first || *time < *first)) first = time;
    return first;
}

verbs::Adapter& Endpoint::adapter() { return state_->adapter; }
Connections& Endpoint::connections() { return state_->connections; }
ConnectionManager& Endpoint::manager() { return state_->manager; }
Host& Endpoint::host() { return state_->host; }
Device& Endpoint::device() { return state_->device; }
const EndpointCounts& Endpoint::counts() const { return state_->counts; }
const LinkPauses& Endpoint::pauses() const { return state_->pauses; }
std::size_t Endpoint::waiting() const { return state_->waiting.size(); }

bool Endpoint::claim(Qpn qp) {
    if (std::ranges::find(state_->claims, qp) != state_->claims.end()) return true;
    if (state_->claims.size() >= kMaxClaims) return false;
    state_->claims.push_back(qp);
    return true;
}
void Endpoint::release(Qpn qp) { std::erase(state_->claims, qp); }
std::vector<ClaimedFrame> Endpoint::take_claimed() { return std::exchange(state_->claimed, {}); }
bool Endpoint::send_raw(Bytes frame) {
    if (state_->raw.size() >= kMaxRaw || frame.size() > state_->device.limits().frame_bytes) return false;
    state_->raw.emplace_back(frame.begin(), frame.end());
    return true;
}
std::size_t Endpoint::raw_waiting() const { return state_->raw.size(); }

}  // namespace qps::transport::live
