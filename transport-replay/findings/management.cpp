// Findings about connections set up and taken down, and about joins of multicast groups.
#include <dissect/render_value.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;

constexpr dissect::Duration kSlowSetup{1'000'000'000};  // a retry costs seconds (rdma_cm: 4.3), a healthy setup milliseconds
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
    ReasonAdvice{1, "Raise the limit of queue pairs, or find the process that leaks them (`rdma resource show`)."},
    ReasonAdvice{3, "Look for exhausted queue pairs or memory (`ulimit -l`), or a full backlog of rdma_listen (`rdma resource show`)."},
    ReasonAdvice{kTimeout, "Find out why it did not answer in time: a slow application, or lost CM messages.", Addressee::rejected},
    ReasonAdvice{6, "Restart both ends: one of them refers to a connection that the other no longer has."},
    ReasonAdvice{8, "Start the service, or correct address and port: `rdma resource show cm_id` lists the listeners."},
    ReasonAdvice{9, "Request the transport that the service listens with: RC, UC and datagrams are different services.", Addressee::rejected},
    ReasonAdvice{10, "Connect with a new queue pair, or wait for TIMEWAIT to end: the other end still has a connection with this one.",
                 Addressee::rejected},
    ReasonAdvice{12, "Check that the GID belongs to the port that answered (GID index, ARP or neighbour cache).", Addressee::rejected},
    ReasonAdvice{13, "Check that the LID belongs to the port that answered (subnet manager, path record cache).", Addressee::rejected},
    ReasonAdvice{26, "Request a path MTU that the other port supports (`ibv_devinfo`).", Addressee::rejected},
    ReasonAdvice{27, "Request fewer READs and ATOMICs at a time (initiator_depth), or raise responder_resources at the other end.", Addressee::rejected},
    ReasonAdvice{kConsumerReject, "Check the log of the application: it rejected the connection; its private data may say why."},
    ReasonAdvice{29, "Raise rnr_retry_count to what the other end requires.", Addressee::rejected},
};
ReasonAdvice advice_of(std::uint16_t reason) {
    const auto row = std::ranges::find(kReasonAdvice, reason, &ReasonAdvice::reason);
    return row == kReasonAdvice.end() ? ReasonAdvice{reason, "Check the kernel log and the log of the application for the reason."} : *row;
}

// Whose turn it is: the consumer's where it said no, of a timeout nobody's for sure, else the side that the advice is for.
Party party_of(const CmRejection& rejection, Addressee to) {
    if (rejection.reason == kConsumerReject) return Party::application;
    if (rejection.reason == kTimeout) return Party::undecided;
    return rejection.by_active == (to == Addressee::rejecting) ? Party::requester : Party::responder;
}

// Status of a REJ of NVMe over RDMA: bytes 2 and 3 of its private data (NVMe RDMA transport specification, 1.0).
constexpr std::array<std::string_view, 9> kNvmeStatus{"no error",
                                                      "invalid private data length",
                                                      "invalid record format",
                                                      "invalid queue id",
                                                      "invalid host send queue size",
                                                      "invalid host receive queue size",
                                                      "no resources",
                                                      "invalid IRD",
                                                      "invalid ORD"};

std::string service_of(const CmAttempt& attempt) {
    if (attempt.ip) return fmt::format("port {}", attempt.ip->port);
    if (attempt.service_id) return fmt::format("service id 0x{:x}", *attempt.service_id);
    return "a service that was not captured";
}

std::string private_data_of(const CmAttempt& attempt) {
    const dissect::Bytes bytes = attempt.rejection->private_data.bytes();
    if (bytes.empty()) return {};
    std::string out = ", private data ";
    dissect::append_hex(out, bytes.first(std::min(bytes.size(), kPrivateBytesShown)));
    const bool nvme = attempt.rejection->reason == kConsumerReject && attempt.ip && attempt.ip->port == kNvmePort && bytes.size() > 2;
    if (!nvme) return out;
    const auto status = std::to_integer<std::size_t>(bytes[2]);
    return fmt::format("{} (NVMe: {})", out, status < kNvmeStatus.size() ? kNvmeStatus[status] : "unknown status");
}

