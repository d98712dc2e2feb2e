// The machine of any upper protocol, as one value.
#pragma once

#include <transport-replay/ulp/ipoib_machine.hpp>
#include <transport-replay/ulp/iser_machine.hpp>
#include <transport-replay/ulp/lnet_machine.hpp>
#include <transport-replay/ulp/nvme_machine.hpp>
#include <transport-replay/ulp/rds_machine.hpp>
#include <transport-replay/ulp/rpc_machine.hpp>
#include <transport-replay/ulp/rsockets_machine.hpp>
#include <transport-replay/ulp/smb_machine.hpp>
#include <transport-replay/ulp/srp_machine.hpp>

#include <variant>

namespace qps::transport {

using UlpMachine = std::variant<std::monostate, NvmeMachine, RdsMachine, IpoibMachine, RsocketsMachine, LnetMachine,
                                IserMachine, SrpMachine, RpcMachine, SmbMachine>;

}  // namespace qps::transport
