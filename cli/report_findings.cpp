// The findings for people. What happened to many connections alike is one block, with the worst of them.
#include <cli/analyzing.hpp>
#include <cli/report.hpp>
#include <cli/tone.hpp>
#include <cli/wrapped.hpp>
#include <dissect/render_value.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;

namespace {

constexpr std::size_t kFindingIndent = 9;        // behind "warning  "
constexpr std::size_t kShownOfMany = 3;   // of findings of one id
constexpr std::size_t kNamedOfMany = 12;  // connections beyond them
constexpr std::size_t kFramesShown = 8;   // in a table; machine formats have all of the evidence

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
        text += fmt::format("{}{}", i == 0 ? (finding.packets.size() == 1 ? "frame " : "frames ") : ", ", frame_text(finding.packets[i], hosts));
    if (shown < finding.packets.size()) text += ", ...";
    if (const std::string when = when_text(finding); !when.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", when);
    if (const auto clause = clause_text(finding); !clause.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", clause);
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
    append_wrapped(out, std::string(kFindingIndent, ' '), kFindingIndent, rest.substr(std::min(rest.find_first_not_of(' '), rest.size())));
}

void append_finding_line(std::string& out, std::string_view words, std::size_t indent = kFindingIndent) {
    if (!words.empty()) append_wrapped(out, std::string(indent, ' '), indent, words);
}

void append_advice(std::string& out, const Finding& finding) {
    if (!finding.advice.empty()) append_wrapped(out, std::string(kFindingIndent, ' ') + "-> ", kFindingIndent + 3, finding.advice);
}

// Advice without what names hosts, queue pairs and amounts: words that are alike are one advice.
std::string kind_of_advice(std::string_view advice) {
    std::string kind;
    for (std::size_t at = 0; at < advice.size();) {
        const std::size_t end = std::min(advice.find(' ', at), advice.size());
        const std::string_view word = advice.substr(at, end - at);
        if (word.find_first_of("0123456789") == std::string_view::npos) kind += std::string(word) + ' ';
        at = end + 1;
    }
    return kind;
}

using Group = std::vector<const Finding*>;

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        std::string_view word = text.substr(at, end - at);
        while (word.size() > 1 && std::string_view(".,;:").contains(word.back())) word.remove_suffix(1);
        words.push_back(word);
        at = end + 1;
    }
    return words;
}

// A group has the advice of its first finding: whom that of the others names, "(likewise for 10.1.0.3 and 10.1.0.4)", where one host differs
// alone; else how many of them differ.
std::string also_named(const Group& group) {
    const auto first = words_of(group.front()->advice);
    std::vector<std::string_view> others;
    std::optional<std::size_t> place;
    std::size_t differing = 0;
    bool one_place = true;
    for (const Finding* finding : group) {
        if (finding->advice == group.front()->advice) continue;
        ++differing;
        const auto words = words_of(finding->advice);
        one_place = one_place && words.size() == first.size();
        for (std::size_t i = 0; one_place && i < words.size(); ++i) {
            if (words[i] == first[i]) continue;
            if (place && *place != i) one_place = false;
            place = i;
            if (std::ranges::find(others, words[i]) == others.end()) others.push_back(words[i]);
        }
    }
    if (differing == 0) return {};
    const bool hosts = std::ranges::all_of(others, [](std::string_view word) { return word.find_first_of(".:") != std::string_view::npos; });
    if (!one_place || !hosts || others.empty()) return fmt::format("(likewise for {}, with their hosts and numbers)", counted(differing, "more finding"));
    const std::size_t shown = std::min(others.size(), kNamedOfMany);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}{}", i == 0 ? "" : i + 1 == others.size() ? " and " : ", ", others[i]);
    return fmt::format("(likewise for {}{})", text, shown == others.size() ? "" : fmt::format(" and {} more", grouped(others.size() - shown)));
}

