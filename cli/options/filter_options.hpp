// Which packets of the inputs are looked at.
#pragma once

#include <cli/options/option_table.hpp>

#include <string>

namespace qps::cli {

struct FilterOptions {
    std::string text;   // display filter
    std::string since;  // a condition of packets, for a display filter; empty: all
    std::string until;  // likewise

    void add(OptionTable& table);
    // The display filter alone.
    void add_text(OptionTable& table, const std::string& meaning);
    [[nodiscard]] bool chooses() const { return !text.empty() || !since.empty() || !until.empty(); }
};

}  // namespace qps::cli
