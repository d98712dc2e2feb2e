// The client of pingpong: plays the rows in their order, takes the time of each round trip, and tells what came of each
// row.
//
// A round trip begins when its message is posted and ends with the completion that says it is back: the receive of the
// same bytes, or the READ behind the WRITE. Messages carry their number in their first bytes. What the server sends is
// checked against what was sent; its report is its word. What goes over sockets of the system is in socket_row.hpp.
#include <dissect/base/types.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/pingpong/pingpong_state.hpp>
#include <transport-replay/live/pingpong/sample.hpp>
#include <transport-replay/live/pingpong/socket_row.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live::pingpong {

using namespace peers;

namespace {

constexpr std::uint64_t kDefaultRounds = 1000;
constexpr std::uint64_t kPouredBytes =
    32U << 20;  // of a row that pours, unless the user says how many messages or how long
constexpr std::uint64_t kMostPoured = 100'000;  // messages of it
constexpr std::uint32_t kPourDepth = 64;        // WRITEs under way
constexpr std::uint32_t kPourSignaled = 16;     // each such WRITE completes

// Tags of sends: those of READs are kRead and the slot, of WRITEs that are awaited kWrite and the slot.
constexpr std::uint32_t kQuiet = 0;
constexpr std::uint32_t kRead = 1U << 16;
constexpr std::uint32_t kWrite = 1U << 17;
constexpr std::uint32_t kPoured = 1U << 18;
constexpr std::uint32_t kSlotMask = kRead - 1;

enum class Step : std::uint8_t { connecting, calling, beginning, playing, ending, through };

struct PlannedRow {
    std::size_t mode = 0;
    std::uint32_t size = 0;
};

struct ClientSession {
    Block out;      // a slot for each message under way
    Block back;     // where READs go, and what comes by a stream
    Block control;  // what kBegin says
    Offer offer{};
    Extension extension{};
    std::array<Caller, 2> callers{};  // by SocketKind
    SocketRow sockets{};
    Step step = Step::connecting;
    std::size_t row = 0;  // of the plan
    std::uint64_t posted = 0;
    std::uint64_t returned = 0;
    bool enough = false;  // the row's time is up
    Meter meter{};
    ProcessorUse here{};
    std::optional<dissect::Duration> poured{};
    dissect::Instant began{};
    dissect::Instant pouring_since{};  // by the clock of the settings: all of a stream may fit into one turn
    dissect::Duration drift{};         // of a row that pours
    Progress progress{};
    std::vector<dissect::Instant> since{};  // by slot
    std::vector<std::int64_t> times{};      // nanoseconds of the round trips that count
};

class Client {
public:
    using Session = ClientSession;
    explicit Client(PingpongSettings settings)
        : settings_(std::move(settings)),
          announced_{.signaled = settings_.signaled,
                     .depth = static_cast<std::uint16_t>(settings_.request.depth),
                     .bytes = settings_.request.size.value_or(kPingpongBytes)},
          rounds_(settings_.request.count.value_or(settings_.row_lasts ? kMaxRounds : kDefaultRounds)) {
        std::vector<std::uint32_t> sizes = settings_.sizes;
        if (sizes.empty()) sizes.push_back(announced_.bytes);
        for (const std::uint32_t size : sizes)
            for (const std::size_t mode : settings_.modes) plan_.push_back({.mode = mode, .size = size});
    }

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/,
                                                dissect::Bytes /*said*/) const {
        QueueNeeds needs = needs_of(announced_);
        needs.sends += kPourDepth;
        return needs;
    }
    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) const {
        const std::size_t bytes = std::max<std::size_t>(1, std::size_t{announced_.depth} * announced_.bytes);
        auto out = Block::open(context, bytes, verbs::kLocalWrite);
        if (!out) return std::unexpected(out.error());
        session.out = std::move(*out);
        auto back = Block::open(context, bytes, verbs::kLocalWrite);
        if (!back) return std::unexpected(back.error());
        session.back = std::move(*back);
        auto control = Block::open(context, kBeginBytes, verbs::kLocalWrite);
        if (!control) return std::unexpected(control.error());
        session.control = std::move(*control);
        for (std::uint32_t slot = 0; slot < announced_.depth; ++slot)
            fill(session.out.bytes().subspan(std::size_t{slot} * announced_.bytes, announced_.bytes),
                 static_cast<std::uint32_t>(settings_.request.seed), slot);
        session.since.resize(announced_.depth);
        return private_bytes(announced_, kAnnouncedBytes);
    }
    void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes said) {
        const auto offer = read_offer(said);
        constexpr std::uint8_t kBoth = kMayRead | kMayWrite;
        if (!offer || (offer->allowed & kBoth) != kBoth || offer->slots != announced_.depth ||
            offer->length < std::uint64_t{announced_.depth} * announced_.bytes) {
            link.fail("is not a pingpong server");
            return;
        }
        session.offer = *offer;
        session.extension = read_extension(said);
        next_row(context, link, session);
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) {
        if (done.receive && done.wc.flags.with_imm) control(context, link, session, done);
        else if (done.receive) take_message(context, link, session, done);
        else if (session.step == Step::playing) take_completion(context, link, session, done);
        if (session.step == Step::playing && !link.complaint) proceed(context, link, session);
    }
    // Of what goes over sockets nothing completes.
    void turn(const PeerContext& context, Link& link, Session& session) {
        if (session.step == Step::calling) call(context, link, session);
        if (session.step != Step::playing || !over_sockets(mode(session).way)) return;
        if (take_from_socket(context, link, session)) proceed(context, link, session);
    }
    void watch(const Session& session, std::vector<Watched>& all) const {
        const bool playing = session.step == Step::playing && over_sockets(mode(session).way);
        if (session.step != Step::calling && !playing) return;
        const Caller& caller = session.callers[std::to_underlying(kind_of(session))];
        const bool streams = kind_of(session) == SocketKind::tcp;
        const bool unsent =
            playing ? streams && session.sockets.wants_to_write(session.posted) : caller.wants_to_write();
        if (caller.socket().is_open()) all.push_back({.descriptor = caller.socket().descriptor(), .to_write = unsent});
    }
    [[nodiscard]] std::optional<dissect::Instant> due(const Session& session) const {
        if (session.step == Step::calling) return session.callers[std::to_underlying(kind_of(session))].due();
        const bool datagrams = session.step == Step::playing && mode(session).way == PingpongWay::udp;
        return datagrams && session.returned < session.posted
                   ? std::optional(session.since[slot_of(session.returned)] + kDatagramPatience)
                   : std::nullopt;
    }
    static bool complete(const Session& session) { return session.step == Step::through; }
    void close(const PeerContext& context, const Link& /*link*/, Session& session) {
        if (session.step == Step::playing || session.step == Step::ending) {
            attention_.end(mode(session).wait);
            cut_short(session);
        }
        session.step = Step::through;
        for (Caller& caller : session.callers) caller.close();
        session.out.close(context);
        session.back.close(context);
        session.control.close(context);
    }
    static bool again() { return false; }
    [[nodiscard]] bool hurried() const { return attention_.hurried(); }
    [[nodiscard]] bool look(const PeerContext& context, verbs::Cq cq) { return attention_.look(context, cq); }

