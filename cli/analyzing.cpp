// The way every command goes that reconstructs: decode side by side, analyse in order.
#include <cli/analyzing.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/filter_sets.hpp>
#include <cli/held_inputs.hpp>
#include <cli/message.hpp>
#include <cli/pace.hpp>
#include <dissect/capture/options.hpp>
#include <transport-replay/analysis/continuation.hpp>
#include <transport-replay/analysis/part_report.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/model/memory_amount.hpp>
#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cstdio>
#include <expected>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

// How the inputs are read.
struct Reading {
    AnalysisSettings known;  // before: of taps and ICRCs, by a log, what connections speak
    std::size_t lanes = 1;
    bool again = false;            // what is wrong with the inputs was said
    PartOf part{};                 // which pairs of hosts are followed
    PartReport* report = nullptr;  // where they go; nothing: a timeline is concluded
    std::uint64_t told = 0;        // the listener got the first so many packets in the reading before
};

// The analysis of all inputs, and who listens to it.
class Analyst {
public:
    Analyst(const ReadingOptions& options, const Listening& listening, Reading& reading)
        : options_(options),
          listening_(listening),
          analysis_(settings(std::move(reading.known)), reading.lanes, listening.packet || listening.placed,
                    reading.report != nullptr,
                    listening.lanes ? listening.lanes(reading.lanes) : std::vector<LaneListener>{}),
          told_(reading.told) {
        if (!can_be_read_twice(options.input) && (listening.names_connections || listening.meanwhile))
            analysis_.keep_numbers();
    }
    Analyst(const Analyst&) = delete;
    Analyst& operator=(const Analyst&) = delete;

    // As many packets as the user asked for have passed.
    [[nodiscard]] bool full() const { return options_.input.count != 0 && packets_ >= options_.input.count; }
    // What the lanes have counts for nothing.
    [[nodiscard]] bool over() const {
        return analysis_.over() || (analysis_.lanes() > 1 && listening_.over && listening_.over());
    }
    // Packets of which the listener has heard.
    [[nodiscard]] std::uint64_t told() const { return std::max(told_, taken_); }
    [[nodiscard]] std::size_t lanes() const { return analysis_.lanes(); }
    [[nodiscard]] std::size_t sieves() const { return analysis_.sieves(); }

    void sift(ShardedBatch& batch, std::size_t sieve) { analysis_.sift(batch, sieve); }
    void gate(ShardedBatch& batch) {
        if (options_.input.count != 0) batch.cut(options_.input.count - packets_);
        packets_ += batch.size();
        analysis_.gate(batch);
    }
    void follow(ShardedBatch& batch, std::size_t slot, std::size_t lane) { analysis_.follow(batch, lane, slot); }
    void take(ShardedBatch& batch, std::size_t slot) {
        const auto each = [&](const Observation& observation, const PacketRecord& record, std::size_t place) {
            if (listening_.placed) listening_.placed(slot, place, observation, record);
            if (listening_.packet) listening_.packet(observation, record);
            return true;
        };
        analysis_.visit(batch, each, listening_.after, told_ > taken_ ? told_ - taken_ : 0);
        if (!analysis_.over()) taken_ += batch.size();
    }
    // Every packet that passed was taken.
    [[nodiscard]] bool taken_all() const { return taken_ == packets_; }

    // What a live view shows.
    void pause() {
        const auto begun = Pace::Clock::now();
        if (!pace_.due(begun, packets_)) return;
        if (listening_.pause) listening_.pause();
        if (listening_.meanwhile) listening_.meanwhile(analysis_.so_far(drops_));
        pace_.shown(begun, Pace::Clock::now(), packets_);
    }

    void add(const Drops& drops) { drops_ += drops; }

    [[nodiscard]] const ShardedAnalysis& analysis() const { return analysis_; }
    void end_recording() { analysis_.end_recording(); }

    [[nodiscard]] transport::Timeline finish() {
        transport::Timeline timeline = analysis_.finish(drops_);
        tell_numbers();
        return timeline;
    }
    [[nodiscard]] PartReport finish_part() {
        PartReport report = analysis_.finish_part(drops_);
        tell_numbers();
        return report;
    }

private:
    void tell_numbers() const {
        if (!listening_.numbered) return;
        for (std::size_t lane = 0; lane < analysis_.lanes(); ++lane) listening_.numbered(lane, analysis_.numbers(lane));
    }
    AnalysisSettings settings(AnalysisSettings settings) {
        settings.icrc = options_.analysis.icrc;
        settings.unordered = options_.analysis.unordered;
        settings.message = listening_.message;
        settings.operation = listening_.operation;
        settings.retired = listening_.retired;
        return settings;
    }

