// Connections as rows.
#include <dissect/base/types.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/rates.hpp>
#include <transport-replay/report/ulp.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

namespace {

std::uint64_t messages(const Way& way) { return way.all_messages(); }
std::uint64_t resent(const Way& way) { return way.incidents->retransmitted; }
std::uint64_t sequence_naks(const Way& way) { return way.incidents->sequence_naks; }
std::uint64_t rnr_naks(const Way& way) { return way.incidents->rnr_naks; }
std::uint64_t fatal_naks(const Way& way) { return way.incidents->fatal_naks; }
std::uint64_t lost_before_tap(const Way& way) { return losses_of(way).before_tap(); }
std::uint64_t lost_behind_tap(const Way& way) { return losses_of(way).requests_behind_tap; }
std::uint64_t lost_by_tap(const Way& way) { return losses_of(way).by_capture; }
std::uint64_t lost(const Way& way) { return lost_before_tap(way) + lost_behind_tap(way) + lost_by_tap(way); }
std::uint64_t marked(const Way& way) { return way.incidents->congestion_experienced; }
std::uint64_t refusals(const Way& way) {
    return way.incidents->sequence_naks + way.incidents->rnr_naks + way.incidents->fatal_naks;
}

template <std::uint64_t Of(const Way&)> Cell sum(const ConnectionRow& row) { return number(both(row.connection, Of)); }
// For people: most rows have none, and trouble then stands out.
template <std::uint64_t Of(const Way&)> std::string sum_unless_zero(const ConnectionRow& row) {
    const std::uint64_t count = both(row.connection, Of);
    return count == 0 ? "" : grouped(count);
}

std::uint64_t timeouts(const ConnectionRow& row) {
    return row.connection.timeouts(End::a) + row.connection.timeouts(End::b);
}
std::string timeouts_text(const ConnectionRow& row) { return timeouts(row) == 0 ? "" : grouped(timeouts(row)); }

// "3 seq, 1 RNR": what there is of several kinds.
std::string kinds_text(std::initializer_list<std::pair<std::uint64_t, std::string_view>> kinds) {
    std::string text;
    for (const auto& [count, kind] : kinds)
        if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count), kind);
    return text;
}

std::string refusals_text(const ConnectionRow& row) {
    if (both(row.connection, refusals) == 0) return {};
    return kinds_text({{both(row.connection, sequence_naks), "seq"},
                       {both(row.connection, rnr_naks), "RNR"},
                       {both(row.connection, fatal_naks), "fatal"}});
}
std::string lost_text(const ConnectionRow& row) {
    if (both(row.connection, lost) == 0) return {};
    return kinds_text({{both(row.connection, lost_before_tap), "before"},
                       {both(row.connection, lost_behind_tap), "behind"},
                       {both(row.connection, lost_by_tap), "capture"}});
}

dissect::Duration length_of(const ConnectionRow& row) {
    return row.connection.last_time() - row.connection.first_time();
}
std::string_view confidence(const ConnectionRow& row) {
    return kConfidenceNames[static_cast<std::size_t>(row.connection.confidence)];
}

Cell protocol(const ConnectionRow& row) {
    return row.ulp == nullptr ? Cell{} : text_cell(info(row.ulp->protocol).word);
}
std::string protocol_text(const ConnectionRow& row) {
    return row.ulp == nullptr ? std::string() : spoken_text(*row.ulp);
}

// Stalls: time without progress, by what ended each wait.
Cell stalled(const Connection& connection, std::initializer_list<RecoveryKind> kinds) {
    dissect::Duration sum{};
    for (const Way& way : connection.ways)
        for (const RecoveryKind kind : kinds) sum += way.incidents->recovery(kind).lost;
    return number(sum);
}
template <RecoveryKind kKind> Cell stalled_by(const ConnectionRow& row) { return stalled(row.connection, {kKind}); }
Cell stalled_by_all(const ConnectionRow& row) {
    return stalled(row.connection, {RecoveryKind::sequence_nak, RecoveryKind::rnr_nak, RecoveryKind::timeout,
                                    RecoveryKind::read_retry, RecoveryKind::undecided});
}
std::string stalled_text(const ConnectionRow& row) {
    constexpr std::array<std::pair<RecoveryKind, std::string_view>, 5> kWords{{{RecoveryKind::timeout, "timeout"},
                                                                               {RecoveryKind::rnr_nak, "RNR"},
                                                                               {RecoveryKind::sequence_nak, "NAK"},
                                                                               {RecoveryKind::read_retry, "READ"},
                                                                               {RecoveryKind::undecided, "undecided"}}};
    std::string text;
    for (const auto& [kind, word] : kWords) {
        dissect::Duration sum{};
        for (const Way& way : row.connection.ways) sum += way.incidents->recovery(kind).lost;
        if (sum != dissect::Duration{})
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", duration_text(sum), word);
    }
    return text;
}

