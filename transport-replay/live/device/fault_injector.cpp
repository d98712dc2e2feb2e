#include <transport-replay/live/device/device_around.hpp>
#include <transport-replay/live/device/fault_injector.hpp>
#include <transport-replay/live/device/packet_facts.hpp>
#include <transport-replay/live/device/pause_frame.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::uint64_t kInSalt = 0x9e37'79b9'7f4a'7c15;  // what is received has other draws than what is sent

std::uint64_t count(Duration duration) { return duration > Duration{} ? static_cast<std::uint64_t>(duration) : 0; }
Duration duration(std::uint64_t count) { return Duration{static_cast<std::int64_t>(count)}; }

bool nothing_happens(const FaultSettings& settings, End from) {
    const WayFaults& way = from == End::a ? settings.out : settings.in;
    return way == WayFaults{} &&
           std::ranges::none_of(settings.exact, [&](const ExactFault& exact) { return exact.from == from; });
}

// Whether it must be known which packet a frame is.
bool needs_facts(const FaultSettings& settings, const WayFaults& way) {
    return !settings.exact.empty() || way.chances.corruption > 0 || way.chances.marking > 0;
}

class FaultInjector final : public DeviceAround {
public:
    FaultInjector(Device inside, const FaultSettings& settings, std::array<InjectedCounts, 2>* injected);

    [[nodiscard]] std::span<const ReceivedFrame> receive(Instant now) override;
    [[nodiscard]] MutableBytes reserve(Instant now) override;
    void commit(std::size_t bytes, Instant now) override;
    void flush(Instant now) override;
    [[nodiscard]] std::optional<Instant> poll_at() const override;

private:
    using Held = std::map<std::pair<Instant, std::uint64_t>, std::vector<std::byte>>;
    // What is to happen to one frame, all drawn.
    struct Plan {
        Disposition disposition;
        Duration later_by{};
        std::size_t corrupt_from = 0;
        std::size_t corrupt_bytes = 0;
        std::uint64_t bit = 0;
        [[nodiscard]] bool untouched() const {
            return !disposition.lost && !disposition.duplicated && !disposition.corrupted && !disposition.marked &&
                   later_by <= Duration{};
        }
    };
    // When the next frame of a PauseFault is due, and how many are left.
    struct NextPause {
        Instant time{};
        std::uint64_t left = 0;
    };
    [[nodiscard]] bool idle(End from) const { return idle_[static_cast<std::size_t>(from)]; }
    [[nodiscard]] const WayFaults& way(End from) const { return from == End::a ? settings_.out : settings_.in; }
    [[nodiscard]] Plan draw(End from, Bytes frame);
    void alter(End from, const Plan& plan, MutableBytes frame);
    void hold(End from, Bytes frame, Instant until);
    void give(std::vector<std::byte> frame, Instant now);
    void take(const ReceivedFrame& frame, Instant now);
    void send_due(Instant now);
    [[nodiscard]] bool send_pauses(Instant now);
    [[nodiscard]] bool send_pause(const PauseFault& fault, Instant now);
    [[nodiscard]] bool send(Bytes frame, Instant now);
    [[nodiscard]] InjectedCounts& injected(End from) {
        return (shared_counts_ != nullptr ? *shared_counts_ : own_counts_)[static_cast<std::size_t>(from)];
    }
    [[nodiscard]] Held& held(End from) { return held_[static_cast<std::size_t>(from)]; }

    FaultSettings settings_;
    std::array<bool, 2> idle_;  // nothing can happen to a frame of that way
    std::array<Dispositions, 2>
        dispositions_;  // each way has draws of its own, so that one does not depend on the other's traffic
    std::array<InjectedCounts, 2> own_counts_{};
    std::array<InjectedCounts, 2>* shared_counts_;
    std::array<Held, 2> held_;
    std::vector<NextPause> pauses_;  // as in the settings, from the first call on
    std::uint64_t serial_ = 0;
    MutableBytes lent_;
    std::vector<std::vector<std::byte>> altered_;  // what received frames borrow that are not as they came
    std::vector<ReceivedFrame> received_;
};

