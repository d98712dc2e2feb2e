// Kinds of options that several commands have: one of a few words, a number, a quantity.
#pragma once

#include <cli/options/option_table.hpp>
#include <cli/options/refuse.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/report/format.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
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
        refuse(fmt::format("invalid {} '{}': expected one of {}", option, text, all));
    }
    target = choice->value;
}

// A row whose value is one of a few words.
template <class T, std::size_t N>
OptionRow& add_choice(OptionTable& table, const std::string& names, T& target,
                      const std::array<NamedValue<T>, N>& choices, const std::string& meaning,
                      const std::string& type = "WORD") {
    return table.add(
        names, type,
        [&target, &choices, option = names.substr(names.rfind(',') + 1)](const std::string& text) {
            take_choice(option, text, target, choices);
        },
        meaning);
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

// What takes a word that becomes a value, or a sentence that says why it does not.
template <class Value, class Read> auto into(Value& target, Read read) {
    return [&target, read](const std::string& text) {
        auto value = read(text);
        if (!value) refuse(value.error());
        target = *std::move(value);
    };
}

}  // namespace qps::cli
