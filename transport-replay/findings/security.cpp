// Findings about who may not be who he says, or tries what he was not given: R_Keys one after the other, queue pairs one after the other,
// PSNs that do not fit, CNPs of unexpected sources, floods of connection requests; and storage protocols without authentication. Each says what the
// packets show; that it was an attack no capture can tell.
#include <dissect/types.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;
using dissect::Service;

constexpr std::size_t kFewestKeys = 8;          // a program that uses an old R_Key uses one, or one a connection, at once
constexpr std::size_t kFewestQueuePairs = 32;   // tried one after the other
// From the first request to a queue pair to the end of the capture: sooner no answer was due, as of requests-unanswered (refusal.cpp).
constexpr dissect::Duration kAnswerDue{1'000'000'000};
constexpr std::uint32_t kFewestReturns = 8;     // of PSNs: once chance may do, where a queue pair begins anew
constexpr std::size_t kFloodRequests = 256;     // in a second, that lead to nothing: programs that start together try once each
constexpr dissect::Duration kFloodTime{1'000'000'000};
constexpr std::uint8_t kRemoteAccessError = 2;  // NAK code, 9.7.5.2
constexpr std::uint64_t kMajority = 4;     // of five

using Hosts = std::pair<Address, Address>;

// One after the other: each was refused, or given up, before the next was tried.
struct Tries {
    std::uint64_t count = 0;
    std::vector<dissect::FrameIndex> packets;
    std::optional<dissect::Instant> first;
    dissect::Instant last{};
};

bool is_connected(const Connection& connection) {
    return connection.service == Service::rc || connection.service == Service::uc || connection.service == Service::xrc;
}

bool is_ipv4(const Address& address) { return address.bits[0] == 0 && address.bits[1] >> 32U == 0xffff; }
bool alike(const Address& one, const Address& other) { return one.space == other.space && is_ipv4(one) == is_ipv4(other); }

// R_Keys

struct RefusedKey {
    const Fatality* fatality = nullptr;
    [[nodiscard]] dissect::FrameIndex asked() const { return fatality->request->first_frame; }
    [[nodiscard]] dissect::Rkey key() const { return fatality->request->access->key; }
};

Tries keys_in_turn(std::vector<RefusedKey>& refused) {
    std::ranges::sort(refused, {}, &RefusedKey::asked);
    Tries tries;
    std::set<dissect::Rkey> keys;
    dissect::FrameIndex last_nak{};
    for (const RefusedKey& one : refused) {
        const Fatality& fatality = *one.fatality;
        if (one.asked() <= last_nak || !keys.insert(one.key()).second) continue;
        last_nak = fatality.frame;
        ++tries.count;
        if (!tries.first) tries.first = fatality.request->first_time;
        tries.last = fatality.time;
        if (tries.packets.size() + 1 < kMaxEvidence) tries.packets.insert(tries.packets.end(), {one.asked(), fatality.frame});
    }
    return tries;
}

void keys_tried(const Timeline& timeline, const Emit& emit) {
    if (timeline.fatalities.size() < kFewestKeys) return;
    std::map<Hosts, std::vector<RefusedKey>> pairs;
    for (const Fatality& fatality : timeline.fatalities) {
        const Connection* connection = timeline.find(fatality.connection);
        if (connection == nullptr || fatality.nak_code != kRemoteAccessError || !fatality.request || !fatality.request->access) continue;
        if (fatality.last_good && fatality.last_good->key == fatality.request->access->key) continue;  // it was right before
        const Hosts hosts{connection->end(fatality.requester).address, connection->end(other(fatality.requester)).address};
        pairs[hosts].push_back({&fatality});
    }
    for (auto& [hosts, refused] : pairs) {
        Tries tries = keys_in_turn(refused);
        if (tries.count < kFewestKeys) continue;
        const std::string from = text(hosts.first), to = text(hosts.second);
        emit({.party = Party::requester,
              .old_packets = std::move(tries.packets),
              .count = tries.count,
              .old_summary = fmt::format("{} tried {} different R_Keys on {} one after the other, within {}, and {} refused each (remote access error).", from,
                                     grouped(tries.count), to, duration_text(tries.last - tries.first.value_or(tries.last)), to),
              .old_advice = fmt::format("Find the program on {} that tries them, unless {} lost the registrations of many connections just before: then they are old ones.",
                                    from, to)});
    }
}

// Queue pairs

struct TriedQueuePair {
    dissect::Qpn qpn{};
    dissect::Instant first{};
    dissect::Instant last{};
    dissect::FrameIndex frame{};
};
struct TriedHost {
    std::vector<TriedQueuePair> tried;
    bool hears = false;         // the tap has packets of that host to who tries
    bool answers_alone = false;  // and some without the requests: it has one way of some connections
};

std::map<Hosts, TriedHost> tried_hosts(const Timeline& timeline) {
    std::map<Hosts, TriedHost> found;
    for (const Connection& connection : timeline.connections) {
        if (!connection.reliable()) continue;
        for (const End end : {End::a, End::b}) {
            const Way &own = connection.way(end), &back = connection.way(other(end));
            if (own.packets == 0) continue;
            TriedHost& host = found[{connection.end(end).address, connection.end(other(end)).address}];
            if (back.packets != 0) {
                host.hears = true;
                continue;
            }
            if (own.requests != own.packets) {  // the requests that it answers are not captured
                TriedHost& way_back = found[{connection.end(other(end)).address, connection.end(end).address}];
                way_back.hears = way_back.answers_alone = true;
                continue;
            }
            if (timeline.last && timeline.end_of(connection) - own.first_time < kAnswerDue) continue;
            const auto qpn = connection.end(other(end)).qpn;
            if (qpn && !connection.cm_attempt && own.incidents->corrupt == 0) host.tried.push_back({*qpn, own.first_time, own.last_time, own.first_frame});
        }
    }
    return found;
}

// Those of a program that died are asked again and again, side by side.
void queue_pairs_tried(const Timeline& timeline, const Emit& emit) {
    if (timeline.connections.size() < kFewestQueuePairs) return;
    for (auto& [hosts, host] : tried_hosts(timeline)) {
        if (!host.hears || host.answers_alone || host.tried.size() < kFewestQueuePairs) continue;
        std::ranges::sort(host.tried, {}, [](const TriedQueuePair& one) { return std::pair{one.first, one.frame}; });
        Tries tries;
        std::set<dissect::Qpn> numbers;
        for (const TriedQueuePair& one : host.tried) {
            if ((tries.count != 0 && one.first <= tries.last) || !numbers.insert(one.qpn).second) continue;
            if (tries.count++ == 0) tries.first = one.first;
            tries.last = one.last;
            if (tries.packets.size() < kMaxEvidence) tries.packets.push_back(one.frame);
        }
        if (tries.count < kFewestQueuePairs || tries.count * (kMajority + 1) < host.tried.size() * kMajority) continue;
        const std::string from = text(hosts.first), to = text(hosts.second);
        emit({.party = Party::undecided,
              .old_packets = std::move(tries.packets),
              .count = tries.count,
              .old_summary = fmt::format("{} sent requests to {} queue pairs of {} one after the other, within {} (numbers {} to {}), and no answer of theirs was read.",
                                     from, grouped(tries.count), to, duration_text(tries.last - tries.first.value_or(tries.last)),
                                     std::to_underlying(*numbers.begin()), std::to_underlying(*numbers.rbegin())),
              .old_advice = fmt::format("Find the program on {} that sends them, or who uses its address (source MAC and UDP port of these packets); compare with the queue "
                                    "pairs that {} has (`rdma resource show qp`).",
                                    from, to)});
    }
}

// PSNs

void psn_conflict(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            if (way.incidents->psn_returns < kFewestReturns) continue;
            const std::string from = host(connection.end(end)), to = who(connection.end(other(end)));
            emit({.party = Party::undecided,
                  .connection = connection.uid,
                  .old_packets = way.incidents->frames(Oddity::stray),
                  .count = way.incidents->psn_returns,
                  .old_summary = fmt::format("{} the PSNs of {} to {} left their sequence by more than {} and came back to it within a second: packets of two senders, or recordings by two clocks.",
                                         times(way.incidents->psn_returns), from, to, grouped(kFarPsn)),
                  .old_advice = fmt::format("Compare source MAC, TTL, UDP port and VNI of these packets with the others of {}: who does not know the PSNs is not "
                                        "the one that is connected (two tenants with the same addresses at one tap look alike).",
                                        from)});
        }
}

// CNPs

// Queue pairs that have one peer, by host and number.
struct Bound {
    Address host;
    dissect::Qpn qpn{};
    const Connection* connection = nullptr;
    End end{};
    [[nodiscard]] auto place() const { return std::pair{host, qpn}; }
    [[nodiscard]] const Address& peer() const { return connection->end(other(end)).address; }
    // CNPs of an unexpected source make no connection.
    [[nodiscard]] bool is_only_cnps() const {
        const Way &own = connection->way(end), &back = connection->way(other(end));
        return own.packets == 0 && back.packets == back.incidents->cnps;
    }
    [[nodiscard]] bool is_sure() const { return is_connected(*connection) && connection->confidence >= Confidence::strong && !connection->one_way(); }
};

std::vector<Bound> bound_queue_pairs(const Timeline& timeline) {
    std::vector<Bound> found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b})
            if (const auto qpn = connection.end(end).qpn) found.push_back({connection.end(end).address, *qpn, &connection, end});
    std::ranges::sort(found, {}, [](const Bound& one) { return std::pair{one.place(), one.connection->uid}; });
    std::erase_if(found, [](const Bound& one) { return one.is_only_cnps(); });
    return found;
}

