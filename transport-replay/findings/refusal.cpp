// Findings about requests that were refused for good, about the depth of READs, and about requests left without answer.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kLength{"length", Unit::bytes,
                          "bytes that the request is about, as its header says where it has one"};
constexpr FactRow kAddress{"address", Unit::number, "the remote address of the request"};
constexpr FactRow kRKey{"r_key", Unit::number, "the R_Key of the request"};
constexpr FactRow kPayload{"payload", Unit::bytes, "payload that the requester sent for it"};
constexpr FactRow kLastValidLength{
    "last_valid_length", Unit::bytes,
    "bytes of the last request before it that was executed, of the same R_Key if there is one"};
constexpr FactRow kLastValidAddress{"last_valid_address", Unit::number, "the remote address of that request"};
constexpr FactRow kLastValidRKey{"last_valid_r_key", Unit::number, "the R_Key of it"};
constexpr FactRow kOffer{
    "offer", Unit::word,
    "how the access lies to the memory that the responder offered for open operations of the upper protocol: inside, outside, other_key (none of "
    "it has this R_Key)"};
constexpr FactRow kOfferedLength{"offered_length", Unit::bytes, "bytes of the offered memory nearest to it"};
constexpr FactRow kOfferedAddress{"offered_address", Unit::number, "where that memory begins"};
constexpr FactRow kOfferedRKey{"offered_r_key", Unit::number, "the R_Key of it"};
constexpr FactRow kOffers{"offers", Unit::count, "memory ranges that were offered, none of which has the R_Key"};
constexpr FactRow kFirstPsn{"first_psn", Unit::psn, "the first packet of the request, which the responder had taken"};
constexpr FactRow kRepeatedRead{"repeated_read", Unit::number,
                                "the frame of a READ that was asked for again just before"};
constexpr FactRow kNakCode{"nak_code", Unit::number, "the code of the NAK"};
constexpr FactRow kReadsOutstanding{"reads_outstanding", Unit::count,
                                    "READs and ATOMICs outstanding at once, the refused one included"};
constexpr FactRow kNegotiatedDepth{"negotiated_depth", Unit::count,
                                   "READs and ATOMICs that may be outstanding, as CM negotiated"};
constexpr FactRow kAtMost{"at_most", Unit::count, "times that so many were outstanding"};
constexpr FactRow kReadLength{"read_length", Unit::bytes, "bytes of a READ, on average"};
constexpr FactRow kReadTook{"read_took", Unit::duration, "time from its request to its last response, on average"};
constexpr FactRow kAllowedRate{"allowed_rate", Unit::bits_per_second,
                               "the rate that such READs, so many at once, allow"};
constexpr FactRow kMessages{"messages", Unit::count, "messages that had no answer"};
constexpr FactRow kSilentFor{"silent_for", Unit::duration,
                             "time from the last packet until the capture ended, or the requester disconnected"};

constexpr std::uint8_t kInvalidRequest = 1, kRemoteAccess = 2, kRemoteOperational = 3;  // NAK codes, 9.7.5.2

