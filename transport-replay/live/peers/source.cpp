// source: sends messages of a given size to a sink, by SEND, WRITE or WRITE with immediate, so many under way at a time. What
// it says to the sink is in offer.hpp and sink.cpp.
//
// SENDs and WRITEs are signaled every half queue. A sink's offer is a stranger's: what does not hold the messages is refused,
// and an answer that claims to have seen more than was sent ends the connection.
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/offer.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kSourceSize = 1U << 16;
constexpr std::uint64_t kDefaultCount = 1000;
constexpr std::uint32_t kSourceCountBytes = 8;
constexpr std::uint32_t kAnswers = 64;  // receives for the sink's answers: one answers all that it has seen, so few are under way

enum SourceTag : std::uint32_t { kMessages, kNotice };

struct SourceTalk {
    Block out;
    Block control;
    Offer offer{};
    std::uint64_t sent = 0;
    std::uint64_t told = 0;       // WRITE: of how many the sink knows
    std::uint64_t completed = 0;  // acknowledged
    std::uint64_t seen = 0;       // by the sink, as it says
    dissect::Instant began{};
    dissect::Instant last{};
    bool up = false;
};

class Source {
public:
    using Talk = SourceTalk;
    Source(const ProgramRequest& request, Way way)
        : request_(request), way_(way), size_(request.size.value_or(kSourceSize)), count_(request.count.value_or(kDefaultCount)) {}

