#include <transport-replay/tracking/gap_ledger.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

bool covers(Psn first, std::uint32_t count, Psn psn) { return !psn.before(first) && psn.before(first + count); }

}  // namespace

void GapLedger::skip(Psn first, std::uint32_t count, const GapPassing& by, bool corrupt) {
    if (count == 0) return;
    counts_.skipped += count;
    ranges_.push_back({first, count, corrupt, false, by});
    bound();
}

void GapLedger::leave_undecided(std::uint32_t count) {
    counts_.skipped += count;
    counts_.undecided += count;
}

GapLedger::Ranges::iterator GapLedger::covering(Psn psn) {
    return std::ranges::find_if(ranges_, [&](const Range& range) { return covers(range.first, range.count, psn); });
}

void GapLedger::bound() {
    while (ranges_.size() > kMaxGaps) {
        counts_.undecided += ranges_.front().count;
        ranges_.erase(ranges_.begin());
    }
}

bool GapLedger::was_corrupt(Psn psn) const {
    return std::ranges::any_of(ranges_, [&](const Range& range) { return range.corrupt && covers(range.first, range.count, psn); });
}

// Makes the PSN a range of its own.
GapLedger::Ranges::iterator GapLedger::cut_out(Ranges::iterator range, Psn psn) {
    const auto before = static_cast<std::uint32_t>(psn - range->first);
    if (const std::uint32_t after = range->count - before - 1; after != 0) {
        Range rest = *range;
        rest.first = psn + 1;
        rest.count = after;
        range->count -= after;
        range = ranges_.insert(range + 1, rest) - 1;
    }
    if (before == 0) return range;
    Range alone = *range;
    alone.first = psn;
    alone.count = 1;
    range->count = before;
    return ranges_.insert(range + 1, alone);
}

void GapLedger::mark_corrupt(Psn psn) {
    if (const auto range = covering(psn); range != ranges_.end()) cut_out(range, psn)->corrupt = true;
    bound();
}

std::optional<GapLedger::Filled> GapLedger::gap(Psn psn) const {
    const auto range = std::ranges::find_if(ranges_, [&](const Range& one) { return covers(one.first, one.count, psn); });
    if (range == ranges_.end()) return std::nullopt;
    return Filled{range->corrupt, range->asked_for, range->passing};
}

std::optional<GapLedger::Filled> GapLedger::fill(Psn psn, GapFilling filling) {
    const auto range = covering(psn);
    if (range == ranges_.end()) return std::nullopt;
    const Filled filled{range->corrupt, range->asked_for, range->passing};
    const bool unproven = filling == GapFilling::again_unproven;
    if (filled.corrupt) ++counts_.network;
    else if (filling == GapFilling::late) ++counts_.reordered;
    else if (filling == GapFilling::undecided) ++counts_.undecided;
    else if (filled.asked_for) ++(unproven ? unproven_asked_ : counts_.network);
    else ++(unproven ? unproven_ : sent_again_);
    ranges_.erase(cut_out(range, psn));
    bound();
    return filled;
}

std::uint32_t GapLedger::fill_rest(Psn first, Psn behind) {
    std::uint32_t filled = 0;
    for (Psn psn = first; psn.before(behind); psn = psn + 1) {
        const auto range = covering(psn);
        if (range == ranges_.end()) continue;
        ranges_.erase(cut_out(range, psn));
        ++filled;
    }
    counts_.skipped -= std::min<std::uint64_t>(counts_.skipped, filled);
    bound();
    return filled;
}

void GapLedger::last_was_sent_again() {
    if (counts_.reordered == 0) return;
    --counts_.reordered;
    ++unproven_;
}

void GapLedger::was_late(bool asked_for) {
    std::uint64_t& taken = asked_for ? counts_.network : sent_again_;
    if (taken == 0) return;
    --taken;
    ++counts_.reordered;
}

void GapLedger::was_late_or_lost(bool asked_for) {
    std::uint64_t& taken = asked_for ? unproven_asked_ : unproven_;
    if (taken == 0) return;
    --taken;
    ++counts_.undecided;
}

std::uint32_t GapLedger::ask_for(Psn psn) {
    const auto range = covering(psn);
    if (range == ranges_.end()) return 0;
    const auto before = static_cast<std::uint32_t>(psn - range->first);
    range->asked_for = true;
    if (before == 0) return range->count;
    // What lies before the PSN arrived, or the NAK would name it: acknowledge() decides that part.
    Range asked = *range;
    asked.first = psn;
    asked.count -= before;
    range->count = before;
    range->asked_for = false;
    ranges_.insert(range + 1, asked);
    bound();
    return asked.count;
}

void GapLedger::acknowledge(Psn end) {
    while (!ranges_.empty() && ranges_.front().first.before(end)) {
        Range& range = ranges_.front();
        const auto known = static_cast<std::uint32_t>(std::min<std::int32_t>(end - range.first, static_cast<std::int32_t>(range.count)));
        // Asked for, and acknowledged without being seen again: the network lost it, and the tap missed that it came again.
        if (range.asked_for || range.corrupt) counts_.network += known;
        else counts_.tap += known;
        range.first = range.first + known;
        range.count -= known;
        if (range.count == 0) ranges_.erase(ranges_.begin());
    }
}

void GapLedger::forget() {
    for (const Range& range : ranges_) counts_.undecided += range.count;
    ranges_.clear();
}

Gaps GapLedger::counts(bool reorders) const {
    Gaps counts = counts_;
    for (const Range& range : ranges_) {
        if (range.asked_for || range.corrupt) counts.network += range.count;
        else counts.undecided += range.count;
    }
    (counts.tap == 0 ? counts.network : counts.undecided) += sent_again_;
    (counts.tap == 0 && !reorders ? counts.network : counts.undecided) += unproven_;
    (reorders ? counts.undecided : counts.network) += unproven_asked_;
    return counts;
}

}  // namespace qps::transport
