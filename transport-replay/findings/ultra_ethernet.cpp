// Findings about Ultra Ethernet: what was sent again, refused, trimmed; paths that differ from the others. Reordering
// is none: packets are sprayed over paths.
#include <dissect/ultra_ethernet/names.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kAfterTrimming{"after_trimming", Unit::count, "of them, packets that a NACK had reported as trimmed"};
constexpr FactRow kAfterOtherNack{"after_other_nack", Unit::count, "of them, packets that another NACK had refused"};
constexpr FactRow kAlreadyAcknowledged{"already_acknowledged", Unit::count,
                                       "of them, packets that an ACK had acknowledged before"};
constexpr FactRow kFirstUnseen{"first_unseen", Unit::count,
                               "of them, packets whose first transmission is not in the capture"};
constexpr FactRow kNackName{"nack_name", Unit::word, "the name of the NACK code; the code where it has none"};
constexpr FactRow kNackCode{"nack_code", Unit::number, "code of the NACK (UET 1.0 PDS)"};
constexpr FactRow kNothingAfterNack{
    "nothing_after_nack", Unit::flag,
    "the receiver acknowledged nothing after the first of these NACKs, which end a context by their name"};
constexpr FactRow kTrimmedPackets{"trimmed", Unit::count, "packets that passed the tap trimmed"};
constexpr FactRow kReportedTrimmed{"reported_trimmed", Unit::count, "packets that the receiver reported as trimmed"};
constexpr FactRow kTrimmedAtLastHop{"trimmed_at_last_hop", Unit::count,
                                    "of these, packets that were trimmed at the last hop"};
constexpr FactRow kAllAtLastHop{"all_at_last_hop", Unit::flag, "all of these were trimmed at the last hop"};
constexpr FactRow kEntropy{"entropy", Unit::number, "entropy value of the path, which is the UDP source port"};
constexpr FactRow kPathRetransmitted{"path_retransmitted", Unit::count,
                                     "of the retransmitted packets, those that were first sent with that entropy"};
constexpr FactRow kPathShare{"path_share", Unit::share, "part of all packets that has that entropy"};
constexpr FactRow kSoonestAck{"soonest_ack", Unit::duration,
                              "the shortest time from a packet with that entropy to its ACK"};
constexpr FactRow kOtherPathsAck{"other_paths_ack", Unit::duration,
                                 "the mean time from packets of other entropies to their ACKs"};
constexpr FactRow kRequestsRefused{"requests_refused", Unit::count,
                                   "requests that were answered with that return code"};
constexpr FactRow kReturnCodeName{"return_code_name", Unit::word,
                                  "the name of the return code; the code where it has none"};
constexpr FactRow kReturnCode{"return_code", Unit::number, "the return code (UET 1.0 SES)"};
constexpr std::array kUetFacts{
    &kAfterTrimming, &kAfterOtherNack,   &kAlreadyAcknowledged, &kFirstUnseen,     &kNackName,
    &kNackCode,      &kNothingAfterNack, &kTrimmedPackets,      &kReportedTrimmed, &kTrimmedAtLastHop,
    &kAllAtLastHop,  &kEntropy,          &kPathRetransmitted,   &kPathShare,       &kSoonestAck,
    &kOtherPathsAck, &kRequestsRefused,  &kReturnCodeName,      &kReturnCode,
};

struct Context {
    const UetConversation& uet;
    const Connection& connection;
    [[nodiscard]] Fact from(End end) const { return {kSender, connection.end(end)}; }
    [[nodiscard]] Fact to(End end) const { return {kReceiver, connection.end(other(end))}; }
};

template <class See> void each_sender(const Timeline& timeline, See see) {
    for (const UetConversation& uet : timeline.uet.conversations)
        if (const Connection* connection = timeline.find(uet.connection); connection != nullptr)
            for (const End end : {End::a, End::b}) see(Context{uet, *connection}, end, uet.way(end));
}

std::string code_text(std::span<const dissect::ValueName> names, std::uint8_t code) {
    const std::string_view name = dissect::name_in(names, code);
    return name.empty() ? fmt::format("{:#04x}", code) : std::string(name);
}

void add_frames(FindingDraft& draft, const std::vector<dissect::FrameIndex>& frames, EventRole role) {
    for (const dissect::FrameIndex frame : frames) draft.events.push_back({frame, role});
}

std::uint64_t trimming_reported(const UetWay& way) {
    std::uint64_t sum = 0;
    for (const UetCode& nack : way.nacks)
        if (reports_trimming(nack.code)) sum += nack.count;
    return sum;
}

