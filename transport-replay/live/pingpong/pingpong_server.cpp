// The server of pingpong: sends back what comes, polls or waits as the row that is played says, and tells what that cost it.
//
// Messages are a client's: what is no row, no end of the row that is played, ends its connection. Its messages fit its receives,
// or the transport refuses them.
#include <transport-replay/live/pingpong/pingpong_talk.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/queue_pair/ring.hpp>

#include <fmt/format.h>

namespace qps::transport::live::pingpong {

using namespace peers;

namespace {

struct ServerTalk {
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
    using Talk = ServerTalk;
    explicit Server(PingpongSettings settings) : settings_(std::move(settings)) {}

    std::expected<QueueNeeds, std::string> plan(const Desk& /*desk*/, Talk& talk, dissect::Bytes said) const {
        const auto announced = read_announced(said);
        if (!announced) return std::unexpected("not a pingpong client");
        talk.announced = *announced;
        return needs_of(*announced);
    }
    static verbs::Result<CmPrivateBytes> prepare(const Desk& desk, Link& /*link*/, Talk& talk) {
        const std::size_t bytes = std::size_t{talk.announced.depth} * talk.announced.bytes;
        auto memory = Block::open(desk, std::max<std::size_t>(1, bytes), verbs::kEveryAccess);
        if (!memory) return std::unexpected(memory.error());
        talk.memory = std::move(*memory);
        auto control = Block::open(desk, kReport, verbs::kLocalWrite);
        if (!control) return std::unexpected(control.error());
        talk.control = std::move(*control);
        const verbs::Mr& mr = talk.memory.mr();
        return private_bytes(Offer{.allowed = kMayRead | kMayWrite,
                                   .slots = talk.announced.depth,
                                   .address = mr.address,
                                   .length = talk.memory.size(),
                                   .key = mr.rkey},
                             kOfferBytes);
    }
    static void up(const Desk& /*desk*/, Link& /*link*/, Talk& talk, dissect::Bytes /*said*/) { talk.up = true; }

    void done(const Desk& desk, Link& link, Talk& talk, const Done& done) {
        if (done.receive) {
            if (done.wc.flags.with_imm) control(desk, link, talk, done);
            else answer(desk, link, talk, done);
            return;
        }
        for (std::uint32_t i = 0; i < done.count && !talk.answering.empty(); ++i) {
            if (!link.post_receive(desk, talk.answering.front())) return;
            talk.answering.pop_front();
        }
    }
    static bool complete(const Talk& talk) { return !talk.mode; }
    void close(const Desk& desk, const Link& link, Talk& talk) {
        if (talk.mode) attention_.end(kPingpongModes[*talk.mode].wait);
        talk.mode.reset();
        if (talk.up)
            desk.say(
                about(link, fmt::format("{} of pingpong, {} returned", counted(talk.rows, "row"), counted(talk.messages, "message"))));
        talk.memory.close(desk);
        talk.control.close(desk);
    }
    static bool again() { return false; }
    [[nodiscard]] bool hurried() const { return attention_.hurried(); }
    [[nodiscard]] bool look(const Desk& desk, verbs::Cq cq) { return attention_.look(desk, cq); }

private:
    static void answer(const Desk& desk, Link& link, Talk& talk, const Done& done) {
        const verbs::Sge piece = link.queues.message_piece(done);
        verbs::SendWr wr{};
        if (piece.length != 0) wr.sg_list = {&piece, 1};
        const bool posted = talk.announced.signaled ? link.post(desk, wr, done.tag) : link.post_quietly(desk, wr, done.tag, false);
        if (!posted) return;
        talk.answering.push_back(done.tag);
        ++talk.messages;
        ++desk.counts.messages;
        desk.counts.bytes += piece.length;
    }
    void control(const Desk& desk, Link& link, Talk& talk, const Done& done) {
        const std::uint32_t row = done.wc.imm_data & 0xff;
        const std::uint32_t what = done.wc.imm_data - row;
        verbs::SendWr wr{.opcode = verbs::WrOpcode::send_with_imm, .imm_data = done.wc.imm_data};
        const verbs::Sge piece = talk.control.piece(0, kReport);
        if (what == kBegin && !talk.mode && row < kPingpongModes.size()) {
            talk.mode = row;
            attention_.begin(kPingpongModes[row].wait);
            talk.meter.begin(settings_, desk.now);
        } else if (what == kEnd && talk.mode == row) {
            attention_.end(kPingpongModes[row].wait);
            talk.mode.reset();
            ++talk.rows;
            write(talk.control.bytes(), talk.meter.use(settings_, desk.now));
            wr.sg_list = {&piece, 1};
            wr.send_flags.inline_data = true;
        } else {
            link.fail("requested an unknown mode of pingpong");
            return;
        }
        // With a completion in any case: it takes the quiet ones with it.
        if (link.post(desk, wr, done.tag)) talk.answering.push_back(done.tag);
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
