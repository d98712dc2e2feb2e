// Findings about requests that were refused for good, about the depth of READs, and about requests left without answer.
#include <dissect/types.hpp>
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::draw {

namespace {

using namespace words;

constexpr std::uint8_t kInvalidRequest = 1, kRemoteAccess = 2, kRemoteOperational = 3;  // NAK codes, 9.7.5.2

// The depth of READs is what limits them when it is reached again and again, not once in a burst.
constexpr std::uint64_t kPlateau = 64;
constexpr std::uint32_t kLeastDepthSeen = 2;  // one at a time may be the program's own way
// A request without answer is left alone when nothing happened on its connection for as long before the capture ended.
constexpr dissect::Duration kPatience{1'000'000'000};

std::string described(const RemoteAccess& access) {
    return fmt::format("{} at 0x{:x} with R_Key 0x{:08x}", length(access.length), access.address, std::to_underlying(access.key));
}

std::string described(const Fatality& fatality, bool ambiguous) {
    if (!fatality.request && ambiguous) return "a request of one of several queue pairs with the same PSNs";
    if (!fatality.request) return "a request that was not captured";
    const Message& request = *fatality.request;
    const std::string what = request.access ? described(*request.access) : length(request.bytes);
    const std::string_view name = verb(request.verb);
    const bool vowel = name.front() == 'A' || name.starts_with("RDMA");
    return fmt::format("{} {} of {}", vowel ? "an" : "a", name, what);
}

bool deeper_than_agreed(const Timeline& timeline, const Fatality& fatality, const Connection& connection) {
    if (fatality.nak_code != kInvalidRequest || !fatality.request || !fatality.request->has_response()) return false;
    const auto depth = agreed_depth(timeline, connection, fatality.requester);
    return depth && fatality.reads_outstanding > *depth;
}

struct Refused {
    const Fatality& fatality;
    const Connection& connection;
    std::uint64_t count;
    [[nodiscard]] std::string from() const { return host(connection.end(fatality.requester)); }
    [[nodiscard]] std::string to() const { return who(connection.end(other(fatality.requester))); }
    [[nodiscard]] std::string responder() const { return host(connection.end(other(fatality.requester))); }
    [[nodiscard]] FindingDraft draft(Party party) const {
        FindingDraft draft{.party = party, .connection = connection.uid, .count = count};
        if (fatality.request) draft.packets = {fatality.request->first_frame, fatality.request->last_frame};
        draft.packets.insert(draft.packets.end(), {fatality.last_good_frame, fatality.frame});
        return draft;
    }
};

// The fatalities that `keep` keeps, one a way of a connection: the first, which ended it.
template <class Keep>
std::vector<Refused> refused(const Timeline& timeline, Keep keep) {
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

std::string beside_last_good(const Fatality& fatality) {
    if (!fatality.last_good) return {};
    return fmt::format("; the last valid access was {}", described(*fatality.last_good));
}

// What makes a remote access error likely, from the request and the last one that was good.
std::string access_advice(const Fatality& fatality, const std::string& to) {
    if (!fatality.request || !fatality.request->access) return fmt::format("Check R_Key, range and access flags of the region on {}.", to);
    const RemoteAccess& bad = *fatality.request->access;
    if (!fatality.last_good || fatality.last_good->key != bad.key)
        return fmt::format(
            "Check that R_Key 0x{:08x} is the one {} registered and sent (not stale, not byte-swapped, same protection "
            "domain) and that the region has the remote access flag for this operation.",
            std::to_underlying(bad.key), to);
    return fmt::format(
        "The R_Key worked before, so compare the range with the length that was registered on {} and see whether the region was "
        "deregistered or lacks the access flag for this operation.",
        to);
}

const RefusedAccess* offers_of(const Timeline& timeline, const Fatality& fatality) {
    const auto found = std::ranges::find(timeline.ulp.refused, fatality.frame, &RefusedAccess::nak);
    return found == timeline.ulp.refused.end() || found->connection != fatality.connection ? nullptr : &*found;
}

// How the access lies to what the upper protocol had offered; nothing where that was not seen.
std::string beside_offers(const RefusedAccess* offers, const std::string& owner) {
    if (offers == nullptr) return {};
    switch (offers->verdict) {
        case RefusedAccess::Verdict::inside: return fmt::format(" It lies within memory that {} offered for an open operation ({}).", owner, described(offers->offer));
        case RefusedAccess::Verdict::outside:
            return fmt::format(" Address and length are outside the memory that {} offered for open operations with this R_Key ({}).", owner,
                               described(offers->offer));
        case RefusedAccess::Verdict::other_key:
            return fmt::format(" None of {} that {} offered for open operations has this R_Key.", counted(offers->offers, "memory range"), owner);
    }
    return {};
}

std::string offers_advice(const RefusedAccess& offers, const std::string& from, const std::string& to) {
    switch (offers.verdict) {
        case RefusedAccess::Verdict::inside:
            return fmt::format("Check on {} whether the memory was deregistered or invalidated before the operation ended, and its access flags.", to);
        case RefusedAccess::Verdict::outside:
            return fmt::format("Compare on {} address and length of the access with what the operation offered; the R_Key is right.", from);
        case RefusedAccess::Verdict::other_key:
            return fmt::format("Check on {} where the R_Key comes from: it is stale, byte-swapped or of another operation.", from);
    }
    return {};
}

// As the advice: who offered memory that it does not serve, who asks for what was not offered; an R_Key that worked before tells neither.
Party access_party(const Fatality& fatality, const RefusedAccess* offers) {
    if (offers != nullptr) return offers->verdict == RefusedAccess::Verdict::inside ? Party::responder : Party::requester;
    const bool worked = fatality.request && fatality.request->access && fatality.last_good && fatality.last_good->key == fatality.request->access->key;
    return worked ? Party::undecided : Party::requester;
}

std::string invalid_advice(const Fatality& fatality, const std::string& to) {
    if (!fatality.request) return fmt::format("Check the error completion and the kernel log of {}.", to);
    const Message& request = *fatality.request;
    if (request.verb == dissect::Verb::send)
        return fmt::format("Post receives of at least {} on {}, or limit the sender to the agreed size.",
                           length(request.bytes), to);
    if (request.atomic && request.access && request.access->address % 8 != 0) return "Align the address of atomics to 8 bytes.";
    if (request.has_response())
        return fmt::format(
            "Check that max_dest_rd_atomic of {} is not below max_rd_atomic of the requester ({} were outstanding) and that its "
            "qp_access_flags allow this operation.",
            to, fatality.reads_outstanding);
    return fmt::format("Check qp_access_flags of {}, the path MTU of both ends, and the receive buffer where the WRITE has immediate data.",
                       to);
}

// What the packets of a refused request prove of its sender.
enum class Legality : std::uint8_t {
    unknown,     // refused at its first packet: access flags and the path MTU of the responder are not on the wire
    misaligned,  // an atomic
    length,      // more payload than its DMA length says
    taken,       // its first packet was taken, and with it operation, address, R_Key and path MTU; those behind it are as they must be
};

Legality legality(const Fatality& fatality) {
    if (!fatality.request || !fatality.request->access) return Legality::unknown;
    const Message& request = *fatality.request;
    if (request.atomic && request.access->address % 8 != 0) return Legality::misaligned;
    if (request.verb != dissect::Verb::write || !request.starts || request.missing != 0) return Legality::unknown;
    if (request.bytes > request.access->length) return Legality::length;
    if (request.ends && request.bytes < request.access->length) return Legality::unknown;  // or the capture does not have all of it
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
void say_taken(const Timeline& timeline, const Refused& one, FindingDraft& draft) {
    const auto again = read_again_before(timeline, one.fatality);
    draft.party = again ? Party::responder : Party::undecided;
    draft.summary.pop_back();
    draft.summary += fmt::format("; it had taken the first packet at PSN {}, so operation, R_Key, length and path MTU are right{}.",
                                 one.fatality.request->first.value(),
                                 again ? fmt::format(", and refused a later one behind a READ that was asked for again (frame {})",
                                                     std::to_underlying(*again))
                                       : "");
    draft.advice = again ? fmt::format("Report it to the NIC vendor of {} with the packets listed here: a duplicate READ must not disturb the "
                                       "request that is under way.",
                                       one.responder())
                         : fmt::format("Check the kernel log and the error counters of {}; the packets of {} are as they must be.", one.responder(),
                                       one.from());
}

}  // namespace

void remote_access_error(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const Fatality& fatality, const Connection&) { return fatality.nak_code == kRemoteAccess; };
    for (const Refused& one : refused(timeline, mine)) {
        const RefusedAccess* offers = offers_of(timeline, one.fatality);
        FindingDraft draft = one.draft(access_party(one.fatality, offers));
        draft.summary = fmt::format("{} refused {} from {} at PSN {} (remote access error){}.{}", one.to(), described(one.fatality, one.connection.ambiguous), one.from(),
                                    one.fatality.psn.value(), beside_last_good(one.fatality), beside_offers(offers, one.responder()));
        draft.advice = offers != nullptr ? offers_advice(*offers, one.from(), one.responder()) : access_advice(one.fatality, one.responder());
        emit(std::move(draft));
    }
}

void remote_invalid_request(const Timeline& timeline, const Emit& emit) {
    const auto mine = [&](const Fatality& fatality, const Connection& connection) {
        return fatality.nak_code == kInvalidRequest && !deeper_than_agreed(timeline, fatality, connection);
    };
    for (const Refused& one : refused(timeline, mine)) {
        const bool send = one.fatality.request && one.fatality.request->verb == dissect::Verb::send;
        const Legality legal = legality(one.fatality);
        const bool illegal = legal == Legality::misaligned || legal == Legality::length;
        FindingDraft draft = one.draft(send ? Party::application : illegal ? Party::requester : Party::undecided);
        draft.summary = fmt::format("{} refused {} from {} at PSN {} (invalid request){}.", one.to(), described(one.fatality, one.connection.ambiguous), one.from(),
                                    one.fatality.psn.value(),
                                    send ? ", most likely because the posted receive is too short" : beside_last_good(one.fatality));
        draft.advice = invalid_advice(one.fatality, one.responder());
        if (legal == Legality::length)
            draft.advice = fmt::format("Check {}: it sent {} of payload for this request.", one.from(), length(one.fatality.request->bytes));
        if (legal == Legality::taken) say_taken(timeline, one, draft);
        emit(std::move(draft));
    }
}

void remote_operational_error(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const Fatality& fatality, const Connection&) { return fatality.nak_code == kRemoteOperational; };
    for (const Refused& one : refused(timeline, mine)) {
        FindingDraft draft = one.draft(Party::responder);
        draft.summary = fmt::format("{} failed to execute {} from {} at PSN {} (remote operational error).", one.to(),
                                    described(one.fatality, one.connection.ambiguous), one.from(), one.fatality.psn.value());
        const bool send = one.fatality.request && one.fatality.request->verb == dissect::Verb::send;
        draft.advice =
            send ? fmt::format(
                       "Check the posted receive on {}: a buffer shorter than {} (soft-RoCE reports it so), memory that is not "
                       "registered, or an error in the kernel log.",
                       one.responder(), length(one.fatality.request->bytes))
                 : fmt::format("Look on {} for the local error that caused it: memory that cannot be accessed, the kernel log.", one.responder());
        emit(std::move(draft));
    }
}

void unknown_nak(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const Fatality& fatality, const Connection&) {
        return fatality.nak_code != kInvalidRequest && fatality.nak_code != kRemoteAccess && fatality.nak_code != kRemoteOperational;
    };
    for (const Refused& one : refused(timeline, mine)) {
        FindingDraft draft = one.draft(Party::responder);
        draft.summary = fmt::format("{} refused {} from {} at PSN {} with NAK code {}, which is undefined for this service.", one.to(),
                                    described(one.fatality, one.connection.ambiguous), one.from(), one.fatality.psn.value(), one.fatality.nak_code);
        draft.advice = fmt::format("Report it to the NIC vendor of {} with the packets listed here.", one.responder());
        emit(std::move(draft));
    }
}

void read_depth_exceeded(const Timeline& timeline, const Emit& emit) {
    const auto mine = [&](const Fatality& fatality, const Connection& connection) {
        return deeper_than_agreed(timeline, fatality, connection);
    };
    for (const Refused& one : refused(timeline, mine)) {
        const std::uint32_t depth = agreed_depth(timeline, one.connection, one.fatality.requester).value_or(0);
        FindingDraft draft = one.draft(Party::requester);
        draft.summary =
            fmt::format("{} had {} READs and ATOMICs outstanding although {} were negotiated; {} refused one of them at PSN {}.",
                        one.from(), one.fatality.reads_outstanding, depth, one.to(), one.fatality.psn.value());
        draft.advice = fmt::format(
            "Set max_rd_atomic of the queue pair on {} to the initiator depth that CM returned ({}), not to the "
            "maximum of the device.",
            one.from(), depth);
        emit(std::move(draft));
    }
}

void read_depth_limited(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            const auto depth = agreed_depth(timeline, connection, end);
            if (way.most_reads < kLeastDepthSeen || way.reads_at_most < kPlateau || (depth && way.most_reads < *depth)) continue;
            const std::uint64_t reads = way.messages_of(MessageKind::read);
            const std::uint64_t nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(std::to_underlying(way.latency.sum), 0));
            std::string allowed;
            if (reads != 0 && reads == way.completed && way.latency.count == reads && nanoseconds != 0) {
                const double rate =
                    static_cast<double>(way.most_reads) * static_cast<double>(way.message_bytes) * 8 / static_cast<double>(nanoseconds);
                allowed = fmt::format("; with READs of {} that take {} each, this allows {:.3g} Gbit/s", bytes_text(way.message_bytes / reads),
                                      duration_text(dissect::Duration{static_cast<std::int64_t>(nanoseconds / reads)}), rate);
            }
            emit({.party = Party::requester,
                  .connection = connection.uid,
                  .packets = {way.first_frame},
                  .count = way.reads_at_most,
                  .summary = fmt::format("{} had {} READs and ATOMICs outstanding to {} {}, and never more{}{}.", host(connection.end(end)),
                                         way.most_reads, who(connection.end(other(end))), times(way.reads_at_most),
                                         depth ? " (the negotiated depth)" : "", allowed),
                  .advice = fmt::format(
                      "Raise initiator_depth on {} and responder_resources on {} (max_rd_atomic, max_dest_rd_atomic) or use "
                      "larger READs if they are too slow.",
                      host(connection.end(end)), host(connection.end(other(end))))});
        }
}

