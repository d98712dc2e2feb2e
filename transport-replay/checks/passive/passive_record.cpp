#include <transport-replay/checks/passive/conclusions.hpp>
#include <transport-replay/checks/passive/passive_record.hpp>
#include <transport-replay/checks/passive/passive_rows.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/format.h>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

const PassiveRow* row_of(const CheckRow& check) {
    const auto* found = std::ranges::find(kPassiveRows, check.id, &PassiveRow::id);
    return found == kPassiveRows.end() ? nullptr : found;
}

// "3 of 100 packets have ..."
std::string sentence(const Tally& tally, const Events& events, const PassiveRow& row, std::string_view words) {
    if (!tally.words.empty()) return tally.words;
    if (events.count > tally.examined) return fmt::format("{} {} {}", grouped(events.count), row.noun, words);
    return fmt::format("{} of {} {} {}", grouped(events.count), grouped(tally.examined), row.noun, words);
}

void take_evidence(CheckResult& result, const Events& events) {
    for (std::size_t i = 0; i < events.kept; ++i) result.evidence.push_back(events.first[i].frame);
    std::ranges::sort(result.evidence);
    const auto repeated = std::ranges::unique(result.evidence);
    result.evidence.erase(repeated.begin(), repeated.end());
}

void judge_tally(const Tally& tally, const PassiveRow& row, bool lacks, CheckResult& result) {
    result.examined = tally.examined;
    result.failures = tally.failures.count;
    if (tally.failures.count != 0) {
        const bool proves = !(row.needs_whole && lacks);
        result.verdict = proves ? Verdict::fail : Verdict::inconclusive;
        result.reason = sentence(tally, tally.failures, row, row.wrong);
        if (!proves) result.reason += ", but the capture lacks packets";
        take_evidence(result, tally.failures);
    } else if (tally.doubts.count != 0) {
        result.verdict = Verdict::inconclusive;
        result.reason = sentence(tally, tally.doubts, row, row.doubt);
        take_evidence(result, tally.doubts);
    } else if (tally.examined != 0) {
        result.verdict = Verdict::pass;
    } else {
        result.verdict = Verdict::not_applicable;
        result.reason = fmt::format("the capture has no {}", row.noun);
    }
}

// Which transports the capture has, and whether storage is on top. The integrity of the trace belongs to all; where it
// has no transport, RoCE is what it lacks.
struct Catalogues {
    bool roce = false;
    bool iwarp = false;
    bool storage = false;
    [[nodiscard]] bool have(CheckFamily family) const {
        if (is_of_storage(family)) return storage;
        return family == CheckFamily::trace || (is_of_iwarp(family) ? iwarp : roce || !iwarp);
    }
    [[nodiscard]] bool& of(Passive check) {
        return check >= kFirstOfStorage ? storage : check >= kFirstOfIwarp ? iwarp : roce;
    }
};
Catalogues catalogues_of(const std::vector<HostTally>& hosts) {
    Catalogues found;
    for (const HostTally& host : hosts)
        for (std::size_t check = 0; check < kPassiveChecks; ++check)
            if (host.examined[check] != 0) found.of(static_cast<Passive>(check)) = true;
    return found;
}

// Wrong ICRCs that are not judged: where no other was wrong, this says why.
std::string words_on_icrcs(std::uint64_t not_judged, const Timeline& timeline) {
    return fmt::format(
        "{} {} a wrong ICRC that is not judged: {}", counted(not_judged, "packet"), not_judged == 1 ? "has" : "have",
        timeline.quality.icrc_policy == IcrcPolicy::ignore ? "as --icrc ignore says"
                                                           : "it is 0, or no ICRC of that sender is right");
}

// Of FPDUs without a proof against their sender: those whose CRC is unknown are not wrong ones.
std::string words_on_fpdus(std::uint64_t unchecked, const Tally& tally) {
    const std::uint64_t wrong = tally.doubts.count - unchecked;
    const std::string of = grouped(tally.examined);
    if (wrong == 0) return fmt::format("{} of {} FPDUs cannot be checked", grouped(unchecked), of);
    return fmt::format(
        "{} of {} FPDUs have a wrong CRC although others of their sender do not, and {} cannot be checked",
        grouped(wrong), of, grouped(unchecked));
}

