// Findings about how two ends are set up to reach each other: RoCE version, GID, path MTU, partition.
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kVersion1Packets{"roce_v1_packets", Unit::count, "packets of RoCEv1 from the host"};
constexpr FactRow kVersion2Packets{"roce_v2_packets", Unit::count, "packets of RoCEv2 from its peer"};
constexpr FactRow kExampleHosts{"example_hosts", Unit::list, "the two hosts of one of the connections"};
constexpr FactRow kUnansweredConnections{"unanswered_connections", Unit::count,
                                         "connections of which no answer was captured, and that retransmit"};
constexpr FactRow kPacketMtu{"packet_mtu", Unit::bytes, "payload of a full packet of either end"};
constexpr FactRow kFirstMtu{"first_mtu", Unit::bytes, "payload of a full packet of the first end"};
constexpr FactRow kSecondMtu{"second_mtu", Unit::bytes, "payload of a full packet of the second end"};
constexpr FactRow kNegotiatedMtu{"negotiated_mtu", Unit::bytes, "path MTU that CM negotiated"};
constexpr FactRow kConnectionFailed{"connection_failed", Unit::flag, "a fatal NAK ended the connection"};
constexpr FactRow kMovedBytes{"moved_bytes", Unit::bytes, "bytes on the wire of these connections"};
constexpr FactRow kGreatestMtu{"greatest_mtu", Unit::bytes, "payload of a full packet of other connections"};
constexpr FactRow kHeaderShare{"header_share", Unit::share, "part of the link that headers take with that path MTU"};
constexpr FactRow kLeastHeaderShare{"least_header_share", Unit::share,
                                    "part of the link that headers take with the greatest path MTU"};
constexpr FactRow kFirstPkey{"first_pkey", Unit::number, "P_Key of most packets of the first end"};
constexpr FactRow kSecondPkey{"second_pkey", Unit::number, "P_Key of most packets of the second end"};
constexpr FactRow kSentPkey{"sent_pkey", Unit::number, "P_Key of packets, which CM did not negotiate"};
constexpr FactRow kNegotiatedPkey{"negotiated_pkey", Unit::number, "P_Key that CM negotiated"};
constexpr FactRow kAnswered{"answered", Unit::flag, "packets of the connection are answered"};
constexpr FactRow kAnnouncedIn{"announced_in", Unit::word,
                               "the message that announced it: REQ or REP, or the sequence NAK that asked for it"};
constexpr FactRow kGoBacks{"go_backs", Unit::count, "times that the requester went back to its first PSN"};
constexpr std::array kPathFacts{
    &kVersion1Packets,  &kVersion2Packets, &kExampleHosts, &kUnansweredConnections,
    &kPacketMtu,        &kFirstMtu,        &kSecondMtu,    &kNegotiatedMtu,
    &kConnectionFailed, &kMovedBytes,      &kGreatestMtu,  &kHeaderShare,
    &kLeastHeaderShare, &kFirstPkey,       &kSecondPkey,   &kSentPkey,
    &kNegotiatedPkey,   &kAnswered,        &kAnnouncedIn,  &kGoBacks,
};

constexpr std::uint16_t kFullMember = 0x8000;  // bit 15 of a P_Key (10.9.3)
constexpr std::uint16_t kPartition = 0x7fff;
constexpr std::uint32_t kJumboMtu = 2048;         // the least path MTU that a link of 1500 bytes cannot carry
constexpr std::uint64_t kBulkBytes = 1ULL << 20;  // below, nobody feels the headers
constexpr std::uint64_t kHeaderBytes = 82;  // Ethernet with preamble, gap and FCS 38, IPv4 20, UDP 8, BTH 12, ICRC 4
constexpr std::uint64_t kLinkLocal = 0xfe80 >> 6U;  // fe80::/10

bool roce(const Address& address) {
    return address.space == AddressSpace::roce_v1 || address.space == AddressSpace::roce_v2;
}
bool link_local(const Address& address) { return roce(address) && address.bits[0] >> 54U == kLinkLocal; }

void roce_version_mismatch(const Timeline& timeline, const Emit& emit) {
    const auto silent = [&](const OneWay& way, AddressSpace space) {
        return way.source.space == space && way.destination.space == space;
    };
    std::optional<Heard> heard;
    for (const OneWay& way : timeline.quality.one_way) {
        if (!silent(way, AddressSpace::roce_v1)) continue;
        Address source = way.destination, destination = way.source;
        source.space = destination.space = AddressSpace::roce_v2;
        const auto back =
            std::ranges::lower_bound(timeline.quality.one_way, std::pair{source, destination}, {},
                                     [](const OneWay& one) { return std::pair{one.source, one.destination}; });
        if (back == timeline.quality.one_way.end() || back->source != source || back->destination != destination)
            continue;
        if (!heard) heard.emplace(timeline);
        emit({.party = Party::undecided,
              .count = way.packets + back->packets,
              .facts = {{kHost, way.source},
                        {kPeer, source},
                        {kVersion1Packets, way.packets},
                        {kVersion2Packets, back->packets}},
              .events = {heard->first_event(way.source, way.destination), heard->first_event(source, destination)}});
    }
}

