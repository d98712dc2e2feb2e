#include <transport-replay/tracking/gap_ledger.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

bool covers(Psn first, std::uint32_t count, Psn psn) { return !psn.before(first) && psn.before(first + count); }

}  // namespace

void GapLedger::skip(Psn first, std::uint32_t count, const GapPassing& by, bool corrupt) {
    if (count == 0) return;
    State& state = state_.made();
    state.counts.skipped += count;
    state.ranges.push_back({first, count, corrupt, false, false, by});
    bound(state);
}

void GapLedger::skip_behind_read(Psn first, std::uint32_t count, const GapPassing& by) {
    skip(first, count, by);
    if (count == 0) return;
    std::vector<Range>& ranges = state_.made().ranges;
    if (!ranges.empty()) ranges.back().may_be_taken = true;
}

void GapLedger::leave_undecided(std::uint32_t count) {
    if (count == 0) return;
    State& state = state_.made();
    state.counts.skipped += count;
    state.counts.undecided += count;
}

GapLedger::Ranges::iterator GapLedger::covering(State& state, Psn psn) {
    return std::ranges::find_if(state.ranges,
                                [&](const Range& range) { return covers(range.first, range.count, psn); });
}

void GapLedger::bound(State& state) {
    while (state.ranges.size() > kMaxGaps) {
        state.counts.undecided += state.ranges.front().count;
        state.ranges.erase(state.ranges.begin());
    }
}

bool GapLedger::was_corrupt(Psn psn) const {
    const State& state = *state_;
    return std::ranges::any_of(
        state.ranges, [&](const Range& range) { return range.corrupt && covers(range.first, range.count, psn); });
}

// Makes the PSN a range of its own.
GapLedger::Ranges::iterator GapLedger::cut_out(State& state, Ranges::iterator range, Psn psn) {
    const auto before = static_cast<std::uint32_t>(psn - range->first);
    if (const std::uint32_t after = range->count - before - 1; after != 0) {
        Range rest = *range;
        rest.first = psn + 1;
        rest.count = after;
        range->count -= after;
        range = state.ranges.insert(range + 1, rest) - 1;
    }
    if (before == 0) return range;
    Range alone = *range;
    alone.first = psn;
    alone.count = 1;
    range->count = before;
    return state.ranges.insert(range + 1, alone);
}

void GapLedger::mark_corrupt(Psn psn) {
    if (!state_.there()) return;
    State& state = state_.made();
    if (const auto range = covering(state, psn); range != state.ranges.end())
        cut_out(state, range, psn)->corrupt = true;
    bound(state);
}

std::optional<GapLedger::Filled> GapLedger::gap(Psn psn) const {
    const State& state = *state_;
    const auto range =
        std::ranges::find_if(state.ranges, [&](const Range& one) { return covers(one.first, one.count, psn); });
    if (range == state.ranges.end()) return std::nullopt;
    return Filled{range->corrupt, range->asked_for, range->passing};
}

std::optional<GapLedger::Filled> GapLedger::fill(Psn psn, GapFilling filling) {
    if (!state_.there()) return std::nullopt;
    State& state = state_.made();
    const auto range = covering(state, psn);
    if (range == state.ranges.end()) return std::nullopt;
    const Filled filled{range->corrupt, range->asked_for, range->passing};
    const bool unproven = filling == GapFilling::again_unproven;
    if (filled.corrupt && filled.asked_for) ++state.corrupt.again;
    if (filled.corrupt) ++state.counts.network;
    else if (filling == GapFilling::late) ++state.counts.reordered;
    else if (filling == GapFilling::undecided) ++state.counts.undecided, ++state.counts.came;
    else if (filled.asked_for) ++(unproven ? state.unproven_asked : state.counts.network);
    else ++(unproven ? state.unproven : state.sent_again);
    state.ranges.erase(cut_out(state, range, psn));
    bound(state);
    return filled;
}

std::uint32_t GapLedger::fill_rest(Psn first, Psn behind) {
    if (!state_.there()) return 0;
    State& state = state_.made();
    std::uint32_t filled = 0;
    for (Psn psn = first; psn.before(behind); psn = psn + 1) {
        const auto range = covering(state, psn);
        if (range == state.ranges.end()) continue;
        state.ranges.erase(cut_out(state, range, psn));
        ++filled;
    }
    state.counts.skipped -= std::min<std::uint64_t>(state.counts.skipped, filled);
    bound(state);
    return filled;
}

bool GapLedger::withdraw_only(Psn behind, std::uint32_t count) {
    if (!state_.there()) return false;
    State& state = state_.made();
    if (state.counts.skipped != count) return false;
    const bool acknowledged = state.ranges.empty() && state.counts.tap == count;
    const bool open = state.ranges.size() == 1 && state.ranges[0].count == count &&
                      state.ranges[0].first + count == behind && !state.ranges[0].asked_for && !state.ranges[0].corrupt;
    if (!acknowledged && !open) return false;
    state.counts = {};
    state.ranges.clear();
    return true;
}