// The depth of READs is what limits them when it is reached again and again, not once in a burst.
constexpr std::uint64_t kPlateau = 64;
constexpr std::uint32_t kLeastDepthSeen = 2;  // one at a time may be the program's own way
// A request without answer is left alone when nothing happened on its connection for as long before the capture ended.
constexpr dissect::Duration kPatience{1'000'000'000};

bool deeper_than_agreed(const Timeline& timeline, const Fatality& fatality, const Connection& connection) {
    if (fatality.nak_code != kInvalidRequest || !fatality.request || !fatality.request->has_response()) return false;
    const auto depth = agreed_depth(timeline, connection, fatality.requester);
    return depth && fatality.reads_outstanding > *depth;
}

struct Refused {
    const Fatality& fatality;
    const Connection& connection;
    std::uint64_t count;
    [[nodiscard]] bool is_send() const { return fatality.request && fatality.request->verb == dissect::Verb::send; }
    [[nodiscard]] FindingDraft draft(Party party) const;
};

FindingDraft Refused::draft(Party party) const {
    FindingDraft draft{
        .party = party,
        .connection = connection.uid,
        .count = count,
        .facts = {{kRequester, connection.end(fatality.requester)},
                  {kResponder, connection.end(other(fatality.requester))},
                  {kPsn, fatality.psn},
                  {kAmbiguous, connection.ambiguous && !fatality.request}},
        .events = {{fatality.last_good_frame, EventRole::evidence}, {fatality.frame, EventRole::nak, fatality.time}}};
    if (!fatality.request) return draft;
    const Message& request = *fatality.request;
    draft.events.push_back({request.first_frame, EventRole::original, request.first_time});
    draft.events.push_back({request.last_frame, EventRole::original, request.last_time});
    draft.facts.emplace_back(kOperation, words::verb(request.verb));
    draft.facts.emplace_back(kLength, request.access ? request.access->length : request.bytes);
    if (!request.access) return draft;
    draft.facts.emplace_back(kAddress, request.access->address);
    draft.facts.emplace_back(kRKey, request.access->key);
    return draft;
}

// The fatalities that `keep` keeps, one a way of a connection: the first, which ended it.
template <class Keep> std::vector<Refused> refused(const Timeline& timeline, Keep keep) {
    std::vector<const Fatality*> kept;
    for (const Fatality& fatality : timeline.fatalities) {
        const Connection* connection = timeline.find(fatality.connection);
        if (connection != nullptr && keep(fatality, *connection)) kept.push_back(&fatality);
    }
    const auto place = [](const Fatality* fatality) { return std::pair{fatality->connection, fatality->requester}; };
    std::ranges::sort(kept, {}, [&](const Fatality* fatality) { return std::pair{place(fatality), fatality}; });
    std::vector<Refused> found;
    for (const Fatality* fatality : kept) {
        if (!found.empty() && place(&found.back().fatality) == place(fatality)) ++found.back().count;
        else found.push_back({*fatality, *timeline.find(fatality->connection), 1});
    }
    return found;
}

void add_last_good(Facts& facts, const Fatality& fatality) {
    if (!fatality.last_good) return;
    facts.emplace_back(kLastValidLength, fatality.last_good->length);
    facts.emplace_back(kLastValidAddress, fatality.last_good->address);
    facts.emplace_back(kLastValidRKey, fatality.last_good->key);
}

// Whether the last request that was good had the R_Key of the one that was refused.
bool key_worked(const Fatality& fatality) {
    return fatality.request && fatality.request->access && fatality.last_good &&
           fatality.last_good->key == fatality.request->access->key;
}

// What makes a remote access error likely, from the request and the last one that was good, or from what was offered.
constexpr std::string_view kCheckRegion = "Check R_Key, range and access flags of the region on {responder:host}.";
constexpr std::string_view kCheckKey =
    "Check that R_Key {r_key:key} is the one {responder:host} registered and sent (not stale, not byte-swapped, same protection domain) and that the region has "
    "the remote access flag for this operation.";
constexpr std::string_view kCheckRange =
    "The R_Key worked before, so compare the range with the length that was registered on {responder:host} and see whether the region was deregistered or lacks "
    "the access flag for this operation.";
constexpr std::string_view kCheckInside =
    "Check on {responder:host} whether the memory was deregistered or invalidated before the operation ended, and its access flags.";
constexpr std::string_view kCheckOutside =
    "Compare on {requester:host} address and length of the access with what the operation offered; the R_Key is right.";
constexpr std::string_view kCheckOtherKey =
    "Check on {requester:host} where the R_Key comes from: it is stale, byte-swapped or of another operation.";

std::string_view access_advice(const Fatality& fatality) {
    if (!fatality.request || !fatality.request->access) return kCheckRegion;
    return key_worked(fatality) ? kCheckRange : kCheckKey;
}

const RefusedAccess* offers_of(const Timeline& timeline, const Fatality& fatality) {
    const auto found = std::ranges::find(timeline.ulp.refused, fatality.frame, &RefusedAccess::nak);
    return found == timeline.ulp.refused.end() || found->connection != fatality.connection ? nullptr : &*found;
}

// How the access lies to what the upper protocol had offered, and what to do then.
void add_offers(FindingDraft& draft, const RefusedAccess& offers) {
    using enum RefusedAccess::Verdict;
    draft.advice = offers.verdict == inside ? kCheckInside : offers.verdict == outside ? kCheckOutside : kCheckOtherKey;
    draft.facts.emplace_back(kOffer, offers.verdict == inside    ? "inside"
                                     : offers.verdict == outside ? "outside"
                                                                 : "other_key");
    if (offers.verdict == other_key) {
        draft.facts.emplace_back(kOffers, offers.offers);
        return;
    }
    draft.facts.emplace_back(kOfferedLength, offers.offer.length);
    draft.facts.emplace_back(kOfferedAddress, offers.offer.address);
    draft.facts.emplace_back(kOfferedRKey, offers.offer.key);
}

// As the advice: who offered memory that it does not serve, who asks for what was not offered; an R_Key that worked
// before tells neither.
Party access_party(const Fatality& fatality, const RefusedAccess* offers) {
    if (offers != nullptr)
        return offers->verdict == RefusedAccess::Verdict::inside ? Party::responder : Party::requester;
    return key_worked(fatality) ? Party::undecided : Party::requester;
}

constexpr std::string_view kCheckCompletion = "Check the error completion and the kernel log of {responder:host}.";
constexpr std::string_view kPostLonger =
    "Post receives of at least {length:length} on {responder:host}, or limit the sender to the agreed size.";
constexpr std::string_view kAlignAtomic = "Align the address of atomics to 8 bytes.";
constexpr std::string_view kCheckDepth =
    "Check that max_dest_rd_atomic of {responder:host} is not below max_rd_atomic of the requester ({reads_outstanding:plain} were outstanding) and that its "
    "qp_access_flags allow this operation.";
constexpr std::string_view kCheckFlags =
    "Check qp_access_flags of {responder:host}, the path MTU of both ends, and the receive buffer where the WRITE has immediate data.";
constexpr std::string_view kCheckPayload =
    "Check {requester:host}: it sent {payload:length} of payload for this request.";
constexpr std::string_view kDisturbedByRead =
    "Report it to the NIC vendor of {responder:host} with the packets listed here: a duplicate READ must not disturb the request that is under way.";
constexpr std::string_view kAsMustBe =
    "Check the kernel log and the error counters of {responder:host}; the packets of {requester:host} are as they must be.";

std::string_view invalid_advice(const Fatality& fatality) {
    if (!fatality.request) return kCheckCompletion;
    const Message& request = *fatality.request;
    if (request.verb == dissect::Verb::send) return kPostLonger;
    if (request.atomic && request.access && request.access->address % 8 != 0) return kAlignAtomic;
    return request.has_response() ? kCheckDepth : kCheckFlags;
}

// What the packets of a refused request prove of its sender.
enum class Legality : std::uint8_t {
    unknown,     // refused at its first packet: access flags and the path MTU of the responder are not on the wire
    misaligned,  // an atomic
    length,      // more payload than its DMA length says
    taken,  // its first packet was taken, and with it operation, address, R_Key and path MTU; those behind it are as
            // they must be
};

Legality legality(const Fatality& fatality) {
    if (!fatality.request || !fatality.request->access) return Legality::unknown;
    const Message& request = *fatality.request;
    if (request.atomic && request.access->address % 8 != 0) return Legality::misaligned;
    if (request.verb != dissect::Verb::write || !request.starts || request.missing != 0) return Legality::unknown;
    if (request.bytes > request.access->length) return Legality::length;
    if (request.ends && request.bytes < request.access->length)
        return Legality::unknown;  // or the capture does not have all of it
    // An immediate needs a receive, which a responder may miss only at the last packet.
    const bool behind_first = request.first.before(fatality.psn) && !request.has_immediate();
    return behind_first ? Legality::taken : Legality::unknown;
}

// The first packet of a READ that was asked for again since the last request that was good.
std::optional<dissect::FrameIndex> read_again_before(const Timeline& timeline, const Fatality& fatality) {
    for (const Recovery& episode : timeline.recoveries) {
        if (episode.connection != fatality.connection || episode.requester != fatality.requester) continue;
        if (episode.verb != dissect::Verb::read_request || episode.resumed == dissect::FrameIndex{}) continue;
        if (episode.resumed > fatality.last_good_frame && episode.resumed < fatality.frame) return episode.resumed;
    }
    return std::nullopt;
}

// What was refused although nothing of it is illegal.
void say_taken(const Timeline& timeline, const Fatality& fatality, FindingDraft& draft) {
    const auto again = read_again_before(timeline, fatality);
    draft.party = again ? Party::responder : Party::undecided;
    draft.advice = again ? kDisturbedByRead : kAsMustBe;
    draft.facts.emplace_back(kFirstPsn, fatality.request->first);
    draft.facts.emplace_back(kRepeatedRead, again);
}

void remote_access_error(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const Fatality& fatality, const Connection&) { return fatality.nak_code == kRemoteAccess; };
    for (const Refused& one : refused(timeline, mine)) {
        const RefusedAccess* offers = offers_of(timeline, one.fatality);
        FindingDraft draft = one.draft(access_party(one.fatality, offers));
        draft.advice = access_advice(one.fatality);
        add_last_good(draft.facts, one.fatality);
        if (offers != nullptr) add_offers(draft, *offers);
        emit(std::move(draft));
    }
}

