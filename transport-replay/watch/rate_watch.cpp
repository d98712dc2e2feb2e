#include <dissect/base/opcode.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/watch/rate_watch.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint32_t kFirstAnswers = 32;   // from which the length of a step is known
constexpr std::uint32_t kFirstPackets = 256;  // or, where nothing answers, these
constexpr std::int64_t kUsualStep = 50'000;   // then: 50 us, the shortest pace of CNPs that is common
constexpr std::uint32_t kFewestOfStep = 4;    // packets
constexpr std::int64_t kCompared = 8'000;    // 8 us, or so many packets as there is room for: before a CNP and after it
constexpr std::int64_t kLeastCompared = 4;   // packets
constexpr std::int64_t kLongestStep = 4;     // times its length: of a flow that got much slower
constexpr Duration kLongestGap{10'000'000};  // 10 ms between two packets of a message: a stop, no pace
constexpr std::uint8_t kSettling = 8;        // steps after a loss: its recovery is no answer to a signal
constexpr Duration kPrompt{
    100'000};  // 100 us: who waits for a credit begins that soon after it, however far the tap is
constexpr std::uint8_t kPositive = 0;  // type of a syndrome, 9.7.5.1

// Of 24 bits each.
std::int32_t ahead(std::uint32_t of, std::uint32_t by) { return Psn(of) - Psn(by); }

}  // namespace

RateWatch::Way* RateWatch::awake(ConnectionId connection, End from) {
    if (awake_ == 0) return nullptr;
    const Index index = places_.get(connection, kNeither)[static_cast<std::size_t>(from)];
    return index < kResting ? &ways_[index] : nullptr;
}

// Whether it rested, or was not followed yet.
RateWatch::Way* RateWatch::woken(ConnectionId connection, End from, FrameIndex frame) {
    const Index index = places_.get(connection, kNeither)[static_cast<std::size_t>(from)];
    if (index == kNone) return begin(connection, from, frame);
    if (index < kResting) return &ways_[index];
    places_.at(connection, kNeither)[static_cast<std::size_t>(from)] = index & ~kResting;
    ++awake_;
    return &ways_[index & ~kResting];
}

RateWatch::Way* RateWatch::begin(ConnectionId connection, End from, FrameIndex frame) {
    if (free_.empty()) {
        if (ways_.size() >= most_) {
            ++left_out_;
            return nullptr;
        }
        free_.push_back(static_cast<Index>(ways_.size()));
        ways_.emplace_back();
    }
    const Index place = free_.back();
    free_.pop_back();
    places_.at(connection, kNeither)[static_cast<std::size_t>(from)] = place;
    ++awake_;
    Way& way = ways_[place];
    way.used = true;
    way.control.connection = connection;
    way.control.from = from;
    way.control.first_frame = way.control.last_frame = frame;
    return &way;
}

void RateWatch::rest(Way& way) {
    forget(way);
    places_.at(way.control.connection, kNeither)[static_cast<std::size_t>(way.control.from)] |= kResting;
    --awake_;
}

void RateWatch::retire(ConnectionId connection) {
    for (const Index index : places_.get(connection, kNeither)) {
        if (index == kNone) continue;
        if (index < kResting) --awake_;
        ways_[index & ~kResting] = {};
        free_.push_back(index & ~kResting);
    }
    places_.forget(connection, kNeither);
}

void RateWatch::add_peaks(Peaks& peaks) const { peaks.add(Need::rates, ways_.size(), most_); }

std::optional<Duration> RateWatch::observe(const Observation& observation, const PacketRecord& record) {
    if (!record.connection || record.mirror_copy || record.corrupt || !observation.has_time) return {};
    const OpcodeRow& row = info(observation.opcode);
    if (row.service != Service::rc && row.service != Service::xrc && row.service != Service::cnp) return {};
    if (row.verb == Verb::notify) {
        Way* const way = woken(*record.connection, other(record.from), observation.frame);
        if (way != nullptr) take_cnp(*way);
    } else if (row.request) {
        take_request(observation, record);
    } else if (row.verb == Verb::acknowledge) {
        return take_answer(observation, record);
    }
    return {};
}

