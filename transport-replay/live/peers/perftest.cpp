// ib_send_bw, ib_send_lat, ib_write_bw, ib_write_lat, ib_read_bw, ib_read_lat, ib_atomic_bw, ib_atomic_lat, as those of
// perftest.
//
// What is said over TCP or rdma_cm, and when traffic may begin, is the session's (live/exchange). Here is what the
// traffic is:
//
//   ib_send_*    SENDs; of bandwidth the server only receives, of latency both answer each other
//   ib_write_bw  WRITEs to the address that the peer tells with its keys
//   ib_write_lat WRITEs whose last byte is the number of the message, which the other side looks for in its memory; the
//   server begins ib_read_*    READs from that address; the server does nothing at all ib_atomic_*  FETCH ADD of 1 to
//   that address, or COMPARE SWAP
//
// How many there are is not told. A server that was not told either goes on until the peer goes on to what comes next
// on TCP, or leaves; so does one with a duration. Messages of ours are filled so that they can be judged, those of
// others are not judged; a FETCH ADD that does not count up by ones is wrong in anybody's memory.
//
// A peer may write what it likes into the memory it is shown, nothing in there is believed; receives are as long as the
// longest message that was asked for, and a longer one fails.
#include <transport-replay/live/peers/cm_exchanged.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/perftest_traffic.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <cstring>