// By the numbers that connections have in the end.
WatchedConnections settled(const WatchedConnections& given, const FinalNumbers& numbers) {
    WatchedConnections watched;
    for (const WatchedConnection& one : given) {
        if (numbers.is_part(one.number)) continue;  // what its connection was watched for counts
        WatchedConnection& connection = watched.emplace_back(one);
        End end{};
        numbers.settle(connection.number, end);
    }
    return watched;
}

}  // namespace

bool is_decided_passively(const CheckRow& check) { return row_of(check) != nullptr; }

void renumber(PassiveRecord& record, std::span<const std::uint32_t> numbers) {
    for (WatchedConnection& connection : record.watched)
        connection.number = ConnectionId{numbers[std::to_underlying(connection.number) - 1]};
}

PassiveRecord merge(std::vector<PassiveRecord> records) {
    PassiveRecord all;
    for (PassiveRecord& record : records) {
        std::ranges::move(record.hosts, std::back_inserter(all.hosts));
        std::ranges::move(record.watched, std::back_inserter(all.watched));
        all.unwatched += record.unwatched;
        all.untold += record.untold;
        record = {};
    }
    std::ranges::sort(all.watched, {}, &WatchedConnection::number);
    std::ranges::stable_sort(all.hosts, {}, &HostTally::host);
    std::vector<HostTally> hosts;
    for (HostTally& host : all.hosts) {
        if (!hosts.empty() && hosts.back().host == host.host) hosts.back().add(host);
        else hosts.push_back(std::move(host));
    }
    all.hosts = std::move(hosts);
    return all;
}

bool is_sound(const PassiveRecord& record, std::size_t connections) {
    const auto once = [](const auto& list, auto member) {
        return std::ranges::adjacent_find(list, std::greater_equal{}, member) == list.end();
    };
    const bool numbered = record.watched.empty() || (record.watched.front().number != ConnectionId{} &&
                                                     std::to_underlying(record.watched.back().number) <= connections);
    return numbered && once(record.watched, &WatchedConnection::number) && once(record.hosts, &HostTally::host) &&
           std::ranges::all_of(record.hosts,
                               [&](const HostTally& host) { return once(host.seen, &SeenEvents::check); });
}

std::vector<CheckResult> judge(const PassiveRecord& record, const Timeline& timeline, const Profile& profile,
                               const std::optional<Address>& device) {
    Tallies tallies;
    if (device) tallies.judge_only(*device);
    std::uint64_t icrc_not_judged = 0, fpdus_unchecked = 0;
    for (const HostTally& host : record.hosts) {
        tallies.about(host.host);
        if (!tallies.counts()) continue;
        tallies.add(host);
        icrc_not_judged += host.icrc_not_judged;
        fpdus_unchecked += host.fpdus_unchecked;
    }
    tallies.about_all();
    const WatchedConnections watched = settled(record.watched, timeline.numbers);
    conclude_trace(timeline, watched, record.unwatched, tallies);
    conclude_format(timeline, watched, tallies);
    conclude_responder(timeline, watched, tallies);
    conclude_requester(timeline, watched, tallies);
    conclude_management(timeline, tallies);
    conclude_congestion(timeline, watched, tallies);
    conclude_iwarp(timeline, tallies);
    Tally& icrc = tallies[Passive::fmt_01];
    if (icrc_not_judged != 0 && icrc.failures.count == 0 && icrc.doubts.count == icrc_not_judged)
        icrc.words = words_on_icrcs(icrc_not_judged, timeline);
    Tally& fpdus = tallies[Passive::mpa_13];
    if (fpdus.failures.count == 0 && fpdus.doubts.count >= fpdus_unchecked && fpdus_unchecked != 0)
        fpdus.words = words_on_fpdus(fpdus_unchecked, fpdus);
    const bool lacks = lacks_packets(timeline);
    const Catalogues catalogues = catalogues_of(record.hosts);
    std::vector<CheckResult> results;
    for (const CheckRow& check : checks()) {
        if (!check.passive() || !catalogues.have(check.family)) continue;
        CheckResult& result = results.emplace_back();
        result.check = &check;
        if (const PassiveRow* row = row_of(check))
            judge_tally(tallies[static_cast<Passive>(row - kPassiveRows.data())], *row, lacks, result);
        else result.reason = check.exempt;
        apply(profile, result);
    }
    return results;
}

}  // namespace qps::transport::conformance
