#include <dissect/headers/infiniband.hpp>
#include <dissect/headers/infiniband_link.hpp>
#include <transport-replay/watch/link_credits.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kOperand = named(kFlowControlFields, "infiniband_link.op");
constexpr Field kSent = named(kFlowControlFields, "infiniband_link.fctbs");
constexpr Field kLane = named(kFlowControlFields, "infiniband_link.vl");
constexpr Field kLimit = named(kFlowControlFields, "infiniband_link.fccl");
constexpr std::uint64_t kNormal = 0;

// Modulo 4096: from one counter to another.
std::uint16_t distance(std::uint16_t from, std::uint16_t to) {
    return static_cast<std::uint16_t>((to - from) & (kCreditCircle - 1));
}

// Blocks of 64 bytes that a packet takes: without its VCRC at least, with it at most.
struct Blocks {
    std::uint8_t lane = 0;
    std::uint16_t least = 0;
    std::uint16_t most = 0;
};
Blocks blocks_of(std::uint64_t lrh) {
    constexpr Field kVl = named(kLrhFields, "infiniband.lrh.vl"), kWords = named(kLrhFields, "infiniband.lrh.pktlen");
    constexpr unsigned kBlock = 64, kWord = 4, kVcrc = 2;
    const auto part = [&](const Field& field) {
        return static_cast<unsigned>(lrh << field.bit >> (64U - field.width));
    };
    const unsigned bytes = part(kWords) * kWord;
    return {static_cast<std::uint8_t>(part(kVl)), static_cast<std::uint16_t>((bytes + kBlock - 1) / kBlock),
            static_cast<std::uint16_t>((bytes + kVcrc + kBlock - 1) / kBlock)};
}

}  // namespace

void LinkCreditTracker::observe(const Observation& observation) {
    if (!observation.has_time) return;
    const bool flow_control = observation.kind == ObservationKind::credits;
    if (!flow_control &&
        (!any() || observation.encapsulation != Encapsulation::native || observation.link_destination == 0))
        return;
    const auto direction = direction_of(observation);
    if (!direction) return;
    if (flow_control) take_flow_control(observation, *direction);
    else take_packet(observation, *direction);
}

std::optional<std::size_t> LinkCreditTracker::direction_of(const Observation& observation) {
    const auto found = std::ranges::find_if(directions_, [&](const Direction& one) {
        return one.file == observation.file && one.interface == observation.interface &&
               one.port == observation.capture_port;
    });
    if (found != directions_.end()) return static_cast<std::size_t>(found - directions_.begin());
    if (observation.kind != ObservationKind::credits) return std::nullopt;  // a link without flow control, so far
    if (directions_.size() == kMaxLinkDirections) {
        ++left_out_;
        return std::nullopt;
    }
    directions_.push_back(
        {.file = observation.file, .interface = observation.interface, .port = observation.capture_port});
    return directions_.size() - 1;
}

LinkCreditTracker::Pair* LinkCreditTracker::pair_of(const PairKey& key) {
    if (const auto found = pairs_.find(key); found != pairs_.end()) return &found->second;
    if (pairs_.size() == kMaxCreditPairs) {
        ++left_out_;
        return nullptr;
    }
    return &pairs_.emplace(key, Pair{}).first->second;
}

// Two directions of one link are in one file.
bool LinkCreditTracker::related(std::size_t one, std::size_t other) const {
    return one != other && directions_[one].file == directions_[other].file;
}

void LinkCreditTracker::take_flow_control(const Observation& observation, std::size_t direction) {
    const Bytes bytes = observation.payload;
    left_.reset();
    if (bytes.size() < kFlowControl) return;
    const auto lane = static_cast<std::uint8_t>(read(bytes, kLane));
    if (lane >= kLanes) return;
    if (read(bytes, kOperand) != kNormal) return forget(direction, lane);  // the link starts: counters begin anew
    const auto sent = static_cast<std::uint16_t>(read(bytes, kSent)),
               limit = static_cast<std::uint16_t>(read(bytes, kLimit));
    Side& side = directions_[direction].lanes[lane];
    const Side before = side;
    if (before.known) take_sent(direction, lane, sent);
    side = {.known = true, .sent = sent, .limit = limit};
    take_limit(observation, direction, lane, limit, before.limit, before.known);
}

void LinkCreditTracker::forget(std::size_t direction, std::uint8_t lane) {
    directions_[direction].lanes[lane] = {};
    for (auto& [key, pair] : pairs_) {
        const auto& [sender, granter, of] = key;
        if (of != lane || (sender != direction && granter != direction)) continue;
        pair.runs = 0;
        pair.open.reset();
    }
}

// What the end says that it sent: more than the capture has means that there is something that it has not.
void LinkCreditTracker::take_sent(std::size_t direction, std::uint8_t lane, std::uint16_t sent) {
    const Side& side = directions_[direction].lanes[lane];
    const std::uint16_t more = distance(side.sent, sent);
    const bool as_seen = more >= side.least && more <= side.most;
    for (std::size_t granter = 0; granter < directions_.size(); ++granter) {
        const auto found = pairs_.find({direction, granter, lane});
        if (found == pairs_.end()) continue;
        Pair& pair = found->second;
        pair.sent += more;
        pair.contradicted |= more > kCreditWindow;
        const Side& other = directions_[granter].lanes[lane];
        pair.contradicted |= other.known && distance(sent, other.limit) > kCreditWindow;
        if (!as_seen) pair.runs = 0;
        if (pair.open && as_seen) {
            CreditStarvation& found_so_far = pair.found;
            const CreditStarvation& wait = *pair.open;
            const std::uint64_t waits = found_so_far.waits + 1;
            const Duration total = found_so_far.total + wait.longest;
            if (wait.longest > found_so_far.longest) found_so_far = wait;
            found_so_far.waits = waits;
            found_so_far.total = total;
        }
        pair.open.reset();
    }
}

