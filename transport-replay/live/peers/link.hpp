// Link: one connection of a program, as its role sees it; and what every program does with its connections alike.
//
// Ours. What a peer does reaches a link as completions and events; a role that meets something it does not like says
// fail().
#pragma once

#include <transport-replay/live/peers/queues.hpp>

namespace qps::transport::live::peers {

enum class LinkState : std::uint8_t { opening, up, closing };

struct Link {
    CmId id{};
    Queues queues{};
    Address remote{};
    LinkState state = LinkState::opening;
    bool finishing = false;                  // to be disconnected once nothing of ours is outstanding
    bool flushed = false;                    // its queue pair went to error
    std::optional<std::string> complaint{};  // what went wrong; it is disconnected

    void finish() { finishing = true; }
    void fail(std::string why) {
        if (!complaint) complaint = std::move(why);
    }
    // post() and post_receive() of the queues; what is refused there is a failure of the link.
    bool post(const PeerContext& context, const verbs::SendWr& wr, std::uint32_t tag) {
        return posted(queues.post(context, wr, tag));
    }
    bool post_quietly(const PeerContext& context, const verbs::SendWr& wr, std::uint32_t tag, bool last) {
        return posted(queues.post_quietly(context, wr, tag, last));
    }
    bool post_receive(const PeerContext& context, std::uint32_t slot) {
        return posted(queues.post_receive(context, slot));
    }

private:
    bool posted(const verbs::Result<void>& result) {
        if (!result) fail("cannot post work: " + std::string(name(result.error())));
        return result.has_value();
    }
};

// What the consumer of the peer put beside its request, without the header of the RDMA IP CM service.
[[nodiscard]] dissect::Bytes asked(const ConnectionEvent& event);
// "the peer rejected the connection, reason 28", "no answer".
[[nodiscard]] std::string why_it_failed(const ConnectionEvent& event);
// "10.0.0.2: what".
[[nodiscard]] std::string about(const Link& link, std::string_view what);

// The address as the endpoint speaks: of RoCEv1 or RoCEv2.
[[nodiscard]] Address as_spoken(Endpoint& endpoint, const Address& address);
// Listens at the port; a sentence where that is not possible.
[[nodiscard]] std::expected<void, std::string> start_listening(Endpoint& endpoint, PortSpace space, IpPort port);
void stop_listening(Endpoint& endpoint, PortSpace space, IpPort port);

}  // namespace qps::transport::live::peers
