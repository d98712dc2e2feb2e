// rping: a client shows memory, the server READs it, and WRITEs the same back; over and over. As rping of librdmacm
// speaks.
//
//   client                                         server
//   "source" ------- SEND 16 bytes -------------->
//            <------ READ ------------------------
//            <------ SEND "go on" (16 bytes) -----
//   "sink"   ------- SEND 16 bytes -------------->
//            <------ WRITE, up to the first zero byte
//            <------ SEND "go on" ----------------   and again
//
// What is shown: address (8 bytes), key (4), length (4), big-endian. What "go on" holds means nothing. A ping is text:
// its number, then letters from 'A' to 'z', one further with every ping, and a zero byte.
//
// A client can show any address, key and length: only the length matters here, and it ends at kMaxPing.
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <cstring>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kMaxPing = 1U << 20;  // bytes; rping itself ends at 64 KiB
constexpr std::uint32_t kDefaultPing = 64;
constexpr std::uint32_t kShown = 16;
constexpr QueueNeeds kNeeds{.sends = 8, .receives = 4, .receive_bytes = kShown};

enum Tag : std::uint32_t { kSinkShown, kRead, kWritten };

struct Shown {
    std::uint64_t address = 0;
    dissect::Rkey key{};
    std::uint32_t length = 0;
};
Shown shown(dissect::Bytes message) {
    return {dissect::read_be<std::uint64_t>(message, 0), dissect::Rkey{dissect::read_be<std::uint32_t>(message, 8)},
            dissect::read_be<std::uint32_t>(message, 12)};
}

// The text of a ping. Letters go round between 'A' (65) and 'z' (122).
void write_ping(dissect::MutableBytes into, std::uint64_t number) {
    constexpr unsigned kFirst = 65;
    constexpr unsigned kLetters = 122 - 65 + 1;
    const std::string head = fmt::format("rdma-ping-{}: ", number);
    for (std::size_t i = 0; i < into.size(); ++i) {
        const auto letter = static_cast<unsigned>((number + (i - std::min(i, head.size()))) % kLetters) + kFirst;
        into[i] = i < head.size() ? static_cast<std::byte>(head[i]) : static_cast<std::byte>(letter);
    }
    if (!into.empty()) into.back() = std::byte{0};
}

enum class Step : std::uint8_t { waits_for_source, reads, waits_for_sink, writes };

struct RpingSession {
    Block control;  // what is said
    Block ping;     // server: what was read; client: what is to be read
    Block pong;     // client: where it comes back
    Step step = Step::waits_for_source;
    std::uint64_t rounds = 0;
    std::uint32_t length = 0;
    bool up = false;
    bool through = false;  // client: all rounds are done
};

class Rping {
public:
    using Session = RpingSession;
    explicit Rping(const ProgramRequest& request) : request_(request), size_(request.size.value_or(kDefaultPing)) {}

    static std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/,
                                                       dissect::Bytes /*said*/) {
        return kNeeds;
    }

    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) const {
        auto control = Block::open(context, kShown, verbs::kLocalWrite);
        if (!control) return std::unexpected(control.error());
        session.control = std::move(*control);
        if (!request_.target) return CmPrivateBytes{};
        auto ping = Block::open(context, size_, {.local_write = true, .remote_read = true});
        if (!ping) return std::unexpected(ping.error());
        session.ping = std::move(*ping);
        auto pong = Block::open(context, size_, {.local_write = true, .remote_write = true});
        if (!pong) return std::unexpected(pong.error());
        session.pong = std::move(*pong);
        return CmPrivateBytes{};
    }

    void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes /*said*/) const {
        session.up = true;
        if (request_.target) next_round(context, link, session);
    }

    void done(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        if (done.receive) {
            const dissect::Bytes message = link.queues.message(done);
            if (message.size() != kShown) {
                link.fail(fmt::format("sent {} bytes where {} are expected", message.size(), kShown));
                return;
            }
            const Shown theirs = shown(message);
            if (!link.post_receive(context, done.tag)) return;
            if (request_.target) {
                advance(context, link, session);
            } else {
                serve(context, link, session, theirs);
            }
        } else if (done.tag != kSinkShown) {
            served(context, link, session, done.tag);
        }
    }

    [[nodiscard]] bool complete(const Session& session) const {
        return request_.target ? session.through : session.step == Step::waits_for_source;
    }

    void close(const PeerContext& context, const Link& link, Session& session) const {
        if (session.up)
            context.say(
                about(link, fmt::format("{} of {}", counted(session.rounds, "ping"), counted(session.length, "byte"))));
        session.control.close(context);
        session.ping.close(context);
        session.pong.close(context);
    }
    static bool again() { return false; }