// Whatever passed before cannot be compared with what comes now.
void RateWatch::forget(Way& way) {
    way.inside = way.counts_credits = way.answered = way.measures_cnp = way.signalled = false;
    way.kept = way.settling = 0;
    way.gaps_kept = way.stretch = 0;
    way.since_cnp = UINT32_MAX;
    way.unanswered = 0;
    way.step = {};
    way.step_start = {};
}

void RateWatch::disturb(Way& way) {
    ++way.control.disturbed;
    way.inside = way.counts_credits = false;
    way.kept = 0;
    way.gaps_kept = 0;
    way.measures_cnp = false;
    way.settling = kSettling;
    way.unanswered = 0;
}

void RateWatch::hear(const PacketRecord& record) {
    if (Way* way = awake(*record.connection, other(record.from))) way->heard = true;
}

void RateWatch::begin_message(Way& way, bool send, Instant now) {
    way.message = (way.message + 1) & Psn::kMask;
    const bool heard = std::exchange(way.heard, false);
    if (!send || !way.counts_credits) return;
    const std::int32_t room = ahead(way.limit, way.message);
    if (room == -1) return;  // its first packet may go without one (9.7.7.2.5)
    if (room < 0) ++way.control.beyond;
    else if (ahead(way.waited_to, way.message) < 0) ++way.control.unasked;
    else {
        if (std::exchange(way.granted_now, false)) way.prompt = !heard && now - way.granted <= kPrompt;
        ++(way.prompt ? way.control.granted : way.control.unasked);
    }
}

void RateWatch::take_request(const Observation& observation, const PacketRecord& record) {
    const OpcodeRow& row = info(observation.opcode);
    if (row.begins_message()) hear(record);
    Way* way = awake(*record.connection, record.from);
    if (way == nullptr) {
        const std::uint32_t psn = observation.psn.value();
        if (psn % kEvery != 0 || row.place == Place::only) return;
        const bool known = places_.get(*record.connection, kNeither)[static_cast<std::size_t>(record.from)] != kNone;
        if (known && psn % kRest != 0) return;
        way = woken(*record.connection, record.from, observation.frame);
        if (way == nullptr) return;
    }
    if (++way->stretch >= kStretch) {
        if (!way->signalled || way->control.packets >= kEnough) return rest(*way);
        way->stretch = 0;
        way->signalled = false;
    }
    if (record.arrival != Arrival::in_order && record.arrival != Arrival::first) return disturb(*way);
    way->control.last_frame = observation.frame;
    pass(*way, observation.time);
    const Duration gap = observation.time - way->last;
    if (row.begins_message()) {
        begin_message(*way, row.verb == Verb::send, observation.time);
    } else if (way->inside) {
        if (gap < Duration{} || gap > kLongestGap) {
            disturb(*way);
        } else {
            way->step.bytes += observation.wire_length;
            way->step.sending += std::to_underlying(gap);
            ++way->step.packets;
            ++way->control.packets;
            keep_gap(*way, static_cast<std::uint32_t>(std::to_underlying(gap)), observation.wire_length);
        }
    }
    way->inside = !row.ends_message();
    way->last = observation.time;
    if (way->answered) {
        const std::int32_t under_way = observation.psn - way->acknowledged;
        way->step.window = std::max(way->step.window, static_cast<std::uint32_t>(std::max(under_way, 0)));
    }
    if (!observation.ack_request && !row.ends_message()) return;
    Sent& sent = way->sent[(way->oldest + way->unanswered) % kMostSent];
    sent = {observation.time, observation.psn, way->message & Psn::kMask, row.ends_message(), false};
    if (way->unanswered < kMostSent) ++way->unanswered;
    else way->oldest = (way->oldest + 1) % kMostSent;
}

