#include <dissect/headers/infiniband.hpp>
#include <tests/simulator/simulated_flow.hpp>
#include <tests/simulator/simulation.hpp>

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Qkey kQkey{0x1234567};
constexpr std::uint32_t kPsnsApart = 4096, kNumbersApart = 0x10000;
constexpr std::uint16_t kFirstEntropyPort = 0xc000, kEntropyMask = 0x3fff;
constexpr Duration kPostAgain = microseconds(100);  // after a full send queue

struct Host {
    std::deque<std::pair<std::size_t, TransportPacket>> notifications;  // flow throttled, CNP
    std::size_t turn = 0;                                               // queue pair to be served next
    std::uint16_t sent = 0;                                             // counts IPv4 identifications
};

class Simulation {
public:
    explicit Simulation(const Scenario& scenario);
    Simulated run();

private:
    void add_flow(std::uint32_t pair, End from);
    [[nodiscard]] bool step_once();
    void post_due();
    void refill_due();
    void deliver_due();
    void deliver(const Delivery& delivery);
    void notify_congestion(End at, std::size_t pair);
    void send_due(End end);
    void ship(End from, std::size_t flow, const TransportPacket& packet);
    void count(SimulatedFlow& flow, const TransportPacket& packet, const Disposition& disposition);
    [[nodiscard]] std::optional<Instant> next_moment() const;
    [[nodiscard]] bool ready(End end) const;
    void take_completions(SimulatedFlow& flow);

    // Flows of a pair stand together: requests from a, then requests from b.
    [[nodiscard]] SimulatedFlow& requests_of(End end, std::size_t pair) {
        return flows_[2 * pair + static_cast<std::size_t>(end)];
    }
    [[nodiscard]] const SimulatedFlow& requests_of(End end, std::size_t pair) const {
        return flows_[2 * pair + static_cast<std::size_t>(end)];
    }
    [[nodiscard]] Host& host(End end) { return hosts_[static_cast<std::size_t>(end)]; }
    [[nodiscard]] const Host& host(End end) const { return hosts_[static_cast<std::size_t>(end)]; }
    [[nodiscard]] std::size_t pairs() const { return flows_.size() / 2; }

    Scenario scenario_;
    SimLink link_;
    std::vector<SimulatedFlow> flows_;
    std::array<Host, 2> hosts_;
    std::unordered_map<std::uint32_t, std::size_t> pair_of_a_, pair_of_b_;  // by QPN
    Instant now_ = kSimulationStart;
    std::optional<Instant> next_refill_;
};

LinkSettings seeded(const Scenario& scenario) {
    LinkSettings settings = scenario.link;
    settings.seed = scenario.seed;
    return settings;
}

Simulation::Simulation(const Scenario& scenario)
    : scenario_(scenario), link_(seeded(scenario), scenario.tap, kSimulationStart) {
    const std::uint32_t count = std::min(scenario.queue_pairs, kMaxQueuePairs);
    flows_.reserve(std::size_t{count} * 2);
    for (std::uint32_t pair = 0; pair < count; ++pair)
        for (End from : {End::a, End::b}) add_flow(pair, from);
    if (scenario_.receives.refill > 0 && scenario_.receives.every > Duration{})
        next_refill_ = now_ + scenario_.receives.every;
}

