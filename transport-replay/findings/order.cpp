// Findings about what the network did to the order, the number and the bits of packets.
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;

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
    std::string peer;
    std::vector<dissect::FrameIndex> frames;
    [[nodiscard]] bool systematic() const { return packets >= kFewestSystematic && corrupt >= packets * kSystematicPercent / 100; }
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
            if (back.incidents->unread_answers == 0) sender.taken += way.incidents->corrupt_taken;  // a NAK may have been among them
            sender.deaf &= timeline.quality.only_heard(connection.end(end).address, connection.end(other(end)).address);
            sender.answered += back.packets - std::min(back.packets, back.requests + back.incidents->corrupt);
            sender.damaged += back.incidents->corrupt;
            for (const dissect::FrameIndex frame : way.incidents->frames(Oddity::corrupt)) sender.frames.push_back(frame);
            if (way.incidents->corrupt == 0 || sender.ways++ != 0) continue;
            sender.connection = connection.uid;
            sender.peer = host(connection.end(other(end)));
        }
    return found;
}

std::string kind_advice(const std::string& name) {
    return fmt::format("See whether all packets of a kind are wrong (`qpscope check`: FMT-01, and FMT-02 of padding), which {} then computes so; else ", name);
}

// Some are wrong, and others are not. Where they became wrong shows in what the receivers did with them.
void tell_chance(const Sender& sender, const std::string& name, FindingDraft& draft) {
    const auto were = [](std::uint64_t count) { return count == 1 ? "was" : "were"; };
    const auto they = [](std::uint64_t count) { return count == 1 ? "it" : "they"; };
    const std::string taken = fmt::format("{} acknowledged without a NAK or a retransmission", were(sender.taken));
    if (sender.ways != 1) draft.old_summary += fmt::format(", in {}", counted(sender.ways, "connection"));
    if (sender.again == 0 && sender.taken != 0) {
        draft.party = Party::capture;
        draft.old_summary += sender.taken == sender.corrupt ? fmt::format(", and {} {}", they(sender.taken), taken)
                                                        : fmt::format("; {} of them {}", grouped(sender.taken), taken);
        draft.old_summary += ": intact at the receiver, and damaged only in the capture, unless both ends compute such ICRCs alike.";
        draft.old_advice = kind_advice(name) + "look at what lies between the wire and this file: mirror port, tap, capturing host, tools that edit captures. What receivers drop "
                       "their counters tell (`ethtool -S`, `rdma statistic`).";
        return;
    }
    draft.party = sender.again != 0 ? Party::fabric : Party::undecided;
    if (sender.again == 0)
        draft.old_summary += fmt::format(": whether {} {} corrupted on the way, and dropped by the receiver, or by what recorded {} is undecided.",
                                     they(sender.corrupt), were(sender.corrupt), sender.corrupt == 1 ? "it" : "them");
    else if (sender.taken == 0)
        draft.old_summary += ": corrupted on the way; receivers drop such packets.";
    else
        draft.old_summary += fmt::format(": {} of them {} requested again by a NAK, and so corrupted on the way; {} of them {}, and so intact at the receiver.",
                                     grouped(sender.again), were(sender.again), grouped(sender.taken), taken);
    const std::string kind = sender.again != 0 ? std::string() : kind_advice(name);
    draft.old_advice = fmt::format(
        "{}{} them (`qpscope packets -Y 'rdma.icrc.status == bad'`) and find the link that corrupts packets of {} (towards {} "
        "first): FCS and symbol errors of NICs and switches (`ethtool -S`, `mlxlink`), then cable, optics, switch memory.",
        kind, kind.empty() ? "List" : "list", name, sender.peer);
}

FindingDraft draft_of(const Address& address, const Sender& sender) {
    const std::string name = text(address);
    FindingDraft draft;
    draft.count = sender.corrupt;
    draft.old_packets = sender.frames;
    if (sender.ways == 1) draft.connection = sender.connection;
    draft.old_summary = fmt::format("{} of {} from {} ({}) {} a wrong ICRC", grouped(sender.corrupt), counted(sender.packets, "packet"),
                                name, share(sender.corrupt, sender.packets), sender.corrupt == 1 ? "has" : "have");
    if (!sender.systematic()) {
        tell_chance(sender, name, draft);
    } else if (sender.answered != 0) {
        draft.party = Party::capture;
        draft.severity = Severity::warning;
        draft.old_summary += ", yet they are answered: they were right on the wire, and were captured before the NIC added the ICRC or changed afterwards.";
        draft.old_advice = "Capture at a mirror port instead of on the sending host, and do not anonymise addresses if ICRCs matter.";
    } else if (sender.deaf) {
        draft.party = Party::undecided;
        draft.severity = Severity::note;
        draft.old_summary += ", and nothing that was sent to it was captured: whether it computes them wrongly or the tap saw them before the "
                         "NIC added the ICRC is undecided.";
        draft.old_advice = "Capture both directions, at a mirror port.";
    } else if (sender.damaged != 0) {
        draft.party = Party::undecided;
        draft.severity = Severity::warning;
        draft.old_summary += fmt::format(", and so have {} to it: whether both ends compute them wrongly, or the tap saw packets before "
                                     "the NIC added the ICRC, or they were changed afterwards, is undecided.",
                                     counted(sender.damaged, "packet"));
        draft.old_advice = "Capture at a mirror port; without `--icrc check`, packets are analysed as if such ICRCs were right.";
    } else {
        draft.party = sender.asked != 0 ? Party::responder : Party::requester;
        draft.severity = Severity::error;
        draft.old_summary += ": it computes them wrongly, and nothing is answered.";
        draft.old_advice = fmt::format(
            "Check which fields {} leaves out of the ICRC (pad, VLAN, IPv6 flow label, checksum) and whether a gateway "
            "or NAT rewrites addresses on the way.",
            name);
    }
    return draft;
}

