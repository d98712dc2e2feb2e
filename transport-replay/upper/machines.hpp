// The machine of any upper protocol, as one value.
#pragma once

#include <transport-replay/upper/nvme_machine.hpp>
#include <transport-replay/upper/rpc_machine.hpp>
#include <transport-replay/upper/smb_machine.hpp>

#include <variant>

namespace qps::transport {

using UpperMachine = std::variant<std::monostate, NvmeMachine, RpcMachine, SmbMachine>;

}  // namespace qps::transport
