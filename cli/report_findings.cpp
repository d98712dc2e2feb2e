// The findings for people. What happened to many connections alike is one block, with the worst of them.
#include <cli/analyzing.hpp>
#include <cli/message.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/report.hpp>
#include <cli/tone.hpp>
#include <cli/wrapped.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/finding_groups.hpp>
#include <transport-replay/report/findings.hpp>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;

namespace {

constexpr std::size_t kFindingIndent = 9;  // behind "warning  "
constexpr std::size_t kShownOfMany = 3;    // of findings of one id
constexpr std::size_t kNamedOfMany = 12;   // connections beyond them
constexpr std::size_t kFramesShown = 8;    // in a table; machine formats have all of the evidence

std::string times(std::uint64_t count) { return count == 1 ? "" : fmt::format(", {} times", grouped(count)); }

std::string where(const Finding& finding, const transport::Timeline& timeline) {
    if (!finding.connection) return {};
    const auto uid = std::to_underlying(*finding.connection);
    const Connection* connection = timeline.find(*finding.connection);
    return connection == nullptr ? fmt::format("#{}", uid) : fmt::format("#{} {}", uid, ends_text(*connection));
}

// "12", "node1:12" where captures of several hosts were joined.
std::string frame_text(dissect::FrameIndex frame, const std::vector<CapturedHost>& hosts) {
    const auto number = std::to_underlying(frame);
    const auto behind = std::ranges::lower_bound(hosts, number, {}, &CapturedHost::frames_before);
    if (behind == hosts.begin()) return fmt::format("{}", number);
    const CapturedHost& host = *std::prev(behind);
    return fmt::format("{}:{}", dissect::printable(host.name), number - host.frames_before);
}

std::string evidence(const Finding& finding, const std::vector<CapturedHost>& hosts) {
    std::string text;
    const std::size_t shown = std::min(finding.packets.size(), kFramesShown);
    for (std::size_t i = 0; i < shown; ++i)
        text += fmt::format("{}{}", i == 0 ? (finding.packets.size() == 1 ? "frame " : "frames ") : ", ",
                            frame_text(finding.packets[i], hosts));
    if (shown < finding.packets.size()) text += ", ...";
    if (const std::string when = when_text(finding); !when.empty())
        text += fmt::format("{}{}", text.empty() ? "" : "; ", when);
    if (const auto clause = clause_text(finding); !clause.empty())
        text += fmt::format("{}{}", text.empty() ? "" : "; ", clause);
    return text;
}

void append_head(std::string& out, const Finding& finding, std::string_view rest, bool color) {
    const std::string head = fmt::format("{:<{}}{}", severity_name(finding), kFindingIndent, finding.id);
    append_toned(out, color ? tone_of(finding.severity) : Tone::plain, head);
    if (line_width() == kLineWidth || head.size() + rest.size() <= line_width()) {
        out += rest;
        out += '\n';
        return;
    }
    out += '\n';
    append_wrapped(out, std::string(kFindingIndent, ' '), kFindingIndent,
                   rest.substr(std::min(rest.find_first_not_of(' '), rest.size())));
}

void append_finding_line(std::string& out, std::string_view words, std::size_t indent = kFindingIndent) {
    if (!words.empty()) append_wrapped(out, std::string(indent, ' '), indent, words);
}

void append_advice(std::string& out, std::string_view advice) {
    if (!advice.empty()) append_wrapped(out, std::string(kFindingIndent, ' ') + "-> ", kFindingIndent + 3, advice);
}

void append_group(std::string& out, const FindingGroup& group, const transport::Timeline& timeline, bool color) {
    const Finding& first = group.first();
    const std::size_t all = group.findings.size();
    append_head(out, first,
                fmt::format("  {}, {} findings{}", party_name(first), grouped(all),
                            group.count == all ? "" : times(group.count)),
                color);
    const std::size_t shown = std::min(all, kShownOfMany);
    for (std::size_t i = 0; i < shown; ++i) {
        if (const std::string place = where(*group.findings[i], timeline); !place.empty())
            append_finding_line(out, place + times(group.findings[i]->count));
        append_finding_line(out, group.findings[i]->summary, kFindingIndent + 2);
        append_finding_line(out, evidence(*group.findings[i], timeline.hosts), kFindingIndent + 2);
    }
    append_advice(out, first.advice);
    append_finding_line(out, also_named(group), kFindingIndent + 3);
    if (shown == all) return;
    std::string others = fmt::format("and {} more:", grouped(all - shown));
    for (std::size_t i = shown; i < std::min(all, shown + kNamedOfMany); ++i)
        others += group.findings[i]->connection
                      ? fmt::format(" #{}", std::to_underlying(*group.findings[i]->connection))
                      : "";
    append_finding_line(out, others + (all > shown + kNamedOfMany ? " ..." : ""));
}

}  // namespace

void append_finding(std::string& out, const Finding& finding, const transport::Timeline& timeline, bool color) {
    const std::string place = where(finding, timeline);
    append_head(out, finding,
                fmt::format("{}{}  {}{}", place.empty() ? "" : "  ", place, party_name(finding), times(finding.count)),
                color);
    append_finding_line(out, finding.summary);
    append_advice(out, finding.advice);
    append_finding_line(out, evidence(finding, timeline.hosts));
}

void append_findings(std::string& out, const AnalysisOptions& options, const transport::Timeline& timeline,
                     bool color) {
    std::vector<const Finding*> findings;
    for (const Finding& finding : timeline.findings)
        if (wanted(options, finding.connection)) findings.push_back(&finding);
    const auto append = [&](const FindingGroup& group) {
        if (group.findings.size() == 1) append_finding(out, group.first(), timeline, color);
        else append_group(out, group, timeline, color);
    };
    const std::vector<FindingPanel> panels = finding_panels(findings);
    for (std::size_t i = 0; i < panels.size(); ++i) {
        if (i > 0) out += '\n';
        append(panels[i].head);
        for (const FindingGroup& group : panels[i].also) {
            out += '\n';
            append(group);
        }
    }
}

std::string next_step(const ListingOptions& options, const transport::Timeline& timeline, const Output& output) {
    const bool asked = output.is_terminal() && options.output.format == OutputFormat::table && !is_quiet();
    const InputOptions& input = options.reading.input;
    const bool all = !options.reading.filter.chooses() && input.capture_filter.empty() && input.offsets.empty() &&
                     !input.by_time && !input.in_order && input.roce_ports.empty() && !input.uet_protocol;
    const bool again = input.interface.empty() && std::ranges::find(input.files, "-") == input.files.end();
    if (!asked || !all || !again || input.files.empty()) return {};
    const auto first = std::ranges::find_if(timeline.findings, [&](const Finding& finding) {
        return wanted(options.reading.analysis, finding.connection) && !finding.packets.empty();
    });
    if (first == timeline.findings.end()) return {};
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,=:@%";
    const std::string& name = input.files.front();
    const bool plain =
        input.files.size() == 1 && !name.starts_with('-') && name.find_first_not_of(kPlain) == std::string::npos;
    return fmt::format("\nnext: qpscope packets -Y 'rdma.finding == {}' {}\n", first->id, plain ? name : "FILE...");
}

}  // namespace qps::cli
