#include <transport-replay/tracking/flow_index.hpp>
#include <transport-replay/tracking/tenant_watch.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint32_t kFewestRequests = 4;  // below, chance looks the same
constexpr std::uint32_t kFewestBeside = 2;
constexpr std::uint32_t kFewestShared = 2;
constexpr std::uint32_t kMostSkipped = 8;  // one of so many PSNs: losses; a flow over two links leaves out half of them

// PSNs that the responses of a READ take at most: the shortest path MTU is 256 bytes.
std::uint32_t slack_of(const Observation& request) {
    constexpr std::uint32_t kLeastMtu = 256;
    const bool read = info(request.opcode).verb == Verb::read_request && request.access;
    return read ? request.access->length / kLeastMtu : 0;
}

}  // namespace

bool TenantWatch::Stream::goes_on_alone() const {
    return requests >= kFewestRequests && beside >= kFewestBeside && skipped <= requests / kMostSkipped;
}

void TenantWatch::observe(const Observation& observation) {
    if (observation.kind != ObservationKind::transport || observation.datagram || observation.icrc == CrcStatus::bad)
        return;
    const OpcodeRow& row = info(observation.opcode);
    if (!row.defined || !row.request) return;
    auto found = flows_.find(observation.flow_hash);
    if (found == flows_.end()) {
        if (flows_.size() >= kMostFlows) return;
        found = flows_.try_emplace(observation.flow_hash, Flow{hosts_of(observation.flow).both, {}}).first;
    }
    std::vector<Stream>& streams = found->second.streams;
    auto here = std::ranges::find(streams, observation.network, &Stream::network);
    if (here == streams.end()) {
        if (streams.size() >= kMostNetworks) return;
        Stream& made = streams.emplace_back();
        made.network = observation.network;
        made.next = observation.psn;
        here = std::prev(streams.end());
    }
    const std::int32_t ahead = observation.psn - here->next;
    if (ahead < 0) return;
    const auto skipped = static_cast<std::uint32_t>(ahead);
    here->skipped += skipped - std::min(skipped, here->slack);
    here->slack = slack_of(observation);
    here->next = observation.psn + 1;
    here->last[observation.psn.value() % kKept] = {observation.packet_hash, observation.psn};
    ++here->requests;
    if (streams.size() > 1) ++here->beside;
    bool shared = false, copied = false;
    for (const Stream& other : streams) {
        const Request& one = other.at(observation.psn);
        if (other.network == observation.network || one.hash == 0 || one.psn != observation.psn) continue;
        copied |= one.hash == observation.packet_hash;
        shared |= one.hash != observation.packet_hash;
    }
    here->copied += copied ? 1 : 0;
    here->shared += shared && !copied ? 1 : 0;
}

std::vector<std::uint64_t> TenantWatch::tenants() const {
    std::vector<std::uint64_t> hosts;
    for (const auto& [_, flow] : flows_) {
        std::uint32_t shared = 0, copied = 0;
        for (const Stream& stream : flow.streams) {
            shared += stream.shared;
            copied += stream.copied;
        }
        const bool alone = flow.streams.size() > 1 && std::ranges::all_of(flow.streams, &Stream::goes_on_alone);
        if (alone && shared >= std::max(kFewestShared, copied)) hosts.push_back(flow.hosts);
    }
    std::ranges::sort(hosts);
    const auto [first, last] = std::ranges::unique(hosts);
    hosts.erase(first, last);
    return hosts;
}

bool are_tenants(const std::vector<std::uint64_t>& tenants, const FlowKey& flow) {
    return !tenants.empty() && std::ranges::binary_search(tenants, hosts_of(flow).both);
}

void take_tenant(const CaptureTraits& traits, Observation& observation) {
    if (observation.kind != ObservationKind::transport || observation.datagram ||
        FlowIndex::is_in_network(observation.flow) || !are_tenants(traits.tenants, observation.flow))
        return;
    observation.flow = FlowIndex::in_network(observation.flow, observation.network);
    observation.flow_hash = FlowHash{}(observation.flow);
    observation.packet_hash = mix(observation.packet_hash + mix(std::to_underlying(observation.network)));
}

}  // namespace qps::transport