void Simulation::add_flow(std::uint32_t pair, End from) {
    const auto number = [&](End end) {
        const std::uint32_t apart = end == End::b && !scenario_.same_numbers ? kNumbersApart : 0;
        return static_cast<Qpn>(static_cast<std::uint32_t>(scenario_.first_qpn) + apart + pair);
    };
    const Psn first = (from == End::a ? scenario_.first_psn_a : scenario_.first_psn_b) + pair * kPsnsApart;
    const Qpn mine = number(from);
    const Qpn theirs = number(other(from));
    RequesterSettings asks{.service = scenario_.service,
                           .peer = theirs,
                           .first = first,
                           .mtu = scenario_.mtu,
                           .window = scenario_.window,
                           .ack_request_every = scenario_.ack_request_every,
                           .initiator_depth = scenario_.initiator_depth,
                           .ack_timeout = scenario_.ack_timeout,
                           .retries = scenario_.retries,
                           .rnr_retries = scenario_.rnr_retries,
                           .end_to_end_credits = scenario_.credits};
    if (scenario_.service == Service::ud) asks.datagram = Datagram{kQkey, mine};
    const ResponderSettings answers{.service = scenario_.service,
                                    .peer = mine,
                                    .expected = first,
                                    .mtu = scenario_.mtu,
                                    .ack_every = scenario_.ack_every,
                                    .resources = scenario_.resources,
                                    .rnr_timer = scenario_.receives.rnr_timer,
                                    .qkey = kQkey,
                                    .credits = scenario_.credits};
    SimulatedFlow flow{.requester = Requester(asks), .responder = Responder(answers)};
    if (scenario_.service == Service::ud) flow.header_room = kNetworkHeaderBytes;
    flow.truth.from = from;
    flow.truth.requester_qp = mine;
    flow.truth.responder_qp = theirs;
    flow.port = static_cast<std::uint16_t>(kFirstEntropyPort |
                                           ((pair * 2 + static_cast<std::uint32_t>(from)) * 31 & kEntropyMask));
    if (scenario_.selective_repeat) flow.selective.emplace();
    flow.posted_receives = scenario_.receives.initial;
    flow.next_post = now_;
    std::uint64_t bytes = 0;
    for (const MessagePlan& message : scenario_.messages) {
        if (message.from != from) continue;
        bytes += message.bytes;
        if (bytes > kMaxPlanBytes / std::max(scenario_.queue_pairs, 1U)) continue;
        flow.plan.push_back(message);
    }
    lay_out(flow);
    (from == End::a ? pair_of_a_ : pair_of_b_)[static_cast<std::uint32_t>(mine)] = pair;
    flows_.push_back(std::move(flow));
}

void Simulation::post_due() {
    for (SimulatedFlow& flow : flows_) {
        while (flow.posted < flow.plan.size() && flow.next_post <= now_) {
            if (flow.requester.state() == RequesterState::error) {
                flow.posted = flow.plan.size();
                break;
            }
            if (!flow.requester.post(work_of(flow, flow.posted))) {
                flow.next_post = now_ + kPostAgain;
                break;
            }
            flow.truth.messages[flow.posted++].posted = now_;
            flow.next_post = now_ + scenario_.between_posts;
        }
    }
}

void Simulation::refill_due() {
    if (!next_refill_ || *next_refill_ > now_) return;
    for (SimulatedFlow& flow : flows_) flow.posted_receives += scenario_.receives.refill;
    next_refill_ = now_ + scenario_.receives.every;
}

void Simulation::deliver_due() {
    while (const auto delivery = link_.receive(now_)) deliver(*delivery);
}

// What a channel adapter does with a frame: a packet it cannot trust is dropped without a word.
void Simulation::deliver(const Delivery& delivery) {
    Frame frame;
    frame.bytes = delivery.bytes;
    frame.wire_length = static_cast<std::uint32_t>(delivery.bytes.size());
    const bool native = scenario_.network == Network::native_local || scenario_.network == Network::native_global;
    frame.link = native ? LinkType::infiniband : LinkType::ethernet;
    Packet decoded;
    decode(frame, decoded);
    const auto packet = from_packet(decoded);
    if (!packet) return;
    const auto& numbers = delivery.to == End::a ? pair_of_a_ : pair_of_b_;
    const auto pair = numbers.find(static_cast<std::uint32_t>(packet->dest_qp));
    if (pair == numbers.end() || packet->opcode == Opcode::cnp) return;
    Observation observation;
    observe(decoded, observation);
    if (observation.congestion_experienced) notify_congestion(delivery.to, pair->second);
    if (info(packet->opcode).request) {
        take_request(requests_of(other(delivery.to), pair->second), *packet);
    } else {
        SimulatedFlow& flow = requests_of(delivery.to, pair->second);
        const bool nak =
            packet->acknowledgment && packet->acknowledgment->type() == 3 && packet->acknowledgment->code() == 0;
        flow.requester.process(flow.selective && nak ? take_selective_nak(*flow.selective, *packet) : *packet, now_);
        take_completions(flow);
    }
}

// A17.9.3: the end that receives marked packets asks the sending queue pair to slow down, at most once in a while.
void Simulation::notify_congestion(End at, std::size_t pair) {
    SimulatedFlow& throttled = requests_of(other(at), pair);
    if (!scenario_.notifies_congestion) return;
    if (throttled.last_cnp && *throttled.last_cnp + scenario_.cnp_gap > now_) return;
    throttled.last_cnp = now_;
    TransportPacket packet;
    packet.opcode = Opcode::cnp;
    packet.dest_qp = throttled.truth.requester_qp;
    host(at).notifications.emplace_back(2 * pair + static_cast<std::size_t>(other(at)), packet);
}

