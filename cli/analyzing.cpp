// The way every command goes that reconstructs: decode side by side, analyse in order.
#include "analyzing.hpp"

#include <transport-replay/analysis/observation_batch.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cstdio>
#include <expected>
#include <fstream>
#include <optional>
#include <vector>

#include "decoding.hpp"
#include "filter_sets.hpp"
#include "decoding_as.hpp"
#include "message.hpp"
#include "pace.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

struct Ended {
    ConnectionId connection{};
    End requester{};
    Message message;
};

// The analysis of all inputs, and who listens to it.
class Analyst {
public:
    // What is known before: of taps and ICRCs, by a log.
    Analyst(const Options& options, const Listening& listening, AnalysisSettings known)
        : options_(options), listening_(listening), analysis_(settings(std::move(known))) {}
    Analyst(const Analyst&) = delete;
    Analyst& operator=(const Analyst&) = delete;

    [[nodiscard]] bool full() const { return options_.count != 0 && packets_ >= options_.count; }

    void take(const ObservationBatch& observations, std::size_t slot) {
        if (full()) return;
        observations.follow(analysis_, [&](const Observation& observation, const PacketRecord& record, std::size_t place) {
            ++packets_;
            if (listening_.placed) listening_.placed(slot, place, observation, record);
            if (listening_.packet) listening_.packet(observation, record);
            hand_on();
            if (listening_.after) listening_.after();
            return !full();
        });
    }

    // What a live view shows.
    void pause() {
        const auto begun = Pace::Clock::now();
        if (!pace_.due(begun, packets_)) return;
        if (listening_.pause) listening_.pause();
        if (listening_.meanwhile) listening_.meanwhile(analysis_.so_far(drops_));
        pace_.shown(begun, Pace::Clock::now(), packets_);
    }

    void add(const Drops& drops) { drops_ += drops; }

    [[nodiscard]] transport::Timeline finish() {
        transport::Timeline timeline = analysis_.finish(drops_);
        hand_on();
        return timeline;
    }

private:
    AnalysisSettings settings(AnalysisSettings settings) {
        settings.hints = options_.hints;
        settings.icrc = options_.icrc;
        if (listening_.message)
            settings.message = [this](ConnectionId connection, End requester, const Message& message) {
                ended_.push_back({connection, requester, message});
            };
        if (listening_.operation) settings.operation = [this](const UlpOperation& operation) { operations_.push_back(operation); };
        return settings;
    }
    void hand_on() {
        for (const Ended& each : ended_) listening_.message(each.connection, each.requester, each.message);
        ended_.clear();
        for (const UlpOperation& each : operations_) listening_.operation(each);
        operations_.clear();
    }

    const Options& options_;
    const Listening& listening_;
    std::vector<Ended> ended_;
    std::vector<UlpOperation> operations_;
    Analysis analysis_;
    Drops drops_;
    std::uint64_t packets_ = 0;
    Pace pace_{Pace::Clock::now()};
};

// Whether somebody prints while the capture is read, and cannot take it back.
bool prints_on_the_way(const Listening& listening) {
    if (listening.again) return false;
    return listening.packet || listening.message || listening.operation || listening.placed || listening.each;
}

constexpr std::size_t kMostOfLog = std::size_t{64} << 20;  // bytes: of a thousand ranks

// The log that --nccl-log names; says what of it could not be read.
std::expected<NcclLog, ExitCode> read_nccl_log_of(const Options& options) {
    if (options.nccl_log.empty()) return NcclLog{};
    std::ifstream file(options.nccl_log, std::ios::binary);
    if (!file) {
        say("qpscope: {}\n", cannot_read(options.nccl_log));
        return std::unexpected(ExitCode::unreadable);
    }
    std::string text;
    std::array<char, 65536> part{};
    while (file && text.size() < kMostOfLog) {
        file.read(part.data(), part.size());
        text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (text.empty()) {
        say("qpscope: {}: empty file\n", options.nccl_log);
        return std::unexpected(ExitCode::unreadable);
    }
    NcclLog log = read_nccl_log(text);
    if (options.quiet) return log;
    if (log.lines == 0) say("qpscope: {}: no line of NCCL: expected the output of NCCL_DEBUG=INFO\n", options.nccl_log);
    if (log.malformed != 0) say("qpscope: {}: {} of NCCL could not be read\n", options.nccl_log, counted(log.malformed, "line"));
    return log;
}

Analyzed analyze_once(const Options& options, const Filter& filter, const Output& output, const Listening& listening, AnalysisSettings known,
                      bool again) {
    Analyzed analyzed;
    // A filter may need an analysis of every packet, also of those that it takes away; who shows what is known so far needs a copy.
    const std::uint32_t analyses = 1U + (filter.needs_annotation() ? 1U : 0U) + (listening.meanwhile && !can_be_read_twice(options) ? 1U : 0U);
    known.memory = options.memory.part_of(analyses);
    analyzed.known = known.traits;
    Analyst analyst(options, listening, std::move(known));
    std::optional<Annotator> annotator;
    if (filter.needs_annotation()) {
        AnalysisSettings settings = known_settings(options, filter.needs_ulp() ? LookAhead::all : LookAhead::none);
        settings.memory = options.memory.part_of(analyses);
        annotator.emplace(std::move(settings));
    }
    std::uint64_t frames = 0;  // of the inputs before
    std::uint16_t files = 0;
    const auto each_input = [&](Input& input, Progress& progress) {
        const std::uint16_t file = files++;
        analyzed.any = true;
        if (analyst.full()) return ExitCode::done;
        input.number_from(frames);
        input.wake_when_idle();
        if (listening.opened) listening.opened(input);
        const Jobs jobs = jobs_for(options, input);
        std::vector<ObservationBatch> parts(jobs.slots());
        if (listening.slots) listening.slots(parts.size());
        const auto begin = [&](std::size_t slot) {
            parts[slot].clear();
            if (listening.begin) listening.begin(slot);
        };
        const auto each = [&](std::size_t slot, const Packet& packet) {
            parts[slot].add(packet, file);
            if (listening.each) listening.each(slot, packet);
        };
        const auto consume = [&](std::size_t slot) {
            analyst.take(parts[slot], slot);
            if (input.live()) analyst.pause();
            return !analyst.full() && output.ok();
        };
        std::function<void(const Batch&)> seen;
        if (listening.batch) seen = [&](const Batch&) { listening.batch(input); };
        decode_all(input, progress, jobs, {filter, seen, begin, each, consume, annotator ? &*annotator : nullptr});
        frames = input.last_number();
        analyst.add(input.drops());
        return output.ok() ? ExitCode::done : ExitCode::output_failed;
    };
    analyzed.code = for_each_input(options, each_input, again);
    analyzed.timeline = analyst.finish();
    return analyzed;
}

}  // namespace

