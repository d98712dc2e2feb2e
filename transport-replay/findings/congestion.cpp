// Findings about congestion: CE marks and their CNPs, bursts of many senders, TCP in the class of RDMA.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/watch/congestion.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace qps::transport::families {

namespace {

using dissect::Duration;
using namespace facts;

constexpr FactRow kCeMarked{"ce_marked", Unit::count, "CE-marked packets"};
constexpr FactRow kCeShare{"ce_share", Unit::share, "part of the packets that are CE-marked"};
constexpr FactRow kCnpTriggers{
    "cnp_triggers", Unit::count,
    "of them, packets of a kind that triggers CNPs (no ACKs, management or multicast), where not all are"};
constexpr FactRow kReturnedCnps{"returned_cnps", Unit::count, "CNPs of the receiver to the sender"};
constexpr FactRow kCnpDelay{"cnp_delay", Unit::duration, "median time from a mark to a CNP"};
constexpr FactRow kCnpGap{"cnp_gap", Unit::duration, "shortest time between two CNPs to the same queue pair"};
constexpr FactRow kUnansweredMarks{"unanswered_marks", Unit::count, "CE-marked packets that no CNP followed in time"};
constexpr FactRow kJudgedMarks{"judged_marks", Unit::count,
                               "CE-marked packets of which the capture tells whether a CNP followed"};
constexpr FactRow kCnpTime{"cnp_deadline", Unit::duration, "time within which a CNP answers a mark"};
constexpr FactRow kCnpsWithoutMark{"cnps_without_mark", Unit::count, "CNPs that followed no CE mark"};
constexpr FactRow kAllCnps{"all_cnps", Unit::count, "CNPs of the capture"};
constexpr FactRow kRateLeft{"rate_left", Unit::share, "rate after the CNPs, as a part of the rate before them"};
constexpr FactRow kCnpBursts{"cnp_bursts", Unit::count, "bursts of CNPs around which rates were measured"};
constexpr FactRow kLongBurstCnps{"long_burst_cnps", Unit::count,
                                 "CNPs of bursts that went on, in the time in which the rate was measured"};
constexpr FactRow kBurstRate{"burst_rate", Unit::bits_per_second, "rate in that time, as bytes on the wire"};
constexpr FactRow kBurstSenders{"burst_senders", Unit::count, "hosts that sent in the largest burst"};
constexpr FactRow kBurstBytes{"burst_bytes", Unit::bytes, "bytes on the wire of the largest burst"};
constexpr FactRow kBurstLength{"burst_length", Unit::duration, "how long it lasted"};
constexpr FactRow kBursts{"bursts", Unit::count, "incast bursts"};
constexpr FactRow kBurstMarks{"burst_marks", Unit::count, "CE-marked packets of all these bursts"};
constexpr FactRow kLossyShare{"lossy_share", Unit::share, "part of the bytes that is TCP and UDP"};
constexpr FactRow kTcpBytes{"tcp_bytes", Unit::bytes, "bytes of TCP"};
constexpr FactRow kUdpBytes{"udp_bytes", Unit::bytes, "bytes of UDP that is no RDMA"};
constexpr FactRow kRdmaBytes{"rdma_bytes", Unit::bytes, "bytes of RDMA"};
constexpr FactRow kVlanPriority{"vlan_priority", Unit::number, "priority of the VLAN tag"};
constexpr FactRow kIntervals{"intervals", Unit::count,
                             "intervals in which the class was marked, paused or lost packets"};
constexpr FactRow kSharedIntervals{"shared_intervals", Unit::count, "of them, those with TCP or UDP, too"};
constexpr FactRow kIntervalLength{"interval_length", Unit::duration, "length of an interval"};
constexpr FactRow kClassMarks{"class_marks", Unit::count, "CE-marked packets of RDMA in these intervals"};
constexpr FactRow kClassPauses{"class_pauses", Unit::count,
                               "frames that asked for a pause of that class in these intervals"};
constexpr FactRow kClassNaks{"class_naks", Unit::count, "sequence NAKs of the receiver in these intervals"};
constexpr std::array kCongestionFacts{
    &kCeMarked,    &kCeShare,      &kCnpTriggers,     &kReturnedCnps, &kCnpDelay,  &kCnpGap,          &kUnansweredMarks,
    &kJudgedMarks, &kCnpTime,      &kCnpsWithoutMark, &kAllCnps,      &kRateLeft,  &kCnpBursts,       &kLongBurstCnps,
    &kBurstRate,   &kBurstSenders, &kBurstBytes,      &kBurstLength,  &kBursts,    &kBurstMarks,      &kLossyShare,
    &kTcpBytes,    &kUdpBytes,     &kRdmaBytes,       &kVlanPriority, &kIntervals, &kSharedIntervals, &kIntervalLength,
    &kClassMarks,  &kClassPauses,  &kClassNaks,
};

constexpr std::uint64_t kFewestMarks = 8;  // CNPs are lossy and paced: fewer marks may go unanswered by chance
constexpr std::uint64_t kFewestSilences =
    4;  // however many the marks: a network that loses 5 % loses 4 CNPs in a row once in 160 000
constexpr std::uint64_t kUnansweredPercent = 50;
constexpr std::uint32_t kFewestBursts = 4;      // of CNPs, before the rate after them says anything
constexpr std::uint64_t kNoEffectPercent = 95;  // of the rate before; a cut of DCQCN is felt more than that
// While a burst goes on. Where nearly all packets are marked and a CNP comes every 100 us, no rate is in balance with
// its CNPs: it falls to the least that the adapter allows, which is below 1 Gbit/s (rpg_min_rate is 1 Mbit/s).
constexpr std::uint64_t kLeastMarkedPercent = 90;
constexpr std::uint64_t kCnpsOfBin = 10;
constexpr double kAboveAnyFloor = 1e9;  // bits/s

// How often, of marks whose answer the capture could have held.
std::uint64_t decided(const PairCongestion& pair) { return pair.answered + pair.unanswered; }

// The first and last marked packet of each flow of the pair.
void add_marks(std::vector<FindingEvent>& events, const Timeline& timeline, const PairCongestion& pair) {
    const FlowKey from{pair.source, pair.destination, {}, {}};
    for (auto flow = std::ranges::lower_bound(timeline.congestion.flows, from, {}, &FlowCongestion::flow);
         flow != timeline.congestion.flows.end() && flow->flow.source == pair.source &&
         flow->flow.destination == pair.destination;
         ++flow) {
        if (flow->marked == 0) continue;
        events.push_back({flow->first_marked, EventRole::evidence, flow->first_marked_time});
        events.push_back({flow->last_marked, EventRole::evidence, flow->last_marked_time});
    }
}

// The CNPs to the sender of a pair's data.
template <class Each> void for_each_stream(const Timeline& timeline, const PairCongestion& pair, Each each) {
    const FlowKey from{pair.destination, pair.source, {}, {}};
    for (auto stream = std::ranges::lower_bound(timeline.congestion.notifications, from, {}, &CnpStream::flow);
         stream != timeline.congestion.notifications.end() && stream->flow.source == pair.destination &&
         stream->flow.destination == pair.source;
         ++stream)
        each(*stream);
}

void ecn_congestion(const Timeline& timeline, const Emit& emit) {
    for (const PairCongestion& pair : timeline.congestion.pairs) {
        if (pair.marked == 0) continue;  // cnp-without-mark has the others
        std::vector<FindingEvent> events;
        add_marks(events, timeline, pair);
        std::optional<Duration> delay, gap;
        for_each_stream(timeline, pair, [&](const CnpStream& stream) {
            events.push_back({stream.first_frame, EventRole::evidence, stream.first_time});
            events.push_back({stream.last_frame, EventRole::evidence, stream.last_time});
            if (!delay) delay = stream.delays.median();
            if (stream.gaps.count() != 0 && (!gap || stream.gaps.least() < *gap)) gap = stream.gaps.least();
        });
        emit({.party = Party::congestion,
              .count = pair.marked + pair.notifications,
              .facts = {{kFromHost, pair.source},
                        {kToHost, pair.destination},
                        {kCeMarked, pair.ce_marked},
                        {kAllPackets, pair.packets},
                        {kCeShare, part_of(pair.ce_marked, pair.packets)},
                        // ACKs, MADs and multicast trigger none (A17.9.3)
                        {kCnpTriggers, pair.ce_marked == pair.marked ? std::nullopt : std::optional(pair.marked)},
                        {kReturnedCnps, pair.notifications},
                        {kCnpDelay, delay},
                        {kCnpGap, gap}},
              .events = std::move(events)});
    }
}

// Who sends any CNP notices marks: those it leaves unanswered were lost on the way, or held back.
void ecn_not_answered(const Timeline& timeline, const Emit& emit) {
    for (const PairCongestion& pair : timeline.congestion.pairs) {
        if (!pair.other_way_seen || decided(pair) < kFewestMarks || pair.silences < kFewestSilences) continue;
        if (pair.unanswered * 100 < decided(pair) * kUnansweredPercent) continue;
        std::vector<FindingEvent> events;
        add_kept(events, pair.unanswered_marks);
        emit({.party = pair.notifications == 0 ? Party::responder : Party::undecided,
              .count = pair.unanswered,
              .facts = {{kFromHost, pair.source},
                        {kToHost, pair.destination},
                        {kUnansweredMarks, pair.unanswered},
                        {kJudgedMarks, decided(pair)},
                        {kCnpTime, kCnpDeadline},
                        {kReturnedCnps, nonzero(pair.notifications)}},
              .events = std::move(events)});
    }
}

void cnp_without_mark(const Timeline& timeline, const Emit& emit) {
    std::uint64_t without = 0, all = 0;
    FindingDraft draft{.party = Party::undecided};
    for (const CnpStream& stream : timeline.congestion.notifications) {
        all += stream.count;
        without += stream.without_mark;
        add_kept(draft.events, stream.unmarked);
    }
    if (without == 0) return;
    all = std::max(all, timeline.congestion.cnps);  // of streams that were not followed, too
    draft.count = without;
    draft.facts = {{kCnpsWithoutMark, without}, {kAllCnps, all}};
    emit(std::move(draft));
}

double rate_in_burst(const Reaction& reaction) {
    constexpr double kBinNs = static_cast<double>(std::to_underlying(kRateBin));
    const double time = kBinNs * static_cast<double>(2 * kRateBins * reaction.long_bursts);
    return static_cast<double>(reaction.bytes_first + reaction.bytes_then) * 8e9 / time;
}

// In bursts that went on. Each flow of the pair must have had its CNPs: which of them one is for, data do not tell.
bool kept_its_rate(const Timeline& timeline, const FlowCongestion& flow) {
    const Reaction& reaction = flow.reaction;
    const std::uint64_t bins = 2 * kRateBins * reaction.long_bursts;
    if (bins == 0 || flow.marked * 100 < flow.packets * kLeastMarkedPercent) return false;
    const auto& flows = timeline.congestion.flows;
    const auto of_pair = static_cast<std::uint64_t>(std::ranges::count_if(flows, [&](const FlowCongestion& other) {
        return other.flow.source == flow.flow.source && other.flow.destination == flow.flow.destination;
    }));
    std::uint64_t streams = 0;
    PairCongestion pair;
    pair.source = flow.flow.source;
    pair.destination = flow.flow.destination;
    for_each_stream(timeline, pair, [&](const CnpStream&) { ++streams; });
    return streams >= of_pair && reaction.cnps >= bins * kCnpsOfBin * of_pair &&
           rate_in_burst(reaction) >= kAboveAnyFloor &&
           reaction.bytes_then * 100 >= reaction.bytes_first * kNoEffectPercent;
}

constexpr std::string_view kKeptItsRate =
    "{from_host} went on sending to {receiver} at {burst_rate} while {long_burst_cnps:CNP} came back: in the second half of that time at {rate_left} of "
    "the rate of the first.";

void tell_kept_rate(const FlowCongestion& flow, const Emit& emit) {
    const Reaction& reaction = flow.reaction;
    emit({.party = Party::requester,
          .count = reaction.long_bursts,
          .sentence = kKeptItsRate,
          .facts = {{kFromHost, flow.flow.source},
                    {kReceiver, Endpoint{flow.flow.destination, flow.flow.destination_qp}},
                    {kRateLeft, part_of(reaction.bytes_then, reaction.bytes_first)},
                    {kBurstRate, rate_in_burst(reaction)},
                    {kLongBurstCnps, reaction.cnps}},
          .events = {{flow.first_marked, EventRole::evidence, flow.first_marked_time},
                     {flow.last_marked, EventRole::evidence, flow.last_marked_time}}});
}

void cnp_without_effect(const Timeline& timeline, const Emit& emit) {
    for (const FlowCongestion& flow : timeline.congestion.flows) {
        const Reaction& reaction = flow.reaction;
        if (kept_its_rate(timeline, flow)) {
            tell_kept_rate(flow, emit);
            continue;
        }
        if (reaction.bursts < kFewestBursts || reaction.bins_before == 0 || reaction.bins_after == 0 ||
            flow.marked == 0)
            continue;
        const double before = static_cast<double>(reaction.bytes_before) / reaction.bins_before;
        const double after = static_cast<double>(reaction.bytes_after) / reaction.bins_after;
        if (before == 0 || after * 100 < before * static_cast<double>(kNoEffectPercent)) continue;
        emit({.party = Party::requester,
              .count = reaction.bursts,
              .facts = {{kFromHost, flow.flow.source},
                        {kReceiver, Endpoint{flow.flow.destination, flow.flow.destination_qp}},
                        {kRateLeft, after / before},
                        {kCnpBursts, reaction.bursts}},
              .events = {{flow.first_marked, EventRole::evidence, flow.first_marked_time},
                         {flow.last_marked, EventRole::evidence, flow.last_marked_time}}});
    }
}

void incast(const Timeline& timeline, const Emit& emit) {
    const auto& incasts = timeline.congestion.incasts;
    if (incasts.empty()) return;
    const auto worst = std::ranges::max_element(
        incasts, {}, [](const IncastBurst& burst) { return std::pair{burst.senders, burst.bytes}; });
    FindingDraft draft{.party = Party::application, .count = incasts.size() + timeline.congestion.incasts_dropped};
    std::uint64_t marked = 0;
    for (const IncastBurst& burst : incasts) {
        draft.events.push_back({burst.frame, EventRole::evidence, burst.start});
        marked += burst.marked;
    }
    draft.facts = {{kBurstSenders, worst->senders}, {kBurstBytes, worst->bytes}, {kToHost, worst->destination},
                   {kBurstLength, worst->length},   {kBursts, draft.count},      {kBurstMarks, marked}};
    emit(std::move(draft));
}

// One in ten of the bytes, one in four of the intervals: less is not what fills a queue.
void shared_traffic_class(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint64_t kLeastPart = 10, kLeastIntervals = 4;
    for (const LossyBeside& one : timeline.beside) {
        if (one.lossy_bytes() * kLeastPart < one.bytes() || one.shared * kLeastIntervals < one.intervals ||
            one.rdma_bytes == 0)
            continue;
        std::vector<FindingEvent> events;
        for (std::size_t i = 0; i < one.frames.size(); ++i)
            events.push_back({one.frames[i], EventRole::evidence, one.times[i]});
        emit({.party = Party::congestion,
              .count = one.shared,
              .facts = {{kToHost, one.destination},
                        {kLossyShare, part_of(one.lossy_bytes(), one.bytes())},
                        {kTcpBytes, one.tcp_bytes},
                        {kUdpBytes, one.udp_bytes},
                        {kRdmaBytes, one.rdma_bytes},
                        {kVlanPriority, one.pcp == kNoPcp ? std::nullopt : std::optional(one.pcp)},
                        {kDscp, one.dscp},
                        {kIntervals, one.intervals},
                        {kSharedIntervals, one.shared},
                        {kIntervalLength, kBesideInterval},
                        {kClassMarks, nonzero(one.marks)},
                        {kClassPauses, nonzero(one.pauses)},
                        {kClassNaks, nonzero(one.naks)}},
              .events = std::move(events)});
    }
}

}  // namespace

