// ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong, ibv_srq_pingpong, ibv_xsrq_pingpong: a message there and back,
// over and over, as those of rdma-core do.
//
// The client sends first (of ibv_xsrq_pingpong the server). Who has the peer's message and the completion of its own
// sends the next one, on each queue pair by itself (ibv_srq_pingpong has several; the others one), until so many went
// and came on all of them. The server of the originals sends back what it received, because it has one buffer for both:
// so does ours, and the client compares. ibv_srq_pingpong's buffer is that of all queue pairs, so all its messages are
// alike.
//
// Sizes and iterations are not told. A server that is not told them either answers what comes, and the end is when
// nothing comes any more (kExchangeSilence; of ibv_xsrq_pingpong it is not told either, but has a number of its own); a
// message longer than its receives fails, as it does in the originals.
#include <transport-replay/live/peers/exchanged.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <limits>

namespace qps::transport::live::peers {

namespace {

enum class Kind : std::uint8_t { rc, uc, ud, srq, xrc };

constexpr std::uint32_t kPingReceives = 4;  // of a queue pair: one message is under way
constexpr std::uint32_t kPingSends = 4;
constexpr std::uint16_t kPingReads = 1;  // READs and ATOMICs at a time: there are none

struct PingPair {
    bool waits_for_send = false;
    bool waits_for_message = true;
    std::uint64_t sent = 0;
};

struct PingTransfer {
    Block out;
    std::vector<PingPair> pairs;  // as many as both sides have
    std::uint64_t sent = 0;       // completed, of all
    std::uint64_t received = 0;
    std::uint64_t bytes = 0;
    std::optional<dissect::Instant> first{};
    dissect::Instant last{};
    bool through = false;
};

verbs::QpType type_of(Kind kind) {
    if (kind == Kind::uc) return verbs::QpType::uc;
    if (kind == Kind::xrc) return verbs::QpType::xrc_send;
    return kind == Kind::ud ? verbs::QpType::ud : verbs::QpType::rc;
}

class PingPong {
public:
    using Session = PingPongSession;
    using Transfer = PingTransfer;
    PingPong(Kind kind, const ProgramRequest& request)
        : kind_(kind),
          request_(request),
          size_(request.size.value_or(kind == Kind::ud ? kUdPingPongSize : kPingPongSize)) {
        if (kind == Kind::srq) count_ = request.exchange.queue_pairs.value_or(kSrqPingPongQueuePairs);
        std::uint64_t none = request.target ? kPingPongIterations : std::numeric_limits<std::uint64_t>::max();
        if (kind == Kind::xrc) none = kXrcPingPongIterations;
        begins_ = request.target.has_value() != (kind == Kind::xrc);
        iterations_ = request.count.value_or(none);
    }

