// Writes an NVMe over RDMA capture to measure with:  bench_generate_nvme FILE COMMANDS [QUEUES [DEPTH]]
//
// Reads of 4 KiB at a path MTU of 1024: a command capsule, four packets of an RDMA WRITE, a response that invalidates
// the key, an ACK for the capsule and one for the response. Every queue has DEPTH commands under way; queues take
// turns. The connections were set up before the capture began. The same arguments give the same bytes.
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pcap_writer.hpp"
#include "roce_frame.hpp"
#include <fmt/format.h>

namespace {

using namespace qps::bench;

constexpr std::uint32_t kQueues = 8;
constexpr std::uint32_t kDepth = 32;
constexpr std::uint32_t kMostQueues = 10'000;
constexpr std::uint32_t kMostDepth = 1024;
constexpr std::uint32_t kMtu = 1024;
constexpr std::uint32_t kBlock = 4096;  // bytes a command reads
constexpr std::uint32_t kSector = 512;
constexpr std::uint64_t kGap = 100;  // ns between packets
constexpr std::uint32_t kHost = 0x0a000001;
constexpr std::uint32_t kTarget = 0x0a000002;

// One command of a queue: its number there decides everything of it.
struct Command {
    std::uint32_t queue = 0;
    std::uint64_t number = 0;
    [[nodiscard]] std::uint16_t id(std::uint32_t depth) const { return static_cast<std::uint16_t>(number % depth); }
    [[nodiscard]] std::uint64_t address() const {
        return 0x7f0000000000U + queue * 0x1000000ULL + number % kMostDepth * kBlock;
    }
    [[nodiscard]] std::uint32_t key() const {
        return static_cast<std::uint32_t>(0x1000 + queue * 0x10000 + number % 0x10000);
    }
};

class Generator {
public:
    Generator(PcapWriter& out, std::uint32_t queues, std::uint32_t depth) : out_(out), depth_(depth), queues_(queues) {}

    // The command goes out; the answer to the one DEPTH before it has come then.
    void ask(const Command& command) {
        Writer capsule;  // NVMe base specification, submission queue entry; keyed SGL data block descriptor
        capsule.little(0x02, 1);
        capsule.little(0x40, 1);  // SGL
        capsule.little(command.id(depth_), 2);
        capsule.little(1, 4);  // namespace
        capsule.little(0, 8);
        capsule.little(0, 8);
        capsule.little(command.address(), 8);
        capsule.little(kBlock, 3);
        capsule.little(command.key(), 4);
        capsule.little(0x4f, 1);  // keyed, invalidate key
        capsule.little(command.number * (kBlock / kSector), 8);
        capsule.little(kBlock / kSector - 1, 4);
        capsule.little(0, 12);
        FrameFields fields = from_host(command.queue);
        fields.opcode = BthOpcode::send_only;
        fields.psn = queues_[command.queue].host_psn++;
        send(fields, capsule.all(), true);
        acknowledge(command.queue, false);
    }
    void answer(const Command& command) {
        for (std::uint32_t at = 0; at < kBlock; at += kMtu) {
            FrameFields fields = from_target(command.queue);
            fields.opcode = at == 0               ? BthOpcode::write_first
                            : at + kMtu == kBlock ? BthOpcode::write_last
                                                  : BthOpcode::write_middle;
            fields.psn = queues_[command.queue].target_psn++;
            fields.address = command.address();
            fields.key = command.key();
            fields.dma_length = kBlock;
            fields.payload_bytes = kMtu;
            fields.payload_seed = command.number * kBlock + at;
            put(fields);
        }
        Writer completion;  // completion queue entry
        completion.little(0, 8);
        completion.little(command.number % depth_, 2);
        completion.little(0, 2);
        completion.little(command.id(depth_), 2);
        completion.little(0, 2);
        FrameFields fields = from_target(command.queue);
        fields.opcode = BthOpcode::send_only_invalidate;
        fields.psn = queues_[command.queue].target_psn++;
        fields.key = command.key();
        send(fields, completion.all(), true);
        acknowledge(command.queue, true);
    }
    [[nodiscard]] std::uint64_t packets() const { return packets_; }

private:
    struct Queue {
        std::uint32_t host_psn = 0x1000;
        std::uint32_t target_psn = 0x800000;
        std::uint32_t host_messages = 0;
        std::uint32_t target_messages = 0;
    };

