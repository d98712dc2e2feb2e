// source: sends messages of a given size to a sink, by SEND, WRITE or WRITE with immediate, so many under way at a
// time. What it says to the sink is in offer.hpp and sink.cpp.
//
// SENDs and WRITEs are signaled every half queue. A sink's offer is a stranger's: what does not hold the messages is
// refused, and an answer that claims to have seen more than was sent ends the connection.
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/offer.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kSourceSize = 1U << 16;
constexpr std::uint64_t kDefaultCount = 1000;
constexpr std::uint32_t kSourceCountBytes = 8;
constexpr std::uint32_t kAnswers =
    64;  // receives for the sink's answers: one answers all that it has seen, so few are under way

enum SourceTag : std::uint32_t { kMessages, kNotice };

struct SourceSession {
    Block out;
    Block control;
    Offer offer{};
    std::uint64_t sent = 0;
    std::uint64_t announced = 0;  // WRITE: of how many the sink knows
    std::uint64_t completed = 0;  // acknowledged
    std::uint64_t seen = 0;       // by the sink, as it says
    dissect::Instant began{};
    dissect::Instant last{};
    bool up = false;
};

class Source {
public:
    using Session = SourceSession;
    Source(const ProgramRequest& request, Way way)
        : request_(request),
          way_(way),
          size_(request.size.value_or(kSourceSize)),
          count_(request.count.value_or(kDefaultCount)) {}

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/,
                                                dissect::Bytes /*said*/) const {
        return QueueNeeds{.sends = request_.depth * 2, .receives = kAnswers, .receive_bytes = kSourceCountBytes};
    }
    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) const {
        auto out =
            Block::open(context, std::max<std::size_t>(1, std::size_t{request_.depth} * size_), verbs::kLocalWrite);
        if (!out) return std::unexpected(out.error());
        session.out = std::move(*out);
        auto control = Block::open(context, kSourceCountBytes, verbs::kLocalWrite);
        if (!control) return std::unexpected(control.error());
        session.control = std::move(*control);
        return private_bytes(
            Announcement{.way = way_, .depth = static_cast<std::uint16_t>(request_.depth), .bytes = size_},
            kAnnouncementBytes);
    }
    void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes said) const {
        session.up = true;
        session.began = context.now;
        if (way_ != Way::send) {
            const auto offer = read_offer(said);
            if (!offer || (offer->allowed & kMayWrite) == 0 || offer->length / offer->slots < size_) {
                link.fail("advertises no memory for the messages");
                return;
            }
            session.offer = *offer;
        }
        proceed(context, link, session);
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        session.last = context.now;
        if (done.receive) {
            const dissect::Bytes message = link.queues.message(done);
            const auto seen = dissect::read_be<std::uint64_t>(message, 0);
            if (message.size() != kSourceCountBytes || seen < session.seen || seen > session.sent) {
                link.fail("sent an invalid answer");
                return;
            }
            session.seen = seen;
            if (!link.post_receive(context, done.tag)) return;
        } else {
            // A notice stands for the messages before it that were not signaled, too.
            session.completed += done.count - (done.tag == kNotice ? 1U : 0U);
        }
        proceed(context, link, session);
    }
    [[nodiscard]] bool complete(const Session& session) const { return through(session); }
    void close(const PeerContext& context, const Link& link, Session& session) const {
        if (session.up) {
            const std::uint64_t bytes = session.completed * size_;
            std::string line =
                fmt::format("{} of {} sent", counted(session.completed, "message"), counted(size_, "byte"));
            const std::int64_t took =
                static_cast<std::int64_t>(session.last) - static_cast<std::int64_t>(session.began);
            if (took > 0)
                line += fmt::format(" in {}, {}", duration_text(dissect::Duration{took}),
                                    rate_text(static_cast<double>(bytes) * 8e9 / static_cast<double>(took)));
            context.say(about(link, line));
        }
        session.out.close(context);
        session.control.close(context);
    }
    static bool again() { return false; }

private:
    [[nodiscard]] bool through(const Session& session) const {
        return session.completed >= count_ && (way_ == Way::send || session.seen >= count_);
    }
    void proceed(const PeerContext& context, Link& link, Session& session) const {
        do {
            if (way_ == Way::write && !announce(context, link, session)) return;
        } while (may_send(link, session) && send(context, link, session));
        if (way_ == Way::write && !announce(context, link, session)) return;
        if (through(session)) link.finish();
    }
    // A slot of ours is free once its message was acknowledged; one of the sink's once it has looked at it.
    [[nodiscard]] bool may_send(const Link& link, const Session& session) const {
        if (session.sent >= count_ || session.sent - session.completed >= request_.depth || link.queues.room() < 2)
            return false;
        return way_ == Way::send || session.sent - session.seen < session.offer.slots;
    }
    bool send(const PeerContext& context, Link& link, Session& session) const {
        const std::size_t slot = session.sent % request_.depth * size_;
        if (request_.verify)
            fill(session.out.bytes().subspan(slot, size_), static_cast<std::uint32_t>(request_.seed), session.sent);
        const verbs::Sge piece = session.out.piece(slot, size_);
        verbs::SendWr wr{};
        if (size_ != 0) wr.sg_list = {&piece, 1};
        if (way_ != Way::send) {
            wr.opcode = way_ == Way::write ? verbs::WrOpcode::rdma_write : verbs::WrOpcode::rdma_write_with_imm;
            wr.imm_data = static_cast<std::uint32_t>(session.sent);
            wr.remote = {.address = session.offer.address + session.sent % session.offer.slots * size_,
                         .rkey = session.offer.key};
        }
        // The last that may go now is signaled, or nothing would ever say that there is room again.
        ++session.sent;
        const bool last = !may_send_after(link, session);
        if (!link.post_quietly(context, wr, kMessages, last)) return false;
        ++context.counts.messages;
        context.counts.bytes += size_;
        return true;
    }
    [[nodiscard]] bool may_send_after(const Link& link, const Session& session) const {
        return link.queues.room() > 2 && may_send(link, session);
    }
    bool announce(const PeerContext& context, Link& link, Session& session) const {
        if (session.announced == session.sent || link.queues.room() == 0) return true;
        const bool worth_it =
            session.sent == count_ ||
            session.sent - session.announced >= std::max<std::uint64_t>(1, session.offer.slots / 2U) ||
            session.sent - session.seen >= session.offer.slots;
        if (!worth_it) return true;
        session.announced = session.sent;
        write_be(session.control.bytes(), 0, session.announced);
        const verbs::Sge piece = session.control.piece(0, kSourceCountBytes);
        return link.post(context, {.sg_list = {&piece, 1}, .send_flags = {.inline_data = true}}, kNotice);
    }

    ProgramRequest request_;
    Way way_;
    std::uint32_t size_;
    std::uint64_t count_;
};

Made make(const ProgramRequest& request, Way way) {
    if (const auto fits = sound(request, way == Way::send ? 0 : 1, kMaxTransfer); !fits)
        return std::unexpected(fits.error());
    if (request.count && *request.count == 0) return std::unexpected("invalid count 0: expected at least 1");
    return Connected<Source>(Source(request, way), request, kSinkPort);
}

}  // namespace

Made make_source(const ProgramRequest& request) { return make(request, Way::send); }
Made make_source_write(const ProgramRequest& request) { return make(request, Way::write); }
Made make_source_imm(const ProgramRequest& request) { return make(request, Way::write_with_imm); }

}  // namespace qps::transport::live::peers