    std::expected<Session, std::string> open(const ExchangeTurn& turn, Transfer& transfer, const Address& own) const {
        const std::uint32_t packet = bytes_of(turn.context.adapter().settings().mtu);
        if (kind_ == Kind::ud && size_ > packet)
            return std::unexpected(fmt::format("UD messages have at most {} bytes here", packet));
        const QueueNeeds needs{.type = type_of(kind_),
                               .sends = kPingSends,
                               .receives = kPingReceives,
                               .receive_bytes = size_,
                               .access = verbs::kLocalWrite};
        auto pairs = ExchangePairs::open(turn.context, needs, count_, kUdPingPongQkey, own, request_.seed);
        if (!pairs) return no_room(pairs.error());
        turn.pairs = std::move(*pairs);
        auto out = Block::open(turn.context, std::size_t{size_} * count_, verbs::kLocalWrite);
        if (!out) return no_room(out.error());
        transfer.out = std::move(*out);
        std::vector<QueuePairEnd> ends = turn.pairs.ends();
        if (kind_ == Kind::srq) ends.resize(kSrqPingPongEnds);
        return Session(request_.target ? ExchangeRole::client : ExchangeRole::server, std::move(ends),
                       kind_ == Kind::xrc ? PingPongFormat::xrc : PingPongFormat::plain);
    }
    void connect(const ExchangeTurn& turn, Transfer& transfer, const Session& session) const {
        const PathMtu mtu =
            std::min(request_.exchange.mtu.value_or(kPingPongMtu), turn.context.adapter().settings().mtu);
        turn.pairs.connect(turn.context, session.remote(), mtu, kPingReads);
        transfer.pairs.resize(static_cast<std::size_t>(std::ranges::count_if(
            session.remote().first(count_), [](const QueuePairEnd& end) { return end.qpn != dissect::Qpn{}; })));
        if (transfer.pairs.empty()) turn.pairs.complain("it announces no queue pair");
    }
    void begin(const ExchangeTurn& turn, Transfer& transfer, const Session& /*session*/) const {
        transfer.first = turn.context.now;
        if (!begins_) return;
        for (std::uint32_t i = 0; i < transfer.pairs.size(); ++i) {
            fill_ping(transfer, i);
            send(turn, transfer, i);
        }
    }
    void done(const ExchangeTurn& turn, Transfer& transfer, std::uint32_t number, const Done& done) const {
        if (number >= transfer.pairs.size()) {  // a stranger's datagram
            if (done.receive) turn.pairs.post_receive(turn.context, number, done.tag);
            return;
        }
        PingPair& pair = transfer.pairs[number];
        if (done.receive) {
            take(turn, transfer, number, turn.pairs.at(number).message(done));
            pair.waits_for_message = false;
            if (!turn.pairs.post_receive(turn.context, number, done.tag)) return;
        } else {
            pair.waits_for_send = false;
            ++transfer.sent;
        }
        transfer.last = turn.context.now;
    }
    void tend(const ExchangeTurn& turn, Transfer& transfer, const Session& /*session*/) const {
        for (std::uint32_t i = 0; i < transfer.pairs.size() && transfer.sent < iterations_; ++i) {
            if (transfer.pairs[i].waits_for_message || transfer.pairs[i].waits_for_send) continue;
            if (begins_) fill_ping(transfer, i);
            send(turn, transfer, i);
        }
        if (transfer.sent >= iterations_ && transfer.received >= iterations_) transfer.through = true;
        if (transfer.through || turn.silence < kExchangeSilence) return;
        transfer.through = iterations_ == std::numeric_limits<std::uint64_t>::max() && transfer.received > 0;
        if (!transfer.through)
            turn.pairs.complain(fmt::format("no more messages; {} received, {} sent",
                                            counted(transfer.received, "message"), grouped(transfer.sent)));
    }
    static bool through(const Transfer& transfer) { return transfer.through; }
    std::string finish(const ExchangeTurn& /*turn*/, const Transfer& transfer, const Session& /*session*/) const {
        const dissect::Duration took = transfer.last - *transfer.first;
        std::string line =
            fmt::format("{} of {} in round trips", counted(transfer.received, "message"), counted(size_, "byte"));
        if (took > dissect::Duration{} && transfer.received > 0)
            line += fmt::format(" in {}, {} each", duration_text(took),
                                duration_text(dissect::Duration{std::to_underlying(took) /
                                                                static_cast<std::int64_t>(transfer.received)}));
        return line;
    }
    static std::optional<dissect::Instant> due(const Transfer& /*transfer*/, dissect::Instant last) {
        return last + kExchangeSilence;
    }
    static std::string farewell(const ExchangeTurn& /*turn*/, const Transfer& /*transfer*/,
                                const Session& /*session*/) {
        return {};
    }
    static void close(const ExchangeTurn& turn, Transfer& transfer) { transfer.out.close(turn.context); }

private:
    static std::unexpected<std::string> no_room(verbs::VerbsError error) {
        return std::unexpected(fmt::format("cannot allocate queue pairs: {}", name(error)));
    }
    [[nodiscard]] dissect::MutableBytes ping(const Transfer& transfer, std::uint32_t number) const {
        return transfer.out.bytes().subspan(std::size_t{number} * size_, size_);
    }
    void fill_ping(const Transfer& transfer, std::uint32_t number) const {
        const std::uint64_t which = kind_ == Kind::srq ? 0 : transfer.pairs[number].sent;
        fill(ping(transfer, number), static_cast<std::uint32_t>(request_.seed), which);
    }
    void send(const ExchangeTurn& turn, Transfer& transfer, std::uint32_t number) const {
        PingPair& pair = transfer.pairs[number];
        const verbs::Sge piece = transfer.out.piece(std::size_t{number} * size_, size_);
        if (!turn.pairs.post(turn.context, number, {.sg_list = {&piece, 1}}, 0)) return;
        ++pair.sent;
        ++turn.context.counts.messages;
        turn.context.counts.bytes += size_;
        pair.waits_for_send = pair.waits_for_message = true;
    }
    void take(const ExchangeTurn& turn, Transfer& transfer, std::uint32_t number, dissect::Bytes message) const {
        ++transfer.received;
        transfer.bytes += message.size();
        ++turn.context.counts.messages;
        turn.context.counts.bytes += message.size();
        const dissect::MutableBytes own = ping(transfer, number);
        if (message.size() != own.size()) {
            turn.pairs.complain(fmt::format("sends messages of {}, expected {} (option -s)",
                                            counted(message.size(), "byte"), own.size()));
            return;
        }
        const bool wrong = begins_ ? !std::ranges::equal(message, own) : judge(message) == Content::wrong;
        if (wrong && request_.verify) ++turn.context.counts.wrong;
        if (!begins_) std::ranges::copy(message, own.begin());
    }

    Kind kind_;
    ProgramRequest request_;
    std::uint32_t size_;
    std::uint32_t count_ = 1;
    std::uint64_t iterations_;
    bool begins_ = false;  // it sends what the other sends back
};

Made make(Kind kind, const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kMaxTransfer); !fits) return std::unexpected(fits.error());
    if (request.connections != 1) return std::unexpected("ibv_*_pingpong programs use one connection");
    const ExchangeOptions& options = request.exchange;
    if (options.rdma_cm) return std::unexpected("ibv_*_pingpong programs exchange their queue pairs over TCP only");
    if (options.service || options.both_ways || options.all_sizes || options.duration || options.compare_swap)
        return std::unexpected("ibv_*_pingpong programs have one service, one size and a number of messages");
    const std::uint32_t most = kind == Kind::srq ? kSrqPingPongEnds : 1;
    if (options.queue_pairs && (*options.queue_pairs == 0 || *options.queue_pairs > most))
        return std::unexpected(fmt::format("it uses at most {}", counted(most, "queue pair")));
    return Exchanged<PingPong>(PingPong(kind, request), request);
}

}  // namespace

Made make_rc_pingpong(const ProgramRequest& request) { return make(Kind::rc, request); }
Made make_uc_pingpong(const ProgramRequest& request) { return make(Kind::uc, request); }
Made make_ud_pingpong(const ProgramRequest& request) { return make(Kind::ud, request); }
Made make_srq_pingpong(const ProgramRequest& request) { return make(Kind::srq, request); }
Made make_xsrq_pingpong(const ProgramRequest& request) { return make(Kind::xrc, request); }

}  // namespace qps::transport::live::peers