// Whether it was connected all the while, and so long before that no CNP of its peer before this one was still under way.
bool spans(const Connection& connection, const CnpStream& stream) {
    constexpr dissect::Duration kUnderWay{100'000'000};
    const auto last = std::max(connection.ways[0].last_frame, connection.ways[1].last_frame);
    const auto first_time = std::min(connection.ways[0].first_time, connection.ways[1].first_time);
    return connection.first_frame() < stream.first_frame && stream.last_frame < last && stream.last_time - first_time > kUnderWay;
}

// Of a queue pair that is connected; datagrams may bring CNPs from everywhere.
void cnp_unexpected_source(const Timeline& timeline, const Emit& emit) {
    if (timeline.congestion.notifications.empty()) return;
    const std::vector<Bound> bound = bound_queue_pairs(timeline);
    for (const CnpStream& stream : timeline.congestion.notifications) {
        const auto of = std::ranges::equal_range(bound, std::pair{stream.flow.destination, stream.flow.destination_qp}, {}, &Bound::place);
        const auto strange = [&](const Bound& one) {
            return one.is_sure() && one.peer() != stream.flow.source && alike(one.peer(), stream.flow.source);
        };
        if (of.empty() || !std::ranges::all_of(of, strange)) continue;
        const auto its = std::ranges::find_if(of, [&](const Bound& one) { return spans(*one.connection, stream); });
        if (its == of.end()) continue;
        emit({.party = Party::undecided,
              .old_packets = {stream.first_frame, stream.last_frame},
              .count = stream.count,
              .old_summary = fmt::format("{} sent {} to {} QP {}, which was connected with {} meanwhile: its CNPs come from there.", text(stream.flow.source),
                                     counted(stream.count, "CNP"), text(stream.flow.destination), std::to_underlying(stream.flow.destination_qp),
                                     text(its->peer())),
              .old_advice = fmt::format("Find out who sends as {} (source MAC of these packets), and whether it is another address of {}: {} slows down for CNPs "
                                    "without asking who sent them.",
                                    text(stream.flow.source), text(its->peer()), text(stream.flow.destination))});
    }
}