// None is right, so that nothing tells a wrong one from the others.
void no_icrc_right(const CaptureQuality& quality, const Emit& emit) {
    const bool followed = quality.icrc_not_judged != 0;
    emit({.party = Party::capture,
          .count = quality.icrc_bad,
          .old_summary = fmt::format("The ICRC is not judged: it is wrong in {} of {}, and right in none: likely they were captured before the NIC "
                                 "added it, or changed afterwards.{}",
                                 grouped(quality.icrc_bad), counted(quality.rdma_packets, "RDMA packet"),
                                 followed ? " They are analysed as if it was right." : " They are left out of the analysis."),
          .old_advice = followed ? "Capture at a mirror port and do not anonymise if ICRCs matter; `--icrc check` takes every wrong ICRC for corruption."
                             : "Capture at a mirror port if ICRCs matter; `--icrc ignore` analyses these packets all the same.",
          .severity = Severity::note});
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
    emit({.party = Party::capture,
          .count = quality.icrc_not_judged,
          .old_summary = fmt::format(
              "The ICRC is not judged: it is wrong in {} of {}{}. They are analysed as if it was right.", grouped(quality.icrc_not_judged),
              counted(quality.rdma_packets, "RDMA packet"),
              quality.icrc_zero == quality.icrc_not_judged ? ", which have 0 there: they were captured before the NIC filled it in, or a "
                                                             "tool cleared it"
              : by_rule ? ", in none of a sender's packets right, and nothing shows that receivers dropped them: likely they were "
                          "captured before the NIC added it, or changed afterwards"
                        : ", as --icrc ignore says"),
          .old_advice = "Capture at a mirror port and do not anonymise if ICRCs matter; `--icrc check` takes every wrong ICRC for corruption.",
          .severity = Severity::note});
}

void icrc_wrong(const Timeline& timeline, const Emit& emit) {
    if (timeline.quality.no_icrc_right() && timeline.quality.icrc_policy != IcrcPolicy::ignore) return no_icrc_right(timeline.quality, emit);
    bool reported = timeline.quality.icrc_not_judged != 0;
    icrc_not_judged(timeline, emit);
    for (const auto& [address, sender] : senders(timeline)) {
        reported = true;
        emit(draft_of(address, sender));
    }
    if (reported || timeline.quality.icrc_bad == 0) return;
    emit({.party = Party::undecided,
          .count = timeline.quality.icrc_bad,
          .old_summary = fmt::format("{} {} {} a wrong ICRC.", counted(timeline.quality.icrc_bad, "packet"),
                                 timeline.quality.left_out != 0 ? "outside of any connection, or recorded by a tap that is not followed," : "outside of any connection",
                                 timeline.quality.icrc_bad == 1 ? "has" : "have"),
          .old_advice = "List them (`qpscope packets -Y 'rdma.icrc.status == bad'`) and check what they have in common."});
}

void out_of_order(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            const Way& back = connection.way(other(end));
            if (back.incidents->unread_answers + way.incidents->unread_answers != 0) continue;  // a NAK may have asked for them
            const Ordering& order = *way.incidents->ordering;
            const bool reported = order.naks_of(NakCause::late) + order.naks_of(NakCause::discarded_late) != 0;  // as reordered-not-lost
            const Incidents& had = *way.incidents;
            const std::uint64_t late = (reported ? 0 : std::max(had.gaps.reordered, order.overtaken)) + had.response_gaps.reordered;
            if (late == 0) continue;
            // Without a complaint the receiver bears it (adaptive routing with out-of-order placement), or only the tap
            // saw them so.
            const std::uint64_t complaints =
                way.incidents->response_gaps.reordered == 0 ? 0 : back.incidents->recovery(RecoveryKind::read_retry).triggers;
            const bool expected = accepts_any_order(timeline, connection.end(other(end)).address);
            if (expected && complaints == 0) continue;  // as the user says
            emit({.party = complaints != 0 ? Party::fabric : Party::undecided,
                  .connection = connection.uid,
                  .old_packets = way.incidents->frames(Oddity::late),
                  .count = late,
                  .old_summary =
                      fmt::format("{} of {} from {} to {} arrived after packets sent later ({}), as seen at the tap; {} requested "
                                  "retransmission {}.",
                                  grouped(late), counted(way.packets, "packet"), host(connection.end(end)), who(connection.end(other(end))),
                                  share(late, way.packets), host(connection.end(other(end))), times(complaints)),
                  .old_advice = expected ? any_order_advice(host(connection.end(other(end))))
                            : complaints != 0
                                ? "Disable adaptive routing, packet spraying or round-robin bonding for this traffic, or enable "
                                  "out-of-order support on both NICs (`mlxreg --reg_name ROCE_ACCL`): each late packet costs a retransmission."
                                : "Do nothing if adaptive routing is enabled on purpose; otherwise check that the mirror port keeps the "
                                  "order, then check LAG hashing.",
                  .severity = complaints != 0 ? Severity::warning : Severity::note});
        }
}