std::uint32_t repeats_of(const CmAttempt& attempt) {
    std::uint32_t all = 0;
    for (const std::uint16_t repeats : attempt.repeats) all += repeats;
    return all;
}
// Without those of a DREQ that nobody answered, which is another finding and says nothing of the set-up.
std::uint32_t answered_repeats_of(const CmAttempt& attempt) {
    return repeats_of(attempt) - (attempt.outcome == CmOutcome::disconnect_unanswered ? attempt.repeats_of(CmMessage::dreq) : 0U);
}
std::uint32_t set_up_repeats_of(const CmAttempt& attempt) {
    return repeats_of(attempt) - attempt.repeats_of(CmMessage::dreq) - attempt.repeats_of(CmMessage::drep);
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
    std::vector<dissect::FrameIndex> packets;
    [[nodiscard]] std::string active() const { return text(first->active.address); }
    [[nodiscard]] std::string passive() const { return text(first->passive.address); }
    [[nodiscard]] std::string times() const {
        return count == 1 ? std::string() : fmt::format(" (and {})", counted(count - 1, "more attempt"));
    }
};

template <class Keep, class Detail>
std::map<AttemptKey, AttemptGroup> groups(const Timeline& timeline, Keep keep, Detail detail) {
    std::map<AttemptKey, AttemptGroup> found;
    for (const CmAttempt& attempt : timeline.cm.attempts) {
        if (!keep(attempt)) continue;
        AttemptGroup& group = found[{attempt.active.address, attempt.passive.address, attempt.service_id.value_or(0), detail(attempt)}];
        if (group.count++ == 0) group.first = &attempt;
        group.repeats += repeats_of(attempt);
        group.answered_repeats += answered_repeats_of(attempt);
        group.release_repeats += answered_repeats_of(attempt) - set_up_repeats_of(attempt);
        const bool done = was_set_up(attempt.outcome) || attempt.outcome == CmOutcome::resolved;
        if (const auto took = attempt.setup_time(); took && done && (!group.slowest || *took > *group.slowest)) group.slowest = took;
        for (const CmRung& rung : attempt.ladder)
            if (group.packets.size() < kMaxEvidence) group.packets.push_back(rung.frame);
    }
    return found;
}

std::map<AttemptKey, AttemptGroup> groups(const Timeline& timeline, CmOutcome outcome) {
    return groups(timeline, [&](const CmAttempt& attempt) { return attempt.outcome == outcome; }, [](const CmAttempt&) { return 0U; });
}

void cm_rejected(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const CmAttempt& attempt) { return attempt.outcome == CmOutcome::rejected && attempt.rejection.has_value(); };
    const auto detail = [](const CmAttempt& attempt) { return attempt.rejection->reason * 2U + (attempt.rejection->by_active ? 1U : 0U); };
    for (const auto& [key, group] : groups(timeline, mine, detail)) {
        const CmRejection& rejection = *group.first->rejection;
        const std::string by = rejection.by_active ? group.active() : group.passive();
        const std::string reason{reject_reason(rejection.reason)};
        const ReasonAdvice advice = advice_of(rejection.reason);
        const bool active_acts = rejection.by_active == (advice.to == Addressee::rejecting);
        emit({.party = party_of(rejection, advice.to),
              .old_packets = group.packets,
              .count = group.count,
              .old_summary = fmt::format("{} rejected the connection {} to {}{}: reason {}{}{}.", by,
                                     rejection.by_active ? "that it requested" : fmt::format("requested by {}", group.active()), service_of(*group.first), group.times(),
                                     rejection.reason, reason.empty() ? "" : fmt::format(", {}", reason), private_data_of(*group.first)),
              .old_advice = fmt::format("On {}: {}", active_acts ? group.active() : group.passive(), advice.advice)});
    }
}