void LinkCreditTracker::take_limit(const Observation& observation, std::size_t direction, std::uint8_t lane,
                                   std::uint16_t limit, std::uint16_t before, bool known) {
    std::size_t others = 0;
    for (std::size_t sender = 0; sender < directions_.size(); ++sender) {
        const Side& side = directions_[sender].lanes[lane];
        if (!related(sender, direction)) continue;
        ++others;
        if (!side.known) continue;
        Pair* const pair = pair_of({sender, direction, lane});
        if (pair == nullptr) continue;
        const std::uint16_t more = known ? distance(before, limit) : std::uint16_t{0};
        const auto sent = static_cast<std::uint16_t>(side.sent + side.least);
        const std::uint16_t credits = distance(sent, limit);
        pair->granted += more;
        pair->contradicted |= more > kCreditWindow || credits > kCreditWindow;
        add_run(observation, *pair, credits);
        if (others == 1) left_ = credits;
    }
    if (others != 1 || (left_ && *left_ > kCreditWindow)) left_.reset();
}

void LinkCreditTracker::add_run(const Observation& observation, Pair& pair, std::uint16_t credits) {
    if (pair.runs > kRuns) return;
    if (pair.runs != 0 && pair.run[pair.runs - 1].credits == credits) {
        Run& run = pair.run[pair.runs - 1];
        ++run.grants;
        run.last_time = observation.time;
        run.last = observation.frame;
        return;
    }
    if (++pair.runs > kRuns) return;
    pair.run[pair.runs - 1] = {credits, 1, observation.time, observation.time, observation.frame, observation.frame};
}

void LinkCreditTracker::take_packet(const Observation& observation, std::size_t direction) {
    const Blocks blocks = blocks_of(observation.link_destination);
    if (blocks.lane >= kLanes) return;
    Side& side = directions_[direction].lanes[blocks.lane];
    if (!side.known) return;
    for (std::size_t granter = 0; granter < directions_.size(); ++granter) {
        const PairKey key{direction, granter, blocks.lane};
        const auto found = pairs_.find(key);
        if (found == pairs_.end()) continue;
        judge(observation, key, found->second, blocks.least);
        found->second.runs = 0;
    }
    side.least = static_cast<std::uint16_t>(std::min<unsigned>(side.least + blocks.least, kCreditCircle));
    side.most = static_cast<std::uint16_t>(std::min<unsigned>(side.most + blocks.most, kCreditCircle));
}

// Whether the packet waited: those before it granted less than it needs, the next one enough.
void LinkCreditTracker::judge(const Observation& observation, const PairKey& key, Pair& pair, std::uint16_t needed) {
    if (pair.runs > kRuns || pair.runs < 2 || pair.open) return;
    CreditStarvation wait;
    std::size_t refused = 0;
    for (; refused < pair.runs && pair.run[refused].credits < needed; ++refused) {
        wait.grants += pair.run[refused].grants;
        wait.credits = std::max(wait.credits, pair.run[refused].credits);
    }
    if (refused == 0 || refused == pair.runs || wait.grants < kCreditGrants) return;
    const Run &first = pair.run[0], &last = pair.run[refused - 1], &granted = pair.run[refused];
    wait.longest = last.last_time - first.first_time;
    wait.followed = observation.time - granted.first_time;
    if (wait.longest < kCreditWait || wait.followed > kCreditRelease || wait.followed < Duration{}) return;
    const auto& [sender, granter, lane] = key;
    wait.interface = directions_[sender].interface;
    wait.port = directions_[sender].port;
    wait.granter = directions_[granter].port;
    wait.lane = lane;
    wait.needed = needed;
    wait.first = first.first;
    wait.last = last.last;
    wait.released = granted.first;
    wait.packet = observation.frame;
    wait.times = {first.first_time, last.last_time, granted.first_time, observation.time};
    pair.open = wait;
}

CreditReport LinkCreditTracker::finish() const {
    const auto proven = [](const Pair& pair) {
        return !pair.contradicted && pair.sent >= kCreditCircle && pair.granted >= kCreditCircle;
    };
    CreditReport report;
    for (const auto& [key, pair] : pairs_) {
        if (pair.found.waits == 0 || !proven(pair)) continue;
        const auto& [sender, granter, lane] = key;
        std::size_t granters = 0;  // of two that may be, nobody knows which is
        for (std::size_t other = 0; other < directions_.size(); ++other)
            if (const auto found = pairs_.find({sender, other, lane});
                found != pairs_.end() && !found->second.contradicted)
                ++granters;
        if (granters == 1) report.starved.push_back(pair.found);
    }
    report.left_out = left_out_;
    return report;
}

}  // namespace qps::transport
