// What commands print of a reconstruction, in the format that was asked for: for those that have it from captures, and
// for `merge`.
#pragma once

#include <cli/options.hpp>
#include <cli/output.hpp>

namespace qps::transport {
struct Timeline;
}

namespace qps::cli {

// The files of the options are the captures.
void show_analysis(const Options& options, const transport::Timeline& timeline, Output& output);
void show_findings(const Options& options, const transport::Timeline& timeline, Output& output);
void show_cm(const Options& options, const transport::Timeline& timeline, Output& output);
void show_fabric(const Options& options, const transport::Timeline& timeline, Output& output);

}  // namespace qps::cli