void Simulation::take_completions(SimulatedFlow& flow) {
    for (const Completion& completion : flow.requester.take_completions()) {
        MessageTruth& message = flow.truth.messages[completion.id];
        message.first = completion.first;
        message.last = completion.last;
        message.completed = now_;
        message.status = completion.status;
        flow.completions.push_back(completion);
    }
}

bool Simulation::ready(End end) const {
    if (!host(end).notifications.empty()) return true;
    for (std::size_t pair = 0; pair < pairs(); ++pair) {
        if (requests_of(other(end), pair).responder.pending()) return true;
        if (const auto& selective = requests_of(end, pair).selective; selective && !selective->asked.empty())
            return true;
        const auto due = requests_of(end, pair).requester.poll_at();
        if (due && *due <= now_) return true;
    }
    return false;
}

// One frame, where the line is free: notifications first, then each queue pair in turn, responses before requests.
void Simulation::send_due(End end) {
    if (link_.free_at(end) > now_) return;
    Host& sender = host(end);
    if (!sender.notifications.empty()) {
        const auto [flow, packet] = sender.notifications.front();
        sender.notifications.pop_front();
        return ship(end, flow, packet);
    }
    for (std::size_t tried = 0; tried < pairs(); ++tried) {
        const std::size_t pair = sender.turn;
        sender.turn = (sender.turn + 1) % pairs();
        SimulatedFlow& answered = requests_of(other(end), pair);
        if (const auto response = answered.responder.poll(answered.memory))
            return ship(end, 2 * pair + static_cast<std::size_t>(other(end)), *response);
        SimulatedFlow& asking = requests_of(end, pair);
        if (asking.selective && !asking.selective->asked.empty()) {
            const TransportPacket again = asking.selective->asked.front();
            asking.selective->asked.pop_front();
            return ship(end, 2 * pair + static_cast<std::size_t>(end), again);
        }
        const auto request = asking.requester.poll(now_);
        take_completions(asking);
        if (request && asking.selective) asking.selective->sent[request->psn.value()] = *request;
        if (request) return ship(end, 2 * pair + static_cast<std::size_t>(end), *request);
    }
}

// Where the BTH begins, and with it what corruption can reach: everything before has fields that the ICRC masks.
std::size_t bth_offset(Network network) {
    switch (network) {
        case Network::roce_v2_ipv4: return 14 + 20 + 8;
        case Network::roce_v2_ipv6: return 14 + 40 + 8;
        case Network::roce_v1: return 14 + 40;
        case Network::native_local: return 8;
        case Network::native_global: return 8 + 40;
    }
    return 0;
}

void Simulation::ship(End from, std::size_t flow_index, const TransportPacket& packet) {
    SimulatedFlow& flow = flows_[flow_index];
    const bool cnp = packet.opcode == Opcode::cnp;
    Route route;
    route.network = scenario_.network;
    route.source = address_of(from, scenario_.network);
    route.destination = address_of(other(from), scenario_.network);
    if (from == End::b) std::swap(route.source_mac, route.destination_mac);
    route.udp_source_port = static_cast<std::uint16_t>(flow.port + (from == flow.truth.from ? 0 : 1));
    route.identification = scenario_.counts_identifications ? host(from).sent++ : std::uint16_t{0};
    if (cnp) route.ecn = Ecn::not_capable;
    constexpr std::size_t kMaskedBytes = 5;  // of the BTH: byte 4 is masked, before it nothing is worth it
    constexpr std::size_t kShortestTransport = 16,
                          kMinimum = 60;  // BTH and ICRC; a frame that may hold Ethernet padding
    Shipment shipment{.bytes = to_frame(packet, route), .psn = packet.psn, .destination_qp = packet.dest_qp};
    const std::size_t bth = bth_offset(scenario_.network);
    shipment.response = cnp || !info(packet.opcode).request;
    shipment.covered_from = bth + kMaskedBytes;
    shipment.covered_to = shipment.bytes.size() > kMinimum + 2 ? shipment.bytes.size() : bth + kShortestTransport;
    count(flow, packet, link_.send(from, shipment, now_));
}

