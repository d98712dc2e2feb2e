// Writes verdicts as pages and tickets.
#include <dissect/packet/render_value.hpp>
#include <transport-replay/casework/case_page.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/report/markup.hpp>
#include <transport-replay/report/page_policy.hpp>
#include <transport-replay/report/page_style.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::casework {

namespace {

using transport::markup_text;

constexpr std::size_t kShownOnPage = 64;  // of each list; the rest is counted

std::string_view style_of(Weight weight) {
    if (weight >= Weight::shown) return "fail";
    return weight == Weight::hint ? "inconclusive" : "none";
}

void add_places(std::string& out, const Case& read, const std::vector<Place>& places) {
    for (const Place& place : places) {
        out += fmt::format("<p class=\"soft\">{}</p>\n", markup_text(place_text(read, place)));
        if (const auto line = quote(read, place); !line.empty())
            out += fmt::format("<pre>{}</pre>\n", markup_text(line));
    }
}

void add_list(std::string& out, const Case& read, std::string_view heading, const std::vector<Claim>& claims) {
    if (claims.empty()) return;
    out += fmt::format("<h2>{}</h2>\n", heading);
    for (std::size_t i = 0; i < std::min(claims.size(), kShownOnPage); ++i) {
        const Claim& claim = claims[i];
        const std::string_view severity =
            claim.id.empty() ? "" : transport::kSeverityNames[static_cast<std::size_t>(severity_of(claim.weight))];
        out += fmt::format("<details{}><summary><span class=\"{}\">{}</span><span class=\"id\">{}</span><span>{}</span>"
                           "</summary><div>\n",
                           i == 0 ? " open" : "", style_of(claim.weight), severity, markup_text(claim.id),
                           markup_text(claim.text));
        add_places(out, read, claim.evidence);
        out += "</div></details>\n";
    }
    if (claims.size() > kShownOnPage)
        out += fmt::format("<p class=\"soft\">and {} more</p>\n", claims.size() - kShownOnPage);
}

void add_steps(std::string& out, const Verdict& verdict) {
    if (!verdict.undecided.empty()) out += "<h2>What stays open</h2>\n";
    for (const OpenQuestion& open : verdict.undecided) out += fmt::format("<p>{}</p>\n", markup_text(open.text));
    if (verdict.next.empty()) return;
    out += "<h2>Next</h2>\n<ol>\n";
    for (std::size_t i = 0; i < std::min(verdict.next.size(), kShownOnPage); ++i) {
        const NextStep& step = verdict.next[i];
        out += fmt::format("<li>{}{}", step.where.empty() ? "" : fmt::format("[{}] ", markup_text(step.where)),
                           markup_text(step.command));
        for (const Outcome& outcome : step.outcomes)
            if (!outcome.means.empty())
                out +=
                    fmt::format("<p class=\"soft\">{}: {}</p>", markup_text(outcome.seen), markup_text(outcome.means));
        out += "</li>\n";
    }
    out += "</ol>\n";
}

void add_read(std::string& out, const Case& read) {
    out += "<h2>What was read</h2>\n<div class=\"scroll\"><table><tr><th>file</th><th>host</th><th>what</th></tr>\n";
    constexpr std::size_t kMostFiles = 1000;
    for (std::size_t i = 0; i < std::min(read.files.size(), kMostFiles); ++i)
        out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", markup_text(read.files[i].name),
                           markup_text(read.files[i].host), markup_text(kinds_text(read.files[i])));
    out += "</table></div>\n";
    if (read.files.size() > kMostFiles)
        out += fmt::format("<p class=\"soft\">and {} more files</p>\n", read.files.size() - kMostFiles);
    if (read.left_out != 0)
        out += fmt::format("<p>{} values beyond the bounds of memory were left out</p>\n", read.left_out);
}

// As Markdown text: nothing in it is a mark, and it stays on its line.
std::string plain(std::string_view text) {
    std::string made;
    for (const char c : dissect::printable(text)) {
        if (std::string_view("\\`*_{}[]<>#|").contains(c)) made += '\\';
        made += c;
    }
    return made;
}

void add_ticket_list(std::string& out, const Case& read, std::string_view heading, const std::vector<Claim>& claims,
                     std::size_t most) {
    if (claims.empty()) return;
    out += fmt::format("\n## {}\n\n", heading);
    for (std::size_t i = 0; i < std::min(claims.size(), most); ++i) {
        const Claim& claim = claims[i];
        out += fmt::format("- {}{}\n", claim.id.empty() ? "" : fmt::format("`{}` ", claim.id), plain(claim.text));
        for (const Place& place : claim.evidence) {
            out += fmt::format("  - {}\n", plain(place_text(read, place)));
            // Four blanks more than the list: a block of code, whatever the line has.
            if (const auto line = quote(read, place); !line.empty())
                out += fmt::format("\n        {}\n\n", dissect::printable(line));
        }
    }
    if (claims.size() > most) out += fmt::format("- and {} more\n", claims.size() - most);
}

}  // namespace

void append_page(std::string& out, const Case& read, const Verdict& verdict, std::string_view version) {
    const std::string head = markup_text(head_text(verdict));
    out += fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"qpscope {}\">\n"
        "<title>qpscope: {}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
        transport::policy_line(transport::kPageStyle), markup_text(version), head, transport::kPageStyle, head);
    add_list(out, read, "What the material shows", verdict.claims);
    add_list(out, read, "What follows from it", verdict.consequences);
    add_list(out, read, "What contradicts", verdict.contradictions);
    add_steps(out, verdict);
    add_read(out, read);
    out += "</main>\n</body>\n</html>\n";
}

void append_ticket(std::string& out, const Case& read, const Verdict& verdict) {
    out += fmt::format("# {}\n", plain(head_text(verdict)));
    add_ticket_list(out, read, "What the material shows", verdict.claims, kShownClaims);
    add_ticket_list(out, read, "What follows from it", verdict.consequences, kShownFollowing);
    add_ticket_list(out, read, "What contradicts", verdict.contradictions, kShownFollowing);
    if (!verdict.undecided.empty()) out += "\n## What stays open\n\n";
    for (const OpenQuestion& open : verdict.undecided) out += fmt::format("- {}\n", plain(open.text));
    if (!verdict.next.empty()) out += "\n## Next\n\n";
    for (std::size_t i = 0; i < std::min(verdict.next.size(), kShownSteps); ++i)
        out += fmt::format("{}. {}{}\n", i + 1,
                           verdict.next[i].where.empty() ? "" : plain("[" + verdict.next[i].where + "] "),
                           plain(verdict.next[i].command));
}

}  // namespace qps::casework
