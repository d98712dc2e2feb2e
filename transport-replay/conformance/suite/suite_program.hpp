// A program of a live endpoint that plays the suite: what `conform` drives where no script is named.
#pragma once

#include <transport-replay/conformance/suite/suite.hpp>
#include <transport-replay/live/peers/program.hpp>

namespace qps::transport::conformance {

struct SuiteProgramSettings {
    SuiteSettings suite;
    std::string agent_host;  // empty: there is no agent
    std::uint16_t agent_port = 0;
    std::string agent_secret{};  // that both know; empty: the agent asks for none
};

// The program, and the suite in it, which lives as long. Fails where the agent's name is nobody's.
struct SuiteProgram {
    live::Program program;
    Suite* suite;
};
[[nodiscard]] std::expected<SuiteProgram, std::string> make_suite_program(SuiteProgramSettings settings);

}  // namespace qps::transport::conformance
