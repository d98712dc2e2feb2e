// The client of pingpong: plays the rows in their order, takes the time of each round trip, and tells what came of each row.
//
// A round trip begins when its message is posted and ends with the completion that says it is back: the receive of the same
// bytes, or the READ behind the WRITE. Messages carry their number in their first bytes. What the server sends is checked
// against what was sent; its report is its word.
#include <transport-replay/model/instant.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/pingpong/pingpong_talk.hpp>

#include <algorithm>

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

struct ClientTalk {
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
    using Talk = ClientTalk;
    explicit Client(PingpongSettings settings)
        : settings_(std::move(settings)),
          announced_{.signaled = settings_.signaled,
                     .depth = static_cast<std::uint16_t>(settings_.request.depth),
                     .bytes = settings_.request.size.value_or(kPingpongBytes)},
          rounds_(settings_.request.count.value_or(settings_.row_lasts ? kMaxRounds : kDefaultRounds)) {}

    std::expected<QueueNeeds, std::string> plan(const Desk& /*desk*/, Talk& /*talk*/, dissect::Bytes /*said*/) const {
        return needs_of(announced_);
    }
    verbs::Result<CmPrivateBytes> prepare(const Desk& desk, Link& /*link*/, Talk& talk) const {
        const std::size_t bytes = std::max<std::size_t>(1, std::size_t{announced_.depth} * announced_.bytes);
        auto out = Block::open(desk, bytes, verbs::kLocalWrite);
        if (!out) return std::unexpected(out.error());
        talk.out = std::move(*out);
        auto back = Block::open(desk, bytes, verbs::kLocalWrite);
        if (!back) return std::unexpected(back.error());
        talk.back = std::move(*back);
        for (std::uint32_t slot = 0; slot < announced_.depth; ++slot)
            fill(piece_of(talk.out, slot), static_cast<std::uint32_t>(settings_.request.seed), slot);
        talk.since.resize(announced_.depth);
        return private_bytes(announced_, kAnnouncedBytes);
    }
    void up(const Desk& desk, Link& link, Talk& talk, dissect::Bytes said) {
        const auto offer = read_offer(said);
        constexpr std::uint8_t kBoth = kMayRead | kMayWrite;
        if (!offer || (offer->allowed & kBoth) != kBoth || offer->slots != announced_.depth ||
            offer->length < std::uint64_t{announced_.depth} * announced_.bytes) {
            link.fail("is not a pingpong server");
            return;
        }
        talk.offer = *offer;
        say(desk, link, talk, kBegin);
        talk.step = Step::beginning;
    }
    void done(const Desk& desk, Link& link, Talk& talk, const Done& done) {
        if (done.receive && done.wc.flags.with_imm) control(desk, link, talk, done);
        else if (done.receive) take_message(desk, link, talk, done);
        else if ((done.tag & kRead) != 0) take_round(desk, talk, done.tag - kRead, piece_of(talk.back, done.tag - kRead));
        if (talk.step == Step::playing && !link.complaint) proceed(desk, link, talk);
    }
    static bool complete(const Talk& talk) { return talk.step == Step::through; }
    void close(const Desk& desk, const Link& /*link*/, Talk& talk) {
        if (talk.step == Step::playing || talk.step == Step::ending) attention_.end(mode(talk).wait);
        talk.step = Step::through;
        talk.out.close(desk);
        talk.back.close(desk);
    }
    static bool again() { return false; }
    [[nodiscard]] bool hurried() const { return attention_.hurried(); }
    [[nodiscard]] bool look(const Desk& desk, verbs::Cq cq) { return attention_.look(desk, cq); }

private:
    [[nodiscard]] const PingpongMode& mode(const Talk& talk) const { return kPingpongModes[settings_.modes[talk.row]]; }
    [[nodiscard]] std::uint64_t wanted() const { return rounds_ + kWarmUp; }
    [[nodiscard]] dissect::MutableBytes piece_of(const Block& block, std::uint32_t slot) const {
        return block.bytes().subspan(std::size_t{slot} * announced_.bytes, announced_.bytes);
    }
    [[nodiscard]] std::uint32_t slot_of(std::uint64_t number) const { return static_cast<std::uint32_t>(number % announced_.depth); }