void cm_no_answer(const Timeline& timeline, const Emit& emit) {
    std::optional<Heard> heard;
    for (const auto& [key, group] : groups(timeline, CmOutcome::no_answer)) {
        if (!heard) heard.emplace(timeline);
        const bool alive = heard->any(group.first->passive.address, group.first->active.address);
        const auto sent = group.repeats + group.count;
        const std::string wait =
            group.first->remote_response_timeout
                ? fmt::format(", each with a response timeout of {}",
                              duration_text(dissect::Duration{4096LL << (*group.first->remote_response_timeout & 31U)}))
                : std::string();
        emit(
            {.party = Party::undecided,
             .old_packets = group.packets,
             .count = group.count,
             .old_summary = fmt::format("{} sent {} to {} for {}{} and got no answer; {} {}.", group.active(), counted(sent, "CM request"),
                                    group.passive(), service_of(*group.first), wait, group.passive(),
                                    alive ? "sends other packets to it" : "sent nothing to it in this capture"),
             .old_advice = fmt::format("Check that {} receives them (tcpdump there, firewall for UDP port 4791, GID and VLAN), that rdma_cm is "
                                   "loaded, and that the tap sees both directions.",
                                   group.passive())});
    }
}

void cm_half_open(const Timeline& timeline, const Emit& emit) {
    for (const auto& [key, group] : groups(timeline, CmOutcome::half_open))
        emit({.party = Party::requester,
              .old_packets = group.packets,
              .count = group.count,
              .old_summary = fmt::format("{} accepted a connection from {} to {}{}, but neither an RTU nor data followed its REP.",
                                     group.passive(), group.active(), service_of(*group.first), group.times()),
              .old_advice =
                  fmt::format("Check {}: its application may be slow in the connect handler, may have exited, or does not receive the REP; {} "
                              "holds resources until its CM gives up.",
                              group.active(), group.passive())});
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
        FindingDraft draft{.party = attempt.incomplete ? Party::undecided : sender, .count = refusals.size()};
        for (const CmRefusal* refusal : refusals) add_evidence(draft, refusal->frame);
        draft.old_summary = fmt::format("{} sent a CM message that is not valid in the state of the attempt between {} and {}: {} in state {}.",
                                    text((first.from_active ? attempt.active : attempt.passive).address), text(attempt.active.address),
                                    text(attempt.passive.address), name(first.event), name(first.state));
        draft.old_advice =
            "See the ladder of this attempt (`qpscope cm`); if the capture contains all messages, report it to the vendor of that CM.";
        emit(std::move(draft));
    }
}

void cm_retries(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const CmAttempt& attempt) {
        return answered_repeats_of(attempt) != 0 && attempt.outcome != CmOutcome::no_answer && attempt.outcome != CmOutcome::half_open;
    };
    for (const auto& [key, group] : groups(timeline, mine, [](const CmAttempt&) { return 0U; })) {
        const bool release_alone = group.release_repeats == group.answered_repeats;
        const bool slow = !release_alone && group.slowest && *group.slowest >= kSlowSetup;
        const std::string took = release_alone   ? ", all of them of the disconnect (DREQ, DREP)"
                                 : group.slowest ? fmt::format("; setup took up to {}", duration_text(*group.slowest))
                                                 : "";
        const std::string cause = release_alone ? "an application that is slow to disconnect"
                                                : fmt::format("an application on {} that is slow to accept", group.passive());
        emit({.party = Party::undecided,
              .old_packets = group.packets,
              .count = group.answered_repeats,
              .old_summary = fmt::format("{} and {} retransmitted {} in {}{}.", group.active(), group.passive(),
                                     counted(group.answered_repeats, "CM message"), counted(group.count, "attempt"), took),
              .old_advice = fmt::format(
                  "Look for lost UD packets of queue pair 1 between the two and for {}; each retry costs the CM response timeout.", cause),
              .severity = slow ? Severity::warning : Severity::note});
    }
}

