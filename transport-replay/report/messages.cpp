// Messages as rows.
#include <transport-replay/instant.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/messages.hpp>
#include <transport-replay/report/upper.hpp>
#include <transport-replay/report/verbs.hpp>

#include <array>

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

using Row = ReportedMessage;

Cell first_psn(const Row& row) { return number(row.message.first.value()); }
Cell first_time(const Row& row) { return number(row.message.first_time); }
std::string time_text(const Row& row) { return seconds_text(elapsed(row.start, row.message.first_time)); }
std::string latency_text(const Row& row) {
    const auto latency = latency_of(row.message);
    return latency ? duration_text(*latency) : std::string();
}

using Column = TableColumn<Row>;
constexpr std::array kColumns{
    Column{"connection", "#", Side::right, [](const Row& row) { return number(row.connection); }},
    Column{"requester", "", Side::left, [](const Row& row) { return text_cell(row.requester == End::a ? "a" : "b"); }},
    Column{"from", "from", Side::left, [](const Row& row) { return text_cell(text(row.from)); }},
    Column{"to", "to", Side::left, [](const Row& row) { return text_cell(text(row.to)); }},
    Column{"", "time", Side::right, first_time, time_text},
    Column{"kind", "", Side::left,
           [](const Row& row) { return text_cell(kMessageKindNames[static_cast<std::size_t>(kind_of(row.message))]); }},
    Column{"verb", "message", Side::left, [](const Row& row) { return text_cell(verb_text(row.message)); }},
    Column{"first_psn", "", Side::right, first_psn},
    Column{"last_psn", "", Side::right, [](const Row& row) { return number(row.message.last.value()); }},
    Column{"", "PSN", Side::left, first_psn, [](const Row& row) { return psn_range(row.message.first, row.message.last); }},
    Column{"bytes", "bytes", Side::right, [](const Row& row) { return number(row.message.bytes); }},
    Column{"packets", "packets", Side::right, [](const Row& row) { return number(row.message.packets); }},
    Column{"retransmissions", "resent", Side::right, [](const Row& row) { return number(row.message.retransmissions); }},
    Column{"missing", "", Side::right, [](const Row& row) { return number(row.message.missing); }},
    Column{"first_ns", "", Side::right, first_time},
    Column{"duration_ns", "", Side::right, [](const Row& row) { return number(elapsed(row.message.first_time, row.message.last_time)); }},
    Column{"latency_ns", "latency", Side::right, [](const Row& row) { return number(latency_of(row.message)); }, latency_text},
    Column{"outcome", "outcome", Side::left, [](const Row& row) { return text_cell(outcome_text(row.message)); }},
    Column{"nak_code", "", Side::right,
           [](const Row& row) { return row.message.outcome == Outcome::failed ? number(row.message.nak_code) : Cell{}; }},
    Column{"address", "", Side::right, [](const Row& row) { return row.message.access ? number(row.message.access->address) : Cell{}; }},
    Column{"rkey", "", Side::right, [](const Row& row) { return row.message.access ? number(row.message.access->key) : Cell{}; }},
    Column{"length_bytes", "", Side::right,
           [](const Row& row) { return row.message.access ? number(row.message.access->length) : Cell{}; }},
    Column{"swap_or_add", "", Side::right,
           [](const Row& row) { return row.message.atomic ? number(row.message.atomic->swap_or_add) : Cell{}; }},
    Column{"compare", "", Side::right,
           [](const Row& row) {
               return row.message.atomic && row.message.verb == Verb::compare_swap ? number(row.message.atomic->compare) : Cell{};
           }},
    Column{"atomic_result", "", Side::right, [](const Row& row) { return number(row.message.atomic_result); }},
    Column{"immediate", "", Side::right, [](const Row& row) { return number(row.message.immediate); }},
    Column{"invalidate", "", Side::right, [](const Row& row) { return number(row.message.invalidate); }},
    Column{"first_frame", "", Side::right, [](const Row& row) { return number(row.message.first_frame); }},
    Column{"last_frame", "", Side::right, [](const Row& row) { return number(row.message.last_frame); }},
    Column{"answer_frame", "", Side::right,
           [](const Row& row) { return row.message.answer_frame == FrameIndex{} ? Cell{} : number(row.message.answer_frame); }},
    Column{"protocol", "", Side::left,
           [](const Row& row) { return row.message.upper ? text_cell(info(row.message.upper->protocol).word) : Cell{}; }},
    Column{"operation", "", Side::left,
           [](const Row& row) {
               return row.message.upper ? text_cell(operation_name(row.message.upper->protocol, row.message.upper->code)) : Cell{};
           }},
    Column{"operation_tag", "", Side::right, [](const Row& row) { return row.message.upper ? number(row.message.upper->tag) : Cell{}; }},
    Column{"operation_part", "", Side::left,
           [](const Row& row) { return row.message.upper ? text_cell(part_name(row.message.upper->part)) : Cell{}; }},
    Column{"", "operation", Side::left,
           [](const Row& row) { return row.message.upper ? text_cell(label_text(*row.message.upper)) : Cell{}; }},
    Column{"", "details", Side::left, [](const Row& row) { return text_cell(details_text(row.message)); }},
};

}  // namespace

std::span<const TableColumn<ReportedMessage>> message_columns() { return kColumns; }

Tone tone_of(const Message& message) {
    if (message.outcome == Outcome::failed || message.outcome == Outcome::abandoned) return Tone::error;
    return message.retransmissions != 0 ? Tone::warning : Tone::plain;
}

std::optional<Duration> latency_of(const Message& message) {
    if (message.outcome != Outcome::completed && message.outcome != Outcome::failed) return std::nullopt;
    if (message.answer_frame == FrameIndex{}) return std::nullopt;
    return elapsed(message.first_time, message.answer_time);
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
