// The defendant: the program as users run it, and what it says of a capture.
#pragma once

#include <tests/court/recording.hpp>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace qps::court {

struct ClaimedEnd {
    std::string address;
    std::optional<std::uint32_t> qp;
    [[nodiscard]] bool operator==(const ClaimedEnd&) const = default;
};

enum class Severity : std::uint8_t { note, warning, error };

// A fact of a finding, by its name in JSON (docs/findings.md): durations in ns, shares from 0 to 1.
using ClaimedValue = std::variant<bool, double, std::string, std::vector<std::string>, ClaimedEnd>;

// One finding as it was printed.
struct Claim {
    std::string id;
    Severity severity{};
    std::string party;
    std::optional<std::array<ClaimedEnd, 2>> ends{};  // of its connection
    std::vector<std::size_t> frames;
    std::uint64_t count = 0;
    std::string sentence;
    std::string advice;
    std::map<std::string, ClaimedValue> facts{};
};

struct Testimony {
    std::vector<Claim> claims;
    std::string trouble;  // what went wrong when it was asked; "" for nothing
};

// Asks the program about each of the captures, several at a time. `make` is called in any thread, once for each number
// below `count`; what it returns is forgotten at once, unless QPSCOPE_COURT_KEEP names a folder: that keeps it as
// NAME.pcap.
[[nodiscard]] std::vector<Testimony> ask(std::size_t count, const std::function<Recording(std::size_t)>& make,
                                         const std::function<std::string(std::size_t)>& name);

// Every finding of captures that the program knows; what is drawn from logs and counters has its evidence in
// tests/case.
[[nodiscard]] std::vector<std::string> known_findings();

}  // namespace qps::court