// Latency of completed messages, both ways together; kPercent 100: the longest.
template <unsigned kPercent> std::optional<dissect::Duration> latency(const ConnectionRow& row) {
    if (row.times == nullptr) return std::nullopt;
    const LatencySketch both = latencies_of(*row.times);
    if (both.count() == 0) return std::nullopt;
    const dissect::Duration most = std::max((*row.times)[0].most, (*row.times)[1].most);
    return kPercent == 100 ? most : std::min(both.percentile(kPercent), most);
}
template <unsigned kPercent> Cell latency_cell(const ConnectionRow& row) { return number(latency<kPercent>(row)); }
template <unsigned kPercent> std::string latency_text(const ConnectionRow& row) {
    const auto value = latency<kPercent>(row);
    return value ? duration_text(*value) : std::string();
}

std::optional<std::uint64_t> goodput(const ConnectionRow& row) {
    const std::uint64_t bytes = both(row.connection, [](const Way& way) { return way.message_bytes; });
    const double rate = per_second(bytes, length_of(row)) * 8;
    return rate > 0 && rate < 1e18 ? std::optional(static_cast<std::uint64_t>(rate)) : std::nullopt;
}
std::string goodput_text(const ConnectionRow& row) {
    const auto rate = goodput(row);
    return rate ? rate_text(static_cast<double>(*rate)) : std::string();
}

std::optional<std::uint32_t> depth(const ConnectionRow& row) {
    const std::uint32_t most = row.times == nullptr ? 0 : std::max((*row.times)[0].depth, (*row.times)[1].depth);
    return most == 0 ? std::nullopt : std::optional(most);
}

std::uint64_t cnps(const Way& way) { return way.incidents->cnps; }

// "26 / 0": the values of both ways where they differ, several of one with commas; "..." where there are more.
template <class T, std::size_t kMost> std::string few_text(const FewValues<T, kMost>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", values[i].value);
    return values.other_packets() == 0 ? text : text + ",...";
}
template <auto kMember> Cell few_of_both(const ConnectionRow& row) {
    const std::string a = few_text(row.connection.ways[0].*kMember);
    const std::string b = few_text(row.connection.ways[1].*kMember);
    if (a.empty() && b.empty()) return {};
    if (a.empty() || b.empty() || a == b) return text_cell(a.empty() ? b : a);
    return text_cell(fmt::format("{} / {}", a, b));
}

// "cnps", "round_trips / cnps": what made its ends slow down, where that is known; "-" of an end of which it is not.
Cell follows(const ConnectionRow& row) {
    if (row.congestion == nullptr) return {};
    std::array<std::string, 2> ends;
    for (const End end : {End::a, End::b}) {
        const RateControl* const rate = find_rate(*row.congestion, row.connection.uid, end);
        const RateFollows found = rate == nullptr ? RateFollows::undecided : judge(*rate).follows;
        if (found != RateFollows::undecided)
            ends[static_cast<std::size_t>(end)] = kRateFollowsNames[static_cast<std::size_t>(found)];
    }
    if (ends[0].empty() && ends[1].empty()) return {};
    if (ends[1].empty()) return text_cell(ends[0]);
    return text_cell(fmt::format("{} / {}", ends[0].empty() ? "-" : ends[0], ends[1]));
}

