// Findings about packets whose invariant CRC is wrong, and about who made it so.
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kIcrcVerdict{
    "icrc_verdict", Unit::word,
    "who made them wrong: corrupted (the way to the receiver), damaged (what recorded them), corrupted_or_damaged (some the one, some the "
    "other), undecided, added_later (the NIC, behind the tap), one_way (undecided, for want of answers), both_ends (undecided, "
    "as those of the peer are wrong too), computed_wrongly (the sender)"};
constexpr FactRow kRequestedAgain{"requested_again", Unit::count, "of them, requests that a NAK asked for again"};
constexpr FactRow kAcknowledged{"acknowledged", Unit::count,
                                "of them, requests that were acknowledged without a NAK or a retransmission"};
constexpr FactRow kAllAcknowledged{"all_acknowledged", Unit::flag, "those are all of them"};
constexpr FactRow kWrongOfPeer{"wrong_of_peer", Unit::count, "packets to that host with a wrong ICRC"};
constexpr FactRow kNotJudged{
    "not_judged", Unit::word,
    "why wrong ICRCs prove nothing: none_right (no packet of the capture has a right one), cleared (all of them are 0), by_sender (none of a "
    "sender's is right, and receivers took its packets), as_asked (--icrc ignore)"};
constexpr FactRow kAnalysedAsRight{"analysed_as_right", Unit::flag,
                                   "such packets are analysed as if their ICRC was right"};
constexpr FactRow kOfOtherTaps{"of_other_taps", Unit::flag, "packets of a tap that is not followed may be among them"};

constexpr std::uint64_t kSystematicPercent = 90;  // so many of a sender's packets are wrong by rule, not by chance
constexpr std::uint64_t kFewestSystematic = 4;    // packets; below, chance cannot be told from a rule

// What all connections together say of one sender's ICRCs.
struct Sender {
    std::uint64_t packets = 0;
    std::uint64_t corrupt = 0;
    std::uint64_t answered = 0;  // answers to it
    std::uint64_t damaged = 0;   // packets to it, with a wrong ICRC themselves
    std::uint64_t asked = 0;     // requests to it
    std::uint64_t again = 0;     // wrong requests that were asked for, or sent again
    std::uint64_t taken = 0;     // wrong requests that were acknowledged without either
    std::uint64_t ways = 0;      // with wrong ones
    bool deaf = true;            // nothing that was sent to it was captured
    std::optional<ConnectionId> connection;
    std::optional<Address> peer;
    std::optional<End> end;  // of that connection
    std::vector<FindingEvent> events;
    [[nodiscard]] bool systematic() const {
        return packets >= kFewestSystematic && corrupt >= packets * kSystematicPercent / 100;
    }
};

std::map<Address, Sender> senders(const Timeline& timeline) {
    std::map<Address, Sender> found;  // of wrong ones only
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b})
            if (connection.way(end).incidents->corrupt != 0) found[connection.end(end).address];
    if (found.empty()) return found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            const Way& back = connection.way(other(end));
            const auto place = found.find(connection.end(end).address);
            if (place == found.end()) continue;
            Sender& sender = place->second;
            sender.packets += way.packets;
            sender.corrupt += way.incidents->corrupt;
            sender.asked += back.requests;
            sender.again += way.incidents->corrupt_again;
            if (back.incidents->unread_answers == 0)
                sender.taken += way.incidents->corrupt_taken;  // a NAK may have been among them
            sender.deaf &= timeline.quality.only_heard(connection.end(end).address, connection.end(other(end)).address);
            sender.answered += back.packets - std::min(back.packets, back.requests + back.incidents->corrupt);
            sender.damaged += back.incidents->corrupt;
            for (const dissect::FrameIndex frame : way.incidents->frames(Oddity::corrupt))
                sender.events.push_back({frame});
            if (way.incidents->corrupt == 0 || sender.ways++ != 0) continue;
            sender.connection = connection.uid;
            sender.end = end;
            sender.peer = connection.end(other(end)).address;
        }
    return found;
}

// What wrong ICRCs of a sender prove, and what to do about them.
struct IcrcVerdict {
    std::string_view word;  // of kIcrcVerdict
    Party party{};
    Severity severity{};
    std::string_view sentence;
    std::string_view advice;
};
constexpr std::string_view kFindCorruptingLink =
    "List them (`qpscope packets -Y 'rdma.icrc.status == bad'`) and find the link that corrupts packets of {host} (towards {peer} first): FCS and symbol "
    "errors of NICs and switches (`ethtool -S`, `mlxlink`), then cable, optics, switch memory.";
constexpr std::string_view kFindKindOrLink =
    "See whether all packets of a kind are wrong (`qpscope check`: FMT-01, and FMT-02 of padding), which {host} then computes so; else list them (`qpscope packets "
    "-Y 'rdma.icrc.status == bad'`) and find the link that corrupts packets of {host} (towards {peer} first): FCS and symbol errors of NICs and switches "
    "(`ethtool -S`, `mlxlink`), then cable, optics, switch memory.";
