#include <cli/options/reading_options.hpp>

#include <utility>

namespace qps::cli {

void ReadingOptions::add_captures(OptionTable& table, OutputOptions& output, std::function<bool()> needed) {
    input.add(table, std::move(needed));
    filter.add(table);
    output.add_color(table);
    input.add_progress(table);
}

void ReadingOptions::add_known(OptionTable& table) {
    analysis.add_decode_as(table);
    input.add_clocks(table);
    analysis.add_icrc(table);
    analysis.add_memory(table);
}

void ListingOptions::begin(OptionTable& table, std::function<bool()> needed) {
    reading.add_captures(table, output, std::move(needed));
    reading.analysis.add_connections(table);
}

void ListingOptions::known(OptionTable& table) {
    reading.analysis.add_fail_on(table);
    reading.add_known(table);
}

void ListingOptions::end(OptionTable& table) {
    output.add_path(table);
    reading.input.add_sandbox(table);
}

void ListingOptions::add(OptionTable& table) {
    begin(table);
    known(table);
    output.add_format(table);
    end(table);
}

}  // namespace qps::cli
