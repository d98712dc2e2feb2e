#include <transport-replay/live/replay/comparison_report.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/report/messages.hpp>
#include <transport-replay/report/verbs.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

using Row = ComparedRow;

std::string duration_or_nothing(const std::optional<Duration>& duration) {
    return duration ? duration_text(*duration) : std::string();
}

std::uint64_t bytes_of(const Row& row) {
    const RecordedMessage& each = row.recorded();
    return each.message.access && !each.is_atomic() ? each.message.access->length : each.payload.bytes.size();
}

// Only our own: of the peer's, the recording has other times than an application.
std::optional<Duration> recorded_latency(const Row& row) {
    return row.recorded().from == row.ours ? latency_of(row.recorded().message) : std::nullopt;
}
std::optional<Duration> live_latency(const Row& row) {
    return row.recorded().from == row.ours ? row.live().latency() : std::nullopt;
}

std::string endings(const Row& row) {
    if (row.live().progress != Progress::done && row.live().ending == Ending::unknown)
        return std::string(name(row.live().progress));
    return std::string(row.live().ending == Ending::unknown ? name(row.live().progress) : name(row.live().ending));
}

std::string differences(const Row& row) {
    std::string text;
    for (const Difference& each : row.live().differences)
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name(each.kind), sentence(each));
    return text;
}

using Column = TableColumn<Row>;
constexpr std::array kColumns{
    Column{"message", "#", Side::right, [](const Row& row) { return number(row.index + 1); }},
    Column{"from", "from", Side::left,
           [](const Row& row) { return text_cell(row.recorded().from == row.ours ? "us" : "peer"); }},
    Column{"verb", "message", Side::left, [](const Row& row) { return text_cell(verb_text(row.recorded().message)); }},
    Column{"bytes", "bytes", Side::right, [](const Row& row) { return number(bytes_of(row)); }},
    Column{"missing_bytes", "", Side::right, [](const Row& row) { return number(row.recorded().payload.missing()); }},
    Column{"recorded_latency_ns", "recorded", Side::right, [](const Row& row) { return number(recorded_latency(row)); },
           [](const Row& row) { return duration_or_nothing(recorded_latency(row)); }},
    Column{"latency_ns", "live", Side::right, [](const Row& row) { return number(live_latency(row)); },
           [](const Row& row) { return duration_or_nothing(live_latency(row)); }},
    Column{"recorded_rnr_naks", "", Side::right, [](const Row& row) { return number(row.recorded().rnr_naks); }},
    Column{"rnr_naks", "RNR", Side::right, [](const Row& row) { return number(row.live().rnr_naks); },
           [](const Row& row) {
               const std::uint32_t before = row.recorded().rnr_naks;
               const std::uint32_t now = row.live().rnr_naks;
               return before + now == 0 ? std::string() : fmt::format("{}/{}", before, now);
           }},
    Column{"recorded_outcome", "", Side::left,
           [](const Row& row) { return text_cell(name(recorded_ending(row.recorded()))); }},
    Column{"outcome", "", Side::left, [](const Row& row) { return text_cell(name(row.live().ending)); }},
    Column{"progress", "outcome", Side::left, [](const Row& row) { return text_cell(name(row.live().progress)); },
           endings},
    Column{"", "differences", Side::left, [](const Row& row) { return text_cell(differences(row)); }},
};

void add_cell(Document& document, std::string_view name, const Cell& cell) {
    std::visit(
        [&]<class T>(const T& value) {
            if constexpr (std::is_same_v<T, std::monostate>) document.add(name, std::optional<std::uint64_t>{});
            else document.add(name, value);
        },
        cell);
}

void add_differences(Document& document, const ComparedMessage& live) {
    document.open_list("differences");
    for (const Difference& each : live.differences) {
        document.open();
        document.add("kind", name(each.kind));
        if (each.kind == DifferenceKind::outcome) {
            document.add("recorded", name(Ending{static_cast<std::uint8_t>(each.recorded)}));
            document.add("live", name(Ending{static_cast<std::uint8_t>(each.live)}));
        } else if (each.kind != DifferenceKind::missing) {
            document.add("recorded", each.recorded);
            document.add("live", each.live);
        }
        if (each.kind == DifferenceKind::data) {
            document.add("offset", each.offset);
            document.add("bytes", each.bytes);
        }
        document.close();
    }
    document.close_list();
}