void remote_invalid_request(const Timeline& timeline, const Emit& emit) {
    const auto mine = [&](const Fatality& fatality, const Connection& connection) {
        return fatality.nak_code == kInvalidRequest && !deeper_than_agreed(timeline, fatality, connection);
    };
    for (const Refused& one : refused(timeline, mine)) {
        const Legality legal = legality(one.fatality);
        const bool illegal = legal == Legality::misaligned || legal == Legality::length;
        FindingDraft draft = one.draft(one.is_send() ? Party::application
                                       : illegal     ? Party::requester
                                                     : Party::undecided);
        draft.advice = legal == Legality::length ? kCheckPayload : invalid_advice(one.fatality);
        if (!one.is_send()) add_last_good(draft.facts, one.fatality);
        if (legal == Legality::length) draft.facts.emplace_back(kPayload, one.fatality.request->bytes);
        if (draft.advice == kCheckDepth) draft.facts.emplace_back(kReadsOutstanding, one.fatality.reads_outstanding);
        if (legal == Legality::taken) say_taken(timeline, one.fatality, draft);
        emit(std::move(draft));
    }
}

void remote_operational_error(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const Fatality& fatality, const Connection&) {
        return fatality.nak_code == kRemoteOperational;
    };
    for (const Refused& one : refused(timeline, mine)) emit(one.draft(Party::responder));
}

