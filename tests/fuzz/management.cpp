// Fuzzer of the trackers of management: datagrams whose headers the input chooses (class, method, transaction,
// segments) before bytes of its own, from a few hosts, so that requests, answers and segments meet; what comes out must
// be bounded and agree with itself.
#include <dissect/mad/attributes.hpp>
#include <tests/fuzz/bytewise.hpp>
#include <transport-replay/management/management_tracker.hpp>
#include <transport-replay/report/fabric.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace qps;

void demand(bool truth) {
    if (!truth) std::abort();
}

transport::Address host(std::uint8_t number) {
    return {{0, 1U + number % 4U}, transport::AddressSpace::infiniband_lid};
}

void check(const transport::ManagementReport& report) {
    using namespace transport;
    for (const ExchangeSum& sum : report.sums) demand(sum.answered + sum.refused + sum.unanswered <= sum.requests);
    demand(report.exchanges.size() <= kMaxExchanges);
    demand(report.events.size() <= kMaxEvents);
    demand(report.counters.size() <= kMaxCounterPorts);
    std::string words;
    for (const ManagementEvent& event : report.events) words += event_text(event);
    for (const Exchange& exchange : report.exchanges) words += exchange_text(exchange);
    for (const PortCounterHistory& history : report.counters)
        for (const std::string& moved : moved_texts(history, false)) words += moved;
    for (const FabricRow& row : fabric_rows(report)) {
        demand((row.peer == nullptr) == row.peer_words.empty());
        words += node_text(row.node);
    }
    const MemberPorts ports(report.fabric);
    for (const MulticastGroup& group : report.fabric.groups) words += group_text(group, ports);
    const FabricNodes nodes(report.fabric);
    for (const Partition& partition : report.fabric.partitions) words += partition_text(nodes, partition);
    append_dot(words, report.fabric);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dissect;
    constexpr std::size_t kOwnBytes = 48;  // of a datagram, spread over its attribute
    constexpr std::array<std::uint8_t, 8> kClasses{0x01, 0x81, 0x03, 0x03, 0x03, 0x04, 0x06, 0x32};
    fuzz::Bytewise input({data, size});
    transport::ManagementTracker tracker;
    std::int64_t now = 0;
    std::uint64_t frame = 0;
    while (!input.empty()) {
        std::array<std::byte, kMadLength> mad{};
        mad[0] = std::byte{1};
        mad[1] = static_cast<std::byte>(kClasses[input.byte() % kClasses.size()]);
        mad[3] = static_cast<std::byte>(input.byte());
        mad[5] = static_cast<std::byte>(input.byte() & 0x0cU);
        mad[7] = static_cast<std::byte>(input.byte() % 70);  // hops
        mad[15] = static_cast<std::byte>(input.byte() % 4);
        mad[17] = static_cast<std::byte>(input.byte());
        const auto rmpp = input.take(12);
        for (std::size_t i = 0; i < rmpp.size(); ++i) mad[24 + i] = static_cast<std::byte>(rmpp[i]);
        mad[45] = static_cast<std::byte>(input.byte());  // attribute offset
        const std::size_t at = 56 + input.byte() % 120U;
        const auto own = input.take(kOwnBytes);
        for (std::size_t i = 0; i < own.size(); ++i) mad[at + i] = static_cast<std::byte>(own[i]);
        transport::Observation observation;
        observation.management = true;
        observation.kind = transport::ObservationKind::transport;
        observation.frame = FrameIndex{++frame};
        observation.time = Instant{now += 1000 * input.byte()};
        const std::uint8_t hosts = input.byte();
        observation.flow = {host(hosts), host(static_cast<std::uint8_t>(hosts >> 4)), Qpn{1}, Qpn{1}};
        observation.payload = slice(mad, 0, input.byte() % 8 == 0 ? input.byte() : kMadLength);
        tracker.observe(observation);
    }
    check(tracker.finish(Instant{now}));
    return 0;
}
