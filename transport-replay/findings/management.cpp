// Findings about connections set up and taken down, and about joins of multicast groups.
#include <dissect/packet/render_value.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kServicePort{"service_port", Unit::number, "port that the service ID stands for"};
constexpr FactRow kServiceId{"service_id", Unit::number, "service ID that was asked for, where it stands for no port"};
constexpr FactRow kMoreAttempts{"more_attempts", Unit::count, "further attempts of the same kind"};
constexpr FactRow kRejectReason{"reject_reason", Unit::number, "reason of the REJ (IBA 12.6.7.2)"};
constexpr FactRow kReasonMeaning{"reject_meaning", Unit::word, "what that reason means"};
constexpr FactRow kPrivateData{"private_data", Unit::word, "first bytes of the private data of the REJ, in hex"};
constexpr FactRow kNvmeStatus{"nvme_status", Unit::word, "what NVMe over RDMA says in it"};
constexpr FactRow kToAct{"to_act", Unit::host, "the host on which the advice is to be followed"};
constexpr FactRow kResponseTimeout{"response_timeout", Unit::duration,
                                   "how long the request says that it waits for its answer"};
constexpr FactRow kSendsOthers{"sends_others", Unit::flag, "who did not answer sends the other side other packets"};
constexpr FactRow kCmMessage{"cm_message", Unit::word, "the first such message, and who sent it"};
constexpr FactRow kCmState{"cm_state", Unit::word, "state of the attempt in which it came"};
constexpr FactRow kCmRetries{"cm_retries", Unit::count, "CM messages that were sent again"};
constexpr FactRow kCmAttempts{"attempts", Unit::count, "attempts in which they were sent again"};
constexpr FactRow kReleaseAlone{"release_alone", Unit::flag, "all of them were of disconnects: DREQ and DREP"};
constexpr FactRow kSlowestSetup{"slowest_setup", Unit::duration,
                                "time from the request to the last message of the slowest set-up"};
constexpr FactRow kSidrStatus{"sidr_status", Unit::number, "status of the SIDR REP"};
constexpr FactRow kSidrMeaning{"sidr_meaning", Unit::word, "what that status means"};
constexpr FactRow kRefusedJoins{"refused_joins", Unit::count, "joins that were refused"};
constexpr FactRow kMulticastGroup{"multicast_group", Unit::host, "multicast group of the first"};

