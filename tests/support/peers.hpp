// Two halves of a queue pair that talk to each other, and builders that stop where a test wants to begin.
#pragma once

#include <dissect/headers/infiniband.hpp>
#include <transport-replay/requester.hpp>
#include <transport-replay/responder.hpp>

#include <string>

namespace qps::tests {

inline constexpr dissect::Psn kFirstPsn{100};
inline constexpr dissect::Qpn kRequesterQp{0x11}, kResponderQp{0x22};
inline constexpr dissect::Rkey kKey{0x1234};
inline constexpr std::uint64_t kMemoryBase = 0x10000;

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
    transport::ResponderSettings answers{.peer = kRequesterQp, .expected = kFirstPsn, .mtu = transport::PathMtu::bytes_256};
    transport::Requester requester{asks};
    transport::Responder responder{answers};
    transport::Memory memory{};
    dissect::Instant now{};
    std::vector<transport::ReceivedMessage> received{};

    bool send(std::uint32_t bytes) { return requester.post({.data = some_bytes(bytes), .remote = {}, .atomic = {}}); }
    bool write(std::uint32_t bytes, std::uint64_t offset = 0) {
        return requester.post(
            {.kind = transport::WorkKind::write, .data = some_bytes(bytes), .remote = {kMemoryBase + offset, kKey, bytes}, .atomic = {}});
    }
    bool read(std::uint32_t bytes, std::uint64_t offset = 0) {
        return requester.post({.kind = transport::WorkKind::read, .data = {}, .remote = {kMemoryBase + offset, kKey, bytes}, .atomic = {}});
    }
    bool fetch_add(std::uint64_t value, std::uint64_t offset = 0) {
        return requester.post(
            {.kind = transport::WorkKind::fetch_add, .data = {}, .remote = {kMemoryBase + offset, kKey, 8}, .atomic = {value, 0}});
    }

    // What the requester sends now.
    std::vector<transport::TransportPacket> requests() {
        std::vector<transport::TransportPacket> packets;
        while (auto packet = requester.poll(now)) packets.push_back(std::move(*packet));
        return packets;
    }
    transport::ResponderVerdict arrives(const transport::TransportPacket& request) {
        auto actions = responder.process(request, memory);
        if (actions.received) received.push_back(std::move(*actions.received));
        return actions.verdict;
    }
    // What the responder says now.
    std::vector<transport::TransportPacket> responses() {
        std::vector<transport::TransportPacket> packets;
        while (auto packet = responder.poll(memory)) packets.push_back(std::move(*packet));
        return packets;
    }
    void answer(const std::vector<transport::TransportPacket>& packets) {
        for (const auto& packet : packets) requester.process(packet, now);
    }
    void wait(dissect::Duration time) { now = transport::later(now, time); }
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
    peers.memory.regions.push_back({.key = kKey,
                                    .base = kMemoryBase,
                                    .rights = {.read = true, .write = true, .atomic = true},
                                    .bytes = std::vector<std::byte>(0x10000)});
    peers.responder.post_receives(receives);
    return peers;
}

// The same with settings changed.
inline Peers connected_pair(transport::RequesterSettings asks, transport::ResponderSettings answers, std::uint32_t receives = 100) {
    Peers peers = connected_pair(0);
    peers.asks = asks;
    peers.answers = answers;
    peers.requester = transport::Requester(asks);
    peers.responder = transport::Responder(answers);
    peers.responder.post_receives(receives);
    return peers;
}

// Three one-packet SENDs were sent, the first was lost: the responder has sent its sequence NAK, the requester has it not yet.
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
