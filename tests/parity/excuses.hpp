// tests/parity/differences.txt: where tshark and qpscope may differ, and why. An excuse that excuses nothing is stale.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace qps::test {

// Which side has a value: both have one, but not the same, or one side alone. Or tshark does not read the capture at
// all.
enum class Side { both, ours, theirs, unreadable };

[[nodiscard]] std::string_view name(Side side);

struct Excuse {
    std::string field;
    std::vector<std::string> cases;  // captures; "*" is any
    Side side = Side::both;
    std::string reason;
    std::size_t line = 0;
    std::set<std::string> used;  // captures in which it was needed
};

struct Excuses {
    std::string tshark;  // the version that the list is about: "4.0"
    std::vector<Excuse> list;
    std::vector<std::string> problems;  // lines that are none

    // Whether a difference is excused; remembers that the excuse was needed.
    [[nodiscard]] bool excuse(std::string_view field, std::string_view name, Side side);
    // One sentence for each excuse that was not needed in a capture it names.
    [[nodiscard]] std::vector<std::string> stale() const;
};

[[nodiscard]] Excuses read_excuses(std::string_view text);

}  // namespace qps::test
