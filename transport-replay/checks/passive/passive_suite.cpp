#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

const PassiveRow* row_of(const CheckRow& check) {
    const auto* found = std::ranges::find(kPassiveRows, check.id, &PassiveRow::id);
    return found == kPassiveRows.end() ? nullptr : found;
}

// "3 of 100 packets have ..."
std::string sentence(const Tally& tally, const Tally::Frames& frames, const PassiveRow& row, std::string_view words) {
    if (!tally.words.empty()) return tally.words;
    if (frames.count > tally.examined) return fmt::format("{} {} {}", grouped(frames.count), row.noun, words);
    return fmt::format("{} of {} {} {}", grouped(frames.count), grouped(tally.examined), row.noun, words);
}

void take_evidence(CheckResult& result, const Tally::Frames& frames) {
    result.evidence.assign(frames.first.begin(), frames.first.begin() + frames.kept);
    std::ranges::sort(result.evidence);
    const auto repeated = std::ranges::unique(result.evidence);
    result.evidence.erase(repeated.begin(), repeated.end());
}

void judge(const Tally& tally, const PassiveRow& row, bool lacks, CheckResult& result) {
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

}  // namespace

bool is_decided_passively(const CheckRow& check) { return row_of(check) != nullptr; }

void PassiveSuite::observe(const Observation& packet, const PacketFacts& facts, const PacketRecord& record) {
    if (packet.kind != ObservationKind::transport) return;
    tallies_.about(packet.flow.source);
    if (tallies_.counts()) {
        ++traits_[facts.traits];
        ++packets_;
    }
    if (record.icrc_not_judged && !record.mirror_copy) {
        if (tallies_.counts()) ++icrc_not_judged_;
        tallies_.doubt(Passive::fmt_01, packet.frame);
    }
    // An ICRC that is wrong is judged with its sender's others, at the end.
    const bool with_sender = record.connection && !packet.management;
    for (std::uint64_t left = with_sender ? facts.wrong & ~bit(Passive::fmt_01) : facts.wrong; left != 0; left &= left - 1) {
        const auto check = static_cast<Passive>(std::countr_zero(left));
        if (check == Passive::fmt_01) tallies_.doubt(check, packet.frame);
        else tallies_.fail(check, packet.frame);
    }
    if (record.mirror_copy) return;
    if (packet.management) return management_.observe(packet, facts, tallies_);
    if (!record.connection || !info(packet.opcode).defined) return;
    const std::size_t index = std::to_underlying(*record.connection) - 1;
    if (index >= most_watched_) {
        ++unwatched_;
        return;
    }
    while (watches_.size() <= index) watches_.emplace_back();
    const bool room = remembered_ < kRememberedWays;
    bool remember = room;
    watches_[index].observe(packet, facts, record, remember, tallies_);
    if (room && !remember) ++remembered_;
}

// 9.7.4.1.6: what a WRITE announces is what it brings.
void PassiveSuite::message(ConnectionId connection, End requester, const Message& message) {
    const bool whole = message.starts && message.ends && message.missing == 0 && message.packets == message.span();
    if (!whole || message.verb != Verb::write || !message.access) return;
    if (message.outcome != Outcome::completed && message.outcome != Outcome::sent) return;
    if (tallies_.judges_one()) {
        const std::size_t index = std::to_underlying(connection) - 1;
        if (index >= watches_.size() || !watches_[index].judged(requester)) return;
    }
    tallies_.about_all();
    tallies_.look(Passive::req_03);
    if (message.bytes != message.access->length) tallies_.fail(Passive::req_03, message.first_frame, message.last_frame);
}

void PassiveSuite::count_packets() {
    for (std::size_t traits = 0; traits < traits_.size(); ++traits) {
        if (traits_[traits] == 0) continue;
        for (const FormatRow& row : kFormatRows)
            if (looks(row, static_cast<std::uint16_t>(traits))) tallies_.look(row.check, traits_[traits]);
    }
}

std::vector<CheckResult> PassiveSuite::finish(const Timeline& timeline, const Profile& profile) {
    tallies_.about_all();
    count_packets();
    conclude_trace(timeline, watches_, unwatched_, tallies_);
    conclude_format(timeline, watches_, tallies_);
    conclude_responder(timeline, watches_, tallies_);
    conclude_requester(timeline, watches_, tallies_);
    conclude_management(timeline, tallies_);
    conclude_congestion(timeline, watches_, tallies_);
    Tally& icrc = tallies_[Passive::fmt_01];
    if (icrc_not_judged_ != 0 && icrc.failures.count == 0 && icrc.doubts.count == icrc_not_judged_)
        icrc.words = fmt::format(
            "{} {} a wrong ICRC that is not judged: {}", counted(icrc_not_judged_, "packet"), icrc_not_judged_ == 1 ? "has" : "have",
            timeline.quality.icrc_policy == IcrcPolicy::ignore ? "as --icrc ignore says" : "it is 0, or no ICRC of that sender is right");
    const bool lacks = lacks_packets(timeline);
    std::vector<CheckResult> results;
    for (const CheckRow& check : checks()) {
        if (!check.passive()) continue;
        CheckResult& result = results.emplace_back();
        result.check = &check;
        if (const PassiveRow* row = row_of(check)) judge(tallies_[static_cast<Passive>(row - kPassiveRows.data())], *row, lacks, result);
        else result.reason = check.exempt;
        apply(profile, result);
    }
    return results;
}

}  // namespace qps::transport::conformance
