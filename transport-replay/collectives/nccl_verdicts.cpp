#include <transport-replay/collectives/nccl_verdicts.hpp>

#include <algorithm>
#include <set>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::int64_t kShortestReaction = 20'000;  // ns: what a proxy thread takes to see an offer and post a WRITE
constexpr std::int64_t kReactions = 4;              // what takes longer than so many of them was no reaction
constexpr std::int64_t kPartOfStep = 20;            // a wait of a twentieth of the operation and more
constexpr std::uint8_t kLeastCertainty = 50;        // percent

const NcclOffered* offer_of(const NcclPart& part, std::uint64_t index) {
    const auto found = std::ranges::lower_bound(part.offers, index, {}, &NcclOffered::index);
    return found != part.offers.end() && found->index == index ? &*found : nullptr;
}

// How soon senders write once they may, by the flow whose sender is the soonest: the tenth part of its messages. Others
// may have been late with all they sent.
Duration reaction_of(std::size_t flows, std::span<const NcclOperation> operations) {
    std::vector<std::vector<std::int64_t>> all(flows);
    for (const NcclOperation& operation : operations)
        for (const NcclPart& part : operation.parts)
            for (const NcclMessage& message : part.messages)
                if (const NcclOffered* offer = offer_of(part, message.index))
                    all[part.flow].push_back(
                        std::max<std::int64_t>(0, std::to_underlying(message.begin - offer->arrived)));
    std::int64_t soonest = INT64_MAX / kReactions;
    for (std::vector<std::int64_t>& times : all) {
        if (times.empty()) continue;
        const auto tenth = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10);
        std::ranges::nth_element(times, tenth);
        soonest = std::min(soonest, *tenth);
    }
    return Duration{std::max(kShortestReaction, kReactions * soonest)};
}

// What is known of the beginning of a rank in an operation.
struct Beginning {
    std::optional<Instant> offered;  // it first offered
    std::optional<Instant> sent;     // it first sent
    Duration behind{};               // the last thing that could have made it send
    bool alone = false;              // nothing made it
    [[nodiscard]] std::optional<Instant> begun(bool by_offers) const {
        if (alone) return sent;
        if (!by_offers) return std::nullopt;
        return sent && offered ? std::min(*offered, *sent) : offered;
    }
};

// What the capture shows of a group. In a ring what a rank sends first is its own; in a tree it may wait for what
// others send it.
struct Sight {
    bool tree = false;
    std::optional<std::uint32_t> whole{};  // of a tree that is seen in part: the rank all of whose connections are
    bool all = false;                      // of a tree: everything
};

class OperationWatch {
public:
    OperationWatch(std::span<const NcclFlow> flows, const NcclOperation& operation, Duration reaction,
                   const Sight& sight, std::uint32_t ranks)
        : flows_(flows), operation_(operation), sight_(sight), beginnings_(ranks), reaction_(reaction) {
        for (const NcclPart& part : operation.parts) take_offers(part);
        for (const NcclPart& part : operation.parts) take_first(part);
        // A rank that offers long before it sends, though nothing keeps it, and not long after the first, has its
        // operations queued: its offers say nothing of it, and those of the others as little.
        constexpr std::int64_t kPart = 4;
        Instant first{INT64_MAX};
        for (const Beginning& one : beginnings_) first = std::min(first, one.offered.value_or(first));
        by_offers_ = std::ranges::none_of(beginnings_, [&](const Beginning& one) {
            if (!one.alone || !one.offered) return false;
            const auto ahead = std::to_underlying(*one.sent - *one.offered),
                       behind = std::to_underlying(*one.sent - first);
            return ahead > 2 * std::to_underlying(reaction_) && ahead > behind / kPart;
        });
    }
    [[nodiscard]] std::optional<Instant> begun(std::uint32_t rank) const { return beginnings_[rank].begun(by_offers_); }
    [[nodiscard]] const std::vector<Beginning>& beginnings() const { return beginnings_; }
    [[nodiscard]] Duration reaction() const { return reaction_; }

    // The longest time in which nothing was seen, from `time` on.
    [[nodiscard]] Duration longest_pause(Instant time) const {
        std::vector<std::pair<Instant, Instant>> busy;
        for (const NcclPart& part : operation_.parts) {
            for (const NcclOffered& offer : part.offers) busy.emplace_back(offer.time, offer.arrived);
            for (const NcclMessage& message : part.messages) busy.emplace_back(message.begin, message.end);
        }
        std::ranges::sort(busy);
        Duration longest{};
        Instant until = time;
        for (const auto& [begin, end] : busy) {
            if (begin > until) longest = std::max(longest, begin - until);
            until = std::max(until, end);
        }
        return longest;
    }

private:
    void take_offers(const NcclPart& part) {
        if (part.offers.empty()) return;
        Beginning& receiver = beginnings_[flows_[part.flow].edge.destination];
        const Instant first = part.offers.front().time;
        if (!receiver.offered || first < *receiver.offered) receiver.offered = first;
    }
    // What came last before it: room at the receiver, or data from others, which a rank of a tree sends on.
    [[nodiscard]] Instant cause_of(const NcclPart& part, const NcclMessage& message) const {
        const NcclOffered* offer = offer_of(part, message.index);
        Instant cause = offer != nullptr ? std::min(offer->arrived, message.begin) : operation_.begin;
        for (const NcclPart& other : operation_.parts) {
            if (!sight_.tree) break;
            if (flows_[other.flow].edge.destination != flows_[part.flow].edge.source) continue;
            for (const NcclMessage& received : other.messages)
                if (received.end <= message.begin) cause = std::max(cause, received.end);
        }
        return cause;
    }
    void take_first(const NcclPart& part) {
        if (part.messages.empty()) return;
        const NcclMessage& message = part.messages.front();
        Beginning& sender = beginnings_[flows_[part.flow].edge.source];
        if (sender.sent && *sender.sent <= message.begin) return;
        sender.sent = message.begin;
        sender.behind = message.begin - cause_of(part, message);
        const bool shown = !sight_.tree || sight_.all || sight_.whole == flows_[part.flow].edge.source;
        sender.alone = shown && sender.behind > reaction_;
    }

