// Tally: what a passive check has seen so far: how much it looked at, what was wrong, what it could not decide. Of fixed size, so that
// nothing is allocated while packets come.
#pragma once

#include <transport-replay/checks/passive/passive_checks.hpp>
#include <transport-replay/checks/verdict.hpp>

#include <array>

namespace qps::transport::conformance {

struct Tally {
    struct Frames {
        std::uint64_t count = 0;
        std::array<dissect::FrameIndex, kMostEvidence> first{};
        std::uint8_t kept = 0;
        std::array<dissect::FrameIndex, 2> last{};  // 0: none: what was kept for the last of them

        // One event, which the packets prove; 0 is none.
        void add(dissect::FrameIndex one, dissect::FrameIndex other = {}) {
            ++count;
            last = {one, other};
            for (const dissect::FrameIndex frame : last)
                if (frame != dissect::FrameIndex{} && kept < first.size()) first[kept++] = frame;
        }
    };
    std::uint64_t examined = 0;
    Frames failures;
    Frames doubts;
    std::string words;  // instead of the row's; of checks that conclude at the end
};

class Tallies {
public:
    [[nodiscard]] Tally& operator[](Passive check) { return all_[std::to_underlying(check)]; }
    [[nodiscard]] const Tally& operator[](Passive check) const { return all_[std::to_underlying(check)]; }
    void look(Passive check, std::uint64_t count = 1) { (*this)[check].examined += count; }
    void fail(Passive check, dissect::FrameIndex frame, dissect::FrameIndex other = {}) { (*this)[check].failures.add(frame, other); }
    void doubt(Passive check, dissect::FrameIndex frame, dissect::FrameIndex other = {}) { (*this)[check].doubts.add(frame, other); }

private:
    std::array<Tally, kPassiveChecks> all_{};
};

}  // namespace qps::transport::conformance