std::optional<Duration> RateWatch::take_answer(const Observation& observation, const PacketRecord& record) {
    if (!observation.acknowledgment) return {};
    const Acknowledgment& answer = *observation.acknowledgment;
    const bool grants = answer.type() == kPositive && answer.code() < kCredits.size();
    Way* way = awake(*record.connection, other(record.from));
    if (way == nullptr && grants && observation.psn.value() % kEvery == 0)
        way = woken(*record.connection, other(record.from), observation.frame);
    if (way == nullptr) return {};
    if (answer.type() != kPositive) return disturb(*way), std::nullopt;
    way->control.last_frame = observation.frame;
    way->acknowledged = observation.psn;
    way->answered = true;
    if (!grants) way->counts_credits = false;
    while (way->unanswered != 0 && way->sent[way->oldest].psn.before(observation.psn)) {
        way->oldest = (way->oldest + 1) % kMostSent;
        --way->unanswered;
    }
    Sent& sent = way->sent[way->oldest];
    if (way->unanswered == 0 || sent.psn != observation.psn) return {};
    if (grants && sent.ends) take_credits(*way, sent.message, observation);
    const Duration took = observation.time - sent.time;
    // It may be acknowledged again, with more credits: that is no round trip.
    if (sent.answered || took <= Duration{}) return {};
    sent.answered = true;
    RateControl& control = way->control;
    control.least_round_trip = control.round_trips == 0 ? took : std::min(control.least_round_trip, took);
    control.most_round_trip = std::max(control.most_round_trip, took);
    control.all_round_trips += took;
    ++control.round_trips;
    if (std::to_underlying(took) * 2 > std::to_underlying(control.least_round_trip) * 3) way->signalled = true;
    way->step.round_trips += std::to_underlying(took);
    ++way->step.answers;
    return took;
}

// The message that the answer completes is its MSN, by the receiver's count.
void RateWatch::take_credits(Way& way, std::uint32_t completed, const Observation& observation) {
    const std::uint32_t limit = (completed + kCredits[observation.acknowledgment->code()]) & Psn::kMask;
    if (way.counts_credits && ahead(limit, way.limit) > 0 && ahead(way.limit, way.message) <= 0 && !way.inside) {
        way.signalled = true;
        way.waited_to = limit;
        way.granted = observation.time;
        way.granted_now = true;
    }
    if (!way.counts_credits) way.waited_to = completed;
    way.counts_credits = true;
    way.limit = limit;
}

void RateWatch::pass(Way& way, Instant now) {
    Step& step = way.step;
    if (way.step_length == 0) {
        if (step.answers >= kFirstAnswers || step.packets >= kFirstPackets) choose_length(way);
        else return;
        way.step = {};
        way.step_start = now;
        return;
    }
    step.length = std::to_underlying(now - way.step_start);
    if (step.length < 0) {  // the clock went back
        way.step = {};
        way.step_start = now;
    }
    if (step.length < way.step_length || (step.packets < kFewestOfStep && step.length < kLongestStep * way.step_length))
        return;
    close_step(way);
    way.step = {};
    way.step_start = now;
}

void RateWatch::choose_length(Way& way) {
    const Step& step = way.step;
    if (step.packets < kPacketsOfStep) {  // of short messages, whose pace does not show
        way.step = {};
        return;
    }
    const std::int64_t pace = step.sending / step.packets;
    const std::int64_t round_trip = step.answers == 0 ? kUsualStep : static_cast<std::int64_t>(step.round_trip());
    way.step_length = std::max({round_trip, pace * kPacketsOfStep, std::int64_t{1}});
    way.control.step = Duration{way.step_length};
    const std::int64_t compared = kCompared / std::max<std::int64_t>(pace, 1);
    way.compared = static_cast<std::uint32_t>(std::clamp<std::int64_t>(compared, kLeastCompared, kGaps / 5));
}

// Bytes per ns of way.compared packets that end so many before the last.
double RateWatch::pace(const Way& way, std::uint32_t from) {
    std::uint64_t bytes = 0, time = 0;
    for (std::uint32_t i = 1; i <= way.compared; ++i) {
        const std::uint32_t at = (way.gap_at - from - i) % kGaps;
        bytes += way.gap_bytes[at];
        time += way.gap_times[at];
    }
    return static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(time, 1));
}

void RateWatch::take_cnp(Way& way) {
    way.signalled = true;
    ++way.control.cnps;
    ++way.step.cnps;
    // A second one in what would be compared: neither tells anything.
    way.measures_cnp = way.compared != 0 && way.gaps_kept >= 3 * way.compared && way.since_cnp >= 3 * way.compared;
    way.since_cnp = 0;
}