namespace {

// A host disconnects when its timeout is over: what it had asked long before was not answered for all that.
void emit_given_up(const Timeline& timeline, const Connection& connection, End end, const Emit& emit) {
    const Way& way = connection.way(end);
    const CmRung* release = own_disconnect(timeline, connection, end);
    if (release == nullptr || way.incidents->abandoned == 0 || release->time - way.last_time < kPatience) return;
    emit({.party = Party::undecided,
          .connection = connection.uid,
          .packets = {way.last_frame, release->frame},
          .count = way.incidents->abandoned,
          .summary = fmt::format("{} from {} to {} had no answer when {} disconnected, {} after its last packet.",
                                 counted(way.incidents->abandoned, "message"), host(connection.end(end)), who(connection.end(other(end))),
                                 host(connection.end(end)), duration_text(release->time - way.last_time)),
          .advice = fmt::format("Look in the log of {} for the timeout that made it disconnect, and on {} for what kept the answers; the tap may "
                                "also have missed them.",
                                host(connection.end(end)), host(connection.end(other(end))))});
}

}  // namespace

void requests_unanswered(const Timeline& timeline, const Emit& emit) {
    if (!timeline.last) return;
    std::vector<ConnectionId> over;  // whose requesters gave up: that is another finding
    for (const Recovery& record : timeline.recoveries)
        if (record.end == RecoveryEnd::gave_up) over.push_back(record.connection);
    std::ranges::sort(over);
    const auto gave_up = [&](const Connection& connection) { return std::ranges::binary_search(over, connection.uid); };
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            if (connection.way(other(end)).incidents->unread_answers != 0) continue;  // they may be among those
            if (!connection.reliable() || connection.one_way() || connection.failed || gave_up(connection)) continue;
            if (connection.released) {
                emit_given_up(timeline, connection, end, emit);
                continue;
            }
            if (way.open == 0) continue;
            const dissect::Duration silent = timeline.end_of(connection) - connection.last_time();
            if (silent < kPatience) continue;
            emit({.party = Party::undecided,
                  .connection = connection.uid,
                  .packets = {way.last_frame},
                  .count = way.open,
                  .summary = fmt::format("{} from {} to {} had no answer when the capture ended, {} after the connection's last packet.",
                                         counted(way.open, "message"), host(connection.end(end)), who(connection.end(other(end))),
                                         duration_text(silent)),
                  .advice =
                      fmt::format("Check on {} whether the queue pair is in the error state or has no ACK timeout (0 is infinite); the "
                                  "tap may also have missed the last answers.",
                                  host(connection.end(end)))});
        }
}

}  // namespace qps::transport::draw
