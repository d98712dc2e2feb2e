// Display filters that name sets of packets which only the whole capture tells (rdma.message, rdma.finding): the files
// are analysed once before, and the filter gets their frames. Fields of messages (rdma.message.frames) are known
// by the same reading.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/output.hpp>
#include <dissect/filter/filter.hpp>
#include <transport-replay/analysis/annotator.hpp>

#include <expected>

namespace qps::cli {

// `filter` as compile_filter() made it of the options, where it names no sets; else one that has them. Says why where
// it cannot.
[[nodiscard]] std::expected<dissect::Filter, ExitCode> with_sets(const ReadingOptions& options, dissect::Filter filter,
                                                                 const Output& output);

struct WholeCapture {
    dissect::Filter filter;
    transport::Annotator::More messages{};  // empty where nobody asks
};
// The same for who may show fields of messages: `fields`, or the filter, asks for them.
[[nodiscard]] std::expected<WholeCapture, ExitCode> with_whole_capture(const ReadingOptions& options,
                                                                       dissect::Filter filter, const Output& output,
                                                                       bool fields);

}  // namespace qps::cli
