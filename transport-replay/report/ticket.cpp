// A finding as a ticket: Markdown.
//
// What an attacker could feed: addresses and file names. All text that is not our own goes through markdown_text(), so
// it can begin no heading, link or tag.
#include <dissect/base/types.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/fact_text.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/rdma_packets.hpp>
#include <transport-replay/report/ticket.hpp>
#include <transport-replay/report/ulp.hpp>
#include <transport-replay/report/words.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::string_view kMarks = "\\`*_[]<#|~&";

bool is_word(std::string_view text, std::size_t at) {
    constexpr auto is_between = [](char c, char least, char most) { return c >= least && c <= most; };
    return at < text.size() &&
           (is_between(text[at], '0', '9') || is_between(text[at], 'A', 'Z') || is_between(text[at], 'a', 'z'));
}

// A sentence of a finding: commands stand between backquotes in it, and stay code.
std::string sentence_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t open = text.find('`');
        const std::size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
        if (close == std::string_view::npos) return out + markdown_text(text);
        out += markdown_text(text.substr(0, open));
        append_printable(out, text.substr(open, close + 1 - open));
        text.remove_prefix(close + 1);
    }
    return out;
}

void append_item(std::string& out, std::string_view label, const std::string& words) {
    if (!words.empty()) out += fmt::format("- {}: {}\n", label, markdown_text(words));
}

// A paragraph of its own; nothing where there is nothing to say.
void append_said(std::string& out, std::string_view label, std::string_view words) {
    if (!words.empty()) out += fmt::format("\n**{}:** {}\n", label, sentence_text(words));
}

std::string period_text(Instant first, Instant last) {
    return fmt::format("{}, {}", utc(first), duration_text(last - first));
}

struct Figure {
    std::string_view label;
    std::uint64_t (*of)(const Connection& connection, End end);
};
constexpr std::array kFigures{
    Figure{"packets", [](const Connection& connection, End end) { return connection.way(end).all_packets(); }},
    Figure{"bytes on the wire", [](const Connection& connection, End end) { return connection.way(end).all_bytes(); }},
    Figure{"messages requested",
           [](const Connection& connection, End end) { return connection.way(end).all_messages(); }},
    Figure{"completed", [](const Connection& connection, End end) { return connection.way(end).completed; }},
    Figure{"failed or abandoned",
           [](const Connection& connection, End end) {
               return connection.way(end).incidents->failed + connection.way(end).incidents->abandoned;
           }},
    Figure{"packets retransmitted",
           [](const Connection& connection, End end) { return connection.way(end).incidents->retransmitted; }},
    Figure{"timeouts", [](const Connection& connection, End end) { return connection.timeouts(end); }},
    Figure{"sequence NAKs",
           [](const Connection& connection, End end) { return connection.way(end).incidents->sequence_naks; }},
    Figure{"RNR NAKs", [](const Connection& connection, End end) { return connection.way(end).incidents->rnr_naks; }},
    Figure{"fatal NAKs",
           [](const Connection& connection, End end) { return connection.way(end).incidents->fatal_naks; }},
    Figure{"packets marked CE",
           [](const Connection& connection, End end) { return connection.way(end).incidents->congestion_experienced; }},
};

// The use of a connection: the protocol in its own words.
void append_carried(std::string& out, const Timeline& timeline, const Connection& connection) {
    const UlpConversation* conversation = timeline.ulp.find(connection.uid);
    if (conversation == nullptr) return;
    append_item(out, "protocol", spoken_text(*conversation));
    for (const UlpFact& fact : conversation->facts) append_item(out, fact.name, fact.value);
    if (conversation->operations == 0) return;
    append_item(out, "operations",
                fmt::format("{} ({} failed, {} unanswered), at most {} outstanding", grouped(conversation->operations),
                            grouped(conversation->failed), grouped(conversation->unanswered),
                            grouped(conversation->most_outstanding)));
    if (conversation->latency.count != 0)
        append_item(out, "latency",
                    fmt::format("mean {}, max {}", duration_text(conversation->latency.mean()),
                                duration_text(conversation->latency.most)));
}

void append_connection(std::string& out, const Timeline& timeline, const Connection& connection) {
    out += fmt::format("\n## Connection {}\n\n", std::to_underlying(connection.uid));
    append_item(out, "service", std::string(service_name(connection.service)));
    append_item(out, "ends", fmt::format("{} <-> {}", words::who(connection.ends[0]), words::who(connection.ends[1])));
    if (const std::uint32_t mtu = path_mtu(connection); mtu != 0) append_item(out, "path MTU", counted(mtu, "byte"));
    append_item(out, "seen", period_text(connection.first_time(), connection.last_time()));
    const ConnectionRow row{connection, given_up(timeline).contains(connection.uid)};
    append_item(out, "state", std::string(state_of(row)));
    append_carried(out, timeline, connection);
    out += fmt::format("\n| sent by | {} | {} |\n|---|---:|---:|\n", markdown_text(words::who(connection.ends[0])),
                       markdown_text(words::who(connection.ends[1])));
    for (const Figure& figure : kFigures)
        out += fmt::format("| {} | {} | {} |\n", figure.label, grouped(figure.of(connection, End::a)),
                           grouped(figure.of(connection, End::b)));
}

