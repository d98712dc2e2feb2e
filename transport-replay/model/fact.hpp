// Fact: a named value of a finding, with its unit. Sentences, tables, JSON and judges read the same one.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace qps::transport {

// What a value measures: how people and programs write it follows from that.
enum class Unit : std::uint8_t {
    count,   // of what its name says
    number,  // that packets or settings have: a code, an exponent, a port
    psn,
    duration,  // ns
    bytes,
    bits_per_second,
    share,  // of a whole: 0 to 1
    end,    // a host and its queue pair
    host,   // an address
    word,   // one of few, which are ours
    text,   // of the capture or the user: escaped where it goes
    list,   // of such texts
    flag,   // true; a fact that is false is not there
};
inline constexpr std::array<std::string_view, 13> kUnitNames{
    "count", "number", "PSN", "ns", "bytes", "bit/s", "share", "end", "host", "word", "text", "list", "flag"};

struct FactRow {
    std::string_view name;  // snake_case; scripts depend on it
    Unit unit{};
    std::string_view meaning;  // a noun phrase for the catalogue
};

using Quantity = std::variant<std::monostate, bool, std::uint64_t, double, dissect::Duration, Endpoint, Address,
                              std::string, std::vector<std::string>>;

// A value where it is not 0: sentences leave out what did not happen.
template <class T> [[nodiscard]] std::optional<T> nonzero(T value) {
    return value == T{} ? std::optional<T>{} : std::optional<T>{value};
}

struct Fact {
    const FactRow* row;
    Quantity value;  // std::monostate: not known, and dropped

    template <class T> Fact(const FactRow& of, T&& known) : row(&of), value(quantity(std::forward<T>(known))) {}

private:
    template <class T> static Quantity quantity(T&& known) {
        using Known = std::remove_cvref_t<T>;
        if constexpr (std::same_as<Known, bool> || std::constructible_from<Quantity, Known>)
            return Quantity(std::forward<T>(known));
        else if constexpr (std::integral<Known>) return static_cast<std::uint64_t>(known);
        else if constexpr (std::same_as<Known, dissect::Psn>) return std::uint64_t{known.value()};
        else if constexpr (std::constructible_from<std::string, Known>) return std::string(known);
        else if constexpr (requires { *known; }) return known ? quantity(*std::forward<T>(known)) : Quantity{};
        else return static_cast<std::uint64_t>(std::to_underlying(known));
    }
};
using Facts = std::vector<Fact>;

// nullptr: that fact is not known.
[[nodiscard]] const Fact* find_fact(const Facts& facts, std::string_view name);
[[nodiscard]] inline const Fact* find_fact(const Facts& facts, const FactRow& row) {
    return find_fact(facts, row.name);
}

// Its number, whatever it counts or measures (ns of durations; 1 of a flag); nothing where it is not known or no
// number.
[[nodiscard]] std::optional<double> number_of(const Facts& facts, std::string_view name);

}  // namespace qps::transport