constexpr IcrcVerdict kCorrupted{"corrupted", Party::fabric, Severity::warning,
                                 "{>wrong_icrc}: corrupted on the way; receivers drop such packets.",
                                 kFindCorruptingLink};
constexpr IcrcVerdict kDamaged{
    "damaged", Party::capture, Severity::warning,
    "{>wrong_icrc}[all_acknowledged?, and [packets=1?it was|they were]|; {acknowledged} of them [acknowledged=1?was|were]] acknowledged without a NAK or a "
    "retransmission: intact at the receiver, and damaged only in the capture, unless both ends compute such ICRCs alike.",
    "See whether all packets of a kind are wrong (`qpscope check`: FMT-01, and FMT-02 of padding), which {host} then computes so; else look at what lies between the wire and this file: mirror port, tap, capturing host, tools that edit captures. What receivers drop their counters tell "
    "(`ethtool -S`, `rdma statistic`)."};
constexpr IcrcVerdict kCorruptedOrDamaged{
    "corrupted_or_damaged", Party::fabric, Severity::warning,
    "{>wrong_icrc}: {requested_again} of them [requested_again=1?was|were] requested again by a NAK, and so corrupted on the way; {acknowledged} of them "
    "[acknowledged=1?was|were] acknowledged without a NAK or a retransmission, and so intact at the receiver.",
    kFindCorruptingLink};
constexpr IcrcVerdict kCorruptionUndecided{
    "undecided", Party::undecided, Severity::warning,
    "{>wrong_icrc}: whether [packets=1?it was|they were] corrupted on the way, and dropped by the receiver, or by what recorded [packets=1?it|them] is "
    "undecided.",
    kFindKindOrLink};
constexpr IcrcVerdict kAddedLater{
    "added_later", Party::capture, Severity::warning,
    "{>wrong_icrc}, yet they are answered: they were right on the wire, and were captured before the NIC added the ICRC or changed afterwards.",
    "Capture at a mirror port instead of on the sending host, and do not anonymise addresses if ICRCs matter."};
constexpr IcrcVerdict kOneWay{
    "one_way", Party::undecided, Severity::note,
    "{>wrong_icrc}, and nothing that was sent to it was captured: whether it computes them wrongly or the tap saw them before the "
    "NIC added the ICRC is undecided.",
    "Capture both directions, at a mirror port."};
constexpr IcrcVerdict kBothEnds{
    "both_ends", Party::undecided, Severity::warning,
    "{>wrong_icrc}, and so have {wrong_of_peer:packet} to it: whether both ends compute them wrongly, or the tap saw packets before the NIC added the ICRC, or "
    "they were changed afterwards, is undecided.",
    "Capture at a mirror port; without `--icrc check`, packets are analysed as if such ICRCs were right."};
constexpr IcrcVerdict kComputedWrongly{
    "computed_wrongly", Party::requester, Severity::error,
    "{>wrong_icrc}: it computes them wrongly, and nothing is answered.",
    "Check which fields {host} leaves out of the ICRC (pad, VLAN, IPv6 flow label, checksum) and whether a gateway or NAT rewrites addresses on the way."};

const IcrcVerdict& verdict(const Sender& sender) {
    // Some are wrong, and others are not. Where they became wrong shows in what the receivers did with them.
    if (!sender.systematic()) {
        if (sender.again != 0) return sender.taken != 0 ? kCorruptedOrDamaged : kCorrupted;
        return sender.taken != 0 ? kDamaged : kCorruptionUndecided;
    }
    if (sender.answered != 0) return kAddedLater;
    if (sender.deaf) return kOneWay;
    return sender.damaged != 0 ? kBothEnds : kComputedWrongly;
}

FindingDraft draft_of(const Address& address, Sender& sender) {
    const IcrcVerdict& found = verdict(sender);
    FindingDraft draft{.party = found.party == Party::requester && sender.asked != 0 ? Party::responder : found.party,
                       .connection = sender.ways == 1 ? sender.connection : std::nullopt,
                       .count = sender.corrupt,
                       .severity = found.severity,
                       .sentence = found.sentence,
                       .advice = found.advice,
                       .facts = {{kHost, address}, {kIcrcVerdict, found.word}},
                       .events = std::move(sender.events)};
    add_part(draft.facts, sender.corrupt, sender.packets);
    if (sender.ways == 1) draft.marked = MarkedPackets{PacketMark::bad_icrc, sender.end};
    if (&found == &kBothEnds) draft.facts.emplace_back(kWrongOfPeer, sender.damaged);
    if (sender.systematic()) return draft;
    draft.facts.emplace_back(kPeer, sender.peer);
    draft.facts.emplace_back(kConnections, sender.ways == 1 ? std::nullopt : std::optional(sender.ways));
    draft.facts.emplace_back(kRequestedAgain, nonzero(sender.again));
    draft.facts.emplace_back(kAcknowledged, nonzero(sender.taken));
    draft.facts.emplace_back(kAllAcknowledged, sender.taken == sender.corrupt);
    return draft;
}