FaultInjector::FaultInjector(Device inside, const FaultSettings& settings, std::array<InjectedCounts, 2>* injected)
    : DeviceAround(std::move(inside)),
      settings_(settings),
      idle_{nothing_happens(settings, End::a), nothing_happens(settings, End::b)},
      dispositions_{Dispositions(settings.seed, settings.out.chances, {}, settings.exact),
                    Dispositions(settings.seed ^ kInSalt, {}, settings.in.chances, settings.exact)},
      shared_counts_(injected) {}

FaultInjector::Plan FaultInjector::draw(End from, Bytes frame) {
    const PacketFacts facts = needs_facts(settings_, way(from)) ? facts_of(frame) : PacketFacts{};
    Dispositions& dispositions = dispositions_[static_cast<std::size_t>(from)];
    Plan plan{.disposition = dispositions.draw(from, facts.identity), .corrupt_from = facts.covered_from};
    plan.corrupt_bytes = facts.covered_to - facts.covered_from;
    const std::uint64_t jitter = dispositions.draws().below(count(way(from).jitter));
    const std::uint64_t extra = dispositions.draws().below(count(settings_.reorder_by)) + 1;
    plan.bit = dispositions.draws().below(plan.corrupt_bytes * 8);
    plan.disposition.corrupted = plan.disposition.corrupted && plan.corrupt_bytes > 0;
    plan.disposition.marked = plan.disposition.marked && facts.identity;
    plan.later_by = duration(count(way(from).delay) + jitter);
    if (plan.disposition.reordered)
        plan.later_by = duration(count(plan.later_by) +
                                 (plan.disposition.later_by > Duration{} ? count(plan.disposition.later_by) : extra));
    InjectedCounts& counts = injected(from);
    if (plan.disposition.lost) ++counts.lost;
    else if (plan.disposition.reordered) ++counts.delayed;
    if (!plan.disposition.lost && plan.disposition.duplicated) ++counts.duplicated;
    return plan;
}

void FaultInjector::alter(End from, const Plan& plan, MutableBytes frame) {
    if (plan.disposition.marked && mark_congestion(frame)) ++injected(from).marked;
    if (!plan.disposition.corrupted) return;
    flip_bit(frame.subspan(plan.corrupt_from, plan.corrupt_bytes), plan.bit);
    ++injected(from).corrupted;
}

void FaultInjector::hold(End from, Bytes frame, Instant until) {
    if (held(from).size() >= kMaxHeld) {
        ++injected(from).overflowed;
        return;
    }
    held(from).emplace(std::pair(until, serial_++), std::vector(frame.begin(), frame.end()));
}

// Gives a frame that is ours to the receiver, or keeps it for the next time.
void FaultInjector::give(std::vector<std::byte> frame, Instant now) {
    if (received_.size() == kDeviceBatch) return hold(End::b, frame, now);
    altered_.push_back(std::move(frame));
    received_.push_back({altered_.back(), now});
}

void FaultInjector::take(const ReceivedFrame& frame, Instant now) {
    const Plan plan = idle(End::b) ? Plan{} : draw(End::b, frame.bytes);
    if (plan.untouched() && received_.size() < kDeviceBatch) return received_.push_back(frame);
    if (plan.disposition.lost) return;
    std::vector<std::byte> copy(frame.bytes.begin(), frame.bytes.end());
    alter(End::b, plan, copy);
    for (int copies = plan.disposition.duplicated ? 2 : 1; copies > 0; --copies) {
        if (plan.later_by > Duration{}) hold(End::b, copy, now + plan.later_by);
        else give(copy, now);
    }
}

// Those held back go first: they came before what comes now.
std::span<const ReceivedFrame> FaultInjector::receive(Instant now) {
    send_due(now);
    received_.clear();
    altered_.clear();
    Held& waiting = held(End::b);
    while (!waiting.empty() && waiting.begin()->first.first <= now && received_.size() < kDeviceBatch)
        give(std::move(waiting.extract(waiting.begin()).mapped()), now);
    if (received_.size() == kDeviceBatch) return received_;
    for (const ReceivedFrame& frame : inside_.receive(now)) take(frame, now);
    return received_;
}

