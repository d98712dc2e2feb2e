// What commands take that read captures and reconstruct what happened in them, as blocks that are handed on alone.
#pragma once

#include <cli/options/analysis_options.hpp>
#include <cli/options/filter_options.hpp>
#include <cli/options/input_options.hpp>
#include <cli/options/output_options.hpp>

#include <functional>

namespace qps::cli {

struct ReadingOptions {
    InputOptions input;
    FilterOptions filter;
    AnalysisOptions analysis;

    // Captures, which of their packets, and what the terminal shows; `needed` as InputOptions::add() has it.
    void add_captures(OptionTable& table, OutputOptions& output, std::function<bool()> needed = {});
    // What a reconstruction is told.
    void add_known(OptionTable& table);
};

// What commands take that list what was found in captures. A command with rows of its own adds them in between.
struct ListingOptions {
    ReadingOptions reading;
    OutputOptions output;

    void begin(OptionTable& table, std::function<bool()> needed = {});
    void known(OptionTable& table);  // --fail-on too
    void end(OptionTable& table);    // where it goes, and the sandbox
    void add(OptionTable& table);    // all of them, and --format
};

}  // namespace qps::cli
