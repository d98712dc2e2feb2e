// The client of pingpong: plays the rows in their order, takes the time of each round trip, and tells what came of each row.
//
// A round trip begins when its message is posted and ends with the completion that says it is back: the receive of the same
// bytes, or the READ behind the WRITE. Messages carry their number in their first bytes. What the server sends is checked
// against what was sent; its report is its word.
#include <dissect/types.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/pingpong/pingpong_state.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live::pingpong {

using namespace peers;

namespace {

constexpr std::uint64_t kDefaultRounds = 1000;
constexpr std::size_t kNumber = 8;  // bytes of a message that say which it is

// Tags of sends: those of READs are kRead and the slot.
constexpr std::uint32_t kQuiet = 0;
constexpr std::uint32_t kRead = 1U << 16;

enum class Step : std::uint8_t { connecting, beginning, playing, ending, through };

struct ClientSession {
    Block out;   // a slot for each message under way
    Block back;  // where READs go
    Offer offer{};
    Step step = Step::connecting;
    std::size_t row = 0;  // of the settings' modes
    std::uint64_t posted = 0;
    std::uint64_t returned = 0;
    bool enough = false;  // the row's time is up
    Meter meter{};
    ProcessorUse here{};
    dissect::Instant began{};
    std::vector<dissect::Instant> since{};  // by slot
    std::vector<std::int64_t> times{};      // nanoseconds of the round trips that count
};

PingpongRow figures(std::vector<std::int64_t>& times) {
    PingpongRow row{.round_trips = times.size()};
    if (times.empty()) return row;
    std::ranges::sort(times);
    const auto at = [&](std::size_t hundredths) { return dissect::Duration{times[(times.size() - 1) * hundredths / 100]}; };
    row.least = at(0);
    row.median = at(50);
    row.most_of = at(99);
    row.longest = at(100);
    return row;
}

class Client {
public:
    using Session = ClientSession;
    explicit Client(PingpongSettings settings)
        : settings_(std::move(settings)),
          announced_{.signaled = settings_.signaled,
                     .depth = static_cast<std::uint16_t>(settings_.request.depth),
                     .bytes = settings_.request.size.value_or(kPingpongBytes)},
          rounds_(settings_.request.count.value_or(settings_.row_lasts ? kMaxRounds : kDefaultRounds)) {}

    std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/, dissect::Bytes /*said*/) const {
        return needs_of(announced_);
    }
    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) const {
        const std::size_t bytes = std::max<std::size_t>(1, std::size_t{announced_.depth} * announced_.bytes);
        auto out = Block::open(context, bytes, verbs::kLocalWrite);
        if (!out) return std::unexpected(out.error());
        session.out = std::move(*out);
        auto back = Block::open(context, bytes, verbs::kLocalWrite);
        if (!back) return std::unexpected(back.error());
        session.back = std::move(*back);
        for (std::uint32_t slot = 0; slot < announced_.depth; ++slot)
            fill(piece_of(session.out, slot), static_cast<std::uint32_t>(settings_.request.seed), slot);
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
        say(context, link, session, kBegin);
        session.step = Step::beginning;
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) {
        if (done.receive && done.wc.flags.with_imm) control(context, link, session, done);
        else if (done.receive) take_message(context, link, session, done);
        else if ((done.tag & kRead) != 0) take_round(context, session, done.tag - kRead, piece_of(session.back, done.tag - kRead));
        if (session.step == Step::playing && !link.complaint) proceed(context, link, session);
    }
    static bool complete(const Session& session) { return session.step == Step::through; }
    void close(const PeerContext& context, const Link& /*link*/, Session& session) {
        if (session.step == Step::playing || session.step == Step::ending) attention_.end(mode(session).wait);
        session.step = Step::through;
        session.out.close(context);
        session.back.close(context);
    }
    static bool again() { return false; }
    [[nodiscard]] bool hurried() const { return attention_.hurried(); }
    [[nodiscard]] bool look(const PeerContext& context, verbs::Cq cq) { return attention_.look(context, cq); }

