// The server of pingpong: sends back what comes, polls or waits as the row that is played says, and tells what that
// cost it.
//
// Messages are a client's: what is no row, no end of the row that is played, ends its connection. Its messages fit its
// receives, or the transport refuses them. Over sockets of the system it sends back what fits into the memory that its
// connection has by RDMA, on one stream and to one sender of datagrams, which both said its token (door.hpp).
#include <transport-replay/live/pingpong/door.hpp>
#include <transport-replay/live/pingpong/pingpong_state.hpp>
#include <transport-replay/queue_pair/ring.hpp>
#include <transport-replay/report/figures.hpp>

#include <fmt/format.h>

namespace qps::transport::live::pingpong {

using namespace peers;

namespace {

struct ServerSession {
    Announced announced{};
    Block memory;                     // WRITEs and READs
    Block control;                    // the report
    Ring<std::uint32_t> answering{};  // slots whose answers did not complete, in their order
    std::optional<std::size_t> mode{};
    std::uint64_t token = 0;
    KernelSocket stream{};
    std::size_t size = 0;    // of a message of the stream
    std::size_t came = 0;    // bytes of the one that comes
    std::size_t unsent = 0;  // bytes of the one that goes back
    Meter meter{};
    std::uint64_t rows = 0;
    std::uint64_t messages = 0;
    bool up = false;
};

class Server {
public:
    using Session = ServerSession;
    explicit Server(PingpongSettings settings) : settings_(std::move(settings)) {}

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& session,
                                                dissect::Bytes said) const {
        const auto announced = read_announced(said);
        if (!announced) return std::unexpected("not a pingpong client");
        session.announced = *announced;
        return needs_of(*announced);
    }
    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) {
        if (door_) {
            session.token = settings_.sockets.draw();
            door_->expect(session.token);
        }
        const std::size_t bytes = std::size_t{session.announced.depth} * session.announced.bytes;
        auto memory = Block::open(context, std::max<std::size_t>(kPourRoom, bytes), verbs::kEveryAccess);
        if (!memory) return std::unexpected(memory.error());
        session.memory = std::move(*memory);
        auto control = Block::open(context, kReport, verbs::kLocalWrite);
        if (!control) return std::unexpected(control.error());
        session.control = std::move(*control);
        const verbs::Mr& mr = session.memory.mr();
        return private_bytes(
            Lent{.offer = {.allowed = kMayRead | kMayWrite,
                           .slots = session.announced.depth,
                           .address = mr.address,
                           .length = session.memory.size(),
                           .key = mr.rkey},
                 .extension = {.there = true, .sockets = served_, .port = port_, .token = session.token}},
            kLentBytes);
    }
    static void up(const PeerContext& /*context*/, Link& /*link*/, Session& session, dissect::Bytes /*said*/) {
        session.up = true;
    }

    void done(const PeerContext& context, Link& link, Session& session, const Done& done) {
        if (done.receive) {
            if (done.wc.flags.with_imm) control(context, link, session, done);
            else answer(context, link, session, done);
            return;
        }
        for (std::uint32_t i = 0; i < done.count && !session.answering.empty(); ++i) {
            if (!link.post_receive(context, session.answering.front())) return;
            session.answering.pop_front();
        }
    }
    static bool complete(const Session& session) { return !session.mode; }
    void close(const PeerContext& context, const Link& link, Session& session) {
        if (session.mode) leave(session);
        if (door_) door_->forget(session.token);
        session.stream.close();
        if (session.up)
            context.say(about(link, fmt::format("{} of pingpong, {} returned", counted(session.rows, "row"),
                                                counted(session.messages, "message"))));
        session.memory.close(context);
        session.control.close(context);
    }
    static bool again() { return false; }
    [[nodiscard]] bool hurried() const { return attention_.hurried(); }
    [[nodiscard]] bool look(const PeerContext& context, verbs::Cq cq) { return attention_.look(context, cq); }