// Whether the network made the copies: the sender counts its packets, so that it did not; and some came twice here and there among
// many that came once, so that no second tap recorded a part of the capture.
bool is_by_network(const Way& way) {
    constexpr std::uint64_t kMostPart = 4, kAlonePart = 2;
    const Doubled& doubled = way.incidents->doubled;
    return doubled.identified != 0 && doubled.identified * kMostPart <= way.requests && doubled.alone * kAlonePart >= doubled.identified;
}

// Of copies among all that arrived: how many packets they are copies of is not known, as each may have come more than twice.
std::string_view repeat_text(std::uint64_t copies) { return copies == 1 ? "repeats an earlier one" : "repeat earlier ones"; }

FindingDraft undecided_copies(const Connection& connection, End end) {
    const Way& way = connection.way(end);
    const std::string sender = host(connection.end(end));
    const bool sent_once = way.incidents->doubled.identified == way.incidents->duplicated;
    const std::uint64_t copies = way.incidents->duplicated;
    const std::string_view them = copies == 1 ? "it" : "them";
    return {.party = Party::undecided,
            .connection = connection.uid,
            .old_packets = way.incidents->frames(Oddity::duplicated),
            .count = copies,
            .old_summary = fmt::format(
                "{} of {} from {} to {} ({}) {}: whether {} is undecided.", grouped(copies), counted(way.requests, "request packet"),
                sender, who(connection.end(other(end))), share(copies, way.requests), repeat_text(copies),
                sent_once ? fmt::format("the network doubled {0} or a second tap recorded {0}", them)
                          : fmt::format("the network or the capture doubled {1} or {0} retransmitted {1}", sender, them)),
            .old_advice = fmt::format(
                "Compare with duplicate_request of {} (`rdma statistic`): it counts what arrived there twice, not what was recorded "
                "twice.",
                host(connection.end(other(end)))),
            .severity = Severity::note};
}

void duplicated(const Timeline& timeline, const Emit& emit) {
    if (timeline.quality.same_tap_systematic) return;  // a mirror doubles, and hides what the network doubles
    for (const Connection& connection : timeline.connections) {
        if (connection.service == dissect::Service::uet) continue;  // who doubled its packets nothing tells
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            if (way.incidents->duplicated == 0) continue;
            if (!is_by_network(way)) {
                emit(undecided_copies(connection, end));
                continue;
            }
            const std::uint64_t copies = way.incidents->doubled.identified;
            emit(
                {.party = Party::fabric,
                 .connection = connection.uid,
                 .old_packets = way.incidents->frames(Oddity::duplicated),
                 .count = copies,
                 .old_summary = fmt::format(
                     "{} of {} from {} to {} ({}) {} with identical bytes: not {} but a device on the path duplicated {}.", grouped(copies),
                     counted(way.requests, "request packet"), host(connection.end(end)), who(connection.end(other(end))),
                     share(copies, way.requests), repeat_text(copies), host(connection.end(end)), copies == 1 ? "it" : "them"),
                 .old_advice =
                     "List them (`qpscope packets -Y rdma.duplicated`) and look for a layer-2 loop, flooding of an unknown MAC or a mirror "
                     "session that copies only some of the packets; receivers drop duplicates, so only bandwidth is lost."});
        }
    }
}

}  // namespace

Family order_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "out-of-order-delivery",
                   .severity = Severity::warning,
                   .clause = "IBA 9.7.3",
                   .meaning = "Packets arrived out of order",
                   .by_order = true,
                   .draw = out_of_order},
        FindingRow{.id = "duplicated-by-network",
                   .severity = Severity::warning,
                   .clause = "IBA C9-105",
                   .meaning = "The network duplicated packets",
                   .by_order = true,
                   .draw = duplicated},
        FindingRow{.id = "icrc-wrong",
                   .severity = Severity::warning,
                   .clause = "IBA A17.3.3",
                   .meaning = "Packets have a wrong invariant CRC",
                   .draw = icrc_wrong},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
