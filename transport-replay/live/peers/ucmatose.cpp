// ucmatose: the server sends, the client receives and sends as many back, the server leaves. As ucmatose of librdmacm
// speaks.
//
// Both sides are told the same number and size of messages. All messages of a server are alike, and the client answers
// with what it got (the original has one buffer for both), so that both can tell whether the bytes are right. The
// original waits for all its connections before it begins; here each begins when it is there, which a peer cannot tell.
//
// The client of the original has no patience where no receive is posted: as many as there may be messages are posted
// before a connection is accepted, up to kMostPosted; more than that many messages need a client with patience (of
// ours, say).
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kUcmatoseSize = 100;  // as the original
constexpr std::uint64_t kUcmatoseCount = 10;
constexpr std::uint32_t kMostPosted = 4096;
constexpr std::uint32_t kLongest = 1U << 20;  // bytes of a message

struct UcmatoseSession {
    Block out;  // the message
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    bool up = false;
};

class Ucmatose {
public:
    using Session = UcmatoseSession;
    explicit Ucmatose(const ProgramRequest& request)
        : request_(request),
          size_(request.size.value_or(kUcmatoseSize)),
          count_(request.count.value_or(kUcmatoseCount)) {
        const auto posted = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(count_, 1, kMostPosted));
        needs_ = {.sends = posted, .receives = posted, .receive_bytes = size_};
    }

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/,
                                                dissect::Bytes /*said*/) const {
        return needs_;
    }
    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) const {
        auto out = Block::open(context, size_, verbs::kLocalWrite);
        if (!out) return std::unexpected(out.error());
        session.out = std::move(*out);
        if (!request_.target) fill(session.out.bytes(), static_cast<std::uint32_t>(request_.seed), 0);
        return CmPrivateBytes{};
    }
    void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes /*said*/) const {
        session.up = true;
        if (!request_.target) send(context, link, session);
        if (!request_.target && count_ == 0) link.finish();
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        if (done.receive) take(context, link, session, done);
        if (link.complaint) return;
        if (!request_.target || session.received >= count_) send(context, link, session);
        if (!request_.target && session.received >= count_ && session.sent >= count_) link.finish();
    }
    [[nodiscard]] bool complete(const Session& session) const {
        return session.received >= count_ && session.sent >= count_;
    }
    void close(const PeerContext& context, const Link& link, Session& session) const {
        if (session.up)
            context.say(about(link, fmt::format("{} sent, {} received", counted(session.sent, "message"),
                                                counted(session.received, "message"))));
        session.out.close(context);
    }
    static bool again() { return false; }

private:
    void send(const PeerContext& context, Link& link, Session& session) const {
        const verbs::Sge piece = session.out.piece(0, size_);
        while (session.sent < count_ && link.queues.room() != 0) {
            const bool last = session.sent + 1 == count_;
            if (!link.post_quietly(context, {.sg_list = {&piece, 1}}, 0, last)) return;
            ++session.sent;
            ++context.counts.messages;
            context.counts.bytes += size_;
        }
    }
    void take(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        const dissect::Bytes message = link.queues.message(done);
        if (session.received >= count_) {
            link.fail("sent more messages than agreed");
            return;
        }
        // The client's first is what all others have to be.
        if (request_.target && session.received == 0 && message.size() <= size_)
            std::ranges::copy(message, session.out.bytes().begin());
        const bool right =
            message.size() == size_ && (!request_.verify || std::ranges::equal(message, session.out.bytes()));
        if (!right) {
            ++context.counts.wrong;
            context.say(about(link, fmt::format("message {} was corrupted", session.received)));
        }
        ++session.received;
        ++context.counts.messages;
        context.counts.bytes += message.size();
        link.post_receive(context, done.tag);
    }

    ProgramRequest request_;
    std::uint32_t size_;
    std::uint64_t count_;
    QueueNeeds needs_{};
};

}  // namespace

Made make_ucmatose(const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kLongest); !fits) return std::unexpected(fits.error());
    return Connected<Ucmatose>(Ucmatose(request), request, kRdmaCmPort);
}

}  // namespace qps::transport::live::peers
