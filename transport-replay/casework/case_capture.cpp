// Analyses a capture of a case, and looks up lines of logs in it.
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/casework/case_capture.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/logs/log_candidates.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

namespace qps::casework {

namespace {

using transport::LogLine;

// What is read of the pieces goes into `made`: how many packets, and what is damaged.
transport::Timeline analysed(const std::vector<OpenPiece>& pieces, const transport::AnalysisSettings& settings,
                             CaseCapture& made) {
    transport::Analysis analysis(settings);
    transport::Observation observation;
    dissect::Packet packet;
    dissect::Batch batch;
    dissect::Drops drops;
    std::optional<dissect::Instant> start;
    std::uint64_t count = 0;
    made.pieces.clear();
    for (const OpenPiece& piece : pieces) {
        const std::uint64_t before = count;
        auto capture = piece.open();
        if (!capture) {
            made.problem = capture.error().sentence;
            continue;
        }
        while (capture->read(batch))
            for (dissect::Frame& frame : batch.frames) {
                frame.index = dissect::FrameIndex{++count};
                if (frame.has_time && !start) start = frame.time;
                if (frame.has_time) frame.elapsed = frame.time - *start;
                dissect::decode(frame, packet);
                transport::observe(packet, observation);
                analysis.observe(observation);
            }
        if (const dissect::InputProblem& why = capture->problem(); why.kind != dissect::InputProblemKind::none)
            made.problem = fmt::format("{} (at offset {}); what is before it was analysed", why.sentence, why.offset);
        drops += capture->drops();
        made.pieces.push_back({piece.file, before, count - before});
    }
    return analysis.finish(drops);
}

// What the line and the event that was read of it say of the connection: its second line may name the queue pairs.
LogLine line_of(const Event& event, std::string_view text) {
    LogLine line = transport::read_log_line(text);
    for (const auto& qpn : {event.qpn, event.peer_qpn})
        if (qpn && std::ranges::find(line.qpns, *qpn) == line.qpns.end()) line.qpns.push_back(*qpn);
    return line;
}

bool may_be_on_wire(const Event& event) {
    using enum EventKind;
    switch (event.kind) {
        case completion_error:
        case queue_pair_error:
        case setup_failed:
        case unreachable:
        case rejected:
        case transport_timeout: return true;
        default: return false;
    }
}

// The end whose queue pair the line calls its own; nothing where both have that number.
std::string own_address(const Event& event, const transport::Connection& connection) {
    const auto own = [&](const transport::Endpoint& end) { return event.qpn && end.qpn == event.qpn; };
    if (own(connection.ends[0]) == own(connection.ends[1])) return {};
    return transport::text(connection.ends[own(connection.ends[0]) ? 0 : 1].address);
}

std::optional<LineOnWire> on_wire(const Event& event, std::string_view text, const transport::Timeline& timeline,
                                  const CaseCapture& made) {
    const LogLine line = line_of(event, text);
    if (line.empty()) return std::nullopt;
    const auto time = transport::read_log_time(text, timeline.first.value_or(dissect::Instant{}));
    const auto moment = time ? transport::moment_of(*time, timeline) : std::nullopt;
    // A line that names its time, hours from the capture, is about something else.
    if (time && !moment && time->clock != transport::LogClock::boot) return std::nullopt;
    LineOnWire found;
    const auto place = [&](dissect::FrameIndex frame) { return place_of(made, frame); };
    const auto all = transport::candidates_for(line, timeline, moment);
    if (!all.empty() && all.front().named) {
        const transport::Connection* connection = timeline.find(all.front().connection);
        found.connection = std::to_underlying(connection->uid);
        found.frame = place(connection->first_frame());
        found.ends = fmt::format("{} and {}", transport::words::who(connection->ends[0]),
                                 transport::words::who(connection->ends[1]));
        found.reasons = all.front().reasons;
        found.alone = all.size() == 1 || all[1].weight < all.front().weight;
        found.own = own_address(event, *connection);
        return found;
    }
    const auto attempts = transport::attempt_candidates_for(line, timeline, moment);
    if (attempts.empty()) return std::nullopt;
    const auto attempt = std::ranges::find(timeline.cm.attempts, attempts.front().attempt, &transport::CmAttempt::uid);
    found.frame = place(attempt->first_frame);
    found.ends =
        fmt::format("{} and {}", transport::text(attempt->active.address), transport::text(attempt->passive.address));
    found.reasons = attempts.front().reasons;
    found.alone = attempts.size() == 1;
    return found;
}

}  // namespace

Place place_of(const CaseCapture& capture, dissect::FrameIndex frame) {
    const std::uint64_t number = std::to_underlying(frame);
    for (const CapturePiece& piece : capture.pieces)
        if (number > piece.before && number <= piece.before + piece.packets)
            return {piece.file, static_cast<std::uint32_t>(number - piece.before)};
    return {capture.file, static_cast<std::uint32_t>(number)};
}

std::string recording_of(std::string_view name) {
    static const RE2 dumpcap(R"(^(.*)_\d{5}_\d{14}(\.\w+(?:\.\w+)?)$)");
    static const RE2 tcpdump(R"(^(.*\.p?cap(?:ng)?)\d{0,4}(\.\w+)?$)");
    std::string begin, end;
    const re2::StringPiece text(name.data(), name.size());
    if (RE2::FullMatch(text, dumpcap, &begin, &end)) return begin + "_N" + end;
    if (RE2::FullMatch(text, tcpdump, &begin, &end)) return begin + "N" + end;
    return {};
}

CaseCapture read_case_capture(const std::vector<OpenPiece>& pieces, const Case& read, transport::MemoryBudget memory) {
    CaseCapture made{.file = pieces.front().file};
    transport::AnalysisSettings settings;
    settings.memory = memory;
    transport::Timeline timeline = analysed(pieces, settings, made);
    if (made.pieces.empty()) return made;  // none could be opened
    // Copies of taps and ICRCs of a NIC that leaves them out show in the whole alone.
    if (timeline.learned.any()) {
        settings.traits = std::move(timeline.learned);
        timeline = analysed(pieces, settings, made);
    }
    made.packets = timeline.packets;
    made.connections = timeline.connections.size() + timeline.retired.connections;
    made.totals = timeline.totals;
    for (const Event& event : read.events) {
        if (made.lines.size() == kMostMatched) break;
        if (!may_be_on_wire(event)) continue;
        const std::string_view text = quote(read, event.place);
        if (auto found = on_wire(event, text, timeline, made)) {
            found->line = event.place;
            made.lines.push_back(std::move(*found));
        }
    }
    for (transport::Finding& finding : timeline.findings) {
        if (finding.severity == transport::Severity::note) ++made.notes;
        else if (made.findings.size() == kMostCaptured) ++made.left_out;
        else made.findings.push_back(std::move(finding));
    }
    return made;
}

}  // namespace qps::casework