Family congestion_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "ecn-congestion",
            .severity = Severity::note,
            .clause = "IBA A17.9.3",
            .meaning = "Packets were marked for congestion (CE)",
            .sentence =
                "{ce_marked} of {all_packets:packet} from {from_host} to {to_host} [ce_marked=1?was|were] CE-marked ({ce_share})[, {cnp_triggers} "
                "of them of a kind that triggers CNPs]; {returned_cnps:CNP} returned[, {cnp_delay} after the mark (median)][, at least {cnp_gap} "
                "apart].",
            .advice =
                "Do nothing if throughput is as expected; otherwise check the queue that marks (ECN thresholds, incast), and np_cnp_sent and "
                "rp_cnp_handled of both NICs (`rdma statistic`).",
            .alike =
                "Marks are how ECN works: a few of them in a busy network are healthy, and throughput does not suffer.",
            .limits =
                "Only marks and CNPs that passed the tap are counted: a switch behind it marks later. Which queue marked, the packets do not tell.",
            .draw = ecn_congestion},
        FindingRow{
            .id = "ecn-not-answered",
            .severity = Severity::warning,
            .clause = "IBA A17.9.3",
            .meaning = "CE-marked packets triggered no CNP",
            .sentence =
                "{unanswered_marks} of {judged_marks:CE mark} from {from_host} to {to_host} triggered no CNP from {to_host} within {cnp_deadline}, "
                "[returned_cnps?although it sent {returned_cnps:CNP}: the others were lost or held back|so the sender does not slow down].",
            .advice =
                "[returned_cnps?Compare np_cnp_sent on {to_host} with rp_cnp_handled on {from_host} (`rdma statistic`): if they differ, CNPs are "
                "dropped and need a class of their own; otherwise check the CNP rate limit on {to_host}.|Enable the notification point on {to_host} "
                "for this priority (`mlnx_qos`, ecn/roce_np/enable), compare np_ecn_marked_roce_packets with np_cnp_sent, and check the traffic "
                "class of CNPs.]",
            .alike =
                "A tap that does not see the CNPs because they take another path than the other packets of that host.",
            .limits =
                "A CNP names a queue pair, not a mark: any CNP of the host in time counts as the answer to all marks before it. Marks right behind a "
                "CNP or at the end of the capture are not judged. Of many such packets the first and the last are listed.",
            .draw = ecn_not_answered},
        FindingRow{
            .id = "cnp-without-mark",
            .severity = Severity::note,
            .clause = "IBA A17.9.3",
            .meaning = "CNPs follow no CE mark in the capture",
            .sentence = "{cnps_without_mark} of {all_cnps:CNP} followed no CE mark in this capture.",
            .advice =
                "Ignore this if the tap is before the switch that marks; capture at the receiver's port to see marks and CNPs together.",
            .alike = "A tap before the switch that marks: the marks are behind it. Marks that a recorder lost.",
            .limits =
                "A mark counts for a millisecond, for all CNPs between the two hosts. Of many such CNPs to a queue pair the first and the last are "
                "listed.",
            .draw = cnp_without_mark},
        FindingRow{
            .id = "cnp-without-effect",
            .severity = Severity::note,
            .clause = "IBA A17.9.3",
            .meaning = "A sender did not slow down after CNPs",
            .sentence =
                "{from_host} sent to {receiver} at {rate_left} of its previous rate after {cnp_bursts:burst of CNPs}.",
            .advice =
                "Check that the reaction point is enabled on {from_host} for this priority (ecn/roce_rp/enable, rp_cnp_handled and rp_cnp_ignored "
                "in `rdma statistic`) before changing DCQCN parameters.",
            .alike =
                "A sender that was slow already, so that its new rate was not below what it sent; one that had less to send before the CNPs than after.",
            .limits =
                "Rates are those of the four milliseconds before and after each burst, or of the first and the next four of one that goes on. A CNP "
                "names a queue pair of the sender, which its data does not "
                "bear: where several flows go to that host, the CNPs may be for another one.",
            .draw = cnp_without_effect},
        FindingRow{
            .id = "incast",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "Many hosts sent to one host at the same time",
            .sentence =
                "{burst_senders:host} sent {burst_bytes} to {to_host} within {burst_length}, the largest of {bursts:incast burst} with "
                "{burst_marks:CE-marked packet} in total.",
            .advice =
                "Do nothing while no packet is marked, paused or lost; otherwise stagger the senders, or let the collective use trees or fewer "
                "channels.",
            .alike =
                "Senders whose packets only meet at the tap, such as those of a mirror port that collects several links.",
            .limits =
                "Senders count that began shortly after one another, each after a silence. Whether a queue filled, only marks, pauses and losses tell.",
            .draw = incast},
        FindingRow{
            .id = "shared-traffic-class",
            .severity = Severity::warning,
            .clause = "IEEE 802.1Q 36",
            .meaning = "TCP and UDP shared the class of RDMA while that was marked, paused or lost",
            .sentence =
                "TCP and UDP took {lossy_share} of the bytes to {to_host} ({tcp_bytes} and {udp_bytes}, beside {rdma_bytes} of RDMA) with "
                "[VLAN priority {vlan_priority}, ]DSCP {dscp}, in the {intervals:interval} of {interval_length} in which that class had "
                "[{class_marks:CE mark}][class_pauses?[class_marks?, ]{class_pauses:pause frame}][class_naks?[class_marks?, |[class_pauses?, "
                "]]{class_naks:sequence NAK}].",
            .advice =
                "Give RDMA a class of its own at every sender and switch (`ethtool`, `mlnx_qos`, cma_roce_tos): CNPs slow RDMA to {to_host} down, "
                "and neither TCP nor UDP.",
            .alike =
                "RDMA that fills the queue by itself, while the other traffic only happens to pass at the same time.",
            .limits =
                "The class is what VLAN tag and DSCP say: how a switch maps them to its queues is not known. Bytes are counted at the tap, not in "
                "the queue.",
            .draw = shared_traffic_class},
    };
    return {kRows, kCongestionFacts};
}

}  // namespace qps::transport::families
