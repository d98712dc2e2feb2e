#include "decoding_as.hpp"

#include <CLI/CLI.hpp>
#include <dissect/parse_value.hpp>
#include <dissect/packet.hpp>
#include <dissect/pipeline.hpp>
#include <dissect/ulp/ulp.hpp>
#include <transport-replay/analysis/observation_batch.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>
#include <filesystem>

#include "decoding.hpp"
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

namespace {

// "3=nvme"
void take_hint(UlpHints& hints, const std::string& text) {
    const std::size_t equals = text.find('=');
    const auto uid = dissect::parse_decimal(std::string_view(text).substr(0, equals), std::numeric_limits<std::uint32_t>::max());
    if (equals == std::string::npos || !uid)
        throw CLI::ValidationError(fmt::format("invalid --decode-as '{}': expected CONNECTION=PROTOCOL, such as 3=nvme", text));
    const auto protocol = read_protocol(std::string_view(text).substr(equals + 1));
    if (!protocol) throw CLI::ValidationError(protocol.error());
    if (!hints.emplace(static_cast<std::uint32_t>(*uid), *protocol).second) throw CLI::ValidationError(fmt::format("conflicting --decode-as for connection {}: give one protocol", *uid));
}

// Files that are there the second time too.
bool can_be_read_twice(const Options& options) {
    std::error_code error;
    return options.interface.empty() && std::ranges::all_of(options.files, [&](const std::string& file) {
               return file != "-" && std::filesystem::is_regular_file(file, error);
           });
}

}  // namespace

void add_decode_as(CLI::App& app, Options& options) {
    app.add_option_function<std::vector<std::string>>(
           "--decode-as",
           [&options](const std::vector<std::string>& texts) {
               for (const std::string& text : texts) take_hint(options.hints, text);
           },
           "Decode a connection as this protocol: 3=nvme; " + protocol_words(true))
        ->delimiter(',')
        ->type_name("N=NAME")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

namespace {

constexpr std::uint64_t kBeginning = 2'000'000;  // packets: a second or two

// Reads the files through, up to so many packets; whether that was all.
bool read_through(const Options& options, Analysis& analysis, std::uint64_t most) {
    std::uint64_t packets = 0;
    for (const std::string& file : options.files) {
        auto input = Input::open(options, file);
        if (!input) continue;  // said when it is read again
        const Jobs jobs = jobs_for(options, *input);
        std::vector<ObservationBatch> parts(jobs.slots());
        const auto read = [&](Batch& batch) { return input->read(batch); };
        const auto work = [&](std::size_t slot, const Batch& batch) {
            Packet packet;
            parts[slot].clear();
            for (const Frame& frame : batch.frames) {
                decode(frame, packet);
                parts[slot].add(packet);
            }
        };
        const auto consume = [&](std::size_t slot) {
            parts[slot].follow(analysis, [](const Observation&, const PacketStory&, std::size_t) { return true; });
            packets += parts[slot].size();
            return packets < most;
        };
        run({read, work, consume}, jobs);
        if (packets >= most) return false;
    }
    return true;
}

// Set-ups tell of protocols too, also where no connection came about.
bool has_any(const transport::Timeline& timeline) {
    if (!timeline.ulp.conversations.empty()) return true;
    const UlpTracker words{{}};
    return std::ranges::any_of(timeline.cm.attempts,
                               [&](const CmAttempt& attempt) { return words.protocol_of(attempt) != UlpProtocol::none; });
}

}  // namespace

KnownBefore known_before(const Options& options, LookAhead look_ahead) {
    if (look_ahead == LookAhead::none || !can_be_read_twice(options)) return {options.hints, !options.hints.empty()};
    Analysis analysis({.hints = options.hints});
    const bool whole = read_through(options, analysis, look_ahead == LookAhead::all ? UINT64_MAX : kBeginning);
    const transport::Timeline timeline = analysis.finish();
    KnownBefore known{hints_of(timeline, whole), has_any(timeline)};
    for (const auto& [uid, said] : options.hints) known.hints.insert_or_assign(uid, said);
    return known;
}

}  // namespace qps::cli
