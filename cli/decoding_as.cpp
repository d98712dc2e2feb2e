#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <dissect/base/packet.hpp>
#include <dissect/base/parse_value.hpp>
#include <dissect/packet/pipeline.hpp>
#include <dissect/ulp/ulp.hpp>
#include <transport-replay/analysis/observation_batch.hpp>
#include <transport-replay/analysis/part_report.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/model/numbering.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

std::string protocol_words(bool with_none) {
    std::string words;
    for (const UlpRow& row : ulp_rows()) {
        if (row.protocol == UlpProtocol::none && !with_none) continue;
        words += fmt::format("{}{}", words.empty() ? "" : ", ", row.word);
    }
    return words;
}

std::expected<UlpProtocol, std::string> read_protocol(std::string_view word) {
    if (const auto protocol = ulp_protocol(word)) return *protocol;
    return std::unexpected(fmt::format("invalid protocol '{}': expected one of {}", word, protocol_words(true)));
}

bool can_be_read_twice(const InputOptions& input) {
    std::error_code error;
    return input.interface.empty() && std::ranges::all_of(input.files, [&](const std::string& file) {
               return file != "-" && std::filesystem::is_regular_file(file, error);
           });
}

namespace {

constexpr std::uint64_t kBeginning = 2'000'000;  // packets: a second or two
constexpr std::uint64_t kQuickLook = 200'000;    // where only TCP is followed: hundredths of a second

// Reads the files through, up to so many packets of each, in batches of that kind, which are consumed in order; whether
// that was all.
template <class Batches>
bool read_through(const InputOptions& inputs, AnnotatorScope scope, std::uint64_t most, const Batches& empty,
                  const std::function<void(Batches&)>& consumed) {
    std::uint16_t number = 0;
    bool whole = true;
    for (std::size_t i = 0; i < Input::count(inputs); ++i) {
        std::uint64_t packets = 0;
        auto input = Input::open(inputs, i);
        if (!input) continue;  // said when it is read again
        const Jobs jobs = jobs_for(inputs, *input);
        std::vector<Batches> parts(jobs.slots(), empty);
        const auto read = [&](Batch& batch) {
            if (packets >= most || !input->read(batch)) return false;
            packets += batch.frames.size();
            return true;
        };
        const auto work = [&](std::size_t slot, const Batch& batch) {
            Packet packet;
            parts[slot].clear();
            for (const Frame& frame : batch.frames) {
                decode(frame, packet);
                if (scope == AnnotatorScope::all || find(packet, LayerKind::tcp) != nullptr)
                    parts[slot].add(packet, static_cast<std::uint16_t>(number + frame.file));
            }
        };
        const auto consume = [&](std::size_t slot) {
            consumed(parts[slot]);
            return true;
        };
        run({read, work, consume}, jobs);
        whole &= packets < most;
        number = static_cast<std::uint16_t>(number + input->files());
    }
    return whole;
}

// The highest number given to a connection that has packets up to frame `last`.
struct Begun {
    FrameIndex last{};
    ConnectionId number{};
};

bool read_through(const InputOptions& inputs, Analysis& analysis, AnnotatorScope scope, std::uint64_t most,
                  Begun& begun) {
    return read_through<ObservationBatch>(inputs, scope, most, ObservationBatch{}, [&](const ObservationBatch& batch) {
        batch.follow(analysis, [&](const Observation& observation, const PacketRecord& record, std::size_t) {
            if (record.connection && observation.frame <= begun.last)
                begun.number = std::max(begun.number, *record.connection);
            return true;
        });
    });
}
bool read_through(const InputOptions& inputs, Analysis& analysis, AnnotatorScope scope, std::uint64_t most) {
    Begun nobody;
    return read_through(inputs, analysis, scope, most, nobody);
}

// Whether what follows may give another number to a connection that was given that one or a lower: two flows among them
// are alone, or paired by nothing but that no others were left.
bool may_renumber(const transport::Timeline& timeline, ConnectionId last) {
    std::size_t alone = 0;
    for (std::uint32_t given = 1; given <= std::to_underlying(last); ++given) {
        ConnectionId number{given};
        End end{};
        timeline.numbers.settle(number, end);
        const Connection* connection = timeline.find(number);
        if (connection == nullptr) return true;
        if (timeline.numbers.is_part(ConnectionId{given})) continue;
        const bool guessed = connection->joined_by == JoinedBy::traffic && connection->matches == 0;
        if (guessed) return true;
        if (connection->joined_by == JoinedBy::nothing && ++alone == 2) return true;
    }
    return false;
}

// Whether the beginning has copies of packets or wrong ICRCs, without which nothing is learned of it: nobody's
// connections are followed.
bool may_learn(const InputOptions& input, const AnalysisOptions& options) {
    ShardedAnalysis analysis({.icrc = options.icrc, .memory = options.memory}, 1, false, true);
    read_through<ShardedBatch>(input, AnnotatorScope::all, kBeginning, ShardedBatch{1},
                               [&](ShardedBatch& batch) { analysis.gate(batch); });
    const PartReport report = analysis.finish_part();
    return report.gate.learned.any() || (options.icrc == IcrcPolicy::automatic && report.gate.quality.icrc_bad != 0);
}

// Set-ups tell of protocols too, also where no connection came about.
bool has_any(const transport::Timeline& timeline) {
    if (!timeline.ulp.conversations.empty() || !timeline.iwarp.conversations.empty()) return true;
    const UlpTracker words{{}};
    return std::ranges::any_of(timeline.cm.attempts, [&](const CmAttempt& attempt) {
        return words.protocol_of(attempt) != UlpProtocol::none;
    });
}

}  // namespace

