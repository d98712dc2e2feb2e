// Findings about what can be read of a capture: its timestamps, packets that are malformed or fragments, and the bounds
// of the analysis.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kStepsBack{"steps_back", Unit::count, "timestamps before that of the packet before"};
constexpr FactRow kLargestStepBack{"largest_step_back", Unit::duration, "the largest such step"};
constexpr FactRow kAnswersBefore{"answers_before_requests", Unit::count,
                                 "ACKs and responses that were captured before their requests"};
constexpr FactRow kEarliestAnswer{"earliest_answer", Unit::duration,
                                  "the longest time from such an answer to its request"};
constexpr FactRow kClockResolution{"clock_resolution", Unit::duration, "resolution of the timestamps, a power of ten"};
constexpr FactRow kDifferentPackets{"different_packets", Unit::count,
                                    "of them, those that are different; the others repeat these"};
constexpr FactRow kLeftOut{"left_out", Unit::list, "what the bounds of the analysis left out, with how much of it"};
constexpr FactRow kJudgedAll{"judged_all", Unit::flag,
                             "sums have what was left out, so that no finding is missing because of it"};
constexpr std::array kReadingFacts{
    &kStepsBack,       &kLargestStepBack,  &kAnswersBefore, &kEarliestAnswer,
    &kClockResolution, &kDifferentPackets, &kLeftOut,       &kJudgedAll,
};

constexpr dissect::Duration kCoarseClock{100'000};  // 100 us: round trips of RDMA take 1 to 50

void clock_backwards(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.backwards == 0) return;
    emit({.party = Party::capture,
          .count = quality.backwards,
          .facts = {{kStepsBack, quality.backwards}, {kLargestStepBack, magnitude(quality.largest_step_back)}},
          .events = {{quality.largest_step_frame}}});
}

// Nothing is answered before it is asked for.
void clock_offset(const Timeline& timeline, const Emit& emit) {
    std::uint64_t connections = 0;
    dissect::Duration longest{};
    FindingDraft draft{.party = Party::capture, .count = 0};
    for (const Connection& connection : timeline.connections) {
        std::uint64_t answers = 0;
        for (const Way& way : connection.ways) {
            if (way.incidents->earliest_answer <= dissect::Duration{}) continue;
            answers += way.incidents->early_answers;
            longest = std::max(longest, way.incidents->earliest_answer);
            for (const dissect::FrameIndex frame : way.incidents->frames(Oddity::early))
                draft.events.push_back({frame});
        }
        draft.count += answers;
        connections += answers != 0 ? 1 : 0;
    }
    if (draft.count == 0) return;
    draft.facts = {{kAnswersBefore, draft.count}, {kConnections, connections}, {kEarliestAnswer, longest}};
    emit(std::move(draft));
}

void clock_coarse(const Timeline& timeline, const Emit& emit) {
    const auto resolution = timeline.quality.clock_resolution;
    if (!resolution || *resolution < kCoarseClock) return;
    emit({.party = Party::capture, .count = timeline.quality.packets, .facts = {{kClockResolution, *resolution}}});
}

void malformed_packets(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.faulty == 0) return;
    const std::uint64_t different = quality.faulty - quality.faulty_again;
    emit({.party = Party::undecided,
          .count = different,
          .facts = {{kPackets, quality.faulty},
                    {kAllPackets, quality.rdma_packets},
                    {kDifferentPackets, quality.faulty_again == 0 ? std::nullopt : std::optional(different)}}});
}

void ip_fragments(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.fragments == 0) return;
    emit({.party = Party::undecided,
          .count = quality.fragments,
          .facts = {{kPackets, quality.fragments}, {kAllPackets, quality.rdma_packets}}});
}

void analysis_bounded(const Timeline& timeline, const Emit& emit) {
    std::uint64_t most = 0;  // one packet may be past several bounds
    for (const Bound& bound : bounds()) most = std::max(most, bound.count(timeline));
    if (most == 0) return;
    emit({.party = Party::capture,
          .count = most,
          .facts = {{kLeftOut, left_out_parts(timeline)}, {kJudgedAll, judged_all(timeline)}}});
}

}  // namespace