void link_local_gid(const Timeline& timeline, const Emit& emit) {
    std::uint64_t count = 0;
    std::uint64_t unanswered = 0;
    FindingDraft draft{.party = Party::application};
    std::vector<std::string> example;
    for (const Connection& connection : timeline.connections) {
        if (!link_local(connection.ends[0].address) && !link_local(connection.ends[1].address)) continue;
        // A capture of one direction is no proof of silence; somebody who sends again is.
        const bool silent = connection.reliable() && connection.one_way() &&
                            connection.ways[connection.ways[0].packets != 0 ? 0 : 1]
                                    .incidents->recovery(RecoveryKind::timeout)
                                    .episodes != 0;
        unanswered += silent ? 1 : 0;
        draft.events.push_back(first_event(connection));
        if (count++ == 0 || (silent && unanswered == 1))
            example = {text(connection.ends[0].address), text(connection.ends[1].address)};
    }
    if (count == 0) return;
    draft.count = count;
    draft.severity = unanswered != 0 ? Severity::warning : Severity::note;
    draft.facts = {
        {kConnections, count}, {kExampleHosts, std::move(example)}, {kUnansweredConnections, nonzero(unanswered)}};
    emit(std::move(draft));
}

void path_mtu_differs(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections) {
        const std::uint32_t a = connection.ways[0].path_mtu, b = connection.ways[1].path_mtu;
        const std::uint32_t agreed = connection.cm_path_mtu.value_or(0);
        const std::uint32_t used = std::max(a, b);
        const bool ways = a != 0 && b != 0 && a != b;
        const bool cm = agreed != 0 && used != 0 && used != agreed;
        if (!ways && !cm) continue;
        Facts facts{{kFirstEnd, connection.ends[0]},
                    {kSecondEnd, connection.ends[1]},
                    {kNegotiatedMtu, nonzero(agreed)},
                    {kConnectionFailed, connection.failed}};
        if (ways) facts.insert(facts.end(), {{kFirstMtu, a}, {kSecondMtu, b}});
        else facts.emplace_back(kPacketMtu, used);
        emit({.party = Party::application,
              .connection = connection.uid,
              // Packets shorter than agreed only cost headers.
              .severity = ways || used > agreed ? Severity::warning : Severity::note,
              .facts = std::move(facts),
              .events = first_events(connection)});
    }
}

void path_mtu_small_in(const Timeline& timeline, std::uint16_t recording, const Emit& emit) {
    std::uint32_t greatest = 0;
    std::uint64_t bytes = 0;
    FindingDraft draft{.party = Party::application, .count = 0};
    std::uint32_t small = 0;
    for (const Connection& connection : timeline.connections) {
        if (connection.recording != recording) continue;
        const std::uint32_t used = std::max(connection.ways[0].path_mtu, connection.ways[1].path_mtu);
        greatest = std::max(greatest, used);
        if (used == 0 || used >= kJumboMtu || connection.all_bytes() < kBulkBytes) continue;
        ++draft.count;
        bytes += connection.all_bytes();
        small = std::max(small, used);
        draft.events.push_back(first_event(connection));
    }
    if (draft.count == 0 || greatest < kJumboMtu) return;
    draft.facts = {{kConnections, draft.count},
                   {kMovedBytes, bytes},
                   {kPacketMtu, small},
                   {kGreatestMtu, greatest},
                   {kHeaderShare, part_of(kHeaderBytes, kHeaderBytes + small)},
                   {kLeastHeaderShare, part_of(kHeaderBytes, kHeaderBytes + greatest)}};
    emit(std::move(draft));
}

void path_mtu_small(const Timeline& timeline, const Emit& emit) {
    for (std::size_t recording = 0; recording <= timeline.recordings.size(); ++recording)
        path_mtu_small_in(timeline, static_cast<std::uint16_t>(recording), emit);
}

constexpr std::string_view kLimitedMembers =
    "{first_end:host} and {second_end} both send as limited members of P_Key {first_pkey:hex4}, which may not communicate with each other; {>answered}.";
constexpr std::string_view kNotNegotiated =
    "[first_end?[second_end?{first_end:host} and {second_end} send|{first_end:host} sends]|{second_end} sends] with P_Key {sent_pkey:hex4} although CM "
    "negotiated {negotiated_pkey:hex4}; {>answered}.";

