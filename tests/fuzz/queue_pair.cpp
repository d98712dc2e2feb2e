// Fuzzer: bytes as what happens to a queue pair: work requests, receives, time, and packets that a peer makes up.
// Memory that was not granted stays as it was, every work request completes once, and nothing grows beyond its bound.
#include <transport-replay/queue_pair/requester.hpp>
#include <transport-replay/queue_pair/responder.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace qps::dissect;
using namespace qps::transport;

constexpr std::byte kGuard{0xa5};
constexpr std::size_t kGuardBytes = 64, kRegionBytes = 2048, kReceiveBytes = 700, kLocalBytes = 700;
constexpr std::uint64_t kBase = 0xffff'ffff'ffff'0000;
constexpr Rkey kKey{1}, kWindow{2};
constexpr Qpn kLocal{0x22};

// Bytes with guards on both sides.
struct Guarded {
    std::vector<std::byte> bytes;
    explicit Guarded(std::size_t size) : bytes(size + 2 * kGuardBytes, kGuard) {}
    MutableBytes inside() { return MutableBytes(bytes).subspan(kGuardBytes, bytes.size() - 2 * kGuardBytes); }
    void check() const {
        const Bytes all = bytes;
        for (const Bytes guard : {all.first(kGuardBytes), all.last(kGuardBytes)})
            if (!std::ranges::all_of(guard, [](std::byte byte) { return byte == kGuard; })) std::abort();
    }
};

struct Input {
    Bytes rest;
    std::uint8_t byte() {
        const auto value = read_be<std::uint8_t>(rest, 0);
        rest = slice(rest, 1);
        return value;
    }
    std::uint16_t word() { return static_cast<std::uint16_t>(byte() << 8U | byte()); }
};

TransportPacket packet_of(Input& input, Psn near, Bytes payload) {
    TransportPacket packet;
    packet.opcode = Opcode{input.byte()};
    packet.psn = near + input.byte() + (Psn::kMask - 127);
    const std::uint8_t has = input.byte();
    packet.ack_request = (has & 1) != 0;
    if ((has & 2) != 0) packet.access = {kBase + input.word(), static_cast<Rkey>(input.byte() & 3), input.word()};
    if ((has & 4) != 0) packet.atomic = {input.byte(), input.byte()};
    if ((has & 8) != 0) packet.acknowledgment = Acknowledgment{input.byte(), static_cast<Msn>(input.byte())};
    if ((has & 16) != 0) packet.immediate = input.byte();
    if ((has & 32) != 0) packet.invalidate = static_cast<Rkey>(input.byte() & 3);
    if ((has & 64) != 0) packet.flush = Flush{input.byte(), static_cast<FlushSelectivity>(input.byte() & 3)};
    if ((has & 128) != 0) packet.atomic_result = input.byte();
    packet.datagram = Datagram{Qkey{0}, Qpn{5}};
    packet.payload = slice(payload, 0, input.word() & 0x3ff);
    packet.network_header = slice(payload, 0, input.byte() & 63);
    return packet;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input{std::as_bytes(std::span(data, size))};
    constexpr std::array kServices{Service::rc, Service::rc, Service::uc, Service::ud};
    const std::uint8_t settings = input.byte();
    const Service service = kServices[settings & 3];
    Guarded region(kRegionBytes), receive(kReceiveBytes), local(kLocalBytes);
    Memory memory;
    const AccessRights rights{.local_write = true,
                              .read = true,
                              .write = true,
                              .atomic = true,
                              .bind = true,
                              .flush_global = true,
                              .flush_persistent = true};
    if (!memory.add({.key = kKey, .base = kBase, .rights = rights, .bytes = region.inside()})) std::abort();
    if (!memory.bind(
            {.key = kWindow, .region = kKey, .base = kBase, .length = 64, .rights = {.write = true}, .of = kLocal}))
        std::abort();
    ReceiveQueue receives(64, (settings & 4) != 0);
    Responder responder({.service = service,
                         .expected = Psn{100},
                         .mtu = PathMtu::bytes_256,
                         .ack_every = settings & 3U,
                         .local = kLocal,
                         .credits = (settings & 8) != 0});
    Requester requester({.service = service,
                         .first = Psn{0xfffff0},
                         .mtu = PathMtu::bytes_256,
                         .rnr_retries = 2,
                         .end_to_end_credits = (settings & 16) != 0});
    const std::vector<std::byte> payload(1024, std::byte{0x77});
    std::vector<std::uint8_t> completed;
    Instant now{};
    while (!input.rest.empty()) {
        switch (input.byte() & 7) {
            case 0:
            case 1:
                static_cast<void>(responder.process(packet_of(input, responder.expected(), payload), memory, receives));
                break;
            case 2: requester.process(packet_of(input, requester.unacknowledged(), payload), now); break;
            case 3: {
                const auto kind = static_cast<WorkKind>(input.byte() % kWorkKindNames.size());
                const std::size_t cut = input.word() % kLocalBytes;
                WorkRequest work{.id = completed.size(), .kind = kind, .fence = (cut & 1) != 0};
                work.segments = {local.inside().first(cut),
                                 local.inside().subspan(cut, std::min<std::size_t>(input.byte(), kLocalBytes - cut))};
                if (cut == 0) work.segments = {local.inside().first(kAtomicLength)};
                if (kind == WorkKind::bind_window) work.window = MemoryWindow{};
                if (requester.post(std::move(work))) completed.push_back(0);
                break;
            }
            case 4:
                static_cast<void>(
                    receives.post({.id = 1, .segments = {receive.inside()}, .usable = input.byte() != 0}));
                break;
            case 5: now = now + microseconds(input.word()); break;
            case 6: requester.drain((input.byte() & 1) != 0); break;
            case 7: requester.done_locally(CompletionStatus::success, now); break;
        }
        if (const auto packet = requester.poll(now); packet && packet->payload.size() > bytes_of(PathMtu::bytes_256))
            std::abort();
        if (const auto packet = responder.poll(memory); packet && packet->payload.size() > bytes_of(PathMtu::bytes_256))
            std::abort();
        while (const auto completion = requester.take_completion())
            if (completed.at(completion->id)++ != 0) std::abort();
    }
    requester.flush_all();
    while (const auto completion = requester.take_completion())
        if (completed.at(completion->id)++ != 0) std::abort();
    if (!std::ranges::all_of(completed, [](std::uint8_t times) { return times == 1; })) std::abort();
    for (const Guarded* guarded : {&region, &receive, &local}) guarded->check();
    return 0;
}