constexpr std::array kConnectionColumns{
    TableColumn<ConnectionRow>{"uid", "#", Side::right,
                               [](const ConnectionRow& row) { return number(row.connection.uid); }},
    TableColumn<ConnectionRow>{
        "service", "svc", Side::left,
        [](const ConnectionRow& row) { return text_cell(service_name(row.connection.service)); }},
    TableColumn<ConnectionRow>{"", "endpoints", Side::left,
                               [](const ConnectionRow& row) { return text_cell(ends_text(row.connection)); }},
    TableColumn<ConnectionRow>{
        "a_address", "", Side::left,
        [](const ConnectionRow& row) { return text_cell(text(row.connection.ends[0].address)); }},
    TableColumn<ConnectionRow>{"a_qpn", "", Side::left,
                               [](const ConnectionRow& row) { return number(row.connection.ends[0].qpn); }},
    TableColumn<ConnectionRow>{
        "b_address", "", Side::left,
        [](const ConnectionRow& row) { return text_cell(text(row.connection.ends[1].address)); }},
    TableColumn<ConnectionRow>{"b_qpn", "", Side::left,
                               [](const ConnectionRow& row) { return number(row.connection.ends[1].qpn); }},
    TableColumn<ConnectionRow>{"confidence", "", Side::left,
                               [](const ConnectionRow& row) { return text_cell(confidence(row)); }},
    TableColumn<ConnectionRow>{"", "pairing", Side::left,
                               [](const ConnectionRow& row) { return number(row.connection.confidence); },
                               [](const ConnectionRow& row) { return std::string(confidence(row)); }},
    TableColumn<ConnectionRow>{"protocol", "protocol", Side::left, protocol, protocol_text},
    TableColumn<ConnectionRow>{"protocol_basis", "", Side::left,
                               [](const ConnectionRow& row) {
                                   return row.ulp == nullptr
                                              ? Cell{}
                                              : text_cell(kUlpBasisNames[static_cast<std::size_t>(row.ulp->basis)]);
                               }},
    TableColumn<ConnectionRow>{
        "protocol_certainty_percent", "", Side::right,
        [](const ConnectionRow& row) { return row.ulp == nullptr ? Cell{} : number(row.ulp->certainty); }},
    TableColumn<ConnectionRow>{"packets", "packets", Side::right,
                               [](const ConnectionRow& row) { return number(row.connection.all_packets()); }},
    TableColumn<ConnectionRow>{"bytes", "bytes", Side::right,
                               [](const ConnectionRow& row) { return number(row.connection.all_bytes()); },
                               [](const ConnectionRow& row) { return bytes_text(row.connection.all_bytes()); }},
    TableColumn<ConnectionRow>{"messages", "msgs", Side::right, sum<messages>},
    TableColumn<ConnectionRow>{"latency_p50_ns", "p50", Side::right, latency_cell<50>, latency_text<50>},
    TableColumn<ConnectionRow>{"latency_p99_ns", "p99", Side::right, latency_cell<99>, latency_text<99>},
    TableColumn<ConnectionRow>{"latency_max_ns", "max", Side::right, latency_cell<100>, latency_text<100>},
    TableColumn<ConnectionRow>{"goodput_bits_per_second", "goodput", Side::right,
                               [](const ConnectionRow& row) { return number(goodput(row)); }, goodput_text},
    TableColumn<ConnectionRow>{"depth", "depth", Side::right,
                               [](const ConnectionRow& row) { return number(depth(row)); }},
    TableColumn<ConnectionRow>{"stalled_ns", "stalled", Side::right, stalled_by_all, stalled_text},
    TableColumn<ConnectionRow>{"stalled_timeout_ns", "", Side::right, stalled_by<RecoveryKind::timeout>},
    TableColumn<ConnectionRow>{"stalled_rnr_nak_ns", "", Side::right, stalled_by<RecoveryKind::rnr_nak>},
    TableColumn<ConnectionRow>{"stalled_sequence_nak_ns", "", Side::right, stalled_by<RecoveryKind::sequence_nak>},
    TableColumn<ConnectionRow>{"stalled_read_retry_ns", "", Side::right, stalled_by<RecoveryKind::read_retry>},
    TableColumn<ConnectionRow>{"stalled_undecided_ns", "", Side::right, stalled_by<RecoveryKind::undecided>},
    TableColumn<ConnectionRow>{"retransmitted_packets", "retrans", Side::right, sum<resent>, sum_unless_zero<resent>},
    TableColumn<ConnectionRow>{"sequence_naks", "", Side::right, sum<sequence_naks>},
    TableColumn<ConnectionRow>{"rnr_naks", "", Side::right, sum<rnr_naks>},
    TableColumn<ConnectionRow>{"fatal_naks", "", Side::right, sum<fatal_naks>},
    TableColumn<ConnectionRow>{"", "NAKs", Side::right, sum<refusals>, refusals_text},
    TableColumn<ConnectionRow>{"timeouts", "timeouts", Side::right,
                               [](const ConnectionRow& row) { return number(timeouts(row)); }, timeouts_text},
    TableColumn<ConnectionRow>{"lost_by_network", "", Side::right, sum<lost_before_tap>},
    TableColumn<ConnectionRow>{"lost_behind_tap", "", Side::right, sum<lost_behind_tap>},
    TableColumn<ConnectionRow>{"lost_by_tap", "", Side::right, sum<lost_by_tap>},
    TableColumn<ConnectionRow>{"", "lost", Side::right, sum<lost>, lost_text},
    TableColumn<ConnectionRow>{"ce_marked", "CE", Side::right, sum<marked>, sum_unless_zero<marked>},
    TableColumn<ConnectionRow>{"cnps", "CNPs", Side::right, sum<cnps>, sum_unless_zero<cnps>},
    TableColumn<ConnectionRow>{"rate_follows", "rate by", Side::left, follows},
    TableColumn<ConnectionRow>{"dscp", "DSCP", Side::left, few_of_both<&Way::dscps>},
    TableColumn<ConnectionRow>{"udp_source_ports", "src ports", Side::left, few_of_both<&Way::udp_ports>},
    TableColumn<ConnectionRow>{"path_mtu_bytes", "MTU", Side::right,
                               [](const ConnectionRow& row) {
                                   return path_mtu(row.connection) == 0 ? Cell{} : number(path_mtu(row.connection));
                               }},
    TableColumn<ConnectionRow>{"first_frame", "", Side::right,
                               [](const ConnectionRow& row) { return number(row.connection.first_frame()); }},
    TableColumn<ConnectionRow>{"first_ns", "", Side::right,
                               [](const ConnectionRow& row) { return number(row.connection.first_time()); }},
    TableColumn<ConnectionRow>{"last_ns", "", Side::right,
                               [](const ConnectionRow& row) { return number(row.connection.last_time()); }},
    TableColumn<ConnectionRow>{"", "duration", Side::right,
                               [](const ConnectionRow& row) { return number(length_of(row)); },
                               [](const ConnectionRow& row) { return duration_text(length_of(row)); }},
    TableColumn<ConnectionRow>{"state", "state", Side::left,
                               [](const ConnectionRow& row) { return text_cell(state_of(row)); }},
    TableColumn<ConnectionRow>{
        "match", "", Side::left,
        [](const ConnectionRow& row) { return row.match.empty() ? Cell{} : text_cell(row.match); }},
};