// Connection requests

bool is_answered(const CmAttempt& attempt) { return std::ranges::any_of(attempt.ladder, [](const CmRung& rung) { return !rung.from_active; }); }

struct Request {
    dissect::Instant time{};
    const CmAttempt* attempt = nullptr;
    // What is answered and leads to nothing; what is not may have answers that the capture lacks.
    [[nodiscard]] bool failed() const {
        const bool over = attempt->outcome == CmOutcome::rejected || attempt->outcome == CmOutcome::no_answer || attempt->outcome == CmOutcome::half_open;
        return over && is_answered(*attempt);
    }
    [[nodiscard]] bool succeeded() const { return was_set_up(attempt->outcome); }
};

// The second in which most began that failed: from one to behind the last.
std::span<const Request> busiest(std::span<const Request> requests) {
    std::size_t begin = 0, failed = 0, most = 0;
    std::span<const Request> worst;
    for (std::size_t end = 0; end < requests.size(); ++end) {
        failed += requests[end].failed() ? 1U : 0U;
        while (requests[end].time - requests[begin].time > kFloodTime) failed -= requests[begin++].failed() ? 1U : 0U;
        if (failed <= most) continue;
        most = failed;
        worst = requests.subspan(begin, end + 1 - begin);
    }
    return worst;
}

