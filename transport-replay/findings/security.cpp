// Findings about who may not be who he says, or tries what he was not given: R_Keys one after the other, queue pairs
// one after the other, PSNs that do not fit, CNPs of unexpected sources, floods of connection requests; and storage
// protocols without authentication. Each says what the packets show; that it was an attack no capture can tell.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;
using dissect::Service;

constexpr FactRow kKeysTried{"keys_tried", Unit::count,
                             "different R_Keys that were tried one after the other, and refused"};
constexpr FactRow kQueuePairsTried{"queue_pairs_tried", Unit::count, "queue pairs that were tried one after the other"};
constexpr FactRow kLeastTried{"least_queue_pair", Unit::number, "the least of their numbers"};
constexpr FactRow kGreatestTried{"greatest_queue_pair", Unit::number, "the greatest of their numbers"};
constexpr FactRow kPsnReturns{"psn_returns", Unit::count,
                              "times that the PSNs left their sequence and came back to it within a second"};
constexpr FactRow kPsnDistance{"psn_distance", Unit::count, "by how many PSNs at least"};
constexpr FactRow kAskingHosts{"asking_hosts", Unit::count, "hosts that sent the requests, where several did"};
constexpr FactRow kUseless{"useless_requests", Unit::count, "requests that led to no connection"};
constexpr FactRow kAllUseless{"all_useless", Unit::flag, "these are all of them"};
constexpr FactRow kMorePairs{"more_pairs", Unit::count, "further pairs of hosts of which it is true"};

constexpr std::size_t kFewestKeys = 8;  // a program that uses an old R_Key uses one, or one a connection, at once
constexpr std::size_t kFewestQueuePairs = 32;  // tried one after the other
// From the first request to a queue pair to the end of the capture: sooner no answer was due, as of requests-unanswered
// (refusal.cpp).
constexpr dissect::Duration kAnswerDue{1'000'000'000};
constexpr std::uint32_t kFewestReturns = 8;  // of PSNs: once chance may do, where a queue pair begins anew
constexpr std::size_t kFloodRequests =
    256;  // in a second, that lead to nothing: programs that start together try once each
constexpr dissect::Duration kFloodTime{1'000'000'000};
constexpr std::uint8_t kRemoteAccessError = 2;  // NAK code, 9.7.5.2
constexpr std::uint64_t kMajority = 4;          // of five

using Hosts = std::pair<Address, Address>;

// One after the other: each was refused, or given up, before the next was tried.
struct Tries {
    std::uint64_t count = 0;
    std::vector<FindingEvent> events{};
    std::optional<dissect::Instant> first;
    dissect::Instant last{};
    [[nodiscard]] dissect::Duration span() const { return last - first.value_or(last); }
};

bool is_connected(const Connection& connection) {
    return connection.service == Service::rc || connection.service == Service::uc || connection.service == Service::xrc;
}

bool is_ipv4(const Address& address) { return address.bits[0] == 0 && address.bits[1] >> 32U == 0xffff; }
bool alike(const Address& one, const Address& other) {
    return one.space == other.space && is_ipv4(one) == is_ipv4(other);
}

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
        tries.events.push_back({one.asked(), EventRole::original, fatality.request->first_time});
        tries.events.push_back({fatality.frame, EventRole::nak, fatality.time});
    }
    return tries;
}