void unknown_nak(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const Fatality& fatality, const Connection&) {
        return fatality.nak_code != kInvalidRequest && fatality.nak_code != kRemoteAccess &&
               fatality.nak_code != kRemoteOperational;
    };
    for (const Refused& one : refused(timeline, mine)) {
        FindingDraft draft = one.draft(Party::responder);
        draft.facts.emplace_back(kNakCode, one.fatality.nak_code);
        emit(std::move(draft));
    }
}

void read_depth_exceeded(const Timeline& timeline, const Emit& emit) {
    const auto mine = [&](const Fatality& fatality, const Connection& connection) {
        return deeper_than_agreed(timeline, fatality, connection);
    };
    for (const Refused& one : refused(timeline, mine)) {
        FindingDraft draft = one.draft(Party::requester);
        draft.facts.emplace_back(kReadsOutstanding, one.fatality.reads_outstanding);
        draft.facts.emplace_back(kNegotiatedDepth, agreed_depth(timeline, one.connection, one.fatality.requester));
        emit(std::move(draft));
    }
}

// What a mean READ and as many at once as there were allow, where all messages of the way were READs that were
// answered.
void add_allowed(Facts& facts, const Way& way) {
    const std::uint64_t reads = way.messages_of(MessageKind::read);
    const std::uint64_t nanoseconds =
        static_cast<std::uint64_t>(std::max<std::int64_t>(std::to_underlying(way.latency.sum), 0));
    if (reads == 0 || reads != way.completed || way.latency.count != reads || nanoseconds == 0) return;
    constexpr double kBits = 8, kSecond = 1e9;
    facts.emplace_back(kReadLength, way.message_bytes / reads);
    facts.emplace_back(kReadTook, dissect::Duration{static_cast<std::int64_t>(nanoseconds / reads)});
    facts.emplace_back(kAllowedRate, way.most_reads * static_cast<double>(way.message_bytes) * kBits /
                                         static_cast<double>(nanoseconds) * kSecond);
}

