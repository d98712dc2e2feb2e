// Two halves of a queue pair that dialogue to each other, and builders that stop where a test wants to begin.
#pragma once

#include <dissect/headers/infiniband.hpp>
#include <transport-replay/queue_pair/requester.hpp>
#include <transport-replay/queue_pair/responder.hpp>

#include <cstring>
#include <deque>
#include <string>

namespace qps::tests {

inline constexpr dissect::Psn kFirstPsn{100};
inline constexpr dissect::Qpn kRequesterQp{0x11}, kResponderQp{0x22};
inline constexpr dissect::Rkey kKey{0x1234}, kWindow{0x99};
inline constexpr std::uint64_t kMemoryBase = 0x10000;
inline constexpr std::size_t kMemoryBytes = 0x10000;
inline constexpr std::size_t kReceiveBytes = 0x2000;  // of every posted receive

inline std::vector<std::byte> some_bytes(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
    return bytes;
}

// "SEND_FIRST 100", "ACKNOWLEDGE 102 ACK msn 1", "ACKNOWLEDGE 101 NAK 0 msn 0"; AckReq is a "!" behind the PSN.
inline std::string line(const transport::TransportPacket& packet) {
    std::string text(dissect::info(packet.opcode).name().substr(3));
    text += ' ' + std::to_string(packet.psn.value());
    if (packet.ack_request) text += '!';
    if (packet.acknowledgment) {
        const auto type = packet.acknowledgment->type();
        text += ' ' + std::string(dissect::kSyndromeTypes[type].name);
        if (type != 0) text += ' ' + std::to_string(packet.acknowledgment->code());
        text += " msn " + std::to_string(static_cast<std::uint32_t>(packet.acknowledgment->msn));
    }
    return text;
}

// A requester, a responder and the memory behind it; time stands still until a test says otherwise.
struct Peers {
    transport::RequesterSettings asks{.peer = kResponderQp, .first = kFirstPsn, .mtu = transport::PathMtu::bytes_256};
    transport::ResponderSettings answers{
        .peer = kRequesterQp, .expected = kFirstPsn, .mtu = transport::PathMtu::bytes_256};
    transport::Requester requester{asks};
    transport::Responder responder{answers};
    transport::Memory memory{};
    transport::ReceiveQueue receives{};
    std::vector<std::byte> region = std::vector<std::byte>(kMemoryBytes);  // the memory of kKey
    std::deque<std::vector<std::byte>> buffers{};  // receives, in the order in which they were posted
    std::deque<std::vector<std::byte>> local{};    // of the requester's messages, in order
    std::deque<std::vector<std::byte>> kept{};     // payloads, which the machines lend for one call
    dissect::Instant now{};
    std::vector<transport::ReceivedMessage> received{};
    std::vector<transport::ResponderActions> actions{};

