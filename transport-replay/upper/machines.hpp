// The machine of any upper protocol, as one value.
#pragma once

#include <transport-replay/upper/iser_machine.hpp>
#include <transport-replay/upper/nvme_machine.hpp>
#include <transport-replay/upper/srp_machine.hpp>

#include <variant>

namespace qps::transport {

using UpperMachine = std::variant<std::monostate, NvmeMachine, IserMachine, SrpMachine>;

}  // namespace qps::transport