void read_depth_limited(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            const auto depth = agreed_depth(timeline, connection, end);
            if (way.most_reads < kLeastDepthSeen || way.reads_at_most < kPlateau || (depth && way.most_reads < *depth))
                continue;
            Facts facts{{kRequester, connection.end(end)},
                        {kResponder, connection.end(other(end))},
                        {kReadsOutstanding, way.most_reads},
                        {kAtMost, way.reads_at_most},
                        {kNegotiatedDepth, depth}};
            add_allowed(facts, way);
            emit({.party = Party::requester,
                  .connection = connection.uid,
                  .count = way.reads_at_most,
                  .facts = std::move(facts),
                  .events = {{way.first_frame, EventRole::evidence, way.first_time}}});
        }
}

FindingDraft unanswered(const Connection& connection, End end, std::uint64_t messages, dissect::Duration silent) {
    const Way& way = connection.way(end);
    return {.party = Party::undecided,
            .connection = connection.uid,
            .count = messages,
            .facts = {{kRequester, connection.end(end)},
                      {kResponder, connection.end(other(end))},
                      {kMessages, messages},
                      {kSilentFor, silent}},
            .events = {{way.last_frame, EventRole::evidence, way.last_time}}};
}

constexpr std::string_view kDisconnected =
    "{messages:message} from {requester:host} to {responder} had no answer when {requester:host} disconnected, {silent_for} after its last packet.";
constexpr std::string_view kDisconnectedAdvice =
    "Look in the log of {requester:host} for the timeout that made it disconnect, and on {responder:host} for what kept the answers; the tap may also have missed "
    "them.";

// A host disconnects when its timeout is over: what it had asked long before was not answered for all that.
void emit_given_up(const Timeline& timeline, const Connection& connection, End end, const Emit& emit) {
    const Way& way = connection.way(end);
    const CmRung* release = own_disconnect(timeline, connection, end);
    if (release == nullptr || way.incidents->abandoned == 0 || release->time - way.last_time < kPatience) return;
    FindingDraft draft = unanswered(connection, end, way.incidents->abandoned, release->time - way.last_time);
    draft.sentence = kDisconnected;
    draft.facts.emplace_back(kRequesterDisconnected, true);
    draft.advice = kDisconnectedAdvice;
    draft.events.push_back({release->frame, EventRole::end, release->time});
    emit(std::move(draft));
}