void add_gaps(Document& document, const RecordingGaps& gaps) {
    document.open("not_recorded");
    document.add("one_way", gaps.one_way);
    document.add("incomplete_messages", gaps.incomplete);
    document.add("missing_bytes", gaps.missing_bytes);
    document.add("unplayable_messages", gaps.unplayable);
    document.add("discarded_bytes", gaps.let_go);
    document.close();
}

std::string gaps_text(const RecordingGaps& gaps) {
    std::string text;
    const auto add = [&](std::string_view sentence) { text += fmt::format("    {}\n", sentence); };
    if (gaps.one_way) add("only one direction was captured: answers of the other end are unknown");
    if (gaps.incomplete != 0)
        add(fmt::format("{} captured in part: {} are zeros, and not compared", counted(gaps.incomplete, "message"),
                        bytes_text(gaps.missing_bytes)));
    if (gaps.unplayable != 0)
        add(fmt::format("{} left out: their start was not captured", counted(gaps.unplayable, "message")));
    if (gaps.let_go != 0)
        add(fmt::format("{} dropped: too much belonged to incomplete messages", bytes_text(gaps.let_go)));
    return text;
}

}  // namespace

std::span<const TableColumn<ComparedRow>> compared_columns() { return kColumns; }

Tone tone_of(const ComparedRow& row) {
    if (!row.live().differences.empty()) return Tone::error;
    return row.live().progress == Progress::done || row.live().progress == Progress::unseen ? Tone::plain
                                                                                            : Tone::warning;
}

std::string summary_text(const RecordedConversation& conversation, const ReplayComparison& comparison, End ours) {
    const auto done =
        static_cast<std::uint64_t>(std::ranges::count(comparison.messages, Progress::done, &ComparedMessage::progress));
    const std::uint64_t count = comparison.differences();
    std::string text = fmt::format(
        "connection {}, as the {}: {}{}; {} of {}, {}\n", std::to_underlying(conversation.uid),
        ours == conversation.requester ? "requester" : "responder", name(comparison.end),
        comparison.words.empty() ? "" : fmt::format(" ({})", comparison.words), grouped(done),
        counted(conversation.messages.size(), "message"), count == 0 ? "no differences" : counted(count, "difference"));
    text += gaps_text(conversation.gaps);
    if (comparison.extra_count != 0)
        text += fmt::format("    {} from the peer {} not in the capture\n", counted(comparison.extra_count, "message"),
                            comparison.extra_count == 1 ? "is" : "are");
    if (comparison.sequence_naks != 0)
        text += fmt::format("    {} after loss on the network\n", counted(comparison.sequence_naks, "sequence NAK"));
    for (const Rkey key : comparison.unmapped)
        text += fmt::format(
            "    key {:#x} was used as recorded, since no message carries it: set the live key with --map-key {:#x}=LIVE\n",
            std::to_underlying(key), std::to_underlying(key));
    return text;
}

void add_comparison(Document& document, const RecordedConversation& conversation, const ReplayComparison& comparison,
                    End ours) {
    document.open();
    document.add("schema", kSchema);
    document.add("connection", conversation.uid);
    document.add("role", ours == conversation.requester ? "requester" : "responder");
    document.add("end", name(comparison.end));
    document.add("reason", comparison.words);
    document.add("differences", comparison.differences());
    document.add("sequence_naks", comparison.sequence_naks);
    document.add("unexpected_messages", comparison.extra_count);
    document.add_numbers("untranslated_keys", comparison.unmapped);
    add_gaps(document, conversation.gaps);
    document.open_list("messages");
    for (std::size_t i = 0; i < conversation.messages.size() && i < comparison.messages.size(); ++i) {
        const Row row{conversation, comparison, ours, i};
        document.open();
        for (const Column& column : kColumns)
            if (!column.name.empty()) add_cell(document, column.name, column.value(row));
        add_differences(document, row.live());
        document.close();
    }
    document.close_list();
    document.open_list("unexpected");
    for (const ExtraMessage& extra : comparison.extra) {
        document.open();
        document.add("verb", extra.write ? "WRITE+imm" : "SEND");
        document.add("bytes", extra.bytes);
        document.close();
    }
    document.close_list();
    document.close();
}

}  // namespace qps::transport::live