void GapLedger::last_was_sent_again() {
    if (!state_.there()) return;
    State& state = state_.made();
    if (state.counts.reordered == 0) return;
    --state.counts.reordered;
    ++state.unproven;
}

void GapLedger::was_late(bool asked_for) {
    if (!state_.there()) return;
    State& state = state_.made();
    std::uint64_t& taken = asked_for ? state.counts.network : state.sent_again;
    if (taken == 0) return;
    --taken;
    ++state.counts.reordered;
}

void GapLedger::was_late_or_lost(bool asked_for) {
    if (!state_.there()) return;
    State& state = state_.made();
    std::uint64_t& taken = asked_for ? state.unproven_asked : state.unproven;
    if (taken == 0) return;
    --taken;
    ++state.counts.undecided;
    ++state.counts.came;
}

std::uint32_t GapLedger::ask_for(Psn psn) {
    if (!state_.there()) return 0;
    State& state = state_.made();
    const auto range = covering(state, psn);
    if (range == state.ranges.end()) return 0;
    const auto before = static_cast<std::uint32_t>(psn - range->first);
    range->asked_for = true;
    if (before == 0) return range->count;
    // What lies before the PSN arrived, or the NAK would name it: acknowledge() decides that part.
    Range asked = *range;
    asked.first = psn;
    asked.count -= before;
    range->count = before;
    range->asked_for = false;
    state.ranges.insert(range + 1, asked);
    bound(state);
    return asked.count;
}

void GapLedger::acknowledge(Psn end, Instant time) {
    if (!state_.there()) return;
    State& state = state_.made();
    while (!state.ranges.empty() && state.ranges.front().first.before(end)) {
        Range& range = state.ranges.front();
        const auto known = static_cast<std::uint32_t>(
            std::min<std::int32_t>(end - range.first, static_cast<std::int32_t>(range.count)));
        // Asked for, and acknowledged without being seen again: the network lost it, and the tap missed that it came
        // again.
        if (range.corrupt) (range.asked_for ? state.corrupt.again : state.corrupt.taken) += known;
        if (range.asked_for) state.counts.network += known;
        else if (range.corrupt)
            state.counts.skipped -=
                std::min<std::uint64_t>(state.counts.skipped, known);  // only the capture has it wrong
        else if (range.may_be_taken) state.counts.undecided += known;
        else {
            state.counts.tap += known;
            if (state.taken.size() == kMostTaken) state.taken.erase(state.taken.begin());
            state.taken.push_back({range.first, known, time});
            if (range.passing.request != 0 && range.passing.request <= kBegin)
                state.at_begin.emplace_back(range.passing.request, known);
        }
        range.first = range.first + known;
        range.count -= known;
        if (range.count == 0) state.ranges.erase(state.ranges.begin());
    }
}

bool GapLedger::came_behind_answer(Psn psn, Instant time) {
    if (!state_.there()) return false;
    State& state = state_.made();
    const auto taken = std::ranges::find_if(state.taken, [&](const Taken& one) {
        return covers(one.first, one.count, psn) && time - one.time < kFastestTimeout;
    });
    if (taken == state.taken.end() || state.counts.tap == 0) return false;
    --state.counts.tap;
    ++state.counts.reordered;
    const Taken behind{psn + 1, taken->count - static_cast<std::uint32_t>(psn + 1 - taken->first), taken->time};
    taken->count = static_cast<std::uint32_t>(psn - taken->first);
    if (behind.count != 0) state.taken.insert(taken + 1, behind);
    return true;
}

std::uint64_t GapLedger::taken_at_begin(std::uint64_t requests) const {
    std::uint64_t count = 0;
    for (const auto& [request, taken] : state_->at_begin)
        if (request <= requests) count += taken;
    return std::min(count, state_->counts.tap);
}

void GapLedger::forget() {
    if (!state_.there()) return;
    State& state = state_.made();
    for (const Range& range : state.ranges) state.counts.undecided += range.count;
    state.ranges.clear();
}

Gaps GapLedger::counts(bool reorders) const {
    const State& state = *state_;
    Gaps counts = state.counts;
    for (const Range& range : state.ranges) {
        if (range.asked_for || range.corrupt) counts.network += range.count;
        else counts.undecided += range.count;
    }
    const auto add_filled = [&](std::uint64_t filled, bool lost) {
        (lost ? counts.network : counts.undecided) += filled;
        if (!lost) counts.came += filled;
    };
    add_filled(state.sent_again, counts.tap == 0);
    add_filled(state.unproven, counts.tap == 0 && !reorders);
    add_filled(state.unproven_asked, !reorders);
    return counts;
}

}  // namespace qps::transport