    const ReadingOptions& options_;
    const Listening& listening_;
    ShardedAnalysis analysis_;
    Drops drops_;
    std::uint64_t packets_ = 0;
    std::uint64_t taken_ = 0;
    std::uint64_t told_ = 0;  // in the reading before
    Pace pace_{Pace::Clock::now()};
};

// Whether somebody prints while the capture is read, and cannot take it back.
bool prints_on_the_way(const Listening& listening) {
    if (listening.again) return false;
    return listening.packet || listening.message || listening.operation || listening.placed || listening.each;
}

constexpr std::size_t kMostOfLog = std::size_t{64} << 20;  // bytes: of a thousand ranks

// Packets may tell how many were lost right before them. The counters of interfaces have the same drops; those above
// them are the system's.
Drops with_told_drops(Drops drops, const std::vector<std::uint64_t>& told) {
    const std::uint64_t between = std::accumulate(told.begin(), told.end(), std::uint64_t{});
    const std::uint64_t counted = drops.dropped + drops.dropped_by_system;
    drops.known = drops.known || between != 0;
    if (between > counted) drops.dropped_by_system += between - counted;
    return drops;
}

// Whether the input is a piece of the same recording as those before it.
bool goes_on(const InputOptions& options, const Input& input, const ShardedAnalysis& analysis) {
    if (!analysis.last() || input.is_interface() || !can_be_read_twice(options)) return true;
    auto ahead = Input::open(options, input.number());
    return !ahead || continues(analysis, [&](Batch& batch) { return ahead->read(batch); });
}

// Nothing where several lanes needed more than there is; `reading` then knows what the listener has heard.
std::optional<Analyzed> analyze_once(const ReadingOptions& options, const Filter& filter, const Output& output,
                                     const Listening& listening, Reading& reading) {
    AnalysisSettings& known = reading.known;
    known.sums_apart = options.analysis.sums_apart;
    Analyzed analyzed;
    // A filter may need an analysis of every packet, also of those that it takes away; who shows what is known so far
    // needs a copy.
    const std::uint32_t analyses = 1U + (filter.needs_annotation() ? 1U : 0U) +
                                   (listening.meanwhile && !can_be_read_twice(options.input) ? 1U : 0U);
    known.memory = options.analysis.memory.part_of(analyses);
    analyzed.known = known.traits;
    Analyst analyst(options, listening, reading);
    std::optional<Annotator> annotator;
    if (filter.needs_annotation()) {
        AnalysisOptions of_filter = options.analysis;
        of_filter.memory = options.analysis.memory.part_of(analyses);
        annotator.emplace(known_settings(options.input, of_filter, look_ahead_for(filter)));
    }
    Input::SoFar so_far;  // of the inputs before
    std::uint64_t undecoded = 0;
    std::uint16_t files = 0;
    const auto each_input = [&](Input& input, Progress& progress) {
        const std::uint16_t file = std::exchange(files, static_cast<std::uint16_t>(files + input.files()));
        analyzed.any = true;
        if (analyst.full() || analyst.over()) return ExitCode::done;
        if (!goes_on(options.input, input, analyst.analysis())) {
            analyst.end_recording();
            if (annotator) annotator->end_recording();
        }
        input.go_on_from(so_far);
        input.wake_when_idle();
        if (listening.opened) listening.opened(input);
        const Jobs jobs = jobs_for(options.input, input);
        std::vector<ShardedBatch> parts(jobs.slots(), ShardedBatch(analyst.lanes(), reading.part));
        if (listening.slots) listening.slots(parts.size());
        std::vector<std::uint64_t> dropped(parts.size());  // by slot: as packets say
        const auto begin = [&](std::size_t slot) {
            parts[slot].clear();
            if (listening.begin) listening.begin(slot);
        };
        const auto each = [&](std::size_t slot, const Packet& packet) {
            parts[slot].add(packet, static_cast<std::uint16_t>(file + packet.frame.file));
            if (!packet.frame.options.empty()) dropped[slot] += dropped_before(packet.frame);
            if (listening.others && !parts[slot].follows_last()) listening.others(slot);
            else if (listening.each) listening.each(slot, packet);
        };
        // A listener that asks for decoded packets gets them.
        const auto straight = [&](std::size_t slot, const Frame& frame) {
            const auto places = parts[slot].add_straight(frame, static_cast<std::uint16_t>(file + frame.file));
            if (!places) return false;
            if (!frame.options.empty()) dropped[slot] += dropped_before(frame);
            if (listening.others && !parts[slot].follows_last()) listening.others(slot);
            else if (listening.straight) listening.straight(slot, frame, parts[slot].last(), *places);
            return true;
        };
        std::function<bool(std::size_t, const Frame&)> without_layers;
        if (!listening.each || listening.straight) without_layers = straight;
        const auto consume = [&](std::size_t slot) {
            analyst.take(parts[slot], slot);
            if (input.live()) analyst.pause();
            return !(analyst.full() && analyst.taken_all()) && !analyst.over() && output.ok();
        };
        std::function<void(const Batch&)> seen;
        if (listening.batch) seen = [&](const Batch&) { listening.batch(input); };
        const auto gate = [&](std::size_t slot) { analyst.gate(parts[slot]); };
        const auto sift = [&](std::size_t slot, std::size_t sieve) { analyst.sift(parts[slot], sieve); };
        const auto follow = [&](std::size_t slot, std::size_t lane) { analyst.follow(parts[slot], slot, lane); };
        decode_all(input, progress, jobs,
                   {filter, seen, begin, each, consume, annotator ? &*annotator : nullptr, gate, follow,
                    analyst.lanes(), true, sift, analyst.sieves(), without_layers});
        so_far = input.so_far();
        undecoded += input.undecoded().packets;
        analyst.add(with_told_drops(input.drops(), dropped));
        return output.ok() ? ExitCode::done : ExitCode::output_failed;
    };
    std::vector<std::string> incomplete;
    analyzed.code = for_each_input(options.input, each_input, reading.again, &incomplete);
    analyzed.frames = so_far.frames;
    reading.told = analyst.told();
    if (analyst.over()) return std::nullopt;
    if (reading.report != nullptr) *reading.report = analyst.finish_part();
    else analyzed.timeline = analyst.finish();
    analyzed.timeline.incomplete = std::move(incomplete);
    analyzed.timeline.undecoded = undecoded;
    if (analyst.over()) return std::nullopt;
    return analyzed;
}