void requests_unanswered(const Timeline& timeline, const Emit& emit) {
    if (!timeline.last) return;
    std::vector<ConnectionId> over;  // whose requesters gave up: that is another finding
    for (const Recovery& record : timeline.recoveries)
        if (record.end == RecoveryEnd::gave_up || record.end == RecoveryEnd::stopped) over.push_back(record.connection);
    std::ranges::sort(over);
    const auto is_over = [&](const Connection& connection) { return std::ranges::binary_search(over, connection.uid); };
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            if (connection.way(other(end)).incidents->unread_answers != 0) continue;  // they may be among those
            if (!connection.reliable() || connection.one_way() || connection.failed || is_over(connection)) continue;
            if (connection.released) {
                emit_given_up(timeline, connection, end, emit);
                continue;
            }
            if (way.open == 0) continue;
            const dissect::Duration silent = timeline.end_of(connection) - connection.last_time();
            if (silent < kPatience) continue;
            emit(unanswered(connection, end, way.open, silent));
        }
}

}  // namespace

Family refusal_family() {
    static constexpr std::array kOwn{
        &kLength,        &kAddress,      &kRKey,          &kPayload,          &kLastValidLength, &kLastValidAddress,
        &kLastValidRKey, &kOffer,        &kOfferedLength, &kOfferedAddress,   &kOfferedRKey,     &kOffers,
        &kFirstPsn,      &kRepeatedRead, &kNakCode,       &kReadsOutstanding, &kNegotiatedDepth, &kAtMost,
        &kReadLength,    &kReadTook,     &kAllowedRate,   &kMessages,         &kSilentFor,
    };
    static constexpr std::array kRows{
        FindingRow{
            .id = "remote-access-error",
            .severity = Severity::error,
            .clause = "IBA 9.7.5.2.1, C9-220",
            .meaning = "The R_Key, the range or the access rights of a region did not permit a request",
            .sentence =
                "{responder} refused {>request} from {requester:host} at PSN {psn} (remote access error){>last_valid}.[offer=inside? It lies "
                "within memory that {responder:host} offered for an open operation ({offered_length:length} at {offered_address:hex} with R_Key "
                "{offered_r_key:key}).][offer=outside? Address and length are outside the memory that {responder:host} offered for open "
                "operations with this R_Key ({offered_length:length} at {offered_address:hex} with R_Key {offered_r_key:key}).][offer=other_key? "
                "None of {offers:memory range} that {responder:host} offered for open operations has this R_Key.]",
            .advice = kCheckRegion,
            .alike =
                "A stale or byte-swapped R_Key, a range beyond the region, a region that lacks the right or was deregistered in the meantime: all "
                "of them have the same NAK. The last access that was executed, and what the upper protocol offered, tell some of them apart.",
            .limits =
                "Regions and their access flags are not on the wire. Offers are known of upper protocols alone that qpscope reads, and of "
                "operations whose request was captured.",
            .draw = remote_access_error},
        FindingRow{
            .id = "remote-invalid-request",
            .severity = Severity::error,
            .clause = "IBA 9.7.5.2.1, C9-220",
            .meaning = "The responder rejected a request as invalid",
            .sentence =
                "{responder} refused {>request} from {requester:host} at PSN {psn} (invalid request)[operation=SEND?, most likely because the "
                "posted receive is too short]{>last_valid}[; it had taken the first packet at PSN {first_psn}, so operation, R_Key, length and "
                "path MTU are right[, and refused a later one behind a READ that was asked for again (frame {repeated_read})]].",
            .advice = kCheckFlags,
            .alike =
                "A receive that is too short, an operation that the queue pair does not allow, another path MTU, too many READs at once, and a "
                "responder that is wrong have the same NAK. More READs than CM negotiated are read-depth-exceeded.",
            .limits =
                "Posted receives, qp_access_flags and the path MTU of the responder are not on the wire: of a request that was refused at its "
                "first packet the packets do not prove which end is wrong.",
            .draw = remote_invalid_request},
        FindingRow{
            .id = "remote-operational-error",
            .severity = Severity::error,
            .clause = "IBA 9.7.5.2.1, C9-220",
            .meaning = "The responder failed while it executed a request",
            .sentence =
                "{responder} failed to execute {>request} from {requester:host} at PSN {psn} (remote operational error).",
            .advice =
                "[operation=SEND?Check the posted receive on {responder:host}: a buffer shorter than {length:length} (soft-RoCE reports it so), "
                "memory that is not registered, or an error in the kernel log.|Look on {responder:host} for the local error that caused it: "
                "memory that cannot be accessed, the kernel log.]",
            .alike =
                "Some responders report with this code what others call an invalid request, such as a receive that is too short (soft-RoCE).",
            .limits =
                "What went wrong inside of the responder is not on the wire; its error completion and its log say.",
            .draw = remote_operational_error},
        FindingRow{
            .id = "unknown-nak",
            .severity = Severity::error,
            .clause = "IBA 9.7.5.2.1",
            .meaning = "A request was refused with an undefined NAK code",
            .sentence =
                "{responder} refused {>request} from {requester:host} at PSN {psn} with NAK code {nak_code}, which is undefined for this service.",
            .advice = "Report it to the NIC vendor of {responder:host} with the packets listed here.",
            .alike = "A packet whose AETH was changed on the way, where its ICRC could not be checked.",
            .limits = "What the responder means by the code is not known.",
            .draw = unknown_nak},
        FindingRow{
            .id = "read-depth-exceeded",
            .severity = Severity::error,
            .clause = "IBA 9.7.4.1",
            .meaning = "More READs and ATOMICs were outstanding than negotiated",
            .sentence =
                "{requester:host} had {reads_outstanding:plain} READs and ATOMICs outstanding although {negotiated_depth:plain} were negotiated; "
                "{responder} refused one of them at PSN {psn}.",
            .advice =
                "Set max_rd_atomic of the queue pair on {requester:host} to the initiator depth that CM returned ({negotiated_depth:plain}), not "
                "to the maximum of the device.",
            .alike =
                "A READ that is refused for another reason, such as qp_access_flags, while many are outstanding: it counts here only where CM was "
                "captured and the depth that it agreed on was exceeded.",
            .limits =
                "Programs may set another depth than CM negotiated on both ends. Responses that the tap missed leave READs outstanding that were "
                "answered.",
            .draw = read_depth_exceeded},
        FindingRow{
            .id = "read-depth-limited",
            .severity = Severity::note,
            .clause = "IBA 9.7.4.1",
            .meaning = "READs repeatedly reached the maximum number outstanding",
            .sentence =
                "{requester:host} had {reads_outstanding:plain} READs and ATOMICs outstanding to {responder} {at_most:times}, and never "
                "more[negotiated_depth? (the negotiated depth)][; with READs of {read_length} that take {read_took} each, this allows "
                "{allowed_rate:Gbit/s}].",
            .advice =
                "Raise initiator_depth on {requester:host} and responder_resources on {responder:host} (max_rd_atomic, max_dest_rd_atomic) or use "
                "larger READs if they are too slow.",
            .alike =
                "A program that never has more operations of its own open reaches the same number again and again, without being limited by the "
                "queue pair.",
            .limits =
                "Whether more READs were waiting in the send queue is not on the wire, and the depth itself is known only where CM was captured.",
            .draw = read_depth_limited},
        FindingRow{
            .id = "requests-unanswered",
            .severity = Severity::note,
            .clause = "IBA 9.7.2",
            .meaning = "Requests were neither answered nor retransmitted",
            .by_order = true,
            .sentence =
                "{messages:message} from {requester:host} to {responder} had no answer when the capture ended, {silent_for} after the "
                "connection's last packet.",
            .advice =
                "Check on {requester:host} whether the queue pair is in the error state or has no ACK timeout (0 is infinite); the tap may also "
                "have missed the last answers.",
            .alike =
                "Answers that the tap did not capture, and a process that ended and destroyed its queue pair while work was outstanding.",
            .limits =
                "What happened behind the end of the capture. Requests count only where nothing was sent on the connection for a second, which a "
                "long ACK timeout may exceed.",
            .draw = requests_unanswered},
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