namespace qps::transport::live::peers {

namespace {

using enum PerftestTest;

constexpr std::uint32_t kBandwidthSize = 65'536;  // where no option says otherwise, as in the originals
constexpr std::uint32_t kLatencySize = 2;
constexpr std::uint32_t kAtomicSize = 8;
constexpr std::uint64_t kIterations = 1000;
constexpr std::uint64_t kWriteIterations = 5000;  // ib_write_bw
constexpr std::uint16_t kPerftestReads = 16;      // READs and ATOMICs at a time, each way
constexpr std::uint32_t kLeastRegion = 1U << 16;  // what is shown of a queue pair's memory: the largest page of a peer
constexpr std::uint32_t kReceiveMemory = 1U << 24;  // of all receives together, where a few would not need more
constexpr dissect::Duration kOvertaken = microseconds(20'000);  // for what TCP overtook
constexpr std::uint32_t kFewReceives = 4;
constexpr std::uint32_t kManyReceives = 512;  // as the originals

bool is_write(PerftestTest test) { return test == write_bw || test == write_lat; }
bool is_read(PerftestTest test) { return test == read_bw || test == read_lat; }
bool is_atomic(PerftestTest test) { return test == atomic_bw || test == atomic_lat; }

verbs::QpType type_of(dissect::Service service) {
    if (service == dissect::Service::uc) return verbs::QpType::uc;
    return service == dissect::Service::ud ? verbs::QpType::ud : verbs::QpType::rc;
}

struct PerftestTransfer {
    Block in;   // what the peer reaches: a region of each queue pair
    Block out;  // what is sent, or where what is read goes; of atomics 8 bytes for each that is under way
    std::uint32_t region = 0;
    std::uint32_t size = 0;
    PerftestTraffic traffic;
    std::vector<std::optional<std::uint64_t>> counted;  // the last value that FETCH ADD found, of each queue pair
    dissect::Instant turn{};
    std::optional<dissect::Instant> heard{};  // when the peer was heard to go on
    bool went_on = false;
    bool given_up = false;  // some was lost
};

class Perftest {
public:
    using Session = PerftestSession;
    using Transfer = PerftestTransfer;
    Perftest(const PerftestSettings& settings, const ProgramRequest& request)
        : settings_(settings), request_(request) {}

    std::expected<Session, std::string> open(const ExchangeTurn& turn, Transfer& transfer, const Address& own) const {
        PerftestSettings settings = settings_;
        settings.mtu =
            std::min(request_.exchange.mtu.value_or(PathMtu::bytes_4096), turn.context.adapter().settings().mtu);
        if (settings.service == dissect::Service::ud && !request_.size && !is_latency(settings.test))
            settings.size = bytes_of(settings.mtu);
        const std::uint32_t longest = longest_of(settings);
        auto opened = ExchangePairs::open(turn.context, needs(settings, longest), settings.queue_pairs, kPerftestQkey,
                                          own, request_.seed);
        if (!opened) return no_room(opened.error());
        turn.pairs = std::move(*opened);
        transfer.size = settings.size;
        transfer.region = std::max(longest, kLeastRegion);
        if (!is_send(settings.test)) {
            auto in =
                Block::open(turn.context, std::size_t{transfer.region} * settings.queue_pairs, verbs::kEveryAccess);
            if (!in) return no_room(in.error());
            transfer.in = std::move(*in);
            if (is_read(settings.test))
                for (std::uint32_t i = 0; i < settings.queue_pairs; ++i)
                    fill(shown(transfer, i).first(longest), seed(), 0);
        }
        const std::size_t room =
            is_atomic(settings.test) ? std::size_t{kAtomicSize} * settings.queue_pairs * request_.depth : longest;
        auto out = Block::open(turn.context, room, verbs::kLocalWrite);
        if (!out) return no_room(out.error());
        transfer.out = std::move(*out);
        if (!is_read(settings.test) && !is_atomic(settings.test)) fill(transfer.out.bytes(), seed(), 0);
        return Session(request_.target ? ExchangeRole::client : ExchangeRole::server, settings, keys(turn, transfer));
    }
    void connect(const ExchangeTurn& turn, Transfer& transfer, const Session& session) const {
        if (session.cycle_buffer() > transfer.region && is_write(settings_.test))
            return turn.pairs.complain(fmt::format("its pages of {} are larger than the advertised memory",
                                                   bytes_text(session.cycle_buffer())));
        if (settings_.service == dissect::Service::ud && session.size() > bytes_of(session.mtu()))
            return turn.pairs.complain(
                fmt::format("UD messages have at most {} bytes, by its MTU", bytes_of(session.mtu())));
        if (!settings_.over_cm) turn.pairs.connect(turn.context, session.remote(), session.mtu(), kPerftestReads);
    }
    void begin(const ExchangeTurn& turn, Transfer& transfer, const Session& session) const {
        transfer.size = session.size();
        transfer.went_on = transfer.given_up = false;
        transfer.heard.reset();
        transfer.counted.assign(turn.pairs.size(), std::nullopt);
        transfer.traffic.begin(part(), turn.pairs.size(), turn.context.now);
    }
    void done(const ExchangeTurn& turn, Transfer& transfer, std::uint32_t number, const Done& done) const {
        if (!done.receive) {
            transfer.traffic.completed(number, turn.context.now);
            look_at_answer(turn, transfer, number, done.tag);
            return;
        }
        const dissect::Bytes message = turn.pairs.at(number).message(done);
        if (message.size() != transfer.size && !settings_.all_sizes)
            turn.pairs.complain(fmt::format("sends messages of {}, expected {} (option -s)",
                                            counted(message.size(), "byte"), transfer.size));
        if (request_.verify && judge(message) == Content::wrong) ++turn.context.counts.wrong;
        count(turn, message.size());
        transfer.traffic.received(turn.context.now);
        turn.pairs.post_receive(turn.context, number, done.tag);
    }
    void tend(const ExchangeTurn& turn, Transfer& transfer, const Session& session) const {
        PerftestTraffic& traffic = transfer.traffic;
        transfer.turn = turn.context.now;
        if (settings_.test == write_lat) look_for_write(turn, transfer);
        // Unreliable: what is lost never comes, and who waits for it would for ever.
        if (waits(transfer) && turn.silence >= kExchangeSilence) {
            transfer.given_up = true;
            if (is_latency(settings_.test)) turn.pairs.complain("no more messages: one was lost");
        }
        for (bool again = true; again;) {
            again = false;
            for (std::uint32_t i = 0; i < turn.pairs.size(); ++i)
                if (traffic.may_send(i, turn.context.now) && send(turn, transfer, session, i)) again = true;
        }
        if (session.peer_went_on() && !transfer.heard) transfer.heard = turn.context.now;
        const bool settled =
            !overtaken(transfer) || (turn.silence >= kOvertaken && turn.context.now - *transfer.heard >= kOvertaken);
        transfer.went_on = transfer.given_up || (transfer.heard && settled);
    }
    static bool through(const Transfer& transfer) {
        return transfer.traffic.through(transfer.turn, transfer.went_on) || transfer.given_up;
    }
    std::string finish(const ExchangeTurn& turn, Transfer& transfer, Session& session) const {
        PerftestTraffic& traffic = transfer.traffic;
        const std::uint64_t messages = traffic.sent() > 0 ? traffic.sent() - traffic.outstanding() : traffic.received();
        const double seconds = static_cast<double>(std::to_underlying(traffic.took())) / 1e9;
        const double rate = seconds > 0 ? static_cast<double>(messages) / seconds : 0;
        BandwidthReport report{
            .size = transfer.size, .iterations = messages, .peak = {}, .average = rate * transfer.size / (1U << 20U)};
        report.peak = report.average;
        report.message_rate = rate / 1e6;
        session.set_report(report);
        std::string line =
            is_latency(settings_.test) ? latency_line(transfer) : bandwidth_line(turn, transfer, messages, rate);
        traffic.end();
        return line;
    }
    std::optional<dissect::Instant> due(const Transfer& transfer, dissect::Instant last) const {
        auto deadline = transfer.traffic.due(transfer.turn);
        if (overtaken(transfer)) {
            const dissect::Instant settled = std::max(last, *transfer.heard) + kOvertaken;
            deadline = deadline ? std::min(*deadline, settled) : settled;
        }
        if (!waits(transfer) || transfer.given_up) return deadline;
        const dissect::Instant silence = last + kExchangeSilence;
        return deadline ? std::min(*deadline, silence) : silence;
    }
    // Of a server that did nothing itself: what the peer says it did.
    std::string farewell(const ExchangeTurn& turn, Transfer& transfer, const Session& session) const {
        const bool passive =
            !request_.target && !settings_.bidirectional && !is_send(settings_.test) && settings_.test != write_lat;
        if (!passive) return {};
        if (settings_.test == write_bw && request_.verify)
            for (std::uint32_t i = 0; i < turn.pairs.size(); ++i)
                if (judge(shown(transfer, i).first(longest_of(settings_))) == Content::wrong)
                    ++turn.context.counts.wrong;
        if (is_latency(settings_.test)) return "done";
        const BandwidthReport& report = session.remote_report();
        turn.context.counts.messages += report.iterations;
        turn.context.counts.bytes += report.iterations * std::min<std::uint64_t>(report.size, kMaxTransfer);
        return fmt::format("{} of {}, {} by its own measure", counted(report.iterations, "message"),
                           counted(report.size, "byte"), rate_text(report.average * 8 * (1U << 20U)));
    }
    static void close(const ExchangeTurn& turn, Transfer& transfer) {
        transfer.in.close(turn.context);
        transfer.out.close(turn.context);
    }

private:
    static std::unexpected<std::string> no_room(verbs::VerbsError error) {
        return std::unexpected(fmt::format("cannot allocate queue pairs and memory: {}", name(error)));
    }
    static std::uint32_t longest_of(const PerftestSettings& settings) {
        if (!settings.all_sizes) return settings.size;
        return settings.service == dissect::Service::ud ? bytes_of(settings.mtu) : kLargestSweptSize;
    }
    [[nodiscard]] QueueNeeds needs(const PerftestSettings& settings, std::uint32_t longest) const {
        QueueNeeds needs{.type = type_of(settings.service), .sends = request_.depth, .receives = 0, .receive_bytes = 0};
        if (!is_send(settings.test)) return needs;
        const std::uint64_t all = std::uint64_t{longest} * settings.queue_pairs;
        needs.receives =
            static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kReceiveMemory / all, kFewReceives, kManyReceives));
        needs.receive_bytes = longest;
        return needs;
    }
    [[nodiscard]] std::uint32_t seed() const { return static_cast<std::uint32_t>(request_.seed); }
    static dissect::MutableBytes shown(const Transfer& transfer, std::uint32_t number) {
        return transfer.in.bytes().subspan(std::size_t{number} * transfer.region, transfer.region);
    }
    static std::vector<QueuePairEnd> keys(const ExchangeTurn& turn, const Transfer& transfer) {
        std::vector<QueuePairEnd> ends = turn.pairs.ends();
        for (std::size_t i = 0; i < ends.size(); ++i) {
            ends[i].out_reads = kPerftestReads;
            ends[i].rkey = transfer.in.mr().rkey;
            ends[i].address = transfer.in.mr().address + i * transfer.region;
        }
        return ends;
    }

