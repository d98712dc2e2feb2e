#include <cli/explain_finding.hpp>
#include <cli/message.hpp>
#include <cli/options/hints.hpp>
#include <cli/output.hpp>
#include <cli/tone.hpp>
#include <cli/wrapped.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/renamed.hpp>

#include <algorithm>
#include <array>
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

// Paragraphs that begin with these words and a colon are sections.
constexpr std::array<std::string_view, 4> kSections{"To do", "Looks like it", "Cannot know", "Facts of the example"};

class ManualPage {
public:
    explicit ManualPage(bool bold) : bold_(bold) {}

    // A line of the section in Markdown, which is a paragraph.
    void add(std::string_view line) {
        if (line.empty()) return;
        if (line.starts_with("## ")) return head(line.substr(3));
        if (line.starts_with("> ")) return section("Example", line.substr(2));
        for (const std::string_view name : kSections)
            if (line.starts_with(name) && line.substr(name.size()).starts_with(": "))
                return section(name, line.substr(name.size() + 2));
        append_wrapped(text_, kIndent, kIndent.size(), line);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    static constexpr std::string_view kIndent = "  ";
    void head(std::string_view words) {
        text_ += bold_ ? fmt::format("\033[1m{}{}\n", words, kToneEnd) : fmt::format("{}\n", words);
    }
    void section(std::string_view name, std::string_view words) {
        text_ += '\n';
        head(name);
        std::string plain(words);
        if (name == kSections.back()) std::erase(plain, '`');  // names and nothing else
        append_wrapped(text_, kIndent, kIndent.size(), plain);
    }

    bool bold_;
    std::string text_;
};

// Markdown as the page of a manual: headings, and what they are of below them.
std::string readable(std::string_view section, bool bold) {
    ManualPage page(bold);
    while (!section.empty()) {
        const std::size_t end = std::min(section.find('\n'), section.size());
        page.add(section.substr(0, end));
        section.remove_prefix(std::min(end + 1, section.size()));
    }
    return page.text();
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
    output.write(readable(section, wants_color(options.color, output)));
    return finish(output);
}

}  // namespace qps::cli