Family capture_reading_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "clock-backwards",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "Timestamps go backwards",
            .sentence = "Timestamps go backwards {steps_back:times}, by up to {largest_step_back}.",
            .advice =
                "Sort the file by time (`reordercap`) if it was merged, and do not trust durations below that step: clocks of several "
                "ports or hosts differ by it.",
            .alike =
                "Files that were joined one behind the other, queues of a NIC that are written out of order, and a clock that was set back.",
            .limits =
                "Which of two timestamps is wrong is not known, nor whether the packets passed in the order of the file.",
            .draw = clock_backwards},
        FindingRow{
            .id = "clock-offset",
            .severity = Severity::note,
            .clause = "IBA 9.7.5",
            .meaning = "ACKs and responses were captured before their requests",
            .by_order = true,
            .sentence =
                "{answers_before_requests:answer} of {connections:connection} [answers_before_requests=1?was|were] captured before "
                "[answers_before_requests=1?its request|their requests], by up to {earliest_answer}: the two directions were captured by different "
                "clocks or queues, and latencies shorter than that are wrong.",
            .advice =
                "Synchronise the clocks of both ports or hosts (PTP, one capture card), or correct one file (`--offset`); answers that wait for "
                "their requests for more than 5 ms are taken for answers to packets that the capture lacks.",
            .alike = "One clock and two queues, of a NIC or a mirror, of which one is written later than the other.",
            .limits =
                "The offset is at least what is said: as long as it is shorter than the time that answers take, it does not show.",
            .draw = clock_offset},
        FindingRow{
            .id = "clock-coarse",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "Timestamps are too coarse to measure latencies",
            .sentence = "Timestamps have a resolution of {clock_resolution}, coarser than most round trips.",
            .advice =
                "Capture with nanosecond or hardware timestamps (`tcpdump -j adapter_unsynced --time-stamp-precision=nano`) to see latencies.",
            .alike = "A capture whose timestamps a tool rounded when it rewrote the file.",
            .limits =
                "Decimal digits alone are looked at: a clock may tick in coarser steps than its timestamps have digits.",
            .draw = clock_coarse},
        FindingRow{
            .id = "malformed-packets",
            .severity = Severity::warning,
            .clause = "IBA 9.2",
            .meaning = "Packets have malformed headers",
            .sentence =
                "{packets} of {all_packets:RDMA packet} [packets=1?is|are] malformed[, {different_packets} of them different: the others repeat "
                "these;|:] a header breaks a rule of its format.",
            .advice =
                "List them (`qpscope packets -Y rdma.frame.fault`) and check whether one sender or one device on the path produces them.",
            .alike =
                "Another protocol on UDP port 4791, packets of a test generator, and a capture whose headers a tool rewrote.",
            .limits =
                "Whether the packet was sent so or damaged on the way is not known; what a receiver made of it, only its answers tell.",
            .draw = malformed_packets},
        FindingRow{
            .id = "ip-fragments",
            .severity = Severity::warning,
            .clause = "IBA A17.3.1.2",
            .meaning = "IP took packets apart",
            .sentence =
                "{packets} of {all_packets:RDMA packet} [packets=1?is|are each] the first fragment of an IP datagram: what [packets=1?it "
                "carries|they carry] further is in fragments that are not put together, so that payload and ICRC are not judged.",
            .advice =
                "Find who takes them apart (`qpscope packets -Y 'rdma.frame.fault == fragment'`), the sender or a router: RoCEv2 sets DF, "
                "and adapters may drop fragments; use a path MTU of RDMA that fits into the MTU of every link, headers included.",
            .alike =
                "A datagram of another protocol to UDP port 4791 whose first fragment reads like a transport header.",
            .limits =
                "First fragments alone have the transport header: whether the others passed, and were put together, is not looked at. What was captured "
                "again with the same bytes counts once.",
            .draw = ip_fragments},
        FindingRow{
            .id = "analysis-bounded",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "The capture exceeds the limits of the analysis",
            .sentence =
                "The analysis reached its limits: {left_out:clauses}[judged_all!; problems there may have gone unnoticed].",
            .advice =
                "Give the analysis more memory (`--memory`), or split the capture by host or by time (`editcap -i`, a capture filter).",
            .alike =
                "A flood of connections or packets with made-up numbers reaches the same limits as a busy network does.",
            .limits = "What was left out was counted; what went wrong in it is not known.",
            .draw = analysis_bounded},
    };
    return {kRows, kReadingFacts};
}

}  // namespace qps::transport::families
