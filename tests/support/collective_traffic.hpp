// Traffic of collectives as the tracker sees it: hosts that send to each other in steps, under a clock of its own.
#pragma once

#include <tests/support/timelines.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace qps::tests {

// Packets of several hosts, put into the order of time before the tracker gets them.
class CollectiveTraffic {
public:
    struct Sent {
        std::int64_t time = 0;
        unsigned from = 0, to = 0;
        dissect::Opcode opcode{};
        std::uint32_t bytes = 0;
        std::uint64_t address = 0;
        std::uint32_t length = 0;  // of the whole message
        std::optional<std::uint32_t> immediate{};
        std::vector<std::byte> payload{};
        bool back = false;  // of the other end of the connection that `from` and `to` have
    };

    static constexpr std::uint32_t kMtu = 4096;

    void add(Sent sent) { packets_.push_back(std::move(sent)); }
    // A WRITE of that length, a packet every `gap` ns; when its last packet is out.
    std::int64_t write(std::int64_t time, unsigned from, unsigned to, std::uint32_t bytes, std::int64_t gap = 400) {
        constexpr dissect::Opcode kFirst{0x06}, kMiddle{0x07}, kLast{0x08}, kOnly{0x0a};
        for (std::uint32_t at = 0; at < bytes; at += kMtu) {
            const bool first = at == 0, last = at + kMtu >= bytes;
            add({.time = time,
                 .from = from,
                 .to = to,
                 .opcode = first && last ? kOnly
                           : first       ? kFirst
                           : last        ? kLast
                                         : kMiddle,
                 .bytes = std::min(kMtu, bytes - at),
                 .address = first ? 0x1000U + from : 0,
                 .length = bytes});
            time += gap;
        }
        return time;
    }
    // The same as NCCL does it: offered, written, and its length said with an immediate.
    std::int64_t nccl(std::int64_t time, unsigned from, unsigned to, std::uint32_t bytes, std::int64_t gap = 400) {
        std::vector<std::byte> offer(64);
        const std::uint64_t address = 0x7f00'0000'0000 + bytes * (packets_.size() + 1);
        for (std::size_t i = 0; i < 8; ++i) offer[i] = static_cast<std::byte>(address >> 8 * i);
        add({.time = time - 3000,
             .from = from,
             .to = to,
             .opcode = dissect::Opcode{0x0a},
             .bytes = 64,
             .address = 0x2000,
             .payload = offer,
             .back = true});
        const std::size_t first = packets_.size();
        time = write(time, from, to, bytes, gap);
        packets_[first].address = address;
        add({.time = time,
             .from = from,
             .to = to,
             .opcode = dissect::Opcode{0x0b},
             .bytes = 0,
             .address = address,
             .immediate = bytes});
        return time;
    }

    [[nodiscard]] transport::CollectiveReport report(const transport::UlpReport& ulp = {}) {
        std::ranges::stable_sort(packets_, {}, &Sent::time);
        transport::CollectiveTracker tracker;
        std::map<std::pair<unsigned, unsigned>, std::uint32_t> connections;
        std::uint64_t frame = 0;
        for (const Sent& sent : packets_) {
            const auto uid =
                connections.emplace(std::pair(sent.from, sent.to), static_cast<std::uint32_t>(connections.size() + 1))
                    .first->second;
            transport::Observation observation;
            observation.kind = transport::ObservationKind::transport;
            observation.frame = dissect::FrameIndex{++frame};
            observation.time = dissect::Instant{sent.time};
            observation.opcode = sent.opcode;
            observation.flow.source = host(sent.back ? sent.to : sent.from);
            observation.flow.destination = host(sent.back ? sent.from : sent.to);
            observation.payload_length = sent.bytes;
            observation.payload = sent.payload;
            observation.immediate = sent.immediate;
            if (sent.address != 0)
                observation.access = transport::RemoteAccess{sent.address, dissect::Rkey{1}, sent.bytes};
            transport::PacketRecord record;
            record.connection = transport::ConnectionId{uid};
            record.from = sent.back ? transport::End::b : transport::End::a;
            record.arrival = transport::Arrival::in_order;
            tracker.observe(observation, record);
        }
        return tracker.finish(ulp);
    }