constexpr dissect::Duration kSlowSetup{
    1'000'000'000};  // a retry costs seconds (rdma_cm: 4.3), a healthy setup milliseconds
constexpr std::size_t kPrivateBytesShown = 16;
constexpr std::uint16_t kNvmePort = 4420;  // NVMe over Fabrics (IANA)

// Advice by reason of a REJ (12.6.7.2), for the reasons that users meet.
enum class Addressee : std::uint8_t { rejecting, rejected };  // which side the advice is for
struct ReasonAdvice {
    std::uint16_t reason;
    std::string_view advice;
    Addressee to = Addressee::rejecting;
};
constexpr std::uint16_t kTimeout = 4, kConsumerReject = 28;
constexpr std::array kReasonAdvice{
    ReasonAdvice{
        1, "On {to_act}: Raise the limit of queue pairs, or find the process that leaks them (`rdma resource show`)."},
    ReasonAdvice{
        3,
        "On {to_act}: Look for exhausted queue pairs or memory (`ulimit -l`), or a full backlog of rdma_listen (`rdma resource show`)."},
    ReasonAdvice{kTimeout,
                 "On {to_act}: Find out why it did not answer in time: a slow application, or lost CM messages.",
                 Addressee::rejected},
    ReasonAdvice{6, "On {to_act}: Restart both ends: one of them refers to a connection that the other no longer has."},
    ReasonAdvice{
        8,
        "On {to_act}: Start the service, or correct address and port: `rdma resource show cm_id` lists the listeners."},
    ReasonAdvice{
        9,
        "On {to_act}: Request the transport that the service listens with: RC, UC and datagrams are different services.",
        Addressee::rejected},
    ReasonAdvice{
        10,
        "On {to_act}: Connect with a new queue pair, or wait for TIMEWAIT to end: the other end still has a connection with this one.",
        Addressee::rejected},
    ReasonAdvice{
        12, "On {to_act}: Check that the GID belongs to the port that answered (GID index, ARP or neighbour cache).",
        Addressee::rejected},
    ReasonAdvice{
        13, "On {to_act}: Check that the LID belongs to the port that answered (subnet manager, path record cache).",
        Addressee::rejected},
    ReasonAdvice{26, "On {to_act}: Request a path MTU that the other port supports (`ibv_devinfo`).",
                 Addressee::rejected},
    ReasonAdvice{
        27,
        "On {to_act}: Request fewer READs and ATOMICs at a time (initiator_depth), or raise responder_resources at the other end.",
        Addressee::rejected},
    ReasonAdvice{
        kConsumerReject,
        "On {to_act}: Check the log of the application: it rejected the connection; its private data may say why."},
    ReasonAdvice{29, "On {to_act}: Raise rnr_retry_count to what the other end requires.", Addressee::rejected},
};
constexpr std::string_view kOtherReason =
    "On {to_act}: Check the kernel log and the log of the application for the reason.";
ReasonAdvice advice_of(std::uint16_t reason) {
    const auto row = std::ranges::find(kReasonAdvice, reason, &ReasonAdvice::reason);
    return row == kReasonAdvice.end() ? ReasonAdvice{reason, kOtherReason} : *row;
}

// Whose turn it is: the consumer's where it said no, of a timeout nobody's for sure, else the side that the advice is
// for.
Party party_of(const CmRejection& rejection, Addressee to) {
    if (rejection.reason == kConsumerReject) return Party::application;
    if (rejection.reason == kTimeout) return Party::undecided;
    return rejection.by_active == (to == Addressee::rejecting) ? Party::requester : Party::responder;
}

// Status of a REJ of NVMe over RDMA: bytes 2 and 3 of its private data (NVMe RDMA transport specification, 1.0).
constexpr std::array<std::string_view, 9> kNvmeMeanings{"no error",
                                                        "invalid private data length",
                                                        "invalid record format",
                                                        "invalid queue id",
                                                        "invalid host send queue size",
                                                        "invalid host receive queue size",
                                                        "no resources",
                                                        "invalid IRD",
                                                        "invalid ORD"};

// What was asked for: a port, as far as the service ID stands for one.
void add_service(Facts& facts, const CmAttempt& attempt) {
    if (attempt.ip) facts.emplace_back(kServicePort, attempt.ip->port);
    else facts.emplace_back(kServiceId, attempt.service_id);
}

void add_private_data(Facts& facts, const CmAttempt& attempt) {
    const dissect::Bytes bytes = attempt.rejection->private_data.bytes();
    if (bytes.empty()) return;
    std::string hex;
    dissect::append_hex(hex, bytes.first(std::min(bytes.size(), kPrivateBytesShown)));
    facts.emplace_back(kPrivateData, std::move(hex));
    const bool nvme =
        attempt.rejection->reason == kConsumerReject && attempt.ip && attempt.ip->port == kNvmePort && bytes.size() > 2;
    if (!nvme) return;
    const auto status = std::to_integer<std::size_t>(bytes[2]);
    facts.emplace_back(kNvmeStatus, status < kNvmeMeanings.size() ? kNvmeMeanings[status] : "unknown status");
}

std::uint32_t repeats_of(const CmAttempt& attempt) {
    std::uint32_t all = 0;
    for (const std::uint16_t repeats : attempt.repeats) all += repeats;
    return all;
}
// Without those of a DREQ that nobody answered, which is another finding and says nothing of the set-up.
std::uint32_t answered_repeats_of(const CmAttempt& attempt) {
    return repeats_of(attempt) -
           (attempt.outcome == CmOutcome::disconnect_unanswered ? attempt.repeats_of(CmMessage::dreq) : 0U);
}
std::uint32_t set_up_repeats_of(const CmAttempt& attempt) {
    return repeats_of(attempt) - attempt.repeats_of(CmMessage::dreq) - attempt.repeats_of(CmMessage::drep);
}

FindingEvent event_of(const CmRung& rung) {
    const bool ends = rung.message == CmMessage::rej;
    return {rung.frame,
            ends             ? EventRole::end
            : rung.duplicate ? EventRole::retransmission
                             : EventRole::evidence,
            rung.time};
}

// Attempts of the same kind between the same hosts are one finding: programs try again and again.
using AttemptKey = std::tuple<Address, Address, std::uint64_t, std::uint32_t>;
struct AttemptGroup {
    const CmAttempt* first = nullptr;
    std::uint64_t count = 0;
    std::uint64_t repeats = 0;
    std::uint64_t answered_repeats = 0;
    std::uint64_t release_repeats = 0;  // of them: of DREQ and DREP, which say nothing of the set-up
    std::optional<dissect::Duration> slowest;
    std::vector<FindingEvent> events;
    [[nodiscard]] const Address& active() const { return first->active.address; }
    [[nodiscard]] const Address& passive() const { return first->passive.address; }
    [[nodiscard]] Facts facts() const {
        Facts all{{kActiveSide, Endpoint{active(), {}}},
                  {kPassiveSide, Endpoint{passive(), {}}},
                  {kMoreAttempts, nonzero(count - 1)}};
        add_service(all, *first);
        return all;
    }
    [[nodiscard]] FindingDraft draft(Party party) const {
        return {.party = party, .count = count, .facts = facts(), .events = events};
    }
};

template <class Keep, class Detail>
std::map<AttemptKey, AttemptGroup> groups(const Timeline& timeline, Keep keep, Detail detail) {
    std::map<AttemptKey, AttemptGroup> found;
    for (const CmAttempt& attempt : timeline.cm.attempts) {
        if (!keep(attempt)) continue;
        AttemptGroup& group =
            found[{attempt.active.address, attempt.passive.address, attempt.service_id.value_or(0), detail(attempt)}];
        if (group.count++ == 0) group.first = &attempt;
        group.repeats += repeats_of(attempt);
        group.answered_repeats += answered_repeats_of(attempt);
        group.release_repeats += answered_repeats_of(attempt) - set_up_repeats_of(attempt);
        const bool done = was_set_up(attempt.outcome) || attempt.outcome == CmOutcome::resolved;
        if (const auto took = attempt.setup_time(); took && done && (!group.slowest || *took > *group.slowest))
            group.slowest = took;
        for (const CmRung& rung : attempt.ladder) group.events.push_back(event_of(rung));
    }
    return found;
}

std::map<AttemptKey, AttemptGroup> groups(const Timeline& timeline, CmOutcome outcome) {
    return groups(
        timeline, [&](const CmAttempt& attempt) { return attempt.outcome == outcome; },
        [](const CmAttempt&) { return 0U; });
}

void cm_rejected(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const CmAttempt& attempt) {
        return attempt.outcome == CmOutcome::rejected && attempt.rejection.has_value();
    };
    const auto detail = [](const CmAttempt& attempt) {
        return attempt.rejection->reason * 2U + (attempt.rejection->by_active ? 1U : 0U);
    };
    for (const auto& [key, group] : groups(timeline, mine, detail)) {
        const CmRejection& rejection = *group.first->rejection;
        const std::string_view reason = reject_reason(rejection.reason);
        const ReasonAdvice advice = advice_of(rejection.reason);
        const bool active_acts = rejection.by_active == (advice.to == Addressee::rejecting);
        FindingDraft draft = group.draft(party_of(rejection, advice.to));
        draft.advice = advice.advice;
        draft.facts.emplace_back(kByActive, rejection.by_active);
        draft.facts.emplace_back(kRejectReason, rejection.reason);
        if (!reason.empty()) draft.facts.emplace_back(kReasonMeaning, reason);
        draft.facts.emplace_back(kToAct, active_acts ? group.active() : group.passive());
        add_private_data(draft.facts, *group.first);
        emit(std::move(draft));
    }
}