constexpr std::string_view kIcrcNotJudged =
    "The ICRC is not judged: it is wrong in {packets} of {all_packets:RDMA packet}"
    "[not_judged=none_right?, and right in none: likely they were captured before the NIC added it, or changed afterwards]"
    "[not_judged=cleared?, which have 0 there: they were captured before the NIC filled it in, or a tool cleared it]"
    "[not_judged=by_sender?, in none of a sender's packets right, and nothing shows that receivers dropped them: likely they were captured before the NIC added "
    "it, or changed afterwards][not_judged=as_asked?, as --icrc ignore says]. They are [analysed_as_right?analysed as if it was right|left out of the analysis].";
constexpr std::string_view kIcrcNotJudgedAdvice =
    "[analysed_as_right?Capture at a mirror port and do not anonymise if ICRCs matter; `--icrc check` takes every wrong ICRC for corruption.|Capture at a mirror "
    "port if ICRCs matter; `--icrc ignore` analyses these packets all the same.]";

void emit_not_judged(const CaptureQuality& quality, std::uint64_t packets, std::string_view why, const Emit& emit) {
    emit({.party = Party::capture,
          .count = packets,
          .severity = Severity::note,
          .sentence = kIcrcNotJudged,
          .advice = kIcrcNotJudgedAdvice,
          .facts = {{kPackets, packets},
                    {kAllPackets, quality.rdma_packets},
                    {kNotJudged, why},
                    {kAnalysedAsRight, quality.icrc_not_judged != 0}}});
}

// Packets whose ICRC is wrong were followed all the same: none of their sender is right, or the user wants it so.
void icrc_not_judged(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    if (quality.icrc_not_judged == 0) return;
    std::map<Address, std::uint64_t> right;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b})
            if (connection.way(end).packets != 0) right[connection.end(end).address] += connection.way(end).intact;
    const bool by_rule = std::ranges::any_of(right, [](const auto& sender) { return sender.second == 0; });
    const bool cleared = quality.icrc_zero == quality.icrc_not_judged;
    emit_not_judged(quality, quality.icrc_not_judged, cleared ? "cleared" : by_rule ? "by_sender" : "as_asked", emit);
}

void icrc_wrong(const Timeline& timeline, const Emit& emit) {
    const CaptureQuality& quality = timeline.quality;
    // None is right, so that nothing tells a wrong one from the others.
    if (quality.no_icrc_right() && quality.icrc_policy != IcrcPolicy::ignore)
        return emit_not_judged(quality, quality.icrc_bad, "none_right", emit);
    bool reported = quality.icrc_not_judged != 0;
    icrc_not_judged(timeline, emit);
    for (auto& [address, sender] : senders(timeline)) {
        reported = true;
        emit(draft_of(address, sender));
    }
    if (reported || quality.icrc_bad == 0) return;
    emit({.party = Party::undecided,
          .count = quality.icrc_bad,
          .facts = {{kPackets, quality.icrc_bad}, {kOfOtherTaps, quality.left_out != 0}}});
}

}  // namespace

Family icrc_family() {
    static constexpr std::array kOwn{&kIcrcVerdict, &kRequestedAgain, &kAcknowledged,    &kAllAcknowledged,
                                     &kWrongOfPeer, &kNotJudged,      &kAnalysedAsRight, &kOfOtherTaps};
    static constexpr std::array kRows{
        FindingRow{
            .id = "icrc-wrong",
            .severity = Severity::warning,
            .clause = "IBA A17.3.3",
            .meaning = "Packets have a wrong invariant CRC",
            .predicate = "have packets with a wrong ICRC",
            .sentence =
                "{packets:packet} outside of any connection[of_other_taps?, or recorded by a tap that is not followed,] [packets=1?has|have] a "
                "wrong ICRC.",
            .advice = "List them (`qpscope packets -Y 'rdma.icrc.status == bad'`) and check what they have in common.",
            .alike =
                "A capture on the sending host, where the NIC adds the ICRC behind the tap; a tool that rewrote addresses or cleared the field; a "
                "capturing host that damages frames. None of them hurts the traffic, and receivers that took the packets tell them from "
                "corruption on the way.",
            .limits =
                "Packets that the capture cut short cannot be checked. On which link packets are corrupted one tap does not tell, and a "
                "datagram or an answer that no other packet acknowledges leaves open whether its receiver dropped it.",
            .draw = icrc_wrong},
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
