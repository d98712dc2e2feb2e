// Conclusions on the capture itself, on formats and on responders.
#include <transport-replay/checks/passive/conclusions.hpp>
#include <transport-replay/checks/passive/conversation_watch.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

// Packets that the responder had and the capture has not.
std::uint64_t missed_by_tap(const Timeline& timeline) {
    std::uint64_t missed = 0;
    for (const Connection& connection : timeline.connections)
        for (const Way& way : connection.ways) missed += losses_of(way).by_capture;
    return missed;
}

// Of those: of connections whose answers were cut off, or the lengths of whose READs, so that nobody knows what was
// due.
std::uint64_t perhaps_missed_by_tap(const Timeline& timeline) {
    std::uint64_t missed = 0;
    for (const Connection& connection : timeline.connections) {
        if (connection.ways[0].incidents->unread_answers + connection.ways[1].incidents->unread_answers == 0) continue;
        for (const Way& way : connection.ways) missed += losses_of(way).by_capture;
    }
    return missed;
}

std::uint64_t reliable_one_way(const Timeline& timeline) {
    return static_cast<std::uint64_t>(std::ranges::count_if(timeline.quality.one_way, &OneWay::reliable));
}

std::uint64_t dropped(const Drops& drops) { return drops.dropped_by_system + drops.dropped; }

void conclude_icrcs(const WatchedEnd& end, Tallies& tallies) {
    for (std::uint32_t i = 0; i < std::min<std::size_t>(end.bad, end.bad_frames.size()); ++i) {
        if (end.computed_wrongly) tallies.fail(Passive::fmt_01, end.bad_frames[i]);
        else tallies.doubt(Passive::fmt_01, end.bad_frames[i]);
    }
    const std::uint64_t more = end.bad - std::min<std::uint64_t>(end.bad, end.bad_frames.size());
    if (end.computed_wrongly) tallies.fail_more(Passive::fmt_01, more);
    else tallies.doubt_more(Passive::fmt_01, more);
    if (!end.pad_uncovered) return;
    tallies.look(Passive::fmt_02, end.bad);
    for (const FrameIndex frame : end.bad_frames) tallies.fail(Passive::fmt_02, frame);
    tallies.fail_more(Passive::fmt_02, end.bad - end.bad_frames.size());
}

}  // namespace

bool lacks_packets(const Timeline& timeline) {
    const LeftOut& left_out = timeline.left_out;
    return dropped(timeline.quality.drops) != 0 || missed_by_tap(timeline) != 0 || reliable_one_way(timeline) != 0 ||
           left_out.packets_of_connections != 0 || left_out.messages != 0 || timeline.retired.connections != 0;
}

const CmAttempt* attempt_of(const Timeline& timeline, const Connection& connection) {
    if (!connection.cm_attempt || *connection.cm_attempt >= timeline.cm.attempts.size()) return nullptr;
    return &timeline.cm.attempts[*connection.cm_attempt];
}

void conclude_trace(const Timeline& timeline, const WatchedConnections& watched, std::uint64_t unwatched,
                    Tallies& tallies) {
    const CaptureQuality& quality = timeline.quality;
    Tally& whole = tallies[Passive::trc_01];
    whole.examined = timeline.packets;
    const auto say = [&](std::uint64_t count, const std::string& words) {
        if (count == 0) return;
        whole.failures.count += count;
        whole.words += (whole.words.empty() ? "" : "; ") + words;
    };
    say(dropped(quality.drops), fmt::format("{} dropped by the capture", counted(dropped(quality.drops), "packet")));
    const std::uint64_t unread = perhaps_missed_by_tap(timeline);
    const std::uint64_t missed = missed_by_tap(timeline) - unread;
    say(missed, fmt::format("{} acknowledged but not yet captured", counted(missed, "packet")));
    const std::uint64_t silent = reliable_one_way(timeline);
    const std::string back = fmt::format("timestamps go backwards {}, by {} at most",
                                         quality.backwards == 1 ? "once" : counted(quality.backwards, "time"),
                                         duration_text(quality.largest_step_back));
    const bool reordered =
        quality.largest_step_back <= kReordering;  // by the queues of the tap: nothing is lost for it
    if (!reordered) say(quality.backwards, back);
    say(timeline.left_out.packets_of_connections + timeline.left_out.messages + timeline.retired.connections +
            unwatched,
        "beyond the limits of the analysis");
    if (whole.failures.count == 0 && silent != 0) {  // the tap may not hear a host, or the host had nothing to say
        whole.doubts.count = silent;
        whole.words = fmt::format("{} captured in one direction only", counted(silent, "pair of hosts"));
    }
    if (whole.failures.count == 0 && unread != 0) {
        whole.doubts.count += unread;
        whole.words += fmt::format("{}what was due cannot be told where answers or lengths of READs were cut off",
                                   whole.words.empty() ? "" : "; ");
    }
    if (whole.failures.count == 0 && reordered && quality.backwards != 0) {
        whole.doubts.count += quality.backwards;
        whole.words += (whole.words.empty() ? "" : "; ") + back;
    }
    (reordered ? whole.doubts : whole.failures).keep({quality.largest_step_frame, quality.largest_step_frame});

    Tally& cut = tallies[Passive::trc_02];
    cut.examined = quality.packets;
    cut.doubts.count = quality.cut;

    for_each_watched(timeline.connections, watched, [&](const Connection& connection, const WatchedConnection& watch) {
        if (!connection.reliable()) return;
        tallies.look(Passive::trc_03);
        const CmAttempt* attempt = attempt_of(timeline, connection);
        const bool set_up = attempt != nullptr && attempt->requested;
        if (!set_up && watch.older) tallies.doubt(Passive::trc_03, connection.first_frame());
    });
}