void cm_no_answer(const Timeline& timeline, const Emit& emit) {
    std::optional<Heard> heard;
    for (const auto& [key, group] : groups(timeline, CmOutcome::no_answer)) {
        if (!heard) heard.emplace(timeline);
        FindingDraft draft = group.draft(Party::undecided);
        draft.facts.emplace_back(kRequestsSent, group.repeats + group.count);
        if (const auto exponent = group.first->remote_response_timeout)
            draft.facts.emplace_back(kResponseTimeout, dissect::Duration{4096LL << (*exponent & 31U)});
        draft.facts.emplace_back(kSendsOthers, heard->any(group.passive(), group.active()));
        emit(std::move(draft));
    }
}

void cm_half_open(const Timeline& timeline, const Emit& emit) {
    for (const auto& [key, group] : groups(timeline, CmOutcome::half_open)) emit(group.draft(Party::requester));
}

FindingEvent event_of(const CmAttempt& attempt, const CmRefusal& refusal) {
    const auto rung = std::ranges::find(attempt.ladder, refusal.frame, &CmRung::frame);
    return rung == attempt.ladder.end() ? FindingEvent{refusal.frame}
                                        : FindingEvent{refusal.frame, EventRole::evidence, rung->time};
}

void cm_unexpected_message(const Timeline& timeline, const Emit& emit) {
    std::map<std::uint32_t, std::vector<const CmRefusal*>> by_attempt;
    for (const CmRefusal& refusal : timeline.cm.refusals)
        if (refusal.uid < timeline.cm.attempts.size()) by_attempt[refusal.uid].push_back(&refusal);
    for (const auto& [uid, refusals] : by_attempt) {
        const CmAttempt& attempt = timeline.cm.attempts[uid];
        const CmRefusal& first = *refusals.front();
        // What the capture lacks may have made it possible.
        const Party sender = first.from_active ? Party::requester : Party::responder;
        FindingDraft draft{.party = attempt.incomplete ? Party::undecided : sender,
                           .count = refusals.size(),
                           .facts = {{kActiveSide, Endpoint{attempt.active.address, {}}},
                                     {kPassiveSide, Endpoint{attempt.passive.address, {}}},
                                     {kByActive, first.from_active},
                                     {kCmMessage, name(first.event)},
                                     {kCmState, name(first.state)}}};
        for (const CmRefusal* refusal : refusals) draft.events.push_back(event_of(attempt, *refusal));
        emit(std::move(draft));
    }
}