void cm_request_flood(const Timeline& timeline, const Emit& emit) {
    if (timeline.cm.attempts.size() < kFloodRequests) return;
    std::map<Address, std::vector<Request>> asked;
    std::set<Address> answering;
    for (const CmAttempt& attempt : timeline.cm.attempts) {
        if (!attempt.requested || attempt.service == CmService::datagram || attempt.service == CmService::iwarp) continue;
        asked[attempt.passive.address].push_back({*attempt.requested, &attempt});
        if (is_answered(attempt)) answering.insert(attempt.passive.address);
    }
    for (auto& [passive, requests] : asked) {
        if (requests.size() < kFloodRequests || !answering.contains(passive)) continue;  // its answers would be captured
        std::ranges::sort(requests, {}, [](const Request& one) { return std::pair{one.time, one.attempt->uid}; });
        const std::span<const Request> worst = busiest(requests);
        const auto failed = static_cast<std::uint64_t>(std::ranges::count_if(worst, &Request::failed));
        const auto succeeded = static_cast<std::uint64_t>(std::ranges::count_if(worst, &Request::succeeded));
        if (failed < kFloodRequests || succeeded * kMajority > failed) continue;
        std::set<Address> from;
        std::vector<dissect::FrameIndex> packets;
        for (const Request& request : worst) {
            from.insert(request.attempt->active.address);
            if (packets.size() < kMaxEvidence) packets.push_back(request.attempt->first_frame);
        }
        const std::string askers = from.size() == 1 ? text(*from.begin()) : counted(from.size(), "host");
        emit({.party = Party::application,
              .old_packets = std::move(packets),
              .count = failed,
              .old_summary = fmt::format("{} sent {} to {} within {}, and {}.", askers, counted(worst.size(), "connection request"), text(passive),
                                     duration_text(worst.back().time - worst.front().time),
                                     failed == worst.size() ? "none of them led to a connection" : grouped(failed) + " of them led to no connection"),
              .old_advice = fmt::format("Find out what asks so often, and let it wait longer before it asks again; on {} limit the backlog of rdma_listen, and who may send "
                                    "to queue pair 1 and UDP port 4791.",
                                    text(passive))});
    }
}

// Storage without authentication

constexpr std::string_view kDiscovery = "nqn.2014-08.org.nvmexpress.discovery";  // who may read the list is another question

// What the conversations of two hosts say. Of NVMe the admin queue tells: who authenticated there need not do so on queues for I/O.
struct Authentication {
    bool asked_for = false;
    bool not_asked_for = false;
    std::vector<dissect::FrameIndex> used;   // first frames: of queues for I/O, or of data
    std::vector<dissect::FrameIndex> admin;  // where there are none
};

std::map<Hosts, Authentication> authentications(const Timeline& timeline, UlpProtocol protocol, std::string_view fact, std::string_view value) {
    std::map<Hosts, Authentication> pairs;
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        const Connection* const connection = timeline.find(conversation.connection);
        if (conversation.protocol != protocol || connection == nullptr) continue;
        Authentication& pair = pairs[{connection->end(conversation.active).address, connection->end(other(conversation.active)).address}];
        const std::string_view said = conversation.fact(fact), queue = conversation.fact("queue"), subsystem = conversation.fact("subsystem");
        const bool nvme = protocol == UlpProtocol::nvme;
        if ((nvme && !said.empty() && said != value) || !conversation.fact("authenticated by").empty()) pair.asked_for = true;
        if (said != value) continue;
        if (!queue.starts_with("I/O")) pair.not_asked_for = true;
        if (nvme && (subsystem.empty() || subsystem == kDiscovery)) continue;
        (queue == "admin" ? pair.admin : pair.used).push_back(connection->first_frame());
    }
    return pairs;
}

