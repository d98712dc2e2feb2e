// Every row of the table of findings: a Timeline that has what it is about, and one that nearly has.
#include <tests/support/announced_links.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/congested_timelines.hpp>
#include <tests/support/suspects.hpp>
#include <tests/support/timelines.hpp>
#include <tests/transport-replay/findings/harms.hpp>
#include <tests/transport-replay/findings/other_transports.hpp>
#include <tests/transport-replay/findings/proven_findings.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <set>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

using Change = void (*)(Timeline&);
struct Proof {
    std::string_view id;
    Severity severity;
    Party party;
    Change harm;  // to a healthy Timeline
    Change near_miss;
};

Way& a(Timeline& timeline) { return timeline.connections[0].ways[0]; }
Way& b(Timeline& timeline) { return timeline.connections[0].ways[1]; }
CmAttempt& cm(Timeline& timeline) { return timeline.cm.attempts[0]; }
template <class T, std::size_t kMost> void only(FewValues<T, kMost>& values, T value, unsigned packets = 200) {
    values = {};
    add(values, value, packets);
}
void one_way(Timeline& timeline) {
    b(timeline) = {};
    timeline.cm.attempts[0].ladder.clear();
}
PairCongestion& marks(Timeline& timeline, std::uint64_t answered, std::uint64_t unanswered) {
    PairCongestion& pair = timeline.congestion.pairs.emplace_back();
    pair.source = host(1);
    pair.destination = host(2);
    pair.packets = 100;
    pair.marked = answered + unanswered;
    pair.answered = answered;
    pair.unanswered = pair.silences = unanswered;
    pair.other_way_seen = true;
    return pair;
}
Recovery& late(Timeline& timeline, NakCause cause) {
    Recovery& episode = add_recovery(timeline, RecoveryKind::sequence_nak);
    episode.cause = cause;
    Ordering& ordering = a(timeline).incidents.made().ordering.made();
    ordering.overtaken = ordering.farthest = 1;
    ordering.naks_of(cause) = 1;
    return episode;
}
Recovery& spurious(Timeline& timeline) {
    Recovery& episode = add_recovery(timeline, RecoveryKind::timeout);
    episode.fates = {AnswerFate::late};
    ++a(timeline).incidents.made().spurious;
    return episode;
}
void reject(Timeline& timeline, CmOutcome outcome) {
    cm(timeline).outcome = outcome;
    CmRejection& rejection = cm(timeline).rejection.emplace();
    rejection.reason = 28;
    rejection.private_data.used = 4;
    rejection.private_data.first[2] = std::byte{6};
}
void eight_connections(Timeline& timeline, bool same_port) {
    for (int i = 0; i < 8; ++i) {
        Connection& connection = add_connection(timeline);
        add_attempt(timeline, connection);
        if (same_port) only(connection.ways[0].udp_ports, std::uint16_t{49152});
    }
}
void heard_one_way(Timeline& timeline) {
    one_way(timeline);
    timeline.quality.one_way = {{host(1), host(2), 200, true}};
}

// The REP asks for that PSN; host 1 begins with 100, and five PSNs of it are missing.
void asks_for_psn(Timeline& timeline, std::uint32_t psn) {
    a(timeline).requests = std::max<std::uint64_t>(a(timeline).requests, 1);
    a(timeline).first_psn = 100;
    a(timeline).incidents.made().gaps = {.skipped = 5, .network = 5};
    a(timeline).acks = a(timeline).read_responses = 0;
    a(timeline).first_time = Instant{kMillisecond};
    cm(timeline).requested = cm(timeline).answered = Instant{0};
    cm(timeline).passive.starting_psn = Psn(psn);
}

// Of three connections, each so long after the one before.
void stall_three(Timeline& timeline, std::int64_t later) {
    add_recovery(timeline, RecoveryKind::timeout);
    for (int i = 1; i < 3; ++i) {
        const Connection& another = add_connection(timeline);
        Recovery& episode = timeline.recoveries.emplace_back(timeline.recoveries.front());
        episode.connection = another.uid;
        episode.time = OrderedSpan{Instant{kMillisecond + i * later}};
        episode.time.end_at(Instant{5 * kMillisecond});
    }
}
// Of eight connections with a UDP source port each.
void lose_of_some(Timeline& timeline, std::size_t losing) {
    while (timeline.connections.size() < 8) add_connection(timeline);
    for (std::size_t i = 0; i < losing; ++i) {
        Way& way = timeline.connections[i].ways[0];
        way.incidents.made().recovery(RecoveryKind::sequence_nak).episodes = 8 / losing * 2;
    }
}