void cm_retries(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const CmAttempt& attempt) {
        return answered_repeats_of(attempt) != 0 && attempt.outcome != CmOutcome::no_answer &&
               attempt.outcome != CmOutcome::half_open;
    };
    for (const auto& [key, group] : groups(timeline, mine, [](const CmAttempt&) { return 0U; })) {
        const bool release_alone = group.release_repeats == group.answered_repeats;
        const bool slow = !release_alone && group.slowest && *group.slowest >= kSlowSetup;
        emit({.party = Party::undecided,
              .count = group.answered_repeats,
              .severity = slow ? Severity::warning : Severity::note,
              .facts = {{kActiveSide, Endpoint{group.active(), {}}},
                        {kPassiveSide, Endpoint{group.passive(), {}}},
                        {kCmRetries, group.answered_repeats},
                        {kCmAttempts, group.count},
                        {kReleaseAlone, release_alone},
                        {kSlowestSetup, release_alone ? std::nullopt : group.slowest}},
              .events = group.events});
    }
}

void cm_unresolved(const Timeline& timeline, const Emit& emit) {
    constexpr std::array<std::string_view, 6> kStatus{
        "valid",      "service not supported", "rejected by the service", "no queue pair",
        "redirected", "version not supported"};
    for (const auto& [key, group] : groups(timeline, CmOutcome::unresolved)) {
        const std::size_t status = group.first->sidr_status.value_or(0);
        FindingDraft draft = group.draft(Party::responder);
        draft.facts.emplace_back(kSidrStatus, status);
        draft.facts.emplace_back(kSidrMeaning, status < kStatus.size() ? kStatus[status] : "reserved");
        emit(std::move(draft));
    }
}

