// Messages as rows.
#include <dissect/base/types.hpp>
#include <transport-replay/model/completion_status.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/messages.hpp>
#include <transport-replay/report/ulp.hpp>
#include <transport-replay/report/verbs.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

std::string access_text(const Message& message) {
    if (!message.access) return {};
    return fmt::format("{:#x} rkey {:#x}", message.access->address, std::to_underlying(message.access->key));
}

std::string atomic_text(const Message& message) {
    if (!message.atomic) return {};
    const std::string result = message.atomic_result ? fmt::format(" was {:#x}", *message.atomic_result) : "";
    if (message.verb == Verb::fetch_add) return fmt::format("+{:#x}{}", message.atomic->swap_or_add, result);
    return fmt::format("{:#x}->{:#x}{}", message.atomic->compare, message.atomic->swap_or_add, result);
}

Cell first_psn(const ReportedMessage& row) { return number(row.message.first.value()); }
Cell first_time(const ReportedMessage& row) { return number(row.message.first_time); }
std::string time_text(const ReportedMessage& row) { return seconds_text(row.message.first_time - row.start); }
std::string latency_text(const ReportedMessage& row) {
    const auto latency = latency_of(row.message);
    return latency ? duration_text(*latency) : std::string();
}

constexpr std::array kMessageColumns{
    TableColumn<ReportedMessage>{"number", "no.", Side::right,
                                 [](const ReportedMessage& row) { return number(row.number); }},
    TableColumn<ReportedMessage>{"connection", "#", Side::right,
                                 [](const ReportedMessage& row) { return number(row.connection); }},
    TableColumn<ReportedMessage>{
        "requester", "", Side::left,
        [](const ReportedMessage& row) { return text_cell(row.requester == End::a ? "a" : "b"); }},
    TableColumn<ReportedMessage>{"from", "from", Side::left,
                                 [](const ReportedMessage& row) { return text_cell(text(row.from)); }},
    TableColumn<ReportedMessage>{"to", "to", Side::left,
                                 [](const ReportedMessage& row) { return text_cell(text(row.to)); }},
    TableColumn<ReportedMessage>{"", "time", Side::right, first_time, time_text},
    TableColumn<ReportedMessage>{"kind", "", Side::left,
                                 [](const ReportedMessage& row) {
                                     return text_cell(
                                         kMessageKindNames[static_cast<std::size_t>(kind_of(row.message))]);
                                 }},
    TableColumn<ReportedMessage>{"verb", "message", Side::left,
                                 [](const ReportedMessage& row) { return text_cell(verb_text(row.message)); }},
    TableColumn<ReportedMessage>{"first_psn", "", Side::right, first_psn},
    TableColumn<ReportedMessage>{"last_psn", "", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.last.value()); }},
    TableColumn<ReportedMessage>{"", "PSN", Side::left, first_psn,
                                 [](const ReportedMessage& row) {
                                     return row.message.service == Service::iwarp || row.message.service == Service::uet
                                                ? std::string()
                                                : psn_range(row.message.first, row.message.last);
                                 }},
    TableColumn<ReportedMessage>{"bytes", "bytes", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.bytes); }},
    TableColumn<ReportedMessage>{"packets", "packets", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.packets); }},
    TableColumn<ReportedMessage>{"retransmissions", "retrans", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.retransmissions); }},
    TableColumn<ReportedMessage>{"missing", "", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.missing); }},
    TableColumn<ReportedMessage>{"first_ns", "", Side::right, first_time},
    TableColumn<ReportedMessage>{
        "duration_ns", "", Side::right,
        [](const ReportedMessage& row) { return number(row.message.last_time - row.message.first_time); }},
    TableColumn<ReportedMessage>{"latency_ns", "latency", Side::right,
                                 [](const ReportedMessage& row) { return number(latency_of(row.message)); },
                                 latency_text},
    TableColumn<ReportedMessage>{"outcome", "outcome", Side::left,
                                 [](const ReportedMessage& row) { return text_cell(outcome_text(row.message)); }},
    TableColumn<ReportedMessage>{"nak_code", "", Side::right,
                                 [](const ReportedMessage& row) {
                                     return row.message.outcome == Outcome::failed ? number(row.message.nak_code)
                                                                                   : Cell{};
                                 }},
    TableColumn<ReportedMessage>{"status", "", Side::right,
                                 [](const ReportedMessage& row) {
                                     const CompletionStatus status = status_of(row.message);
                                     return status == CompletionStatus::unknown ? Cell{} : number(status);
                                 }},
    TableColumn<ReportedMessage>{
        "address", "", Side::right,
        [](const ReportedMessage& row) { return row.message.access ? number(row.message.access->address) : Cell{}; }},
    TableColumn<ReportedMessage>{
        "rkey", "", Side::right,
        [](const ReportedMessage& row) { return row.message.access ? number(row.message.access->key) : Cell{}; }},
    TableColumn<ReportedMessage>{
        "length_bytes", "", Side::right,
        [](const ReportedMessage& row) { return row.message.access ? number(row.message.access->length) : Cell{}; }},
    TableColumn<ReportedMessage>{"swap_or_add", "", Side::right,
                                 [](const ReportedMessage& row) {
                                     return row.message.atomic ? number(row.message.atomic->swap_or_add) : Cell{};
                                 }},
    TableColumn<ReportedMessage>{"compare", "", Side::right,
                                 [](const ReportedMessage& row) {
                                     return row.message.atomic && row.message.verb == Verb::compare_swap
                                                ? number(row.message.atomic->compare)
                                                : Cell{};
                                 }},
    TableColumn<ReportedMessage>{"atomic_result", "", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.atomic_result); }},
    TableColumn<ReportedMessage>{"immediate", "", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.immediate); }},
    TableColumn<ReportedMessage>{"invalidate", "", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.invalidate); }},
    TableColumn<ReportedMessage>{"first_frame", "", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.first_frame); }},
    TableColumn<ReportedMessage>{"last_frame", "", Side::right,
                                 [](const ReportedMessage& row) { return number(row.message.last_frame); }},
    TableColumn<ReportedMessage>{"answer_frame", "", Side::right,
                                 [](const ReportedMessage& row) {
                                     return row.message.answer_frame == FrameIndex{} ? Cell{}
                                                                                     : number(row.message.answer_frame);
                                 }},
    TableColumn<ReportedMessage>{"protocol", "", Side::left,
                                 [](const ReportedMessage& row) {
                                     return row.message.ulp ? text_cell(info(row.message.ulp->protocol).word) : Cell{};
                                 }},
    TableColumn<ReportedMessage>{"operation", "", Side::left,
                                 [](const ReportedMessage& row) {
                                     return row.message.ulp ? text_cell(operation_name(row.message.ulp->protocol,
                                                                                       row.message.ulp->code))
                                                            : Cell{};
                                 }},
    TableColumn<ReportedMessage>{
        "operation_tag", "", Side::right,
        [](const ReportedMessage& row) { return row.message.ulp ? number(row.message.ulp->tag) : Cell{}; }},
    TableColumn<ReportedMessage>{"operation_part", "", Side::left,
                                 [](const ReportedMessage& row) {
                                     return row.message.ulp ? text_cell(part_name(row.message.ulp->part)) : Cell{};
                                 }},
    TableColumn<ReportedMessage>{
        "", "operation", Side::left,
        [](const ReportedMessage& row) { return row.message.ulp ? text_cell(label_text(*row.message.ulp)) : Cell{}; }},
    TableColumn<ReportedMessage>{"", "details", Side::left,
                                 [](const ReportedMessage& row) { return text_cell(details_text(row.message)); }},
};

}  // namespace

std::span<const TableColumn<ReportedMessage>> message_columns() { return kMessageColumns; }

Tone tone_of(const Message& message) {
    if (message.outcome == Outcome::failed || message.outcome == Outcome::abandoned ||
        message.outcome == Outcome::gave_up)
        return Tone::error;
    return message.retransmissions != 0 ? Tone::warning : Tone::plain;
}

std::optional<Duration> latency_of(const Message& message) {
    if (message.outcome != Outcome::completed && message.outcome != Outcome::failed) return std::nullopt;
    if (message.answer_frame == FrameIndex{}) return std::nullopt;
    return message.answer_time - message.first_time;
}

std::string details_text(const Message& message) {
    std::string text = access_text(message);
    const auto add = [&](const std::string& more) {
        if (!more.empty()) text += (text.empty() ? "" : " ") + more;
    };
    add(atomic_text(message));
    if (message.immediate) add(fmt::format("imm {:#x}", *message.immediate));
    if (message.invalidate) add(fmt::format("inv {:#x}", std::to_underlying(*message.invalidate)));
    if (message.missing != 0) add(fmt::format("{} not captured", counted(message.missing, "packet")));
    return text;
}

}  // namespace qps::transport