void pkey_mismatch(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections) {
        const auto a = most_of(connection.ways[0].pkeys), b = most_of(connection.ways[1].pkeys);
        const auto number = [](dissect::Pkey key) { return std::to_underlying(key); };
        const auto same = [&](dissect::Pkey x, dissect::Pkey y) { return ((number(x) ^ number(y)) & kPartition) == 0; };
        const CmAttempt* attempt = attempt_of(timeline, connection);
        const auto agreed = attempt != nullptr ? attempt->pkey : std::nullopt;
        const auto departs = [&](const std::optional<dissect::Pkey>& sent) {
            return agreed && sent && !same(*sent, *agreed);
        };
        const bool differ = a && b && !same(*a, *b);
        const bool limited = !differ && a && b && ((number(*a) | number(*b)) & kFullMember) == 0;
        if (!differ && !limited && !departs(a) && !departs(b)) continue;
        const bool answered = answers_of(connection.ways[0]) + answers_of(connection.ways[1]) != 0;
        Facts facts{{kFirstPkey, a}, {kSecondPkey, b}, {kNegotiatedPkey, agreed}, {kAnswered, answered}};
        if (a) facts.emplace_back(kFirstEnd, connection.ends[0]);  // who sent nothing is no part of it
        if (b) facts.emplace_back(kSecondEnd, connection.ends[1]);
        if (!differ && !limited) facts.emplace_back(kSentPkey, departs(a) ? a : b);
        emit({.party = Party::application,
              .connection = connection.uid,
              .severity = answered ? Severity::warning : Severity::error,
              .sentence = limited  ? kLimitedMembers
                          : differ ? std::string_view{}
                                   : kNotNegotiated,
              .facts = std::move(facts),
              .events = first_events(connection)});
    }
}

constexpr std::string_view kRefusedStart =
    "{requester} began to send to {responder:host} with PSN {starting_psn}, although the {announced_in} of {responder:host} asks for {announced_psn}: it went back "
    "to PSN {starting_psn} {go_backs:times}, to none before it, and {responder:host} took nothing; nothing was lost before.";

void refused_start(const Timeline& timeline, const RefusedStart& start, const Emit& emit) {
    const Connection& connection = *timeline.find(start.connection);
    const Way& way = connection.way(start.requester);
    const CmAttempt* attempt = attempt_of(timeline, connection);
    const bool by_nak = start.nak != dissect::FrameIndex{};
    FindingDraft draft{.party = by_nak && attempt == nullptr ? Party::undecided : Party::requester,
                       .connection = connection.uid,
                       .sentence = kRefusedStart,
                       .facts = {{kRequester, connection.end(start.requester)},
                                 {kResponder, connection.end(other(start.requester))},
                                 {kStartingPsn, start.seen},
                                 {kAnnouncedPsn, start.expected},
                                 {kAnnouncedIn, by_nak                      ? "sequence NAK"
                                                : start.requester == End::a ? "REP"
                                                                            : "REQ"},
                                 {kGoBacks, start.go_backs}},
                       .events = {{way.first_frame, EventRole::original, way.first_time}}};
    if (by_nak) draft.events.push_back({start.nak, EventRole::nak, start.nak_time});
    else draft.events.push_back({attempt->first_frame});
    emit(std::move(draft));
}

void starting_psn_differs(const Timeline& timeline, const Emit& emit) {
    for (const RefusedStart& start : refused_starts(timeline)) refused_start(timeline, start, emit);
    for (const Connection& connection : timeline.connections) {
        const CmAttempt* attempt = attempt_of(timeline, connection);
        if (attempt == nullptr || !connection.reliable()) continue;
        for (const End end : {End::a, End::b}) {
            const auto start = starting_psn(connection, *attempt, end);
            if (!start || !start->differs() || start->may_be_missing) continue;
            emit({.party = Party::requester,
                  .connection = connection.uid,
                  .facts = {{kRequester, connection.end(end)},
                            {kResponder, connection.end(other(end))},
                            {kStartingPsn, start->seen},
                            {kAnnouncedPsn, start->announced},
                            {kAnnouncedIn, end == End::a ? "REP" : "REQ"}},
                  .events = {{attempt->first_frame},
                             {connection.way(end).first_frame, EventRole::original, connection.way(end).first_time}}});
        }
    }
}

}  // namespace

