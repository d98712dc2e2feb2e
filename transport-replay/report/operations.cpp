// Operations of upper protocols as rows.
#include <transport-replay/instant.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/operations.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

using Row = ReportedOperation;

Cell latency(const Row& row) { return number(latency_of(row.operation)); }
std::string latency_words(const Row& row) {
    const auto value = latency_of(row.operation);
    return value ? duration_text(*value) : std::string();
}
template <Duration LatencyParts::* Part>
Cell part(const Row& row) {
    const auto parts = parts_of(row.operation);
    return parts ? number((*parts).*Part) : Cell{};
}
template <Duration LatencyParts::* Part>
std::string part_words(const Row& row) {
    const auto parts = parts_of(row.operation);
    return parts ? duration_text((*parts).*Part) : std::string();
}
// As each protocol's tools print it: command IDs of 16 bits in decimal, longer tags in hexadecimal.
std::string tag_words(const Row& row) {
    const std::uint64_t tag = row.operation.tag;
    return tag <= UINT16_MAX ? std::to_string(tag) : fmt::format("0x{:x}", tag);
}
Cell frame(FrameIndex index) { return index == FrameIndex{} ? Cell{} : number(index); }

using Column = TableColumn<Row>;
constexpr std::array kColumns{
    Column{"connection", "#", Side::right, [](const Row& row) { return number(row.operation.connection); }},
    Column{"requester", "", Side::left, [](const Row& row) { return text_cell(row.operation.requester == End::a ? "a" : "b"); }},
    Column{"", "time", Side::right, [](const Row& row) { return number(row.operation.asked); },
           [](const Row& row) { return seconds_text(elapsed(row.start, row.operation.asked)); }},
    Column{"from", "from", Side::left, [](const Row& row) { return text_cell(text(row.from)); }},
    Column{"to", "to", Side::left, [](const Row& row) { return text_cell(text(row.to)); }},
    Column{"protocol", "protocol", Side::left, [](const Row& row) { return text_cell(info(row.operation.protocol).word); }},
    Column{"operation", "operation", Side::left,
           [](const Row& row) { return text_cell(operation_name(row.operation.protocol, row.operation.code)); }},
    Column{"tag", "tag", Side::right, [](const Row& row) { return number(row.operation.tag); }, tag_words},
    Column{"subject", "about", Side::left, [](const Row& row) { return text_cell(subject_text(row.operation)); }},
    Column{"bytes", "bytes", Side::right, [](const Row& row) { return number(moved_bytes(row.operation)); }},
    Column{"asked_bytes", "", Side::right, [](const Row& row) { return number(row.operation.bytes); }},
    Column{"in_message_bytes", "", Side::right, [](const Row& row) { return number(row.operation.in_message); }},
    Column{"written_bytes", "", Side::right, [](const Row& row) { return number(row.operation.written); }},
    Column{"read_bytes", "", Side::right, [](const Row& row) { return number(row.operation.read); }},
    Column{"transfers", "", Side::right, [](const Row& row) { return number(row.operation.transfers); }},
    Column{"outstanding", "depth", Side::right, [](const Row& row) { return number(row.operation.outstanding); }},
    Column{"asked_ns", "", Side::right, [](const Row& row) { return number(row.operation.asked); }},
    Column{"latency_ns", "latency", Side::right, latency, latency_words},
    Column{"until_data_ns", "to data", Side::right, part<&LatencyParts::until_data>, part_words<&LatencyParts::until_data>},
    Column{"data_ns", "data", Side::right, part<&LatencyParts::data>, part_words<&LatencyParts::data>},
    Column{"to_answer_ns", "to answer", Side::right, part<&LatencyParts::to_answer>, part_words<&LatencyParts::to_answer>},
    Column{"outcome", "", Side::left,
           [](const Row& row) { return text_cell(kOperationOutcomeNames[static_cast<std::size_t>(row.operation.outcome)]); }},
    Column{"", "outcome", Side::left, [](const Row& row) { return text_cell(outcome_text(row.operation)); }},
    Column{"status", "", Side::right, [](const Row& row) { return row.operation.has_answer() ? number(row.operation.status) : Cell{}; }},
    Column{
        "status_text", "", Side::left,
        [](const Row& row) { return row.operation.outcome == OperationOutcome::failed ? text_cell(status_text(row.operation)) : Cell{}; }},
    Column{"asked_frame", "frame", Side::right, [](const Row& row) { return number(row.operation.asked_frame); }},
    Column{"data_frame", "", Side::right, [](const Row& row) { return frame(row.operation.data_frame); }},
    Column{"answered_frame", "answer", Side::right, [](const Row& row) { return frame(row.operation.answered_frame); }},
};

using Sum = ReportedSum;

