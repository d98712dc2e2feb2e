// Display filters that name sets of packets which only the whole capture tells (rdma.message, rdma.finding): the files are analysed
// once before, and the sets become numbers of frames.
#pragma once

#include <dissect/filter/filter.hpp>

#include <expected>

#include "exit_code.hpp"
#include "options.hpp"
#include "output.hpp"

namespace qps::cli {

// `filter` as compile_filter() made it of the options, where it names no sets; else one that has them. Says why where it cannot.
[[nodiscard]] std::expected<dissect::Filter, ExitCode> with_sets(const Options& options, dissect::Filter filter, const Output& output);

}  // namespace qps::cli
