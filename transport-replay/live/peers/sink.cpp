// sink: receives everything, and says how fast it came. For a source of ours, and for anybody who SENDs.
//
// What is said beside request and reply is in offer.hpp. By the way that a source announces:
//   SEND                   messages go into the posted receives; nothing is answered. So do those of who announces
//   nothing. WRITE                  message n goes into slot n modulo slots; a SEND of 8 bytes says how many were
//   written, from the first. WRITE with immediate   likewise, and every message says itself that it is there (immediate
//   data: n, the low 32 bits).
// To WRITEs the sink answers by SENDs of 8 bytes: how many it has looked at. The writer of message n waits until n -
// slots was looked at. Counts are big-endian.
//
// A stranger may announce any size: kMostMemory ends what all of them take. What a source claims to have written
// without having done so is judged as what lies there.
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/offer.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kUnannounced = 1U << 16;  // bytes of the longest message of who announces nothing
constexpr std::uint32_t kCountBytes = 8;
constexpr std::uint32_t kSinkSends = 8;  // answers under way; more wait for these

struct SinkSession {
    Announcement announced{};
    Block region;               // where WRITEs go
    Block control;              // answers
    std::uint64_t written = 0;  // as the source says
    std::uint64_t looked_at = 0;
    std::uint64_t answered = 0;
    std::uint64_t bytes = 0;
    std::optional<dissect::Instant> first{};
    dissect::Instant last{};
    bool up = false;
};

class Sink {
public:
    using Session = SinkSession;
    explicit Sink(const ProgramRequest& request) : request_(request) {}

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& session,
                                                dissect::Bytes said) const {
        const std::uint32_t most = request_.size.value_or(kUnannounced);
        const auto announced = read_announcement(said);
        session.announced =
            announced.value_or(Announcement{.depth = static_cast<std::uint16_t>(request_.depth), .bytes = most});
        Announcement& its = session.announced;
        if (announced && its.bytes > (request_.size ? most : kMaxTransfer))
            return std::unexpected(fmt::format("it announces messages of {}", bytes_text(its.bytes)));
        its.depth = static_cast<std::uint16_t>(std::clamp<std::uint32_t>(its.depth, 1, request_.depth));
        if (its.way == Way::send)
            return QueueNeeds{.sends = 1, .receives = its.depth, .receive_bytes = std::max(1U, its.bytes)};
        return QueueNeeds{.sends = kSinkSends, .receives = its.depth + 1U, .receive_bytes = kCountBytes};
    }
    static verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) {
        const Announcement& its = session.announced;
        if (its.way == Way::send) return CmPrivateBytes{};
        auto region = Block::open(context, std::max<std::size_t>(1, std::size_t{its.depth} * its.bytes),
                                  {.local_write = true, .remote_write = true});
        if (!region) return std::unexpected(region.error());
        session.region = std::move(*region);
        auto control = Block::open(context, kCountBytes, verbs::kLocalWrite);
        if (!control) return std::unexpected(control.error());
        session.control = std::move(*control);
        const verbs::Mr& mr = session.region.mr();
        return private_bytes(Offer{.allowed = kMayWrite,
                                   .slots = its.depth,
                                   .address = mr.address,
                                   .length = session.region.size(),
                                   .key = mr.rkey},
                             kOfferBytes);
    }
    static void up(const PeerContext& /*context*/, Link& /*link*/, Session& session, dissect::Bytes /*said*/) {
        session.up = true;
    }

    void done(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        if (done.receive) {
            if (!session.first) session.first = context.now;
            session.last = context.now;
            if (!take(context, link, session, done)) return;
            if (!link.post_receive(context, done.tag)) return;
        }
        answer(context, link, session);
    }
    static bool complete(const Session& session) { return session.written == session.looked_at; }
    static void close(const PeerContext& context, const Link& link, Session& session) {
        if (session.up) {
            std::string line = fmt::format("{}, {}", counted(session.looked_at, "message"), bytes_text(session.bytes));
            const auto took =
                session.first ? static_cast<std::int64_t>(session.last) - static_cast<std::int64_t>(*session.first) : 0;
            if (took > 0)
                line += fmt::format(" in {}, {}", duration_text(dissect::Duration{took}),
                                    rate_text(static_cast<double>(session.bytes) * 8e9 / static_cast<double>(took)));
            context.say(about(link, line));
        }
        session.region.close(context);
        session.control.close(context);
    }
    static bool again() { return false; }

private:
    bool take(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        if (session.announced.way == Way::send) {
            ++session.written;
            look_at(context, link, session, link.queues.message(done));
            return true;
        }
        std::uint64_t written = session.written + 1;  // by its immediate data
        if (done.wc.opcode == verbs::WcOpcode::recv) {
            const dissect::Bytes message = link.queues.message(done);
            if (message.size() != kCountBytes) {
                link.fail(fmt::format("sent {} where 8 are expected", counted(message.size(), "byte")));
                return false;
            }
            written = dissect::read_be<std::uint64_t>(message, 0);
        } else if (session.announced.way != Way::write_with_imm || done.wc.byte_len != session.announced.bytes) {
            link.fail("wrote outside of what it announced");
            return false;
        }
        if (written < session.written || written - session.looked_at > session.announced.depth) {
            link.fail(fmt::format("reports {} written, {} arrived", counted(written, "message"), session.written));
            return false;
        }
        session.written = written;
        while (session.looked_at < session.written) {
            const std::size_t slot = session.looked_at % session.announced.depth;
            look_at(context, link, session,
                    session.region.bytes().subspan(slot * session.announced.bytes, session.announced.bytes));
        }
        return true;
    }
    void look_at(const PeerContext& context, const Link& link, Session& session, dissect::Bytes message) const {
        // What is not filled by ours is nobody's to judge; what is must also be the next one.
        const Content content = request_.verify ? judge(message) : Content::foreign;
        const bool next = content != Content::right || dissect::read_be<std::uint64_t>(message, 8) == session.looked_at;
        if (content == Content::wrong || !next) {
            ++context.counts.wrong;
            context.say(about(link, fmt::format("message {} was corrupted", session.looked_at)));
        }
        ++session.looked_at;
        session.bytes += message.size();
        ++context.counts.messages;
        context.counts.bytes += message.size();
    }
    static void answer(const PeerContext& context, Link& link, Session& session) {
        if (session.announced.way == Way::send || session.answered == session.looked_at || link.queues.room() == 0)
            return;
        session.answered = session.looked_at;
        write_be(session.control.bytes(), 0, session.answered);
        const verbs::Sge piece = session.control.piece(0, kCountBytes);
        link.post(context, {.sg_list = {&piece, 1}, .send_flags = {.inline_data = true}}, 0);
    }

    ProgramRequest request_;
};

}  // namespace

Made make_sink(const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kMaxTransfer); !fits) return std::unexpected(fits.error());
    return Connected<Sink>(Sink(request), request, kSinkPort);
}

}  // namespace qps::transport::live::peers
