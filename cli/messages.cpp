// `messages`: a row each, as soon as nothing more can happen to it.
#include <transport-replay/instant.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/known_ends.hpp>
#include <transport-replay/report/verbs.hpp>

#include <array>
#include <optional>

#include "analyzing.hpp"
#include "command.hpp"
#include "decoding.hpp"
#include "sheet.hpp"
#include "tone.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

struct Row {
    ConnectionId connection{};
    End requester{};
    const Endpoint& from;
    const Endpoint& to;
    const Message& message;
    Instant start{};  // of the capture
};

std::optional<Duration> latency(const Message& message) {
    if (message.outcome != Outcome::completed && message.outcome != Outcome::failed) return std::nullopt;
    return elapsed(message.first_time, message.answer_time);
}

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

// What only some messages have, in one column.
std::string details(const Message& message) {
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

template <class T>
Cell maybe(const std::optional<T>& value) {
    return value ? number(*value) : Cell{};
}

using Column = SheetColumn<Row>;
constexpr std::array kColumns{
    Column{"connection", "#", Side::right, [](const Row& row) { return number(row.connection); }},
    Column{"requester", "", Side::left, [](const Row& row) -> Cell { return std::string(row.requester == End::a ? "a" : "b"); }},
    Column{"from", "from", Side::left, [](const Row& row) -> Cell { return text(row.from); }},
    Column{"to", "to", Side::left, [](const Row& row) -> Cell { return text(row.to); }},
    Column{"", "time", Side::right, [](const Row& row) -> Cell { return seconds_text(elapsed(row.start, row.message.first_time)); }},
    Column{"kind", "", Side::left,
           [](const Row& row) -> Cell { return std::string(kMessageKindNames[static_cast<std::size_t>(kind_of(row.message))]); }},
    Column{"verb", "message", Side::left, [](const Row& row) -> Cell { return verb_text(row.message); }},
    Column{"first_psn", "", Side::right, [](const Row& row) { return number(row.message.first.value()); }},
    Column{"last_psn", "", Side::right, [](const Row& row) { return number(row.message.last.value()); }},
    Column{"", "PSN", Side::left, [](const Row& row) -> Cell { return psn_range(row.message.first, row.message.last); }},
    Column{"bytes", "bytes", Side::right, [](const Row& row) { return number(row.message.bytes); }},
    Column{"packets", "packets", Side::right, [](const Row& row) { return number(row.message.packets); }},
    Column{"retransmissions", "resent", Side::right, [](const Row& row) { return number(row.message.retransmissions); }},
    Column{"missing", "", Side::right, [](const Row& row) { return number(row.message.missing); }},
    Column{"first_ns", "", Side::right, [](const Row& row) { return number(row.message.first_time); }},
    Column{"duration_ns", "", Side::right, [](const Row& row) { return number(elapsed(row.message.first_time, row.message.last_time)); }},
    Column{"latency_ns", "", Side::right, [](const Row& row) { return maybe(latency(row.message)); }},
    Column{"", "latency", Side::right,
           [](const Row& row) -> Cell {
               const auto found = latency(row.message);
               return found ? Cell{duration_text(*found)} : Cell{};
           }},
    Column{"outcome", "outcome", Side::left, [](const Row& row) -> Cell { return outcome_text(row.message); }},
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
    Column{"atomic_result", "", Side::right, [](const Row& row) { return maybe(row.message.atomic_result); }},
    Column{"immediate", "", Side::right, [](const Row& row) { return maybe(row.message.immediate); }},
    Column{"invalidate", "", Side::right, [](const Row& row) { return maybe(row.message.invalidate); }},
    Column{"first_frame", "", Side::right, [](const Row& row) { return number(row.message.first_frame); }},
    Column{"last_frame", "", Side::right, [](const Row& row) { return number(row.message.last_frame); }},
    Column{"answer_frame", "", Side::right,
           [](const Row& row) { return row.message.answer_frame == FrameIndex{} ? Cell{} : number(row.message.answer_frame); }},
    Column{"", "details", Side::left, [](const Row& row) -> Cell { return details(row.message); }},
};

std::string_view tone_of(const Message& message, bool color) {
    if (!color) return {};
    if (message.outcome == Outcome::failed || message.outcome == Outcome::abandoned) return kErrorTone;
    return message.retransmissions != 0 ? kWarningTone : std::string_view{};
}

}  // namespace

ExitCode run_messages(const Options& options) {
    const auto filter = compile_filter(options);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    const bool color = options.format == OutputFormat::table && wants_color(options, output);
    std::optional<Sheet> sheet;
    KnownEnds ends;
    std::optional<Instant> start;
    const auto begin = [&]() -> Sheet& { return sheet ? *sheet : sheet.emplace(options, output, "messages", kColumns); };
    const auto packet = [&](const Observation& observation, const PacketStory& story) {
        if (!start && observation.has_time) start = observation.time;
        ends.learn(observation, story);
    };
    const auto message = [&](ConnectionId connection, End requester, const Message& ended) {
        if (!wanted(options, connection)) return;
        const Row row{connection,
                      requester,
                      ends.end(connection, requester),
                      ends.end(connection, other(requester)),
                      ended,
                      start.value_or(Instant{})};
        begin().add(kColumns, row, tone_of(ended, color));
    };
    const Analyzed analyzed =
        analyze(options, *filter, output, {.packet = packet, .message = message, .pause = [&] { begin().show_now(); }});
    if (analyzed.any) begin().end();
    if (analyzed.any && begin().rows() == 0) tell_none(options, "messages");
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
