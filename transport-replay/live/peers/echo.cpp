// echo: every message goes back as it came, immediate data included. And rdma_client and rdma_server of librdmacm: one
// message of 16 zero bytes there and one back; that client is served by echo, too.
//
// Messages are SENDs (with immediate, if they like) of at most the size that the user allows, 64 KiB else; a longer one
// ends its connection, as the transport has it. A slot is posted again once its answer was acknowledged, so a client
// that sends and never acknowledges fills its own slots and nothing else.
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kDefaultServed = 1U << 16;  // bytes of the longest message, unless the user says otherwise
constexpr std::uint32_t kRdmaMessage = 16;          // of rdma_client and rdma_server
constexpr std::uint32_t kDefaultSent = 64;
constexpr std::uint64_t kDefaultCount = 10;

struct EchoSession {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    bool up = false;
};

// What an answer is to a message.
verbs::SendWr answer_to(const verbs::Wc& wc) {
    return {.opcode = wc.flags.with_imm ? verbs::WrOpcode::send_with_imm : verbs::WrOpcode::send,
            .imm_data = wc.imm_data};
}

class EchoServer {
public:
    using Session = EchoSession;
    // `answers`: after how many the server leaves; 0: never.
    EchoServer(const ProgramRequest& request, std::uint32_t size, std::uint64_t answers)
        : needs_{.sends = request.depth, .receives = request.depth, .receive_bytes = size}, answers_(answers) {}

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/,
                                                dissect::Bytes /*said*/) const {
        return needs_;
    }
    static verbs::Result<CmPrivateBytes> prepare(const PeerContext& /*context*/, Link& /*link*/, Session& /*session*/) {
        return CmPrivateBytes{};
    }
    static void up(const PeerContext& /*context*/, Link& /*link*/, Session& session, dissect::Bytes /*said*/) {
        session.up = true;
    }

    void done(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        if (!done.receive) {
            link.post_receive(context, done.tag);
            return;
        }
        const verbs::Sge piece = link.queues.message_piece(done);
        verbs::SendWr wr = answer_to(done.wc);
        if (piece.length != 0) wr.sg_list = {&piece, 1};
        if (!link.post(context, wr, done.tag)) return;
        ++session.messages;
        session.bytes += piece.length;
        ++context.counts.messages;
        context.counts.bytes += piece.length;
        if (session.messages == answers_) link.finish();
    }
    static bool complete(const Session& /*session*/) { return true; }
    static void close(const PeerContext& context, const Link& link, const Session& session) {
        if (session.up)
            context.say(about(
                link, fmt::format("{} returned, {}", counted(session.messages, "message"), bytes_text(session.bytes))));
    }
    static bool again() { return false; }

private:
    QueueNeeds needs_;
    std::uint64_t answers_;
};

struct EchoClientSession {
    Block out;  // a slot for each message under way
    std::uint64_t sent = 0;
    std::uint64_t back = 0;
    bool up = false;
};

class EchoClient {
public:
    using Session = EchoClientSession;
    // `zeros`: messages are of zero bytes and not filled.
    EchoClient(const ProgramRequest& request, std::uint32_t size, std::uint64_t count, bool zeros)
        : request_(request), size_(size), count_(count), zeros_(zeros) {
        needs_ = {.sends = request.depth, .receives = request.depth, .receive_bytes = std::max(1U, size)};
    }

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/,
                                                dissect::Bytes /*said*/) const {
        return needs_;
    }
    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) const {
        auto out = Block::open(context, std::size_t{request_.depth} * std::max(1U, size_), verbs::kLocalWrite);
        if (!out) return std::unexpected(out.error());
        session.out = std::move(*out);
        return CmPrivateBytes{};
    }
    void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes /*said*/) const {
        session.up = true;
        send(context, link, session);
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        if (done.receive) take(context, link, session, done);
        if (!link.complaint) send(context, link, session);
    }
    [[nodiscard]] bool complete(const Session& session) const { return session.back >= count_; }
    void close(const PeerContext& context, const Link& link, Session& session) const {
        if (session.up)
            context.say(about(
                link, fmt::format("{} of {} returned", counted(session.back, "message"), counted(size_, "byte"))));
        session.out.close(context);
    }
    static bool again() { return false; }

private:
    void send(const PeerContext& context, Link& link, Session& session) const {
        // A message under way has a slot until it is back; its answer needs a receive.
        while (session.sent < count_ && session.sent - session.back < request_.depth && link.queues.room() != 0) {
            const verbs::Sge piece = session.out.piece(session.sent % request_.depth * std::max(1U, size_), size_);
            if (!zeros_) fill(slot(session, session.sent), seed(), session.sent);
            verbs::SendWr wr{};
            if (size_ != 0) wr.sg_list = {&piece, 1};
            if (!link.post(context, wr, 0)) return;
            ++session.sent;
        }
    }
    void take(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        const dissect::Bytes message = link.queues.message(done);
        if (session.back >= session.sent) {
            link.fail("returned data that was not sent");
            return;
        }
        const bool right =
            message.size() == size_ && (!request_.verify || std::ranges::equal(message, slot(session, session.back)));
        if (!right) {
            ++context.counts.wrong;
            context.say(about(link, fmt::format("message {} was corrupted", session.back)));
        }
        ++session.back;
        ++context.counts.messages;
        context.counts.bytes += message.size();
        if (!link.post_receive(context, done.tag)) return;
        if (session.back == count_) link.finish();
    }
    [[nodiscard]] dissect::MutableBytes slot(const Session& session, std::uint64_t number) const {
        return session.out.bytes().subspan(number % request_.depth * std::max(1U, size_), size_);
    }
    [[nodiscard]] std::uint32_t seed() const { return static_cast<std::uint32_t>(request_.seed); }

    ProgramRequest request_;
    std::uint32_t size_;
    std::uint64_t count_;
    bool zeros_;
    QueueNeeds needs_{};
};

}  // namespace

Made make_echo(const ProgramRequest& request) {
    if (const auto fits = sound(request, 0, kMaxTransfer); !fits) return std::unexpected(fits.error());
    if (!request.target)
        return Connected<EchoServer>({request, std::max(1U, request.size.value_or(kDefaultServed)), 0}, request,
                                     kRdmaCmPort);
    const std::uint64_t count = request.count.value_or(kDefaultCount);
    if (count == 0) return std::unexpected("invalid count 0: expected at least 1");
    return Connected<EchoClient>({request, request.size.value_or(kDefaultSent), count, false}, request, kRdmaCmPort);
}

Made make_rdma_client(const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kMaxTransfer); !fits) return std::unexpected(fits.error());
    return Connected<EchoClient>({request, request.size.value_or(kRdmaMessage), 1, true}, request, kRdmaCmPort);
}

Made make_rdma_server(const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kMaxTransfer); !fits) return std::unexpected(fits.error());
    return Connected<EchoServer>({request, request.size.value_or(kRdmaMessage), 1}, request, kRdmaCmPort);
}

}  // namespace qps::transport::live::peers