private:
    [[nodiscard]] const PingpongMode& mode(const Session& session) const { return kPingpongModes[settings_.modes[session.row]]; }
    [[nodiscard]] std::uint64_t wanted() const { return rounds_ + kWarmUp; }
    [[nodiscard]] dissect::MutableBytes piece_of(const Block& block, std::uint32_t slot) const {
        return block.bytes().subspan(std::size_t{slot} * announced_.bytes, announced_.bytes);
    }
    [[nodiscard]] std::uint32_t slot_of(std::uint64_t number) const { return static_cast<std::uint32_t>(number % announced_.depth); }

    void say(const PeerContext& context, Link& link, const Session& session, std::uint32_t what) const {
        const auto row = static_cast<std::uint32_t>(settings_.modes[session.row]);
        link.post(context, {.opcode = verbs::WrOpcode::send_with_imm, .imm_data = what | row}, kQuiet);
    }
    void control(const PeerContext& context, Link& link, Session& session, const Done& done) {
        const auto row = static_cast<std::uint32_t>(settings_.modes[session.row]);
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
        session.began = context.now;
        attention_.begin(mode(session).wait);
        session.meter.begin(settings_, context.now);
    }
    void end_row(const PeerContext& context, Link& link, Session& session, const ProcessorUse& there) {
        attention_.end(mode(session).wait);
        PingpongRow row = figures(session.times);
        row.mode = settings_.modes[session.row];
        row.here = session.here;
        row.there = there;
        if (settings_.on_row) settings_.on_row(row);
        session.step = Step::through;
        if (++session.row == settings_.modes.size()) return link.finish();
        session.step = Step::beginning;
        say(context, link, session, kBegin);
    }

    // As many as may be under way; and the end of the row once all are back.
    void proceed(const PeerContext& context, Link& link, Session& session) {
        if (settings_.row_lasts && context.now - session.began >= *settings_.row_lasts) session.enough = true;
        const std::uint32_t each = mode(session).way == PingpongWay::send ? 1 : 2;
        while (!session.enough && session.posted < wanted() && session.posted - session.returned < announced_.depth &&
               link.queues.room() >= each) {
            const std::uint32_t slot = slot_of(session.posted);
            const dissect::MutableBytes bytes = piece_of(session.out, slot);
            if (bytes.size() >= kNumber) write_be(bytes, 0, session.posted);
            if (!post(context, link, session, slot)) return;
            session.since[slot] = context.now;
            ++session.posted;
        }
        if ((!session.enough && session.posted < wanted()) || session.returned < session.posted || link.queues.room() == 0) return;
        session.here = session.meter.use(settings_, context.now);
        session.step = Step::ending;
        say(context, link, session, kEnd);
    }
    bool post(const PeerContext& context, Link& link, const Session& session, std::uint32_t slot) const {
        const std::size_t at = std::size_t{slot} * announced_.bytes;
        const verbs::Sge out = session.out.piece(at, announced_.bytes);
        verbs::SendWr wr{};
        if (announced_.bytes != 0) wr.sg_list = {&out, 1};
        const bool send = mode(session).way == PingpongWay::send;
        if (!send) {
            wr.opcode = verbs::WrOpcode::rdma_write;
            wr.remote = {.address = session.offer.address + at, .rkey = session.offer.key};
        }
        if (!(announced_.signaled ? link.post(context, wr, kQuiet) : link.post_quietly(context, wr, kQuiet, false))) return false;
        if (send) return true;
        const verbs::Sge back = session.back.piece(at, announced_.bytes);
        verbs::SendWr read{.opcode = verbs::WrOpcode::rdma_read, .remote = wr.remote};
        if (announced_.bytes != 0) read.sg_list = {&back, 1};
        return link.post(context, read, kRead | slot);
    }

    void take_message(const PeerContext& context, Link& link, Session& session, const Done& done) {
        if (session.step != Step::playing || mode(session).way != PingpongWay::send || session.returned == session.posted) {
            link.fail("returned data that was not sent");
            return;
        }
        take_round(context, session, slot_of(session.returned), link.queues.message(done));
        link.post_receive(context, done.tag);
    }
    void take_round(const PeerContext& context, Session& session, std::uint32_t slot, dissect::Bytes message) {
        if (session.returned >= kWarmUp) session.times.push_back(std::to_underlying(context.now - session.since[slot]));
        ++session.returned;
        ++context.counts.messages;
        context.counts.bytes += announced_.bytes;
        if (settings_.request.verify && !std::ranges::equal(message, piece_of(session.out, slot))) ++context.counts.wrong;
    }

    PingpongSettings settings_;
    Announced announced_;
    std::uint64_t rounds_;
    Attention attention_{};
};

}  // namespace

Program make_client(PingpongSettings settings) {
    const ProgramRequest request = settings.request;
    return Connected<Client>(Client(std::move(settings)), request, kPingpongPort);
}

}  // namespace qps::transport::live::pingpong