    // The same through the whole analysis: with queue pairs and PSNs, every message acknowledged.
    [[nodiscard]] transport::Timeline timeline() {
        std::ranges::stable_sort(packets_, {}, &Sent::time);
        struct Flow {
            std::uint32_t uid = 0;
            std::array<std::uint32_t, 2> psn{};
            std::array<std::uint32_t, 2> msn{};
        };
        std::map<std::pair<unsigned, unsigned>, Flow> flows;
        transport::Analysis analysis;
        std::uint64_t frame = 0;
        const auto see = [&](const Sent& sent, const Flow& flow, bool back, dissect::Opcode opcode, std::uint32_t psn) {
            transport::Observation observation;
            observation.kind = transport::ObservationKind::transport;
            observation.encapsulation = dissect::Encapsulation::roce_v2;
            observation.frame = dissect::FrameIndex{++frame};
            observation.time = dissect::Instant{sent.time};
            observation.opcode = opcode;
            observation.flow = {host(back ? sent.to : sent.from),
                                host(back ? sent.from : sent.to),
                                dissect::Qpn{flow.uid * 2 + (back ? 1 : 0)},
                                {}};
            observation.flow_hash = transport::FlowHash{}(observation.flow);
            observation.packet_hash = transport::mix(frame);
            observation.psn = dissect::Psn(psn);
            observation.icrc = dissect::CrcStatus::good;
            observation.icrc_found = static_cast<std::uint32_t>(transport::mix(frame));
            observation.ip_id = static_cast<std::uint16_t>(frame);
            observation.udp_source_port = static_cast<std::uint16_t>(0xc000 + flow.uid);
            return observation;
        };
        for (const Sent& sent : packets_) {
            Flow& flow = flows[{sent.from, sent.to}];
            if (flow.uid == 0) flow.uid = static_cast<std::uint32_t>(flows.size());
            const std::size_t way = sent.back ? 1 : 0;
            transport::Observation observation = see(sent, flow, sent.back, sent.opcode, flow.psn[way]);
            observation.payload_length = sent.bytes;
            observation.wire_length = sent.bytes + 74;
            observation.payload = sent.payload;
            observation.immediate = sent.immediate;
            if (sent.address != 0)
                observation.access = transport::RemoteAccess{sent.address, dissect::Rkey{1}, sent.length};
            analysis.observe(observation);
            const dissect::Place place = dissect::info(sent.opcode).place;
            if (ends_message(place)) {
                constexpr dissect::Opcode kAcknowledge{0x11};
                transport::Observation answer = see(sent, flow, !sent.back, kAcknowledge, flow.psn[way]);
                answer.wire_length = 62;
                answer.acknowledgment =
                    transport::Acknowledgment{.syndrome = 0x1f, .msn = dissect::Msn{++flow.msn[way]}};
                analysis.observe(answer);
            }
            ++flow.psn[way];
        }
        return analysis.finish();
    }

private:
    std::vector<Sent> packets_;
};

// Numbers that look random and are the same in every run.
class Jitter {
public:
    explicit Jitter(std::uint64_t seed) : state_(seed * 2654435761U + 88172645463325252ULL) {}
    [[nodiscard]] std::int64_t below(std::int64_t bound) {
        state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
        return static_cast<std::int64_t>(state_ % static_cast<std::uint64_t>(bound));
    }

private:
    std::uint64_t state_;
};

// A ring all-reduce: each step is 2 (ranks - 1) rounds of a chunk each; a round begins when the chunk of the one before
// came in.
struct RingPlan {
    unsigned ranks = 8;
    unsigned steps = 20;
    std::uint32_t chunk = 65536;
    std::int64_t compute = 2'000'000;  // ns between steps
    std::int64_t jitter = 20'000;      // of every rank's beginning
    std::optional<unsigned> late{};    // this one begins so much later
    std::int64_t late_by = 0;
    std::optional<unsigned> slow{};  // this one's packets take so many times as long
    std::int64_t slow_by = 1;
    bool nccl = true;
    std::uint64_t seed = 1;
};
inline CollectiveTraffic ring_traffic(const RingPlan& plan) {
    CollectiveTraffic traffic;
    Jitter jitter(plan.seed);
    std::int64_t now = 1'000'000'000;
    for (unsigned step = 0; step < plan.steps; ++step) {
        std::vector<std::int64_t> ready(plan.ranks), free(plan.ranks);
        for (unsigned rank = 0; rank < plan.ranks; ++rank)
            ready[rank] = now + jitter.below(plan.jitter + 1) + (plan.late == rank ? plan.late_by : 0);
        const std::vector<std::int64_t> begun = ready;
        for (unsigned round = 0; round < 2 * (plan.ranks - 1); ++round) {
            std::vector<std::int64_t> done(plan.ranks);
            for (unsigned rank = 0; rank < plan.ranks; ++rank) {
                const std::int64_t gap = plan.slow == rank ? 400 * plan.slow_by : 400;
                const std::int64_t start = std::max({ready[rank], free[rank], begun[rank]});
                const unsigned next = (rank + 1) % plan.ranks;
                free[rank] = plan.nccl ? traffic.nccl(start, rank + 1, next + 1, plan.chunk, gap)
                                       : traffic.write(start, rank + 1, next + 1, plan.chunk, gap);
                done[next] = free[rank] + 2000;
            }
            ready = done;
        }
        now = *std::ranges::max_element(ready) + plan.compute;
    }
    return traffic;
}

// Everybody to everybody at once; or one after the other.
inline CollectiveTraffic all_to_all_traffic(unsigned ranks, unsigned steps, std::uint32_t bytes, bool at_once,
                                            std::uint64_t seed = 1) {
    CollectiveTraffic traffic;
    Jitter jitter(seed);
    std::int64_t now = 1'000'000'000;
    for (unsigned step = 0; step < steps; ++step) {
        std::int64_t end = now;
        for (unsigned rank = 0; rank < ranks; ++rank) {
            std::int64_t time = now + jitter.below(10'000);
            const std::int64_t gap = at_once ? 400 * (ranks - 1) : 400;
            for (unsigned distance = 1; distance < ranks; ++distance) {
                const std::int64_t done = traffic.write(at_once ? time + distance * 50 : time, rank + 1,
                                                        (rank + distance) % ranks + 1, bytes, gap);
                end = std::max(end, done);
                if (!at_once) time = done + 5'000;
            }
        }
        now = end + 1'500'000;
    }
    return traffic;
}

}  // namespace qps::tests
