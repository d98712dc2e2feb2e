// Writes verdicts as documents.
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::casework {

namespace {

using transport::Document;

constexpr std::string_view weight_name(Weight weight) {
    switch (weight) {
        case Weight::remark: return "remark";
        case Weight::hint: return "hint";
        case Weight::shown: return "shown";
        case Weight::decisive: break;
    }
    return "decisive";
}

bool is_frame(const Case& read, const Place& place) {
    return place.file < read.files.size() && read.files[place.file].capture;
}

void add_evidence(Document& document, const Case& read, const std::vector<Place>& places) {
    document.open_list("evidence");
    for (const Place& place : places) {
        document.open();
        document.add("file", read.files[place.file].name);
        document.add(is_frame(read, place) ? "frame" : "line", place.line);
        constexpr std::size_t kMost = 300;  // of a line that is shown whole
        if (const auto line = quote(read, place); !line.empty() && line.size() <= kMost) document.add("text", line);
        document.close();
    }
    document.close_list();
}

void add_facts(Document& document, const transport::Facts& facts) {
    document.open("facts");
    for (const transport::Fact& fact : facts) transport::add_fact(document, fact);
    document.close();
}

// What it rests on: of a finding of a capture its clause.
std::string_view clause_of(const Claim& claim) {
    if (const ClaimRow* row = claim_row(claim.id)) return row->rests_on;
    const transport::FindingRow* row = transport::finding_row(claim.id);
    return row == nullptr ? std::string_view() : row->clause;
}

void add_claims(Document& document, const Case& read, std::string_view name, const std::vector<Claim>& claims,
                std::size_t most) {
    document.open_list(name);
    for (std::size_t i = 0; i < std::min(claims.size(), most); ++i) {
        const Claim& claim = claims[i];
        document.open();
        if (!claim.id.empty()) {
            document.add("id", claim.id);
            document.add("severity", transport::kSeverityNames[static_cast<std::size_t>(severity_of(claim.weight))]);
            document.add("weight", weight_name(claim.weight));
            document.add("party", casework::name(claim.party));
            document.add("host", claim.host);
        }
        document.add("summary", claim.text);
        if (!claim.id.empty()) {
            document.add("clause", clause_of(claim));
            add_facts(document, claim.facts);
        }
        add_evidence(document, read, claim.evidence);
        document.close();
    }
    document.close_list();
}

void add_files(Document& document, const Case& read) {
    document.add("files", read.files.size());
    document.open_list("read");
    for (std::size_t i = 0; i < std::min(read.files.size(), kShownFiles); ++i) {
        const CaseFile& file = read.files[i];
        document.open();
        document.add("file", file.name);
        document.add("host", file.host);
        document.add("kinds", kinds_text(file));
        document.add("lines", file.lines);
        document.add("unrecognised", file.unrecognised);
        document.close();
    }
    document.close_list();
}

}  // namespace

std::string place_text(const Case& read, const Place& place) {
    if (is_frame(read, place)) return fmt::format("{}, frame {}", read.files[place.file].name, place.line);
    return fmt::format("{}:{}", place.file < read.files.size() ? read.files[place.file].name : "", place.line);
}

std::string_view quote(const Case& read, const Place& place) {
    if (place.file >= read.quotes.size()) return {};
    const Quotes& quotes = read.quotes[place.file];
    const auto at = std::ranges::lower_bound(quotes, place.line, {}, &Quotes::value_type::first);
    if (at == quotes.end() || at->first != place.line) return {};
    std::string_view line = at->second;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line.substr(0, line.find_last_not_of(" \t") + 1);
}

std::string kinds_text(const CaseFile& file) {
    if (file.capture) return file.problem.empty() ? "capture" : fmt::format("capture, {}", file.problem);
    if (file.binary) return "no text";
    std::string text;
    for (const FileKind& kind : file.kinds)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", kind.name, kind.lines);
    if (file.unrecognised != 0)
        text += fmt::format("{}not recognised ({})", text.empty() ? "" : ", ", file.unrecognised);
    if (file.archive) text = fmt::format("archive: {} members", file.lines);
    if (file.cut) text += ", cut";
    if (!file.problem.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", file.problem);
    return text.empty() ? "empty" : text;
}

std::string head_text(const Verdict& verdict) {
    std::string text = fmt::format("party {}{}", name(verdict.party),
                                   verdict.host.empty() ? "" : fmt::format(", at {}", verdict.host));
    if (verdict.unrelated) text += "; unrelated to RDMA";
    else if (verdict.not_network) text += "; not the network";
    return text;
}

void append_document(std::string& out, transport::OutputFormat format, const Case& read, const Verdict& verdict) {
    Document document(format, out);
    document.open();
    document.add("schema", transport::kSchema);
    document.add("party", name(verdict.party));
    document.add("host", verdict.host);
    document.add("summary", head_text(verdict));
    document.add("not_the_network", verdict.not_network);
    document.add("unrelated_to_rdma", verdict.unrelated);
    add_claims(document, read, "findings", verdict.claims, kShownClaims);
    add_claims(document, read, "consequences", verdict.consequences, kShownFollowing);
    add_claims(document, read, "contradictions", verdict.contradictions, kShownFollowing);
    std::vector<std::string> open;
    for (const OpenQuestion& question : verdict.undecided)
        if (open.size() < kShownFollowing) open.push_back(question.text);
    document.add_texts("undecided", open);
    document.open_list("next_steps");
    for (std::size_t i = 0; i < std::min(verdict.next.size(), kShownSteps); ++i) {
        const NextStep& step = verdict.next[i];
        document.open();
        document.add("do", step.command);
        document.add("where", step.where);
        document.open_list("outcomes");
        for (const Outcome& outcome : step.outcomes) {
            if (outcome.means.empty()) continue;
            document.open();
            document.add("seen", outcome.seen);
            document.add("means", outcome.means);
            document.close();
        }
        document.close_list();
        document.close();
    }
    document.close_list();
    add_files(document, read);
    document.add("left_out", read.left_out);
    document.close();
}

}  // namespace qps::casework
