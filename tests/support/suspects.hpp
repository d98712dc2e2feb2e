// Timelines with hosts that try what they were not given, or say they are another, or that send TCP beside RDMA: done
// to a healthy one.
#pragma once

#include <tests/support/durations.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>

namespace qps::tests {

// Two LIDs with one GID, that changed so often.
inline void sends_in_turn(transport::Timeline& timeline, std::uint64_t changes) {
    using dissect::FrameIndex;
    transport::GidConflict& one = timeline.reachability.gids.emplace_back();
    one.gid = {{0xfe80000000000000, 0x0002c90300a1b2c3}, transport::AddressSpace::infiniband_gid};
    one.lids = {transport::Address{{0, 4}, transport::AddressSpace::infiniband_lid},
                transport::Address{{0, 300}, transport::AddressSpace::infiniband_lid}};
    one.changes = changes;
    one.frames = {FrameIndex{1}, FrameIndex{2}, FrameIndex{3}, FrameIndex{4}};
    one.last = FrameIndex{4};
}

// A packet of 33 blocks behind three milliseconds in which there were credits for so many.
inline void waits_for_credits(transport::Timeline& timeline, std::uint16_t credits) {
    using dissect::Duration, dissect::FrameIndex;
    timeline.credits.starved.push_back({.granter = 1,
                                        .lane = 3,
                                        .waits = 2,
                                        .total = Duration{5'000'000},
                                        .longest = Duration{3'000'000},
                                        .credits = credits,
                                        .needed = 33,
                                        .grants = 30,
                                        .followed = Duration{4'000},
                                        .first = FrameIndex{5},
                                        .last = FrameIndex{34},
                                        .released = FrameIndex{35},
                                        .packet = FrameIndex{36}});
}

// Two MAC addresses answer for a host.
inline transport::AddressConflict& two_answer(transport::Timeline& timeline, unsigned target) {
    using namespace dissect;
    transport::AddressConflict& conflict = timeline.reachability.conflicts.emplace_back();
    conflict.host = host(target);
    conflict.macs = {transport::Address{{0, 0x02'00'00'00'00'02}, transport::AddressSpace::ethernet},
                     transport::Address{{0, 0x02'00'00'00'00'09}, transport::AddressSpace::ethernet}};
    conflict.requests = 2;
    conflict.first = {FrameIndex{4}, FrameIndex{5}};
    conflict.last = FrameIndex{8};
    return conflict;
}

// End a of the first connection has so many R_Keys refused, each before it tries the next.
inline void try_keys(transport::Timeline& timeline, unsigned count) {
    using namespace dissect;
    for (unsigned i = 0; i < count; ++i) {
        transport::Fatality& fatality = add_fatality(timeline, 2);
        fatality.last_good.reset();
        fatality.request->first_frame = fatality.request->last_frame = FrameIndex{100 + 2 * i};
        fatality.frame = FrameIndex{101 + 2 * i};
        fatality.request->first_time = Instant{i * kMillisecond};
        fatality.time = Instant{i * kMillisecond + kMicrosecond};
        fatality.request->access = transport::RemoteAccess{.address = 0, .key = Rkey{0x1000 + i}, .length = 64};
    }
}

// Host 1 sends a request to each of so many queue pairs of host 2, which nobody answers, and the capture goes on: one
// after the other, or side by side.
inline void try_queue_pairs(transport::Timeline& timeline, unsigned count, bool together) {
    using namespace dissect;
    for (unsigned i = 0; i < count; ++i) {
        transport::Connection& connection = add_connection(timeline);
        connection.ends[0].qpn.reset();
        connection.ways[1] = {};
        connection.confidence = transport::Confidence::none;
        connection.joined_by = transport::JoinedBy::nothing;
        transport::Way& way = connection.ways[0];
        way.packets = way.requests = way.open = 1;
        way.completed = 0;
        way.first_time = Instant{kSecond + i * kMillisecond};
        way.last_time = Instant{kSecond + (together ? 2 * kSecond : i * kMillisecond)};
    }
    timeline.last = Instant{4 * kSecond};  // an answer would have come
}

// CNPs to queue pair 1 of host 1, which is connected with host 2.
inline transport::CnpStream& told_by(transport::Timeline& timeline, unsigned source) {
    using namespace dissect;
    transport::CnpStream& stream = timeline.congestion.notifications.emplace_back();
    stream.flow = {host(source), host(1), Qpn{1}, {}};
    stream.count = 40;
    stream.first_frame = FrameIndex{20};
    stream.last_frame = FrameIndex{90};
    stream.last_time = Instant{kSecond / 2};
    return stream;
}

// 257 requests of host 1 to host 2, each so long after the one before.
inline void ask_often(transport::Timeline& timeline, transport::CmOutcome outcome, std::int64_t apart) {
    using namespace dissect;
    const transport::CmAttempt first = timeline.cm.attempts.at(0);
    for (std::uint32_t i = 1; i <= 257; ++i) {
        transport::CmAttempt& attempt = timeline.cm.attempts.emplace_back(first);
        attempt.uid = i;
        attempt.outcome = outcome;
        if (outcome == transport::CmOutcome::rejected) attempt.rejection.emplace().reason = 8;
        attempt.requested = Instant{kSecond + i * apart};
        attempt.first_frame = attempt.last_frame = FrameIndex{100 + i};
    }
}

// TCP beside a megabyte of RDMA, in eight intervals with marks.
inline void lossy_beside(transport::Timeline& timeline, std::uint64_t tcp_bytes) {
    using namespace dissect;
    transport::LossyBeside& one = timeline.beside.emplace_back();
    one.destination = host(2);
    one.pcp = transport::kNoPcp;
    one.dscp = 26;
    one.intervals = one.shared = one.marks = 8;
    one.tcp_bytes = tcp_bytes;
    one.rdma_bytes = 1'000'000;
    one.frames = {FrameIndex{7}, FrameIndex{8}};
}

}  // namespace qps::tests