// By their names the receiver lacks something, rejects the context, or names a packet that did not come.
enum class NackKind : std::uint8_t { resources, fatal, loss, other };
NackKind kind_of(std::uint8_t code) {
    constexpr std::uint8_t kFirstResource = 0x04, kLastResource = 0x0a, kOutOfOrder = 0x0d, kNotReceived = 0x12,
                           kInferredLoss = 0x1a;
    constexpr std::array<std::uint8_t, 8> kFatal{0x0e, 0x0f, 0x11, 0x13, 0x15, 0x16, 0x19, 0xff};
    if (code >= kFirstResource && code <= kLastResource) return NackKind::resources;
    if (std::ranges::find(kFatal, code) != kFatal.end()) return NackKind::fatal;
    return code == kOutOfOrder || code == kNotReceived || code == kInferredLoss ? NackKind::loss : NackKind::other;
}

constexpr std::string_view kCheckRoom = "Check what {receiver:host} can hold: buffers, contexts, messages.";

// The sender sets a flag, so that a copy is never taken for one. Why it sent again only NACKs prove.
void uet_retransmitted(const Timeline& timeline, const Emit& emit) {
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        const Way& sender = place.connection.way(end);
        if (sender.incidents->retransmitted == 0) return;
        const bool answers_seen = place.connection.way(other(end)).packets != 0;
        const bool all_trimmed = way.after_trimming == sender.incidents->retransmitted;
        const bool all_needless = way.needless == sender.incidents->retransmitted;
        // The receiver had them, and said so; NACKs of a loss say that it had not.
        const bool all_refused = way.after_nack == sender.incidents->retransmitted && way.after_trimming == 0 &&
                                 std::ranges::all_of(way.nacks, [](const UetCode& nack) {
                                     return kind_of(nack.code) == NackKind::resources;
                                 });
        const std::uint64_t sent =
            sender.requests - std::min(sender.requests, sender.incidents->duplicated);  // what two taps recorded is one
        FindingDraft draft{
            .party = !answers_seen  ? Party::undecided
                     : all_trimmed  ? Party::congestion
                     : all_needless ? Party::requester
                     : all_refused  ? Party::responder
                                    : Party::fabric,
            .connection = place.connection.uid,
            .count = sender.incidents->retransmitted,
            .advice = !answers_seen
                          ? "Capture both directions: without the answers of {receiver:host} nobody can say why."
                      : all_trimmed ? "Look for the congested switch port that trims packets which it cannot queue."
                      : all_needless
                          ? "Check the retransmission timeout of {sender:host}: nothing that it sent again was missing."
                      : all_refused ? kCheckRoom
                                    : std::string_view{},
            .facts = {place.from(end),
                      place.to(end),
                      {kRetransmitted, sender.incidents->retransmitted},
                      {kAllPackets, sent},
                      {kAfterTrimming, nonzero(way.after_trimming)},
                      {kAfterOtherNack, nonzero(way.after_nack - way.after_trimming)},
                      {kAlreadyAcknowledged, nonzero(way.needless)},
                      {kFirstUnseen, nonzero(way.unseen)}}};
        add_frames(draft, way.resent_frames, EventRole::retransmission);
        emit(std::move(draft));
    });
}

void uet_nack(const Timeline& timeline, const Emit& emit) {
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        for (const UetCode& nack : way.nacks) {
            if (reports_trimming(nack.code)) continue;
            const NackKind kind = kind_of(nack.code);
            // Whether the context went on all the same; of one that was being closed the receiver may know nothing any
            // more.
            const bool over =
                kind == NackKind::fatal && !place.connection.released && way.acknowledged < nack.frames.front();
            FindingDraft draft{.party = kind == NackKind::resources ? Party::responder
                                        : kind == NackKind::loss    ? Party::fabric
                                                                    : Party::undecided,
                               .connection = place.connection.uid,
                               .count = nack.count,
                               .severity = over ? std::optional(Severity::error) : std::nullopt,
                               .advice = kind == NackKind::resources ? kCheckRoom
                                         : kind == NackKind::loss
                                             ? "Look for drops between {sender:host} and {receiver:host}."
                                             : std::string_view{},
                               .facts = {place.from(end),
                                         place.to(end),
                                         {kPackets, nack.count},
                                         {kNackName, code_text(dissect::kUetNackCodes, nack.code)},
                                         {kNackCode, nack.code},
                                         {kNothingAfterNack, over}}};
            add_frames(draft, nack.frames, EventRole::nak);
            emit(std::move(draft));
        }
    });
}

