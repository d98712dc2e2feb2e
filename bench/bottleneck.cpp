#include "bottleneck.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace qps::bench {

using namespace dissect;
using namespace transport;
using namespace transport::verbs;

namespace {

constexpr std::uint32_t kMessage = 16'384, kUnderWay = 8;  // bytes; of a queue pair
constexpr std::uint64_t kHeaders = 58;

constexpr std::size_t kMemory = 1 << 16;
constexpr Address kAsks{.bits = {0, 0xffff'0a00'0001}, .space = AddressSpace::roce_v2};
constexpr Address kServes{.bits = {0, 0xffff'0a00'0002}, .space = AddressSpace::roce_v2};

// A packet on its way, with bytes of its own.
struct Passing {
    Instant arrives{};
    IncomingPacket packet{};
    std::vector<std::byte> payload{};
    bool may_be_marked = false;
};
Passing passing(const OutgoingPacket& out) {
    Passing copy{.packet = {.packet = out.packet, .source = out.to.source, .destination = out.to.destination}};
    copy.payload.assign(out.packet.payload.begin(), out.packet.payload.end());
    copy.may_be_marked = out.ecn != Ecn::not_capable;
    return copy;
}

struct Side {
    Side(AdapterSettings settings, const Address& own) : adapter(with(std::move(settings), own)) {}
    static AdapterSettings with(AdapterSettings settings, const Address& own) {
        settings.addresses = {own};
        return settings;
    }
    Adapter adapter;
    std::vector<std::byte> memory = std::vector<std::byte>(kMemory);
    Pd pd = *adapter.alloc_pd();
    Mr mr = *adapter.reg_mr(pd, memory, kEveryAccess);
    Cq cq = *adapter.create_cq(1 << 12);

    Qpn open() { return *adapter.create_qp({.pd = pd, .send_cq = cq, .recv_cq = cq}); }
    void connect(Qpn qp, const Address& peer, Qpn peers) {
        constexpr std::uint8_t kTimeout = 20, kRetries = 7;  // 4.3 s: what waits in the queue is not lost
        static_cast<void>(
            adapter.modify_qp(qp, {.qp_state = QpState::init, .pkey = Pkey{0xffff}, .access = kEveryAccess}));
        static_cast<void>(adapter.modify_qp(qp, {.qp_state = QpState::rtr,
                                                 .address = handle_to(peer),
                                                 .path_mtu = PathMtu::bytes_1024,
                                                 .dest_qp_num = peers,
                                                 .rq_psn = Psn(1),
                                                 .max_dest_rd_atomic = 1,
                                                 .min_rnr_timer = 12}));
        static_cast<void>(adapter.modify_qp(qp, {.qp_state = QpState::rts,
                                                 .sq_psn = Psn(1),
                                                 .max_rd_atomic = 1,
                                                 .timeout = kTimeout,
                                                 .retry_cnt = kRetries,
                                                 .rnr_retry = kRetries}));
    }
};

class Crossing {
public:
    Crossing(const Bottleneck& bottleneck, const AdapterSettings& settings)
        : line_(bottleneck), a_(settings, kAsks), b_(settings, kServes) {
        for (std::uint32_t i = 0; i < line_.queue_pairs; ++i) {
            const Qpn asks = a_.open(), serves = b_.open();
            a_.connect(asks, kServes, serves);
            b_.connect(serves, kAsks, asks);
            for (std::uint32_t j = 0; j < kUnderWay; ++j) write(asks);
        }
    }
    BottleneckFigures run() {
        const Instant begin = now_ + line_.settles, end = begin + line_.lasts;
        std::uint64_t before = 0;
        while (now_ < end) {
            if (now_ >= begin && !measures_) {
                measures_ = true;
                before = arrived_;
            }
            turn();
            now_ = std::max(next(end), now_);
        }
        BottleneckFigures figures{.lost = lost_, .marked = marked_, .cnps = b_.adapter.counts().cnps_sent};
        const double bits = static_cast<double>(arrived_ - before) * 8,
                     seconds = static_cast<double>(std::to_underlying(line_.lasts)) / 1e9;
        figures.used = bits / seconds / static_cast<double>(std::to_underlying(line_.speed));
        std::ranges::sort(waited_);
        if (waited_.empty()) return figures;
        figures.p50 = waited_[waited_.size() / 2];
        figures.p99 = waited_[waited_.size() * 99 / 100];
        return figures;
    }

private:
    void write(Qpn qp) {
        const Sge piece{.address = a_.mr.address, .length = kMessage, .lkey = a_.mr.lkey};
        static_cast<void>(a_.adapter.post_send(qp, {.sg_list = {&piece, 1},
                                                    .opcode = WrOpcode::rdma_write,
                                                    .send_flags = {.signaled = true},
                                                    .remote = {.address = b_.mr.address, .rkey = b_.mr.rkey}}));
    }
    // All that arrives now, all that is said to it, all that is said anyway.
    void turn() {
        deliver(there_, b_);
        deliver(back_, a_);
        std::array<Wc, 16> done;
        while (const std::size_t count = a_.adapter.poll_cq(a_.cq, done))
            for (const Wc& wc : std::span(done).first(count)) write(wc.qp_num);
        while (const auto out = a_.adapter.poll(now_)) enqueue(passing(*out));
        while (const auto out = b_.adapter.poll(now_)) {
            back_.push_back(passing(*out));
            back_.back().arrives = now_ + line_.delay;
        }
    }
    void deliver(std::deque<Passing>& way, Side& to) {
        for (; !way.empty() && way.front().arrives <= now_; way.pop_front()) {
            Passing& arriving = way.front();
            if (&to == &b_) arrived_ += arriving.payload.size() + kHeaders;
            arriving.packet.packet.payload = arriving.payload;
            to.adapter.process(arriving.packet, now_);
        }
    }
    void enqueue(Passing sent) {
        const std::uint64_t size = sent.payload.size() + kHeaders;
        const Duration waits = free_at_ > now_ ? free_at_ - now_ : Duration{};
        const auto queued = static_cast<std::uint64_t>(std::to_underlying(waits)) *
                            (std::to_underlying(line_.speed) / 1'000'000) / 8000;
        if (queued + size > line_.most) {
            ++lost_;
            return;
        }
        if (queued > line_.marks_above && sent.may_be_marked) {
            sent.packet.ecn = Ecn::congestion_experienced;
            ++marked_;
        }
        if (measures_) waited_.push_back(waits);
        free_at_ = std::max(free_at_, now_) + time_of(size, std::to_underlying(line_.speed));
        sent.arrives = free_at_ + line_.delay;
        there_.push_back(std::move(sent));
    }
    [[nodiscard]] Instant next(Instant end) const {
        Instant soonest = end;
        for (const auto* way : {&there_, &back_})
            if (!way->empty()) soonest = std::min(soonest, way->front().arrives);
        for (const Side* each : {&a_, &b_})
            if (const auto due = each->adapter.poll_at()) soonest = std::min(soonest, *due);
        return soonest;
    }

    Bottleneck line_;
    Side a_, b_;
    Instant now_{1'000'000};
    std::deque<Passing> there_, back_;
    Instant free_at_{};
    bool measures_ = false;
    std::uint64_t arrived_ = 0, lost_ = 0, marked_ = 0;
    std::vector<Duration> waited_;
};

}  // namespace

BottleneckFigures run(const Bottleneck& bottleneck, AdapterSettings settings) {
    return Crossing(bottleneck, settings).run();
}

}  // namespace qps::bench
