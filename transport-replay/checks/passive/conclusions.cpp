// Conclusions on the capture itself, on formats and on responders.
#include <transport-replay/checks/passive/conclusions.hpp>
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
        for (const Way& way : connection.ways) missed += way.gaps.tap + way.response_gaps.tap;
    return missed;
}

std::uint64_t reliable_one_way(const Timeline& timeline) {
    return static_cast<std::uint64_t>(std::ranges::count_if(timeline.quality.one_way, &OneWay::reliable));
}

std::uint64_t dropped(const Drops& drops) { return drops.dropped_by_system + drops.dropped; }

// A sender that computes an ICRC wrongly does so for all packets of a kind; the wire spoils single ones, of any kind, and now and then
// makes one of another kind of them.
bool is_computed_wrongly(const EndState& state) {
    std::uint32_t never_right = 0;
    std::uint32_t wrong = 0;
    for (std::size_t kind = 0; kind < state.bad_kinds.size(); ++kind) {
        wrong += state.bad_kinds[kind];
        const bool also_right = (state.good_kinds[kind / 64] >> kind % 64 & 1) != 0;
        if (!also_right) never_right += state.bad_kinds[kind];
    }
    return never_right > 1 && 2 * never_right >= wrong;
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

void conclude_trace(const Timeline& timeline, const Watches& watches, std::uint64_t unwatched, Tallies& tallies) {
    const CaptureQuality& quality = timeline.quality;
    Tally& whole = tallies[Passive::trc_01];
    whole.examined = timeline.packets;
    const auto say = [&](std::uint64_t count, const std::string& words) {
        if (count == 0) return;
        whole.failures.count += count;
        whole.words += (whole.words.empty() ? "" : "; ") + words;
    };
    say(dropped(quality.drops), fmt::format("{} dropped by the capture", counted(dropped(quality.drops), "packet")));
    const std::uint64_t missed = missed_by_tap(timeline);
    say(missed, fmt::format("{} acknowledged but not yet captured", counted(missed, "packet")));
    const std::uint64_t silent = reliable_one_way(timeline);
    const std::string back = fmt::format("timestamps go backwards {}, by {} at most",
                                         quality.backwards == 1 ? "once" : counted(quality.backwards, "time"),
                                         duration_text(quality.largest_step_back));
    const bool reordered = quality.largest_step_back <= kReordering;  // by the queues of the tap: nothing is lost for it
    if (!reordered) say(quality.backwards, back);
    say(timeline.left_out.packets_of_connections + timeline.left_out.messages + timeline.retired.connections + unwatched,
        "beyond the limits of the analysis");
    if (whole.failures.count == 0 && silent != 0) {  // the tap may not hear a host, or the host had nothing to say
        whole.doubts.count = silent;
        whole.words = fmt::format("{} captured in one direction only", counted(silent, "pair of hosts"));
    }
    if (whole.failures.count == 0 && reordered && quality.backwards != 0) {
        whole.doubts.count += quality.backwards;
        whole.words += (whole.words.empty() ? "" : "; ") + back;
    }
    Tally::Frames& marks = reordered ? whole.doubts : whole.failures;
    if (quality.largest_step_frame != FrameIndex{}) marks.first[marks.kept++] = quality.largest_step_frame;

    Tally& cut = tallies[Passive::trc_02];
    cut.examined = quality.packets;
    cut.doubts.count = quality.cut;

    for_each_watched(timeline.connections, watches, [&](const Connection& connection, const ConversationWatch& watch) {
        if (!connection.reliable()) return;
        tallies.look(Passive::trc_03);
        const CmAttempt* attempt = attempt_of(timeline, connection);
        const bool set_up = attempt != nullptr && attempt->requested;
        if (!set_up && watch.older()) tallies.doubt(Passive::trc_03, connection.first_frame());
    });
}

void conclude_format(const Timeline& timeline, const Watches& watches, Tallies& tallies) {
    for_each_watched(timeline.connections, watches, [&](const Connection& connection, const ConversationWatch& watch) {
        const CmAttempt* attempt = attempt_of(timeline, connection);
        for (const End end : {End::a, End::b}) {
            const EndState& state = watch.state(end);
            tallies.about(connection.end(end).address);
            const bool computed_wrongly = is_computed_wrongly(state);
            for (std::uint32_t i = 0; i < state.bad; ++i) {
                const FrameIndex frame = i < state.bad_frames.size() ? state.bad_frames[i] : FrameIndex{};
                if (computed_wrongly) tallies.fail(Passive::fmt_01, frame);
                else tallies.doubt(Passive::fmt_01, frame);
            }
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

void conclude_responder(const Timeline& timeline, const Watches& watches, Tallies& tallies) {
    for_each_watched(timeline.connections, watches, [&](const Connection& connection, const ConversationWatch& watch) {
        const CmAttempt* attempt = attempt_of(timeline, connection);
        for (const End end : {End::a, End::b}) {
            const EndState& state = watch.state(end);
            // What nothing explained: acknowledged beyond everything that the capture has.
            tallies.about(connection.end(other(end)).address);
            if (state.ghost) tallies.doubt(Passive::rsp_02, state.ghost->frame);
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
