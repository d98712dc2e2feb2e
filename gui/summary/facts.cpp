#include <dissect/base/types.hpp>
#include <dissect/packet/render_value.hpp>
#include <dissect/ulp/ulp.hpp>
#include <gui/base/text.hpp>
#include <gui/summary/facts.hpp>
#include <gui/summary/words.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/rdma_packets.hpp>

#include <QObject>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace qps::gui {

using namespace transport;
using dissect::Duration;

namespace {

// "1,234", "17.1".
QString rateNumber(double rate) {
    constexpr double kWhole = 100;
    return rate < kWhole ? QString::number(rate, 'g', 3) : number(static_cast<std::uint64_t>(std::llround(rate)));
}

Duration lengthOf(const Timeline& timeline) {
    return timeline.first && timeline.last ? *timeline.last - *timeline.first : Duration{};
}

Judgement judgeChecksums(const CaptureQuality& quality) {
    const std::uint64_t all = quality.icrc_good + quality.icrc_bad + quality.icrc_not_checkable;
    if (const std::uint64_t wrong = quality.icrc_bad - quality.icrc_not_judged; wrong != 0)
        return {Verdict::Bad, tr("Bad ICRC in %1 of %2 RDMA packets: corrupted in transit or built wrongly.")
                                  .arg(number(wrong), number(all))};
    if (quality.icrc_not_judged != 0)
        return {
            Verdict::Doubtful,
            tr("ICRC wrong in %1 of %2 RDMA packets, not judged: no ICRC of their senders is right, so the capture point did not have it.")
                .arg(number(quality.icrc_not_judged), number(all))};
    if (quality.icrc_good == 0) return {Verdict::Doubtful, tr("No ICRC could be verified.")};
    if (quality.icrc_not_checkable != 0)
        return {Verdict::Doubtful, tr("ICRC correct in %1 packets, not verifiable in %2.")
                                       .arg(number(quality.icrc_good), number(quality.icrc_not_checkable))};
    return {Verdict::Good, tr("ICRC correct in all RDMA packets (%1).").arg(number(quality.icrc_good))};
}

Judgement judgeLength(const CaptureQuality& quality) {
    if (quality.cut == 0) return {Verdict::Good, tr("No truncated packets.")};
    QString text = tr("Truncated packets: %1; their payload is incomplete.").arg(number(quality.cut));
    if (quality.unreadable != 0) text += tr(" Too short to decode: %1.").arg(number(quality.unreadable));
    return {quality.unreadable != 0 ? Verdict::Bad : Verdict::Doubtful, text};
}

Judgement judgeDrops(const CaptureQuality& quality) {
    const std::uint64_t dropped = quality.drops.dropped + quality.drops.dropped_by_system;
    if (!quality.drops.known) return {Verdict::Unknown, tr("Capture drops unknown: the file has no drop counters.")};
    if (dropped == 0) return {Verdict::Good, tr("No packets dropped by the capture.")};
    return {Verdict::Bad,
            tr("Dropped by the capture: %1 packets; missing packets may not be losses.").arg(number(dropped))};
}

Judgement judgeWays(const CaptureQuality& quality) {
    const auto deaf = static_cast<std::uint64_t>(std::ranges::count_if(quality.one_way, &OneWay::reliable));
    if (deaf == 0) return {Verdict::Good, tr("Both directions of the traffic captured.")};
    return {
        Verdict::Doubtful,
        tr("Only one direction captured between host pairs: %1; the other direction is inferred.").arg(number(deaf))};
}

void judgeCopies(const CaptureQuality& quality, std::vector<Judgement>& all) {
    if (quality.copies() != 0)
        all.push_back({Verdict::Doubtful,
                       tr("Mirror copies: %1 packets, excluded from the figures.").arg(number(quality.copies()))});
    if (quality.ambiguous_repetitions != 0)
        all.push_back({Verdict::Doubtful, tr("Packets seen twice: %1; mirror copies or retransmissions, undecided.")
                                              .arg(number(quality.ambiguous_repetitions))});
}

void judgeClock(const CaptureQuality& quality, std::vector<Judgement>& all) {
    constexpr Duration kFine{1'000};
    if (quality.backwards != 0)
        all.push_back(
            {Verdict::Doubtful, tr("Timestamps out of order: %1, by up to %2; times are inexact.")
                                    .arg(number(quality.backwards), shown(duration_text(quality.largest_step_back)))});
    if (quality.clock_resolution && *quality.clock_resolution > kFine)
        all.push_back(
            {Verdict::Doubtful,
             tr("Timestamp resolution of the capture: %1.").arg(shown(duration_text(*quality.clock_resolution)))});
}

void judgeBounds(const Timeline& timeline, std::vector<Judgement>& all) {
    if (const std::string left_out = left_out_text(timeline); !left_out.empty())
        all.push_back({Verdict::Doubtful, tr("Analysis limits reached: %1.").arg(shown(left_out))});
}

// "NVMe over RDMA on 2 connections".
QString carriedText(const Timeline& timeline) {
    std::map<UlpProtocol, std::uint64_t> protocols;
    for (const UlpConversation& conversation : timeline.ulp.conversations) ++protocols[conversation.protocol];
    QStringList carried;
    for (const auto& [protocol, count] : protocols)
        carried.push_back(tr("%1 on %2").arg(shown(dissect::info(protocol).name), shown(counted(count, "connection"))));
    return carried.join(QStringLiteral(", "));
}

std::uint64_t trouble(const Connection& connection) {
    constexpr std::uint64_t kFatal = 1'000'000;  // worse than any number of retransmissions that is likely
    std::uint64_t sum = connection.failed ? kFatal : 0;
    for (const Way& way : connection.ways) {
        const Incidents& had = *way.incidents;
        sum += had.retransmitted + had.sequence_naks + had.rnr_naks + kFatal * had.fatal_naks;
    }
    return sum;
}

}  // namespace

std::vector<Judgement> judgements(const Timeline& timeline, const ReadExtent& extent) {
    if (timeline.packets == 0) return {};
    const CaptureQuality& quality = timeline.quality;
    std::vector<Judgement> all;
    if (extent.damaged)
        all.push_back(
            {Verdict::Doubtful, tr("Not all of the input could be read: what follows the read error is missing.")});
    if (extent.cancelled)
        all.push_back(
            {Verdict::Doubtful,
             tr("Loading was cancelled: the figures cover the first %1 packets alone.").arg(number(timeline.packets))});
    if (transport::rdma_packets(timeline) == 0) {
        all.push_back({Verdict::Bad, extent.damaged || extent.cancelled ? tr("No RDMA packets in what was read.")
                                                                        : tr("No RDMA packets in the capture.")});
        return all;
    }
    for (Judgement each : {judgeChecksums(quality), judgeLength(quality), judgeDrops(quality), judgeWays(quality)})
        all.push_back(std::move(each));
    if (quality.faulty != 0)
        all.push_back({Verdict::Doubtful, tr("Malformed RDMA packets: %1.").arg(number(quality.faulty))});
    if (quality.fragments != 0)
        all.push_back(
            {Verdict::Doubtful, tr("IP fragments, which are not put together: %1.").arg(number(quality.fragments))});
    judgeCopies(quality, all);
    judgeClock(quality, all);
    judgeBounds(timeline, all);
    return all;
}

Verdict worst(const std::vector<Judgement>& judgements) {
    Verdict verdict = Verdict::Good;
    for (const Judgement& one : judgements)
        if (one.verdict != Verdict::Unknown) verdict = std::max(verdict, one.verdict);
    return verdict;
}

std::vector<FindingGroup> findingGroups(const Timeline& timeline) {
    std::vector<FindingGroup> groups;
    std::map<std::tuple<Severity, std::string_view, Party>, std::size_t> places;
    for (const Finding& finding : timeline.findings) {
        const auto [place, is_new] = places.try_emplace({finding.severity, finding.id, finding.party}, groups.size());
        if (is_new) groups.push_back({&finding, 0, 0});
        FindingGroup& group = groups[place->second];
        if (finding.count > group.first->count) group.first = &finding;
        ++group.findings;
        group.count += finding.count;
    }
    return groups;
}

std::vector<const Connection*> noteworthy(const Timeline& timeline, std::size_t most) {
    std::vector<const Connection*> all;
    all.reserve(timeline.connections.size());
    for (const Connection& connection : timeline.connections) all.push_back(&connection);
    const auto few = static_cast<std::ptrdiff_t>(std::min(all.size(), most));
    std::ranges::partial_sort(all, all.begin() + few, std::greater{}, [](const Connection* connection) {
        return std::tuple(trouble(*connection), connection->all_bytes(), ~std::to_underlying(connection->uid));
    });
    all.resize(static_cast<std::size_t>(few));
    return all;
}

std::vector<Label> captureLabels(const Timeline& timeline) {
    if (timeline.packets == 0) return {};  // nothing was analysed so far: zeros would say that there is nothing
    const Duration length = lengthOf(timeline);
    std::vector<Label> labels{
        {tr("Packets"), tr("%1 (RDMA: %2)").arg(number(timeline.packets), number(transport::rdma_packets(timeline)))},
        {tr("Size"), tr("%1 on the wire").arg(shown(bytes_text(timeline.bytes)))}};
    if (timeline.first) {
        labels.push_back({tr("Start"), shown(dissect::utc(*timeline.first))});
        labels.push_back({tr("Duration"), shown(duration_text(length))});
    }
    if (length > Duration{})
        labels.push_back({tr("Average rate"), shown(rate_text(8 * per_second(timeline.bytes, length)))});
    std::map<std::string_view, std::uint64_t> services;
    for (const Connection& connection : timeline.connections) ++services[service_name(connection.service)];
    QStringList counts;
    for (const auto& [service, count] : services)
        counts.append(QStringLiteral("%1 %2").arg(number(count), shown(service)));
    labels.push_back({tr("Connections"), counts.isEmpty() ? tr("none") : counts.join(QStringLiteral(", "))});
    if (const QString carried = carriedText(timeline); !carried.isEmpty()) labels.push_back({tr("Protocols"), carried});
    return labels;
}

std::vector<Label> messageLabels(const Timeline& timeline) {
    const Duration length = lengthOf(timeline);
    const Totals& totals = timeline.totals;
    std::vector<Label> labels;
    for (std::size_t kind = 0; kind < kMessageKindTitles.size(); ++kind) {
        if (totals.messages[kind] == 0) continue;
        QString text = number(totals.messages[kind]);
        if (length > Duration{}) text += tr(" (%1/s)").arg(rateNumber(per_second(totals.messages[kind], length)));
        labels.push_back({shown(kMessageKindTitles[kind]), text});
    }
    const auto add = [&](const QString& name, std::uint64_t count) {
        if (count != 0) labels.push_back({name, number(count)});
    };
    if (totals.message_bytes != 0) {
        QString text = shown(bytes_text(totals.message_bytes));
        if (length > Duration{})
            text += QStringLiteral(" (%1)").arg(shown(rate_text(8 * per_second(totals.message_bytes, length))));
        labels.push_back({tr("Payload"), text});
    }
    add(tr("Retransmitted"), totals.retransmitted_packets);
    add(tr("Sequence NAKs"), totals.sequence_naks);
    add(tr("RNR NAKs"), totals.rnr_naks);
    add(tr("Fatal NAKs"), totals.fatal_naks);
    add(tr("Timeouts"), totals.timeouts);
    add(tr("CE marks"), totals.ce_marked);
    add(tr("CNPs"), totals.cnps);
    return labels;
}

}  // namespace qps::gui