    std::span<const NcclFlow> flows_;
    const NcclOperation& operation_;
    const Sight& sight_;
    std::vector<Beginning> beginnings_;
    Duration reaction_;
    bool by_offers_ = false;
};

double part_of(Duration part, Duration whole) {
    return static_cast<double>(std::to_underlying(part)) /
           static_cast<double>(std::max<std::int64_t>(1, std::to_underlying(whole)));
}

Sight sight_of(std::span<const NcclFlow> flows, CollectivePattern pattern, std::uint32_t ranks) {
    Sight sight{.all = pattern == CollectivePattern::tree || pattern == CollectivePattern::ring_both_ways};
    std::set<std::pair<std::uint32_t, std::uint32_t>> ways;
    for (const NcclFlow& flow : flows) ways.emplace(flow.edge.source, flow.edge.destination);
    sight.tree = std::ranges::any_of(ways, [&](const auto& way) { return ways.contains({way.second, way.first}); });
    for (std::uint32_t rank = 0; rank < ranks && ranks > 2; ++rank)
        if (std::ranges::all_of(ways, [&](const auto& way) { return way.first == rank || way.second == rank; }))
            sight.whole = rank;
    return sight;
}

// Who began last, when all others had and all went on with it.
void judge_wait(CollectiveStep& step, const OperationWatch& watch) {
    const std::vector<Beginning>& all = watch.beginnings();
    std::optional<std::uint32_t> last;
    for (std::uint32_t rank = 0; rank < all.size(); ++rank)
        if (watch.begun(rank) && (!last || *watch.begun(rank) > *watch.begun(*last))) last = rank;
    if (!last) return;
    const Instant begun = *watch.begun(*last);
    std::optional<Instant> second;
    for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
        if (rank == *last) continue;
        std::optional<Instant> known = watch.begun(rank);
        if (!known && all[rank].sent && *all[rank].sent < begun) known = all[rank].sent;
        if (known) second = std::max(second.value_or(*known), *known);
    }
    if (!second) return;
    const Duration waited = begun - *second;
    if (waited <= watch.reaction() || std::to_underlying(waited) < std::to_underlying(step.length) / kPartOfStep)
        return;
    double certainty = 1 - part_of(watch.longest_pause(begun) + watch.reaction(), waited);
    // One that was made to send after this beginning may have been ready long before, or just then.
    for (std::uint32_t rank = 0; rank < all.size(); ++rank)
        if (rank != *last && !watch.begun(rank) && all[rank].sent && *all[rank].sent >= begun)
            certainty *= 1 - part_of(all[rank].behind, waited + all[rank].behind);
    const auto percent = static_cast<std::uint8_t>(std::clamp(100 * certainty, 0.0, 99.0));
    if (percent < kLeastCertainty) return;
    step.last = last;
    step.waited = waited;
    step.certainty = percent;
}

// It began when the first rank did, which may be known before any data is sent, but not before the one before it was
// over.
void begin_with_ranks(CollectiveStep& step, Instant over) {
    const Instant end = step.begin + step.length;
    for (const auto& begun : step.begun)
        if (begun && *begun < step.begin && *begun >= over) step.begin = *begun;
    step.length = end - step.begin;
}

}  // namespace

std::vector<CollectiveStep> nccl_steps(std::span<const NcclFlow> flows, std::span<const NcclOperation> operations,
                                       CollectivePattern pattern, std::uint32_t ranks) {
    constexpr std::uint32_t kMostTimed = 64;  // ranks whose beginnings are kept
    const Duration reaction = reaction_of(flows.size(), operations);
    const Sight sight = sight_of(flows, pattern, ranks);
    std::vector<CollectiveStep> steps;
    for (const NcclOperation& operation : operations) {
        CollectiveStep step{.begin = operation.begin,
                            .length = operation.end - operation.begin,
                            .bytes = operation.bytes,
                            .frame = operation.frame,
                            .last = {},
                            .waited = {},
                            .whole = operation.whole};
        const OperationWatch watch(flows, operation, reaction, sight, ranks);
        if (operation.whole) judge_wait(step, watch);
        if (ranks <= kMostTimed)
            for (std::uint32_t rank = 0; rank < ranks; ++rank) step.begun.push_back(watch.begun(rank));
        begin_with_ranks(step, steps.empty() ? Instant{INT64_MIN} : steps.back().begin + steps.back().length);
        steps.push_back(std::move(step));
    }
    return steps;
}

}  // namespace qps::transport
