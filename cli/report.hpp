// What a reconstruction looks like: for programs (report_json.cpp), for people (report_table.cpp), and its findings
// (report_findings.cpp), which more than one command prints.
#pragma once

#include <transport-replay/timeline.hpp>

#include <string>
#include <vector>

#include "document.hpp"
#include "options.hpp"
#include "output.hpp"

namespace qps::cli {

inline constexpr int kSchema = 1;

// One report of the whole capture; connections and findings as far as the options want them.
void write_report(const Options& options, const transport::Timeline& timeline, Output& output);
void write_summary(const Options& options, const transport::Timeline& timeline, Output& output, bool color);

// Parts of it, each an object that the caller has opened.
void add_finding(Document& document, const transport::Finding& finding);
void add_attempt(Document& document, const transport::CmAttempt& attempt);
void add_join(Document& document, const transport::MulticastJoin& join);

// The findings for people, worst first, those of one id folded into one block.
void append_findings(std::string& out, const Options& options, const transport::Timeline& timeline, bool color);
// One of them.
void append_finding(std::string& out, const transport::Finding& finding, const transport::Timeline& timeline, bool color);

// Names of the inputs, as the user gave them.
[[nodiscard]] std::vector<std::string> input_names(const Options& options);

}  // namespace qps::cli
