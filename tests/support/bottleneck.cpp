#include <tests/support/bottleneck.hpp>
#include <tests/support/verbs_pair.hpp>

#include <algorithm>
#include <deque>
#include <utility>

namespace qps::tests {

using namespace dissect;
using namespace transport;
using namespace transport::verbs;

namespace {

constexpr std::uint32_t kMessage = 16'384, kUnderWay = 8;  // bytes; of a queue pair
constexpr std::uint64_t kHeaders = 58;

struct Passing {
    Instant arrives{};
    Flying flown{};
};

class Crossing {
public:
    Crossing(const Bottleneck& bottleneck, const AdapterSettings& settings) : line_(bottleneck), pair_(settings) {
        for (std::uint32_t i = 0; i < line_.queue_pairs; ++i) asks_.push_back(pair_.pair(QpType::rc, {}).first);
        for (const Qpn qp : asks_)
            for (std::uint32_t i = 0; i < kUnderWay; ++i) write(qp);
    }
    BottleneckFigures run() {
        const Instant begin = pair_.now + line_.settles, end = begin + line_.lasts;
        std::uint64_t before = 0;
        while (pair_.now < end) {
            if (pair_.now >= begin && !measures_) {
                measures_ = true;
                before = arrived_;
            }
            turn();
            pair_.now = std::max(next(end), pair_.now);
        }
        BottleneckFigures figures{.lost = lost_, .marked = marked_, .cnps = pair_.b.adapter.counts().cnps_sent};
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
    void write(Qpn qp) { static_cast<void>(pair_.a.send(qp, 0, kMessage, {.opcode = WrOpcode::rdma_write, .remote = at(pair_.b, 0)})); }
    // All that arrives now, all that is said to it, all that is said anyway.
    void turn() {
        deliver(there_, pair_.b);
        deliver(back_, pair_.a);
        for (const Wc& wc : pair_.a.sent()) write(wc.qp_num);
        while (const auto out = pair_.a.adapter.poll(pair_.now)) enqueue(flying(*out));
        while (const auto out = pair_.b.adapter.poll(pair_.now)) back_.push_back({pair_.now + line_.delay, flying(*out)});
    }
    void deliver(std::deque<Passing>& way, VerbsEnd& to) {
        for (; !way.empty() && way.front().arrives <= pair_.now; way.pop_front()) {
            if (&to == &pair_.b) arrived_ += way.front().flown.payload.size() + kHeaders;
            to.adapter.process(arrival_of(way.front().flown), pair_.now);
        }
    }
    void enqueue(Flying flown) {
        const std::uint64_t size = flown.payload.size() + kHeaders;
        const Duration waits = free_at_ > pair_.now ? free_at_ - pair_.now : Duration{};
        const auto queued = static_cast<std::uint64_t>(std::to_underlying(waits)) * (std::to_underlying(line_.speed) / 1'000'000) / 8000;
        if (queued + size > line_.most) {
            ++lost_;
            return;
        }
        if (queued > line_.marks_above && flown.ecn != Ecn::not_capable) {
            flown.ecn = Ecn::congestion_experienced;
            ++marked_;
        }
        if (measures_) waited_.push_back(waits);
        free_at_ = std::max(free_at_, pair_.now) + time_of(size, std::to_underlying(line_.speed));
        there_.push_back({free_at_ + line_.delay, std::move(flown)});
    }
    [[nodiscard]] Instant next(Instant end) const {
        Instant soonest = end;
        for (const auto* way : {&there_, &back_})
            if (!way->empty()) soonest = std::min(soonest, way->front().arrives);
        for (const VerbsEnd* each : {&pair_.a, &pair_.b})
            if (const auto due = each->adapter.poll_at()) soonest = std::min(soonest, *due);
        return soonest;
    }

    Bottleneck line_;
    VerbsPair pair_;
    std::vector<Qpn> asks_;
    std::deque<Passing> there_, back_;
    Instant free_at_{};
    bool measures_ = false;
    std::uint64_t arrived_ = 0, lost_ = 0, marked_ = 0;
    std::vector<Duration> waited_;
};

}  // namespace

BottleneckFigures run(const Bottleneck& bottleneck, AdapterSettings settings) { return Crossing(bottleneck, settings).run(); }

}  // namespace qps::tests
