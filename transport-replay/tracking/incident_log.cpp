#include <transport-replay/tracking/incident_log.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

bool covers(Psn first, std::uint32_t count, Psn psn) { return !psn.before(first) && psn.before(first + count); }

// Whether no path delays a packet for so long that it was overtaken by what skipped it.
bool is_long(const GapPassing& by, Instant until) {
    return by.request != 0 && until - by.sides.time > kLatestOvertaken;
}

}  // namespace

void IncidentLog::skip(Psn first, std::uint32_t count, const GapPassing& by, bool corrupt) {
    if (count == 0) return;
    Records& records = records_.made();
    records.gaps.push_back({.first = first, .count = count, .corrupt = corrupt, .asked_by = {}, .passing = by});
    bound(records);
}

void IncidentLog::skip_behind_read(Psn first, std::uint32_t count, const GapPassing& by) {
    skip(first, count, by);
    if (count != 0 && !records_->gaps.empty()) records_.made().gaps.back().may_be_read = true;
}

void IncidentLog::leave_undecided(std::uint32_t psns) {
    if (psns != 0) count(records_.made(), {.evidence = {Evidence::skipped}, .of_gap = true}, psns);
}

std::vector<IncidentLog::Range>::iterator IncidentLog::covering(std::vector<Range>& ranges, Psn psn) {
    return std::ranges::find_if(ranges, [&](const Range& range) { return covers(range.first, range.count, psn); });
}

// Makes the PSN a range of its own.
std::vector<IncidentLog::Range>::iterator IncidentLog::cut_out(std::vector<Range>& ranges,
                                                               std::vector<Range>::iterator range, Psn psn) {
    const auto before = static_cast<std::uint32_t>(psn - range->first);
    if (const std::uint32_t after = range->count - before - 1; after != 0) {
        Range rest = *range;
        rest.first = psn + 1;
        rest.count = after;
        range->count -= after;
        range = ranges.insert(range + 1, rest) - 1;
    }
    if (before == 0) return range;
    Range alone = *range;
    alone.first = psn;
    alone.count = 1;
    range->count = before;
    return ranges.insert(range + 1, alone);
}

void IncidentLog::bound(Records& records) {
    while (records.gaps.size() > kMaxGaps) {
        let_go(records, records.gaps.front());
        records.gaps.erase(records.gaps.begin());
    }
}

void IncidentLog::count(Records& records, const PsnCase& of, std::uint64_t psns) {
    if (psns == 0 || !(of.of_gap || of.named)) return;
    const auto row = std::ranges::find(records.rows, of, &Row::of);
    if (row == records.rows.end()) records.rows.push_back({of, psns});
    else row->psns += psns;
}

// PSNs of the range that NAKs named have their own records, which take it over. How many.
std::uint32_t IncidentLog::take_named(Records& records, const Range& range, std::optional<Instant> end) {
    std::uint32_t taken = 0;
    for (Subject& subject : records.subjects) {
        if (!subject.named || subject.filling || subject.of_gap || !covers(range.first, range.count, subject.psn))
            continue;
        subject.of_gap = true;
        subject.corrupt = range.corrupt;
        subject.in_named_gap = range.asked_for;
        subject.asked_by = range.asked_by;
        subject.taken_later = range.acknowledged;
        subject.unseen_to_end = end.has_value();
        subject.long_unseen = end && is_long(range.passing, *end);
        ++taken;
    }
    return taken;
}

void IncidentLog::let_go(Records& records, Range range, std::optional<Instant> end) {
    range.count -= std::min(range.count, take_named(records, range, end));
    count(records, case_of(range, end), range.count);
}

PsnCase IncidentLog::case_of(const Range& range, std::optional<Instant> end) {
    PsnCase one{.of_gap = true};
    if (range.may_be_read) return one;
    one.evidence.add(range.corrupt ? Evidence::corrupt : Evidence::skipped);
    one.evidence.add_if(range.asked_for, Evidence::in_named_gap);
    one.evidence.add_if(range.acknowledged, range.asked_for ? Evidence::taken_later : Evidence::taken);
    one.evidence.add_if(end.has_value(), Evidence::unseen_to_end);
    one.evidence.add_if(end && is_long(range.passing, *end), Evidence::long_unseen);
    return one;
}

