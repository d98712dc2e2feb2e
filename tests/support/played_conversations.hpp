// Two endpoints on a simulated wire, and programs on them, under virtual time; what a tap in the middle recorded.
#pragma once

#include <tests/support/conversations.hpp>
#include <transport-replay/live/device/sim_device.hpp>
#include <transport-replay/live/replay/conversation_player.hpp>

#include <algorithm>
#include <utility>

namespace qps::tests {

inline constexpr dissect::Instant kPlayStart{1'800'000'000'000'000'000};

struct PlayWire {
    std::shared_ptr<transport::live::SimWire> wire;
    transport::live::Endpoint a;
    transport::live::Endpoint b;
    dissect::Instant now = kPlayStart;

    explicit PlayWire(const transport::LinkSettings& link = {})
        : wire(transport::live::make_wire(link, {.place = transport::TapPlace::middle}, kPlayStart)),
          a(endpoint(transport::End::a)),
          b(endpoint(transport::End::b)) {}

    [[nodiscard]] static transport::Address address(transport::End end) {
        return transport::live::ipv4(0x0a4d'0001 + static_cast<std::uint32_t>(end));
    }
    // Until both are done, or the time is over. False: it was over.
    template <class A, class B>
    bool run(A& at_a, B& at_b, dissect::Duration most = dissect::Duration{120'000'000'000}) {
        const dissect::Instant end = now + most;
        while (!at_a.done() || !at_b.done()) {
            a.poll(now);
            at_a.poll(a, now);
            b.poll(now);
            at_b.poll(b, now);
            dissect::Instant next = end;
            for (const auto& due : {a.poll_at(), b.poll_at(), at_a.poll_at(), at_b.poll_at()})
                if (due) next = std::min(next, *due);
            now = std::max(next, now + dissect::Duration{200});
            if (now >= end) return false;
        }
        return true;
    }

private:
    [[nodiscard]] transport::live::Endpoint endpoint(transport::End end) const {
        const auto last = static_cast<std::uint64_t>(end);
        transport::live::HostSettings host{.mac = transport::live::Mac{0x0200'0000'0001 + last},
                                           .addresses = {{address(end), 24}}};
        host.detect_duplicates = false;
        return transport::live::Endpoint(transport::live::Device(transport::live::open_sim_device(wire, end)),
                                         {.host = std::move(host), .seed = 7 + last}, kPlayStart);
    }
};

// Calls each(packet) for what the tap recorded.
inline auto packets_of(std::vector<transport::CapturedFrame> frames) {
    return [frames = std::move(frames)](const auto& each) {
        dissect::Packet packet;
        std::uint64_t number = 0;
        for (const transport::CapturedFrame& captured : frames) {
            dissect::Frame frame;
            frame.index = dissect::FrameIndex{++number};
            frame.time = captured.time;
            frame.bytes = captured.bytes;
            frame.wire_length = captured.wire_length;
            frame.link = dissect::LinkType::ethernet;
            dissect::decode(frame, packet);
            each(packet);
        }
    };
}

struct Played {
    transport::live::ReplayComparison requester;
    transport::live::ReplayComparison responder;
    std::vector<transport::CapturedFrame> frames;
    bool ended = false;
};

// Plays both parts against each other; each end may have a recording of its own. Keys that nothing tells are told by
// hand.
inline Played play(const transport::live::RecordedConversation& requester,
                   const transport::live::RecordedConversation& responder,
                   transport::live::PlayerSettings settings = {}) {
    using namespace transport::live;
    PlayWire stage;
    auto asks = part_of(requester, requester.requester);
    auto answers = part_of(responder, transport::other(responder.requester));
    REQUIRE(asks.has_value());
    REQUIRE(answers.has_value());
    settings.port = IpPort{7174};
    ConversationPlayer server(responder, std::move(*answers), settings);
    const auto listening = server.begin(stage.b, stage.now);
    if (!listening) FAIL(listening.error());
    settings.keys = server.untold_keys();
    settings.connect = Target{.address = PlayWire::address(transport::End::b), .port = settings.port};
    ConversationPlayer client(requester, std::move(*asks), settings);
    const auto connecting = client.begin(stage.a, stage.now);
    if (!connecting) FAIL(connecting.error());
    server.map_keys(client.untold_keys());
    Played played;
    played.ended = stage.run(client, server);
    played.requester = client.comparison();
    played.responder = server.comparison();
    played.frames = stage.wire->link.take_recording();
    return played;
}

}  // namespace qps::tests
