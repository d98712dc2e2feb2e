// How many lines of a kind a log takes: strangers decide how often something happens, and must not fill a disk with it.
// Of each kind the first kBurst of a window are written, the rest are counted and summed up when the window is over.
//
// Two lines are of a kind if they differ in words with a digit alone (addresses, counts). Bounds: kMaxKinds; what is
// beyond them is of one kind.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace qps::cli {

class LineLimit {
public:
    static constexpr std::uint64_t kBurst = 100;  // more than any program says on purpose: perftest has 24 sizes
    static constexpr dissect::Duration kWindow{10'000'000'000};
    static constexpr std::size_t kMaxKinds = 64;  // programs have some twenty sentences

    // Whether it is to be written. What is not is counted.
    [[nodiscard]] bool admit(std::string_view line, dissect::Instant now);
    // "and 4,321 more like this in 10 s: LINE", of every window that is over; LINE is the last one left out.
    [[nodiscard]] std::vector<std::string> take_sums(dissect::Instant now);
    // The same of all windows, over or not: nothing more comes.
    [[nodiscard]] std::vector<std::string> take_all(dissect::Instant now);

private:
    struct Kind {
        dissect::Instant since{};
        std::uint64_t lines = 0;
        std::string last{};  // that was left out
    };
    [[nodiscard]] static std::string sum_of(const Kind& kind, dissect::Instant now);

    std::map<std::string, Kind> kinds_;
};

}  // namespace qps::cli
