// RDS, IPoIB, rsockets, LNet, UCX and libfabric: any message decoded with the hint that it is theirs, every field read;
// the machines fed with any messages and transfers in any order; and traffic of any shape to who looks for collectives.
//
// The first byte chooses: a message to be decoded, a conversation, or traffic.
#include <dissect/packet/tree.hpp>
#include <dissect/ulp/ulp.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <array>
#include <cstdlib>
#include <vector>

#include "bytewise.hpp"

namespace {

using namespace qps::dissect;
using namespace qps::transport;
using qps::fuzz::Bytewise;

constexpr std::array kProtocols{UlpProtocol::rds, UlpProtocol::ipoib, UlpProtocol::rsockets, UlpProtocol::lnet};
constexpr std::array kLibraries{UlpProtocol::ucx, UlpProtocol::ucx_datagram, UlpProtocol::rxm, UlpProtocol::rxd};

UlpProtocol chosen(std::uint8_t number) {
    return ((number & 128) != 0 ? kLibraries : kProtocols)[number % kProtocols.size()];
}

std::vector<std::byte> bytes_of(std::span<const std::uint8_t> numbers) {
    std::vector<std::byte> bytes;
    for (const std::uint8_t number : numbers) bytes.push_back(std::byte{number});
    return bytes;
}

void decode_one(Bytewise input) {
    const UlpProtocol protocol = chosen(input.byte());
    const std::vector<std::byte> message = bytes_of(input.take(1 << 16));
    Packet packet;
    decode_message(message, {protocol, true}, packet);
    for (const Layer& layer : packet.layers()) {
        if (std::size_t{layer.offset} + layer.length > message.size()) std::abort();
        for (const Field& field : header(layer.kind).fields) static_cast<void>(value_of(packet, layer, field));
    }
}

void dialogue(Bytewise input) {
    const std::uint8_t first = input.byte();
    UlpHints hints;
    if ((first & 4) != 0) hints.emplace(1, chosen(first));
    UlpTracker ulp(std::move(hints));
    Tracker tracker(false);
    std::uint64_t frame = 0;
    std::uint64_t ended = 0;
    const OperationSink sink = [&](const UlpOperation&) { ++ended; };
    while (!input.empty()) {
        const std::uint8_t what = input.byte();
        const End from = (what & 1) != 0 ? End::b : End::a;
        const Instant time{static_cast<std::int64_t>(++frame) * 1000};
        if ((what & 6) == 6) {
            const std::vector<std::byte> place = bytes_of(input.take(8));
            ulp.transferred({.connection = ConnectionId{1},
                             .requester = from,
                             .read = (what & 8) != 0,
                             .access = {read_be<std::uint16_t>(place, 0), Rkey{read_be<std::uint16_t>(place, 2)},
                                        read_be<std::uint16_t>(place, 4)},
                             .bytes = read_be<std::uint16_t>(place, 4),
                             .begun = time,
                             .time = time,
                             .first_frame = FrameIndex{frame},
                             .last_frame = FrameIndex{frame},
                             .immediate = {},
                             .payload = {}});
            continue;
        }
        const std::vector<std::byte> bytes = bytes_of(input.take(input.byte()));
        UlpMessage message;
        message.connection = ConnectionId{1};
        message.from = from;
        message.bytes = bytes;
        message.length = bytes.size() + (what >> 5);  // some were cut
        message.begun = message.time = time;
        message.first_frame = message.last_frame = FrameIndex{frame};
        message.psn = Psn(static_cast<std::uint32_t>(frame));
        if ((what & 16) != 0) message.immediate = read_be<std::uint32_t>(bytes, 0);
        ulp.deliver(message, tracker, sink);
    }
    const UlpReport report = ulp.finish({}, sink);
    for (const UlpConversation& conversation : report.conversations)
        if (conversation.unread > conversation.messages) std::abort();
}

void traffic(Bytewise input) {
    CollectiveTracker tracker;
    std::int64_t now = 0;
    std::uint64_t frame = 0;
    while (!input.empty()) {
        Observation observation;
        const std::uint8_t hosts = input.byte();
        now += std::int64_t{input.byte()} << (input.byte() % 40);
        observation.frame = FrameIndex{++frame};
        observation.time = Instant{now};
        observation.opcode = Opcode{input.byte()};
        observation.flow.source.bits[1] = hosts & 15;
        observation.flow.destination.bits[1] = hosts >> 4;
        observation.payload_length = std::uint32_t{input.byte()} << (input.byte() % 24);
        const std::vector<std::byte> payload = bytes_of(input.take(12));
        observation.payload = payload;
        observation.access = RemoteAccess{read_le<std::uint64_t>(payload, 0), {}, observation.payload_length};
        PacketRecord record;
        record.connection = ConnectionId{hosts};
        record.from = (hosts & 1) != 0 ? End::a : End::b;
        tracker.observe(observation, record);
    }
    const CollectiveReport report = tracker.finish({});
    for (const Collective& collective : report.collectives)
        if (collective.straggler && collective.straggler->rank >= collective.ranks.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytewise input(std::span(data, size));
    switch (input.byte() % 3) {
        case 0: decode_one(input); break;
        case 1: dialogue(input); break;
        default: traffic(input); break;
    }
    return 0;
}
