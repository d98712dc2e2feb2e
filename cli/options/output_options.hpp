// Where results go, and what they look like.
#pragma once

#include <cli/options/option_table.hpp>
#include <transport-replay/report/format.hpp>

#include <string>

namespace qps::cli {

using transport::OutputFormat;
enum class ColorMode { automatic, always, never };

struct OutputOptions {
    OutputFormat format = OutputFormat::table;
    std::string path;  // empty: standard output
    ColorMode color = ColorMode::automatic;

    void add_color(OptionTable& table);
    void add_format(OptionTable& table);
    void add_format(OptionTable& table, const std::string& meaning);
    void take_format(const std::string& word);  // what --format says
    void add_path(OptionTable& table);
};

// The captures that commands write instead of printing.
OptionRow& add_saved(OptionTable& table, const std::string& names, std::string& path);

}  // namespace qps::cli
