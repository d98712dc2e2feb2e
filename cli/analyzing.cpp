// The way every command goes that reconstructs: decode side by side, analyse in order.
#include "analyzing.hpp"

#include <transport-replay/analysis/observation_batch.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "decoding.hpp"
#include "decoding_as.hpp"
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
    Analyst(const Options& options, const Listening& listening) : options_(options), listening_(listening), analysis_(settings()) {}
    Analyst(const Analyst&) = delete;
    Analyst& operator=(const Analyst&) = delete;

    [[nodiscard]] bool full() const { return options_.count != 0 && packets_ >= options_.count; }

    void take(const ObservationBatch& observations, std::size_t slot) {
        if (full()) return;
        observations.follow(analysis_, [&](const Observation& observation, const PacketStory& story, std::size_t place) {
            ++packets_;
            if (listening_.placed) listening_.placed(slot, place, observation, story);
            if (listening_.packet) listening_.packet(observation, story);
            hand_on();
            return !full();
        });
    }

    // What a live view shows.
    void pause() {
        const auto now = Clock::now();
        constexpr std::chrono::seconds kBetween{1};
        if (now - shown_ < kBetween) return;
        shown_ = now;
        if (listening_.pause) listening_.pause();
        if (!listening_.meanwhile) return;
        listening_.meanwhile(analysis_.so_far(drops_));
    }

    void add(const Drops& drops) { drops_ += drops; }

    [[nodiscard]] transport::Timeline finish() {
        transport::Timeline timeline = analysis_.finish(drops_);
        hand_on();
        return timeline;
    }

private:
    using Clock = std::chrono::steady_clock;

    AnalysisSettings settings() {
        AnalysisSettings settings{.hints = options_.hints};
        if (listening_.message)
            settings.message = [this](ConnectionId connection, End requester, const Message& message) {
                ended_.push_back({connection, requester, message});
            };
        if (listening_.operation)
            settings.operation = [this](const UlpOperation& operation) {
                operations_.push_back(operation);
            };
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
    Clock::time_point shown_ = Clock::now();
};

Drops drops_of(const Input& input) {
    if (input.file() != nullptr) return input.file()->drops();
    Drops drops;
    drops.known = true;
    drops.dropped_by_system = input.lost();
    return drops;
}

}  // namespace

Analyzed analyze(const Options& options, const Filter& filter, const Output& output, const Listening& listening) {
    Analyzed analyzed;
    Analyst analyst(options, listening);
    std::optional<Annotator> annotator;  // of every packet, also of those that the filter takes away
    if (filter.needs_annotation()) annotator.emplace(known_before(options, filter.needs_ulp() ? LookAhead::all : LookAhead::none).hints);
    std::uint64_t frames = 0;  // of the inputs before
    analyzed.code = for_each_input(options, [&](Input& input, Progress& progress) {
        analyzed.any = true;
        if (analyst.full()) return ExitCode::done;
        input.number_from(frames);
        input.wake_when_idle();
        const Jobs jobs = jobs_for(options, input);
        std::vector<ObservationBatch> parts(jobs.slots());
        if (listening.slots) listening.slots(parts.size());
        const auto begin = [&](std::size_t slot) {
            parts[slot].clear();
            if (listening.begin) listening.begin(slot);
        };
        const auto each = [&](std::size_t slot, const Packet& packet) {
            parts[slot].add(packet);
            if (listening.each) listening.each(slot, packet);
        };
        const auto consume = [&](std::size_t slot) {
            analyst.take(parts[slot], slot);
            if (input.live()) analyst.pause();
            return !analyst.full() && output.ok();
        };
        decode_all(input, progress, jobs, {filter, {}, begin, each, consume, annotator ? &*annotator : nullptr});
        frames = input.last_number();
        analyst.add(drops_of(input));
        return output.ok() ? ExitCode::done : ExitCode::output_failed;
    });
    analyzed.timeline = analyst.finish();
    return analyzed;
}

namespace {

// Whether the capture has the connections that were asked for by number; says which it lacks.
bool tell_unknown(const Options& options, const transport::Timeline& timeline) {
    bool known = true;
    const auto look_up = [&](ConnectionId uid) {
        if (timeline.find(uid) != nullptr) return;
        known = false;
        if (!options.quiet)
            fmt::print(stderr, "qpscope: no such connection {}: this capture has {}\n", std::to_underlying(uid),
                       grouped(timeline.connections.size()));
    };
    std::ranges::for_each(options.connections, look_up);
    if (options.followed) look_up(ConnectionId{*options.followed});
    return known;
}

}  // namespace

ExitCode finish(const Options& options, const Analyzed& analyzed, Output& output) {
    ExitCode code = output.closed() ? ExitCode::done : analyzed.code;
    if (analyzed.any && code == ExitCode::done && !tell_unknown(options, analyzed.timeline)) code = ExitCode::usage;
    const auto bad = [&](const Finding& finding) { return options.fail_on && finding.severity >= *options.fail_on; };
    if (std::ranges::any_of(analyzed.timeline.findings, bad)) code = worse(code, ExitCode::findings);
    return worse(code, finish(output));
}

void tell_none(const Options& options, std::string_view what) {
    if (options.format == OutputFormat::table && !options.quiet) fmt::print(stderr, "qpscope: no {}\n", what);
}

bool wanted(const Options& options, std::optional<ConnectionId> connection) { return is_wanted(options.connections, connection); }

}  // namespace qps::cli
