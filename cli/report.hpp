// What a reconstruction looks like on a terminal: as a whole (report_table.cpp), and its findings
// (report_findings.cpp), which more than one command prints.
#pragma once

#include <cli/options/reading_options.hpp>
#include <cli/output.hpp>

#include <string>
#include <vector>

namespace qps::transport {
struct Finding;
struct Timeline;
}  // namespace qps::transport

namespace qps::cli {

// The whole capture; connections and findings as far as the options want them.
void write_summary(const ReadingOptions& options, const transport::Timeline& timeline, Output& output, bool color);

// What the connections carried, a paragraph a protocol; nothing where none is known.
void append_carried(std::string& out, const AnalysisOptions& options, const transport::Timeline& timeline);

// The findings for people, worst first, those of one id folded into one block.
void append_findings(std::string& out, const AnalysisOptions& options, const transport::Timeline& timeline, bool color);
// One of them.
void append_finding(std::string& out, const transport::Finding& finding, const transport::Timeline& timeline,
                    bool color);

// "next: qpscope packets -Y 'rdma.finding == go-back-n-loss' trace.pcap" for somebody at a terminal: the packets of the
// worst finding that names some. Nothing where that command would read other packets than this one did, or could not
// read them again.
[[nodiscard]] std::string next_step(const ListingOptions& options, const transport::Timeline& timeline,
                                    const Output& output);

// Names of the inputs, as the user gave them.
[[nodiscard]] std::vector<std::string> input_names(const InputOptions& options);
// The same in the order in which they were read, and their frames numbered.
[[nodiscard]] std::vector<std::string> names_as_read(const InputOptions& options);

}  // namespace qps::cli
