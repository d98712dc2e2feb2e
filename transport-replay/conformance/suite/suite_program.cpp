#include <transport-replay/conformance/stage/played_program.hpp>
#include <transport-replay/conformance/suite/suite_program.hpp>

namespace qps::transport::conformance {

std::expected<SuiteProgram, std::string> make_suite_program(SuiteProgramSettings settings) {
    auto sessions = stage::AgentSessions::open(settings.agent_host, settings.agent_port, settings.agent_secret);
    if (!sessions) return std::unexpected(sessions.error());
    auto suite = std::make_unique<Suite>(std::move(settings.suite), (*sessions)->device(), (*sessions)->us());
    Suite* inside = suite.get();
    return SuiteProgram{live::Program(stage::PlayedProgram<Suite>(std::move(*sessions), std::move(suite))), inside};
}

}  // namespace qps::transport::conformance