Set<Evidence> IncidentLog::evidence(const Subject& subject) {
    Set<Evidence> shown;
    if (subject.corrupt) shown.add(Evidence::corrupt);
    else shown.add_if(subject.of_gap || subject.of_round, Evidence::skipped);
    shown.add_if(subject.in_named_gap, Evidence::in_named_gap);
    shown.add_if(subject.named, Evidence::named);
    shown.add_if(subject.taken_later, Evidence::taken_later);
    shown.add_if(subject.unseen_to_end, Evidence::unseen_to_end);
    const bool overtaken =
        subject.first_came || subject.filling == GapFilling::first || subject.filling == GapFilling::late;
    shown.add_if(subject.long_unseen && !overtaken, Evidence::long_unseen);
    shown.add_if(subject.in_turn, Evidence::in_turn);
    shown.add_if(subject.passed_once, Evidence::early_once);
    shown.add_if(subject.acknowledged_first, Evidence::acknowledged_first);
    shown.add_if(subject.filling || subject.first_came, Evidence::came);
    if (subject.first_came || subject.filling == GapFilling::first) {
        shown.add(Evidence::first_came);
    } else if (subject.filling && !subject.doubtful) {
        shown.add_if(subject.filling == GapFilling::late, Evidence::unasked_came);
        shown.add_if(subject.filling == GapFilling::again, Evidence::again_came);
        shown.add_if(subject.filling == GapFilling::again_unproven, Evidence::recovery_came);
        shown.add_if(subject.rest_came, Evidence::rest_came);
    }
    return shown;
}

// What was discarded has the cause of the last one that was not, before it; but a responder that keeps what is early
// discards nothing.
PsnCase IncidentLog::case_of(Index index) const {
    const std::vector<Subject>& subjects = records_->subjects;
    const Subject& own = subjects[index];
    const auto discarded = [&](const Subject& one) { return one.discarded && !(records_->keeps && one.passed_once); };
    if (!discarded(own)) return {evidence(own), own.of_gap, own.named, false};
    while (index-- > 0)
        if (!discarded(subjects[index])) return {evidence(subjects[index]), false, own.named, true};
    return {{}, false, own.named, true};
}

std::optional<IncidentLog::Gap> IncidentLog::gap(Psn psn) const {
    const std::vector<Range>& gaps = records_->gaps;
    const auto range = std::ranges::find_if(gaps, [&](const Range& one) { return covers(one.first, one.count, psn); });
    if (range == gaps.end()) return std::nullopt;
    return Gap{range->corrupt, range->asked_for, range->passing};
}

bool IncidentLog::was_corrupt(Psn psn) const {
    const auto one = gap(psn);
    return one && one->corrupt;
}

void IncidentLog::corrupted(Psn psn) {
    records_.made().corrupt = psn;
    records_.made().round.corrupted(psn);
}

void IncidentLog::mark_corrupt(Psn psn) {
    if (!records_.there()) return;
    Records& records = records_.made();
    if (const auto range = covering(records.gaps, psn); range != records.gaps.end())
        cut_out(records.gaps, range, psn)->corrupt = true;
    bound(records);
}

// Of what nobody had missed by name nothing more is of interest once another gap is filled.
void IncidentLog::settle_last(Records& records) {
    if (!records.last) return;
    const Subject last = *std::exchange(records.last, std::nullopt);
    const Set<Evidence> shown = evidence(last);
    count(records, {shown, true, false, false}, 1);
    if (!last.in_named_gap || last.corrupt || !shown.any({Evidence::first_came, Evidence::unasked_came})) return;
    const auto named = std::ranges::find(records.subjects, last.asked_by, &Subject::psn);
    if (named != records.subjects.end()) ++named->late;
}

std::optional<IncidentLog::Gap> IncidentLog::fill(Psn psn, Instant time, Psn behind, GapFilling filling) {
    if (!records_.there()) return std::nullopt;
    Records& records = records_.made();
    const auto found = covering(records.gaps, psn);
    if (found == records.gaps.end()) return std::nullopt;
    const Range range = *found;
    records.gaps.erase(cut_out(records.gaps, found, psn));
    bound(records);
    settle_last(records);
    const bool only_time = filling == GapFilling::again_unproven;
    if (only_time && !range.corrupt)
        records.begun = Begun{records.begun && records.begun->behind == psn ? records.begun->first : psn, psn, behind};
    Index index = find(psn);
    // Its first sending may still come.
    if (index == kNone && filling == GapFilling::again && !range.corrupt) {
        remember({.psn = psn});
        index = records.subjects.size() - 1;
    }
    const bool missed = index != kNone;
    Subject& subject = missed ? records.subjects[index] : records.last.emplace(Subject{.psn = psn, .rest_came = true});
    subject.sides = range.passing.sides;
    subject.of_gap = true;
    subject.corrupt = range.corrupt;
    subject.in_named_gap = range.asked_for;
    subject.asked_by = range.asked_by;
    subject.named_since = subject.discarded = false;
    subject.answered.reset();
    subject.filling = filling;
    subject.long_unseen = is_long(range.passing, time);
    if (missed) records.filled = only_time ? std::optional(Filled{psn, last_behind_, time}) : std::nullopt;
    return Gap{range.corrupt, range.asked_for, range.passing};
}

