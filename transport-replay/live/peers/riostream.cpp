// riostream: WRITEs there and as many back, into memory that both sides map over an rsocket. As riostream of librdmacm
// speaks.
//
// Each test: both map a piece of memory as long as a transfer, and 16 bytes go there and back on the stream. Then, so
// many times: `transfers` there and as many back. That they are there, nothing says: the last byte of the last transfer
// is a number, which the other side looks for in its memory; it counts up by one with each turn, from 0. Told a size or
// a number of transfers, the client does one test; told nothing, the series of the original: one transfer at a time
// (latency), then, on another connection, many in a row (bandwidth).
//
// Our server need not be told: the size is that of the memory that the client maps, and it returns as many transfers as
// came, by the bytes that its queue pair received, or --count. What comes is returned as it is, so that `riostream -T
// v` finds what it sent: bytes that count up.
//
// A peer may map any address, key and length: only the length matters here, and it ends at kMostMapped. It may write
// into our memory what it likes and when: nothing in there is believed but the number, and who writes it early gets
// what is there.
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/live/peers/rsocket.hpp>
#include <transport-replay/report/figures.hpp>

#include <cstring>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kRioSync = 16;  // bytes
constexpr std::uint32_t kRioSize = 1000;
constexpr std::uint32_t kRioTransfers = 1000;
constexpr std::uint32_t kMostMapped =
    1U << 24;  // bytes; twice as much as the longest transfer of the original's series
constexpr std::uint64_t kMostReturned = 1'000'000;  // transfers of a turn
constexpr std::byte kNoNumber{0xff};                // where the number will be, before a test

struct RioTest {
    std::uint64_t iterations = 1;
    std::uint64_t transfers = 1;
    std::uint32_t size = 0;  // bytes of a transfer
};

enum class RioStage : std::uint8_t { show, sync_out, map, sync_in, write, settle, write_last, settle_last, look, over };

struct RioSession {
    Rsocket socket;
    CmPrivateBytes asked{};
    Block in;   // what the peer writes into
    Block out;  // what we write
    IoMap to{};
    std::uint64_t maps = 0;  // of the peer's that were taken
    RioStage stage = RioStage::map;
    std::uint32_t size = 0;
    std::uint32_t synced = 0;    // bytes of what is said now
    std::uint64_t left = 0;      // transfers to be written, without the last
    std::uint32_t written = 0;   // bytes of the one that is being written
    std::uint8_t number = 0;     // that ends the next turn
    std::uint64_t before = 0;    // bytes that the queue pair had received when the turn began
    std::uint64_t received = 0;  // transfers, and returned ones
    std::uint64_t returned = 0;
    std::size_t test = 0;  // client
    std::uint64_t iteration = 0;
    std::optional<bool> counts{};  // server: whether the first transfer counted up
    dissect::Instant began{};
    bool up = false;
};

class Riostream {
public:
    using Session = RioSession;
    explicit Riostream(const ProgramRequest& request)
        : client_(request.target.has_value()), verify_(request.verify), count_(request.count) {
        if (request.size || request.count) {
            runs_ = {{{.transfers = request.count.value_or(kRioTransfers), .size = request.size.value_or(kRioSize)}}};
            return;
        }
        struct Row {
            std::uint32_t size;
            std::uint64_t times;
        };
        constexpr std::array kSeries{Row{1U << 6, 100'000}, Row{1U << 12, 10'000}, Row{1U << 16, 1000},
                                     Row{1U << 20, 100}};
        runs_.resize(2);
        for (const Row& row : kSeries) {
            runs_[0].push_back({.iterations = row.times, .size = row.size});
            runs_[1].push_back({.transfers = row.times, .size = row.size});
        }
    }

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& session,
                                                dissect::Bytes said) const {
        if (client_) return Rsocket::needs();
        if (auto wrong = judge(said)) return std::unexpected("it " + *wrong);
        session.asked = CmPrivateBytes(said);
        return Rsocket::needs();
    }
    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) const {
        session.socket.expect_map();
        auto says = session.socket.prepare(context);
        if (says && !client_) session.socket.connect(session.asked.bytes());
        return says;
    }
    void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes said) {
        if (client_) {
            if (const auto wrong = judge(said)) return link.fail(*wrong);
            session.socket.connect(said);
            begin(context, link, session, test(session).size);
            session.stage = RioStage::show;
        }
        session.up = true;
        proceed(context, link, session);
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) {
        session.socket.done(context, link, done);
        proceed(context, link, session);
    }
    // What is written into our memory completes nothing.
    void turn(const PeerContext& context, Link& link, Session& session) { proceed(context, link, session); }
    [[nodiscard]] bool complete(const Session& session) const {
        return client_ ? session.stage == RioStage::over
                       : session.stage == RioStage::look || session.stage == RioStage::map;
    }
    void close(const PeerContext& context, const Link& link, Session& session) const {
        if (session.up && !client_)
            context.say(about(
                link, fmt::format("{} received, {} returned, the last of {}", counted(session.received, "transfer"),
                                  grouped(session.returned), counted(session.size, "byte"))));
        session.in.close(context);
        session.out.close(context);
        session.socket.close(context);
    }
    bool again() { return client_ && ++run_ < runs_.size(); }