    std::expected<QueueNeeds, std::string> plan(const Desk& /*desk*/, Talk& /*talk*/, dissect::Bytes /*said*/) const {
        return QueueNeeds{.sends = request_.depth * 2, .receives = kAnswers, .receive_bytes = kSourceCountBytes};
    }
    verbs::Result<CmPrivateBytes> prepare(const Desk& desk, Link& /*link*/, Talk& talk) const {
        auto out = Block::open(desk, std::max<std::size_t>(1, std::size_t{request_.depth} * size_), verbs::kLocalWrite);
        if (!out) return std::unexpected(out.error());
        talk.out = std::move(*out);
        auto control = Block::open(desk, kSourceCountBytes, verbs::kLocalWrite);
        if (!control) return std::unexpected(control.error());
        talk.control = std::move(*control);
        return private_bytes(Announcement{.way = way_, .depth = static_cast<std::uint16_t>(request_.depth), .bytes = size_},
                             kAnnouncementBytes);
    }
    void up(const Desk& desk, Link& link, Talk& talk, dissect::Bytes said) const {
        talk.up = true;
        talk.began = desk.now;
        if (way_ != Way::send) {
            const auto offer = read_offer(said);
            if (!offer || (offer->allowed & kMayWrite) == 0 || offer->length / offer->slots < size_) {
                link.fail("advertises no memory for the messages");
                return;
            }
            talk.offer = *offer;
        }
        proceed(desk, link, talk);
    }
    void done(const Desk& desk, Link& link, Talk& talk, const Done& done) const {
        talk.last = desk.now;
        if (done.receive) {
            const dissect::Bytes message = link.queues.message(done);
            const auto seen = dissect::read_be<std::uint64_t>(message, 0);
            if (message.size() != kSourceCountBytes || seen < talk.seen || seen > talk.sent) {
                link.fail("sent an invalid answer");
                return;
            }
            talk.seen = seen;
            if (!link.post_receive(desk, done.tag)) return;
        } else {
            // A notice stands for the messages before it that were not signaled, too.
            talk.completed += done.count - (done.tag == kNotice ? 1U : 0U);
        }
        proceed(desk, link, talk);
    }
    [[nodiscard]] bool complete(const Talk& talk) const { return through(talk); }
    void close(const Desk& desk, const Link& link, Talk& talk) const {
        if (talk.up) {
            const std::uint64_t bytes = talk.completed * size_;
            std::string line = fmt::format("{} of {} sent", counted(talk.completed, "message"), counted(size_, "byte"));
            const std::int64_t took = static_cast<std::int64_t>(talk.last) - static_cast<std::int64_t>(talk.began);
            if (took > 0)
                line += fmt::format(" in {}, {}", duration_text(dissect::Duration{took}),
                                    rate_text(static_cast<double>(bytes) * 8e9 / static_cast<double>(took)));
            desk.say(about(link, line));
        }
        talk.out.close(desk);
        talk.control.close(desk);
    }
    static bool again() { return false; }

private:
    [[nodiscard]] bool through(const Talk& talk) const { return talk.completed >= count_ && (way_ == Way::send || talk.seen >= count_); }
    void proceed(const Desk& desk, Link& link, Talk& talk) const {
        do {
            if (way_ == Way::write && !tell(desk, link, talk)) return;
        } while (may_send(link, talk) && send(desk, link, talk));
        if (way_ == Way::write && !tell(desk, link, talk)) return;
        if (through(talk)) link.finish();
    }
    // A slot of ours is free once its message was acknowledged; one of the sink's once it has looked at it.
    [[nodiscard]] bool may_send(const Link& link, const Talk& talk) const {
        if (talk.sent >= count_ || talk.sent - talk.completed >= request_.depth || link.queues.room() < 2) return false;
        return way_ == Way::send || talk.sent - talk.seen < talk.offer.slots;
    }
    bool send(const Desk& desk, Link& link, Talk& talk) const {
        const std::size_t slot = talk.sent % request_.depth * size_;
        if (request_.verify) fill(talk.out.bytes().subspan(slot, size_), static_cast<std::uint32_t>(request_.seed), talk.sent);
        const verbs::Sge piece = talk.out.piece(slot, size_);
        verbs::SendWr wr{};
        if (size_ != 0) wr.sg_list = {&piece, 1};
        if (way_ != Way::send) {
            wr.opcode = way_ == Way::write ? verbs::WrOpcode::rdma_write : verbs::WrOpcode::rdma_write_with_imm;
            wr.imm_data = static_cast<std::uint32_t>(talk.sent);
            wr.remote = {.address = talk.offer.address + talk.sent % talk.offer.slots * size_, .rkey = talk.offer.key};
        }
        // The last that may go now is signaled, or nothing would ever say that there is room again.
        ++talk.sent;
        const bool last = !may_send_after(link, talk);
        if (!link.post_quietly(desk, wr, kMessages, last)) return false;
        ++desk.counts.messages;
        desk.counts.bytes += size_;
        return true;
    }
    [[nodiscard]] bool may_send_after(const Link& link, const Talk& talk) const { return link.queues.room() > 2 && may_send(link, talk); }
    bool tell(const Desk& desk, Link& link, Talk& talk) const {
        if (talk.told == talk.sent || link.queues.room() == 0) return true;
        const bool worth_it = talk.sent == count_ || talk.sent - talk.told >= std::max<std::uint64_t>(1, talk.offer.slots / 2U) ||
                              talk.sent - talk.seen >= talk.offer.slots;
        if (!worth_it) return true;
        talk.told = talk.sent;
        write_be(talk.control.bytes(), 0, talk.told);
        const verbs::Sge piece = talk.control.piece(0, kSourceCountBytes);
        return link.post(desk, {.sg_list = {&piece, 1}, .send_flags = {.inline_data = true}}, kNotice);
    }

    ProgramRequest request_;
    Way way_;
    std::uint32_t size_;
    std::uint64_t count_;
};

Made make(const ProgramRequest& request, Way way) {
    if (const auto fits = sound(request, way == Way::send ? 0 : 1, kMaxTransfer); !fits) return std::unexpected(fits.error());
    if (request.count && *request.count == 0) return std::unexpected("invalid count 0: expected at least 1");
    return Connected<Source>(Source(request, way), request, kSinkPort);
}

}  // namespace

Made make_source(const ProgramRequest& request) { return make(request, Way::send); }
Made make_source_write(const ProgramRequest& request) { return make(request, Way::write); }
Made make_source_imm(const ProgramRequest& request) { return make(request, Way::write_with_imm); }

}  // namespace qps::transport::live::peers