void keys_tried(const Timeline& timeline, const Emit& emit) {
    if (timeline.fatalities.size() < kFewestKeys) return;
    std::map<Hosts, std::vector<RefusedKey>> pairs;
    for (const Fatality& fatality : timeline.fatalities) {
        const Connection* connection = timeline.find(fatality.connection);
        if (connection == nullptr || fatality.nak_code != kRemoteAccessError || !fatality.request ||
            !fatality.request->access)
            continue;
        if (fatality.last_good && fatality.last_good->key == fatality.request->access->key)
            continue;  // it was right before
        const Hosts hosts{connection->end(fatality.requester).address,
                          connection->end(other(fatality.requester)).address};
        pairs[hosts].push_back({&fatality});
    }
    for (auto& [hosts, refused] : pairs) {
        Tries tries = keys_in_turn(refused);
        if (tries.count < kFewestKeys) continue;
        emit({.party = Party::requester,
              .count = tries.count,
              .facts = {{kHost, hosts.first}, {kPeer, hosts.second}, {kKeysTried, tries.count}, {kSpan, tries.span()}},
              .events = std::move(tries.events)});
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
    bool hears = false;          // the tap has packets of that host to who tries
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
            if (qpn && !connection.cm_attempt && own.incidents->corrupt == 0)
                host.tried.push_back({*qpn, own.first_time, own.last_time, own.first_frame});
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
            tries.events.push_back({one.frame, EventRole::original, one.first});
        }
        if (tries.count < kFewestQueuePairs || tries.count * (kMajority + 1) < host.tried.size() * kMajority) continue;
        emit({.party = Party::undecided,
              .count = tries.count,
              .facts = {{kHost, hosts.first},
                        {kPeer, hosts.second},
                        {kQueuePairsTried, tries.count},
                        {kSpan, tries.span()},
                        {kLeastTried, *numbers.begin()},
                        {kGreatestTried, *numbers.rbegin()}},
              .events = std::move(tries.events)});
    }
}

// PSNs

void psn_conflict(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            if (way.incidents->psn_returns < kFewestReturns) continue;
            FindingDraft draft{.party = Party::undecided,
                               .connection = connection.uid,
                               .count = way.incidents->psn_returns,
                               .facts = {{kSender, connection.end(end)},
                                         {kReceiver, connection.end(other(end))},
                                         {kPsnReturns, way.incidents->psn_returns},
                                         {kPsnDistance, kFarPsn}}};
            for (const dissect::FrameIndex frame : way.incidents->frames(Oddity::stray))
                draft.events.push_back({frame});
            emit(std::move(draft));
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
    [[nodiscard]] bool is_sure() const {
        return is_connected(*connection) && connection->confidence >= Confidence::strong && !connection->one_way();
    }
};

std::vector<Bound> bound_queue_pairs(const Timeline& timeline) {
    std::vector<Bound> found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b})
            if (const auto qpn = connection.end(end).qpn)
                found.push_back({connection.end(end).address, *qpn, &connection, end});
    std::ranges::sort(found, {}, [](const Bound& one) { return std::pair{one.place(), one.connection->uid}; });
    std::erase_if(found, [](const Bound& one) { return one.is_only_cnps(); });
    return found;
}

// Whether it was connected all the while, and so long before that no CNP of its peer before this one was still under
// way.
bool spans(const Connection& connection, const CnpStream& stream) {
    constexpr dissect::Duration kUnderWay{100'000'000};
    const auto last = std::max(connection.ways[0].last_frame, connection.ways[1].last_frame);
    const auto first_time = std::min(connection.ways[0].first_time, connection.ways[1].first_time);
    return connection.first_frame() < stream.first_frame && stream.last_frame < last &&
           stream.last_time - first_time > kUnderWay;
}

// Of a queue pair that is connected; datagrams may bring CNPs from everywhere.
void cnp_unexpected_source(const Timeline& timeline, const Emit& emit) {
    if (timeline.congestion.notifications.empty()) return;
    const std::vector<Bound> bound = bound_queue_pairs(timeline);
    for (const CnpStream& stream : timeline.congestion.notifications) {
        const auto of = std::ranges::equal_range(bound, std::pair{stream.flow.destination, stream.flow.destination_qp},
                                                 {}, &Bound::place);
        const auto strange = [&](const Bound& one) {
            return one.is_sure() && one.peer() != stream.flow.source && alike(one.peer(), stream.flow.source);
        };
        if (of.empty() || !std::ranges::all_of(of, strange)) continue;
        const auto its = std::ranges::find_if(of, [&](const Bound& one) { return spans(*one.connection, stream); });
        if (its == of.end()) continue;
        emit({.party = Party::undecided,
              .count = stream.count,
              .facts = {{kHost, stream.flow.source},
                        {kPeer, its->peer()},
                        {kReceiver, Endpoint{stream.flow.destination, stream.flow.destination_qp}},
                        {kPackets, stream.count}},
              .events = {{stream.first_frame}, {stream.last_frame, EventRole::evidence, stream.last_time}}});
    }
}