// Two connections give up at a packet of that payload, after many messages in packets of 1024 bytes.
void lose_the_long(Timeline& timeline, std::uint16_t payload) {
    add_connection(timeline);
    for (Connection& connection : timeline.connections) {
        connection.ways[0].completed = 200;
        connection.ways[0].longest_taken = 1024;
        Recovery& episode = add_recovery(timeline, RecoveryKind::timeout, RecoveryEnd::gave_up);
        episode.connection = connection.uid;
        episode.payload = payload;
    }
}

constexpr auto kError = Severity::error, kWarning = Severity::warning, kNote = Severity::note;
using T = Timeline&;
constexpr auto kTimeout = RecoveryKind::timeout, kRnr = RecoveryKind::rnr_nak, kSequence = RecoveryKind::sequence_nak;
constexpr auto kGaveUp = RecoveryEnd::gave_up, kOpen = RecoveryEnd::open;

const std::array kProofs{
    Proof{"transport-retries-exceeded", kError, Party::undecided, [](T t) { add_recovery(t, kTimeout, kGaveUp); },
          [](T t) { add_recovery(t, kTimeout, kOpen); }},
    Proof{"rnr-retries-exceeded", kError, Party::responder, [](T t) { add_recovery(t, kRnr, kGaveUp); },
          [](T t) { add_recovery(t, kRnr, kOpen); }},
    Proof{"go-back-n-loss", kWarning, Party::fabric, [](T t) { add_recovery(t, kSequence); },
          [](T t) { add_recovery(t, kTimeout); }},
    Proof{"selective-repeat", kWarning, Party::fabric, [](T t) { add_recovery(t, kSequence).resent = 1; },
          [](T t) { add_recovery(t, kSequence).resent = 2; }},
    Proof{"reordered-not-lost", kWarning, Party::fabric, [](T t) { late(t, NakCause::late); },
          [](T t) { late(t, NakCause::undecided); }},
    Proof{"rnr-stall", kWarning, Party::responder, [](T t) { add_recovery(t, kRnr).rnr_timer = 0; },
          [](T t) { add_recovery(t, kRnr, kGaveUp); }},
    Proof{"rnr-wait-too-short", kNote, Party::requester,
          [](T t) { add_recovery(t, kRnr).rnr_timer = 18; },   // 5.12 ms, waited 1
          [](T t) { add_recovery(t, kRnr).rnr_timer = 13; }},  // 0.96 ms
    Proof{"ack-timeout", kWarning, Party::undecided, [](T t) { add_recovery(t, kTimeout); }, [](T t) { spurious(t); }},
    Proof{"spurious-retransmission", kWarning, Party::requester, [](T t) { spurious(t); },
          [](T t) { add_recovery(t, kTimeout); }},
    Proof{"stalled-together", kWarning, Party::undecided, [](T t) { stall_three(t, 0); },
          [](T t) { stall_three(t, kMillisecond); }},
    Proof{"losses-by-udp-port", kWarning, Party::fabric, [](T t) { lose_of_some(t, 2); },
          [](T t) { lose_of_some(t, 8); }},
    Proof{"losses-by-size", kWarning, Party::undecided, [](T t) { lose_the_long(t, 2048); },
          [](T t) { lose_the_long(t, 1024); }},
    Proof{"nak-ignored", kWarning, Party::requester,
          [](T t) {
              for (int i = 0; i < 2; ++i) {
                  add_recovery(t, kTimeout).evidence = {RoundEvidence::asked, RoundEvidence::only_nak_tells};
              }
          },
          [](T t) { add_recovery(t, kTimeout).evidence.add(RoundEvidence::asked); }},
    Proof{"retransmission-undecided", kNote, Party::undecided, [](T t) { add_recovery(t, RecoveryKind::undecided); },
          [](T t) { add_recovery(t, kTimeout); }},
    Proof{"read-response-lost", kWarning, Party::fabric, [](T t) { add_recovery(t, RecoveryKind::read_retry); },
          [](T t) { b(t).incidents.made().response_gaps = {.skipped = 1, .tap = 1}; }},

    Proof{"out-of-order-delivery", kNote, Party::undecided,
          [](T t) { a(t).incidents.made().gaps = {.skipped = 2, .reordered = 2}; },
          [](T t) { a(t).incidents.made().gaps = {.skipped = 2, .tap = 2}; }},
    Proof{"duplicated-by-network", kWarning, Party::fabric,
          [](T t) {
              a(t).incidents.made().duplicated = 1;
              a(t).incidents.made().doubled = {.identified = 1, .alone = 1};
          },
          [](T t) { a(t).incidents.made().retransmitted = 1; }},
    Proof{"icrc-wrong", kWarning, Party::fabric,
          [](T t) { a(t).incidents.made().corrupt = a(t).incidents.made().corrupt_again = t.quality.icrc_bad = 3; },
          [](T t) { t.quality.icrc_not_checkable = 3; }},

    Proof{"remote-access-error", kError, Party::undecided, [](T t) { add_fatality(t, 2); },
          [](T t) { add_fatality(t, 1); }},
    Proof{"remote-invalid-request", kError, Party::application, [](T t) { add_fatality(t, 1, Verb::send); },
          [](T t) { add_fatality(t, 1, Verb::read_request).reads_outstanding = 9; }},
    Proof{"remote-operational-error", kError, Party::responder, [](T t) { add_fatality(t, 3); },
          [](T t) { add_fatality(t, 4); }},
    Proof{"unknown-nak", kError, Party::responder, [](T t) { add_fatality(t, 7); }, [](T t) { add_fatality(t, 3); }},
    Proof{"read-depth-exceeded", kError, Party::requester,
          [](T t) { add_fatality(t, 1, Verb::read_request).reads_outstanding = 9; },  // 8 agreed
          [](T t) { add_fatality(t, 1, Verb::read_request).reads_outstanding = 8; }},
    Proof{"read-depth-limited", kNote, Party::requester, [](T t) { a(t).most_reads = 8, a(t).reads_at_most = 64; },
          [](T t) { a(t).most_reads = 7, a(t).reads_at_most = 64; }},
    Proof{"requests-unanswered", kNote, Party::undecided, [](T t) { a(t).open = 1, t.last = Instant{2 * kSecond}; },
          [](T t) { a(t).open = 1; }},

    Proof{"roce-version-mismatch", kError, Party::undecided,
          [](T t) {
              t.quality.one_way = {{host(1), host(2), 20, false},
                                   {host(2, AddressSpace::roce_v1), host(1, AddressSpace::roce_v1), 20, false}};
          },
          [](T t) {
              t.quality.one_way = {{host(1), host(2), 20, false},
                                   {host(1, AddressSpace::roce_v1), host(2, AddressSpace::roce_v1), 20, false}};
          }},
    Proof{"link-local-gid", kNote, Party::application,
          [](T t) { t.connections[0].ends[0].address = {{0xfe80ULL << 48, 1}, AddressSpace::roce_v2}; },
          [](T t) { t.connections[0].ends[0].address = {{0xfe80ULL << 48, 1}, AddressSpace::infiniband_gid}; }},
    Proof{"path-mtu-differs", kWarning, Party::application, [](T t) { a(t).path_mtu = 4096, b(t).path_mtu = 1024; },
          [](T t) { a(t).path_mtu = 4096, t.connections[0].cm_path_mtu = 4096; }},
    Proof{"path-mtu-small", kNote, Party::application,
          [](T t) {
              a(t).path_mtu = 1024, a(t).bytes = 10 << 20;
              add_connection(t).ways[0].path_mtu = 4096;
          },
          [](T t) { a(t).path_mtu = 1024, a(t).bytes = 10 << 20; }},
    Proof{"pkey-mismatch", kWarning, Party::application,
          [](T t) { only(a(t).pkeys, Pkey{0x7fff}), only(b(t).pkeys, Pkey{0x7fff}); },
          [](T t) { only(a(t).pkeys, Pkey{0x7fff}); }},

    Proof{"starting-psn-differs", kWarning, Party::requester, [](T t) { asks_for_psn(t, 110); },
          [](T t) { asks_for_psn(t, 95); }},

    Proof{"dscp-differs", kWarning, Party::undecided, [](T t) { only(b(t).dscps, std::uint8_t{0}); },
          [](T t) { only(a(t).dscps, std::uint8_t{0}), only(b(t).dscps, std::uint8_t{0}); }},
    Proof{"dscp-changes", kNote, Party::undecided, [](T t) { a(t).dscps.add(0); }, [](T t) { a(t).dscps.add(26); }},
    Proof{"dscp-differs-between-connections", kWarning, Party::application,
          [](T t) { add_connection(t), only(a(t).dscps, std::uint8_t{0}); },
          [](T t) { add_connection(t, 1, 3), only(a(t).dscps, std::uint8_t{0}); }},
    Proof{"udp-port-entropy", kWarning, Party::application, [](T t) { eight_connections(t, true); },
          [](T t) { eight_connections(t, false); }},

    Proof{"pfc-storm", kError, Party::congestion, [](T t) { pause(t, 200 * kMillisecond).storms = 1; },
          [](T t) { pause(t, 90 * kMillisecond); }},
    Proof{"link-pause-storm", kError, Party::congestion,
          [](T t) { pause(t, 200 * kMillisecond).storms = 1, t.congestion.pauses[0].priority = kWholeLink; },
          [](T t) { pause(t, 200 * kMillisecond).storms = 1; }},
    Proof{"link-pause", kNote, Party::congestion, [](T t) { pause(t, 10 * kMicrosecond).priority = kWholeLink; },
          [](T t) { pause(t, 10 * kMicrosecond); }},
    Proof{"pfc-pause", kNote, Party::congestion, [](T t) { pause(t, 10 * kMicrosecond); },
          [](T t) { pause(t, 200 * kMillisecond).storms = 1; }},
    Proof{"credit-starvation", kWarning, Party::fabric, [](T t) { waits_for_credits(t, 5); },
          [](T t) { waits_for_credits(t, 33); }},
    Proof{"ecn-congestion", kNote, Party::congestion, [](T t) { marks(t, 1, 0); }, [](T) {}},
    Proof{"ecn-not-answered", kWarning, Party::responder, [](T t) { marks(t, 0, 8); },
          [](T t) { marks(t, 0, 8).silences = 3; }},
    Proof{"cnp-without-mark", kNote, Party::undecided, [](T t) { cnps(t).without_mark = 1; }, [](T t) { cnps(t); }},
    Proof{"cnp-without-effect", kNote, Party::requester, [](T t) { reaction(t, 960); }, [](T t) { reaction(t, 900); }},
    Proof{"incast", kNote, Party::application,
          [](T t) { t.congestion.incasts = {{host(2), FrameIndex{4}, {}, Duration{1000}, 8, 1 << 20, 2}}; }, [](T) {}},

    Proof{"shared-traffic-class", kWarning, Party::congestion, [](T t) { lossy_beside(t, 200'000); },
          [](T t) { lossy_beside(t, 80'000); }},
    Proof{"pfc-differs", kWarning, Party::fabric, [](T t) { announced(t, 0x08, 0x18); },
          [](T t) {
              announced(t, 0x08, 0x18).ends[1].announced.pfc_willing = true, t.bridging.links[0].ends[1].repeated = 1;
          }},
    Proof{"ets-differs", kNote, Party::fabric,
          [](T t) {
              announced(t).ends[0].announced.shares = half_for(3),
              t.bridging.links[0].ends[1].announced.shares = half_for(4);
          },
          [](T t) { announced(t).ends[0].announced.shares = half_for(3); }},
    Proof{"application-priority-differs", kWarning, Party::fabric,
          [](T t) { announced(t).ends[0].announced.roce = 0x08, t.bridging.links[0].ends[1].announced.roce = 0x10; },
          [](T t) { announced(t).ends[0].announced.roce = 0x08, t.bridging.links[0].ends[1].announced.roce = 0x18; }},
    Proof{"roce-outside-pfc", kWarning, Party::application,
          [](T t) {
              announced(t).ends[0].outside = {{.priority = 0, .tagged = true, .packets = 7, .first = FrameIndex{4}}};
          },
          [](T t) {
              announced(t).ends[0].outside = {{.priority = 0, .tagged = true, .packets = 7, .first = FrameIndex{4}}};
              t.bridging.links[0].ends.emplace_back();
          }},
    Proof{"lldp-stopped", kNote, Party::fabric,
          [](T t) {
              BridgingLink& link = announced(t);
              link.last_time = link.ends[0].last_time = Instant{241 * kSecond};
          },
          [](T t) {
              announced(t).ends[0].unseen = Duration{40 * kSecond},
              t.bridging.links[0].last_time = Instant{279 * kSecond}, t.bridging.links[0].ends.pop_back();
          }},

    Proof{"neighbour-unanswered", kNote, Party::undecided, [](T t) { asked_in_vain(t, 2); },
          [](T t) { asked_in_vain(t, 2).first_time = Instant{0}; }},
    Proof{"icmp-unreachable", kWarning, Party::fabric, [](T t) { complained(t, false); },
          [](T t) { complained(t, true); }},
    Proof{"path-mtu-exceeded", kWarning, Party::fabric, [](T t) { complained(t, true); },
          [](T t) { complained(t, false); }},

    Proof{"address-conflict", kWarning, Party::undecided, [](T t) { two_answer(t, 2); },
          [](T t) { two_answer(t, 9); }},  // no RoCE peer

    Proof{"gid-conflict", kWarning, Party::undecided, [](T t) { sends_in_turn(t, 3); },
          [](T t) { sends_in_turn(t, 2); }},

    Proof{"keys-tried", kWarning, Party::requester, [](T t) { try_keys(t, 8); }, [](T t) { try_keys(t, 7); }},
    Proof{"queue-pairs-tried", kNote, Party::undecided, [](T t) { try_queue_pairs(t, 32, false); },
          [](T t) { try_queue_pairs(t, 40, true); }},
    Proof{"psn-conflict", kWarning, Party::undecided,
          [](T t) { a(t).incidents.made().psn_returns = 8, a(t).incidents.made().note(Oddity::stray, FrameIndex{9}); },
          [](T t) { a(t).incidents.made().psn_returns = 7; }},
    Proof{"cnp-unexpected-source", kWarning, Party::undecided, [](T t) { told_by(t, 9); }, [](T t) { told_by(t, 2); }},
    Proof{"cm-request-flood", kWarning, Party::application,
          [](T t) { ask_often(t, CmOutcome::rejected, 3 * kMillisecond); },
          [](T t) { ask_often(t, CmOutcome::rejected, 5 * kMillisecond); }},
    Proof{"nvme-unauthenticated", kNote, Party::application,
          [](T t) {
              speaks(t).note("authentication", "not required"),
                  t.ulp.conversations[0].note("subsystem", "nqn.2026-11.lab:disk");
          },
          [](T t) {
              speaks(t).note("authentication", "required"),
                  t.ulp.conversations[0].note("subsystem", "nqn.2026-11.lab:disk");
          }},
    Proof{"nfs-auth-sys", kNote, Party::application,
          [](T t) {
              speaks(t).note("data credentials", "AUTH_SYS"), t.ulp.conversations[0].protocol = UlpProtocol::rpc_rdma;
          },
          [](T t) { speaks(t).protocol = UlpProtocol::rpc_rdma; }},

    Proof{"collective-straggler", kWarning, Party::application, [](T t) { waits_for(collective(t)); },
          [](T t) { collective(t).ranks[1].started_last = 3; }},
    Proof{"collective-incast", kNote, Party::application, [](T t) { sends_at_once(collective(t), 7); },
          [](T t) { collective(t).pattern = CollectivePattern::all_to_all; }},

    Proof{"cm-rejected", kError, Party::application, [](T t) { reject(t, CmOutcome::rejected); },
          [](T t) { reject(t, CmOutcome::no_answer); }},
    Proof{"cm-no-answer", kError, Party::undecided, [](T t) { cm(t).outcome = CmOutcome::no_answer; },
          [](T t) { cm(t).outcome = CmOutcome::open; }},
    Proof{"cm-half-open", kWarning, Party::requester, [](T t) { cm(t).outcome = CmOutcome::half_open; },
          [](T t) { cm(t).outcome = CmOutcome::open; }},
    Proof{"cm-unexpected-message", kWarning, Party::responder,
          [](T t) { t.cm.refusals = {{0, CmState::timewait, CmEvent::rep, false, FrameIndex{9}}}; },
          [](T t) { t.cm.refusals = {{7, CmState::timewait, CmEvent::rep, false, FrameIndex{9}}}; }},  // of no attempt
    Proof{"cm-retries", kNote, Party::undecided, [](T t) { cm(t).repeats[0] = 1; },
          [](T t) { cm(t).repeats[0] = 15, cm(t).outcome = CmOutcome::no_answer; }},
    Proof{"cm-unresolved", kError, Party::responder,
          [](T t) { cm(t).outcome = CmOutcome::unresolved, cm(t).sidr_status = 1; },
          [](T t) { cm(t).outcome = CmOutcome::resolved, cm(t).sidr_status = 0; }},
    Proof{"cm-disconnect-unanswered", kNote, Party::undecided,
          [](T t) {
              cm(t).outcome = CmOutcome::disconnect_unanswered, cm(t).state = CmState::dreq_sent, cm(t).repeats[5] = 1;
          },
          [](T t) { cm(t).outcome = CmOutcome::disconnected, cm(t).state = CmState::dreq_sent; }},
    Proof{"multicast-join-failed", kWarning, Party::responder, [](T t) { t.cm.joins.emplace_back().status = 0x0700; },
          [](T t) { t.cm.joins.emplace_back().status = 0; }},

    Proof{"protocol-refused", kError, Party::application, [](T t) { add_event(t, UlpEventKind::refused); },
          [](T t) { add_event(t, UlpEventKind::login_failed); }},
    Proof{"login-failed", kError, Party::application, [](T t) { add_event(t, UlpEventKind::login_failed); },
          [](T t) { add_event(t, UlpEventKind::terminated); }},
    Proof{"session-terminated", kError, Party::application, [](T t) { add_event(t, UlpEventKind::terminated); },
          [](T t) { add_event(t, UlpEventKind::error_message); }},
    Proof{"protocol-error", kWarning, Party::application, [](T t) { add_event(t, UlpEventKind::error_message); },
          [](T t) { add_event(t, UlpEventKind::refused); }},
    Proof{"operation-failed", kWarning, Party::application, [](T t) { fails(t, 2); },
          [](T t) { fails(t, 2), t.ulp.conversations.clear(); }},  // a wrong guess, given up
    Proof{"operation-unanswered", kWarning, Party::responder, [](T t) { waits(t, 2 * kSecond); },
          [](T t) { waits(t, 200 * kMillisecond); }},
    Proof{"operation-slow", kWarning, Party::responder, [](T t) { slow_one(t, 20 * kMillisecond); },
          [](T t) { slow_one(t, 900 * kMicrosecond); }},
    Proof{"message-malformed", kWarning, Party::application, [](T t) { add_event(t, UlpEventKind::malformed); },
          [](T t) { add_event(t, UlpEventKind::error_message); }},
    Proof{"keep-alive-late", kWarning, Party::requester, [](T t) { add_event(t, UlpEventKind::keep_alive_late); },
          [](T t) { add_event(t, UlpEventKind::credits_exhausted); }},
    Proof{"credits-exhausted", kNote, Party::responder, [](T t) { add_event(t, UlpEventKind::credits_exhausted); },
          [](T t) { speaks(t).least_credits = 0; }},
    Proof{"single-credit", kNote, Party::responder, [](T t) { speaks(t).most_credits = 1; },
          [](T t) { speaks(t).least_credits = 1, t.ulp.conversations[0].most_credits = 2; }},
    Proof{"serialised-io", kNote, Party::application, [](T t) { speaks(t).most_outstanding = 1; },
          [](T t) { speaks(t).most_outstanding = 1, t.ulp.conversations[0].last_answered = Instant{kSecond}; }},
    Proof{"port-errors-counted", kWarning, Party::fabric, [](T t) { counter(t, "symbolerrorcounter"); },
          [](T t) { counter(t, "portxmitdata"); }},
    Proof{"trap-reported", kWarning, Party::fabric,
          [](T t) {
              ManagementEvent& event = t.management.events.emplace_back();
              event.generic = true;
              event.number = 257;
              event.count = 1;
          },
          [](T t) { t.management.datagrams = 1; }},
    Proof{"management-unanswered", kWarning, Party::undecided,
          [](T t) { asked(t, ExchangeOutcome::unanswered).retries = 2; },
          [](T t) { asked(t, ExchangeOutcome::unanswered); }},
    Proof{"sa-query-failed", kWarning, Party::responder,
          [](T t) { asked(t, ExchangeOutcome::refused).status = 0x0700; },
          [](T t) {
              Exchange& join = asked(t, ExchangeOutcome::refused);
              join.status = 0x0700;
              join.attribute = 0x0038;
          }},
    Proof{"iwarp-terminated", kError, Party::requester,
          [](T t) { iwarp(t).terminated = {End::b, FrameIndex{7}, {}, 0, 1, 2}; }, [](T t) { iwarp(t); }},
    Proof{"iwarp-refused", kError, Party::application,
          [](T t) { iwarp(t).ways[1].set_up = {.frame = FrameIndex{3}, .rejected = true}; },
          [](T t) { iwarp(t).ways[1].set_up = {.frame = FrameIndex{3}}; }},
    Proof{"iwarp-crc-wrong", kWarning, Party::fabric,
          [](T t) { iwarp(t).ways[0].crc_bad = 2, t.iwarp.conversations[0].ways[0].crc_bad_frames = {FrameIndex{9}}; },
          [](T t) { iwarp(t).ways[0].crc_good = 2; }},
    Proof{"iwarp-retransmission", kWarning, Party::fabric,
          [](T t) { iwarp(t), a(t).incidents.made().retransmitted = 2, a(t).requests = 100; },
          [](T t) { a(t).incidents.made().retransmitted = 2; }},
    Proof{"iwarp-nonconforming", kNote, Party::requester, [](T t) { iwarp(t).ways[1].turned_read = FrameIndex{9}; },
          [](T t) { iwarp(t).ways[1].markers = true; }},
    Proof{"iwarp-unreadable", kNote, Party::undecided, [](T t) { iwarp(t).ways[1].unread_bytes = 1448; },
          [](T t) { iwarp(t).ways[1].unread_bytes = 1448, t.iwarp.conversations[0].ways[1].missing_bytes = 1448; }},
    Proof{"iwarp-stream-holes", kNote, Party::capture, [](T t) { iwarp(t).ways[1].missing_bytes = 1448; },
          [](T t) { iwarp(t); }},
    Proof{"uet-refused", kError, Party::requester,
          [](T t) { context(t).refusals = {{.code = 0x1c, .count = 2, .frames = {FrameIndex{9}}}}; },
          [](T t) { context(t); }},
    Proof{"uet-retransmitted", kWarning, Party::fabric,
          [](T t) { context(t), a(t).incidents.made().retransmitted = 2, a(t).requests = 100; },
          [](T t) { a(t).incidents.made().retransmitted = 2; }},
    Proof{"uet-nack", kWarning, Party::responder,
          [](T t) { context(t).nacks = {{.code = 7, .count = 2, .frames = {FrameIndex{9}}}}; },
          [](T t) { context(t).nacks = {{.code = 1, .count = 2, .frames = {FrameIndex{9}}}}; }},
    Proof{"uet-trimmed", kWarning, Party::congestion, [](T t) { context(t).trimmed = 2; },
          [](T t) { context(t).nacks = {{.code = 4, .count = 2, .frames = {FrameIndex{9}}}}; }},
    Proof{"uet-path-loss", kWarning, Party::fabric, [](T t) { paths(t, 20, 20); }, [](T t) { paths(t, 3, 20); }},
    Proof{"uet-path-slow", kNote, Party::fabric, [](T t) { paths(t, 1, 50); }, [](T t) { paths(t, 1, 30); }},

    Proof{"capture-lost-packets", kWarning, Party::capture,
          [](T t) { a(t).incidents.made().gaps = {.skipped = 2, .tap = 2}; },
          [](T t) { a(t).incidents.made().gaps = {.skipped = 2, .network = 2}; }},
    Proof{"gaps-unexplained", kNote, Party::undecided,
          [](T t) { a(t).incidents.made().gaps = {.skipped = 2, .undecided = 2}; },
          [](T t) { a(t).incidents.made().gaps = {.skipped = 2, .tap = 2}; }},
    Proof{"capture-duplicates", kNote, Party::capture, [](T t) { t.quality.copies_of_other_taps = 5; },
          [](T t) { t.quality.copies_of_same_tap = 5; }},
    Proof{"capture-truncated", kNote, Party::capture, [](T t) { t.quality.cut = 1; },
          [](T t) { t.quality.icrc_not_checkable = 1; }},
    Proof{"one-way-capture", kNote, Party::capture, [](T t) { heard_one_way(t); },
          [](T t) { heard_one_way(t), add_recovery(t, kTimeout, kGaveUp); }},
    Proof{"pairing-uncertain", kNote, Party::capture, [](T t) { add_connection(t).confidence = Confidence::likely; },
          [](T t) { t.connections[0].confidence = Confidence::likely; }},
    Proof{"clock-backwards", kNote, Party::capture, [](T t) { t.quality.backwards = 1; }, [](T) {}},
    Proof{"clock-offset", kNote, Party::capture, [](T t) { answered_early(t, kMillisecond); },
          [](T t) { answered_early(t, 0); }},
    Proof{"clock-coarse", kNote, Party::capture, [](T t) { t.quality.clock_resolution = Duration{kMillisecond}; },
          [](T t) { t.quality.clock_resolution = Duration{kMicrosecond}; }},
    Proof{"malformed-packets", kWarning, Party::undecided, [](T t) { t.quality.faulty = 1; },
          [](T t) { t.quality.fragments = 1; }},
    Proof{"ip-fragments", kWarning, Party::undecided, [](T t) { t.quality.fragments = 1; },
          [](T t) { t.quality.faulty = 1; }},
    Proof{"analysis-bounded", kNote, Party::capture, [](T t) { t.left_out.messages = 1; },
          [](T t) { t.left_out.findings = {{"ack-timeout", kWarning, 1}}; }},
};

Timeline drawn(Change change) {
    Timeline timeline = healthy();
    change(timeline);
    draw_findings(timeline);
    return timeline;
}

std::vector<Finding> of(const Timeline& timeline, std::string_view id) {
    std::vector<Finding> found;
    std::ranges::copy_if(timeline.findings, std::back_inserter(found),
                         [&](const Finding& finding) { return finding.id == id; });
    return found;
}

// One sentence for people: printable ASCII that ends with the only full stop.
bool sentence(std::string_view text) {
    const bool printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
    return text.size() > 10 && printable && text.ends_with('.') && !text.ends_with("..") &&
           text.find(". ") == std::string_view::npos && text.find("  ") == std::string_view::npos;
}

}  // namespace

TEST_CASE("a healthy timeline has no findings") {
    CHECK(drawn([](T) {}).findings.empty());
}

TEST_CASE("every finding is drawn from what it is about, and not from what it is nearly about") {
    std::set<std::string_view> proven;
    for (const Proof& proof : kProofs) {
        INFO(proof.id);
        CHECK(proven.insert(proof.id).second);
        const std::vector<Finding> found = of(drawn(proof.harm), proof.id);
        REQUIRE(found.size() == 1);
        INFO(found[0].summary);
        CHECK(found[0].severity == proof.severity);
        CHECK(found[0].party == proof.party);
        CHECK(found[0].count > 0);
        CHECK(of(drawn(proof.near_miss), proof.id).empty());
    }
    for (const FindingRow& row : finding_rows()) {
        INFO(row.id);
        CHECK(proven.contains(row.id));
    }
    CHECK(proven.size() == finding_rows().size());
}

TEST_CASE("findings speak in sentences, one for what happened and one for what to do") {
    for (const Proof& proof : kProofs)
        for (const Change change : {proof.harm, proof.near_miss})
            for (const Finding& finding : drawn(change).findings) {
                INFO(finding.id << ": " << finding.summary << " / " << finding.advice);
                CHECK(sentence(finding.summary));
                CHECK(sentence(finding.advice));
                CHECK(finding.packets.size() <= kMaxEvidence);
                CHECK(std::ranges::is_sorted(finding.packets));
                CHECK(std::ranges::count(finding.packets, FrameIndex{}) == 0);
            }
}

std::vector<Finding> qps::tests::proven_findings() {
    std::vector<Finding> found;
    for (const FindingRow& row : finding_rows()) {
        const auto proof = std::ranges::find(kProofs, row.id, &Proof::id);
        if (proof != std::end(kProofs)) found.push_back(of(drawn(proof->harm), row.id).at(0));
    }
    return found;
}
