#include <cli/explain_finding.hpp>
#include <cli/message.hpp>
#include <cli/options/hints.hpp>
#include <cli/output.hpp>
#include <cli/wrapped.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/renamed.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

namespace {

// From the heading of an id to the next one.
std::string_view section_of(std::string_view pages, std::string_view id) {
    const std::size_t begin = pages.find(fmt::format("\n## {}\n", id));
    if (begin == std::string_view::npos) return {};
    const std::string_view rest = pages.substr(begin + 1);
    return rest.substr(0, rest.find("\n## "));
}

// Markdown as people read it on a terminal: paragraphs wrapped, without the marks of headings.
std::string readable(std::string_view section) {
    std::string out;
    while (!section.empty()) {
        const std::size_t end = std::min(section.find('\n'), section.size());
        const std::string_view line = section.substr(0, end);
        section.remove_prefix(std::min(end + 1, section.size()));
        if (line.starts_with("## ")) out += fmt::format("{}\n", line.substr(3));
        else if (line.starts_with("> ")) append_wrapped(out, "  ", 2, line.substr(2));
        else if (line.empty()) out += '\n';
        else append_wrapped(out, "", 0, line);
    }
    return out;
}

}  // namespace

ExitCode explain_finding(std::string_view asked, const OutputOptions& options) {
    const std::string_view id = transport::current_finding(asked);
    const bool of_case = casework::claim_row(id) != nullptr;
    const std::string_view section = section_of(of_case ? case_finding_pages() : finding_pages(), id);
    if ((transport::finding_row(id) == nullptr && !of_case) || section.empty()) {
        std::vector<std::string_view> ids;
        for (const casework::ClaimRow& row : casework::claim_rows()) ids.push_back(row.id);
        for (const transport::FindingRow& row : transport::finding_rows()) ids.push_back(row.id);
        const std::string_view near = nearest_of(id, ids);
        say("qpscope: no finding '{}'{} (findings --list has them all)\n", dissect::printable(asked),
            near.empty() ? "" : fmt::format(": did you mean {}?", near));
        return ExitCode::usage;
    }
    Output output(options.path);
    if (!output.ok()) return finish(output);
    output.write(readable(section));
    return finish(output);
}

}  // namespace qps::cli