// Connection requests

bool is_answered(const CmAttempt& attempt) {
    return std::ranges::any_of(attempt.ladder, [](const CmRung& rung) { return !rung.from_active; });
}

struct Request {
    dissect::Instant time{};
    const CmAttempt* attempt = nullptr;
    // What is answered and leads to nothing; what is not may have answers that the capture lacks.
    [[nodiscard]] bool failed() const {
        const bool over = attempt->outcome == CmOutcome::rejected || attempt->outcome == CmOutcome::no_answer ||
                          attempt->outcome == CmOutcome::half_open;
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

FindingEvent first_event(const CmAttempt& attempt) {
    const auto rung = std::ranges::find(attempt.ladder, attempt.first_frame, &CmRung::frame);
    return {attempt.first_frame, EventRole::evidence,
            rung == attempt.ladder.end() ? std::nullopt : std::optional(rung->time)};
}

void cm_request_flood(const Timeline& timeline, const Emit& emit) {
    if (timeline.cm.attempts.size() < kFloodRequests) return;
    std::map<Address, std::vector<Request>> asked;
    std::set<Address> answering;
    for (const CmAttempt& attempt : timeline.cm.attempts) {
        if (!attempt.requested || attempt.service == CmService::datagram || attempt.service == CmService::iwarp)
            continue;
        asked[attempt.passive.address].push_back({*attempt.requested, &attempt});
        if (is_answered(attempt)) answering.insert(attempt.passive.address);
    }
    for (auto& [passive, requests] : asked) {
        if (requests.size() < kFloodRequests || !answering.contains(passive))
            continue;  // its answers would be captured
        std::ranges::sort(requests, {}, [](const Request& one) { return std::pair{one.time, one.attempt->uid}; });
        const std::span<const Request> worst = busiest(requests);
        const auto failed = static_cast<std::uint64_t>(std::ranges::count_if(worst, &Request::failed));
        const auto succeeded = static_cast<std::uint64_t>(std::ranges::count_if(worst, &Request::succeeded));
        if (failed < kFloodRequests || succeeded * kMajority > failed) continue;
        std::set<Address> from;
        std::vector<FindingEvent> events;
        for (const Request& request : worst) {
            from.insert(request.attempt->active.address);
            events.push_back(first_event(*request.attempt));
        }
        const bool one = from.size() == 1;
        emit({.party = Party::application,
              .count = failed,
              .facts = {{kHost, one ? std::optional(*from.begin()) : std::nullopt},
                        {kAskingHosts, one ? std::nullopt : std::optional(from.size())},
                        {kPeer, passive},
                        {kRequestsSent, worst.size()},
                        {kSpan, worst.back().time - worst.front().time},
                        {kUseless, failed},
                        {kAllUseless, failed == worst.size()}},
              .events = std::move(events)});
    }
}

// Storage without authentication

constexpr std::string_view kDiscovery =
    "nqn.2014-08.org.nvmexpress.discovery";  // who may read the list is another question

// What the conversations of two hosts say. Of NVMe the admin queue tells: who authenticated there need not do so on
// queues for I/O.
struct Authentication {
    bool asked_for = false;
    bool not_asked_for = false;
    std::vector<FindingEvent> used{};   // first frames: of queues for I/O, or of data
    std::vector<FindingEvent> admin{};  // where there are none
};

std::map<Hosts, Authentication> authentications(const Timeline& timeline, UlpProtocol protocol, std::string_view fact,
                                                std::string_view value) {
    std::map<Hosts, Authentication> pairs;
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        const Connection* const connection = timeline.find(conversation.connection);
        if (conversation.protocol != protocol || connection == nullptr) continue;
        Authentication& pair =
            pairs[{connection->end(conversation.active).address, connection->end(other(conversation.active)).address}];
        const std::string_view said = conversation.fact(fact), queue = conversation.fact("queue"),
                               subsystem = conversation.fact("subsystem");
        const bool nvme = protocol == UlpProtocol::nvme;
        if ((nvme && !said.empty() && said != value) || !conversation.fact("authenticated by").empty())
            pair.asked_for = true;
        if (said != value) continue;
        if (!queue.starts_with("I/O")) pair.not_asked_for = true;
        if (nvme && (subsystem.empty() || subsystem == kDiscovery)) continue;
        (queue == "admin" ? pair.admin : pair.used)
            .push_back({connection->first_frame(), EventRole::evidence, connection->first_time()});
    }
    return pairs;
}

// All conversations in one note: it is a property of a site, not an event.
void emit_unauthenticated(const Timeline& timeline, const Emit& emit, UlpProtocol protocol, std::string_view fact,
                          std::string_view value) {
    std::set<Hosts> pairs;
    FindingDraft draft{.party = Party::application};
    for (const auto& [hosts, pair] : authentications(timeline, protocol, fact, value)) {
        const auto& frames = pair.used.empty() ? pair.admin : pair.used;
        if (pair.asked_for || !pair.not_asked_for || frames.empty()) continue;
        pairs.insert(hosts);
        draft.events.insert(draft.events.end(), frames.begin(), frames.end());
    }
    if (pairs.empty()) return;
    draft.count = pairs.size();
    draft.facts = {
        {kHost, pairs.begin()->first}, {kPeer, pairs.begin()->second}, {kMorePairs, nonzero(pairs.size() - 1)}};
    emit(std::move(draft));
}

void nvme_unauthenticated(const Timeline& timeline, const Emit& emit) {
    emit_unauthenticated(timeline, emit, UlpProtocol::nvme, "authentication", "not required");
}

void nfs_auth_sys(const Timeline& timeline, const Emit& emit) {
    emit_unauthenticated(timeline, emit, UlpProtocol::rpc_rdma, "data credentials", "AUTH_SYS");
}

}  // namespace