Family path_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "roce-version-mismatch",
            .severity = Severity::error,
            .clause = "IBA A16, A17",
            .meaning = "One host sends RoCEv1 and its peer RoCEv2",
            .sentence =
                "{host} sends RoCEv1 to {peer} ({roce_v1_packets:packet}), which replies with RoCEv2 ({roce_v2_packets:packet}): neither accepts "
                "the packets of the other.",
            .advice =
                "Choose a GID index with RoCEv2 on {host} (`show_gids`, NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX, default_roce_mode of rdma_cm).",
            .alike =
                "Two applications of the same hosts, one with RoCEv1 and one with RoCEv2, each of which was captured in one direction only.",
            .limits =
                "Only hosts whose GIDs hold the same IP addresses are compared. Which of the two is set up wrongly the packets do not tell.",
            .draw = roce_version_mismatch},
        FindingRow{
            .id = "link-local-gid",
            .severity = Severity::note,
            .clause = "RFC 4291 2.5.6",
            .meaning = "Connections use link-local GIDs, which routers do not forward",
            .sentence =
                "{connections:connection} used link-local GIDs (fe80::), such as between {example_hosts}[; {unanswered_connections} of them got no "
                "answer].",
            .advice =
                "Choose the GID index of a routable address (`show_gids`, NCCL_IB_GID_INDEX, ibv_ah_attr.grh.sgid_index): routers do not "
                "forward link-local ones.",
            .alike = "Hosts of one subnet may use link-local GIDs on purpose, which works.",
            .limits =
                "Whether there is a router between the hosts the packets do not tell. That an answer is missing is known of the tap alone.",
            .draw = link_local_gid},
        FindingRow{
            .id = "path-mtu-differs",
            .severity = Severity::warning,
            .clause = "IBA 9.7.4.1.6, C9-92",
            .meaning = "The two ends of a connection use different path MTUs",
            .sentence =
                "[first_mtu?{first_end:host} sends packets of {first_mtu:length} and {second_end} of {second_mtu:length}|{first_end:host} and "
                "{second_end} send packets of {packet_mtu:length}][; CM negotiated a path MTU of {negotiated_mtu:plain}]"
                "[connection_failed?; the connection failed].",
            .advice =
                "Set one path MTU at both ends (path_mtu of the queue pair, active_mtu in `ibv_devinfo`), with an Ethernet MTU that carries it "
                "everywhere on the path.",
            .alike =
                "A NIC that splits messages into packets shorter than the path MTU, which is against the specification but looks the same.",
            .limits =
                "The path MTU of an end is the longest FIRST or MIDDLE packet that it sent: one that sent only short messages has none. Which end "
                "is set up wrongly the packets do not tell.",
            .draw = path_mtu_differs},
        FindingRow{
            .id = "path-mtu-small",
            .severity = Severity::note,
            .clause = "IBA 9.7.4.1.6",
            .meaning = "Bulk traffic uses a small path MTU where others use a large one",
            .sentence =
                "{connections:connection} moved {moved_bytes} in packets of {packet_mtu:length} or less, while others in this capture use "
                "{greatest_mtu:plain}: headers take {header_share} of the link instead of {least_header_share}.",
            .advice =
                "Raise the Ethernet MTU of these hosts to 4200 or more and path_mtu to 4096 (`ip link set mtu`, `ibv_devinfo`).",
            .alike =
                "A path whose links really carry no larger frames, such as one through a tunnel or a wide area network.",
            .limits =
                "The shares are those of full packets of RoCEv2 over IPv4, without VLAN tags. Whether the path would carry larger packets is not "
                "known.",
            .draw = path_mtu_small},
        FindingRow{
            .id = "pkey-mismatch",
            .severity = Severity::error,
            .clause = "IBA 10.9.3",
            .meaning = "The ends of a connection are not in the same partition",
            .sentence =
                "{first_end:host} sends with P_Key {first_pkey:hex4} and {second_end} with {second_pkey:hex4}; {>answered}.",
            .advice =
                "Compare the P_Key tables (`/sys/class/infiniband/*/ports/*/pkeys`) and pkey_index at both ends (NCCL_IB_PKEY); one of the two "
                "must be a full member (bit 15).",
            .alike = "Devices that ignore the P_Key of RoCE packets answer all the same; then it is a warning.",
            .limits =
                "The tables of the hosts are not in the packets: which of the two keys is the right one is not known. A missing answer may also "
                "have missed the tap.",
            .draw = pkey_mismatch},
        FindingRow{
            .id = "starting-psn-differs",
            .severity = Severity::warning,
            .clause = "IBA 12.7.31",
            .meaning = "Requests began with another PSN than the responder expects",
            .sentence =
                "{requester} began to send to {responder:host} with PSN {starting_psn}, although the {announced_in} of {responder:host} asks for "
                "{announced_psn}: nothing was lost before.",
            .advice =
                "Set the send PSN of the queue pair on {requester:host} (sq_psn) to the Starting PSN of the other side's message, and its receive PSN "
                "(rq_psn) to that of its own.",
            .alike =
                "A capture that begins after the first requests, or lost them: then the first request that it has lies ahead of the announced PSN, and "
                "nothing is said unless the first ACK counts messages from it, or the requester went back to it again and again and the responder "
                "took nothing.",
            .limits =
                "Whether the program or the driver set the PSN, and whether the other side would have taken the announced one.",
            .draw = starting_psn_differs},
    };
    return {kRows, kPathFacts};
}

}  // namespace qps::transport::families
