// Writes verdicts as documents.
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/figures.hpp>

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

void add_evidence(Document& document, const Case& read, const std::vector<Place>& places) {
    document.open_list("evidence");
    for (const Place& place : places) {
        document.open();
        document.add("file", read.files[place.file].name);
        document.add("line", place.line);
        if (const auto line = quote(read, place); !line.empty()) document.add("text", line);
        document.close();
    }
    document.close_list();
}

void add_claims(Document& document, const Case& read, std::string_view name, const std::vector<Claim>& claims,
                std::size_t most) {
    document.open_list(name);
    for (std::size_t i = 0; i < std::min(claims.size(), most); ++i) {
        const Claim& claim = claims[i];
        document.open();
        if (!claim.rule.empty()) {
            document.add("rule", claim.rule);
            document.add("weight", weight_name(claim.weight));
            document.add("host", claim.host);
        }
        document.add("claim", claim.text);
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
    return fmt::format("{}:{}", place.file < read.files.size() ? read.files[place.file].name : "", place.line);
}

std::string_view quote(const Case& read, const Place& place) {
    if (place.file >= read.quotes.size() || place.line == 0 || place.line > read.quotes[place.file].size()) return {};
    std::string_view line = read.quotes[place.file][place.line - 1];
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line.substr(0, line.find_last_not_of(" \t") + 1);
}

std::string kinds_text(const CaseFile& file) {
    if (file.capture) return "capture: see qpscope analyze";
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
    add_claims(document, read, "claims", verdict.claims, kShownClaims);
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