std::uint32_t IncidentLog::fill_rest(Psn first, Psn behind) {
    if (!records_.there()) return 0;
    Records& records = records_.made();
    std::uint32_t filled = 0;
    for (Psn psn = first; psn.before(behind); psn = psn + 1) {
        const auto range = covering(records.gaps, psn);
        if (range == records.gaps.end()) continue;
        records.gaps.erase(cut_out(records.gaps, range, psn));
        ++filled;
    }
    bound(records);
    return filled;
}

bool IncidentLog::withdraw_only(Psn behind, std::uint32_t missing) {
    if (!records_.there()) return false;
    Records& records = records_.made();
    const auto of_gap = [](const auto& one) { return one.of_gap; };
    if (records.last || std::ranges::any_of(records.subjects, of_gap) ||
        std::ranges::any_of(records.rows, [](const Row& row) { return row.of.of_gap; }))
        return false;
    const auto is_all = [&](const std::vector<Range>& ranges) {
        return ranges.size() == 1 && ranges[0].count == missing && !ranges[0].asked_for && !ranges[0].corrupt;
    };
    const std::size_t ranges = records.gaps.size() + records.taken.size() + records.begin.size();
    const bool open = is_all(records.gaps) && records.gaps[0].first + missing == behind;
    if (ranges != 1 || !(open || is_all(records.taken) || is_all(records.begin))) return false;
    records.gaps.clear();
    records.taken.clear();
    records.begin.clear();
    return true;
}

void IncidentLog::began_recovery(Psn psn) {
    if (!records_.there()) return;
    Records& records = records_.made();
    const Index index = find(psn);
    Subject* filled = records.last && records.last->psn == psn ? &*records.last
                      : index != kNone                         ? &records.subjects[index]
                                                               : nullptr;
    if (filled == nullptr || filled->filling != GapFilling::late) return;
    filled->filling = GapFilling::again_unproven;
    filled->rest_came = true;
}

bool IncidentLog::came_behind_answer(Psn psn, Instant time) {
    if (!records_.there()) return false;
    Records& records = records_.made();
    for (std::vector<Range>* ranges : {&records.taken, &records.begin}) {
        const auto range = covering(*ranges, psn);
        if (range == ranges->end() || time - range->acknowledged_at >= kFastestTimeout) continue;
        ranges->erase(cut_out(*ranges, range, psn));
        count(records, {.evidence = {Evidence::skipped, Evidence::came, Evidence::unasked_came}, .of_gap = true}, 1);
        return true;
    }
    return false;
}

// What was acknowledged and not seen stays for a while: it may be recorded behind its answer.
void IncidentLog::take(Psn end, Instant time) {
    if (!records_.there()) return;
    Records& records = records_.made();
    while (!records.gaps.empty() && records.gaps.front().first.before(end)) {
        Range& range = records.gaps.front();
        Range known = range;
        known.count = static_cast<std::uint32_t>(
            std::min<std::int32_t>(end - range.first, static_cast<std::int32_t>(range.count)));
        known.acknowledged = true;
        known.acknowledged_at = time;
        range.first = range.first + known.count;
        range.count -= known.count;
        if (range.count == 0) records.gaps.erase(records.gaps.begin());
        const bool stays = !known.asked_for && !known.corrupt && !known.may_be_read;
        const bool begins = known.passing.request != 0 && known.passing.request <= kBegin;
        if (!stays) {
            let_go(records, known);
            continue;
        }
        if (!begins && records.taken.size() == kMostTaken) {
            let_go(records, records.taken.front());
            records.taken.erase(records.taken.begin());
        }
        (begins ? records.begin : records.taken).push_back(known);
    }
}

std::uint32_t IncidentLog::ask_for(Psn psn) {
    Records& records = records_.made();
    const auto range = covering(records.gaps, psn);
    if (range == records.gaps.end()) return 0;
    const auto before = static_cast<std::uint32_t>(psn - range->first);
    Range asked = *range;
    asked.first = psn;
    asked.count -= before;
    asked.asked_for = true;
    asked.asked_by = psn;
    if (before == 0) {
        *range = asked;
        return asked.count;
    }
    // What lies before the PSN arrived, or the NAK would name it: take() decides that part.
    range->count = before;
    range->asked_for = false;
    records.gaps.insert(range + 1, asked);
    bound(records);
    return asked.count;
}