// A packet is trimmed where UDP says more than IP has; a NACK reports one that the capture need not have.
void uet_trimmed(const Timeline& timeline, const Emit& emit) {
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        const std::uint64_t reported = trimming_reported(way);
        if (way.trimmed == 0 && reported == 0) return;
        constexpr std::uint8_t kLastHop = 2;
        FindingDraft draft{
            .party = Party::congestion, .connection = place.connection.uid, .count = std::max(way.trimmed, reported)};
        add_frames(draft, way.trimmed_frames, EventRole::original);
        std::uint64_t last_hop = 0;
        for (const UetCode& nack : way.nacks) {
            if (!reports_trimming(nack.code)) continue;
            add_frames(draft, nack.frames, EventRole::nak);
            if (nack.code == kLastHop) last_hop = nack.count;
        }
        draft.facts = {place.from(end),
                       place.to(end),
                       {kTrimmedPackets, nonzero(way.trimmed)},
                       {kReportedTrimmed, nonzero(reported)},
                       {kTrimmedAtLastHop, nonzero(last_hop)},
                       {kAllAtLastHop, last_hop == reported && last_hop != 0}};
        emit(std::move(draft));
    });
}

// One entropy value with far more than its share of what was sent again.
void uet_path_loss(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint64_t kFewest = 8;     // packets sent again on it
    constexpr std::uint64_t kTimesMore = 4;  // than on the others, of as many packets
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        std::uint64_t packets = 0, resent = 0;
        for (const UetPath& path : way.paths) {
            packets += path.packets;
            resent += path.resent;
        }
        for (const UetPath& path : way.paths) {
            const std::uint64_t other_packets = packets - path.packets, other_resent = resent - path.resent;
            if (path.resent < kFewest || other_packets == 0) continue;
            if (path.resent * other_packets <= kTimesMore * std::max<std::uint64_t>(other_resent, 1) * path.packets)
                continue;
            FindingDraft draft{
                .party = Party::fabric,
                .connection = place.connection.uid,
                .count = path.resent,
                .facts = {place.from(end),
                          place.to(end),
                          {kPathRetransmitted, path.resent},
                          {kRetransmitted, resent},
                          {kEntropy, path.entropy},
                          {kPathShare, static_cast<double>(path.packets) / static_cast<double>(packets)}}};
            add_frames(draft, way.resent_frames, EventRole::retransmission);
            emit(std::move(draft));
        }
    });
}

// Even the quickest packet of one path takes longer than the others do on average.
void uet_path_slow(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint64_t kFewest = 16;  // measured delays
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        DurationSummary all;
        for (const UetPath& path : way.paths) all.add(path.delay);
        for (const UetPath& path : way.paths) {
            const std::uint64_t others = all.count - path.delay.count;
            if (path.delay.count < kFewest || others < kFewest) continue;
            const auto mean =
                dissect::Duration{std::to_underlying(all.sum - path.delay.sum) / static_cast<std::int64_t>(others)};
            if (path.delay.least <= mean || path.delay.least - mean < mean) continue;  // not twice as long
            emit({.party = Party::fabric,
                  .connection = place.connection.uid,
                  .count = path.delay.count,
                  .facts = {place.from(end),
                            place.to(end),
                            {kEntropy, path.entropy},
                            {kSoonestAck, path.delay.least},
                            {kOtherPathsAck, mean}}});
        }
    });
}

// By their names the request addressed what is not there, or not permitted.
void uet_refused(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint8_t kFirstTranslation = 0x08, kLastTranslation = 0x0c, kFirstViolation = 0x17,
                           kLastViolation = 0x1d;
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        for (const UetCode& refusal : way.refusals) {
            const bool access = (refusal.code >= kFirstTranslation && refusal.code <= kLastTranslation) ||
                                (refusal.code >= kFirstViolation && refusal.code <= kLastViolation);
            FindingDraft draft{.party = access ? Party::requester : Party::undecided,
                               .connection = place.connection.uid,
                               .count = refusal.count,
                               .severity = access ? std::nullopt : std::optional(Severity::warning),
                               .facts = {place.from(end),
                                         place.to(end),
                                         {kRequestsRefused, refusal.count},
                                         {kReturnCodeName, code_text(dissect::kSesReturnCodes, refusal.code)},
                                         {kReturnCode, refusal.code}}};
            add_frames(draft, refusal.frames, EventRole::evidence);
            emit(std::move(draft));
        }
    });
}

}  // namespace

