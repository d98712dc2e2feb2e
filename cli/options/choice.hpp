// Kinds of options that several commands have: one of a few words, a number, a quantity. For the sources of this
// folder, and those of live/options: they alone read CLI11, which costs a source five seconds.
#pragma once

#include <CLI/CLI.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/model/finding.hpp>
#include <transport-replay/report/format.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace qps::cli {

template <class T> struct NamedValue {
    std::string_view name;
    T value;
};
inline constexpr std::array kOutputFormats{
    NamedValue{"table", transport::OutputFormat::table},   NamedValue{"json", transport::OutputFormat::json},
    NamedValue{"ndjson", transport::OutputFormat::ndjson}, NamedValue{"csv", transport::OutputFormat::csv},
    NamedValue{"tsv", transport::OutputFormat::tsv},
};

// One of a few words.
template <class T, std::size_t N>
void take_choice(std::string_view option, const std::string& text, T& target,
                 const std::array<NamedValue<T>, N>& choices) {
    const auto choice = std::ranges::find(choices, text, &NamedValue<T>::name);
    if (choice == choices.end()) {
        std::string all;
        for (const NamedValue<T>& each : choices) all += fmt::format("{}{}", all.empty() ? "" : ", ", each.name);
        throw CLI::ValidationError(fmt::format("invalid {} '{}': expected one of {}", option, text, all));
    }
    target = choice->value;
}

// Adds an option that takes one of a few words.
template <class T, std::size_t N>
void add_choice(CLI::App& app, const std::string& names, T& target, const std::array<NamedValue<T>, N>& choices,
                const std::string& description) {
    const auto take = [&target, &choices, names](const std::string& text) {
        take_choice(names.substr(names.rfind(',') + 1), text, target, choices);
    };
    app.add_option_function<std::string>(names, take, description)->type_name("WORD");
}

// Digits only, as far as 64 bits go.
inline std::string check_count(const std::string& text) {
    if (qps::dissect::parse_decimal(text)) return {};
    return fmt::format("invalid count '{}': expected a number", text);
}

// The number of a connection. A capture file in its place is what one types first.
inline std::string check_connection(const std::string& text) {
    if (qps::dissect::parse_decimal(text, std::numeric_limits<std::uint32_t>::max())) return {};
    return fmt::format("invalid connection '{}': expected a number (see qpscope connections)", text);
}

// An option whose text becomes a quantity, or a sentence that says why it does not.
template <class Quantity, class Read>
void add_quantity(CLI::App& app, const std::string& names, const std::string& type, Quantity& target,
                  const std::string& description, Read read) {
    app.add_option_function<std::string>(
           names,
           [&target, read](const std::string& text) {
               const auto quantity = read(text);
               if (!quantity) throw CLI::ValidationError(quantity.error());
               target = *quantity;
           },
           description)
        ->type_name(type);
}

}  // namespace qps::cli
