// Operations of upper protocols as rows.
#include <dissect/base/types.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/operations.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

Cell latency(const ReportedOperation& row) { return number(latency_of(row.operation)); }
std::string latency_words(const ReportedOperation& row) {
    const auto value = latency_of(row.operation);
    return value ? duration_text(*value) : std::string();
}
template <Duration LatencyParts::* Part> Cell part(const ReportedOperation& row) {
    const auto parts = parts_of(row.operation);
    return parts ? number((*parts).*Part) : Cell{};
}
template <Duration LatencyParts::* Part> std::string part_words(const ReportedOperation& row) {
    const auto parts = parts_of(row.operation);
    return parts ? duration_text((*parts).*Part) : std::string();
}
std::string tag_words(const ReportedOperation& row) { return tag_text(row.operation.tag); }
Cell frame(FrameIndex index) { return index == FrameIndex{} ? Cell{} : number(index); }

constexpr std::array kOperationColumns{
    TableColumn<ReportedOperation>{"connection", "#", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.connection); }},
    TableColumn<ReportedOperation>{
        "requester", "", Side::left,
        [](const ReportedOperation& row) { return text_cell(row.operation.requester == End::a ? "a" : "b"); }},
    TableColumn<ReportedOperation>{
        "", "time", Side::right, [](const ReportedOperation& row) { return number(row.operation.asked); },
        [](const ReportedOperation& row) { return seconds_text(row.operation.asked - row.start); }},
    TableColumn<ReportedOperation>{"from", "from", Side::left,
                                   [](const ReportedOperation& row) { return text_cell(text(row.from)); }},
    TableColumn<ReportedOperation>{"to", "to", Side::left,
                                   [](const ReportedOperation& row) { return text_cell(text(row.to)); }},
    TableColumn<ReportedOperation>{
        "protocol", "protocol", Side::left,
        [](const ReportedOperation& row) { return text_cell(info(row.operation.protocol).word); }},
    TableColumn<ReportedOperation>{"operation", "operation", Side::left,
                                   [](const ReportedOperation& row) {
                                       return text_cell(operation_name(row.operation.protocol, row.operation.code));
                                   }},
    TableColumn<ReportedOperation>{"tag", "tag", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.tag); }, tag_words},
    TableColumn<ReportedOperation>{"subject", "subject", Side::left,
                                   [](const ReportedOperation& row) { return text_cell(subject_text(row.operation)); }},
    TableColumn<ReportedOperation>{"file", "", Side::left,
                                   [](const ReportedOperation& row) { return text_cell(row.operation.about); }},
    TableColumn<ReportedOperation>{"bytes", "bytes", Side::right,
                                   [](const ReportedOperation& row) { return number(moved_bytes(row.operation)); }},
    TableColumn<ReportedOperation>{"requested_bytes", "", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.bytes); }},
    TableColumn<ReportedOperation>{"inline_bytes", "", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.in_message); }},
    TableColumn<ReportedOperation>{"written_bytes", "", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.written); }},
    TableColumn<ReportedOperation>{"read_bytes", "", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.read); }},
    TableColumn<ReportedOperation>{"transfers", "", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.transfers); }},
    TableColumn<ReportedOperation>{"outstanding", "depth", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.outstanding); }},
    TableColumn<ReportedOperation>{"request_ns", "", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.asked); }},
    TableColumn<ReportedOperation>{"latency_ns", "latency", Side::right, latency, latency_words},
    TableColumn<ReportedOperation>{"wait_ns", "wait", Side::right, part<&LatencyParts::until_data>,
                                   part_words<&LatencyParts::until_data>},
    TableColumn<ReportedOperation>{"transfer_ns", "transfer", Side::right, part<&LatencyParts::data>,
                                   part_words<&LatencyParts::data>},
    TableColumn<ReportedOperation>{"complete_ns", "complete", Side::right, part<&LatencyParts::to_answer>,
                                   part_words<&LatencyParts::to_answer>},
    TableColumn<ReportedOperation>{"outcome", "", Side::left,
                                   [](const ReportedOperation& row) {
                                       return text_cell(
                                           kOperationOutcomeNames[static_cast<std::size_t>(row.operation.outcome)]);
                                   }},
    TableColumn<ReportedOperation>{"", "outcome", Side::left,
                                   [](const ReportedOperation& row) { return text_cell(outcome_text(row.operation)); }},
    TableColumn<ReportedOperation>{"status", "", Side::right,
                                   [](const ReportedOperation& row) {
                                       return row.operation.has_answer() ? number(row.operation.status) : Cell{};
                                   }},
    TableColumn<ReportedOperation>{"status_text", "", Side::left,
                                   [](const ReportedOperation& row) {
                                       return row.operation.outcome == OperationOutcome::failed
                                                  ? text_cell(status_text(row.operation))
                                                  : Cell{};
                                   }},
    TableColumn<ReportedOperation>{"request_frame", "frame", Side::right,
                                   [](const ReportedOperation& row) { return number(row.operation.asked_frame); }},
    TableColumn<ReportedOperation>{"data_frame", "", Side::right,
                                   [](const ReportedOperation& row) { return frame(row.operation.data_frame); }},
    TableColumn<ReportedOperation>{"answer_frame", "answer", Side::right,
                                   [](const ReportedOperation& row) { return frame(row.operation.answered_frame); }},
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
template <unsigned kPercent> Cell percentile(const Sum& row) {
    return row.sum.histogram.count() == 0 ? Cell{} : number(percentile_of(row.sum, kPercent));
}
template <unsigned kPercent> std::string percentile_words(const Sum& row) {
    return row.sum.histogram.count() == 0 ? std::string() : duration_text(percentile_of(row.sum, kPercent));
}
template <DurationSummary OperationSum::* Of> Cell mean(const Sum& row) {
    return (row.sum.*Of).count == 0 ? Cell{} : number((row.sum.*Of).mean());
}
template <DurationSummary OperationSum::* Of> std::string mean_words(const Sum& row) {
    return (row.sum.*Of).count == 0 ? std::string() : duration_text((row.sum.*Of).mean());
}
template <std::uint64_t OperationSum::* Of> std::string unless_zero(const Sum& row) {
    return row.sum.*Of == 0 ? std::string() : grouped(row.sum.*Of);
}

