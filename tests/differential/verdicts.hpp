// Captures before tshark and qpscope, and what nothing excuses.
#pragma once

#include <tests/parity/comparison.hpp>

#include <string_view>

namespace qps::test {

// The value of a variable of the environment, "" where it is not set.
[[nodiscard]] std::string variable(const char* name);

// Both lists of excuses; of the list of parity's what it says of the capture that a kind is like.
class AllExcuses {
public:
    AllExcuses()
        : parity_(read_excuses(read_text(QPSCOPE_SOURCE_DIR "/tests/parity/differences.txt"))),
          own_(read_excuses(read_text(QPSCOPE_SOURCE_DIR "/tests/differential/differences.txt"))) {}

    [[nodiscard]] bool excuse(const std::string& field, const std::string& name, std::string_view alike, Side side) {
        return own_.excuse(field, name, side) || parity_.excuse(field, name, side) ||
               (!alike.empty() && parity_.excuse(field, alike, side));
    }
    [[nodiscard]] const std::vector<std::string>& problems() const { return own_.problems; }
    [[nodiscard]] std::vector<std::string> stale() const { return own_.stale(); }

private:
    Excuses parity_, own_;
};

class Verdicts {
public:
    // `alike`: a capture of tests/parity whose excuses hold for this one too; "" for none.
    void compare(const Capture& capture, std::string_view alike = "");
    void report(std::string_view what) const;
    // Whether nothing differs without an excuse.
    [[nodiscard]] bool good() const { return unexcused_.empty() && excuses_.problems().empty(); }

    // Rows of differences.txt that excused nothing.
    [[nodiscard]] std::vector<std::string> stale() const { return excuses_.stale(); }

private:
    AllExcuses excuses_{};
    Comparison comparison_{QPSCOPE_PROGRAM};
    std::set<std::tuple<std::string, std::string, Side>> unexcused_{};
};

}  // namespace qps::test