Family security_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "keys-tried",
            .severity = Severity::warning,
            .clause = "IBA 10.6.3, 9.7.5.2.1",
            .meaning = "Many R_Keys were tried on one host, which refused them",
            .sentence =
                "{host} tried {keys_tried} different R_Keys on {peer} one after the other, within {span}, and {peer} refused each (remote access "
                "error).",
            .advice =
                "Find the program on {host} that tries them, unless {peer} lost the registrations of many connections just before: then they are old "
                "ones.",
            .alike =
                "A server that restarted refuses the old R_Keys of all of its clients; a client with many connections then meets one refusal on each.",
            .limits =
                "That somebody guesses R_Keys cannot be told from a program that kept old ones: the packets show that they were wrong.",
            .draw = keys_tried},
        FindingRow{
            .id = "queue-pairs-tried",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "Many queue pairs of one host were tried in turn, and none answered",
            .sentence =
                "{host} sent requests to {queue_pairs_tried} queue pairs of {peer} one after the other, within {span} (numbers {least_queue_pair} to "
                "{greatest_queue_pair}), and no answer of theirs was read.",
            .advice =
                "Find the program on {host} that sends them, or who uses its address (source MAC and UDP port of these packets); compare with the "
                "queue pairs that {peer} has (`rdma resource show qp`).",
            .alike =
                "A program that reconnects again and again to a peer that does not answer makes the same packets, and so does a tap that misses the "
                "answers.",
            .limits =
                "The address of the sender may be another's, and a queue pair that does not exist is as silent as one that waits.",
            .draw = queue_pairs_tried},
        FindingRow{
            .id = "psn-conflict",
            .severity = Severity::warning,
            .clause = "IBA 9.7.3",
            .meaning = "Packets of two senders have the addresses of one connection",
            .sentence =
                "{psn_returns:times} the PSNs of {sender:host} to {receiver} left their sequence by more than {psn_distance} and came back to it "
                "within a second: packets of two senders, or recordings by two clocks.",
            .advice =
                "Compare source MAC, TTL, UDP port and VNI of these packets with the others of {sender:host}: who does not know the PSNs is not the "
                "one that is connected (two tenants with the same addresses at one tap look alike).",
            .alike =
                "Two tenants with the same addresses at one tap, captures that were merged with clocks apart, and a queue pair that is used anew at "
                "once.",
            .limits =
                "Which of the two is the sender that is connected, and whether the other means harm, PSNs alone do not tell.",
            .draw = psn_conflict},
        FindingRow{
            .id = "cnp-unexpected-source",
            .severity = Severity::warning,
            .clause = "IBA A17.9.3",
            .meaning = "CNPs come from a host that is no end of that connection",
            .sentence =
                "{host} sent {packets:CNP} to {receiver}, which was connected with {peer} meanwhile: its CNPs come from there.",
            .advice =
                "Find out who sends as {host} (source MAC of these packets), and whether it is another address of {peer}: {receiver:host} slows down "
                "for CNPs without asking who sent them.",
            .alike =
                "A host with several addresses may send CNPs from another one than its data; so may a switch that sends CNPs for its hosts.",
            .limits =
                "Whether the sender slowed down for these CNPs, and who sent them under that address, is not in the packets.",
            .draw = cnp_unexpected_source},
        FindingRow{
            .id = "cm-request-flood",
            .severity = Severity::warning,
            .clause = "IBA 12.9.8",
            .meaning = "A host had hundreds of connection requests a second that led to nothing",
            .sentence =
                "[asking_hosts?{asking_hosts:host}|{host}] sent {requests_sent:connection request} to {peer} within {span}, and "
                "[all_useless?none of them led to a connection|{useless_requests} of them led to no connection].",
            .advice =
                "Find out what asks so often, and let it wait longer before it asks again; on {peer} limit the backlog of rdma_listen, and who may "
                "send to queue pair 1 and UDP port 4791.",
            .alike =
                "A large job whose ranks start before the server does makes as many requests, and stops as soon as it listens.",
            .limits =
                "Whether it is a fault of a program or meant to do harm is not in the packets; the addresses of requests may be invented.",
            .draw = cm_request_flood},
        FindingRow{
            .id = "nvme-unauthenticated",
            .severity = Severity::note,
            .clause = "NVMe Base 8.3.4.4",
            .meaning = "Hosts used NVMe subsystems without DH-HMAC-CHAP",
            .sentence =
                "{host} connected without DH-HMAC-CHAP to the NVMe subsystem of {peer}[ (and {more_pairs:more pair} of hosts)].",
            .advice =
                "Do nothing where the network alone decides who is admitted; otherwise give the subsystem keys of its hosts (dhchap_key of nvmet, `nvme "
                "connect --dhchap-secret`).",
            .alike = "Sites that separate storage by VLAN, partition or IPsec do without it on purpose.",
            .limits =
                "Only connections whose Connect command was captured are judged; what else admits a host is not in the packets.",
            .draw = nvme_unauthenticated},
        FindingRow{
            .id = "nfs-auth-sys",
            .severity = Severity::note,
            .clause = "RFC 5531 8.2, 9",
            .meaning = "Clients asked for data of NFS with AUTH_SYS",
            .sentence =
                "{host} asked with AUTH_SYS for data of the NFS server {peer}[ (and {more_pairs:more pair} of hosts)].",
            .advice =
                "Do nothing where every client is trusted to say for which user it asks; otherwise mount with sec=krb5.",
            .alike = "It is what most NFS mounts use, on networks whose clients are trusted.",
            .limits =
                "What the server's exports would allow is not in the packets, nor whether the data were worth protecting.",
            .draw = nfs_auth_sys},
    };
    static constexpr std::array kOwn{
        &kKeysTried,   &kQueuePairsTried, &kLeastTried, &kGreatestTried, &kPsnReturns,
        &kPsnDistance, &kAskingHosts,     &kUseless,    &kAllUseless,    &kMorePairs,
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
