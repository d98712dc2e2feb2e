// The machine of any upper protocol, as one value.
#pragma once

#include <transport-replay/upper/nvme_machine.hpp>

#include <variant>

namespace qps::transport {

using UpperMachine = std::variant<std::monostate, NvmeMachine>;

}  // namespace qps::transport
