// Peers that lie: any packet at all, in any order. Memory outside of what was granted is never touched, nothing grows,
// and no work request completes twice.
#include <tests/support/catch.hpp>
#include <tests/support/peers.hpp>
#include <transport-replay/live/sim_link.hpp>

#include <map>

using namespace qps::tests;
using namespace qps::transport;
using namespace qps::dissect;

namespace {

constexpr std::byte kGuardByte{0xa5};

// A packet made of whatever the draws say, with numbers near those that count.
TransportPacket any_packet(Draws& draws, Psn near, Bytes payload) {
    TransportPacket packet;
    packet.opcode = static_cast<Opcode>(draws.below(0x20) | (draws.chance(0.1) ? 0x20U : 0));
    packet.psn = near + static_cast<std::uint32_t>(draws.below(8)) + (Psn::kMask - 3);
    if (draws.chance(0.05)) packet.psn = Psn(static_cast<std::uint32_t>(draws.below(1U << 24)));
    packet.ack_request = draws.chance(0.5);
    constexpr std::array<std::uint32_t, 8> kLengths{0, 1, 8, 255, 256, 257, 600, 0xffff'ffff};
    const auto length = [&] { return kLengths[draws.below(kLengths.size())]; };
    const auto near_end = [&] {
        return kMemoryBase + (draws.chance(0.5) ? 0 : kMemoryBytes - 16) + draws.below(24) - 8;
    };
    if (draws.chance(0.8)) packet.access = {near_end(), draws.chance(0.8) ? kKey : Rkey{7}, length()};
    if (draws.chance(0.05)) packet.access = {~std::uint64_t{0} - draws.below(16), kKey, length()};
    if (draws.chance(0.5)) packet.atomic = {draws.below(4), draws.below(4)};
    if (draws.chance(0.6))
        packet.acknowledgment =
            Acknowledgment{static_cast<std::uint8_t>(draws.below(256)), static_cast<Msn>(draws.below(1U << 24))};
    if (draws.chance(0.5)) packet.atomic_result = draws.below(100);
    if (draws.chance(0.3)) packet.immediate = 5;
    if (draws.chance(0.02)) packet.invalidate = kKey;
    if (draws.chance(0.5))
        packet.flush = Flush{static_cast<std::uint8_t>(draws.below(16)), static_cast<FlushSelectivity>(draws.below(4))};
    packet.payload = slice(payload, 0, std::min<std::size_t>(length(), payload.size()));
    if (draws.chance(0.3)) packet.payload = slice(payload, 0, 256);
    return packet;
}

// A response that may nearly be right.
TransportPacket any_response(Draws& draws, Psn near, Bytes payload) {
    TransportPacket packet = any_packet(draws, near, payload);
    if (draws.chance(0.9)) packet.opcode = static_cast<Opcode>(0x0d + draws.below(6));
    if (draws.chance(0.5)) packet.psn = near;
    constexpr std::array<std::uint8_t, 12> kSyndromes{0x00, 0x05, 0x1f, 0x1f, 0x21, 0x21,
                                                      0x21, 0x21, 0x60, 0x61, 0x62, 0x63};
    if (packet.acknowledgment && draws.chance(0.95))
        packet.acknowledgment->syndrome = kSyndromes[draws.below(kSyndromes.size())];
    return packet;
}

}  // namespace

TEST_CASE("hostile peers: requests of any kind touch nothing that was not granted") {
    const std::vector<std::byte> payload(1024, std::byte{0x77});
    std::map<ResponderVerdict, std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        Draws draws(seed);
        std::vector<std::byte> guarded(kMemoryBytes + 512, kGuardByte);
        std::vector<std::byte> receive(600 + 512, kGuardByte);
        Memory memory;
        REQUIRE(memory.add({.key = kKey,
                            .base = kMemoryBase,
                            .rights = {.read = true, .write = true, .atomic = true, .flush_global = true},
                            .bytes = MutableBytes(guarded).subspan(256, kMemoryBytes)}));
        ReceiveQueue receives;
        ResponderSettings answers = connected_pair(0).answers;
        answers.credits = draws.chance(0.5);
        answers.ack_every = static_cast<std::uint32_t>(draws.below(3));
        Responder responder(answers);
        for (int i = 0; i < 200; ++i) {
            if (draws.chance(0.2))
                REQUIRE(receives.post({.id = 1, .segments = {MutableBytes(receive).subspan(256, 600)}}));
            ++seen[responder.process(any_packet(draws, responder.expected(), payload), memory, receives).verdict];
            if (draws.chance(0.7))
                while (const auto packet = responder.poll(memory)) CHECK(packet->payload.size() <= 256);
        }
        const Bytes all = guarded;
        for (const Bytes guard : {all.first(256), all.last(256), Bytes(receive).first(256), Bytes(receive).last(256)})
            CHECK(std::ranges::all_of(guard, [](std::byte byte) { return byte == kGuardByte; }));
        std::size_t queued = 0;
        while (responder.poll(memory)) ++queued;
        CHECK(queued <= kMaxResponses * 4U * 1024U);
    }
    for (const auto verdict :
         {ResponderVerdict::accept, ResponderVerdict::duplicate, ResponderVerdict::duplicate_dropped,
          ResponderVerdict::gap, ResponderVerdict::gap_ignored, ResponderVerdict::not_ready,
          ResponderVerdict::invalid_request, ResponderVerdict::remote_access_error, ResponderVerdict::dropped})
        CHECK(seen[verdict] > 0);
}

