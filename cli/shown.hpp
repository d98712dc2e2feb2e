// What commands print of a reconstruction, in the format that was asked for: for those that have it from captures, and
// for `merge`.
#pragma once

#include <cli/options/reading_options.hpp>
#include <cli/output.hpp>

namespace qps::transport {
struct Timeline;
}

namespace qps::cli {

// The files of the options are the captures.
void show_analysis(const ListingOptions& options, const transport::Timeline& timeline, Output& output);
void show_findings(const ListingOptions& options, const transport::Timeline& timeline, Output& output);
void show_cm(const ListingOptions& options, const transport::Timeline& timeline, Output& output);
void show_fabric(const ListingOptions& asked, const transport::Timeline& timeline, Output& output);

}  // namespace qps::cli