double in_seconds(const Sum& row) { return static_cast<double>(std::to_underlying(row.during)) / 1e9; }
std::string rate_words(const Sum& row) {
    if (std::to_underlying(row.during) <= 0) return {};
    return fmt::format("{:.3g}/s", static_cast<double>(row.sum.count) / in_seconds(row));
}
std::string throughput_words(const Sum& row) {
    if (std::to_underlying(row.during) <= 0 || row.sum.bytes == 0) return {};
    return rate_text(static_cast<double>(row.sum.bytes) * 8 / in_seconds(row));
}
template <unsigned kPercent>
Cell percentile(const Sum& row) {
    return row.sum.histogram.count() == 0 ? Cell{} : number(percentile_of(row.sum, kPercent));
}
template <unsigned kPercent>
std::string percentile_words(const Sum& row) {
    return row.sum.histogram.count() == 0 ? std::string() : duration_text(percentile_of(row.sum, kPercent));
}
template <DurationSummary OperationSum::* Of>
Cell mean(const Sum& row) {
    return (row.sum.*Of).count == 0 ? Cell{} : number((row.sum.*Of).mean());
}
template <DurationSummary OperationSum::* Of>
std::string mean_words(const Sum& row) {
    return (row.sum.*Of).count == 0 ? std::string() : duration_text((row.sum.*Of).mean());
}
template <std::uint64_t OperationSum::* Of>
std::string unless_zero(const Sum& row) {
    return row.sum.*Of == 0 ? std::string() : grouped(row.sum.*Of);
}

using SumColumn = TableColumn<Sum>;
constexpr std::array kSumColumns{
    SumColumn{"protocol", "protocol", Side::left, [](const Sum& row) { return text_cell(info(row.sum.protocol).word); }},
    SumColumn{"operation", "operation", Side::left,
              [](const Sum& row) { return text_cell(operation_name(row.sum.protocol, row.sum.code)); }},
    SumColumn{"count", "count", Side::right, [](const Sum& row) { return number(row.sum.count); }},
    SumColumn{"failed", "failed", Side::right, [](const Sum& row) { return number(row.sum.failed); }, unless_zero<&OperationSum::failed>},
    SumColumn{"unanswered", "no answer", Side::right, [](const Sum& row) { return number(row.sum.unanswered); },
              unless_zero<&OperationSum::unanswered>},
    SumColumn{"bytes", "bytes", Side::right, [](const Sum& row) { return number(row.sum.bytes); },
              [](const Sum& row) { return row.sum.bytes == 0 ? std::string() : bytes_text(row.sum.bytes); }},
    SumColumn{"during_ns", "", Side::right, [](const Sum& row) { return number(row.during); }},
    SumColumn{"", "rate", Side::right, [](const Sum& row) { return number(row.sum.count); }, rate_words},
    SumColumn{"", "throughput", Side::right, [](const Sum& row) { return number(row.sum.bytes); }, throughput_words},
    SumColumn{"latency_mean_ns", "mean", Side::right, mean<&OperationSum::latency>, mean_words<&OperationSum::latency>},
    SumColumn{"latency_p50_ns", "p50", Side::right, percentile<50>, percentile_words<50>},
    SumColumn{"latency_p90_ns", "p90", Side::right, percentile<90>, percentile_words<90>},
    SumColumn{"latency_p99_ns", "p99", Side::right, percentile<99>, percentile_words<99>},
    SumColumn{"latency_most_ns", "most", Side::right,
              [](const Sum& row) { return row.sum.latency.count == 0 ? Cell{} : number(row.sum.latency.most); },
              [](const Sum& row) { return row.sum.latency.count == 0 ? std::string() : duration_text(row.sum.latency.most); }},
    SumColumn{"until_data_mean_ns", "to data", Side::right, mean<&OperationSum::until_data>, mean_words<&OperationSum::until_data>},
    SumColumn{"data_mean_ns", "data", Side::right, mean<&OperationSum::data>, mean_words<&OperationSum::data>},
    SumColumn{"to_answer_mean_ns", "to answer", Side::right, mean<&OperationSum::to_answer>, mean_words<&OperationSum::to_answer>},
};

}  // namespace

std::span<const TableColumn<ReportedOperation>> operation_columns() { return kColumns; }

Tone tone_of(const UpperOperation& operation) {
    if (operation.outcome == OperationOutcome::failed) return Tone::error;
    return is_bad(operation) ? Tone::warning : Tone::plain;
}

std::span<const TableColumn<ReportedSum>> operation_sum_columns() { return kSumColumns; }

Duration percentile_of(const OperationSum& sum, unsigned percent) {
    const std::uint64_t all = sum.histogram.count();
    const std::uint64_t rank = (all / 100 * percent) + ((all % 100 * percent + 99) / 100);  // all * percent might not fit
    const std::uint64_t slower = all - std::min(rank, all);
    if (slower < sum.slowest.size()) return elapsed(sum.slowest[slower].asked, sum.slowest[slower].answered);
    return sum.percentile(percent);
}

Tone tone_of(const OperationSum& sum) {
    if (sum.failed != 0) return Tone::error;
    return sum.unanswered != 0 ? Tone::warning : Tone::plain;
}

}  // namespace qps::transport
