// Failures in words: the script's line, what was expected, what came, each word that differs, and what went before.
#include <dissect/base/packet.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/conformance/stage/run.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using namespace dissect;

namespace {

constexpr std::size_t kShownBefore = 12;  // packets of the conversation before the failure

std::string time_text(Duration time) { return human_time(static_cast<double>(std::to_underlying(time)) * 1e-9); }

std::string row(std::string_view name, std::string_view text) { return fmt::format("    {:<10}{}\n", name, text); }

}  // namespace

Packet decoded(Bytes bytes) {
    Packet packet;
    Frame whole;
    whole.bytes = bytes;
    whole.wire_length = static_cast<std::uint32_t>(bytes.size());
    decode(whole, packet);
    return packet;
}

// The line that has its turn, without going on.
std::string Run::here() const {
    if (cursors_.empty()) return script_.files.front().name;
    const Cursor& cursor = cursors_.back();
    if (cursor.next >= cursor.block->size()) return script_.files.front().name;
    const script::SourcePosition& place = (*cursor.block)[cursor.next].place;
    return fmt::format("{}:{}", script_.files[place.file].name, place.line);
}

std::string Run::decoded_line(const live::ClaimedFrame& frame, const ScriptQp& qp, Sender sender) {
    return line_of(decoded(frame.bytes), qp, sender);
}

// What went to and from that queue pair until now; `came` is what failed. It is kept for pictures, and told in lines.
std::string Run::before_it(std::string_view name, const live::ClaimedFrame* came) {
    const auto qp = queue_pairs_.find(std::string(name));
    if (qp == queue_pairs_.end()) return {};
    std::vector<ExchangeStep> steps;
    for (auto each = outcome_.frames.rbegin(); each != outcome_.frames.rend() && steps.size() < kShownBefore; ++each) {
        const Packet packet = decoded(each->bytes);
        const bool ours = each->sender == Sender::us;
        if (!packet.has_transport() || packet.dest_qp != (ours ? qp->second.theirs : qp->second.ours)) continue;
        steps.push_back({.at = each->time - began_,
                         .way = ours ? ExchangeWay::to_device : ExchangeWay::from_device,
                         .wrong = !ours && came != nullptr && each->time == came->time &&
                                  each->bytes == came->bytes,  // of copies the last
                         .text = line_of(packet, qp->second, each->sender)});
        if (steps.back().wrong) came = nullptr;
    }
    std::ranges::reverse(steps);
    std::string text;
    for (const ExchangeStep& step : steps)
        text += fmt::format("      {:>12}  {} {}\n", time_text(step.at),
                            step.way == ExchangeWay::to_device ? "->" : "<-", step.text);
    std::ranges::move(steps, std::back_inserter(outcome_.exchange));
    return text.empty() ? text : "    so far, since the start of the script:\n" + text;
}

// The end of the exchange of a failure: what did not come.
void Run::note_missing(std::string expected) {
    std::ranges::stable_sort(outcome_.exchange, {}, &ExchangeStep::at);
    const std::size_t surplus = outcome_.exchange.size() - std::min(outcome_.exchange.size(), kMostExchange - 1);
    outcome_.exchange.erase(outcome_.exchange.begin(),
                            outcome_.exchange.begin() + static_cast<std::ptrdiff_t>(surplus));
    outcome_.exchange.push_back(
        {.at = now_ - began_, .way = ExchangeWay::missing, .wrong = false, .text = std::move(expected)});
}

void Run::fail_packet(std::string_view name, const script::PacketLine& packet, const Met& met,
                      const live::ClaimedFrame* came, const std::optional<Bounds>& bounds) {
    const ScriptQp& qp = queue_pairs_[std::string(name)];
    std::string wanted = packet.text;
    if (bounds && bounds->earliest) wanted += fmt::format(", not before {}", time_text(*bounds->earliest - event_));
    if (bounds) wanted += fmt::format(", within {}", time_text(bounds->latest - event_));
    std::string detail = row("expected", wanted);
    if (came != nullptr)
        detail += row("received", fmt::format("{}, after {}", decoded_line(*came, qp, Sender::device),
                                              time_text(came->time - event_)));
    std::string reason;
    for (const Difference& each : met.differences) {
        detail += row("differs", fmt::format("{}: expected {}, received {}", each.word, each.expected, each.came));
        reason += fmt::format("{}{} is {}, not {}", reason.empty() ? "" : "; ", each.word, each.came, each.expected);
    }
    if (met.early || met.late) {
        reason = met.early ? fmt::format("it arrived after {}, earlier than {}", time_text(met.time - event_),
                                         time_text(*bounds->earliest - event_))
                           : fmt::format("it arrived after {}, later than {}", time_text(met.time - event_),
                                         time_text(bounds->latest - event_));
        detail += row("differs", reason);
    }
    const std::string at = here();
    const std::string before = before_it(name, came);
    note_missing(wanted);
    end(Verdict::fail, fmt::format("{}: {}", at, reason), fmt::format("{}\n{}{}", at, detail, before));
}

void Run::fail_silent(std::string_view name, std::string_view expected, const Bounds& bounds) {
    const Duration waited = bounds.latest - event_;
    const std::string at = here();
    const std::string before = before_it(name), wanted = fmt::format("{}, within {}", expected, time_text(waited));
    note_missing(wanted);
    end(Verdict::fail, fmt::format("{}: no packet within {}, expected {}", at, time_text(waited), expected),
        fmt::format("{}\n{}{}{}", at, row("expected", wanted), row("received", "nothing"), before));
}

void Run::fail_unexpected(ScriptQp& qp, const live::ClaimedFrame& came, Duration lasting) {
    const std::string line = decoded_line(came, qp, Sender::device);
    const std::string at = here();
    end(Verdict::fail, fmt::format("{}: unexpected {}", at, line.substr(0, line.find(' '))),
        fmt::format("{}\n{}{}{}", at, row("expected", fmt::format("nothing at {} for {}", qp.name, time_text(lasting))),
                    row("received", fmt::format("{}, after {}", line, time_text(came.time - event_))),
                    before_it(qp.name, &came)));
}

void Run::fail_agent(const std::string& expected, const std::string& came, std::string reason) {
    const std::string at = here();
    std::string before;
    for (const auto& [name, qp] : queue_pairs_)
        if (!qp.management && qp.kind != script::EndKind::verbs) before += before_it(name);
    note_missing(fmt::format("{}; the agent says: {}", expected, came));
    end(Verdict::fail, fmt::format("{}: {}", at, reason),
        fmt::format("{}\n{}{}{}", at, row("expected", expected), row("came", came), before));
}

}  // namespace qps::transport::conformance::stage
