#include <cli/options/choice.hpp>
#include <cli/options/output_options.hpp>
#include <cli/wrapped.hpp>

namespace qps::cli {

namespace {

constexpr std::array kWhens{NamedValue{"auto", ColorMode::automatic}, NamedValue{"always", ColorMode::always},
                            NamedValue{"never", ColorMode::never}};

}  // namespace

void OutputOptions::add_color(OptionTable& table) {
    add_choice(table.under(headings::kOutput), "--color", color, kWhens,
               "Use colours: auto, always or never (default: auto)");
}

void OutputOptions::add_format(OptionTable& table) {
    add_format(table, "Print as table, json, ndjson, csv or tsv (default: table)");
}

void OutputOptions::add_format(OptionTable& table, const std::string& meaning) {
    table.under(headings::kOutput)
        .add("-f,--format", "WORD", [this](const std::string& word) { take_format(word); }, meaning);
}

void OutputOptions::take_format(const std::string& word) { take_choice("--format", word, format, kOutputFormats); }

void OutputOptions::add_path(OptionTable& table) {
    table.under(headings::kOutput)
        .add("-o,--output", "FILE", path, "Write to FILE instead of stdout")
        .is(PathUse::written);
    table.check([this] {
        if (path.empty())
            if (const auto columns = terminal_width()) set_line_width(*columns);
        return std::string();
    });
}

OptionRow& add_saved(OptionTable& table, const std::string& names, std::string& path) {
    return table.under(headings::kOutput)
        .add(names, "FILE", path, "Write the packets to FILE: pcapng, or nanosecond pcap if it ends in .pcap")
        .is(PathUse::written);
}

}  // namespace qps::cli