    // What this side does for one size.
    [[nodiscard]] PerftestPart part() const {
        const bool client = request_.target.has_value();
        const bool latency = is_latency(settings_.test);
        const bool turns = settings_.test == send_lat || settings_.test == write_lat;
        PerftestPart part{
            .sends = client || settings_.bidirectional || turns, .turns = turns, .depth = latency ? 1 : request_.depth};
        part.receives = turns || (settings_.test == send_bw && (!client || settings_.bidirectional));
        part.begins = client == (settings_.test != write_lat);
        part.duration = request_.exchange.duration;
        part.gap = request_.exchange.gap;
        const bool given =
            request_.count || client || settings_.bidirectional || (settings_.all_sizes && settings_.test == write_lat);
        part.iterations =
            given ? request_.count.value_or(settings_.test == write_bw ? kWriteIterations : kIterations) : kNoLimit;
        return part;
    }
    // Whether it could wait for something that was lost.
    [[nodiscard]] bool waits(const Transfer& transfer) const {
        const PerftestPart& part = transfer.traffic.part();
        return settings_.service != dissect::Service::rc && part.sends && part.receives;
    }

    // Whether messages may be on the wire still although the peer has gone on: nobody acknowledged them.
    [[nodiscard]] bool overtaken(const Transfer& transfer) const {
        return transfer.heard && settings_.service != dissect::Service::rc && transfer.traffic.part().receives;
    }

