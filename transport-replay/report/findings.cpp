// Findings as rows.
#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/words.hpp>

#include <array>

#include <fmt/format.h>

namespace qps::transport {

namespace {

constexpr std::array kFindingColumns{
    TableColumn<Finding>{"severity", "", Side::left,
                         [](const Finding& finding) { return text_cell(severity_name(finding)); }},
    TableColumn<Finding>{"", "severity", Side::left, [](const Finding& finding) { return number(finding.severity); },
                         [](const Finding& finding) { return std::string(severity_name(finding)); }},
    TableColumn<Finding>{"id", "finding", Side::left, [](const Finding& finding) { return text_cell(finding.id); }},
    TableColumn<Finding>{"party", "party", Side::left,
                         [](const Finding& finding) { return text_cell(party_name(finding)); }},
    TableColumn<Finding>{"connection", "#", Side::right,
                         [](const Finding& finding) { return number(finding.connection); }},
    TableColumn<Finding>{"count", "count", Side::right, [](const Finding& finding) { return number(finding.count); }},
    TableColumn<Finding>{"packets", "", Side::left,
                         [](const Finding& finding) { return text_cell(frames_text(finding)); }},
    TableColumn<Finding>{"summary", "summary", Side::left,
                         [](const Finding& finding) { return text_cell(finding.summary); }},
    TableColumn<Finding>{"advice", "advice", Side::left,
                         [](const Finding& finding) { return text_cell(finding.advice); }},
    TableColumn<Finding>{"clause", "", Side::left, [](const Finding& finding) { return text_cell(finding.clause); }},
    TableColumn<Finding>{"first_ns", "", Side::right, [](const Finding& finding) { return number(finding.first); }},
    TableColumn<Finding>{"last_ns", "", Side::right, [](const Finding& finding) { return number(finding.last); }},
};

}  // namespace

std::span<const TableColumn<Finding>> finding_columns() { return kFindingColumns; }

Tone tone_of(Severity severity) {
    switch (severity) {
        case Severity::error: return Tone::error;
        case Severity::warning: return Tone::warning;
        case Severity::note: break;
    }
    return Tone::plain;
}

std::string_view severity_name(const Finding& finding) {
    return kSeverityNames[static_cast<std::size_t>(finding.severity)];
}
std::string_view party_name(const Finding& finding) { return kPartyNames[static_cast<std::size_t>(finding.party)]; }

std::string frames_text(const Finding& finding, std::string_view separator) {
    std::string text;
    for (const dissect::FrameIndex frame : finding.packets) {
        if (!text.empty()) text += separator;
        text += std::to_string(std::to_underlying(frame));
    }
    return text;
}

std::string_view clause_text(const Finding& finding) {
    return finding.clause == kObserved ? std::string_view{} : finding.clause;
}

std::string clock_text(dissect::Instant time, bool dated) {
    // "2026-11-21 01:12:21.422677000 UTC" to the millisecond, which tells events apart and finds a line of a log.
    constexpr std::size_t kDate = 11, kClock = 12;
    const std::string whole = dissect::utc(time);
    return whole.substr(dated ? 0 : kDate, kClock + (dated ? kDate : 0));
}

std::string when_text(const Finding& finding) {
    if (!finding.first || !finding.last) return {};
    const std::string first = clock_text(*finding.first, true), last = clock_text(*finding.last, true);
    constexpr std::size_t kDate = 11;
    if (first == last) return fmt::format("at {} UTC", first.substr(kDate));
    const bool same_day = first.compare(0, kDate, last, 0, kDate) == 0;
    return fmt::format("first {}, last {} UTC", same_day ? first.substr(kDate) : first,
                       same_day ? last.substr(kDate) : last);
}

std::string json_name(const FactRow& row) {
    const auto with = [&](std::string_view unit) {
        return row.name.ends_with(unit) ? std::string(row.name) : fmt::format("{}_{}", row.name, unit);
    };
    switch (row.unit) {
        case Unit::duration: return with("ns");
        case Unit::bytes: return with("bytes");
        case Unit::bits_per_second: return with("bits_per_second");
        default: return std::string(row.name);
    }
}

namespace {

// "2026-11-21T01:12:21.422677000Z" (ISO 8601)
std::string iso(dissect::Instant time) {
    std::string out = dissect::utc(time);
    out[out.find(' ')] = 'T';
    return out.substr(0, out.find(' ')) + 'Z';
}

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& each : texts) out += (out.empty() ? "" : ", ") + each;
    return out;
}

struct FactWriter {
    Document& document;
    std::string name;
    void operator()(std::monostate) const {}
    void operator()(bool value) const { document.add(name, value); }
    void operator()(std::uint64_t value) const { document.add(name, value); }
    void operator()(double value) const { document.add_json(name, fmt::format("{:.6g}", value)); }
    void operator()(dissect::Duration value) const { document.add(name, value); }
    void operator()(const Address& value) const { document.add(name, text(value)); }
    void operator()(const std::string& value) const { document.add(name, dissect::printable(value)); }
    void operator()(const std::vector<std::string>& value) const { document.add_texts(name, value); }
    void operator()(const Endpoint& value) const {
        document.open(name);
        document.add("address", text(value.address));
        document.add("qpn", value.qpn);
        document.close();
    }
};

}  // namespace

Cell fact_cell(const Fact& fact) {
    struct Writer {
        Cell operator()(std::monostate) const { return {}; }
        Cell operator()(bool value) const { return std::uint64_t{value}; }
        Cell operator()(std::uint64_t value) const { return value; }
        Cell operator()(double value) const { return fmt::format("{:.6g}", value); }
        Cell operator()(dissect::Duration value) const { return number(value); }
        Cell operator()(const Endpoint& value) const { return words::who(value); }
        Cell operator()(const Address& value) const { return text(value); }
        Cell operator()(const std::string& value) const { return dissect::printable(value); }
        Cell operator()(const std::vector<std::string>& value) const { return joined(value); }
    };
    return std::visit(Writer{}, fact.value);
}

void add_fact(Document& document, const Fact& fact) {
    std::visit(FactWriter{document, json_name(*fact.row)}, fact.value);
}

void add_finding(Document& document, const Finding& finding, const Timeline& timeline) {
    document.add("id", finding.id);
    document.add("severity", severity_name(finding));
    document.add("party", party_name(finding));
    document.add("connection", finding.connection);
    document.add("first", finding.first ? std::optional(iso(*finding.first)) : std::nullopt);
    document.add("last", finding.last ? std::optional(iso(*finding.last)) : std::nullopt);
    document.add("first_ns", finding.first);
    document.add("last_ns", finding.last);
    document.add_numbers("packets", finding.packets);
    document.add("count", finding.count);
    document.add("summary", finding.summary);
    document.add("advice", finding.advice);
    document.add("clause", finding.clause);
    document.open("facts");
    for (const Fact& fact : finding.facts) add_fact(document, fact);
    document.close();
    document.open_list("events");
    for (const FindingEvent& event : events_of(finding, timeline, kMaxEvidence)) {
        document.open();
        document.add("frame", event.frame);
        document.add("role", kEventRoleNames[static_cast<std::size_t>(event.role)]);
        document.add("time_ns", event.time);
        document.close();
    }
    document.close_list();
}

}  // namespace qps::transport
