// The report for people: what was captured and how well, who talked, what was said, what was lost; then the findings.
#include <cli/analyzing.hpp>
#include <cli/held_inputs.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/report.hpp>
#include <cli/tone.hpp>
#include <cli/wrapped.hpp>
#include <dissect/base/types.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/findings/headline.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/collectives.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/rates.hpp>
#include <transport-replay/report/rdma_packets.hpp>
#include <transport-replay/report/ultra_ethernet.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

constexpr std::size_t kLabel = 18;            // columns up to the text of a row
constexpr std::size_t kConnectionsShown = 5;  // of many: the worst, then the largest

void append_row(std::string& out, std::string_view label, std::string_view words) {
    if (!words.empty()) append_wrapped(out, fmt::format("    {:<{}}", label, kLabel - 4), kLabel, words);
}

// "3 good, 4 messages": the counts that are not zero.
class Counts {
public:
    Counts& add(std::uint64_t count, std::string_view what) {
        if (count != 0) text_ += fmt::format("{}{} {}", text_.empty() ? "" : ", ", grouped(count), what);
        return *this;
    }
    // Of a noun.
    Counts& add_many(std::uint64_t count, std::string_view noun) {
        if (count != 0) text_ += fmt::format("{}{}", text_.empty() ? "" : ", ", counted(count, noun));
        return *this;
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

Duration length_of(const transport::Timeline& timeline) {
    return timeline.first && timeline.last ? *timeline.last - *timeline.first : Duration{};
}

constexpr std::size_t kHostsShown = 16;

// "clock 2.1 ms ahead of the first (within 4 us)"
std::string clock_text(Duration ahead, Duration within) {
    const std::string exact = within == Duration{} ? "" : fmt::format(" (within {})", duration_text(within));
    if (ahead == Duration{}) return fmt::format("clock as that of the first{}", exact);
    return fmt::format("clock {} {} that of the first{}", duration_text(magnitude(ahead)),
                       ahead > Duration{} ? "ahead of" : "behind", exact);
}

// Whose frames are which, and how their clocks differ: the times of the report are those of the first.
void append_hosts(std::string& out, const std::vector<CapturedHost>& hosts) {
    for (std::size_t i = 0; i < std::min(hosts.size(), kHostsShown); ++i) {
        const CapturedHost& host = hosts[i];
        std::string words = fmt::format("{}: {}, frames from {} on", printable(host.name),
                                        counted(host.packets, "packet"), grouped(host.frames_before + 1));
        if (host.shared != 0)
            words += fmt::format("; {} described from another host's capture", counted(host.shared, "connection"));
        if (i != 0)
            words += host.clock_ahead ? fmt::format("; {}", clock_text(*host.clock_ahead, host.clock_within))
                                      : "; its clock cannot be compared with that of the first: times are its own";
        if (host.management_left_out != 0)
            words += fmt::format("; {} left out", counted(host.management_left_out, "management datagram"));
        append_row(out, i == 0 ? "hosts" : "", words);
    }
    if (hosts.size() > kHostsShown)
        append_row(out, "", fmt::format("and {} more", counted(hosts.size() - kHostsShown, "host")));
}

void append_capture(std::string& out, const InputOptions& options, const transport::Timeline& timeline) {
    const auto names = input_names(options);
    out += fmt::format(
        "{}{}\n", printable(names.front()),
        names.size() == 1
            ? ""
            : fmt::format(" and {} more, {}", grouped(names.size() - 1),
                          !timeline.hosts.empty()
                              ? fmt::format("captures of {}", counted(timeline.hosts.size(), "host"))
                          : timeline.quality.vantage.by_file ? "taps of the same packets"
                          : !timeline.recordings.empty()
                              ? fmt::format("{} recordings, each judged by itself", timeline.recordings.size() + 1)
                              : "as one capture"));
    for (const std::string& each : timeline.incomplete) append_row(out, "incomplete", printable(each));
    append_row(out, "packets",
               fmt::format("{} ({} RDMA), {} on the wire", grouped(timeline.packets),
                           grouped(transport::rdma_packets(timeline)), bytes_text(timeline.bytes)));
    append_hosts(out, timeline.hosts);
    if (timeline.first)
        append_row(out, "time", fmt::format("{}, {}", utc(*timeline.first), duration_text(length_of(timeline))));
}

// Only what is noteworthy: nothing is said of a capture that is as it should be.
void append_quality(std::string& out, const CaptureQuality& quality) {
    append_row(out, "ICRC",
               Counts()
                   .add(quality.icrc_good, "good")
                   .add(quality.icrc_bad - quality.icrc_not_judged, "bad")
                   .add(quality.icrc_not_judged, "wrong, not judged")
                   .add(quality.icrc_not_checkable, "not checkable")
                   .text());
    Counts counts;
    counts.add_many(quality.cut, "truncated packet")
        .add_many(quality.unreadable, "RDMA packet without a whole transport header")
        .add_many(quality.faulty, "malformed RDMA packet")
        .add_many(quality.fragments, "IP fragment")
        .add(quality.left_out, "recorded by another tap")
        .add(quality.copies_of_other_taps, "copied by another tap")
        .add(quality.copies_of_same_tap,
             quality.same_tap_systematic ? "copied by the same tap (a mirror)" : "seen twice at the same tap")
        .add_many(quality.ambiguous_repetitions, "possible copy")
        .add(quality.drops.dropped, "dropped by the interface")
        .add(quality.drops.dropped_by_system, "dropped by the system");
    if (quality.backwards != 0)
        counts.add(quality.backwards, fmt::format("{} backwards (by up to {}, frame {})",
                                                  quality.backwards == 1 ? "timestamp goes" : "timestamps go",
                                                  duration_text(quality.largest_step_back),
                                                  std::to_underlying(quality.largest_step_frame)));
    const auto deaf = std::ranges::count_if(quality.one_way, &OneWay::reliable);
    counts.add_many(static_cast<std::uint64_t>(deaf), "pair of hosts captured in one direction only");
    append_row(out, "quality", counts.text());
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

std::string line_of(const Connection& connection) {
    const auto sum = [&](auto of) { return of(connection.ways[0]) + of(connection.ways[1]); };
    const std::string counts =
        Counts()
            .add_many(sum([](const Way& way) { return way.all_messages(); }), "message")
            .add(sum([](const Way& way) { return way.incidents->retransmitted; }), "retransmitted")
            .add_many(sum([](const Way& way) { return way.incidents->sequence_naks; }), "sequence NAK")
            .add_many(sum([](const Way& way) { return way.incidents->rnr_naks; }), "RNR NAK")
            .add_many(sum([](const Way& way) { return way.incidents->fatal_naks; }), "fatal NAK")
            .text();
    return fmt::format("#{} {} {}, {}{}{}", std::to_underlying(connection.uid), service_name(connection.service),
                       ends_text(connection), bytes_text(connection.all_bytes()), counts.empty() ? "" : ", ", counts);
}

// The few that a reader should know of: those in trouble, then the largest.
std::vector<const Connection*> noteworthy(const AnalysisOptions& options, const transport::Timeline& timeline) {
    std::vector<const Connection*> all;
    for (const Connection& connection : timeline.connections)
        if (wanted(options, connection.uid)) all.push_back(&connection);
    const auto shown = static_cast<std::ptrdiff_t>(std::min(all.size(), kConnectionsShown));
    std::ranges::partial_sort(all, all.begin() + shown, std::greater{}, [](const Connection* connection) {
        return std::tuple(trouble(*connection), connection->all_bytes(), ~std::to_underlying(connection->uid));
    });
    all.resize(static_cast<std::size_t>(shown));
    return all;
}

// Whether CM says what the ends agreed on: READ depth, retries, timeouts.
bool setup_captured(const transport::Timeline& timeline, const Connection& connection) {
    return connection.cm_attempt && *connection.cm_attempt < timeline.cm.attempts.size() &&
           timeline.cm.attempts[*connection.cm_attempt].requested.has_value();
}

void append_connections(std::string& out, const AnalysisOptions& options, const transport::Timeline& timeline) {
    std::map<std::string_view, std::uint64_t> services;
    std::uint64_t one_way = 0, all = 0, told = 0, unknown = 0;  // datagrams need no set-up
    for (const Connection& connection : timeline.connections) {
        ++services[service_name(connection.service)];
        if (connection.one_way() && connection.reliable()) ++one_way;
        if (!connection.reliable() && connection.service != Service::uc) continue;
        ++all;
        if (connection.joined_by == JoinedBy::exchange) ++told;
        else if (!setup_captured(timeline, connection)) ++unknown;
    }
    Counts counts;
    for (const auto& [service, count] : services) counts.add(count, service);
    std::string text = counts.text().empty() ? "none" : counts.text();
    if (one_way != 0) text += fmt::format("; {} captured in one direction only", grouped(one_way));
    if (told != 0) text += told == all ? "; set up without CM" : fmt::format("; {} set up without CM", grouped(told));
    if (unknown != 0)
        text += unknown == all ? "; CM handshake not captured"
                               : fmt::format("; CM handshake of {} not captured", grouped(unknown));
    append_row(out, "connections", text);
    const auto shown = noteworthy(options, timeline);
    for (const Connection* connection : shown) append_row(out, "", line_of(*connection));
    if (options.connections.empty() && shown.size() < timeline.connections.size())
        append_row(
            out, "",
            fmt::format("and {} more: see qpscope connections", grouped(timeline.connections.size() - shown.size())));
}

void append_setups(std::string& out, const CmReport& cm, std::uint64_t management) {
    std::map<std::string_view, std::uint64_t> outcomes;
    for (const CmAttempt& attempt : cm.attempts) ++outcomes[name(attempt.outcome)];
    Counts counts;
    for (const auto& [outcome, count] : outcomes) counts.add(count, outcome);
    append_row(out, "CM",
               cm.attempts.empty() ? "" : fmt::format("{}: {}", counted(cm.attempts.size(), "attempt"), counts.text()));
    if (management > cm.messages || cm.attempts.empty())
        append_row(out, "management", Counts().add_many(management, "datagram").add(cm.messages, "of them CM").text());
}

void append_totals(std::string& out, const Totals& totals) {
    Counts messages;
    for (std::size_t kind = 0; kind < kMessageKindTitles.size(); ++kind)
        messages.add(totals.messages[kind], kMessageKindTitles[kind]);
    const std::string payload =
        totals.message_bytes == 0 ? "" : fmt::format("; {} of payload", bytes_text(totals.message_bytes));
    if (!messages.text().empty()) append_row(out, "messages", messages.text() + payload);
    append_row(out, "recovery",
               Counts()
                   .add_many(totals.retransmitted_packets, "retransmitted packet")
                   .add_many(totals.duplicated_packets, "duplicate packet")
                   .add_many(totals.sequence_naks, "sequence NAK")
                   .add_many(totals.rnr_naks, "RNR NAK")
                   .add_many(totals.fatal_naks, "fatal NAK")
                   .add_many(totals.timeouts, "ACK timeout")
                   .text());
    append_row(out, "congestion",
               Counts().add_many(totals.ce_marked, "CE-marked packet").add_many(totals.cnps, "CNP").text());
}

void append_pauses(std::string& out, const CongestionReport& congestion) {
    struct {
        std::uint64_t stops = 0, resumes = 0, periods = 0, unknown = 0;
        Duration paused{};
    } link, priorities;
    for (const PauseSummary& pause : congestion.pauses) {
        auto& sum = pause.priority == kWholeLink ? link : priorities;
        sum.stops += pause.stops;
        sum.resumes += pause.resumes;
        sum.periods += pause.periods;
        sum.unknown += pause.unknown_lengths;
        sum.paused = sum.paused + pause.paused;
    }
    const auto add = [&](std::string_view kind, const auto& sum) {
        if (sum.stops + sum.resumes == 0) return;
        std::string row = fmt::format("{}: {} XOFF, {} XON", kind, grouped(sum.stops), grouped(sum.resumes));
        if (sum.paused != Duration{})
            row += fmt::format("; paused {}{} in total", sum.unknown != 0 ? "at most " : "", duration_text(sum.paused));
        if (sum.unknown != 0) row += fmt::format("; {} of unknown duration", counted(sum.unknown, "pause"));
        append_row(out, "pauses", row);
    };
    add("PFC", priorities);
    add("802.3x PAUSE", link);
    if (!congestion.incasts.empty()) append_row(out, "incast", counted(congestion.incasts.size(), "incast burst"));
}

// Senders of which it is known; of the others JSON says why not.
void append_rates(std::string& out, const Timeline& timeline) {
    constexpr std::size_t kShown = 8;
    std::size_t decided = 0;
    for (const RateControl& rate : timeline.congestion.rates) {
        const RateVerdict verdict = judge(rate);
        if (verdict.follows == RateFollows::undecided) continue;
        if (++decided <= kShown)
            append_row(out, decided == 1 ? "rates" : "",
                       fmt::format("{} {}", sender_text(rate, timeline), follows_text(rate, verdict)));
    }
    if (decided > kShown)
        append_row(out, "",
                   fmt::format("and {} more: see qpscope analyze -f json", counted(decided - kShown, "sender")));
}

// "NCCL ring of 8 ranks over 16 connections (confidence 95 %); 20 steps of 1 MiB ...".
std::string line_of(const Collective& collective) {
    std::string line = fmt::format("{} over {} (confidence {} %)", transport::group_text(collective),
                                   counted(collective.connections, "connection"), collective.certainty);
    if (const std::string chain = transport::chain_text(collective); !chain.empty()) line += "; " + chain;
    if (collective.protocol != NcclProtocol::unknown)
        line += fmt::format("; protocol {}", transport::name(collective.protocol));
    if (collective.channels != 0) line += fmt::format(", {}", counted(collective.channels, "channel"));
    if (collective.steps.empty()) return line + fmt::format("; {}", bytes_text(collective.bytes));
    line += fmt::format("; {} of {}, taking {}", transport::steps_text(collective, collective.steps.size()),
                        transport::step_size_text(collective), duration_text(collective.step_length.mean()));
    if (collective.between.count != 0) line += fmt::format(", {} apart", duration_text(collective.between.mean()));
    line += fmt::format("; bus bandwidth {}", rate_text(collective.bus_rate));
    if (collective.algorithm_rate > 0) line += fmt::format(", algorithm {}", rate_text(collective.algorithm_rate));
    if (!collective.straggler) return line;
    const CollectiveStraggler& late = *collective.straggler;
    const std::string rank = rank_text(collective.ranks[late.rank]);
    if (late.delay == CollectiveDelay::sends) return line + fmt::format("; straggler {}, the slowest sender", rank);
    return line + fmt::format("; straggler {}, last to {} in {} of {}", rank,
                              late.delay == CollectiveDelay::starts ? "start" : "finish", grouped(late.steps),
                              transport::steps_text(collective, late.of));
}

// "the others", or those of them of which the capture shows when they began.
std::string waiting_ranks(const Collective& collective, const CollectiveStep& step) {
    std::vector<std::size_t> known;
    for (std::size_t rank = 0; rank < step.begun.size(); ++rank)
        if (step.begun[rank] && rank != *step.last) known.push_back(rank);
    if (known.size() == 1 && collective.ranks.size() > 2) return rank_text(collective.ranks[known.front()]);
    return known.empty() || known.size() + 1 == collective.ranks.size() ? "the others"
                                                                        : fmt::format("{} of the others", known.size());
}

// Who was waited for where no straggler says it already: each of the first steps in which anybody was.
void append_waits(std::string& out, const Collective& collective) {
    constexpr std::size_t kWaitsShown = 4;
    if (collective.straggler) return;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < collective.steps.size() && shown < kWaitsShown; ++i) {
        const CollectiveStep& step = collective.steps[i];
        if (!step.last || step.certainty == 0) continue;
        ++shown;
        append_row(out, "",
                   fmt::format("step {} of {}, frame {}: {} waited {} for {} to begin (confidence {} %)", i + 1,
                               collective.steps.size(), std::to_underlying(step.frame), waiting_ranks(collective, step),
                               duration_text(step.waited), rank_text(collective.ranks[*step.last]), step.certainty));
    }
}

void append_collectives(std::string& out, const CollectiveReport& report) {
    constexpr std::size_t kShown = 5;
    const std::size_t shown = std::min(report.collectives.size(), kShown);
    for (std::size_t i = 0; i < shown; ++i) {
        append_row(out, i == 0 ? "collectives" : "", line_of(report.collectives[i]));
        append_waits(out, report.collectives[i]);
    }
    const std::uint64_t more = report.collectives.size() - shown + report.left_out;
    if (more != 0) append_row(out, "", fmt::format("and {} more", grouped(more)));
}

void append_left_out(std::string& out, const transport::Timeline& timeline) {
    if (const std::string left_out = left_out_text(timeline); !left_out.empty()) append_row(out, "left out", left_out);
}

// Of each of the first few contexts, what its paths did.
void append_ultra_ethernet(std::string& out, const AnalysisOptions& options, const transport::UetReport& report) {
    constexpr std::size_t kContextsShown = 8;
    std::size_t shown = 0, more = 0;
    for (const UetConversation& context : report.conversations) {
        if (!wanted(options, context.connection)) continue;
        for (const End end : {End::a, End::b}) {
            const UetWay& way = context.way(end);
            std::string text = transport::paths_text(way);
            const auto add = [&](std::string_view what, const std::string& counts) {
                if (!counts.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, counts);
            };
            add("NACKs", transport::nacks_text(way));
            add("errors", transport::refusals_text(way));
            if (way.trimmed != 0) add("trimmed", grouped(way.trimmed));
            if (text.empty()) continue;
            if (shown == kContextsShown) {
                ++more;
                continue;
            }
            append_row(
                out, shown++ == 0 ? "paths" : "",
                fmt::format("#{} {}{} {}", std::to_underlying(context.connection), end == End::a ? "a to b" : "b to a",
                            way.ordered || way.unordered ? fmt::format(" ({}):", transport::delivery_text(way)) : ":",
                            text));
        }
    }
    if (more != 0) append_row(out, "", fmt::format("and {} more", grouped(more)));
    append_row(out, "not followed", transport::not_followed_text(report));
}

std::string finding_counts(const std::vector<Finding>& findings) {
    std::array<std::uint64_t, kSeverityNames.size()> counts{};
    for (const Finding& finding : findings) ++counts[static_cast<std::size_t>(finding.severity)];
    std::string text;
    for (std::size_t severity = counts.size(); severity-- > 0;)
        if (counts[severity] != 0)
            text += fmt::format("{}{}", text.empty() ? "" : ", ", counted(counts[severity], kSeverityNames[severity]));
    return text.empty() ? "none" : text;
}

}  // namespace

std::vector<std::string> input_names(const InputOptions& options) {
    if (!options.interface.empty()) return {options.interface};
    std::vector<std::string> names = options.files;
    std::ranges::replace(names, std::string("-"), std::string("standard input"));
    return names;
}

std::vector<std::string> names_as_read(const InputOptions& options) {
    InputOptions read = options;
    const auto& ordered = HeldInputs::of(options).in_order(options);
    if (!ordered || !options.interface.empty()) return input_names(options);
    read.files.clear();
    for (const HeldInputs::Pieces& pieces : *ordered)
        for (const HeldInputs::Piece& piece : pieces) read.files.push_back(piece.name);
    return input_names(read);
}

void write_summary(const ReadingOptions& options, const transport::Timeline& timeline, Output& output, bool color) {
    std::string out;
    append_capture(out, options.input, timeline);
    const bool none = transport::rdma_packets(timeline) == 0 && timeline.connections.empty() &&
                      !transport::has_ultra_ethernet(timeline.uet);
    if (none && timeline.packets != 0)
        append_row(out, "RDMA", "none: no RoCE, InfiniBand, iWARP or Ultra Ethernet packet");
    if (!transport::saw_anything(timeline)) append_row(out, "judged", std::string(transport::kNothingSeen));
    append_quality(out, timeline.quality);
    append_connections(out, options.analysis, timeline);
    append_setups(out, timeline.cm, timeline.totals.management);
    append_totals(out, timeline.totals);
    append_pauses(out, timeline.congestion);
    append_rates(out, timeline);
    append_collectives(out, timeline.collectives);
    append_ultra_ethernet(out, options.analysis, timeline.uet);
    append_left_out(out, timeline);
    append_row(out, "findings", finding_counts(timeline.findings));
    append_carried(out, options.analysis, timeline);
    std::string findings;
    append_findings(findings, options.analysis, timeline, color);
    if (!findings.empty()) out += "\n" + findings;
    if (const std::string conclusion = transport::conclusion_of(timeline);
        !conclusion.empty() && options.analysis.connections.empty()) {
        out += '\n';
        append_wrapped(out, "conclusion  ", 12, conclusion);
    }
    output.write(out);
}

}  // namespace qps::cli