void conclude_format(const Timeline& timeline, const WatchedConnections& watched, Tallies& tallies) {
    for_each_watched(timeline.connections, watched, [&](const Connection& connection, const WatchedConnection& watch) {
        const CmAttempt* attempt = attempt_of(timeline, connection);
        for (const End end : {End::a, End::b}) {
            const WatchedEnd& state = watch.end(end);
            tallies.about(connection.end(end).address);
            conclude_icrcs(state, tallies);
            if (attempt != nullptr && attempt->path_mtu && state.mtu != 0 && state.mtu != *attempt->path_mtu)
                tallies.fail(Passive::fmt_26, connection.way(end).first_frame);
        }
    });
    const bool loads_paths = std::ranges::any_of(timeline.cm.attempts, [](const CmAttempt& attempt) {
        return std::ranges::any_of(attempt.ladder, [](const CmRung& rung) { return rung.message == CmMessage::lap; });
    });
    if (!loads_paths) return;
    Tally& migration = tallies[Passive::fmt_08];
    std::swap(migration.failures, migration.doubts);
}

// Markers that only a right CRC shows to be elsewhere, or not there at all: the framer of the analysis found them.
void conclude_iwarp(const Timeline& timeline, Tallies& tallies) {
    for (const IwarpConversation& conversation : timeline.iwarp.conversations)
        for (const End end : {End::a, End::b}) {
            const IwarpWay& way = conversation.way(end);
            const Connection* connection =
                way.odd_markers == FrameIndex{} ? nullptr : timeline.find(conversation.connection);
            if (connection == nullptr) continue;
            tallies.about(connection->end(end).address);
            tallies.look(Passive::mpa_11);
            tallies.fail(Passive::mpa_11, way.odd_markers);
        }
    tallies.about_all();
}

void conclude_responder(const Timeline& timeline, const WatchedConnections& watched, Tallies& tallies) {
    for_each_watched(timeline.connections, watched, [&](const Connection& connection, const WatchedConnection& watch) {
        const CmAttempt* attempt = attempt_of(timeline, connection);
        for (const End end : {End::a, End::b}) {
            const WatchedEnd& state = watch.end(end);
            // What nothing explained: acknowledged beyond everything that the capture has.
            tallies.about(connection.end(other(end)).address);
            if (state.ghost) tallies.doubt(Passive::rsp_02, *state.ghost);
            tallies.about(connection.end(end).address);
            if (attempt == nullptr || state.plain_acks == 0) continue;
            // 12.7.26: an end that has end-to-end flow control gives credits, unless its receives are shared.
            const CmSide& side = side_of(*attempt, end);
            if (!side.flow_control || !side.shared_receive_queue) continue;
            tallies.look(Passive::rsp_47, state.plain_acks);
            if (!*side.flow_control || *side.shared_receive_queue || state.unlimited == 0) continue;
            tallies.fail(Passive::rsp_47, state.unlimited_frame);
            tallies.fail_more(Passive::rsp_47, state.unlimited - 1);
        }
    });
}

}  // namespace qps::transport::conformance
