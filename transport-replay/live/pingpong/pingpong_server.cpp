// The server of pingpong: sends back what comes, polls or waits as the row that is played says, and tells what that cost it.
//
// Messages are a client's: what is no row, no end of the row that is played, ends its connection. Its messages fit its receives,
// or the transport refuses them.
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
    Meter meter{};
    std::uint64_t rows = 0;
    std::uint64_t messages = 0;
    bool up = false;
};

class Server {
public:
    using Session = ServerSession;
    explicit Server(PingpongSettings settings) : settings_(std::move(settings)) {}

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& session, dissect::Bytes said) const {
        const auto announced = read_announced(said);
        if (!announced) return std::unexpected("not a pingpong client");
        session.announced = *announced;
        return needs_of(*announced);
    }
    static verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) {
        const std::size_t bytes = std::size_t{session.announced.depth} * session.announced.bytes;
        auto memory = Block::open(context, std::max<std::size_t>(1, bytes), verbs::kEveryAccess);
        if (!memory) return std::unexpected(memory.error());
        session.memory = std::move(*memory);
        auto control = Block::open(context, kReport, verbs::kLocalWrite);
        if (!control) return std::unexpected(control.error());
        session.control = std::move(*control);
        const verbs::Mr& mr = session.memory.mr();
        return private_bytes(Offer{.allowed = kMayRead | kMayWrite,
                                   .slots = session.announced.depth,
                                   .address = mr.address,
                                   .length = session.memory.size(),
                                   .key = mr.rkey},
                             kOfferBytes);
    }
    static void up(const PeerContext& /*context*/, Link& /*link*/, Session& session, dissect::Bytes /*said*/) { session.up = true; }

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
        if (session.mode) attention_.end(kPingpongModes[*session.mode].wait);
        session.mode.reset();
        if (session.up)
            context.say(about(
                link, fmt::format("{} of pingpong, {} returned", counted(session.rows, "row"), counted(session.messages, "message"))));
        session.memory.close(context);
        session.control.close(context);
    }
    static bool again() { return false; }
    [[nodiscard]] bool hurried() const { return attention_.hurried(); }
    [[nodiscard]] bool look(const PeerContext& context, verbs::Cq cq) { return attention_.look(context, cq); }

private:
    static void answer(const PeerContext& context, Link& link, Session& session, const Done& done) {
        const verbs::Sge piece = link.queues.message_piece(done);
        verbs::SendWr wr{};
        if (piece.length != 0) wr.sg_list = {&piece, 1};
        const bool posted = session.announced.signaled ? link.post(context, wr, done.tag) : link.post_quietly(context, wr, done.tag, false);
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
        const verbs::Sge piece = session.control.piece(0, kReport);
        if (what == kBegin && !session.mode && row < kPingpongModes.size()) {
            session.mode = row;
            attention_.begin(kPingpongModes[row].wait);
            session.meter.begin(settings_, context.now);
        } else if (what == kEnd && session.mode == row) {
            attention_.end(kPingpongModes[row].wait);
            session.mode.reset();
            ++session.rows;
            write(session.control.bytes(), session.meter.use(settings_, context.now));
            wr.sg_list = {&piece, 1};
            wr.send_flags.inline_data = true;
        } else {
            link.fail("requested an unknown mode of pingpong");
            return;
        }
        // With a completion in any case: it takes the quiet ones with it.
        if (link.post(context, wr, done.tag)) session.answering.push_back(done.tag);
    }
    PingpongSettings settings_;
    Attention attention_{};
};

}  // namespace

Program make_server(PingpongSettings settings) {
    const ProgramRequest request = settings.request;
    return Connected<Server>(Server(std::move(settings)), request, kPingpongPort);
}

}  // namespace qps::transport::live::pingpong
