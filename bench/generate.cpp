// Writes a capture to measure with:  bench_generate FILE PACKETS PAYLOAD_BYTES [QUEUE_PAIRS [LOST_PER_MILLION
// [SNAP_BYTES]]]
//
// RoCEv2 over IPv4 in a pcap file with nanoseconds: queue pairs take turns, packet by packet (the worst case for
// caches); each sends messages of 15 packets (SEND and RDMA WRITE in turn) and gets an ACK for each, so that one packet
// of 16 is an ACK. What is lost is recovered as conversation.hpp says. With SNAP_BYTES the capture keeps so many bytes
// of a packet. The same arguments give the same bytes; the truth of what is in it goes to standard output.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conversation.hpp"
#include "pcap_writer.hpp"
#include "roce_frame.hpp"
#include <fmt/format.h>

namespace {

using namespace qps::bench;

constexpr std::uint32_t kQueuePairs =
    8;  // unless said: enough that neighbours in the file belong to different connections
constexpr std::uint32_t kQueuePairsOfHosts = 16;      // between two hosts
constexpr std::uint32_t kMostQueuePairs = 1'000'000;  // their numbers have 24 bits
constexpr std::uint64_t kGap = 100;                   // ns between packets: about 1 KiB at 100 Gbit/s
constexpr std::uint32_t kSnap = 262144;               // unless said: everything
constexpr std::uint64_t kMillion = 1'000'000;

struct Order {
    std::uint64_t packets = 0;
    std::uint32_t payload = 0;
    std::uint32_t queue_pairs = kQueuePairs;
    std::uint32_t lost_per_million = 0;
    std::uint32_t snap = kSnap;
};

// The fields of what connection `number` puts on the wire.
FrameFields fields_of(const Turn& turn, std::uint32_t number, std::uint32_t payload, std::uint16_t identification) {
    const bool data = turn.kind == Turn::Kind::data;
    const std::uint32_t requester = 0x0a000001U + number / kQueuePairsOfHosts * 2;
    FrameFields fields;
    fields.source = data ? requester : requester + 1;
    fields.destination = data ? requester + 1 : requester;
    fields.source_port = static_cast<std::uint16_t>(0xc000U | (number & 0x3fff));
    fields.identification = identification;
    fields.queue_pair = (data ? 0x200000 : 0x100000) + number;
    fields.psn = static_cast<std::uint32_t>(0xfffff0U * number + turn.number);
    if (!data) {
        fields.opcode = BthOpcode::acknowledge;
        fields.syndrome = turn.kind == Turn::Kind::ack ? 0x1f : 0x60;  // credits not counted; PSN sequence error
        fields.msn = static_cast<std::uint32_t>(turn.messages);
        return fields;
    }
    const std::uint64_t place = turn.number % kMessagePackets;
    const bool write = turn.number / kMessagePackets % 2 != 0;
    fields.opcode = place == 0                     ? (write ? BthOpcode::write_first : BthOpcode::send_first)
                    : place == kMessagePackets - 1 ? (write ? BthOpcode::write_last : BthOpcode::send_last)
                                                   : (write ? BthOpcode::write_middle : BthOpcode::send_middle);
    fields.ack_request = place == kMessagePackets - 1;
    fields.address = 0x7f0000000000U + number * 0x100000ULL;
    fields.key = 0x1000 + number;
    fields.dma_length = payload * kMessagePackets;
    fields.payload_bytes = payload;
    fields.payload_seed = std::uint64_t{number} << 40 ^ turn.number << 16;
    return fields;
}

Truth fill(PcapWriter& capture, const Order& order) {
    std::vector<Conversation> conversations(order.queue_pairs);
    std::vector<std::uint16_t> identifications(order.queue_pairs * std::size_t{2});  // of each end
    const auto loss = static_cast<std::uint32_t>((std::uint64_t{order.lost_per_million} << 32) / kMillion);
    Truth truth;
    Dice dice;
    std::uint64_t written = 0;
    for (std::uint64_t turn = 0; written < order.packets && capture.good(); ++turn) {
        const auto number = static_cast<std::uint32_t>(turn % order.queue_pairs);
        const std::optional<Turn> packet = conversations[number].next(loss, dice, truth);
        if (!packet) continue;
        auto& identification = identifications[2 * std::size_t{number} + (packet->kind == Turn::Kind::data ? 0 : 1)];
        if (++identification == 0) ++identification;  // 0: none
        capture.add(fields_of(*packet, number, order.payload, identification), turn * kGap);
        ++written;
    }
    return truth;
}

template <class T> bool parse(std::string_view text, T& value) {
    return std::from_chars(text.begin(), text.end(), value).ptr == text.end();
}

std::optional<Order> order_of(std::span<char*> arguments) {
    Order order;
    if (arguments.size() < 2 || arguments.size() > 5) return {};
    if (!parse(arguments[0], order.packets) || !parse(arguments[1], order.payload)) return {};
    if (arguments.size() > 2 && !parse(arguments[2], order.queue_pairs)) return {};
    if (arguments.size() > 3 && !parse(arguments[3], order.lost_per_million)) return {};
    if (arguments.size() > 4 && !parse(arguments[4], order.snap)) return {};
    const bool sound = order.payload % 4 == 0 && order.payload <= 4096 && order.queue_pairs > 0 &&
                       order.queue_pairs <= kMostQueuePairs && order.lost_per_million < kMillion && order.snap > 0;
    return sound ? std::optional(order) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    const auto order = argc < 2 ? std::nullopt : order_of(arguments.subspan(2));
    if (!order) {
        fmt::print(stderr,
                   "usage: bench_generate FILE PACKETS PAYLOAD_BYTES [QUEUE_PAIRS [LOST_PER_MILLION [SNAP_BYTES]]]\n"
                   "PAYLOAD_BYTES: a multiple of 4, at most 4096; QUEUE_PAIRS: at most 1000000\n");
        return 2;
    }
    const std::string part = std::string(arguments[1]) + ".part";  // a file that is there is whole
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(part.c_str(), "wb"), &std::fclose);
    if (!file) {
        fmt::print(stderr, "bench_generate: cannot write {}\n", part);
        return 1;
    }
    PcapWriter capture(file.get(), order->snap);
    const Truth truth = fill(capture, *order);
    if (!capture.good() || std::fflush(file.get()) != 0 || std::rename(part.c_str(), arguments[1]) != 0) {
        fmt::print(stderr, "bench_generate: cannot write {}\n", part);
        std::remove(part.c_str());
        return 1;
    }
    fmt::print("packets={} lost={} lost_before_tap={} retransmitted={} acks={} naks={} timeouts={}\n", order->packets,
               truth.lost, truth.lost_before_tap, truth.retransmitted, truth.acks, truth.naks, truth.timeouts);
    return 0;
}
