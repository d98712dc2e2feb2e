// Timelines made by hand: a healthy connection between two hosts, to which tests do harm.
#pragma once

#include <tests/support/durations.hpp>
#include <transport-replay/model/timeline.hpp>

#include <cstdint>

namespace qps::tests {

// 10.0.0.<last>
[[nodiscard]] inline transport::Address host(unsigned last,
                                             transport::AddressSpace space = transport::AddressSpace::roce_v2) {
    return {{0, 0xffff'0a00'0000ULL + last}, space};
}

template <class T, std::size_t kMost> void add(transport::FewValues<T, kMost>& values, T value, unsigned packets) {
    values.add(value, packets);
}

// 200 packets each way: requests of end a and their answers, over one second.
inline transport::Connection& add_connection(transport::Timeline& timeline, unsigned a = 1, unsigned b = 2) {
    using namespace dissect;
    const auto uid = static_cast<std::uint32_t>(timeline.connections.size() + 1);
    transport::Connection& connection = timeline.connections.emplace_back();
    connection.uid = transport::ConnectionId{uid};
    connection.service = Service::rc;
    connection.ends = {transport::Endpoint{host(a), Qpn{uid}}, transport::Endpoint{host(b), Qpn{uid + 0x100}}};
    connection.confidence = transport::Confidence::strong;
    connection.joined_by = transport::JoinedBy::traffic;
    for (transport::Way& way : connection.ways) {
        way.packets = 200;
        way.bytes = 200'000;
        way.first_time = Instant{0};
        way.last_time = Instant{kSecond};
        way.first_frame = FrameIndex{uid};
        way.last_frame = FrameIndex{uid + 1000};
        add(way.pkeys, Pkey{0xffff}, 200);
        add(way.dscps, std::uint8_t{26}, 200);
        add(way.pcps, transport::kNoPcp, 200);
        add(way.udp_ports, static_cast<std::uint16_t>(0xc000 + uid), 200);
    }
    connection.ways[0].requests = 200;
    connection.ways[1].acks = 200;
    connection.ways[0].completed = 200;
    return connection;
}

// The answers of end b were recorded before their requests.
inline void answered_early(transport::Timeline& timeline, std::int64_t by) {
    transport::Incidents& incidents = timeline.connections[0].ways[1].incidents.made();
    incidents.early_answers = 3;
    incidents.earliest_answer = dissect::Duration{by};
    incidents.note(transport::Oddity::early, dissect::FrameIndex{7});
}

// The attempt of CM that set a connection up.
inline transport::CmAttempt& add_attempt(transport::Timeline& timeline, transport::Connection& connection) {
    using namespace dissect;
    using transport::CmMessage, transport::CmState;
    transport::CmAttempt& attempt = timeline.cm.attempts.emplace_back();
    attempt.uid = static_cast<std::uint32_t>(timeline.cm.attempts.size() - 1);
    attempt.active.address = connection.ends[0].address;
    attempt.active.qpn = connection.ends[0].qpn;
    attempt.active.initiator_depth = 16;
    attempt.passive.address = connection.ends[1].address;
    attempt.passive.qpn = connection.ends[1].qpn;
    attempt.passive.responder_resources = 8;
    attempt.state = CmState::established;
    attempt.outcome = transport::CmOutcome::established;
    attempt.pkey = Pkey{0xffff};
    attempt.retry_count = 7;
    attempt.local_ack_timeout = 14;
    attempt.ip = transport::CmIpService{.protocol = 6, .port = 4420};
    attempt.ladder = {
        {FrameIndex{1}, Instant{0}, CmMessage::req, true, false, false, CmState::req_sent},
        {FrameIndex{2}, Instant{kMillisecond}, CmMessage::rep, false, false, false, CmState::rep_sent},
        {FrameIndex{3}, Instant{2 * kMillisecond}, CmMessage::rtu, true, false, false, CmState::established}};
    attempt.requested = Instant{0};
    attempt.answered = Instant{kMillisecond};
    attempt.confirmed = Instant{2 * kMillisecond};
    connection.cm_attempt = attempt.uid;
    return attempt;
}

// A episode of end a of the first connection, and its sums.
inline transport::Recovery& add_recovery(transport::Timeline& timeline, transport::RecoveryKind kind,
                                         transport::RecoveryEnd end = transport::RecoveryEnd::recovered) {
    using namespace dissect;
    const auto frame = 10 * (timeline.recoveries.size() + 1);
    transport::Recovery& episode = timeline.recoveries.emplace_back();
    episode.connection = timeline.connections.at(0).uid;
    episode.kind = kind;
    episode.end = end;
    if (end == transport::RecoveryEnd::gave_up) timeline.connections[0].ways[0].incidents.made().abandoned = 1;
    episode.psn = Psn(1000);
    episode.lost = 1;
    if (kind == transport::RecoveryKind::sequence_nak) episode.cause = transport::NakCause::lost_before_tap;
    episode.triggers = episode.rounds = 7;
    episode.resent = 7;
    episode.resent_bytes = 7000;
    episode.original = FrameIndex{frame};
    episode.trigger = FrameIndex{frame + 1};
    episode.resumed = FrameIndex{frame + 2};
    episode.last = FrameIndex{frame + 3};
    episode.time = transport::OrderedSpan{Instant{kMillisecond}};
    episode.time.end_at(Instant{4 * kMillisecond});
    episode.waited = Duration{2 * kMillisecond};
    episode.longest_wait = Duration{kMillisecond};
    transport::RecoverySum& sum = timeline.connections[0].ways[0].incidents.made().recovery(kind);
    ++sum.episodes;
    sum.triggers += episode.triggers;
    sum.resent += episode.resent;
    sum.resent_bytes += episode.resent_bytes;
    sum.waited = episode.waited;
    sum.lost = sum.most_lost = Duration{3 * kMillisecond};
    return episode;
}

// A fatal NAK to an RDMA WRITE of end a of the first connection.
inline transport::Fatality& add_fatality(transport::Timeline& timeline, std::uint8_t nak_code,
                                         dissect::Verb verb = dissect::Verb::write) {
    using namespace dissect;
    transport::Fatality& fatality = timeline.fatalities.emplace_back();
    fatality.connection = timeline.connections.at(0).uid;
    fatality.nak_code = nak_code;
    fatality.psn = Psn(77);
    fatality.frame = FrameIndex{50};
    fatality.request.emplace();
    fatality.request->verb = verb;
    fatality.request->bytes = 4096;
    fatality.request->first_frame = fatality.request->last_frame = FrameIndex{49};
    if (verb != Verb::send) fatality.request->access = transport::RemoteAccess{0x7f00'0000'1000, Rkey{0x1234}, 4096};
    fatality.last_good = transport::RemoteAccess{0x7f00'0000'0000, Rkey{0x1234}, 4096};
    fatality.last_good_frame = FrameIndex{40};
    return fatality;
}

// One healthy connection that CM set up.
[[nodiscard]] inline transport::Timeline healthy() {
    transport::Timeline timeline;
    timeline.packets = timeline.quality.packets = timeline.quality.rdma_packets = timeline.quality.icrc_good = 400;
    timeline.first = dissect::Instant{0};
    timeline.last = dissect::Instant{kSecond};
    add_attempt(timeline, add_connection(timeline));
    return timeline;
}

}  // namespace qps::tests
