#include <transport-replay/findings/findings.hpp>
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace qps::transport {

namespace {

constexpr auto kError = Severity::error, kWarning = Severity::warning, kNote = Severity::note;

// One row a finding: id, severity, what it rests on, what it means, who draws it. Clauses are those of volume 1 of the
// InfiniBand specification, A17 its annex of RoCEv2; 10.9.3 and 15.2.5.17 are from memory.
constexpr std::array kFindings{
    FindingRow{"transport-retries-exceeded", kError, "IBA 9.7.6.1.3, C9-142", "A requester exhausted its transport retries and gave up",
               draw::retries_exceeded},
    FindingRow{"rnr-retries-exceeded", kError, "IBA 9.7.5.2.8",
               "A requester exhausted its RNR retries: the responder had no receive posted", draw::rnr_retries_exceeded},
    FindingRow{"go-back-n-loss", kWarning, "IBA 9.7.5.1.2", "Packets were lost, and the responder requested them with a sequence NAK",
               draw::go_back_n},
    FindingRow{"selective-repeat", kWarning, kObserved, "Each NAK was answered with the missing packets alone (selective repeat)",
               draw::selective_repeat},
    FindingRow{"reordered-not-lost", kWarning, "IBA 9.7.5.1.2", "A responder requested packets that were reordered and not lost",
               draw::reordered_not_lost},
    FindingRow{"rnr-stall", kWarning, "IBA 9.7.5.2.8", "A requester stalled because the responder had no receive posted", draw::rnr_stall},
    FindingRow{"rnr-wait-too-short", kNote, "IBA 9.7.5.2.8, C9-130",
               "A requester retransmitted before the RNR timer of the NAK had expired", draw::rnr_wait_too_short},
    FindingRow{"ack-timeout", kWarning, "IBA 9.7.6.1.3", "A requester hit its ACK timeout and retransmitted", draw::ack_timeout},
    FindingRow{"nak-ignored", kWarning, "IBA 9.7.5.1.2", "A requester ignored a sequence NAK and waited for its ACK timeout",
               draw::nak_ignored},
    FindingRow{"spurious-retransmission", kWarning, "IBA 9.7.6.1.3", "A requester retransmitted although nothing was lost",
               draw::spurious_retransmission},
    FindingRow{"read-response-lost", kWarning, "IBA 9.7.5.1", "READ or ATOMIC responses were lost and requested again",
               draw::read_response_lost},
    FindingRow{"retransmission-undecided", kNote, "IBA 9.7.6.1.3", "A requester retransmitted for a reason that the capture does not show",
               draw::retransmission_undecided},

    FindingRow{"out-of-order-delivery", kWarning, "IBA 9.7.3", "Packets arrived out of order", draw::out_of_order},
    FindingRow{"duplicated-by-network", kWarning, "IBA C9-105", "The network duplicated packets", draw::duplicated},
    FindingRow{"icrc-wrong", kWarning, "IBA A17.3.3", "Packets have a wrong invariant CRC", draw::icrc_wrong},

    FindingRow{"remote-access-error", kError, "IBA 9.7.5.2.1, C9-220",
               "The R_Key, the range or the access rights of a region did not permit a request", draw::remote_access_error},
    FindingRow{"remote-invalid-request", kError, "IBA 9.7.5.2.1, C9-220", "The responder rejected a request as invalid",
               draw::remote_invalid_request},
    FindingRow{"remote-operational-error", kError, "IBA 9.7.5.2.1, C9-220", "The responder failed while it executed a request",
               draw::remote_operational_error},
    FindingRow{"unknown-nak", kError, "IBA 9.7.5.2.1", "A request was refused with an undefined NAK code", draw::unknown_nak},
    FindingRow{"read-depth-exceeded", kError, "IBA 9.7.4.1", "More READs and ATOMICs were outstanding than negotiated",
               draw::read_depth_exceeded},
    FindingRow{"read-depth-limited", kNote, "IBA 9.7.4.1", "READs repeatedly reached the maximum number outstanding",
               draw::read_depth_limited},
    FindingRow{"requests-unanswered", kNote, "IBA 9.7.2", "Requests were neither answered nor retransmitted", draw::requests_unanswered},

    FindingRow{"roce-version-mismatch", kError, "IBA A16, A17", "One host sends RoCEv1 and its peer RoCEv2", draw::roce_version_mismatch},
    FindingRow{"link-local-gid", kNote, "RFC 4291 2.5.6", "Connections use link-local GIDs, which routers do not forward",
               draw::link_local_gid},
    FindingRow{"path-mtu-differs", kWarning, "IBA 9.7.4.1.6, C9-92", "The two ends of a connection use different path MTUs",
               draw::path_mtu_differs},
    FindingRow{"path-mtu-small", kNote, "IBA 9.7.4.1.6", "Bulk traffic uses a small path MTU where others use a large one",
               draw::path_mtu_small},
    FindingRow{"pkey-mismatch", kError, "IBA 10.9.3", "The ends of a connection are not in the same partition", draw::pkey_mismatch},

    FindingRow{"starting-psn-differs", kWarning, "IBA 12.7.31", "Requests began with another PSN than the connection manager announced",
               draw::starting_psn_differs},
    FindingRow{"dscp-differs", kWarning, "RFC 2474", "The two directions of a connection use different traffic classes",
               draw::dscp_differs},
    FindingRow{"dscp-changes", kNote, "RFC 2474", "One direction of a connection uses several traffic classes", draw::dscp_changes},
    FindingRow{"dscp-differs-between-connections", kNote, "RFC 2474", "Connections between the same hosts use different traffic classes",
               draw::dscp_differs_between_connections},
    FindingRow{"udp-port-entropy", kWarning, "IBA A17", "UDP source ports do not spread connections over equal-cost paths",
               draw::udp_port_entropy},

    FindingRow{"pfc-storm", kError, "IEEE 802.1Q 36", "PFC paused a priority for so long that its traffic stopped", draw::pfc_storm},
    FindingRow{"pfc-pause", kNote, "IEEE 802.1Q 36", "PFC paused a priority of a link", draw::pfc_pause},
    FindingRow{"link-pause-storm", kError, "IEEE 802.3 31B", "802.3x PAUSE stopped a whole link for long", draw::link_pause_storm},
    FindingRow{"link-pause", kNote, "IEEE 802.3 31B", "802.3x PAUSE stopped a whole link", draw::link_pause},
    FindingRow{"credit-starvation", kWarning, "IBA 7.9.4.4", "Packets waited for credits of an InfiniBand link", draw::credit_starvation},
    FindingRow{"ecn-congestion", kNote, "IBA A17.9.3", "Packets were marked for congestion (CE)", draw::ecn_congestion},
    FindingRow{"ecn-not-answered", kWarning, "IBA A17.9.3", "CE-marked packets triggered no CNP", draw::ecn_not_answered},
    FindingRow{"cnp-without-mark", kNote, "IBA A17.9.3", "CNPs follow no CE mark in the capture", draw::cnp_without_mark},
    FindingRow{"cnp-without-effect", kNote, "IBA A17.9.3", "A sender did not slow down after CNPs", draw::cnp_without_effect},
    FindingRow{"incast", kNote, kObserved, "Many hosts sent to one host at the same time", draw::incast},
    FindingRow{"shared-traffic-class", kWarning, "IEEE 802.1Q 36", "TCP and UDP shared the class of RDMA while that was marked, paused or lost",
               draw::shared_traffic_class},
    FindingRow{"pfc-differs", kWarning, "IEEE 802.1Q 38.4.2, D.2.11", "Switch and NIC of a link announce different lossless priorities (PFC)",
               draw::pfc_differs},
    FindingRow{"ets-differs", kNote, "IEEE 802.1Q 38.4.1, D.2.9", "Switch and NIC of a link share out the bandwidth differently (ETS)",
               draw::ets_differs},
    FindingRow{"application-priority-differs", kWarning, "IEEE 802.1Q 38.4.3, D.2.12",
               "Switch and NIC of a link announce different priorities for RoCEv2", draw::application_priority_differs},
    FindingRow{"roce-outside-pfc", kWarning, "IEEE 802.1Q 36, D.2.11", "RoCE packets have a priority that the link does not make lossless",
               draw::roce_outside_pfc},
    FindingRow{"lldp-stopped", kNote, "IEEE 802.1AB 9.1.2", "An end of a link stopped announcing its configuration", draw::lldp_stopped},

    FindingRow{"neighbour-unanswered", kNote, "RFC 826; RFC 4861 7.2", "A RoCE host asked for a MAC address, and no answer is in the capture",
               draw::neighbour_unanswered},
    FindingRow{"icmp-unreachable", kWarning, "RFC 792; RFC 4443 3.1", "ICMP says that RoCEv2 packets were not delivered",
               draw::icmp_unreachable},
    FindingRow{"path-mtu-exceeded", kWarning, "RFC 1191; RFC 8201", "ICMP says that RoCEv2 packets exceeded the MTU of their path",
               draw::path_mtu_exceeded},

    FindingRow{"address-conflict", kWarning, "RFC 5227; RFC 4861 7.2.7", "Two MAC addresses answer for the IP address of a RoCE peer",
               draw::address_conflict},
    FindingRow{"gid-conflict", kWarning, "IBA 4.1.1, 4.1.3", "Two LIDs of InfiniBand sent with the same GID in turn", draw::gid_conflict},

    FindingRow{"keys-tried", kWarning, "IBA 10.6.3, 9.7.5.2.1", "Many R_Keys were tried on one host, which refused them", draw::keys_tried},
    FindingRow{"queue-pairs-tried", kNote, kObserved, "Many queue pairs of one host were tried in turn, and none answered",
               draw::queue_pairs_tried},
    FindingRow{"psn-conflict", kWarning, "IBA 9.7.3", "Packets of two senders have the addresses of one connection", draw::psn_conflict},
    FindingRow{"cnp-unexpected-source", kWarning, "IBA A17.9.3", "CNPs come from a host that is no end of that connection", draw::cnp_unexpected_source},
    FindingRow{"cm-request-flood", kWarning, "IBA 12.9.8", "A host had hundreds of connection requests a second that led to nothing",
               draw::cm_request_flood},
    FindingRow{"nvme-unauthenticated", kNote, "NVMe Base 8.3.4.4", "Hosts used NVMe subsystems without DH-HMAC-CHAP", draw::nvme_unauthenticated},
    FindingRow{"nfs-auth-sys", kNote, "RFC 5531 8.2, 9", "Clients asked for data of NFS with AUTH_SYS", draw::nfs_auth_sys},

    FindingRow{"collective-straggler", kWarning, kObserved, "All ranks of a collective wait for the same rank, step after step",
               draw::collective_straggler},
    FindingRow{"collective-incast", kNote, kObserved, "Many ranks of a collective send to one rank at once, step after step",
               draw::collective_incast},

    FindingRow{"cm-rejected", kError, "IBA 12.6.7", "A connection request was rejected", draw::cm_rejected},
    FindingRow{"cm-no-answer", kError, "IBA 12.9.8", "A connection request was not answered", draw::cm_no_answer},
    FindingRow{"cm-half-open", kWarning, "IBA 12.9.7", "A connection was accepted but never confirmed", draw::cm_half_open},
    FindingRow{"cm-unexpected-message", kWarning, "IBA 12.9.7", "A CM message is not valid in the state of its connection",
               draw::cm_unexpected_message},
    FindingRow{"cm-retries", kNote, "IBA 12.9.8", "CM messages were retransmitted", draw::cm_retries},
    FindingRow{"cm-unresolved", kError, "IBA 12.11.2", "A datagram service was not resolved", draw::cm_unresolved},
    FindingRow{"cm-disconnect-unanswered", kNote, "IBA 12.9.7", "A disconnect request was not answered", draw::cm_disconnect_unanswered},
    FindingRow{"multicast-join-failed", kWarning, "IBA 15.2.5.17", "A multicast join was refused", draw::multicast_join_failed},

    FindingRow{"protocol-refused", kError, kObserved, "An upper-layer protocol refused a connection", draw::protocol_refused},
    FindingRow{"login-failed", kError, kObserved, "A login of an upper-layer protocol failed", draw::login_failed},
    FindingRow{"session-terminated", kError, kObserved, "A session of an upper-layer protocol was terminated because of an error",
               draw::session_terminated},
    FindingRow{"protocol-error", kWarning, kObserved, "One end reported an error of an upper-layer protocol to the other",
               draw::protocol_error},
    FindingRow{"message-malformed", kWarning, "RFC 8166 4", "A message of an upper-layer protocol breaks its format", draw::message_malformed},
    FindingRow{"operation-failed", kWarning, kObserved, "Operations of an upper-layer protocol failed", draw::operation_failed},
    FindingRow{"operation-unanswered", kWarning, kObserved, "Operations of an upper-layer protocol were never answered",
               draw::operation_unanswered},
    FindingRow{"operation-slow", kWarning, kObserved, "Some operations took far longer than the median of their kind",
               draw::operation_slow},
    FindingRow{"keep-alive-late", kWarning, kObserved, "A keep-alive of an upper-layer protocol was late", draw::keep_alive_late},
    FindingRow{"credits-exhausted", kNote, kObserved, "Credits of an upper protocol were used up, exceeded or not granted", draw::credits_exhausted},
    FindingRow{"single-credit", kNote, kObserved, "One end granted a single credit at a time", draw::single_credit},
    FindingRow{"serialised-io", kNote, kObserved, "An application keeps only one operation in flight", draw::serialised_io},
    FindingRow{"port-errors-counted", kWarning, "IBA 16.1.3.5", "Error counters of a port increased", draw::port_errors_counted},
    FindingRow{"trap-reported", kNote, "IBA 13.4.8, 14.2.5.1", "A port or a manager reported an event", draw::trap_reported},
    FindingRow{"management-unanswered", kWarning, "IBA 13.4.6", "A management request was repeated and not answered",
               draw::management_unanswered},
    FindingRow{"sa-query-failed", kWarning, "IBA 15.2.5", "Subnet administration rejected a query", draw::sa_query_failed},
    FindingRow{"iwarp-terminated", kError, "RFC 5040 4.8", "An iWARP connection was terminated because of an error",
               draw::iwarp_terminated},
    FindingRow{"iwarp-refused", kError, "RFC 5044 7.1", "The passive side rejected an iWARP connection", draw::iwarp_refused},
    FindingRow{"iwarp-crc-wrong", kWarning, "RFC 5044 4.4", "FPDUs of iWARP have a wrong CRC", draw::iwarp_crc_wrong},
    FindingRow{"iwarp-retransmission", kWarning, "RFC 5681 3.2", "TCP retransmitted segments of an iWARP connection", draw::iwarp_retransmission},
    FindingRow{"iwarp-nonconforming", kNote, "RFC 5040 4.4; RFC 5044 4.3", "An iWARP sender does not follow the RFCs", draw::iwarp_nonconforming},
    FindingRow{"iwarp-unreadable", kNote, "RFC 5044 4", "Bytes of an iWARP stream are not FPDUs", draw::iwarp_unreadable},
    FindingRow{"iwarp-stream-holes", kNote, kObserved, "The capture lacks bytes of an iWARP stream", draw::iwarp_stream_holes},
    FindingRow{"uet-refused", kError, "UET 1.0 SES", "A target answered requests of Ultra Ethernet with an error", draw::uet_refused},
    FindingRow{"uet-retransmitted", kWarning, "UET 1.0 PDS", "Packets of Ultra Ethernet were retransmitted", draw::uet_retransmitted},
    FindingRow{"uet-nack", kWarning, "UET 1.0 PDS", "A receiver answered packets of Ultra Ethernet with a NACK", draw::uet_nack},
    FindingRow{"uet-trimmed", kWarning, "UET 1.0 PDS", "Switches trimmed packets of Ultra Ethernet", draw::uet_trimmed},
    FindingRow{"uet-path-loss", kWarning, kObserved, "One path of Ultra Ethernet loses far more packets than the others",
               draw::uet_path_loss},
    FindingRow{"uet-path-slow", kNote, kObserved, "One path of Ultra Ethernet is far slower than the others", draw::uet_path_slow},

    FindingRow{"capture-lost-packets", kWarning, "IBA 9.7.5.1.2", "The capture lacks packets that the network delivered",
               draw::capture_lost_packets},
    FindingRow{"gaps-unexplained", kNote, "IBA 9.7.3", "Packets are missing, lost either by the network or by the capture",
               draw::gaps_unexplained},
    FindingRow{"capture-duplicates", kNote, kObserved, "The capture contains copies of packets", draw::capture_duplicates},
    FindingRow{"capture-truncated", kNote, kObserved, "The capture truncated packets", draw::capture_truncated},
    FindingRow{"one-way-capture", kNote, "IBA o9-30", "The capture contains one direction only", draw::one_way_capture},
    FindingRow{"pairing-uncertain", kNote, "IBA 9.7.3", "Queue pairs could not be paired with certainty", draw::pairing_uncertain},
    FindingRow{"clock-backwards", kNote, kObserved, "Timestamps go backwards", draw::clock_backwards},
    FindingRow{"clock-offset", kNote, "IBA 9.7.5", "ACKs and responses were captured before their requests", draw::clock_offset},
    FindingRow{"clock-coarse", kNote, kObserved, "Timestamps are too coarse to measure latencies", draw::clock_coarse},
    FindingRow{"malformed-packets", kWarning, "IBA 9.2", "Packets have malformed headers", draw::malformed_packets},
    FindingRow{"ip-fragments", kWarning, "IBA A17.3.1.2", "IP took packets apart", draw::ip_fragments},
    FindingRow{"analysis-bounded", kNote, kObserved, "The capture exceeds the limits of the analysis", draw::analysis_bounded},
};

// What is told by the order of packets: so look copies where nobody could tell taps apart, and two directions whose clocks are.
constexpr std::array kByOrder{
    std::string_view("transport-retries-exceeded"), std::string_view("go-back-n-loss"),        std::string_view("ack-timeout"),
    std::string_view("spurious-retransmission"),    std::string_view("read-response-lost"),    std::string_view("out-of-order-delivery"),
    std::string_view("duplicated-by-network"),      std::string_view("requests-unanswered"),   std::string_view("operation-unanswered"),
    std::string_view("cm-retries"),                 std::string_view("management-unanswered"), std::string_view("iwarp-retransmission"),
    std::string_view("capture-lost-packets"),       std::string_view("gaps-unexplained"),      std::string_view("rnr-wait-too-short"),
    std::string_view("selective-repeat"),           std::string_view("reordered-not-lost"),    std::string_view("nak-ignored"),
    std::string_view("retransmission-undecided"),   std::string_view("uet-retransmitted"),     std::string_view("uet-path-loss"),
    std::string_view("clock-offset"),
};

struct Drawn {
    std::size_t row;
    Finding finding;
};

// The total order in which findings are reported: no two drafts are equal in it unless they are the same text.
bool worse(const Drawn& one, const Drawn& other) {
    const auto rank = [](const Drawn& drawn) {
        const Finding& finding = drawn.finding;
        const dissect::FrameIndex first = finding.packets.empty() ? dissect::FrameIndex{UINT64_MAX} : finding.packets.front();
        return std::tuple{~std::to_underlying(finding.severity) & 0xff,
                          ~finding.count,
                          first,
                          drawn.row,
                          finding.connection,
                          std::string_view(finding.summary)};
    };
    return rank(one) < rank(other);
}

// In order, each once, without those that were not captured.
void tidy(std::vector<dissect::FrameIndex>& packets) {
    std::erase(packets, dissect::FrameIndex{});
    std::ranges::sort(packets);
    const auto repeated = std::ranges::unique(packets);
    packets.erase(repeated.begin(), repeated.end());
    if (packets.size() > kMaxEvidence) packets.resize(kMaxEvidence);
}

using CountOfKind = std::map<std::pair<std::size_t, Severity>, std::uint64_t>;

// Keeps the worst kMaxFindings in their order, and counts those that went.
void keep_worst(std::vector<Drawn>& drawn, CountOfKind& gone) {
    std::ranges::sort(drawn, worse);
    if (drawn.size() <= kMaxFindings) return;
    for (std::size_t i = kMaxFindings; i < drawn.size(); ++i) ++gone[{drawn[i].row, drawn[i].finding.severity}];
    drawn.erase(drawn.begin() + kMaxFindings, drawn.end());
}

// Where the clocks of the two directions of a connection differ, the order of its packets proves nothing.
void doubt_order(const Timeline& timeline, std::string_view id, FindingDraft& draft) {
    if (!draft.connection || std::ranges::find(kByOrder, id) == kByOrder.end()) return;
    const Connection* const connection = timeline.find(*draft.connection);
    if (connection == nullptr || !connection->clocks_apart()) return;
    draft.severity = Severity::note;
    draft.party = Party::undecided;
    if (draft.summary.ends_with('.')) draft.summary.pop_back();
    draft.summary += "; undecided, because the clocks of the two directions differ.";
}

}  // namespace

std::span<const FindingRow> finding_rows() { return kFindings; }

void draw_findings(Timeline& timeline) {
    std::vector<Drawn> drawn;
    CountOfKind gone;
    const auto draw = [&](std::size_t row) {
        kFindings[row].draw(timeline, [&](FindingDraft&& draft) {
            tidy(draft.packets);
            doubt_order(timeline, kFindings[row].id, draft);
            drawn.push_back(
                {row,
                 {kFindings[row].id, draft.severity.value_or(kFindings[row].severity), draft.party, draft.connection,
                  std::move(draft.packets), draft.count, std::move(draft.summary), std::move(draft.advice), kFindings[row].clause}});
            if (drawn.size() == 2 * kMaxFindings) keep_worst(drawn, gone);
        });
    };
    constexpr std::size_t kBounded = kFindings.size() - 1;
    static_assert(kFindings[kBounded].draw == draw::analysis_bounded, "the last row: it tells what the others could not");
    for (std::size_t row = 0; row < kBounded; ++row)
        if (!timeline.quality.mixes_taps() || std::ranges::find(kByOrder, kFindings[row].id) == kByOrder.end()) draw(row);
    keep_worst(drawn, gone);
    timeline.left_out.findings.clear();
    for (const auto& [kind, count] : gone) timeline.left_out.findings.push_back({kFindings[kind.first].id, kind.second, count});
    draw(kBounded);  // no other takes its place
    std::ranges::sort(drawn, worse);
    timeline.findings.clear();
    for (Drawn& one : drawn) timeline.findings.push_back(std::move(one.finding));
}

}  // namespace qps::transport