private:
    // Client.
    void next_round(const PeerContext& context, Link& link, Session& session) const {
        if (request_.count && session.rounds >= *request_.count) {
            session.through = true;
            link.finish();
            return;
        }
        session.step = Step::waits_for_source;
        session.length = size_;
        write_ping(session.ping.bytes(), session.rounds);
        show(context, link, session, session.ping);
    }
    void advance(const PeerContext& context, Link& link, Session& session) const {
        if (session.through) return;
        if (session.step == Step::waits_for_source) {
            session.step = Step::waits_for_sink;
            show(context, link, session, session.pong);
            return;
        }
        ++session.rounds;
        ++context.counts.messages;
        context.counts.bytes += size_;
        if (request_.verify && std::memcmp(session.ping.bytes().data(), session.pong.bytes().data(), size_) != 0) {
            ++context.counts.wrong;
            context.say(about(link, fmt::format("ping {} was corrupted", session.rounds - 1)));
        }
        std::ranges::fill(session.pong.bytes(), std::byte{0xff});  // so that the last one cannot be taken for the next
        next_round(context, link, session);
    }
    static void show(const PeerContext& context, Link& link, const Session& session, const Block& block) {
        const dissect::MutableBytes message = session.control.bytes();
        write_be(message, 0, block.mr().address);
        write_be(message, 8, static_cast<std::uint32_t>(block.mr().rkey));
        write_be(message, 12, static_cast<std::uint32_t>(block.size()));
        say(context, link, session);
    }

    // Server.
    static void serve(const PeerContext& context, Link& link, Session& session, const Shown& theirs) {
        if (theirs.length == 0 || theirs.length > kMaxPing) {
            link.fail(fmt::format("advertised {} of memory", counted(theirs.length, "byte")));
        } else if (session.step == Step::waits_for_source) {
            session.length = theirs.length;
            if (session.ping.size() < theirs.length) {
                session.ping.close(context);  // nothing of ours is under way that uses it
                auto larger = Block::open(context, theirs.length, verbs::kLocalWrite);
                if (!larger) {
                    link.fail("no memory for the ping");
                    return;
                }
                session.ping = std::move(*larger);
            }
            session.step = Step::reads;
            move(context, link, session, theirs, verbs::WrOpcode::rdma_read, theirs.length, kRead);
        } else if (session.step == Step::waits_for_sink) {
            const dissect::Bytes text = session.ping.bytes().first(session.length);
            const auto zero = static_cast<std::size_t>(std::ranges::find(text, std::byte{0}) - text.begin());
            const auto length = static_cast<std::uint32_t>(std::min(zero + 1, text.size()));
            session.step = Step::writes;
            move(context, link, session, theirs, verbs::WrOpcode::rdma_write, std::min(length, theirs.length),
                 kWritten);
        } else {
            link.fail("advertised memory out of turn");
        }
    }
    static void served(const PeerContext& context, Link& link, Session& session, std::uint32_t tag) {
        if (tag == kWritten) {
            ++session.rounds;
            ++context.counts.messages;
            context.counts.bytes += session.length;
        }
        session.step = tag == kRead ? Step::waits_for_sink : Step::waits_for_source;
        say(context, link, session);
    }
    static void move(const PeerContext& context, Link& link, const Session& session, const Shown& theirs,
                     verbs::WrOpcode opcode, std::uint32_t length, std::uint32_t tag) {
        const verbs::Sge piece = session.ping.piece(0, length);
        link.post(context, {.sg_list = {&piece, 1}, .opcode = opcode, .remote = {theirs.address, theirs.key}}, tag);
    }
    static void say(const PeerContext& context, Link& link, const Session& session) {
        const verbs::Sge piece = session.control.piece(0, kShown);
        link.post(context, {.sg_list = {&piece, 1}, .send_flags = {.inline_data = true}}, kSinkShown);
    }

    ProgramRequest request_;
    std::uint32_t size_;
};

}  // namespace

Made make_rping(const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kMaxPing); !fits) return std::unexpected(fits.error());
    return Connected<Rping>(Rping(request), request, kRpingPort);
}

}  // namespace qps::transport::live::peers
