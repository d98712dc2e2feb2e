#include <transport-replay/ulp/iser_protocol.hpp>
#include <transport-replay/ulp/message_libraries.hpp>
#include <transport-replay/ulp/nvme_protocol.hpp>
#include <transport-replay/ulp/protocols.hpp>
#include <transport-replay/ulp/rpc_protocol.hpp>
#include <transport-replay/ulp/sdp_protocol.hpp>
#include <transport-replay/ulp/smb_protocol.hpp>
#include <transport-replay/ulp/srp_protocol.hpp>

#include <array>

namespace qps::transport {

namespace {

constexpr std::array<std::uint16_t, 2> kNvmePorts{4420, 8009};      // I/O and discovery controllers
constexpr std::array<std::uint16_t, 2> kRdsServices{16385, 18634};  // of RDS over RDMA CM, and its TCP port of old
constexpr std::array<std::uint16_t, 1> kLnetServices{987};
constexpr std::array<std::uint16_t, 2> kIscsiPorts{3260, 860};  // IANA: iscsi-target, iscsi
constexpr std::array<std::uint16_t, 1> kRpcPorts{20049};        // RFC 5667 6
constexpr std::array<std::uint16_t, 2> kSmbPorts{445, 5445};    // of RoCE and InfiniBand, of iWARP

template <class Machine> UlpMachine fresh() { return Machine{}; }

// A protocol whose messages are decoded but not followed has no machine.
constexpr std::array kRows{
    ProtocolRow{.protocol = UlpProtocol::none},
    ProtocolRow{.protocol = UlpProtocol::nvme,
                .ports = kNvmePorts,
                .message = nvme::likeness,
                .private_data = nvme::is_own,
                .machine = fresh<NvmeMachine>,
                .operation_name = nvme::operation_name,
                .describe = nvme::describe,
                .status = nvme::status,
                .attempt = nvme::attempt},
    ProtocolRow{.protocol = UlpProtocol::iser,
                .ports = kIscsiPorts,
                .message = iser_protocol::likeness,
                .private_data = iser_protocol::private_data,
                .machine = fresh<IserMachine>,
                .operation_name = iser_protocol::operation_name,
                .describe = iser_protocol::describe,
                .status = iser_protocol::status},
    ProtocolRow{.protocol = UlpProtocol::srp,
                .message = srp_protocol::likeness,
                .private_data = srp_protocol::private_data,
                .machine = fresh<SrpMachine>,
                .operation_name = srp_protocol::operation_name,
                .describe = srp_protocol::describe,
                .status = srp_protocol::status,
                .attempt = srp_protocol::attempt},
    ProtocolRow{.protocol = UlpProtocol::rpc_rdma,
                .ports = kRpcPorts,
                .message = rpc_likeness,
                .private_data = is_rpc_private_data,
                .machine = fresh<RpcMachine>,
                .operation_name = rpc_operation_name,
                .describe = rpc_description,
                .status = rpc_status,
                .everyday = rpc_everyday},
    ProtocolRow{.protocol = UlpProtocol::smb_direct,
                .ports = kSmbPorts,
                .message = smb_likeness,
                .machine = fresh<SmbMachine>,
                .operation_name = smb_operation_name,
                .describe = smb_description,
                .status = smb_status,
                .everyday = smb_everyday},
    ProtocolRow{.protocol = UlpProtocol::rds,
                .ports = kRdsServices,
                .message = rds::likeness,
                .private_data = rds::is_private_data,
                .machine = fresh<RdsMachine>,
                .operation_name = rds::operation_name,
                .describe = rds::describe},
    ProtocolRow{.protocol = UlpProtocol::ipoib,
                .message = ipoib::likeness,
                .private_data = ipoib::is_private_data,
                .machine = fresh<IpoibMachine>,
                .operation_name = ipoib::operation_name,
                .describe = ipoib::describe},
    ProtocolRow{.protocol = UlpProtocol::rsockets,
                .private_data = rsockets::is_private_data,
                .machine = fresh<RsocketsMachine>,
                .operation_name = rsockets::operation_name,
                .describe = rsockets::describe},
    ProtocolRow{.protocol = UlpProtocol::lnet,
                .ports = kLnetServices,
                .message = lnet::likeness,
                .private_data = lnet::is_private_data,
                .machine = fresh<LnetMachine>,
                .operation_name = lnet::operation_name,
                .describe = lnet::describe,
                .status = lnet::status,
                .everyday = lnet::everyday,
                .attempt = lnet::attempt},
    ProtocolRow{.protocol = UlpProtocol::ucx, .message = message_libraries::ucx},
    ProtocolRow{.protocol = UlpProtocol::ucx_datagram, .message = message_libraries::ucx_datagram},
    ProtocolRow{.protocol = UlpProtocol::rxm, .message = message_libraries::rxm},
    ProtocolRow{.protocol = UlpProtocol::rxd, .message = message_libraries::rxd},
    ProtocolRow{.protocol = UlpProtocol::sdp, .private_data = sdp_protocol::private_data},
};
static_assert(kRows.size() == static_cast<std::size_t>(UlpProtocol::count_));
static_assert([] {
    for (std::size_t i = 0; i < kRows.size(); ++i)
        if (static_cast<std::size_t>(kRows[i].protocol) != i) return false;
    return true;
}());

}  // namespace

std::span<const ProtocolRow> protocol_rows() { return kRows; }

const ProtocolRow& row_of(UlpProtocol protocol) { return kRows[static_cast<std::size_t>(protocol)]; }

}  // namespace qps::transport
