// Connection attempts on a terminal.
#include <cli/cm_text.hpp>
#include <cli/tone.hpp>
#include <cli/wrapped.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/figures.hpp>

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

constexpr std::size_t kCmIndent = 4;

void append_cm_line(std::string& out, std::string_view words) {
    if (!words.empty()) append_wrapped(out, std::string(kCmIndent, ' '), kCmIndent, words);
}

void append_ladder(std::string& out, const CmAttempt& attempt, bool color) {
    for (const CmRung& rung : attempt.ladder) {
        const std::string arrow = rung.from_active
                                      ? fmt::format("-- {:-<9}>", fmt::format("{} ", message_text(attempt, rung)))
                                      : fmt::format("<- {:-<9}-", fmt::format("{} ", message_text(attempt, rung)));
        const Instant first = attempt.ladder.front().time;
        std::string start = fmt::format("    {:>8}  {:>12}  {}", std::to_underlying(rung.frame),
                                        seconds_text(rung.time - first), arrow);
        const std::string remarks = remarks_text(rung);
        if (!remarks.empty()) start += "  ";
        std::string line;
        append_wrapped(line, start, start.size(), remarks, table_width());
        line.pop_back();
        append_toned(out, color ? tone_of(rung) : Tone::plain, line);
        out += '\n';
    }
}

// One line, but on a terminal that is narrower.
void append_heading(std::string& out, const CmAttempt& attempt, Instant start, bool color) {
    const std::string title = title_text(attempt);
    const std::string_view outcome = name(attempt.outcome);
    std::string words = fmt::format("{}  {}", title, outcome);
    if (const std::string setup = setup_text(attempt); !setup.empty()) words += ", " + setup;
    if (!attempt.ladder.empty()) words += fmt::format(", at {}", seconds_text(attempt.ladder.front().time - start));
    std::string heading;
    append_hanging(heading, words);
    const std::size_t place = heading.find(outcome, title.size());
    out.append(heading, 0, place);
    append_toned(out, color ? tone_of(attempt) : Tone::plain, outcome);
    out.append(heading, place + outcome.size());
}

}  // namespace

void append_attempt(std::string& out, const CmAttempt& attempt, Instant start, bool color) {
    append_heading(out, attempt, start, color);
    if (attempt.rejection) {
        append_cm_line(out, rejection_text(attempt));
        append_cm_line(out, private_data_text("REJ", attempt.rejection->private_data));
    }
    append_cm_line(out, ip_text(attempt));
    append_cm_line(out, fmt::format("{}", fmt::join(agreed_texts(attempt), ", ")));
    append_cm_line(out, private_data_text("active side", attempt.active.private_data));
    append_cm_line(out, private_data_text("passive side", attempt.passive.private_data));
    append_cm_line(out, remarks_text(attempt));
    append_ladder(out, attempt, color);
}

void append_joins(std::string& out, const CmReport& report, Instant start) {
    if (report.joins.empty()) return;
    out += "multicast groups\n";
    for (const MulticastJoin& join : report.joins)
        append_cm_line(out, fmt::format("{:>8}  {:>12}  {}", std::to_underlying(join.frame),
                                        seconds_text(join.time - start), join_text(join)));
    if (report.joins_dropped != 0) append_cm_line(out, fmt::format("and {} more", grouped(report.joins_dropped)));
}

}  // namespace qps::cli