using SumColumn = TableColumn<Sum>;
constexpr std::array kSumColumns{
    SumColumn{"protocol", "protocol", Side::left,
              [](const Sum& row) { return text_cell(info(row.sum.protocol).word); }},
    SumColumn{"operation", "operation", Side::left,
              [](const Sum& row) { return text_cell(operation_name(row.sum.protocol, row.sum.code)); }},
    SumColumn{"count", "count", Side::right, [](const Sum& row) { return number(row.sum.count); }},
    SumColumn{"failed", "failed", Side::right, [](const Sum& row) { return number(row.sum.failed); },
              unless_zero<&OperationSum::failed>},
    SumColumn{"unanswered", "unanswered", Side::right, [](const Sum& row) { return number(row.sum.unanswered); },
              unless_zero<&OperationSum::unanswered>},
    SumColumn{"bytes", "bytes", Side::right, [](const Sum& row) { return number(row.sum.bytes); },
              [](const Sum& row) { return row.sum.bytes == 0 ? std::string() : bytes_text(row.sum.bytes); }},
    SumColumn{"duration_ns", "", Side::right, [](const Sum& row) { return number(row.during); }},
    SumColumn{"", "rate", Side::right, [](const Sum& row) { return number(row.sum.count); }, rate_words},
    SumColumn{"", "throughput", Side::right, [](const Sum& row) { return number(row.sum.bytes); }, throughput_words},
    SumColumn{"latency_mean_ns", "mean", Side::right, mean<&OperationSum::latency>, mean_words<&OperationSum::latency>},
    SumColumn{"latency_p50_ns", "p50", Side::right, percentile<50>, percentile_words<50>},
    SumColumn{"latency_p90_ns", "p90", Side::right, percentile<90>, percentile_words<90>},
    SumColumn{"latency_p99_ns", "p99", Side::right, percentile<99>, percentile_words<99>},
    SumColumn{"latency_max_ns", "max", Side::right,
              [](const Sum& row) { return row.sum.latency.count == 0 ? Cell{} : number(row.sum.latency.most); },
              [](const Sum& row) {
                  return row.sum.latency.count == 0 ? std::string() : duration_text(row.sum.latency.most);
              }},
    SumColumn{"wait_mean_ns", "wait", Side::right, mean<&OperationSum::until_data>,
              mean_words<&OperationSum::until_data>},
    SumColumn{"transfer_mean_ns", "transfer", Side::right, mean<&OperationSum::data>, mean_words<&OperationSum::data>},
    SumColumn{"complete_mean_ns", "complete", Side::right, mean<&OperationSum::to_answer>,
              mean_words<&OperationSum::to_answer>},
};

}  // namespace

std::span<const TableColumn<ReportedOperation>> operation_columns() { return kOperationColumns; }

Tone tone_of(const UlpOperation& operation) {
    if (operation.outcome == OperationOutcome::failed) return Tone::error;
    return is_bad(operation) ? Tone::warning : Tone::plain;
}

std::span<const TableColumn<ReportedSum>> operation_sum_columns() { return kSumColumns; }

Duration percentile_of(const OperationSum& sum, unsigned percent) {
    const std::uint64_t all = sum.histogram.count();
    const std::uint64_t rank =
        (all / 100 * percent) + ((all % 100 * percent + 99) / 100);  // all * percent might not fit
    const std::uint64_t slower = all - std::min(rank, all);
    if (slower < sum.slowest.size()) return sum.slowest[slower].answered - sum.slowest[slower].asked;
    return sum.percentile(percent);
}

Tone tone_of(const OperationSum& sum) {
    if (sum.failed != 0) return Tone::error;
    return sum.unanswered != 0 ? Tone::warning : Tone::plain;
}

}  // namespace qps::transport