void IncidentLog::forget() {
    if (!records_.there()) return;
    Records& records = records_.made();
    for (const Range& range : records.gaps) let_go(records, range);
    records.gaps.clear();
}

namespace {

// One case among the counts of its way.
void add(Judgement& sum, const PsnCase& one, std::uint64_t psns, PathFacts path) {
    const PsnVerdict verdict = judge(one, path);
    if (verdict.contradiction) sum.contradictions += psns;
    const NakCause cause = cause_of(verdict);
    if (one.named) sum.naks[static_cast<std::size_t>(cause)] += psns;
    // It had passed before, out of turn, and was sent again wrong.
    if (one.named && !one.of_gap && cause == NakCause::corrupt) sum.gaps.again += psns;
    if (!one.of_gap) return;
    const bool corrupt = one.evidence.has(Evidence::corrupt);
    if (corrupt && is_missed_by_capture(verdict)) {
        sum.corrupt_taken += psns;  // only the capture has it wrong
        return;
    }
    if (corrupt && one.evidence.has(Evidence::in_named_gap) && !one.evidence.has(Evidence::unseen_to_end))
        sum.corrupt_again += psns;
    sum.gaps.skipped += psns;
    if (is_lost_before_tap(verdict)) {
        sum.gaps.network += psns;
    } else if (is_late(verdict)) {
        sum.gaps.reordered += psns;
    } else if (is_missed_by_capture(verdict)) {
        sum.gaps.tap += psns;
    } else {
        sum.gaps.undecided += psns;
        if (one.evidence.any({Evidence::came, Evidence::in_named_gap})) sum.gaps.came += psns;
    }
}

}  // namespace

Judgement IncidentLog::judge(const WayKnown& known) {
    Judgement sum;
    if (!records_.there()) return sum;
    constexpr std::uint64_t kSmallPart = 32;
    look_back(nullptr, false);
    Records& records = records_.made();
    settle_last(records);
    for (const Range& range : std::exchange(records.gaps, {})) let_go(records, range, known.until);
    for (const Range& range : std::exchange(records.taken, {})) let_go(records, range);
    for (Range range : std::exchange(records.begin, {})) {
        // It may have passed before the capture began, where requests overtake others by as many.
        range.acknowledged = known.from_beginning || !known.reorders || range.passing.request > known.farthest + 1;
        let_go(records, range);
    }
    std::vector<Row> cases = std::exchange(records.rows, {});
    for (Index i = 0; i < records.subjects.size(); ++i)
        if (const PsnCase one = case_of(i); one.of_gap || one.named) cases.push_back({one, 1});

    const auto psns_with = [&](auto is) {
        std::uint64_t psns = 0;
        for (const Row& row : cases)
            if (is(row.of)) psns += row.psns;
        return psns;
    };
    const std::uint64_t missed = psns_with(
        [](const PsnCase& one) { return one.evidence.has(Evidence::taken) && !one.evidence.has(Evidence::corrupt); });
    const std::uint64_t single = psns_with([](const PsnCase& one) {
        const bool alone = one.evidence.has(Evidence::recovery_came) && !one.evidence.has(Evidence::rest_came);
        return one.named && !one.discarded && (alone || one.evidence.has(Evidence::taken_later));
    });
    PathFacts path;
    path.add_if(known.reorders, PathFact::reorders);
    path.add_if(missed != 0, PathFact::lacks_packets);
    path.add_if(missed * kSmallPart > known.requests, PathFact::lacks_a_part);
    path.add_if(records.keeps, PathFact::keeps_early);
    path.add_if(single >= 2, PathFact::asks_for_single);

    for (const Row& row : cases) add(sum, row.of, row.psns, path);
    if (!known.reorders) sum.gaps.again += records.round.count();
    for (const Let& one : records.let) sum.episodes.push_back({one.episode, transport::judge(one.of, path), one.late});
    for (Index i = 0; i < records.subjects.size(); ++i) {
        Subject& subject = records.subjects[i];
        if (subject.episode == kNoEpisode && !(subject.of_gap && subject.in_named_gap)) continue;
        const PsnVerdict verdict = transport::judge(case_of(i), path);
        if (subject.in_named_gap && is_late(verdict) && subject.asked_by != subject.psn) {
            const auto named = std::ranges::find(records.subjects, subject.asked_by, &Subject::psn);
            if (named != records.subjects.end()) ++named->late;
        }
    }
    for (Index i = 0; i < records.subjects.size(); ++i)
        if (const Subject& subject = records.subjects[i]; subject.episode != kNoEpisode)
            sum.episodes.push_back({subject.episode, transport::judge(case_of(i), path), subject.late});
    return sum;
}

}  // namespace qps::transport
