// What connections speak, told before their packets are read: by the user (--decode-as), or by a pass over files that
// are read twice, so that packets before the one that settled it are decoded too. Such a pass also knows which
// connection a flow turns out to be a part of.
#pragma once

#include <cli/options/analysis_options.hpp>
#include <cli/options/input_options.hpp>
#include <dissect/filter/filter.hpp>
#include <transport-replay/analysis/annotator.hpp>
#include <transport-replay/ulp/ulp_hints.hpp>

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace qps::cli {

// "nvme, iser, srp, ...": what users may type; with "none" or without.
[[nodiscard]] std::string protocol_words(bool with_none);
// Errors: a sentence with the words that there are.
[[nodiscard]] std::expected<transport::UlpProtocol, std::string> read_protocol(std::string_view word);

// How much of files is read through before their packets are decoded, to learn what their connections speak. Pipes and
// interfaces are read once.
enum class LookAhead {
    none,
    beginning,  // so much that one does not have to wait
    all,
};
// What a filter asks for may need all.
[[nodiscard]] LookAhead look_ahead_for(const dissect::Filter& filter);

struct KnownBefore {
    transport::UlpHints hints;  // by `numbers`
    transport::CaptureTraits traits;
    transport::FinalNumbers numbers;  // as far as was read
    bool any = false;                 // there is an upper protocol to decode
    bool numbered = false;            // the numbers are those of the end
};
// `last`: packets behind that frame are not shown. So numbers may be known before all was read: where no flow that
// began until then can turn out to be a part of another.
[[nodiscard]] KnownBefore known_before(const InputOptions& input, const AnalysisOptions& options, LookAhead look_ahead,
                                       dissect::FrameIndex last = dissect::FrameIndex{UINT64_MAX});
// For who follows the packets.
[[nodiscard]] transport::AnalysisSettings settings_of(KnownBefore known, const AnalysisOptions& options);

// What is said of connections by their numbers at the end, by those that they are given: as an analysis takes it.
[[nodiscard]] transport::UlpHints by_given_numbers(const transport::UlpHints& hints,
                                                   const transport::FinalNumbers& numbers);

// For commands that show packets without asking for annotations: who follows TCP, so that iWARP is decoded. A quick
// look at the beginning of the files decides whether one is needed, since it costs the threads; pipes and interfaces,
// which have one thread and are read once, always have it.
[[nodiscard]] std::optional<transport::Annotator> stream_annotator(const InputOptions& input);
// The same for who follows the packets.
[[nodiscard]] transport::AnalysisSettings known_settings(const InputOptions& input, const AnalysisOptions& options,
                                                         LookAhead look_ahead);

// Files that are there the second time too.
[[nodiscard]] bool can_be_read_twice(const InputOptions& input);
// What the beginnings of the files tell of taps and ICRCs, for commands that print while they read.
[[nodiscard]] transport::CaptureTraits traits_before(const InputOptions& input, const AnalysisOptions& options);

}  // namespace qps::cli