// Now that enough came after a CNP: from it on one stretch is left out, which is on its way to the sender and in its
// adapter.
void RateWatch::keep_gap(Way& way, std::uint32_t time, std::uint32_t bytes) {
    way.gap_times[way.gap_at % kGaps] = time;
    way.gap_bytes[way.gap_at++ % kGaps] = static_cast<std::uint16_t>(std::min<std::uint32_t>(bytes, UINT16_MAX));
    if (way.gaps_kept < kGaps) ++way.gaps_kept;
    if (way.since_cnp != UINT32_MAX) ++way.since_cnp;
    if (!way.measures_cnp || way.since_cnp < 2 * way.compared) return;
    way.measures_cnp = false;
    const std::uint32_t there = 2 * way.compared;
    const double earlier = pace(way, there + 2 * way.compared), before = pace(way, there), after = pace(way, 0);
    way.control.at_cnp.add(after < before * kFall);
    way.control.before_cnp.add(before < earlier * kFall);
}

void RateWatch::close_step(Way& way) {
    const Step& step = way.step;
    const bool paced = step.packets >= kFewestOfStep && step.sending > 0 && step.sending * 2 >= step.length;
    if (way.settling != 0) --way.settling;
    if (!paced || way.settling != 0 || step.length < 0) {
        way.kept = 0;
        return;
    }
    if (way.kept == kSteps) std::shift_left(way.steps.begin(), way.steps.end(), 1);
    else ++way.kept;
    way.steps[way.kept - 1U] = step;
    if (way.kept == kSteps) compare(way);
}

void RateWatch::compare(Way& way) {
    const std::array<Step, kSteps>& steps = way.steps;
    RateControl& control = way.control;
    const auto rate_of = [](const Step& a, const Step& b) {
        return static_cast<double>(a.bytes + b.bytes) / static_cast<double>(a.sending + b.sending);
    };
    const double before = rate_of(steps[0], steps[1]), after = rate_of(steps[4], steps[5]);
    const double bits = before * 8e9;
    control.slowest = control.steps == 0 ? bits : std::min(control.slowest, bits);
    control.fastest = std::max(control.fastest, bits);
    ++control.steps;
    const bool fell = after < before * kFall;
    const bool silent = std::ranges::all_of(steps, [](const Step& step) { return step.cnps == 0; });
    const bool measured =
        std::ranges::all_of(steps.begin(), steps.begin() + 4, [](const Step& step) { return step.answers != 0; });
    if (!measured || control.round_trips == 0) return;
    const double base = (steps[0].round_trip() + steps[1].round_trip()) / 2;
    const bool rose_earlier = steps[2].round_trip() > kRise * base, rose = steps[3].round_trip() > kRise * base;
    const double mean =
        static_cast<double>(std::to_underlying(control.all_round_trips)) / static_cast<double>(control.round_trips);
    if (rose && !rose_earlier) {
        (silent ? control.after_rise : control.after_both).add(fell);
        const std::uint32_t then = std::max(steps[0].window, steps[1].window),
                            now = std::max(steps[8].window, steps[9].window);
        if (silent && fell && now + std::max<std::uint32_t>(1, then / 20) >= then) ++control.window_kept;
    } else if (silent && std::max(steps[2].round_trip(), steps[3].round_trip()) <= kNoRise * base &&
               steps[3].round_trip() <= kRise * mean) {
        control.quiet.add(fell);
    }
}

std::vector<RateControl> RateWatch::finish() {
    std::vector<RateControl> controls;
    ways_.for_each([&](const Way& way) {
        const bool counted = way.control.granted + way.control.unasked + way.control.beyond != 0;
        if (way.used && (counted || way.control.step != Duration{})) controls.push_back(way.control);
    });
    std::ranges::sort(controls, {}, [](const RateControl& one) { return std::pair(one.connection, one.from); });
    const std::size_t most = most_;
    *this = RateWatch();
    most_ = most;
    return controls;
}

}  // namespace qps::transport
