// rstream: a stream there and as much back, in transfers, over an rsocket. As rstream of librdmacm speaks.
//
// 16 bytes go there and back; then a test is so many times: `transfers` of `size` bytes there, and as many back. Told a
// size or a number of transfers, the client does one test; told nothing, the series of the original: first one transfer
// at a time (latency), then, on another connection, many in a row (bandwidth). Our server need not be told: it owes as
// many bytes as came. Bytes count up by one, through all transfers and connections of a client, as those of `rstream -T
// v` do.
//
// An original without -T v sends again what it received last, so each transfer that comes back counts up from where
// it stands, or from where the last one that we sent began. What a server is sent is judged only where its first 16
// bytes count.
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/live/peers/rsocket.hpp>
#include <transport-replay/report/figures.hpp>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kSync = 16;  // bytes
constexpr std::uint32_t kDefaultSize = 1000;
constexpr std::uint32_t kDefaultTransfers = 1000;

void count_up(dissect::MutableBytes into, std::uint8_t from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<std::byte>(from + i);
}
bool counts_up(dissect::Bytes bytes, std::uint8_t from) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != static_cast<std::byte>(from + i)) return false;
    return true;
}

struct ServedStream {
    Rsocket socket;
    CmPrivateBytes asked{};
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    std::uint8_t first = 0;  // the first byte: both directions stand at the same number
    bool counts = true;
    bool up = false;
};

class StreamServer {
public:
    using Session = ServedStream;
    explicit StreamServer(const ProgramRequest& request) : verify_(request.verify) {}

    static std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& session,
                                                       dissect::Bytes said) {
        if (auto wrong = Rsocket::judge(said)) return std::unexpected("it " + *wrong);
        session.asked = CmPrivateBytes(said);
        return Rsocket::needs();
    }
    static verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) {
        auto says = session.socket.prepare(context);
        if (says) session.socket.connect(session.asked.bytes());
        return says;
    }
    static void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes /*said*/) {
        session.up = true;
        session.socket.tend(context, link);
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        session.socket.done(context, link, done);
        for (dissect::Bytes bytes = session.socket.readable(); !bytes.empty() && !link.complaint;
             bytes = session.socket.readable()) {
            look_at(context, link, session, bytes);
            session.socket.take(bytes.size());
        }
        while (session.sent < session.received && !link.complaint) {
            const dissect::MutableBytes room = session.socket.writable();
            const std::size_t length = std::min<std::uint64_t>(room.size(), session.received - session.sent);
            if (length == 0) break;
            count_up(room.first(length), static_cast<std::uint8_t>(session.first + session.sent));
            session.socket.send(context, link, length);
            session.sent += length;
        }
        if (session.socket.peer_left() && session.sent == session.received) session.socket.shut();
        session.socket.tend(context, link);
    }
    static bool complete(const Session& session) { return session.sent == session.received; }
    static void close(const PeerContext& context, const Link& link, Session& session) {
        if (session.up)
            context.say(about(
                link, fmt::format("{} received, {} returned", bytes_text(session.received), bytes_text(session.sent))));
        session.socket.close(context);
    }
    static bool again() { return false; }

private:
    void look_at(const PeerContext& context, const Link& link, Session& session, dissect::Bytes bytes) const {
        if (session.received == 0) session.first = static_cast<std::uint8_t>(bytes[0]);
        const bool right = counts_up(bytes, static_cast<std::uint8_t>(session.first + session.received));
        if (!right && session.received < kSync) session.counts = false;  // it sends anything
        if (!right && session.counts && verify_) {
            ++context.counts.wrong;
            context.say(about(link, fmt::format("data after {} was corrupted", counted(session.received, "byte"))));
            session.counts = false;
        }
        session.received += bytes.size();
        ++context.counts.messages;
        context.counts.bytes += bytes.size();
    }

    bool verify_;
};

struct Test {
    std::uint64_t iterations = 1;
    std::uint64_t transfers = 1;
    std::uint64_t size = 0;  // bytes of a transfer
};
enum class Stage : std::uint8_t { sync_out, sync_in, out, in, over };

struct StreamSession {
    Rsocket socket;
    std::size_t test = 0;  // of those of the connection
    Stage stage = Stage::sync_out;
    std::uint64_t iteration = 0;
    std::uint64_t moved = 0;         // bytes of the stage
    std::uint8_t transfer_from = 0;  // the first byte of the transfer that comes
    dissect::Instant began{};
    bool up = false;
};

class StreamClient {
public:
    using Session = StreamSession;
    explicit StreamClient(const ProgramRequest& request) : verify_(request.verify) {
        if (request.size || request.count) {
            runs_ = {{{.transfers = request.count.value_or(kDefaultTransfers),
                       .size = request.size.value_or(kDefaultSize)}}};
            return;
        }
        struct Row {
            std::uint64_t size, times;
        };
        constexpr std::array kSeries{Row{1U << 6, 100'000}, Row{1U << 12, 10'000}, Row{1U << 16, 1000},
                                     Row{1U << 20, 100}};
        runs_.resize(2);
        for (const Row& row : kSeries) {
            runs_[0].push_back({.iterations = row.times, .size = row.size});
            runs_[1].push_back({.transfers = row.times, .size = row.size});
        }
    }