// All conversations in one note: it is a property of a site, not an event.
void emit_unauthenticated(const Timeline& timeline, const Emit& emit, UlpProtocol protocol, std::string_view fact, std::string_view value,
                          std::string_view what, std::string advice) {
    std::set<Hosts> pairs;
    FindingDraft draft{.party = Party::application};
    for (const auto& [hosts, pair] : authentications(timeline, protocol, fact, value)) {
        const auto& frames = pair.used.empty() ? pair.admin : pair.used;
        if (pair.asked_for || !pair.not_asked_for || frames.empty()) continue;
        pairs.insert(hosts);
        for (const dissect::FrameIndex frame : frames) add_evidence(draft, frame);
    }
    if (pairs.empty()) return;
    draft.count = pairs.size();
    const std::string more = pairs.size() == 1 ? "" : fmt::format(" (and {} of hosts)", counted(pairs.size() - 1, "more pair"));
    draft.old_summary = fmt::format("{} {} {}{}.", text(pairs.begin()->first), what, text(pairs.begin()->second), more);
    draft.old_advice = std::move(advice);
    emit(std::move(draft));
}

void nvme_unauthenticated(const Timeline& timeline, const Emit& emit) {
    emit_unauthenticated(timeline, emit, UlpProtocol::nvme, "authentication", "not required", "connected without DH-HMAC-CHAP to the NVMe subsystem of",
                         "Do nothing where the network alone decides who is admitted; otherwise give the subsystem keys of its hosts (dhchap_key of nvmet, `nvme "
                         "connect --dhchap-secret`).");
}

void nfs_auth_sys(const Timeline& timeline, const Emit& emit) {
    emit_unauthenticated(timeline, emit, UlpProtocol::rpc_rdma, "data credentials", "AUTH_SYS", "asked with AUTH_SYS for data of the NFS server",
                         "Do nothing where every client is trusted to say for which user it asks; otherwise mount with sec=krb5.");
}

}  // namespace

Family security_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "keys-tried",
                   .severity = Severity::warning,
                   .clause = "IBA 10.6.3, 9.7.5.2.1",
                   .meaning = "Many R_Keys were tried on one host, which refused them",
                   .draw = keys_tried},
        FindingRow{.id = "queue-pairs-tried",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "Many queue pairs of one host were tried in turn, and none answered",
                   .draw = queue_pairs_tried},
        FindingRow{.id = "psn-conflict",
                   .severity = Severity::warning,
                   .clause = "IBA 9.7.3",
                   .meaning = "Packets of two senders have the addresses of one connection",
                   .draw = psn_conflict},
        FindingRow{.id = "cnp-unexpected-source",
                   .severity = Severity::warning,
                   .clause = "IBA A17.9.3",
                   .meaning = "CNPs come from a host that is no end of that connection",
                   .draw = cnp_unexpected_source},
        FindingRow{.id = "cm-request-flood",
                   .severity = Severity::warning,
                   .clause = "IBA 12.9.8",
                   .meaning = "A host had hundreds of connection requests a second that led to nothing",
                   .draw = cm_request_flood},
        FindingRow{.id = "nvme-unauthenticated",
                   .severity = Severity::note,
                   .clause = "NVMe Base 8.3.4.4",
                   .meaning = "Hosts used NVMe subsystems without DH-HMAC-CHAP",
                   .draw = nvme_unauthenticated},
        FindingRow{.id = "nfs-auth-sys",
                   .severity = Severity::note,
                   .clause = "RFC 5531 8.2, 9",
                   .meaning = "Clients asked for data of NFS with AUTH_SYS",
                   .draw = nfs_auth_sys},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