LookAhead look_ahead_for(const Filter& filter) { return filter.needs_look_ahead() ? LookAhead::all : LookAhead::none; }

UlpHints by_given_numbers(const UlpHints& hints, const FinalNumbers& numbers) {
    if (hints.empty() || !numbers.any()) return hints;
    constexpr std::uint32_t kMost = FinalNumbers::kMost;  // of a number that the user typed
    const std::vector<ConnectionId> of =
        given_numbers(numbers, ConnectionId{std::min(std::prev(hints.end())->first, kMost)});
    UlpHints given;
    for (const auto& [uid, said] : hints) given.emplace(uid < of.size() ? std::to_underlying(of[uid]) : uid, said);
    return given;
}

KnownBefore known_before(const InputOptions& input, const AnalysisOptions& options, LookAhead look_ahead,
                         FrameIndex last) {
    if (look_ahead == LookAhead::none || !can_be_read_twice(input))
        return {.hints = options.hints, .traits = {}, .numbers = {}, .any = !options.hints.empty()};
    const std::uint64_t most = look_ahead == LookAhead::all ? UINT64_MAX : kBeginning;
    AnalysisSettings settings{.hints = options.hints, .icrc = options.icrc, .memory = options.memory};
    Analysis analysis(settings);
    Begun begun{.last = last};
    const bool whole = read_through(input, analysis, AnnotatorScope::all, most, begun);
    transport::Timeline timeline = analysis.finish();
    // Copies of other taps, and files that do not continue each other, make other connections of the same packets.
    const bool numbered = whole || (input.files.size() == 1 && !timeline.learned.any() &&
                                    timeline.retired.connections == 0 && !may_renumber(timeline, begun.number));
    KnownBefore known{.hints = hints_of(timeline, whole),
                      .traits = std::move(timeline.learned),
                      .numbers = std::move(timeline.numbers),
                      .any = has_any(timeline),
                      .numbered = numbered};
    // An analysis that leaves packets out, as copies of a mirror, gives other numbers; what the user says of
    // connections is by those of the end.
    if (whole && (known.traits.any() || (known.numbers.any() && !options.hints.empty()))) {
        settings.traits = known.traits;
        settings.hints = by_given_numbers(options.hints, known.numbers);
        Analysis again(settings);
        read_through(input, again, AnnotatorScope::all, most);
        timeline = again.finish();
        known.hints = hints_of(timeline, whole);
        known.numbers = std::move(timeline.numbers);
    }
    for (const auto& [uid, said] : options.hints) known.hints.insert_or_assign(uid, said);
    return known;
}

std::optional<Annotator> stream_annotator(const InputOptions& input) {
    if (!can_be_read_twice(input)) return Annotator({}, AnnotatorScope::streams);
    Analysis analysis;
    const bool whole = read_through(input, analysis, AnnotatorScope::streams, kQuickLook);
    const transport::Timeline timeline = analysis.finish();
    if (timeline.iwarp.conversations.empty()) return std::nullopt;
    return Annotator({.hints = by_given_numbers(hints_of(timeline, whole), timeline.numbers)}, AnnotatorScope::streams);
}

AnalysisSettings settings_of(KnownBefore known, const AnalysisOptions& options) {
    return {.hints = by_given_numbers(known.hints, known.numbers),
            .icrc = options.icrc,
            .traits = std::move(known.traits),
            .numbers = known.numbered ? std::move(known.numbers) : FinalNumbers{},
            .memory = options.memory};
}

AnalysisSettings known_settings(const InputOptions& input, const AnalysisOptions& options, LookAhead look_ahead) {
    return settings_of(known_before(input, options, look_ahead), options);
}

CaptureTraits traits_before(const InputOptions& input, const AnalysisOptions& options) {
    if (!can_be_read_twice(input) || !may_learn(input, options)) return {};
    Analysis analysis({.hints = options.hints, .icrc = options.icrc, .memory = options.memory});
    read_through(input, analysis, AnnotatorScope::all, kBeginning);
    return analysis.finish().learned;
}

}  // namespace qps::cli