    void say(const Desk& desk, Link& link, const Talk& talk, std::uint32_t what) const {
        const auto row = static_cast<std::uint32_t>(settings_.modes[talk.row]);
        link.post(desk, {.opcode = verbs::WrOpcode::send_with_imm, .imm_data = what | row}, kQuiet);
    }
    void control(const Desk& desk, Link& link, Talk& talk, const Done& done) {
        const auto row = static_cast<std::uint32_t>(settings_.modes[talk.row]);
        const dissect::Bytes message = link.queues.message(done);
        const auto report = read_use(message);
        if (talk.step == Step::beginning && done.wc.imm_data == (kBegin | row)) {
            begin_row(desk, talk);
        } else if (talk.step == Step::ending && done.wc.imm_data == (kEnd | row) && report) {
            end_row(desk, link, talk, *report);
        } else {
            link.fail("sent an unexpected answer");
            return;
        }
        link.post_receive(desk, done.tag);
    }
    void begin_row(const Desk& desk, Talk& talk) {
        talk.step = Step::playing;
        talk.posted = talk.returned = 0;
        talk.enough = false;
        talk.times.clear();
        talk.began = desk.now;
        attention_.begin(mode(talk).wait);
        talk.meter.begin(settings_, desk.now);
    }
    void end_row(const Desk& desk, Link& link, Talk& talk, const ProcessorUse& there) {
        attention_.end(mode(talk).wait);
        PingpongRow row = figures(talk.times);
        row.mode = settings_.modes[talk.row];
        row.here = talk.here;
        row.there = there;
        if (settings_.told) settings_.told(row);
        talk.step = Step::through;
        if (++talk.row == settings_.modes.size()) return link.finish();
        talk.step = Step::beginning;
        say(desk, link, talk, kBegin);
    }

    // As many as may be under way; and the end of the row once all are back.
    void proceed(const Desk& desk, Link& link, Talk& talk) {
        if (settings_.row_lasts && elapsed(talk.began, desk.now) >= *settings_.row_lasts) talk.enough = true;
        const std::uint32_t each = mode(talk).way == PingpongWay::send ? 1 : 2;
        while (!talk.enough && talk.posted < wanted() && talk.posted - talk.returned < announced_.depth && link.queues.room() >= each) {
            const std::uint32_t slot = slot_of(talk.posted);
            const dissect::MutableBytes bytes = piece_of(talk.out, slot);
            if (bytes.size() >= kNumber) write_be(bytes, 0, talk.posted);
            if (!post(desk, link, talk, slot)) return;
            talk.since[slot] = desk.now;
            ++talk.posted;
        }
        if ((!talk.enough && talk.posted < wanted()) || talk.returned < talk.posted || link.queues.room() == 0) return;
        talk.here = talk.meter.use(settings_, desk.now);
        talk.step = Step::ending;
        say(desk, link, talk, kEnd);
    }
    bool post(const Desk& desk, Link& link, const Talk& talk, std::uint32_t slot) const {
        const std::size_t at = std::size_t{slot} * announced_.bytes;
        const verbs::Sge out = talk.out.piece(at, announced_.bytes);
        verbs::SendWr wr{};
        if (announced_.bytes != 0) wr.sg_list = {&out, 1};
        const bool send = mode(talk).way == PingpongWay::send;
        if (!send) {
            wr.opcode = verbs::WrOpcode::rdma_write;
            wr.remote = {.address = talk.offer.address + at, .rkey = talk.offer.key};
        }
        if (!(announced_.signaled ? link.post(desk, wr, kQuiet) : link.post_quietly(desk, wr, kQuiet, false))) return false;
        if (send) return true;
        const verbs::Sge back = talk.back.piece(at, announced_.bytes);
        verbs::SendWr read{.opcode = verbs::WrOpcode::rdma_read, .remote = wr.remote};
        if (announced_.bytes != 0) read.sg_list = {&back, 1};
        return link.post(desk, read, kRead | slot);
    }

    void take_message(const Desk& desk, Link& link, Talk& talk, const Done& done) {
        if (talk.step != Step::playing || mode(talk).way != PingpongWay::send || talk.returned == talk.posted) {
            link.fail("returned data that was not sent");
            return;
        }
        take_round(desk, talk, slot_of(talk.returned), link.queues.message(done));
        link.post_receive(desk, done.tag);
    }
    void take_round(const Desk& desk, Talk& talk, std::uint32_t slot, dissect::Bytes message) {
        if (talk.returned >= kWarmUp) talk.times.push_back(std::to_underlying(elapsed(talk.since[slot], desk.now)));
        ++talk.returned;
        ++desk.counts.messages;
        desk.counts.bytes += announced_.bytes;
        if (settings_.request.verify && !std::ranges::equal(message, piece_of(talk.out, slot))) ++desk.counts.wrong;
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
