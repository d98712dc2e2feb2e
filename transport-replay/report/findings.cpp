// Findings as rows.
#include <transport-replay/report/findings.hpp>

#include <array>

namespace qps::transport {

namespace {

constexpr std::array kFindingColumns{
    TableColumn<Finding>{"severity", "", Side::left, [](const Finding& finding) { return text_cell(severity_name(finding)); }},
    TableColumn<Finding>{"", "severity", Side::left, [](const Finding& finding) { return number(finding.severity); },
           [](const Finding& finding) { return std::string(severity_name(finding)); }},
    TableColumn<Finding>{"id", "finding", Side::left, [](const Finding& finding) { return text_cell(finding.id); }},
    TableColumn<Finding>{"party", "party", Side::left, [](const Finding& finding) { return text_cell(party_name(finding)); }},
    TableColumn<Finding>{"connection", "#", Side::right, [](const Finding& finding) { return number(finding.connection); }},
    TableColumn<Finding>{"count", "count", Side::right, [](const Finding& finding) { return number(finding.count); }},
    TableColumn<Finding>{"packets", "", Side::left, [](const Finding& finding) { return text_cell(frames_text(finding)); }},
    TableColumn<Finding>{"summary", "summary", Side::left, [](const Finding& finding) { return text_cell(finding.summary); }},
    TableColumn<Finding>{"advice", "advice", Side::left, [](const Finding& finding) { return text_cell(finding.advice); }},
    TableColumn<Finding>{"clause", "", Side::left, [](const Finding& finding) { return text_cell(finding.clause); }},
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

std::string_view severity_name(const Finding& finding) { return kSeverityNames[static_cast<std::size_t>(finding.severity)]; }
std::string_view party_name(const Finding& finding) { return kPartyNames[static_cast<std::size_t>(finding.party)]; }

std::string frames_text(const Finding& finding, std::string_view separator) {
    std::string text;
    for (const dissect::FrameIndex frame : finding.packets) {
        if (!text.empty()) text += separator;
        text += std::to_string(std::to_underlying(frame));
    }
    return text;
}

std::string_view clause_text(const Finding& finding) { return finding.clause == kObserved ? std::string_view{} : finding.clause; }

}  // namespace qps::transport
