// A program of a live endpoint that plays scripts with a device, one after another: what `conform` drives.
//
// It keeps the session with the device's agent and an agent over the endpoint's own adapter. Whatever an agent says is
// its client's to judge; one that cannot be reached makes the scripts that need it inconclusive, none at all not
// applicable.
#pragma once

#include <transport-replay/conformance/stage/stage.hpp>
#include <transport-replay/live/peers/program.hpp>

namespace qps::transport::conformance::stage {

struct ScriptProgramSettings {
    StageSettings stage;
    std::vector<const script::Script*> scripts;  // outlive the program
    std::string agent_host;                      // empty: there is no agent
    std::uint16_t agent_port = 0;
    std::string agent_secret{};  // that both know; empty: the agent asks for none
    // Called as each is over.
    std::function<void(const script::Script& script, ScriptOutcome outcome)> on_outcome;
};

// Fails where the agent's name is nobody's.
[[nodiscard]] std::expected<live::Program, std::string> make_script_program(ScriptProgramSettings settings);

}  // namespace qps::transport::conformance::stage
