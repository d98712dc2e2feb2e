// Numbers and addresses as options of commands on a wire have them.
#pragma once

#include <cli/options/refuse.hpp>
#include <cli/quantity.hpp>
#include <dissect/base/parse_value.hpp>

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace qps::cli {

template <class T> T read_number(const std::string& text, T least, T most, std::string_view what) {
    const auto number = dissect::parse_number(text, most);
    if (!number || *number < least) refuse(fmt::format("invalid {} '{}': expected {} to {}", what, text, least, most));
    return static_cast<T>(*number);
}

inline transport::Address read_peer_address(const std::string& text) {
    const auto address = read_address(text);
    if (!address) refuse(fmt::format("invalid IP address '{}'", text));
    return *address;
}

// What takes a number between two others; `what` names it in the sentence.
template <class Number, class Value> auto number_into(Value& target, Number least, Number most, std::string_view what) {
    return
        [&target, least, most, what](const std::string& text) { target = Value{read_number(text, least, most, what)}; };
}

}  // namespace qps::cli
