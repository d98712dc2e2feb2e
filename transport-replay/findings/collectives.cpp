// Findings about groups of hosts that work in steps together: whom all wait for, whom many send to at once.
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kSteps{"steps", Unit::count, "steps of the collective in which it was so"};
constexpr FactRow kJudgedSteps{"judged_steps", Unit::count, "steps that were judged"};
constexpr FactRow kAllReduces{"all_reduces", Unit::flag, "the steps are all-reduces"};
constexpr FactRow kLibrary{"library", Unit::word, "the library that moves the data, where its messages tell"};
constexpr FactRow kPattern{"pattern", Unit::word, "who sends data to whom: ring, tree, all-to-all or another"};
constexpr FactRow kRanks{"ranks", Unit::count, "ranks that the capture shows"};
constexpr FactRow kJobRanks{"job_ranks", Unit::count, "ranks of the job, where they are more"};
constexpr FactRow kRank{"rank", Unit::number, "the number of the host as the library counts ranks"};
constexpr FactRow kMeanStep{"mean_step", Unit::duration,
                            "mean time from the first to the last packet of data of a step"};
constexpr FactRow kDelay{
    "delay", Unit::word,
    "how it is behind: starts (it begins last), ends (it ends last), sends (its packets take longer)"};
constexpr FactRow kRankRate{"rank_rate", Unit::bits_per_second,
                            "the rate at which it sent, where it sent more slowly than the others"};
constexpr FactRow kOthersWaited{"others_waited", Unit::duration,
                                "time that the others waited for it, in these steps together"};
constexpr FactRow kConfidence{"confidence", Unit::share,
                              "the part of the steps that fits, less what chance would give"};
constexpr FactRow kSendersAtOnce{"senders_at_once", Unit::count, "ranks that sent to it at the same time, at most"};
constexpr FactRow kReceivedBytes{"received_bytes", Unit::bytes, "bytes that it received in these steps"};

// What a group is, and how many of its steps are like that.
Facts of_group(const Collective& collective, std::uint32_t rank, std::uint64_t steps, std::uint64_t judged) {
    const CollectiveRank& its = collective.ranks[rank];
    Facts facts{{kHost, its.address},
                {kRank, its.number},
                {kSteps, steps},
                {kJudgedSteps, judged},
                {kAllReduces, collective.operation == CollectiveOperation::all_reduce},
                {kPattern, name(collective.pattern)},
                {kRanks, collective.ranks.size()}};
    if (collective.made_by != CollectiveLibrary::unknown) facts.emplace_back(kLibrary, name(collective.made_by));
    if (collective.members > collective.ranks.size()) facts.emplace_back(kJobRanks, collective.members);
    return facts;
}

// Frames of evidence are the first of their steps.
std::vector<FindingEvent> step_events(const Collective& collective, const std::vector<dissect::FrameIndex>& frames) {
    std::vector<FindingEvent> events;
    for (const dissect::FrameIndex frame : frames) {
        const auto step = std::ranges::find(collective.steps, frame, &CollectiveStep::frame);
        events.push_back(
            {frame, EventRole::evidence, step == collective.steps.end() ? std::nullopt : std::optional(step->begin)});
    }
    return events;
}

constexpr std::string_view kStartsLateAdvice =
    "Check what {host}[ (rank {rank})] computes before each step: clocks and temperature of its GPUs, its share of the batch, its input pipeline and other "
    "processes; the network waits for it.";

void collective_straggler(const Timeline& timeline, const Emit& emit) {
    constexpr double kPercent = 100;
    for (const Collective& collective : timeline.collectives.collectives) {
        if (!collective.straggler) continue;
        const CollectiveStraggler& late = *collective.straggler;
        Facts facts = of_group(collective, late.rank, late.steps, late.of);
        facts.emplace_back(kMeanStep, collective.step_length.mean());
        facts.emplace_back(kDelay, kCollectiveDelayNames[static_cast<std::size_t>(late.delay)]);
        if (late.delay == CollectiveDelay::sends) facts.emplace_back(kRankRate, collective.ranks[late.rank].rate);
        facts.emplace_back(kOthersWaited, late.waited);
        facts.emplace_back(kShareOfTime, late.share / kPercent);
        facts.emplace_back(kConfidence, late.confidence / kPercent);
        emit({.party = Party::application,
              .count = late.steps,
              .advice = late.delay == CollectiveDelay::starts ? kStartsLateAdvice : std::string_view{},
              .facts = std::move(facts),
              .events = step_events(collective, late.frames)});
    }
}

void collective_incast(const Timeline& timeline, const Emit& emit) {
    for (const Collective& collective : timeline.collectives.collectives) {
        if (!collective.incast) continue;
        const CollectiveIncast& incast = *collective.incast;
        Facts facts = of_group(collective, incast.rank, incast.steps, incast.of);
        facts.emplace_back(kSendersAtOnce, incast.senders);
        facts.emplace_back(kReceivedBytes, incast.bytes);
        emit({.party = Party::application,
              .count = incast.steps,
              .facts = std::move(facts),
              .events = step_events(collective, incast.frames)});
    }
}

}  // namespace

Family collectives_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "collective-straggler",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "All ranks of a collective wait for the same rank, step after step",
            .sentence =
                "In {steps} of {>steps} of a {>ranks} (mean step {mean_step}) {host}[ (rank {rank})] [delay=starts?was the last to start]"
                "[delay=ends?was the last to finish][delay=sends?sent at {rank_rate}, slower than all others]; the others waited {others_waited} for "
                "it, {share_of_time} of the time of these steps (confidence {confidence}).",
            .advice =
                "Check the path out of {host}[ (rank {rank})]: speed and errors of its port, width of its PCIe link, traffic that shares its uplink, "
                "congestion marks on its packets.",
            .alike =
                "A job whose ranks have different work on purpose, as stages of a pipeline do, has a rank that is always last; and so has one whose "
                "root writes a checkpoint.",
            .limits =
                "Steps are concluded from the shape of the traffic. What a rank does before it sends is not in the packets, and of hosts that the tap "
                "does not see nothing is said.",
            .draw = collective_straggler},
        FindingRow{
            .id = "collective-incast",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "Many ranks of a collective send to one rank at once, step after step",
            .sentence =
                "In {steps} of {>steps} of a {>ranks}, up to {senders_at_once:rank} sent to {host}[ (rank {rank})] at once, {received_bytes} in total.",
            .advice =
                "Do nothing while no packet is marked, paused or lost; otherwise let the library exchange in pairs (each rank another partner at a "
                "time) or use fewer channels, and check that ECN slows senders down before buffers fill.",
            .alike = "A gather to a root, or a parameter server, is such a pattern by design.",
            .limits =
                "That several send at once is seen at the tap: whether a queue of a switch grew by it, only marks, pauses and losses tell.",
            .draw = collective_incast},
    };
    static constexpr std::array kOwn{
        &kSteps,    &kJudgedSteps, &kAllReduces, &kLibrary,      &kPattern,    &kRanks,         &kJobRanks,      &kRank,
        &kMeanStep, &kDelay,       &kRankRate,   &kOthersWaited, &kConfidence, &kSendersAtOnce, &kReceivedBytes,
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