    [[nodiscard]] FrameFields from_host(std::uint32_t queue) const {
        FrameFields fields;
        fields.source = kHost;
        fields.destination = kTarget;
        fields.queue_pair = 0x200000 + queue;
        fields.source_port = static_cast<std::uint16_t>(0xc000 + queue);
        return fields;
    }
    [[nodiscard]] FrameFields from_target(std::uint32_t queue) const {
        FrameFields fields = from_host(queue);
        std::swap(fields.source, fields.destination);
        fields.queue_pair = 0x100000 + queue;
        return fields;
    }
    void send(FrameFields fields, std::span<const std::uint8_t> message, bool ack_request) {
        fields.payload = message;
        fields.payload_bytes = static_cast<std::uint32_t>(message.size());
        fields.ack_request = ack_request;
        put(fields);
    }
    void acknowledge(std::uint32_t queue, bool by_host) {
        Queue& state = queues_[queue];
        FrameFields fields = by_host ? from_host(queue) : from_target(queue);
        fields.opcode = BthOpcode::acknowledge;
        fields.psn = (by_host ? state.target_psn : state.host_psn) - 1;
        fields.syndrome = 0x1f;
        fields.msn = by_host ? state.target_messages += 2 : ++state.host_messages;
        put(fields);
    }
    void put(FrameFields& fields) {
        fields.identification = static_cast<std::uint16_t>(packets_ % 0xffff + 1);
        out_.add(fields, packets_++ * kGap);
    }

    PcapWriter& out_;
    std::uint32_t depth_;
    std::vector<Queue> queues_;
    std::uint64_t packets_ = 0;
};

std::uint64_t fill(PcapWriter& out, std::uint64_t commands, std::uint32_t queues, std::uint32_t depth) {
    Generator generator(out, queues, depth);
    const std::uint64_t of_each = (commands + queues - 1) / queues;
    for (std::uint64_t number = 0; number < of_each + depth && out.good(); ++number)
        for (std::uint32_t queue = 0; queue < queues; ++queue) {
            if (number >= depth) generator.answer({queue, number - depth});
            if (number < of_each) generator.ask({queue, number});
        }
    return generator.packets();
}

template <class T> bool parse(std::string_view text, T& value) {
    return std::from_chars(text.begin(), text.end(), value).ptr == text.end();
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    std::uint64_t commands = 0;
    std::uint32_t queues = kQueues;
    std::uint32_t depth = kDepth;
    const bool sound = argc >= 3 && argc <= 5 && parse(arguments[2], commands) &&
                       (argc < 4 || parse(arguments[3], queues)) && (argc < 5 || parse(arguments[4], depth)) &&
                       queues > 0 && queues <= kMostQueues && depth > 0 && depth <= kMostDepth;
    if (!sound) {
        fmt::print(stderr, "usage: bench_generate_nvme FILE COMMANDS [QUEUES [DEPTH]]\nat most {} queues, {} deep\n",
                   kMostQueues, kMostDepth);
        return 2;
    }
    const std::string part = std::string(arguments[1]) + ".part";  // a file that is there is whole
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(part.c_str(), "wb"), &std::fclose);
    if (!file) {
        fmt::print(stderr, "bench_generate_nvme: cannot write {}\n", part);
        return 1;
    }
    constexpr std::uint32_t kSnap = 262144;
    PcapWriter capture(file.get(), kSnap);
    const std::uint64_t packets = fill(capture, commands, queues, depth);
    if (!capture.good() || std::fflush(file.get()) != 0 || std::rename(part.c_str(), arguments[1]) != 0) {
        fmt::print(stderr, "bench_generate_nvme: cannot write {}\n", part);
        std::remove(part.c_str());
        return 1;
    }
    fmt::print("packets={} commands={}\n", packets, (commands + queues - 1) / queues * queues);
    return 0;
}