// Who prints at the end only reads the files a second time where the first time showed that it must.
Analyzed analyze(const Options& options, const Filter& wanted_packets, const Output& output, const Listening& listening) {
    Analyzed analyzed;
    const auto filter = with_sets(options, wanted_packets, output);
    if (!filter) {
        analyzed.code = filter.error();
        return analyzed;
    }
    auto log = read_nccl_log_of(options);
    if (!log) {
        analyzed.code = log.error();
        return analyzed;
    }
    AnalysisSettings known{.nccl_log = std::move(*log)};
    const bool on_the_way = prints_on_the_way(listening);
    if (on_the_way) known.traits = traits_before(options);
    analyzed = analyze_once(options, *filter, output, listening, known, false);
    if (on_the_way || !analyzed.timeline.learned.any() || !can_be_read_twice(options) || interrupted()) return analyzed;
    const ExitCode code = analyzed.code;
    known.traits = std::move(analyzed.timeline.learned);
    analyzed = {};
    if (listening.again) listening.again();
    analyzed = analyze_once(options, *filter, output, listening, std::move(known), true);
    analyzed.code = worse(analyzed.code, code);
    return analyzed;
}

Analyzed analyze_again(const Options& options, const Filter& filter, const Output& output, const Listening& listening, const Analyzed& first,
                       bool said_before) {
    auto log = read_nccl_log_of(options);
    if (!log) {
        Analyzed failed;
        failed.code = log.error();
        return failed;
    }
    return analyze_once(options, filter, output, listening, {.traits = first.known, .nccl_log = std::move(*log)}, said_before);
}

namespace {

// Whether the capture has the connections that were asked for by number; says which it lacks, and which made place for others.
ExitCode report_unknown(const Options& options, const transport::Timeline& timeline) {
    ExitCode code = ExitCode::done;
    const auto look_up = [&](ConnectionId uid) {
        if (timeline.find(uid) != nullptr) return;
        const bool was_there = std::to_underlying(uid) <= timeline.connections.size() + timeline.retired.connections;
        if (was_there && timeline.retired.connections != 0) {
            code = worse(code, ExitCode::unjudged);
            if (!options.quiet)
                say("qpscope: connection {} was not followed to its end: it made place for others (--memory)\n", std::to_underlying(uid));
            return;
        }
        code = worse(code, ExitCode::usage);
        if (!options.quiet)
            say("qpscope: no such connection {}: this capture has {}\n", std::to_underlying(uid),
                       grouped(timeline.connections.size()));
    };
    std::ranges::for_each(options.connections, look_up);
    if (options.followed) look_up(ConnectionId{*options.followed});
    return code;
}

}  // namespace

ExitCode finish(const Options& options, const Analyzed& analyzed, Output& output) {
    ExitCode code = output.closed() ? ExitCode::done : analyzed.code;
    if (analyzed.any && code == ExitCode::done) code = report_unknown(options, analyzed.timeline);
    if (analyzed.any && !judged_all(analyzed.timeline)) code = worse(code, ExitCode::unjudged);
    const auto bad = [&](const Finding& finding) { return options.fail_on && finding.severity >= *options.fail_on; };
    if (std::ranges::any_of(analyzed.timeline.findings, bad)) code = worse(code, ExitCode::findings);
    return worse(code, finish(output));
}

void report_none(const Options& options, std::string_view what) {
    if (options.format == OutputFormat::table && !options.quiet) say("qpscope: no {}\n", what);
}

bool wanted(const Options& options, std::optional<ConnectionId> connection) { return is_wanted(options.connections, connection); }

}  // namespace qps::cli