// In as many lanes as asked for, or once more in one: who cannot take back what it heard then hears the rest.
Analyzed analyze_in_lanes(const ReadingOptions& options, const Filter& filter, const Output& output,
                          const Listening& listening, Reading reading) {
    const AnalysisSettings known = reading.known;
    if (auto several = analyze_once(options, filter, output, listening, reading)) return std::move(*several);
    reading.known = known;
    reading.lanes = 1;
    reading.again = true;
    if (listening.again) {
        listening.again();
        reading.told = 0;
    }
    return std::move(*analyze_once(options, filter, output, listening, reading));
}

// There are as many lanes as threads, where the inputs can be read again in one. Numbers of connections that the user
// names are those of the whole. A listener that copies packets with their interfaces takes each input once.
std::size_t lanes_for(const ReadingOptions& options, const Listening& listening) {
    if (listening.opened || listening.batch || !options.analysis.hints.empty() || !can_be_read_twice(options.input))
        return 1;
    return jobs_for(options.input).count;
}

}  // namespace

void leave_room_for_rows(ReadingOptions& options) {
    MemoryBudget& memory = options.analysis.memory;
    memory = beside(memory, bytes_beside(memory, Beside::printed));
}

std::expected<NcclLog, ExitCode> read_nccl_log_of(const ReadingOptions& options) {
    const std::string& file = options.analysis.nccl_log;
    if (file.empty()) return NcclLog{};
    const auto text = HeldInputs::of(options.input).contents(file, kMostOfLog);
    if (!text) {
        say("qpscope: {}\n", cannot_read(file, text.error()));
        return std::unexpected(ExitCode::unreadable);
    }
    if (text->empty()) {
        say("qpscope: {}: empty file\n", file);
        return std::unexpected(ExitCode::unreadable);
    }
    NcclLog log = read_nccl_log(*text);
    if (log.lines == 0) remark("qpscope: {}: no line of NCCL: expected the output of NCCL_DEBUG=INFO\n", file);
    if (log.malformed != 0) remark("qpscope: {}: {} of NCCL could not be read\n", file, counted(log.malformed, "line"));
    return log;
}