private:
    [[nodiscard]] const RioTest& test(const Session& session) const { return runs_[run_][session.test]; }
    static std::optional<std::string> judge(dissect::Bytes said) {
        if (auto wrong = Rsocket::judge(said)) return wrong;
        if (!Rsocket::takes_map(said)) return "lets nobody map memory (riomap)";
        return std::nullopt;
    }
    void proceed(const PeerContext& context, Link& link, Session& session) {
        if (!session.up) return;
        while (!link.complaint && step(context, link, session)) {
        }
        if (!link.complaint && (session.stage == RioStage::over || (session.socket.peer_left() && complete(session))))
            session.socket.shut();
        session.socket.tend(context, link);
    }
    // Memory for transfers of that size; nothing of ours is under way.
    static bool begin(const PeerContext& context, Link& link, Session& session, std::uint32_t size) {
        session.in.close(context);
        session.out.close(context);
        auto in = Block::open(context, size, {.local_write = true, .remote_write = true});
        if (in) session.in = std::move(*in);
        auto out = Block::open(context, size, verbs::kLocalWrite);
        if (out) session.out = std::move(*out);
        if (!in || !out) {
            link.fail("no memory for transfers of " + counted(size, "byte"));
            return false;
        }
        session.size = size;
        session.synced = 0;
        session.number = 0;
        session.iteration = 0;
        session.in.bytes().back() = session.out.bytes().back() = kNoNumber;
        return true;
    }
    // One step; false: there is none before the peer does something.
    bool step(const PeerContext& context, Link& link, Session& session) {
        switch (session.stage) {
            case RioStage::show:
                if (!session.socket.show(context, link, session.in)) return false;
                session.stage = RioStage::sync_out;
                return true;
            case RioStage::sync_out: return say_sync(context, link, session);
            case RioStage::map: return take_map(context, link, session);
            case RioStage::sync_in: return take_sync(context, session);
            case RioStage::write:
            case RioStage::write_last: return write(context, link, session);
            case RioStage::settle:
                if (session.socket.writing() > 0) return false;
                if (client_) fill(session);
                session.out.bytes().back() = static_cast<std::byte>(session.number);
                session.stage = RioStage::write_last;
                return true;
            case RioStage::settle_last:
                if (session.socket.writing() > 0) return false;
                ++session.number;
                session.stage = RioStage::look;
                return true;
            case RioStage::look: return look(context, link, session);
            case RioStage::over: break;
        }
        return false;
    }
    bool say_sync(const PeerContext& context, Link& link, Session& session) {
        const dissect::MutableBytes room = session.socket.writable();
        const std::size_t length = std::min<std::size_t>(room.size(), kRioSync - session.synced);
        if (length == 0) return false;
        std::ranges::fill(room.first(length), std::byte{});
        session.socket.send(context, link, length);
        session.synced += static_cast<std::uint32_t>(length);
        if (session.synced < kRioSync) return true;
        session.synced = 0;
        session.stage = client_ ? RioStage::map : RioStage::look;
        session.before = arrived(context, link);
        return true;
    }
    bool take_map(const PeerContext& context, Link& link, Session& session) const {
        if (session.socket.maps() == session.maps) return false;
        session.maps = session.socket.maps();
        session.to = session.socket.map();
        if (session.to.offset != 0 || session.to.length == 0 || session.to.length > kMostMapped) {
            link.fail(fmt::format("maps {} at offset {}", counted(session.to.length, "byte"), session.to.offset));
            return false;
        }
        if (client_ && session.to.length < session.size) {
            link.fail(
                fmt::format("maps {}, expected {} (its option -S)", counted(session.to.length, "byte"), session.size));
            return false;
        }
        if (!client_ && !begin(context, link, session, session.to.length)) return false;
        session.stage = RioStage::sync_in;
        return true;
    }
    bool take_sync(const PeerContext& context, Session& session) const {
        const dissect::Bytes bytes = session.socket.readable();
        const std::size_t length = std::min<std::size_t>(bytes.size(), kRioSync - session.synced);
        if (length == 0) return false;
        session.socket.take(length);
        session.synced += static_cast<std::uint32_t>(length);
        if (session.synced < kRioSync) return true;
        session.synced = 0;
        session.stage = client_ ? RioStage::write : RioStage::show;
        session.left = client_ ? test(session).transfers - 1 : 0;
        session.began = context.now;
        return true;
    }
    static bool write(const PeerContext& context, Link& link, Session& session) {
        const bool last = session.stage == RioStage::write_last;
        if (!last && session.left == 0) {
            session.stage = RioStage::settle;
            return true;
        }
        if (!session.socket.may_write()) return false;
        const std::uint32_t length = std::min(session.size - session.written, kLongestPiece);
        session.socket.write(context, link, session.out.piece(session.written, length),
                             {session.to.address + session.written, session.to.key});
        session.written += length;
        if (session.written < session.size) return true;
        session.written = 0;
        if (last) session.stage = RioStage::settle_last;
        else --session.left;
        return true;
    }
    // Bytes that the queue pair received: all there is to count WRITEs by.
    static std::uint64_t arrived(const PeerContext& context, const Link& link) {
        const auto status = context.adapter().query_qp(link.queues.qpn());
        return status ? status->counts.bytes_received : 0;
    }
    void fill(Session& session) {
        const dissect::MutableBytes content = session.out.bytes().first(session.size - 1);
        for (std::byte& byte : content) byte = static_cast<std::byte>(filled_++);
    }
    bool look(const PeerContext& context, Link& link, Session& session) {
        if (!client_ && session.socket.maps() != session.maps) {
            session.stage = RioStage::map;
            return true;
        }
        if (session.in.bytes().back() != static_cast<std::byte>(session.number)) return false;
        return client_ ? take_answer(context, link, session) : take_turn(context, link, session);
    }
    // Server.
    bool take_turn(const PeerContext& context, Link& link, Session& session) const {
        const std::uint64_t now = arrived(context, link);
        const std::uint64_t came = std::clamp<std::uint64_t>((now - session.before) / session.size, 1, kMostReturned);
        session.before = now;
        const std::uint64_t returns = std::clamp<std::uint64_t>(count_.value_or(came), 1, kMostReturned);
        const dissect::Bytes content = dissect::Bytes(session.in.bytes()).first(session.size - 1);
        bool right = true;
        for (std::size_t i = 1; i < content.size() && right; ++i)
            right = content[i] == static_cast<std::byte>(std::to_integer<unsigned>(content[i - 1]) + 1);
        if (!session.counts) session.counts = right && content.size() >= kRioSync;
        if (verify_ && *session.counts && !right) {
            ++context.counts.wrong;
            context.say(about(link, fmt::format("data after {} was corrupted", counted(session.received, "transfer"))));
            session.counts = false;
        }
        std::ranges::copy(content, session.out.bytes().begin());
        session.out.bytes().back() = static_cast<std::byte>(session.number);  // which ends no turn
        ++session.number;
        session.received += came;
        session.returned += returns;
        context.counts.messages += came;
        context.counts.bytes += came * session.size;
        session.left = returns - 1;
        session.stage = RioStage::write;
        return true;
    }
    // Client.
    bool take_answer(const PeerContext& context, Link& link, Session& session) {
        const RioTest& now = test(session);
        const std::size_t content = session.size - 1;
        if (verify_ && std::memcmp(session.in.bytes().data(), session.out.bytes().data(), content) != 0) {
            ++context.counts.wrong;
            if (context.counts.wrong == 1)
                context.say(about(link, fmt::format("data of turn {} was corrupted", session.iteration)));
        }
        ++session.number;
        context.counts.messages += now.transfers;
        context.counts.bytes += now.transfers * now.size;
        session.left = now.transfers - 1;
        session.stage = RioStage::write;
        if (++session.iteration < now.iterations) return true;
        report(context, link, session);
        if (++session.test == runs_[run_].size()) {
            session.stage = RioStage::over;
        } else if (begin(context, link, session, test(session).size)) {
            session.stage = RioStage::show;
        }
        return true;
    }
    void report(const PeerContext& context, const Link& link, const Session& session) const {
        const RioTest& done = test(session);
        const auto took = std::to_underlying(context.now - session.began);
        const std::uint64_t transfers = done.iterations * done.transfers * 2;
        std::string line = fmt::format("{} of {}", counted(transfers, "transfer"), counted(done.size, "byte"));
        if (took > 0)
            line += fmt::format(" in {}, {}, {} each", duration_text(dissect::Duration{took}),
                                rate_text(static_cast<double>(transfers * done.size) * 8e9 / static_cast<double>(took)),
                                duration_text(dissect::Duration{took / static_cast<std::int64_t>(transfers)}));
        context.say(about(link, line));
    }

    bool client_;
    bool verify_;
    std::optional<std::uint64_t> count_;
    std::vector<std::vector<RioTest>> runs_;  // a connection each
    std::size_t run_ = 0;
    std::uint8_t filled_ = 0;  // over all connections
};

}  // namespace

Made make_riostream(const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kMostMapped); !fits) return std::unexpected(fits.error());
    if (request.connections != 1) return std::unexpected("riostream uses one connection");
    if (request.count && (*request.count == 0 || *request.count > kMostReturned))
        return std::unexpected(fmt::format("invalid count {}: expected 1 to {}", *request.count, kMostReturned));
    return Connected<Riostream>(Riostream(request), request, kRdmaCmPort);
}

}  // namespace qps::transport::live::peers