private:
    [[nodiscard]] dissect::Instant time_of(const PeerContext& context) const {
        return settings_.clock ? settings_.clock() : context.now;
    }
    [[nodiscard]] const PlannedRow& planned(const Session& session) const { return plan_[session.row]; }
    [[nodiscard]] const PingpongMode& mode(const Session& session) const {
        return kPingpongModes[planned(session).mode];
    }
    [[nodiscard]] SocketKind kind_of(const Session& session) const {
        return over_tcp(mode(session).way) ? SocketKind::tcp : SocketKind::udp;
    }
    [[nodiscard]] KernelSocket& socket_of(Session& session) const {
        return session.callers[std::to_underlying(kind_of(session))].socket();
    }
    // How many messages of a row, those that do not count among them.
    [[nodiscard]] std::uint64_t wanted(const Session& session) const {
        if (!pours(mode(session).way)) return rounds_ + kWarmUp;
        if (settings_.request.count || settings_.row_lasts) return rounds_;
        return std::clamp(kPouredBytes / std::max(1U, planned(session).size), rounds_, kMostPoured);
    }
    [[nodiscard]] dissect::MutableBytes piece_of(const Session& session, const Block& block, std::uint32_t slot) const {
        return block.bytes().subspan(std::size_t{slot} * announced_.bytes, planned(session).size);
    }
    [[nodiscard]] std::uint32_t slot_of(std::uint64_t number) const {
        return static_cast<std::uint32_t>(number % announced_.depth);
    }

    // Plays the next row that can be played; where there is none, that was all.
    void next_row(const PeerContext& context, Link& link, Session& session) {
        for (; session.row < plan_.size(); ++session.row) {
            const std::string why = why_not(session);
            if (!why.empty()) {
                leave_out(session, why);
                continue;
            }
            if (!over_sockets(mode(session).way)) return begin(context, link, session);
            Caller& caller = session.callers[std::to_underlying(kind_of(session))];
            if (caller.state() == Caller::State::there) return begin(context, link, session);
            session.step = Step::calling;
            return caller.begin(kind_of(session), whom_to_call(session), session.extension.token, context.now);
        }
        session.step = Step::through;
        link.finish();
    }
    // Why a row cannot be played; empty: it can.
    [[nodiscard]] std::string why_not(const Session& session) const {
        const PingpongWay way = mode(session).way;
        if (!session.extension.there && planned(session).mode >= kFirstModes)
            return "the server is of an earlier version";
        if (planned(session).size == 0 && (over_tcp(way) || pours(way)))
            return "messages of 0 bytes leave no trace in a stream";
        if (!over_sockets(way)) return {};
        if (way == PingpongWay::udp && planned(session).size > kMaxDatagramBytes)
            return fmt::format("a datagram carries {} bytes at most", kMaxDatagramBytes);
        if (!settings_.sockets.unreachable.empty()) return settings_.sockets.unreachable;
        switch (session.extension.sockets) {
            case Served::no_address: return "the server has no address that sockets of its system can use";
            case Served::cannot_listen:
                return fmt::format("the server could not listen on port {} of TCP and UDP, and says why",
                                   session.extension.port);
            case Served::yes: break;
        }
        return session.callers[std::to_underlying(kind_of(session))].why();
    }
    [[nodiscard]] Call whom_to_call(const Session& session) const {
        Call call{
            .interface = settings_.sockets.interface, .to = settings_.sockets.server, .port = session.extension.port};
        if (call.to.empty()) call.to = text(*settings_.request.target);
        const bool ipv6 = call.to.find(':') != std::string::npos;
        for (const std::string& own : settings_.sockets.addresses)
            if ((own.find(':') != std::string::npos) == ipv6) call.from = own;
        return call;
    }
    void leave_out(const Session& session, std::string why) const {
        if (settings_.on_left_out)
            settings_.on_left_out(
                {.mode = planned(session).mode, .size = planned(session).size, .why = std::move(why)});
    }
    void call(const PeerContext& context, Link& link, Session& session) {
        Caller& caller = session.callers[std::to_underlying(kind_of(session))];
        caller.poll(context.now);
        if (caller.state() == Caller::State::there) begin(context, link, session);
        else if (caller.state() == Caller::State::failed)
            next_row(context, link, session);  // which says why it does not play this one
    }
    void begin(const PeerContext& context, Link& link, Session& session) {
        session.step = Step::beginning;
        say(context, link, session, kBegin);
    }

    void say(const PeerContext& context, Link& link, const Session& session, std::uint32_t what) const {
        verbs::SendWr wr{.opcode = verbs::WrOpcode::send_with_imm,
                         .imm_data = what | static_cast<std::uint32_t>(planned(session).mode)};
        const verbs::Sge piece = session.control.piece(0, kBeginBytes);
        if (what == kBegin && over_tcp(mode(session).way)) {
            write_be(session.control.bytes(), 0, planned(session).size);
            wr.sg_list = {&piece, 1};
            wr.send_flags.inline_data = true;
        }
        link.post(context, wr, kQuiet);
    }
    void control(const PeerContext& context, Link& link, Session& session, const Done& done) {
        const bool awaited = session.step == Step::beginning || session.step == Step::ending;
        const std::uint32_t row = awaited ? static_cast<std::uint32_t>(planned(session).mode) : 0;
        const dissect::Bytes message = link.queues.message(done);
        const auto report = read_use(message);
        if (session.step == Step::beginning && done.wc.imm_data == (kBegin | row)) {
            begin_row(context, session);
        } else if (session.step == Step::ending && done.wc.imm_data == (kEnd | row) && report) {
            end_row(context, link, session, *report);
        } else {
            link.fail("sent an unexpected answer");
            return;
        }
        link.post_receive(context, done.tag);
    }
    void begin_row(const PeerContext& context, Session& session) {
        session.step = Step::playing;
        session.posted = session.returned = 0;
        session.enough = false;
        session.times.clear();
        session.poured.reset();
        session.began = context.now;
        session.pouring_since = time_of(context);
        session.progress.begin(session.pouring_since);
        session.sockets.begin(announced_.depth);
        attention_.begin(mode(session).wait);
        session.meter.begin(settings_, context.now);
    }
    void end_row(const PeerContext& context, Link& link, Session& session, const ProcessorUse& there) {
        attention_.end(mode(session).wait);
        PingpongRow row = figures(session.times);
        row.mode = planned(session).mode;
        row.size = planned(session).size;
        if (session.poured) {
            row.round_trips = session.returned;
            row.drift = session.drift;
        }
        row.poured = session.poured;
        row.lost = session.sockets.lost();
        row.here = session.here;
        row.there = there;
        if (settings_.on_row) settings_.on_row(row);
        ++session.row;
        next_row(context, link, session);
    }

    // Of a row that pours no rate is known before its end.
    void cut_short(Session& session) const {
        if (session.times.empty() || !settings_.on_row) return;
        PingpongRow row = figures(session.times);
        row.mode = planned(session).mode;
        row.size = planned(session).size;
        row.lost = session.sockets.lost();
        row.interrupted = true;
        settings_.on_row(row);
    }

    // As many as may be under way; and the end of the row once all are back.
    void proceed(const PeerContext& context, Link& link, Session& session) {
        if (mode(session).way == PingpongWay::tcp_stream) return;  // take_from_socket() does it all
        const bool time_is_up = settings_.row_lasts && context.now - session.began >= *settings_.row_lasts;
        if (mode(session).way == PingpongWay::write_stream) {
            if (!pour(context, link, session, time_is_up)) return;
        } else {
            session.enough = session.enough || time_is_up || session.sockets.lost() >= kMostLost;
            if (!post_all(context, link, session)) return;
        }
        if ((!session.enough && session.posted < wanted(session)) || session.returned < session.posted ||
            link.queues.room() == 0)
            return;
        end(context, link, session);
    }
    void end(const PeerContext& context, Link& link, Session& session) {
        session.here = session.meter.use(settings_, context.now);
        session.step = Step::ending;
        say(context, link, session, kEnd);
    }
    bool post_all(const PeerContext& context, Link& link, Session& session) {
        const std::uint32_t each = over_sockets(mode(session).way) ? 0 : 2;
        while (!session.enough && session.posted < wanted(session) &&
               session.posted - session.returned < announced_.depth && link.queues.room() >= each) {
            const std::uint32_t slot = slot_of(session.posted);
            write_number(piece_of(session, session.out, slot), session.posted);
            if (!post(context, link, session, slot)) return false;
            session.since[slot] = context.now;
            ++session.posted;
        }
        if (mode(session).way == PingpongWay::tcp &&
            !session.sockets.send(socket_of(session), session.posted, pieces_of(session, session.out)))
            link.fail(fmt::format("TCP: {}", session.sockets.why()));
        return !link.complaint;
    }
    [[nodiscard]] Pieces pieces_of(const Session& session, const Block& block) const {
        return {.bytes = block.bytes(),
                .stride = announced_.bytes,
                .slots = announced_.depth,
                .size = planned(session).size};
    }
    bool post(const PeerContext& context, Link& link, Session& session, std::uint32_t slot) const {
        const PingpongWay way = mode(session).way;
        if (way == PingpongWay::tcp) return true;
        if (way == PingpongWay::udp) {
            const bool sent =
                session.sockets.send_datagram(socket_of(session), slot, piece_of(session, session.out, slot));
            if (!session.sockets.why().empty()) link.fail(fmt::format("UDP: {}", session.sockets.why()));
            return sent;
        }
        const verbs::Sge out = session.out.piece(std::size_t{slot} * announced_.bytes, planned(session).size);
        verbs::SendWr wr =
            way == PingpongWay::send ? verbs::SendWr{} : remote(session, verbs::WrOpcode::rdma_write, slot);
        if (planned(session).size != 0) wr.sg_list = {&out, 1};
        if (way == PingpongWay::write_then_read) return link.post(context, wr, kWrite | slot);
        if (!(announced_.signaled ? link.post(context, wr, kQuiet) : link.post_quietly(context, wr, kQuiet, false)))
            return false;
        return way == PingpongWay::send || post_read(context, link, session, slot);
    }
    [[nodiscard]] verbs::SendWr remote(const Session& session, verbs::WrOpcode opcode, std::uint32_t slot) const {
        return {.opcode = opcode,
                .remote = {.address = session.offer.address + std::uint64_t{slot} * announced_.bytes,
                           .rkey = session.offer.key}};
    }
    bool post_read(const PeerContext& context, Link& link, const Session& session, std::uint32_t slot) const {
        const verbs::Sge back = session.back.piece(std::size_t{slot} * announced_.bytes, planned(session).size);
        verbs::SendWr read = remote(session, verbs::WrOpcode::rdma_read, slot);
        if (planned(session).size != 0) read.sg_list = {&back, 1};
        return link.post(context, read, kRead | slot);
    }
    // WRITEs as fast as they go; the last completes, so that all of them are known to be there.
    bool pour(const PeerContext& context, Link& link, Session& session, bool time_is_up) {
        while (!session.enough && session.posted < wanted(session) && session.posted - session.returned < kPourDepth &&
               link.queues.room() >= 2) {
            const std::uint32_t slot = slot_of(session.posted);
            const verbs::Sge out = session.out.piece(std::size_t{slot} * announced_.bytes, planned(session).size);
            verbs::SendWr wr = remote(session, verbs::WrOpcode::rdma_write, slot);
            wr.sg_list = {&out, 1};
            const bool last = time_is_up || session.posted + 1 == wanted(session) ||
                              session.posted % kPourSignaled == kPourSignaled - 1;
            if (!link.post_quietly(context, wr, kPoured, last)) return false;
            ++session.posted;
            session.enough = time_is_up;
        }
        if ((session.enough || session.posted == wanted(session)) && session.returned == session.posted)
            take_rate(context, session);
        return true;
    }
    void take_rate(const PeerContext& context, Session& session) const {
        const dissect::Instant now = time_of(context);
        session.poured = now - session.pouring_since;
        session.drift = session.progress.drift(session.returned, now);
    }

    // False: there is no more to do with it now.
    bool take_from_socket(const PeerContext& context, Link& link, Session& session) {
        KernelSocket& socket = socket_of(session);
        SocketRow& sockets = session.sockets;
        const auto take = [&](std::uint64_t number, dissect::Bytes message) {
            take_time(context, session, number, message, slot_of(number));
        };
        switch (mode(session).way) {
            case PingpongWay::tcp:
                sockets.receive(socket, session.posted, session.returned, pieces_of(session, session.back), take);
                break;
            case PingpongWay::udp:
                sockets.receive_datagrams(socket, session.posted, session.returned, pieces_of(session, session.back),
                                          take);
                if (session.returned < session.posted &&
                    context.now - session.since[slot_of(session.returned)] >= kDatagramPatience)
                    sockets.give_up(session.posted, session.returned);
                break;
            default: pour_stream(context, link, session, socket); break;
        }
        if (!sockets.why().empty()) link.fail(fmt::format("{}: {}", name(kind_of(session)), sockets.why()));
        return !link.complaint;
    }
    void pour_stream(const PeerContext& context, Link& link, Session& session, KernelSocket& socket) {
        const bool time_is_up = settings_.row_lasts && context.now - session.began >= *settings_.row_lasts;
        session.posted = wanted(session);
        session.returned = session.sockets.pour(socket, session.posted, time_is_up, pieces_of(session, session.out));
        session.progress.note(session.returned, time_of(context));
        if (!session.sockets.poured()) return;
        context.counts.messages += session.returned;
        context.counts.bytes += session.returned * planned(session).size;
        take_rate(context, session);
        session.callers[std::to_underlying(SocketKind::tcp)].close();
        end(context, link, session);
    }

    void take_completion(const PeerContext& context, Link& link, Session& session, const Done& done) {
        const std::uint32_t slot = done.tag & kSlotMask;
        if ((done.tag & kWrite) != 0) {
            post_read(context, link, session, slot);
        } else if ((done.tag & kRead) != 0) {
            take_round(context, session, piece_of(session, session.back, slot));
        } else if ((done.tag & kPoured) != 0) {
            session.returned += done.count;
            session.progress.note(session.returned, context.now);
            context.counts.messages += done.count;
            context.counts.bytes += std::uint64_t{done.count} * planned(session).size;
        }
    }
    void take_message(const PeerContext& context, Link& link, Session& session, const Done& done) {
        if (session.step != Step::playing || mode(session).way != PingpongWay::send ||
            session.returned == session.posted) {
            link.fail("returned data that was not sent");
            return;
        }
        take_round(context, session, link.queues.message(done));
        link.post_receive(context, done.tag);
    }
    void take_round(const PeerContext& context, Session& session, dissect::Bytes message) {
        take_time(context, session, session.returned, message, slot_of(session.returned));
        ++session.returned;
    }
    void take_time(const PeerContext& context, Session& session, std::uint64_t number, dissect::Bytes message,
                   std::uint32_t slot) {
        if (number >= kWarmUp) session.times.push_back(std::to_underlying(context.now - session.since[slot]));
        ++context.counts.messages;
        context.counts.bytes += planned(session).size;
        if (settings_.request.verify && !std::ranges::equal(message, piece_of(session, session.out, slot)))
            ++context.counts.wrong;
    }

    PingpongSettings settings_;
    Announced announced_;
    std::uint64_t rounds_;
    std::vector<PlannedRow> plan_;
    Attention attention_{};
};

}  // namespace

Program make_client(PingpongSettings settings) {
    const ProgramRequest request = settings.request;
    return Connected<Client>(Client(std::move(settings)), request, kPingpongPort);
}

}  // namespace qps::transport::live::pingpong