namespace {

// It reads the whole for the numbers of connections that the next reading names on the way. That one says what is
// wrong with the files.
FinalNumbers learn_numbers(const ReadingOptions& options, const Filter& filter, const Output& output,
                           AnalysisSettings& known) {
    const Hush hush;
    const Listening nobody;
    const auto read = [&] {
        return analyze_in_lanes(options, filter, output, nobody,
                                {.known = known, .lanes = lanes_for(options, nobody), .again = true})
            .timeline;
    };
    transport::Timeline whole = read();
    // An analysis that leaves packets out, as copies of a mirror, gives other numbers.
    if (whole.learned.any() && !interrupted()) {
        known.traits = std::move(whole.learned);
        whole = read();
    }
    return std::move(whole.numbers);
}

// The listener is told nothing more once its rows have to be made again anyway.
Listening while_there_is_room(const Listening& listening, Output& rows) {
    const auto as_long = [&rows]<class... Told>(const std::function<void(Told...)>& tell) {
        if (!tell) return tell;
        return std::function<void(Told...)>([&rows, &tell](Told... told) {
            if (!rows.let_go()) tell(told...);
        });
    };
    Listening heard = listening;
    heard.packet = as_long(listening.packet);
    heard.message = as_long(listening.message);
    heard.operation = as_long(listening.operation);
    heard.again = [&listening, &rows] {
        rows.restart();
        listening.again();
    };
    return heard;
}

}  // namespace

// A command that prints at the end, or can take back what it printed, reads the files again only where the first
// reading showed that it must.
Analyzed analyze(const ReadingOptions& options, const Filter& wanted_packets, const Output& output,
                 const Listening& listening) {
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
    AnalysisSettings known{.hints = options.analysis.hints, .nccl_log = std::move(*log)};
    const bool twice = can_be_read_twice(options.input);
    Output* const rows = twice && known.hints.empty() ? listening.rows : nullptr;
    Listening heard = rows != nullptr ? while_there_is_room(listening, *rows) : listening;
    if (rows == nullptr && listening.rows != nullptr) heard.again = nullptr;
    const bool on_the_way = prints_on_the_way(heard);
    if (rows != nullptr) {
        rows->hold(options.analysis.memory);
    } else if (twice && (listening.names_connections || !known.hints.empty())) {
        FinalNumbers numbers = learn_numbers(options, *filter, output, known);
        known.hints = by_given_numbers(known.hints, numbers);
        if (listening.names_connections) known.numbers = std::move(numbers);
    } else if (on_the_way) {
        known.traits = traits_before(options.input, options.analysis);
    }
    const auto read = [&](bool again) {
        return analyze_in_lanes(options, *filter, output, heard,
                                {.known = known, .lanes = lanes_for(options, heard), .again = again});
    };
    const auto read_again = [&](bool for_good) {
        const ExitCode code = analyzed.code;
        analyzed = {};
        if (heard.again) heard.again();
        if (for_good) {
            rows->release();
            heard.again = nullptr;
        }
        analyzed = read(true);
        analyzed.code = worse(analyzed.code, code);
    };
    analyzed = read(false);
    say_recordings(analyzed.timeline);
    if (on_the_way || !twice) return analyzed;
    if (!interrupted() && analyzed.timeline.learned.any()) {
        known.traits = std::move(analyzed.timeline.learned);
        read_again(false);
    }
    if (rows != nullptr && !interrupted() && (analyzed.timeline.numbers.any() || rows->let_go())) {
        known.numbers = std::move(analyzed.timeline.numbers);
        read_again(true);
    }
    if (rows != nullptr) rows->release();
    return analyzed;
}

Analyzed analyze_again(const ReadingOptions& options, const Filter& filter, const Output& output,
                       const Listening& listening, const Analyzed& first, bool said_before) {
    auto log = read_nccl_log_of(options);
    if (!log) {
        Analyzed failed;
        failed.code = log.error();
        return failed;
    }
    return analyze_in_lanes(options, filter, output, listening,
                            {.known = {.hints = by_given_numbers(options.analysis.hints, first.timeline.numbers),
                                       .traits = first.known,
                                       .numbers = first.timeline.numbers,
                                       .nccl_log = std::move(*log)},
                             .lanes = lanes_for(options, listening),
                             .again = said_before});
}