    // Posts a work request with the bytes as its only segment.
    bool post(transport::WorkRequest work, std::vector<std::byte> bytes) {
        local.push_back(std::move(bytes));
        if (!local.back().empty()) work.segments.push_back(local.back());
        return requester.post(std::move(work));
    }
    bool send(std::uint32_t bytes) { return post({}, some_bytes(bytes)); }
    bool write(std::uint32_t bytes, std::uint64_t offset = 0) {
        return post({.kind = transport::WorkKind::write, .remote = {kMemoryBase + offset, kKey, bytes}},
                    some_bytes(bytes));
    }
    bool read(std::uint32_t bytes, std::uint64_t offset = 0) {
        return post({.kind = transport::WorkKind::read, .remote = {kMemoryBase + offset, kKey, bytes}},
                    std::vector<std::byte>(bytes));
    }
    bool fetch_add(std::uint64_t value, std::uint64_t offset = 0) {
        return post(
            {.kind = transport::WorkKind::fetch_add, .remote = {kMemoryBase + offset, kKey, 8}, .atomic = {value, 0}},
            std::vector<std::byte>(8));
    }
    void post_receives(std::uint32_t count, std::size_t bytes = kReceiveBytes) {
        for (std::uint32_t i = 0; i < count; ++i) {
            transport::PostedReceive receive{.id = buffers.size()};
            receive.segments.push_back(buffers.emplace_back(bytes));
            static_cast<void>(receives.post(std::move(receive)));
        }
    }
    // The bytes of a message that was received.
    [[nodiscard]] std::vector<std::byte> bytes_of(const transport::ReceivedMessage& message) const {
        const std::vector<std::byte>& buffer = buffers.at(message.id);
        return {buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(message.length)};
    }
    // Eight bytes of memory as the hosts have them.
    [[nodiscard]] static std::uint64_t cell(dissect::Bytes bytes, std::size_t offset = 0) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.subspan(offset).data(), sizeof(value));
        return value;
    }
    transport::TransportPacket keep(transport::TransportPacket packet) {
        kept.emplace_back(packet.payload.begin(), packet.payload.end());
        packet.payload = kept.back();
        return packet;
    }

    // What the requester sends now.
    std::vector<transport::TransportPacket> requests() {
        std::vector<transport::TransportPacket> packets;
        while (auto packet = requester.poll(now)) packets.push_back(keep(*packet));
        return packets;
    }
    transport::ResponderVerdict arrives(const transport::TransportPacket& request) {
        actions.push_back(responder.process(request, memory, receives));
        if (actions.back().received) received.push_back(*actions.back().received);
        return actions.back().verdict;
    }
    // What the responder says now.
    std::vector<transport::TransportPacket> responses() {
        std::vector<transport::TransportPacket> packets;
        while (auto packet = responder.poll(memory)) packets.push_back(keep(*packet));
        return packets;
    }
    void answer(const std::vector<transport::TransportPacket>& packets) {
        for (const auto& packet : packets) requester.process(packet, now);
    }
    void wait(dissect::Duration time) { now = now + time; }
    // Everything both have to say, without loss; the lines of it.
    std::vector<std::string> converse() {
        std::vector<std::string> lines;
        for (int quiet = 0; quiet < 2;) {
            const std::size_t before = lines.size();
            for (const auto& packet : requests()) {
                lines.push_back("> " + line(packet));
                static_cast<void>(arrives(packet));
            }
            for (const auto& packet : responses()) {
                lines.push_back("< " + line(packet));
                requester.process(packet, now);
            }
            quiet = lines.size() == before ? quiet + 1 : 0;
        }
        return lines;
    }
};

inline std::vector<std::string> lines(const std::vector<transport::TransportPacket>& packets) {
    std::vector<std::string> text;
    for (const auto& packet : packets) text.push_back(line(packet));
    return text;
}

// Both in ready-to-send, with 64 KiB of memory that grants everything and receives posted. Path MTU 256.
inline Peers connected_pair(std::uint32_t receives = 100) {
    Peers peers;
    static_cast<void>(peers.memory.add({.key = kKey,
                                        .base = kMemoryBase,
                                        .rights = {.local_write = true,
                                                   .read = true,
                                                   .write = true,
                                                   .atomic = true,
                                                   .bind = true,
                                                   .flush_global = true,
                                                   .flush_persistent = true},
                                        .bytes = peers.region}));
    peers.post_receives(receives);
    return peers;
}

// The same with settings changed.
inline Peers connected_pair(transport::RequesterSettings asks, transport::ResponderSettings answers,
                            std::uint32_t receives = 100) {
    Peers peers = connected_pair(0);
    peers.asks = asks;
    peers.answers = answers;
    peers.requester = transport::Requester(asks);
    peers.responder = transport::Responder(answers);
    peers.post_receives(receives);
    return peers;
}

// What completed since one asked last.
inline std::vector<transport::CompletionStatus> statuses(transport::Requester& requester) {
    std::vector<transport::CompletionStatus> all;
    while (const auto completion = requester.take_completion()) all.push_back(completion->status);
    return all;
}
inline constexpr auto kSuccess = transport::CompletionStatus::success;

// Three one-packet SENDs were sent, the first was lost: the responder has sent its sequence NAK, the requester has it
// not yet.
struct AfterNak {
    Peers peers;
    std::vector<transport::TransportPacket> sent;
    std::vector<transport::TransportPacket> said;
};
inline AfterNak after_nak() {
    AfterNak scene{connected_pair(), {}, {}};
    for (int i = 0; i < 3; ++i) static_cast<void>(scene.peers.send(64));
    scene.sent = scene.peers.requests();
    for (std::size_t i = 1; i < scene.sent.size(); ++i) static_cast<void>(scene.peers.arrives(scene.sent[i]));
    scene.said = scene.peers.responses();
    return scene;
}

}  // namespace qps::tests
