// The program of a live peer that is an agent: a row beside those of live/peers, which know nothing of conformance.
#pragma once

#include <transport-replay/live/peers/program.hpp>

namespace qps::transport::conformance::agent {

[[nodiscard]] const live::ProgramRow& agent_program();

}  // namespace qps::transport::conformance::agent
