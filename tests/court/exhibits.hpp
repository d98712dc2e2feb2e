// The captures before the court: samples of captures/, those of a folder that the user names, those of the simulator.
#pragma once

#include <tests/court/recording.hpp>
#include <tests/simulator/simulation.hpp>

#include <string>

namespace qps::court {

struct Exhibit {
    std::string name;
    Recording recording;
};

// QPSCOPE_COURT_DIR: captures of this folder, instead of the samples; nothing of them is in known.txt.
inline constexpr const char* kFolderVariable = "QPSCOPE_COURT_DIR";
// QPSCOPE_COURT=all: every derivation, 1,000 seeds.
[[nodiscard]] bool everything_is_wanted();
[[nodiscard]] bool folder_is_given();

// The samples, or what the user has named.
[[nodiscard]] std::vector<Exhibit> exhibits();
// Those that were drawn for a finding each, named after it: "dscp-differs-0".
struct DrawnExhibit {
    std::string finding;
    Exhibit exhibit;
};
[[nodiscard]] std::vector<DrawnExhibit> drawn_exhibits();

[[nodiscard]] Recording recorded(const transport::Simulated& simulated);
// A scenario that the seed alone decides: traffic, faults, and a tap that misses nothing.
[[nodiscard]] transport::Scenario drawn_scenario(std::uint64_t seed);

}  // namespace qps::court
