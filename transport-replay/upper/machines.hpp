// The machine of any upper protocol, as one value.
#pragma once

#include <transport-replay/upper/ipoib_machine.hpp>
#include <transport-replay/upper/iser_machine.hpp>
#include <transport-replay/upper/lnet_machine.hpp>
#include <transport-replay/upper/nvme_machine.hpp>
#include <transport-replay/upper/rds_machine.hpp>
#include <transport-replay/upper/rpc_machine.hpp>
#include <transport-replay/upper/rsockets_machine.hpp>
#include <transport-replay/upper/smb_machine.hpp>
#include <transport-replay/upper/srp_machine.hpp>

#include <variant>

namespace qps::transport {

using UpperMachine = std::variant<std::monostate, NvmeMachine, RdsMachine, IpoibMachine, RsocketsMachine, LnetMachine, IserMachine,
                                  SrpMachine, RpcMachine, SmbMachine>;

}  // namespace qps::transport