void append_group(std::string& out, Group group, const transport::Timeline& timeline, bool color) {
    // Most frequent first, else in the order of the timeline, whose elements they are.
    std::ranges::sort(group, [](const Finding* a, const Finding* b) { return a->count != b->count ? a->count > b->count : a < b; });
    const Finding& first = *group.front();
    std::uint64_t count = 0;
    for (const Finding* finding : group) count += finding->count;
    append_head(out, first,
                fmt::format("  {}, {} findings{}", party_name(first), grouped(group.size()), count == group.size() ? "" : times(count)),
                color);
    const std::size_t shown = std::min(group.size(), kShownOfMany);
    for (std::size_t i = 0; i < shown; ++i) {
        if (const std::string place = where(*group[i], timeline); !place.empty()) append_finding_line(out, place + times(group[i]->count));
        append_finding_line(out, group[i]->summary, kFindingIndent + 2);
        append_finding_line(out, evidence(*group[i], timeline.hosts), kFindingIndent + 2);
    }
    append_advice(out, first);
    append_finding_line(out, also_named(group), kFindingIndent + 3);
    if (shown == group.size()) return;
    std::string others = fmt::format("and {} more:", grouped(group.size() - shown));
    for (std::size_t i = shown; i < std::min(group.size(), shown + kNamedOfMany); ++i)
        others += group[i]->connection ? fmt::format(" #{}", std::to_underlying(*group[i]->connection)) : "";
    append_finding_line(out, others + (group.size() > shown + kNamedOfMany ? " ..." : ""));
}

}  // namespace

void append_finding(std::string& out, const Finding& finding, const transport::Timeline& timeline, bool color) {
    const std::string place = where(finding, timeline);
    append_head(out, finding, fmt::format("{}{}  {}{}", place.empty() ? "" : "  ", place, party_name(finding), times(finding.count)),
                color);
    append_finding_line(out, finding.summary);
    append_advice(out, finding);
    append_finding_line(out, evidence(finding, timeline.hosts));
}

void append_findings(std::string& out, const Options& options, const transport::Timeline& timeline, bool color) {
    // The order of the first of each id is the order of the blocks: findings come worst first. A block has one advice, so
    // what different parties can do something about, or what asks for something else, is not in one.
    std::vector<Group> groups;
    std::map<std::tuple<Severity, std::string_view, Party, std::string>, std::size_t> places;
    for (const Finding& finding : timeline.findings) {
        if (!wanted(options, finding.connection)) continue;
        const auto [place, is_new] = places.try_emplace({finding.severity, finding.id, finding.party, kind_of_advice(finding.advice)}, groups.size());
        if (is_new) groups.emplace_back();
        groups[place->second].push_back(&finding);
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i > 0) out += '\n';
        if (groups[i].size() == 1) append_finding(out, *groups[i].front(), timeline, color);
        else append_group(out, groups[i], timeline, color);
    }
}

std::string next_step(const Options& options, const transport::Timeline& timeline, const Output& output) {
    const bool asked = output.is_terminal() && options.format == OutputFormat::table && !options.markdown && !options.quiet;
    const bool all = options.filter.empty() && options.capture_filter.empty() && options.since.empty() && options.until.empty() && options.offsets.empty() &&
                     !options.by_time && !options.in_order && options.roce_ports.empty() && !options.uet_protocol;
    const bool again = options.interface.empty() && std::ranges::find(options.files, "-") == options.files.end();
    if (!asked || !all || !again || options.files.empty()) return {};
    const auto first = std::ranges::find_if(
        timeline.findings, [&](const Finding& finding) { return wanted(options, finding.connection) && !finding.packets.empty(); });
    if (first == timeline.findings.end()) return {};
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,=:@%";
    const std::string& name = options.files.front();
    const bool plain = options.files.size() == 1 && !name.starts_with('-') && name.find_first_not_of(kPlain) == std::string::npos;
    return fmt::format("\nnext: qpscope packets -Y 'rdma.finding == {}' {}\n", first->id, plain ? name : "FILE...");
}

}  // namespace qps::cli