    static void count(const ExchangeTurn& turn, std::uint64_t bytes) {
        ++turn.context.counts.messages;
        turn.context.counts.bytes += bytes;
    }
    bool send(const ExchangeTurn& turn, Transfer& transfer, const Session& session, std::uint32_t number) const {
        const QueuePairEnd& remote = session.remote()[number];
        const auto slot = static_cast<std::uint32_t>(transfer.traffic.sent_on(number) % request_.depth);
        const std::size_t place =
            is_atomic(settings_.test) ? (std::size_t{number} * request_.depth + slot) * kAtomicSize : 0;
        if (settings_.test == write_lat)
            transfer.out.bytes()[transfer.size - 1] = static_cast<std::byte>(transfer.traffic.sent() + 1);
        const verbs::Sge piece = transfer.out.piece(place, transfer.size);
        verbs::SendWr wr{.sg_list = {&piece, 1}, .remote = {remote.address, remote.rkey}};
        if (is_write(settings_.test)) wr.opcode = verbs::WrOpcode::rdma_write;
        if (is_read(settings_.test)) wr.opcode = verbs::WrOpcode::rdma_read;
        if (is_atomic(settings_.test)) {
            wr.opcode = request_.exchange.compare_swap ? verbs::WrOpcode::atomic_cmp_and_swp
                                                       : verbs::WrOpcode::atomic_fetch_and_add;
            wr.atomic = {.compare_add = request_.exchange.compare_swap ? 0U : 1U, .swap = 0};
        }
        if (!turn.pairs.post(turn.context, number, wr, slot)) return false;
        transfer.traffic.sent(number, turn.context.now);
        count(turn, transfer.size);
        return true;
    }
    void look_at_answer(const ExchangeTurn& turn, Transfer& transfer, std::uint32_t number, std::uint32_t slot) const {
        if (!request_.verify) return;
        if (is_read(settings_.test) && judge(transfer.out.bytes().first(transfer.size)) == Content::wrong)
            ++turn.context.counts.wrong;
        if (!is_atomic(settings_.test) || request_.exchange.compare_swap || number >= transfer.counted.size()) return;
        std::uint64_t found = 0;
        std::memcpy(&found, transfer.out.bytes().data() + (std::size_t{number} * request_.depth + slot) * kAtomicSize,
                    kAtomicSize);
        std::optional<std::uint64_t>& before = transfer.counted[number];
        if (before && found != *before + 1) ++turn.context.counts.wrong;
        before = found;
    }
    // The peer's next message is there once its last byte is.
    static void look_for_write(const ExchangeTurn& turn, Transfer& transfer) {
        const std::byte last = shown(transfer, 0)[transfer.size - 1];
        if (last != static_cast<std::byte>(transfer.traffic.received() + 1)) return;
        if (!transfer.traffic.part().begins || transfer.traffic.sent() > transfer.traffic.received()) {
            transfer.traffic.received(turn.context.now);
            count(turn, transfer.size);
        }
    }