void append_facts(std::string& out, const Finding& finding) {
    if (finding.facts.empty()) return;
    out += "\n## Facts\n\n";
    for (const Fact& fact : finding.facts) append_item(out, fact_label(*fact.row), fact_text(fact));
}

void append_evidence(std::string& out, const Finding& finding) {
    if (finding.packets.empty() && !finding.connection) return;
    out += "\n## Evidence\n\n";
    if (!finding.packets.empty())
        out += fmt::format("- {} {}: `frame.number in {{{}}}`\n", finding.packets.size() == 1 ? "frame" : "frames",
                           frames_text(finding, ", "), frames_text(finding, ", "));
    if (finding.connection)
        out +=
            fmt::format("- the whole connection: `rdma.connection == {}`\n", std::to_underlying(*finding.connection));
}

// Whether the pair of hosts is that of the connection.
bool is_between(const OneWay& pair, const Connection& connection) {
    const Address& a = connection.ends[0].address;
    const Address& b = connection.ends[1].address;
    return (pair.source == a && pair.destination == b) || (pair.source == b && pair.destination == a);
}

// Limits of the capture; of hosts heard one way those that the finding is about.
void append_doubts(std::string& out, const Timeline& timeline, const Connection* connection) {
    const CaptureQuality& quality = timeline.quality;
    const auto doubt = [&](std::uint64_t count, std::string_view noun, std::string_view what) {
        if (count != 0) out += fmt::format("- {} {}\n", counted(count, noun), what);
    };
    doubt(quality.cut, "packet", "truncated");
    doubt(quality.unreadable, "RDMA packet", "truncated before the end of the transport header");
    doubt(quality.drops.dropped, "packet", "dropped by the interface");
    doubt(quality.drops.dropped_by_system, "packet", "dropped by the system");
    doubt(quality.copies(), "packet", "captured more than once");
    doubt(quality.backwards, "timestamp", "older than the one before");
    for (const Bound& bound : bounds()) doubt(bound.count(timeline), bound.noun, bound.what);
    for (const OneWay& pair : quality.one_way)
        if (pair.reliable && connection != nullptr && is_between(pair, *connection))
            out += fmt::format("- only packets from {} to {} were captured, none in the other direction\n",
                               markdown_text(text(pair.source)), markdown_text(text(pair.destination)));
}

void append_capture(std::string& out, const Timeline& timeline, const Connection* connection,
                    std::span<const std::string> inputs) {
    out += "\n## Capture\n\n";
    for (const std::string& input : inputs) append_item(out, "file", input);
    if (inputs.size() > 1)
        out += "- frames are numbered through all files in this order; where files overlap in time, by time\n";
    if (timeline.first && timeline.last) append_item(out, "period", period_text(*timeline.first, *timeline.last));
    append_item(out, "packets",
                fmt::format("{} ({} RDMA)", grouped(timeline.packets), grouped(rdma_packets(timeline))));
    append_doubts(out, timeline, connection);
}

}  // namespace

std::string markdown_text(std::string_view text) {
    std::string printable;
    append_printable(printable, text);
    std::string out;
    for (std::size_t i = 0; i < printable.size(); ++i) {
        const char c = printable[i];
        const bool in_word = c == '_' && is_word(printable, i - 1) && is_word(printable, i + 1);  // begins no emphasis
        if (kMarks.find(c) != std::string_view::npos && !in_word) out += '\\';
        out += c;
    }
    return out;
}

void append_ticket(std::string& out, const Timeline& timeline, const Finding& finding,
                   std::span<const std::string> inputs) {
    out += fmt::format("# {}: {}\n", severity_name(finding), finding.id);
    append_said(out, "What happened", finding.summary);
    append_said(out, "What to do", finding.advice);
    append_said(out, "Party", party_name(finding));
    append_said(out, "Count", finding.count == 1 ? "once" : counted(finding.count, "time"));
    append_said(out, "When", when_text(finding));
    append_said(out, "Reference", clause_text(finding));
    const Connection* connection = finding.connection ? timeline.find(*finding.connection) : nullptr;
    if (connection != nullptr) append_connection(out, timeline, *connection);
    append_facts(out, finding);
    append_evidence(out, finding);
    append_capture(out, timeline, connection, inputs);
}

}  // namespace qps::transport