MutableBytes FaultInjector::reserve(Instant now) {
    lent_ = inside_.reserve(now);
    return lent_;
}

void FaultInjector::commit(std::size_t bytes, Instant now) {
    const MutableBytes lent = std::exchange(lent_, MutableBytes{});
    if (idle(End::a) || bytes > lent.size() || bytes < kEthernetHeader) return inside_.commit(bytes, now);
    const MutableBytes frame = lent.first(bytes);
    const Plan plan = draw(End::a, frame);
    if (plan.disposition.lost) return;  // the room is lent again
    alter(End::a, plan, frame);
    if (plan.later_by > Duration{}) {
        for (int copies = plan.disposition.duplicated ? 2 : 1; copies > 0; --copies)
            hold(End::a, frame, now + plan.later_by);
    } else if (plan.disposition.duplicated) {
        const std::vector<std::byte> copy(frame.begin(), frame.end());
        inside_.commit(bytes, now);
        if (!send(copy, now)) hold(End::a, copy, now);
    } else {
        inside_.commit(bytes, now);
    }
}

bool FaultInjector::send(Bytes frame, Instant now) {
    const MutableBytes room = inside_.reserve(now);
    if (room.size() < frame.size()) return false;
    std::ranges::copy(frame, room.begin());
    inside_.commit(frame.size(), now);
    return true;
}

void FaultInjector::send_due(Instant now) {
    Held& waiting = held(End::a);
    bool sent = !settings_.pauses.empty() && send_pauses(now);
    while (!waiting.empty() && waiting.begin()->first.first <= now && send(waiting.begin()->second, now)) {
        waiting.erase(waiting.begin());
        sent = true;
    }
    if (sent) inside_.flush(now);
}

bool FaultInjector::send_pause(const PauseFault& fault, Instant now) {
    const MutableBytes room = inside_.reserve(now);
    if (room.size() < kPauseFrameBytes) return false;
    PauseDemand demand{.whole_link = !fault.priority, .source = settings_.pause_source};
    const std::uint8_t priority = fault.priority.value_or(0) % kPriorities;
    if (fault.priority) demand.priorities = static_cast<std::uint8_t>(1U << priority);
    demand.quanta[priority] = fault.quanta;
    write_pause(demand, room);
    inside_.commit(kPauseFrameBytes, now);
    ++injected(End::a).pauses;
    return true;
}

// One frame each at most: what was missed while nobody called is not made up for.
bool FaultInjector::send_pauses(Instant now) {
    if (pauses_.empty())
        for (const PauseFault& fault : settings_.pauses) {
            const std::uint64_t endless = fault.every > Duration{} ? ~std::uint64_t{0} : 1;
            pauses_.push_back({now + fault.after, fault.times == 0 ? endless : fault.times});
        }
    bool sent = false;
    for (std::size_t i = 0; i < pauses_.size(); ++i) {
        NextPause& next = pauses_[i];
        const PauseFault& fault = settings_.pauses[i];
        if (next.left == 0 || next.time > now || !send_pause(fault, now)) continue;
        sent = true;
        --next.left;
        next.time = next.time + fault.every;
        if (next.time <= now) next.time = now + fault.every;
    }
    return sent;
}

void FaultInjector::flush(Instant now) {
    send_due(now);
    inside_.flush(now);
}

std::optional<Instant> FaultInjector::poll_at() const {
    std::optional<Instant> next = inside_.poll_at();
    for (const Held& waiting : held_)
        if (!waiting.empty() && (!next || waiting.begin()->first.first < *next)) next = waiting.begin()->first.first;
    for (const NextPause& pause : pauses_)
        if (pause.left != 0 && (!next || pause.time < *next)) next = pause.time;
    return next;
}

}  // namespace

Device inject_faults(Device inside, const FaultSettings& settings, std::array<InjectedCounts, 2>* injected) {
    return FaultInjector(std::move(inside), settings, injected);
}

}  // namespace qps::transport::live