// One packet more of its kind.
void add(PacketCounts& counts, const TransportPacket& packet, bool again, bool marked) {
    const OpcodeRow& row = info(packet.opcode);
    if (marked) ++counts.marked;
    if (packet.opcode == Opcode::cnp) {
        ++counts.cnps;
    } else if (row.request) {
        ++counts.requests;
        counts.request_bytes += packet.payload.size();
        if (again) ++counts.retransmitted;
    } else if (row.verb == Verb::read_response) {
        ++counts.read_responses;
    } else if (row.verb == Verb::atomic_acknowledge) {
        ++counts.atomic_acknowledges;
    } else if (packet.acknowledgment) {
        const auto type = static_cast<SyndromeType>(packet.acknowledgment->type());
        const bool sequence = packet.acknowledgment->code() == 0;
        ++(type == SyndromeType::ack       ? counts.acknowledges
           : type == SyndromeType::rnr_nak ? counts.rnr_naks
           : sequence                      ? counts.sequence_naks
                                           : counts.fatal_naks);
    }
}

void Simulation::count(SimulatedFlow& flow, const TransportPacket& packet, const Disposition& disposition) {
    const bool request = packet.opcode != Opcode::cnp && info(packet.opcode).request;
    Transmission transmission{.time = now_, .psn = packet.psn, .opcode = packet.opcode, .disposition = disposition};
    if (request) transmission.attempt = ++flow.attempts[packet.psn.value()];
    if (packet.acknowledgment) transmission.syndrome = packet.acknowledgment->syndrome;
    add(flow.truth.sent, packet, transmission.attempt > 1, disposition.marked);
    if (disposition.recorded > 0) add(flow.truth.seen, packet, transmission.attempt > 1, disposition.marked);
    (request ? flow.truth.requests : flow.truth.responses).push_back(transmission);
}

std::optional<Instant> Simulation::next_moment() const {
    std::optional<Instant> next = link_.next_arrival();
    const auto consider = [&](std::optional<Instant> time) {
        if (time && (!next || *time < *next)) next = time;
    };
    bool open = false;
    for (const SimulatedFlow& flow : flows_) {
        open = open || flow.open();
        if (flow.posted < flow.plan.size()) consider(flow.next_post);
        if (const auto due = flow.requester.poll_at()) consider(std::max(*due, link_.free_at(flow.truth.from)));
    }
    for (End end : {End::a, End::b})
        if (ready(end)) consider(std::max(now_, link_.free_at(end)));
    if (open) consider(next_refill_);
    return next;
}

bool Simulation::step_once() {
    const auto next = next_moment();
    if (!next) return false;
    now_ = std::max(now_, *next);
    deliver_due();
    refill_due();
    post_due();
    for (End end : {End::a, End::b}) send_due(end);
    return true;
}

Simulated Simulation::run() {
    post_due();
    const Instant end = kSimulationStart + scenario_.limit;
    std::uint64_t steps = 0;
    bool ended = false;
    while (now_ < end && ++steps < kMaxSteps && !ended) ended = !step_once();
    Simulated result;
    const bool native = scenario_.network == Network::native_local || scenario_.network == Network::native_global;
    result.link = native ? LinkType::infiniband : LinkType::ethernet;
    result.truth.tap = link_.tap_counts();
    result.truth.complete = ended && !link_.overflowed();
    result.frames = link_.take_recording();
    for (SimulatedFlow& flow : flows_) {
        judge(flow);
        flow.truth.requester = flow.requester.counts();
        result.truth.flows.push_back(std::move(flow.truth));
    }
    return result;
}

}  // namespace

Simulated simulate(const Scenario& scenario) { return Simulation(scenario).run(); }

Address address_of(End end, Network network) {
    const std::uint64_t last = end == End::a ? 1 : 2;
    switch (network) {
        case Network::roce_v2_ipv4:
            return {{0, 0xffff'c000'0200 | last}, AddressSpace::roce_v2};  // 192.0.2.x, RFC 5737
        case Network::roce_v2_ipv6: return {{0x2001'0db8'0000'0000, last}, AddressSpace::roce_v2};  // RFC 3849
        case Network::roce_v1: return {{0xfe80'0000'0000'0000, last}, AddressSpace::roce_v1};
        case Network::native_local: return {{0, last}, AddressSpace::infiniband_lid};
        case Network::native_global: return {{0xfe80'0000'0000'0000, last}, AddressSpace::infiniband_gid};
    }
    return {};
}

std::expected<void, OutputProblem> write_capture(const Simulated& simulated, const std::string& path) {
    auto writer = CaptureWriter::open(path, WriterFormat::pcap, simulated.link);
    if (!writer) return std::unexpected(writer.error());
    for (const CapturedFrame& captured : simulated.frames) {
        Frame frame;
        frame.bytes = captured.bytes;
        frame.wire_length = captured.wire_length;
        frame.link = simulated.link;
        frame.time = captured.time;
        if (auto written = writer->write(frame); !written) return written;
    }
    return writer->close();
}

}  // namespace qps::transport