using Headings = std::initializer_list<std::string_view>;

std::vector<TableColumn<ConnectionRow>> headed_so(Headings headings) {
    std::vector<TableColumn<ConnectionRow>> columns;
    for (const auto& column : kConnectionColumns)
        if (!column.heading.empty() && std::ranges::find(headings, column.heading) != headings.end())
            columns.push_back(column);
    return columns;
}

}  // namespace

std::span<const TableColumn<ConnectionRow>> connection_columns(ConnectionColumns which) {
    static const auto kBrief = headed_so({"#", "svc", "endpoints", "pairing", "protocol", "packets", "bytes", "msgs",
                                          "retrans", "NAKs", "timeouts", "lost", "CE", "MTU", "duration", "state"});
    static const auto kPerformance = headed_so({"#", "endpoints", "msgs", "p50", "p99", "max", "goodput", "depth",
                                                "stalled", "CE", "CNPs", "DSCP", "src ports", "state"});
    switch (which) {
        case ConnectionColumns::brief: return kBrief;
        case ConnectionColumns::performance: return kPerformance;
        case ConnectionColumns::all: break;
    }
    return kConnectionColumns;
}

std::set<ConnectionId> given_up(const Timeline& timeline) {
    std::set<ConnectionId> uids;
    for (const Finding& finding : timeline.findings)
        if (finding.connection && finding.severity == Severity::error &&
            (finding.id == "transport-retries-exceeded" || finding.id == "rnr-retries-exceeded"))
            uids.insert(*finding.connection);
    return uids;
}

std::string_view state_of(const ConnectionRow& row) {
    const Connection& connection = row.connection;
    if (connection.failed) return "failed";
    if (row.gave_up) return "gave up";
    if (connection.released) return "released";
    return connection.one_way() && connection.reliable() ? "one way" : "open";
}

Tone tone_of(const ConnectionRow& row) {
    if (row.connection.failed || row.gave_up) return Tone::error;
    return both(row.connection, resent) + both(row.connection, refusals) != 0 ? Tone::warning : Tone::plain;
}

bool is_wanted(std::span<const ConnectionId> connections, std::optional<ConnectionId> connection) {
    return connections.empty() || (connection && std::ranges::find(connections, *connection) != connections.end());
}

std::uint32_t path_mtu(const Connection& connection) {
    const std::uint32_t seen = std::max(connection.ways[0].path_mtu, connection.ways[1].path_mtu);
    return seen != 0 ? seen : connection.cm_path_mtu.value_or(0);
}

}  // namespace qps::transport