TEST_CASE("hostile peers: responses of any kind complete every request once, and write into its segments alone") {
    const std::vector<std::byte> payload(1024, std::byte{0x77});
    std::map<CompletionStatus, std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        Draws draws(seed + 9000);
        RequesterSettings asks = connected_pair(0).asks;
        asks.end_to_end_credits = draws.chance(0.5);
        asks.ack_timeout = 8;
        asks.rnr_retries = static_cast<std::uint8_t>(seed % 3);
        Requester requester(asks);
        std::vector<std::byte> local(600 + 512, kGuardByte);
        std::map<std::uint64_t, int> completed;
        std::uint64_t posted = 0;
        Instant now{};
        constexpr std::array kKinds{WorkKind::send,      WorkKind::write,        WorkKind::read,
                                    WorkKind::fetch_add, WorkKind::atomic_write, WorkKind::flush};
        for (int i = 0; i < 300; ++i) {
            const WorkKind kind = kKinds[draws.below(kKinds.size())];
            const std::size_t bytes = kind >= WorkKind::fetch_add ? 8 : draws.below(601);
            if (draws.chance(0.2) &&
                requester.post({.id = posted, .kind = kind, .segments = {MutableBytes(local).subspan(256, bytes)}}))
                ++posted;
            while (const auto packet = requester.poll(now)) CHECK(packet->payload.size() <= 256);
            if (seed % 4 != 0 && draws.chance(0.5))
                requester.process(any_response(draws, requester.unacknowledged(), payload), now);
            while (const auto completion = requester.take_completion()) {
                ++completed[completion->id];
                ++seen[completion->status];
            }
            now = now + microseconds(static_cast<std::int64_t>(draws.below(1500)));
        }
        requester.flush_all();
        while (const auto completion = requester.take_completion()) ++completed[completion->id];
        CHECK(completed.size() == posted);
        CHECK(std::ranges::all_of(completed, [](const auto& row) { return row.second == 1; }));
        const Bytes all = local;
        for (const Bytes guard : {all.first(256), all.last(256)})
            CHECK(std::ranges::all_of(guard, [](std::byte byte) { return byte == kGuardByte; }));
    }
    for (const auto status :
         {CompletionStatus::success, CompletionStatus::local_length_error, CompletionStatus::remote_invalid_request,
          CompletionStatus::remote_access_error, CompletionStatus::remote_operational_error,
          CompletionStatus::bad_response, CompletionStatus::retry_exceeded, CompletionStatus::rnr_retry_exceeded,
          CompletionStatus::flushed})
        CHECK((seen[status] > 0 ? "" : kCompletionStatusNames[static_cast<std::size_t>(status)]) == "");
}

TEST_CASE("hostile peers: forged confirmations of FLUSH and ATOMIC WRITE") {
    const std::vector<std::byte> payload(8);
    struct Row {
        std::uint8_t opcode;
        std::size_t bytes;
        CompletionStatus status;
    };
    for (const Row& row : {Row{0x10, 0, CompletionStatus::success}, Row{0x10, 8, CompletionStatus::bad_response},
                           Row{0x0d, 0, CompletionStatus::bad_response}, Row{0x0f, 0, CompletionStatus::bad_response},
                           Row{0x12, 0, CompletionStatus::bad_response}}) {
        Requester requester(connected_pair(0).asks);
        REQUIRE(requester.post({.kind = WorkKind::flush}));
        REQUIRE(requester.poll({}));
        TransportPacket packet;
        packet.opcode = Opcode{row.opcode};
        packet.psn = kFirstPsn;
        packet.acknowledgment = Acknowledgment{0x1f, {}};
        packet.atomic_result = 1;
        packet.payload = slice(payload, 0, row.bytes);
        requester.process(packet, {});
        const auto completion = requester.take_completion();
        REQUIRE(completion);
        CHECK(completion->status == row.status);
    }
}
