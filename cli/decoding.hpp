// The way every packet command goes: read batches, decode and filter them side by side, consume in order.
#pragma once

#include <cli/input.hpp>
#include <cli/options/filter_options.hpp>
#include <cli/output.hpp>
#include <cli/progress.hpp>
#include <dissect/base/packet.hpp>
#include <dissect/filter/filter.hpp>
#include <dissect/packet/pipeline.hpp>
#include <transport-replay/analysis/annotator.hpp>

#include <functional>
#include <optional>

namespace qps::cli {

// Threads for this input: what the user asked for, else one per processor up to sixteen; one where frames arrive live,
// so that each is shown at once.
[[nodiscard]] dissect::Jobs jobs_for(const InputOptions& options, const Input& input);
[[nodiscard]] dissect::Jobs jobs_for(const InputOptions& options);  // for files

// Whether a command can do with sets of packets in a filter (filter_sets.hpp): it asks with_sets() when its outputs are
// open, as analyze() does. with_fields: it also knows the fields of messages (with_whole_capture()).
enum class FilterSets { refused, taken, with_fields };

// `filter`, and what --since and --until of the options demand.
[[nodiscard]] std::string with_times(const FilterOptions& options, const std::string& filter);

// The display filter of the options; prints what is wrong with it and returns nothing where it does not compile. Sets
// in it are empty still.
[[nodiscard]] std::optional<dissect::Filter> compile_filter(const FilterOptions& options,
                                                            FilterSets sets = FilterSets::refused);

struct Decoding {
    const dissect::Filter& filter;
    std::function<void(const dissect::Batch& batch)> seen;  // the calling thread: a batch was read; may be empty
    std::function<void(std::size_t slot)> begin;            // any thread: a batch starts in this slot
    std::function<void(std::size_t slot, const dissect::Packet& packet)>
        each;                                       // any thread: a packet that the filter lets through
    std::function<bool(std::size_t slot)> consume;  // in order; false stops
    // Where the filter or what is printed needs annotations; everything is done in one thread then, in order. A command
    // has one for all its inputs: several files are pieces of one capture.
    transport::Annotator* annotator = nullptr;
    // Between `each` and `consume`, where there are lanes: see dissect::Stages.
    std::function<void(std::size_t slot)> gate{};
    std::function<void(std::size_t slot, std::size_t lane)> follow{};
    std::size_t lanes = 0;
    bool forgets = true;  // begin() forgets what each() was told of the slot
    std::function<void(std::size_t slot, std::size_t sieve)> sift{};
    std::size_t sieves = 0;
    // Before `each`, where the filter lets every packet through: whether the frame was taken as it is, so that it need
    // not be decoded. Any thread.
    std::function<bool(std::size_t slot, const dissect::Frame& frame)> straight{};
};

void decode_all(Input& input, Progress& progress, dissect::Jobs jobs, const Decoding& decoding);

// The exit code of an output at its end; prints a failure. A reader that went away is no failure. What a file had stays
// where there is no result to take its place.
[[nodiscard]] ExitCode finish(Output& output, bool result = true);

}  // namespace qps::cli