// What only the whole tells of taps and ICRCs is found out of the whole, where a first reading shows that there is
// anything to find.
Analyzed analyze_part(const ReadingOptions& options, const Filter& wanted_packets, const Output& output,
                      const Listening& listening, PartOf part, PartReport& report) {
    Analyzed analyzed;
    const auto filter = with_sets(options, wanted_packets, output);
    if (!filter) {
        analyzed.code = filter.error();
        return analyzed;
    }
    const auto read = [&](const CaptureTraits& traits, bool again) {
        return analyze_in_lanes(options, *filter, output, listening,
                                {.known = {.hints = options.analysis.hints, .traits = traits},
                                 .lanes = lanes_for(options, listening),
                                 .again = again,
                                 .part = part,
                                 .report = &report});
    };
    analyzed = read({}, false);
    const bool icrcs = options.analysis.icrc == IcrcPolicy::automatic && report.gate.quality.icrc_bad != 0;
    if (!analyzed.any || (!icrcs && !report.gate.learned.any()) || !can_be_read_twice(options.input) || interrupted())
        return analyzed;
    const ExitCode code = analyzed.code;
    const Analyzed whole = analyze(options, *filter, output, {});
    if (listening.again) listening.again();
    analyzed = read(whole.known, true);
    analyzed.code = worse(analyzed.code, code);
    return analyzed;
}

namespace {

// Whether the capture has the connections that were asked for by number; says which it lacks, and which made place for
// others.
ExitCode report_unknown(const AnalysisOptions& options, const transport::Timeline& timeline) {
    ExitCode code = ExitCode::done;
    const auto look_up = [&](ConnectionId uid) {
        if (timeline.find(uid) != nullptr) return;
        const bool was_there = std::to_underlying(uid) <= timeline.connections.size() + timeline.retired.connections;
        if (was_there && timeline.retired.connections != 0) {
            code = worse(code, ExitCode::unjudged);
            remark("qpscope: connection {} was not followed to its end: it made place for others (--memory)\n",
                   std::to_underlying(uid));
            return;
        }
        code = worse(code, ExitCode::usage);
        remark("qpscope: no such connection {}: this capture has {}\n", std::to_underlying(uid),
               counted(timeline.connections.size(), "connection"));
    };
    std::ranges::for_each(options.connections, look_up);
    return code;
}

}  // namespace

ExitCode say_unjudged(const transport::Timeline& timeline) {
    if (judged_all(timeline)) return ExitCode::done;
    remark("qpscope: not everything could be judged: {}\n", left_out_text(timeline));
    return ExitCode::unjudged;
}

ExitCode say_nothing_seen(const ReadingOptions& options, const transport::Timeline& timeline) {
    const bool chosen = options.filter.chooses() || !options.analysis.connections.empty();
    if (saw_anything(timeline) || chosen) return ExitCode::done;
    remark("qpscope: {}\n", kNothingSeen);
    return ExitCode::unjudged;
}

void say_recordings(const transport::Timeline& timeline) {
    if (timeline.recordings.empty()) return;
    remark("qpscope: the files are {} recordings that do not continue each other: each is judged by itself\n",
           timeline.recordings.size() + 1);
}

ExitCode finish(const AnalysisOptions& options, const Analyzed& analyzed, Output& output) {
    ExitCode code = output.closed() ? ExitCode::done : analyzed.code;
    if (analyzed.any && code == ExitCode::done) code = report_unknown(options, analyzed.timeline);
    // A damaged file in which no packet can be read has no result.
    const bool result = analyzed.any && code != ExitCode::usage && !(code == ExitCode::damaged && analyzed.frames == 0);
    if (analyzed.any) code = worse(code, say_unjudged(analyzed.timeline));
    const auto bad = [&](const Finding& finding) { return options.fail_on && finding.severity >= *options.fail_on; };
    if (std::ranges::any_of(analyzed.timeline.findings, bad)) code = worse(code, ExitCode::findings);
    return worse(code, finish(output, result));
}

void report_none(OutputFormat format, std::string_view what) {
    if (format == OutputFormat::table) remark("qpscope: no {}\n", what);
}

bool wanted(const AnalysisOptions& options, std::optional<ConnectionId> connection) {
    return is_wanted(options.connections, connection);
}

}  // namespace qps::cli