    static std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/,
                                                       dissect::Bytes /*said*/) {
        return Rsocket::needs();
    }
    static verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) {
        return session.socket.prepare(context);
    }
    void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes said) {
        if (const auto wrong = Rsocket::judge(said)) {
            link.fail(*wrong);
            return;
        }
        session.up = true;
        session.socket.connect(said);
        proceed(context, link, session);
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) {
        session.socket.done(context, link, done);
        if (!link.complaint) proceed(context, link, session);
    }
    static bool complete(const Session& session) { return session.stage == Stage::over; }
    static void close(const PeerContext& context, const Link& /*link*/, Session& session) {
        session.socket.close(context);
    }
    bool again() { return ++run_ < runs_.size(); }

private:
    [[nodiscard]] const Test& test(const Session& session) const { return runs_[run_][session.test]; }
    // Bytes of a transfer of the stage, and of the stage.
    [[nodiscard]] std::uint64_t unit(const Session& session) const {
        return session.stage == Stage::sync_out || session.stage == Stage::sync_in ? kSync : test(session).size;
    }
    [[nodiscard]] std::uint64_t whole(const Session& session) const {
        return session.stage == Stage::sync_out || session.stage == Stage::sync_in
                   ? kSync
                   : test(session).size * test(session).transfers;
    }
    void proceed(const PeerContext& context, Link& link, Session& session) {
        while (session.stage != Stage::over && !link.complaint) {
            const bool out = session.stage == Stage::sync_out || session.stage == Stage::out;
            const std::uint64_t moved = out ? send(context, link, session) : take(context, link, session);
            session.moved += moved;
            if (session.moved == whole(session)) {
                next_stage(context, link, session);
            } else if (moved == 0) {
                break;
            }
        }
        if (session.stage == Stage::over) session.socket.shut();
        session.socket.tend(context, link);
    }
    std::uint64_t send(const PeerContext& context, Link& link, Session& session) {
        const dissect::MutableBytes room = session.socket.writable();
        const std::size_t length = std::min<std::uint64_t>(room.size(), whole(session) - session.moved);
        if (length == 0) return 0;
        count_up(room.first(length), static_cast<std::uint8_t>(sent_));
        sent_ += length;
        session.socket.send(context, link, length);
        return length;
    }
    std::uint64_t take(const PeerContext& context, const Link& link, Session& session) {
        const std::uint64_t into_transfer = session.moved % unit(session);
        const std::uint64_t left = unit(session) - into_transfer;
        const dissect::Bytes bytes = dissect::slice(session.socket.readable(), 0, left);
        if (bytes.empty()) return 0;
        const auto should = static_cast<std::uint8_t>(received_);
        const auto last_sent = static_cast<std::uint8_t>(sent_ - unit(session));
        const auto first = static_cast<std::uint8_t>(bytes[0]);
        if (into_transfer == 0) session.transfer_from = first == last_sent ? last_sent : should;
        if (verify_ && !counts_up(bytes, static_cast<std::uint8_t>(session.transfer_from + into_transfer))) {
            ++context.counts.wrong;
            if (context.counts.wrong == 1)
                context.say(about(link, fmt::format("data after {} was corrupted", counted(received_, "byte"))));
        }
        received_ += bytes.size();
        context.counts.bytes += bytes.size();
        const std::size_t taken = bytes.size();
        session.socket.take(taken);
        return taken;
    }
    void next_stage(const PeerContext& context, const Link& link, Session& session) {
        session.moved = 0;
        if (session.stage == Stage::sync_out || session.stage == Stage::out) {
            session.stage = session.stage == Stage::out ? Stage::in : Stage::sync_in;
            return;
        }
        if (session.stage == Stage::sync_in) {
            session.began = context.now;
            session.iteration = 0;
        } else {
            context.counts.messages += test(session).transfers;
            ++session.iteration;
        }
        session.stage = Stage::out;
        if (session.iteration < test(session).iterations) return;
        report(context, link, session);
        session.stage = ++session.test < runs_[run_].size() ? Stage::sync_out : Stage::over;
    }
    void report(const PeerContext& context, const Link& link, const Session& session) const {
        const Test& done = test(session);
        const auto took = std::to_underlying(context.now - session.began);
        const std::uint64_t transfers = done.iterations * done.transfers * 2;
        std::string line = fmt::format("{} of {}", counted(transfers, "transfer"), counted(done.size, "byte"));
        if (took > 0)
            line += fmt::format(" in {}, {}, {} each", duration_text(dissect::Duration{took}),
                                rate_text(static_cast<double>(transfers * done.size) * 8e9 / static_cast<double>(took)),
                                duration_text(dissect::Duration{took / static_cast<std::int64_t>(transfers)}));
        context.say(about(link, line));
    }

    bool verify_;
    std::vector<std::vector<Test>> runs_;  // a connection each
    std::size_t run_ = 0;
    std::uint64_t sent_ = 0;  // bytes, over all connections
    std::uint64_t received_ = 0;
};

}  // namespace

Made make_rstream(const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kMaxTransfer); !fits) return std::unexpected(fits.error());
    if (!request.target) return Connected<StreamServer>(StreamServer(request), request, kRdmaCmPort);
    if (request.connections != 1) return std::unexpected("rstream uses one connection");
    if (request.count && *request.count == 0) return std::unexpected("invalid count 0: expected at least 1");
    return Connected<StreamClient>(StreamClient(request), request, kRdmaCmPort);
}

}  // namespace qps::transport::live::peers
