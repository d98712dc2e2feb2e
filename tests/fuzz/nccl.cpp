// Fuzzer of NCCL: its log as any text; offers, messages and acknowledgments in any order to who looks for collectives.
#include <tests/fuzz/bytewise.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/report/collectives.hpp>

#include <array>
#include <cstdlib>
#include <string>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

void log(std::span<const std::uint8_t> bytes) {
    const NcclLog log = read_nccl_log(std::string(bytes.begin(), bytes.end()));
    if (log.malformed > log.lines || log.ranks.size() > NcclLog::kMostRanks) std::abort();
    Collective job;
    job.made_by = CollectiveLibrary::nccl;
    for (std::uint64_t host = 0; host < 4; ++host) {
        job.ranks.push_back({.address = {{0, 0xffff'0a00'0001 + host}, AddressSpace::roce_v2}});
        job.chain.push_back(static_cast<std::uint32_t>(host));
    }
    join_log(job, log);
    if (chain_text(job).empty()) std::abort();
}

void traffic(qps::fuzz::Bytewise input) {
    CollectiveTracker tracker;
    std::int64_t now = 0;
    std::uint64_t frame = 0;
    std::array<std::uint64_t, 256> offered{};
    while (!input.empty()) {
        const std::uint8_t hosts = input.byte(), kind = input.byte(), slot = input.byte();
        now += std::int64_t{input.byte()} << (kind >> 4);
        std::array<std::byte, 64> payload{};
        Observation observation;
        observation.frame = FrameIndex{++frame};
        observation.time = Instant{now};
        observation.psn = Psn(slot);
        observation.payload = payload;
        PacketRecord record;
        record.connection = ConnectionId{hosts};
        record.arrival = Arrival::in_order;
        const bool back = kind % 4 < 2;
        record.from = back ? End::b : End::a;
        observation.flow.source.bits[1] = 1 + (back ? hosts >> 2 & 3U : hosts & 3U);
        observation.flow.destination.bits[1] = 1 + (back ? hosts & 3U : hosts >> 2 & 3U);
        const auto put = [&](std::size_t at, std::uint64_t value, std::size_t bytes) {
            for (std::size_t i = 0; i < bytes; ++i) payload[at + i] = static_cast<std::byte>(value >> 8 * i);
        };
        switch (kind % 4) {
            case 0:
                observation.opcode = Opcode{0x0a};
                observation.payload_length = 64;
                put(0, slot + 1U, 8);
                put(8, 1 << 20, 4);
                put(20, 1, 4);
                put(24, hosts & 3U, 4);
                put(32, offered[hosts] += 1 + (kind >> 2 & 1U), 8);
                break;
            case 1: observation.opcode = Opcode{0x11}; break;
            default:
                observation.opcode =
                    Opcode{static_cast<std::uint8_t>(std::array{0x0b, 0x06, 0x09, 0x07}[kind >> 2 & 3U])};
                observation.payload_length = std::uint32_t{input.byte()} << 8;
                observation.access = RemoteAccess{slot + 1U, {}, observation.payload_length};
                if ((kind >> 2 & 1U) == 0) observation.immediate = observation.payload_length;
                put(0, slot, 8);
        }
        tracker.observe(observation, record);
    }
    for (const Collective& job : tracker.finish({}).collectives) {
        if (job.straggler && job.straggler->rank >= job.ranks.size()) std::abort();
        for (const std::uint32_t place : job.chain)
            if (place >= job.ranks.size()) std::abort();
        for (const CollectiveStep& step : job.steps)
            if ((step.last && *step.last >= job.ranks.size()) || step.certainty > 99 || step.waited < Duration{})
                std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes(data, size);
    if (bytes.empty()) return 0;
    if (bytes[0] % 2 == 0) log(bytes.subspan(1));
    else traffic(qps::fuzz::Bytewise(bytes.subspan(1)));
    return 0;
}