void cm_unresolved(const Timeline& timeline, const Emit& emit) {
    constexpr std::array<std::string_view, 6> kStatus{"valid",      "service not supported", "rejected by the service", "no queue pair",
                                                      "redirected", "version not supported"};
    for (const auto& [key, group] : groups(timeline, CmOutcome::unresolved)) {
        const std::size_t status = group.first->sidr_status.value_or(0);
        emit({.party = Party::responder,
              .old_packets = group.packets,
              .count = group.count,
              .old_summary = fmt::format("{} did not resolve {} for {}{}: status {}, {}.", group.passive(), service_of(*group.first),
                                     group.active(), group.times(), status, status < kStatus.size() ? kStatus[status] : "reserved"),
              .old_advice = fmt::format("Start the datagram service on {}, or correct the port: `rdma resource show cm_id` lists the listeners.",
                                    group.passive())});
    }
}

void cm_disconnect_unanswered(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const CmAttempt& attempt) {
        return attempt.outcome == CmOutcome::disconnect_unanswered;
    };
    for (const auto& [key, group] : groups(timeline, mine, [](const CmAttempt&) { return 0U; }))
        emit({.party = Party::undecided,
              .old_packets = group.packets,
              .count = group.count,
              .old_summary =
                  fmt::format("A DREQ between {} and {} was repeated and not answered{}.", group.active(), group.passive(), group.times()),
              .old_advice =
                  "Look for an end that went away without disconnecting (crash, reboot, link down): the other holds its resources until "
                  "CM gives up."});
}

void multicast_join_failed(const Timeline& timeline, const Emit& emit) {
    FindingDraft draft{.party = Party::responder, .count = 0};
    const MulticastJoin* first = nullptr;
    for (const MulticastJoin& join : timeline.cm.joins) {
        if (join.status.value_or(0) == 0) continue;
        if (draft.count++ == 0) first = &join;
        add_evidence(draft, join.frame);
    }
    if (first == nullptr) return;
    draft.old_summary = fmt::format("Subnet administration refused {}, the first from {} to group {}: MAD status 0x{:04x}.",
                                counted(draft.count, "join"), text(first->member), text(first->group), *first->status);
    draft.old_advice =
        "Check that the group exists with this MTU, rate and P_Key (`saquery -g`) and that the port is a member of its partition.";
    emit(std::move(draft));
}

}  // namespace

Family management_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "cm-rejected",
                   .severity = Severity::error,
                   .clause = "IBA 12.6.7",
                   .meaning = "A connection request was rejected",
                   .draw = cm_rejected},
        FindingRow{.id = "cm-no-answer",
                   .severity = Severity::error,
                   .clause = "IBA 12.9.8",
                   .meaning = "A connection request was not answered",
                   .draw = cm_no_answer},
        FindingRow{.id = "cm-half-open",
                   .severity = Severity::warning,
                   .clause = "IBA 12.9.7",
                   .meaning = "A connection was accepted but never confirmed",
                   .draw = cm_half_open},
        FindingRow{.id = "cm-unexpected-message",
                   .severity = Severity::warning,
                   .clause = "IBA 12.9.7",
                   .meaning = "A CM message is not valid in the state of its connection",
                   .draw = cm_unexpected_message},
        FindingRow{.id = "cm-retries",
                   .severity = Severity::note,
                   .clause = "IBA 12.9.8",
                   .meaning = "CM messages were retransmitted",
                   .by_order = true,
                   .draw = cm_retries},
        FindingRow{.id = "cm-unresolved",
                   .severity = Severity::error,
                   .clause = "IBA 12.11.2",
                   .meaning = "A datagram service was not resolved",
                   .draw = cm_unresolved},
        FindingRow{.id = "cm-disconnect-unanswered",
                   .severity = Severity::note,
                   .clause = "IBA 12.9.7",
                   .meaning = "A disconnect request was not answered",
                   .draw = cm_disconnect_unanswered},
        FindingRow{.id = "multicast-join-failed",
                   .severity = Severity::warning,
                   .clause = "IBA 15.2.5.17",
                   .meaning = "A multicast join was refused",
                   .draw = multicast_join_failed},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