Family ultra_ethernet_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "uet-refused",
            .severity = Severity::error,
            .clause = "UET 1.0 SES",
            .meaning = "A target answered requests of Ultra Ethernet with an error",
            .sentence =
                "{receiver:host} answered {requests_refused:request} of {sender:host} with return code {return_code_name}.",
            .advice =
                "Check what the requests of {sender:host} name: job, process, resource index, memory key and length.",
            .alike =
                "A target that takes its memory back, or ends a job, while requests are under way refuses them alike.",
            .limits =
                "The code tells what the target rejected, not which field of the request was wrong or whether the target had set "
                "it up.",
            .draw = uet_refused},
        FindingRow{
            .id = "uet-retransmitted",
            .severity = Severity::warning,
            .clause = "UET 1.0 PDS",
            .meaning = "Packets of Ultra Ethernet were retransmitted",
            .by_order = true,
            .sentence =
                "{sender:host} retransmitted {retransmitted:plain} of {all_packets:packet} to {receiver:host}[after_trimming?: "
                "{after_trimming:plain} after a NACK for trimming][after_other_nack?[after_trimming?,|:] "
                "{after_other_nack:plain} after another NACK][already_acknowledged?[after_trimming?,|[after_other_nack?,|:]] "
                "{already_acknowledged:plain} already "
                "acknowledged][first_unseen?[after_trimming?,|[after_other_nack?,|[already_acknowledged?,|:]]] "
                "{first_unseen:plain} whose first transmission is not in the capture].",
            .advice =
                "Compare the paths of the connection (qpscope analyze), and look for drops between {sender:host} and "
                "{receiver:host}.",
            .alike =
                "A packet on a slow path, which its sender takes for lost: packets are sprayed over paths, and their order "
                "proves nothing.",
            .limits =
                "That a packet was retransmitted its own flag tells; why, only NACKs and ACKs that passed the tap. A loss "
                "without a NACK has no place.",
            .draw = uet_retransmitted},
        FindingRow{
            .id = "uet-nack",
            .severity = Severity::warning,
            .clause = "UET 1.0 PDS",
            .meaning = "A receiver answered packets of Ultra Ethernet with a NACK",
            .sentence =
                "{receiver:host} answered {packets:packet} of {sender:host} with NACK {nack_name}[nothing_after_nack?, and "
                "acknowledged nothing after it].",
            .advice = "Check the packets of {sender:host} right before, and the log of {receiver:host}.",
            .alike = "A context that is being closed, or opened again, is answered with the same codes.",
            .limits =
                "What the codes mean is taken from their names: a NACK does not tell since when its receiver lacks or rejects "
                "something.",
            .draw = uet_nack},
        FindingRow{
            .id = "uet-trimmed",
            .severity = Severity::warning,
            .clause = "UET 1.0 PDS",
            .meaning = "Switches trimmed packets of Ultra Ethernet",
            .sentence =
                "[trimmed?Switches trimmed {trimmed:packet} from {sender:host} to {receiver:host}[reported_trimmed?; "
                "]][reported_trimmed?{receiver:host} reported {reported_trimmed:packet} of {sender:host} as trimmed[ "
                "({trimmed_at_last_hop:plain} at the last hop)]].",
            .advice =
                "Look for the congested port on the way to {receiver:host}[all_at_last_hop?: its last hop, so too many senders "
                "at once].",
            .alike = "A packet whose UDP length is wrong looks trimmed, whatever changed it.",
            .limits =
                "Which switch trimmed a packet is not in it; NACKs tell the last hop from the others, and no more.",
            .draw = uet_trimmed},
        FindingRow{
            .id = "uet-path-loss",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "One path of Ultra Ethernet loses far more packets than the others",
            .by_order = true,
            .sentence =
                "{path_retransmitted:plain} of {retransmitted:packet} that {sender:host} retransmitted to {receiver:host} were "
                "first sent with entropy {entropy:hex4}, which {path_share} of all packets have.",
            .advice =
                "Find the links that a packet with UDP source port {entropy} takes, and check their error counters.",
            .alike =
                "Losses that fell on one path by chance: so there must be 8 of them, and more than four times as many as on as "
                "many packets of other paths.",
            .limits =
                "An entropy value stands for a path only as far as switches choose by it, and which links that has the capture "
                "does not show.",
            .draw = uet_path_loss},
        FindingRow{
            .id = "uet-path-slow",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "One path of Ultra Ethernet is far slower than the others",
            .sentence =
                "{receiver:host} acknowledged packets of {sender:host} with entropy {entropy:hex4} after {soonest_ack} at the "
                "soonest, those of other paths after {other_paths_ack} on average.",
            .advice =
                "Find the links that a packet with UDP source port {entropy} takes, and look for a queue or a detour.",
            .alike = "A path that has more hops by design.",
            .limits =
                "The time is that of the packet and of its ACK together, which may have been slow on its own way back.",
            .draw = uet_path_slow},
    };
    return {kRows, kUetFacts};
}

}  // namespace qps::transport::families