    // While rows are played a look costs them: there are few then, but for datagrams of such a row.
    void attend(const PeerContext& context) {
        if (!opened_) open(context);
        if (!door_) return;
        if (playing_ > 0 && context.now < next_look_) {
            if (by_datagrams_ > 0) door_->send_datagrams_back();
            return;
        }
        next_look_ = context.now + kLookGap;
        door_->look(context.now);
    }
    static void turn(const PeerContext& context, Link& /*link*/, Session& session) {
        if (is_streaming(session)) return_stream(context, session);
    }
    void shut(const PeerContext& /*context*/) { door_.reset(); }
    void watch(std::vector<Watched>& all) const {
        if (!door_) return;
        if (playing_ == 0)
            for (const auto& some : {door_->listeners(), door_->callers(), door_->datagrams()}) add(all, some);
        else if (by_datagrams_ > 0) add(all, door_->datagrams());
    }
    static void watch(const Session& session, std::vector<Watched>& all) {
        if (is_streaming(session))
            all.push_back({.descriptor = session.stream.descriptor(),
                           .to_read = session.unsent == 0,
                           .to_write = session.unsent > 0});
    }
    [[nodiscard]] std::optional<dissect::Instant> due() const {
        if (!door_) return std::nullopt;
        return playing_ > 0 ? std::optional(next_look_) : door_->due();
    }

private:
    static void answer(const PeerContext& context, Link& link, Session& session, const Done& done) {
        const verbs::Sge piece = link.queues.message_piece(done);
        verbs::SendWr wr{};
        if (piece.length != 0) wr.sg_list = {&piece, 1};
        const bool posted = session.announced.signaled ? link.post(context, wr, done.tag)
                                                       : link.post_quietly(context, wr, done.tag, false);
        if (!posted) return;
        session.answering.push_back(done.tag);
        ++session.messages;
        ++context.counts.messages;
        context.counts.bytes += piece.length;
    }
    void control(const PeerContext& context, Link& link, Session& session, const Done& done) {
        const std::uint32_t row = done.wc.imm_data & 0xff;
        const std::uint32_t what = done.wc.imm_data - row;
        verbs::SendWr wr{.opcode = verbs::WrOpcode::send_with_imm, .imm_data = done.wc.imm_data};
        const verbs::Sge piece = session.control.piece(0, session.announced.long_report ? kReport : kShortReport);
        if (what == kBegin && !session.mode && row < kPingpongModes.size()) {
            if (!take_stream(done, link, session, kPingpongModes[row].way)) return;
            enter(session, row);
            session.meter.begin(settings_, context.now);
        } else if (what == kEnd && session.mode == row) {
            leave(session);
            ++session.rows;
            write(session.control.bytes().first(piece.length), session.meter.use(settings_, context.now));
            wr.sg_list = {&piece, 1};
            wr.send_flags.inline_data = true;
        } else {
            link.fail("requested an unknown mode of pingpong");
            return;
        }
        // With a completion in any case: it takes the quiet ones with it.
        if (link.post(context, wr, done.tag)) session.answering.push_back(done.tag);
    }
    // Between rows, and in others, nobody looks at the stream.
    static bool is_streaming(const Session& session) {
        return session.mode && over_tcp(kPingpongModes[*session.mode].way) && session.stream.is_open();
    }
    void enter(Session& session, std::size_t row) {
        session.mode = row;
        attention_.begin(kPingpongModes[row].wait);
        ++playing_;
        by_datagrams_ += kPingpongModes[row].way == PingpongWay::udp ? 1U : 0U;
    }
    void leave(Session& session) {
        const PingpongMode& mode = kPingpongModes[*session.mode];
        attention_.end(mode.wait);
        --playing_;
        by_datagrams_ -= mode.way == PingpongWay::udp ? 1U : 0U;
        session.mode.reset();
    }

    void open(const PeerContext& context) {
        opened_ = true;
        if (settings_.sockets.addresses.empty() || !settings_.sockets.draw) return;
        std::vector<std::string> complaints;
        Door door = Door::open(settings_.sockets.addresses, port_, complaints);
        for (const std::string& each : complaints) context.say(fmt::format("TCP and UDP are not served at {}", each));
        served_ = door.listens() ? Served::yes : Served::cannot_listen;
        if (door.listens()) door_.emplace(std::move(door));
    }
    // Of a row over TCP: the client greeted before, and says how long its messages are.
    bool take_stream(const Done& done, Link& link, Session& session, PingpongWay way) {
        if (!over_tcp(way)) return true;
        const dissect::Bytes said = link.queues.message(done);
        session.size = said.size() == kBeginBytes ? dissect::read_be<std::uint32_t>(said, 0) : 0;
        session.came = session.unsent = 0;
        if (door_)
            if (KernelSocket stream = door_->take_stream(session.token); stream.is_open())
                session.stream = std::move(stream);
        if (!session.stream.is_open() || session.size == 0 || session.size > session.memory.size()) {
            link.fail("requested a row over TCP without a stream");
            return false;
        }
        return true;
    }
    // Sends each message back once it is whole; of what pours in it only keeps count.
    static void return_stream(const PeerContext& context, Session& session) {
        const bool pours_in = kPingpongModes[*session.mode].way == PingpongWay::tcp_stream;
        const dissect::MutableBytes room = session.memory.bytes().first(pours_in ? kPourRoom : session.size);
        std::size_t all = 0;
        while (all < kMostOfTurn && session.stream.is_open()) {
            const bool back = session.unsent > 0;
            const Moved moved = back ? session.stream.send(room.last(session.unsent))
                                     : session.stream.receive(room.subspan(session.came));
            all += moved.bytes;
            if (moved.ended || moved.error != 0) {
                session.stream.close();  // all of it came, or the client went
            } else if (moved.bytes == 0) {
                return;
            } else if (back) {
                session.unsent -= moved.bytes;
            } else if (!pours_in) {
                take(context, session, moved.bytes);
            }
        }
    }
    static void take(const PeerContext& context, Session& session, std::size_t bytes) {
        session.came += bytes;
        if (session.came < session.size) return;
        session.came = 0;
        session.unsent = session.size;
        ++session.messages;
        ++context.counts.messages;
        context.counts.bytes += session.size;
    }
    static void add(std::vector<Watched>& all, const std::vector<int>& descriptors) {
        for (const int each : descriptors) all.push_back({.descriptor = each});
    }

    static constexpr dissect::Duration kLookGap{10'000'000};  // between looks at the door while rows are played
    static constexpr std::size_t kPourRoom = 256U << 10;      // bytes of a stream that are read at once
    static constexpr std::size_t kMostOfTurn = 4U << 20;      // bytes of a stream in one turn: nobody holds the loop

    PingpongSettings settings_;
    Attention attention_{};
    bool opened_ = false;
    std::optional<Door> door_{};
    Served served_ = Served::no_address;
    std::uint16_t port_ = static_cast<std::uint16_t>(settings_.request.port.value_or(kPingpongPort));
    std::size_t playing_ = 0;       // sessions in a row
    std::size_t by_datagrams_ = 0;  // of these: over UDP
    dissect::Instant next_look_{};
};

}  // namespace

Program make_server(PingpongSettings settings) {
    const ProgramRequest request = settings.request;
    return Connected<Server>(Server(std::move(settings)), request, kPingpongPort);
}

}  // namespace qps::transport::live::pingpong