void cm_disconnect_unanswered(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const CmAttempt& attempt) { return attempt.outcome == CmOutcome::disconnect_unanswered; };
    for (const auto& [key, group] : groups(timeline, mine, [](const CmAttempt&) { return 0U; }))
        emit(group.draft(Party::undecided));
}

void multicast_join_failed(const Timeline& timeline, const Emit& emit) {
    FindingDraft draft{.party = Party::responder, .count = 0};
    for (const MulticastJoin& join : timeline.cm.joins) {
        if (join.status.value_or(0) == 0) continue;
        if (draft.count++ == 0)
            draft.facts = {{kHost, join.member}, {kMulticastGroup, join.group}, {kMadStatus, join.status}};
        draft.events.push_back({join.frame, EventRole::original, join.time});
    }
    if (draft.count == 0) return;
    draft.facts.emplace_back(kRefusedJoins, draft.count);
    emit(std::move(draft));
}

}  // namespace

Family management_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "cm-rejected",
            .severity = Severity::error,
            .clause = "IBA 12.6.7",
            .meaning = "A connection request was rejected",
            .sentence =
                "[by_active?{active_side:host}|{passive_side:host}] rejected the connection [by_active?that it requested|requested by "
                "{active_side:host}] to {>service}{>more_attempts}: reason {reject_reason}[, {reject_meaning}][, private data {private_data}][ (NVMe: "
                "{nvme_status})].",
            .advice = kOtherReason,
            .alike =
                "A program that probes for a service, or starts before its peer, is rejected until the service listens: then a later attempt "
                "succeeds.",
            .limits =
                "The REJ gives its reason, not the cause of it. Private data are bytes of the application, of which only those of NVMe over RDMA are "
                "read.",
            .draw = cm_rejected},
        FindingRow{
            .id = "cm-no-answer",
            .severity = Severity::error,
            .clause = "IBA 12.9.8",
            .meaning = "A connection request was not answered",
            .sentence =
                "{active_side:host} sent {requests_sent:CM request} to {passive_side:host} for {>service}[, each with a response timeout of "
                "{response_timeout}] and got no answer; {passive_side:host} [sends_others?sends other packets to it|sent nothing to it in this "
                "capture].",
            .advice =
                "Check that {passive_side:host} receives them (tcpdump there, firewall for UDP port 4791, GID and VLAN), that rdma_cm is loaded, and "
                "that the tap sees both directions.",
            .alike =
                "A tap that sees one direction alone, or a filter of the capture that drops packets to queue pair 1, hides an answer that came.",
            .limits =
                "The capture does not tell whether the request reached the other host, nor whether its answer was lost before the tap.",
            .draw = cm_no_answer},
        FindingRow{
            .id = "cm-half-open",
            .severity = Severity::warning,
            .clause = "IBA 12.9.7",
            .meaning = "A connection was accepted but never confirmed",
            .sentence =
                "{passive_side:host} accepted a connection from {active_side:host} to {>service}{>more_attempts}, but neither an RTU nor data "
                "followed its REP.",
            .advice =
                "Check {active_side:host}: its application may be slow in the connect handler, may have exited, or does not receive the REP; "
                "{passive_side:host} holds resources until its CM gives up.",
            .alike =
                "An RTU that the tap missed, on a connection that carried no data by the end of the capture, looks the same.",
            .limits =
                "Whether the REP reached the active side, and why that side did not go on, is not in the packets.",
            .draw = cm_half_open},
        FindingRow{
            .id = "cm-unexpected-message",
            .severity = Severity::warning,
            .clause = "IBA 12.9.7",
            .meaning = "A CM message is not valid in the state of its connection",
            .sentence =
                "[by_active?{active_side:host}|{passive_side:host}] sent a CM message that is not valid in the state of the attempt between "
                "{active_side:host} and {passive_side:host}: {cm_message} in state {cm_state}.",
            .advice =
                "See the ladder of this attempt (`qpscope cm`); if the capture contains all messages, report it to the vendor of that CM.",
            .alike =
                "A message that the capture lacks, or packets recorded out of order, make a valid message look invalid; and so does an ID that was "
                "used anew at once.",
            .limits =
                "States are concluded from the messages that were captured: what each CM thought of the attempt is not known.",
            .draw = cm_unexpected_message},
        FindingRow{
            .id = "cm-retries",
            .severity = Severity::note,
            .clause = "IBA 12.9.8",
            .meaning = "CM messages were retransmitted",
            .by_order = true,
            .sentence =
                "{active_side:host} and {passive_side:host} retransmitted {cm_retries:CM message} in {attempts:attempt}[release_alone?, all of them of "
                "the disconnect (DREQ, DREP)][; setup took up to {slowest_setup}].",
            .advice =
                "Look for lost UD packets of queue pair 1 between the two and for an application [release_alone?that is slow to disconnect|on "
                "{passive_side:host} that is slow to accept]; each retry costs the CM response timeout.",
            .alike =
                "Copies of a packet, by a mirror port or a second tap, look like retransmissions where nothing tells copies apart.",
            .limits =
                "A request that was lost and one that was answered late look alike until the answer comes: which of them it was is not decided.",
            .draw = cm_retries},
        FindingRow{
            .id = "cm-unresolved",
            .severity = Severity::error,
            .clause = "IBA 12.11.2",
            .meaning = "A datagram service was not resolved",
            .sentence =
                "{passive_side:host} did not resolve {>service} for {active_side:host}{>more_attempts}: status {sidr_status}, {sidr_meaning}.",
            .advice =
                "Start the datagram service on {passive_side:host}, or correct the port: `rdma resource show cm_id` lists the listeners.",
            .alike = "A service that has not started yet answers alike, and so does one that was asked for by mistake.",
            .limits = "The status is all that the other host says: which program should have listened is not known.",
            .draw = cm_unresolved},
        FindingRow{
            .id = "cm-disconnect-unanswered",
            .severity = Severity::note,
            .clause = "IBA 12.9.7",
            .meaning = "A disconnect request was not answered",
            .sentence =
                "A DREQ between {active_side:host} and {passive_side:host} was repeated and not answered{>more_attempts}.",
            .advice =
                "Look for an end that went away without disconnecting (crash, reboot, link down): the other holds its resources until CM gives up.",
            .alike =
                "A DREP that the tap missed, or an end that disconnected at the same time and had forgotten the connection, looks the same.",
            .limits = "Whether the other end was gone, or its answers were lost, is not in the packets.",
            .draw = cm_disconnect_unanswered},
        FindingRow{
            .id = "multicast-join-failed",
            .severity = Severity::warning,
            .clause = "IBA 15.2.5.17",
            .meaning = "A multicast join was refused",
            .sentence =
                "Subnet administration refused {refused_joins:join}, the first from {host} to group {multicast_group}: MAD status {mad_status:hex4}.",
            .advice =
                "Check that the group exists with this MTU, rate and P_Key (`saquery -g`) and that the port is a member of its partition.",
            .alike = "A busy subnet manager refuses joins, too, and grants them when they are repeated.",
            .limits =
                "The status says that the join was refused, not which property of the group or the port did not fit.",
            .draw = multicast_join_failed},
    };
    static constexpr std::array kOwn{
        &kServicePort,  &kServiceId,  &kMoreAttempts, &kRejectReason,    &kReasonMeaning,
        &kPrivateData,  &kNvmeStatus, &kToAct,        &kResponseTimeout, &kSendsOthers,
        &kCmMessage,    &kCmState,    &kCmRetries,    &kCmAttempts,      &kReleaseAlone,
        &kSlowestSetup, &kSidrStatus, &kSidrMeaning,  &kRefusedJoins,    &kMulticastGroup,
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