    [[nodiscard]] std::string bandwidth_line(const ExchangeTurn& turn, const Transfer& transfer, std::uint64_t messages,
                                             double rate) const {
        std::string line = fmt::format("{} of {}", counted(messages, "message"), counted(transfer.size, "byte"));
        if (turn.pairs.size() > 1) line += fmt::format(" on {}", counted(turn.pairs.size(), "queue pair"));
        if (transfer.traffic.took() > dissect::Duration{})
            line +=
                fmt::format(" in {}, {}", duration_text(transfer.traffic.took()), rate_text(rate * 8 * transfer.size));
        if (transfer.traffic.part().sends && transfer.traffic.part().receives)
            line += fmt::format("; {} came", grouped(transfer.traffic.received()));
        return line;
    }
    // Of turns half the way round, as the originals say it.
    [[nodiscard]] std::string latency_line(const Transfer& transfer) const {
        const Latencies& each = transfer.traffic.latencies();
        std::string line =
            fmt::format("{} of {}", counted(transfer.traffic.sent(), "message"), counted(transfer.size, "byte"));
        if (each.count == 0) return line;
        const std::int64_t parts = transfer.traffic.part().turns ? 2 : 1;
        const auto shown = [&](dissect::Duration all, std::uint64_t count) {
            return duration_text(dissect::Duration{std::to_underlying(all) / parts / static_cast<std::int64_t>(count)});
        };
        return line + fmt::format(", mean {}, {} to {}", shown(each.all, each.count), shown(each.least, 1),
                                  shown(each.most, 1));
    }

    PerftestSettings settings_;
    ProgramRequest request_;
};

}  // namespace

Made make_perftest(PerftestTest test, const ProgramRequest& request) {
    if (const auto fits = sound(request, 1, kMaxTransfer); !fits) return std::unexpected(fits.error());
    if (request.connections != 1) return std::unexpected("perftest programs use one connection; see --qps");
    const ExchangeOptions& options = request.exchange;
    PerftestSettings settings{.test = test, .service = options.service.value_or(dissect::Service::rc)};
    settings.queue_pairs = options.queue_pairs.value_or(1);
    settings.size = request.size.value_or(is_atomic(test)    ? kAtomicSize
                                          : is_latency(test) ? kLatencySize
                                                             : kBandwidthSize);
    settings.all_sizes = options.all_sizes;
    settings.bidirectional = options.both_ways;
    settings.duration = options.duration.has_value();
    settings.over_cm = options.rdma_cm;
    if (auto sentence = refusal(settings)) return std::unexpected(std::move(*sentence));
    if (options.duration && request.count) return std::unexpected("--count and --duration exclude each other");
    if (options.compare_swap && !is_atomic(test)) return std::unexpected("--compare-swap applies to ib_atomic_* only");
    if (options.rdma_cm && !options.tcp.empty()) return std::unexpected("--rdma-cm and --tcp exclude each other");
    if (options.rdma_cm) return CmExchanged<Perftest>(Perftest(settings, request), request);
    return Exchanged<Perftest>(Perftest(settings, request), request);
}

}  // namespace qps::transport::live::peers
