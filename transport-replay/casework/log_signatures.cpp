// Rows of log signatures. Formats as these sources print them: NVIDIA/nccl 2.3 to 2.30 (src/transport/net_ib*,
// ibvwrap.cc), openucx/ucx 1.4 to 1.19 (uct/ib/*_log.c), Linux 6.1 and 6.12 (drivers/infiniband, drivers/nvme), SPDK
// 18.10 to 25.09 (lib/nvmf/rdma.c, lib/nvme/nvme_rdma.c), libfabric, Open MPI 4 (btl/openib), MVAPICH2, PyTorch 2
// (ProcessGroupNCCL.cpp), sonic-swss (orchagent).
#include <transport-replay/casework/log_signatures.hpp>
#include <transport-replay/casework/notices.hpp>

#include <array>
#include <vector>

namespace qps::casework {

namespace {

using enum EventKind;

constexpr std::string_view kNccl = "NCCL log";
constexpr std::string_view kUcx = "UCX log";
constexpr std::string_view kKernel = "kernel log";
constexpr std::string_view kSpdk = "SPDK log";
constexpr std::string_view kMpi = "MPI log";
constexpr std::string_view kFabric = "libfabric log";
constexpr std::string_view kTorch = "PyTorch log";
constexpr std::string_view kSonic = "switch log";
constexpr std::string_view kVerbs = "verbs log";

// The first row that fits counts; notices come behind these, and words of any program behind them.
// clang-format off
constexpr std::array kFirst{
    // NCCL and RCCL: completions. One pattern for the forms of all versions; the status is decimal, the vendor error too.
    Signature{completion_error, kNccl, "ot completion", R"(Got completion (?:from peer (?P<peer>\S+) )?with (?:error |status=)(?:\w+\()?(?P<st>\d+)\)?,? opcode[ =](?:\w+\()?\d+\)?,? .*?vendor[_ ]err[ =](?P<vd>\d+)(?:.*?\((?P<op>Send|Recv|Flush|Unknown)\))?(?:.*?hca (?P<dev>\S+))?)"},
    Signature{work_request, kNccl, "Got CQE with error", R"(Got CQE with error .*qp_num=(?P<q>\d+))"},
    Signature{setup_failed, kNccl, "ibv_modify_qp failed", R"(Call to ibv_modify_qp failed with (?P<n>\d+) (?P<text>[^,]*), on dev (?P<dev>\S+?):(?P<port>\d+), curr state \S+, next state (?P<op>\w+)(?:.*remote GID (?P<peer>\S+))?)"},
    Signature{setup_failed, kNccl, "ibv_modify_qp", R"(Call to ibv_modify_qp failed(?: with error (?P<text>.*?)(?: errno (?P<n>\d+))?)?$)"},
    Signature{memory_refused, kNccl, "ibv_", R"(Call to ibv_(?P<op>reg_mr\w*|reg_dmabuf_mr|create_qp|create_cq|alloc_pd) failed(?: with error (?P<text>.*?)(?: errno (?P<n>\d+))?)?$)"},
    Signature{port_down, kNccl, "async", R"(NET/IB\w* ?:(?: (?P<dev>[\w.-]+):(?P<port>\d+))? Got (?:async|non-fatal async)(?: error)? event ?: (?P<text>port error))"},
    Signature{port_up, kNccl, "async", R"(NET/IB\w* ?:(?: (?P<dev>[\w.-]+):(?P<port>\d+))? Got (?:async|non-fatal async)(?: error)? event ?: (?P<text>port active))"},
    Signature{device_fatal, kNccl, "async", R"(NET/IB\w* ?:(?: (?P<dev>[\w.-]+):(?P<port>\d+))? (?:Got async(?: error)? event|async fatal event[^:]*) ?: (?P<text>(?:local )?(?:catastrophic error|device fatal.*)))"},
    Signature{queue_pair_error, kNccl, "async fatal", R"(NET/IB\w* ?:(?: (?P<dev>[\w.-]+):(?P<port>\d+))? async fatal event(?: on (?:QP|CQ) \(\S+\)(?: qpn=(?P<q>\d+))?.*?)?: (?P<text>.*))"},
    Signature{queue_pair_error, kNccl, "async", R"(NET/IB\w* ?:(?: (?P<dev>[\w.-]+):(?P<port>\d+))? Got async(?: error)? event ?: (?P<text>.*(?:QP|work queue|CQ).*))"},
    Signature{no_device, kNccl, "No device found", R"(NET/IB\w* ?: (?P<text>No device found))"},
    Signature{no_device, kNccl, "ailed to open libibverbs", R"((?P<text>Failed to open libibverbs\.so\S*))"},
    Signature{peer_closed, kNccl, "onnection closed", R"(Connection closed by remote peer (?P<peer>\S+))"},
    Signature{peer_closed, kNccl, "Call to recv from", R"(Call to (?:recv|send) (?:from|to) (?P<peer>\S+) failed ?:? ?(?P<text>.*))"},
    Signature{socket_failed, kNccl, "onnect", R"((?:[Cc]onnect(?:ion)? to |Call to connect to )(?P<peer>\S+) (?:failed|returned|\()(?P<text>.*))"},
    Signature{gpu_memory, kNccl, "out of memory", R"(Cuda failure.*?(?P<text>'out of memory'))"},
    Signature{gpu_error, kNccl, "Cuda failure", R"(Cuda failure.*?(?P<text>'.*'|\d+ '.*))"},
    Signature{remote_error, kNccl, ".cc:", R"(\S+:\d+ -> (?P<n>6)\b)"},
    Signature{remote_error, kNccl, ".cu:", R"(\S+:\d+ -> (?P<n>6)\b)"},
    Signature{remote_error, kNccl, ".c:", R"(\S+:\d+ -> (?P<n>6)\b)"},
    // UCX.
    Signature{completion_error, kUcx, "ransport retry count exceeded", R"((?P<text>[Tt]ransport retry count exceeded) on (?P<dev>[\w.-]+):(?P<port>\d+)/\w+ \(synd 0x[0-9a-fA-F]+ vend 0x(?P<vx>[0-9a-fA-F]+))", 12},
    Signature{completion_error, kUcx, "eceive-no-ready retry", R"((?P<text>Receive-no-ready retry count exceeded) on (?P<dev>[\w.-]+):(?P<port>\d+)/\w+ \(synd 0x[0-9a-fA-F]+ vend 0x(?P<vx>[0-9a-fA-F]+))", 13},
    Signature{completion_error, kUcx, "synd 0x", R"((?P<text>[A-Z][\w -]+?) on (?P<dev>[\w.-]+):(?P<port>\d+)/\w+ \(synd 0x(?P<sx>[0-9a-fA-F]+) vend 0x(?P<vx>[0-9a-fA-F]+))"},
    Signature{completion_error, kUcx, "Error on QP 0x", R"(Error on QP 0x(?P<qx>[0-9a-fA-F]+) wqe\[\d+\]: (?P<text>.*?) \(synd 0x(?P<sx>[0-9a-fA-F]+) vend 0x(?P<vx>[0-9a-fA-F]+)\) opcode (?P<op>\w+))"},
    Signature{work_request, kUcx, " wqe[", R"((?:RC|DCI|DC|UD|SRQ) QP 0x(?P<qx>[0-9a-fA-F]+) wqe\[\d+\]: (?P<op>\w+)(?:.*?\[rqpn 0x(?P<rqx>[0-9a-fA-F]+)(?:[^\]]*?\bdgid[= ](?P<peer>[0-9a-fA-F:.]+))?)?)"},
    Signature{completion_error, kUcx, "send completion with error", R"(send completion with error: (?P<text>.*?) \[qpn 0x(?P<qx>[0-9a-fA-F]+) .*vendor_err 0x(?P<vx>[0-9a-fA-F]+))"},
    Signature{port_down, {}, "PORT_ERR", R"(Async event (?:on (?P<dev>\S+): )?(?P<text>\S*PORT_ERR\S*|port error)(?: on port (?P<port>\d+))?)"},
    Signature{port_down, {}, "async event port error", R"(async event (?P<text>port error) (?:for|on) (?:context |device )?(?P<dev>[\w.-]+))"},
    Signature{port_up, {}, "async event port active", R"(async event (?P<text>port active) (?:for|on) (?:context |device )?(?P<dev>[\w.-]+))"},
    Signature{port_down, kSpdk, "port error", R"(Async event: (?P<text>port error))"},
    Signature{port_up, kSpdk, "port active", R"(Async event: (?P<text>port active))"},
    Signature{port_down, kUcx, "port error", R"(IB Async event on (?P<dev>\S+): (?P<text>port error) on port (?P<port>\d+))"},
    Signature{queue_pair_error, kUcx, "IB Async event", R"(IB Async event on (?P<dev>\S+): (?P<text>.*?) on QPN 0x(?P<qx>[0-9a-fA-F]+))"},
    Signature{transport_timeout, kUcx, "unhandled timeout", R"((?P<op>UD) endpoint \S+ to (?P<peer>.*?): (?P<text>unhandled timeout error))"},
    Signature{watchdog, kUcx, "Endpoint timeout", R"((?P<text>Endpoint timeout))"},
    Signature{setup_failed, kUcx, "error modifying QP", R"(error modifying QP to (?P<op>\w+): (?P<text>.*))"},
    Signature{setup_failed, kUcx, "ibv_create_ah", R"(ibv_create_ah\(.*failed: (?P<text>.*))"},
    Signature{unreachable, kUcx, "RDMA_CM_EVENT", R"(got error event (?P<text>RDMA_CM_EVENT_UNREACHABLE).*\((?P<n>-?\d+)\))"},
    Signature{rejected, kUcx, "RDMA_CM_EVENT", R"(got error event (?P<text>RDMA_CM_EVENT_REJECTED).*\((?P<n>-?\d+)\))"},
    Signature{address_unresolved, kUcx, "RDMA_CM_EVENT", R"(got error event (?P<text>RDMA_CM_EVENT_(?:ADDR|ROUTE)_ERROR).*\((?P<n>-?\d+)\))"},
    Signature{memory_refused, kUcx, "ibv_", R"((?:ibv_(?P<op>reg_mr|create_qp|create_cq|create_srq|reg_dmabuf_mr)|mlx5dv_\w+)\(.*failed: (?P<text>.*))"},
    // Completions of other producers.
    Signature{completion_error, kKernel, " QP ", R"((?P<dev>[\w.-]+)/(?P<port>\d+): QP (?P<q>\d+) error: (?P<text>.*?) \(0x(?P<vx>[0-9a-f]+) 0x)"},
    Signature{completion_error, kKernel, "WC error", R"(infiniband (?P<dev>\S+): .*WC error: (?P<st>\d+), Message: (?P<text>.*))"},
    Signature{completion_error, kKernel, "for CQE", R"((?P<op>SEND|RECV|MEMREG|LOCAL_INV|SIG|ASYNC|RDMA READ|RDMA WRITE|\w+) for CQE(?: 0x\S+)? failed with status (?P<text>.*?) \((?P<st>\d+)\))"},
    Signature{completion_error, kSpdk, "Error on CQ", R"(Error on CQ 0x\S+, .*?type (?P<op>\w+), status: \((?P<st>\d+)\): (?P<text>.*))"},
    Signature{completion_error, kSpdk, "CQ error on", R"(CQ error on (?:CQ|Queue Pair) 0x\S+, (?:Request|Response Index) \S+ \((?P<st>\d+)\): (?P<text>.*))"},
    Signature{completion_error, kSpdk, "WC error", R"(WC error, .*?status: \((?P<st>\d+)\): (?P<text>.*))"},
    Signature{completion_error, kMpi, "error polling", R"(from (?P<host>\S+) to: (?P<peer>\S+) error polling .*?with status (?P<text>.+?) status number (?P<st>\d+))"},
    Signature{completion_error, kMpi, "Got completion with error", R"(Got completion with error (?P<st>\d+), vendor code=0x(?P<vx>[0-9a-fA-F]+), dest rank=(?P<peer>\d+))"},
    Signature{completion_error, kMpi, "wc.status", R"(Msg from (?P<peer>\d+): wc.status=(?P<st>\d+)(?: \((?P<text>.*?)\))?)"},
    Signature{completion_error, kVerbs, "Failed status", R"(Failed status (?P<st>\d+): wr_id \d+ syndrom 0x(?P<vx>[0-9a-fA-F]+))"},
    Signature{completion_error, kVerbs, "CQE ERROR", R"(CQE ERROR wr_id=\S+ status=(?P<st>\d+)\((?P<text>.*?)\).*vendor_err=0x(?P<vx>[0-9a-fA-F]+) qp_num=0x(?P<qx>[0-9a-fA-F]+))"},
    Signature{completion_error, kVerbs, "Process failed for slice", R"(Process failed for slice \(opcode: (?P<op>\d+).*local_nic: (?P<dev>[^,]+), peer_nic: (?P<peer>[^,]+),.*\): (?P<text>.*))"},
    Signature{completion_error, kVerbs, "completion failed", R"((?:cq|CQ|wc|poll) ?completion failed,? ?(?:with )?(?:wc )?status[ :=]+(?P<st>\d+))"},
    Signature{completion_error, kKernel, "RDS/IB", R"(RDS/IB: (?P<op>send|recv) completion on <(?P<peer>[^>]*)> had status (?P<st>\d+) \((?P<text>.*?)\), vendor err 0x(?P<vx>[0-9a-f]+))"},
    Signature{completion_error, kKernel, "vend_err", R"((?P<op>\w+) (?:failure: (?P<text>.*?) \((?P<st>\d+)\)|event \(status=(?P<stb>\d+), wrid=\d+) vend_err (?:0x)?(?P<vx>[0-9a-f]+))"},
    Signature{completion_error, kKernel, "ib_srp", R"(ib_srp\w*: failed (?P<op>\w+) status (?P<text>.*?) \((?P<st>\d+)\))"},
    Signature{completion_error, kKernel, "LNetError", R"((?:Tx -> |Rx from )(?P<peer>\S+).*failed: (?P<st>\d+))"},
    Signature{completion_error, kKernel, "smb_direct", R"((?:Recv|Send|read/write) error\..*status ?= ?'?(?P<text>.*?) ?\((?P<st>\d+)\))"},
    Signature{completion_error, kKernel, "wc->status", R"(wc->status=(?P<st>\d+) wc->opcode=(?P<op>\d+))"},
    Signature{completion_error, kKernel, "non-flush error", R"((?P<dev>[\w.-]+): qp#(?P<q>\d+) .*non-flush error status = (?P<st>\d+))"},
    Signature{completion_error, kVerbs, "IBV_WC_", R"((?P<text>IBV_WC_\w+_ERR))"},
    Signature{completion_error, kVerbs, "status", R"((?:wc|work completion|WC)[ ._]?status:? ?[=(]?(?P<st>\d+)\)?(?:[ :,(]+(?P<text>[A-Za-z][\w -]+))?)"},
    Signature{completion_error, kFabric, "prov_err", R"(err: \d+, message: (?P<text>.*?) (?:My EFA addr|\[).*Peer EFA addr: (?P<peer>\S+).*\((?P<efa>\d+)\))"},
    Signature{completion_error, kFabric, "Peer EFA addr", R"(message: (?P<text>.*?) My EFA addr: \S+.*Peer EFA addr: (?P<peer>\S+).*\((?P<efa>\d+)\))"},
    Signature{completion_error, kFabric, "completed with error", R"(Request \S+ completed with error\. RC: (?P<n>-?\d+)\. Error: \S+ \((?P<text>.*?)\))"},
    Signature{queue_pair_error, kSpdk, "Async QP event", R"(Async QP event: (?P<text>.*))"},
    Signature{queue_pair_error, kKernel, "IB QP event", R"(received IB QP event: (?P<text>.*?) \()"},
    Signature{queue_pair_error, kKernel, "abnormal ae_id", R"((?P<dev>[\w.-]+): abnormal ae_id = 0x(?P<ae>[0-9a-f]+) bool qp=\d+ qp_id = (?P<q>\d+))"},
    Signature{queue_pair_error, {}, "RDMA async event", R"(RDMA async event (?P<text>IBV_EVENT_QP\w+) on (?P<dev>\S+) qp (?P<q>\w+))"},
    Signature{queue_overrun, kKernel, "CQ error on CQN", R"(mlx5_core (?P<dev>\S+): .*CQ error on CQN (?P<op>0x[0-9a-f]+), syndrome 0x(?P<vx>[0-9a-f]+))"},
    // Links and ports.
    Signature{port_down, kKernel, "ink", R"((?:mlx5_core|mlx4_en|ice|i40e|bnxt_en|ionic|irdma|be2net|qede|hns3)[: ] ?(?P<dev>\S+?)(?: (?P<op>[\w.]+))?:? (?:NIC )?Link (?:is )?(?P<text>[Dd]own))"},
    Signature{port_up, kKernel, "ink", R"((?:mlx5_core|mlx4_en|ice|i40e|bnxt_en|ionic|irdma|be2net|qede|hns3)[: ] ?(?P<dev>\S+?)(?: (?P<op>[\w.]+))?:? (?:NIC )?Link (?:is )?(?P<text>[Uu]p))"},
    Signature{port_down, kKernel, "Port: ", R"((?P<dev>[\w.-]+): Port: (?P<port>\d+) Link (?P<text>DOWN))"},
    Signature{port_up, kKernel, "Port: ", R"((?P<dev>[\w.-]+): Port: (?P<port>\d+) Link (?P<text>ACTIVE))"},
    Signature{port_down, kKernel, "Port module event", R"((?P<dev>\S+): .*Port module event\[error\]: module \d+, (?P<text>.*))"},
    Signature{port_down, kKernel, "Cable unplugged", R"((?P<dev>\S+): .*(?P<text>Cable unplugged))"},
    Signature{port_down, kKernel, "link", R"((?P<dev>[\w.-]+)(?:: \(slave (?P<op>\S+)\))?: (?:link status definitely (?P<text>down)|interface is now (?P<text2>down)|now running without any active interface|link becomes down|carrier lost))"},
    Signature{port_down, kKernel, "set down", R"((?P<dev>[\w.-]+): (?P<text>set down))"},
    Signature{port_down, kKernel, "8051: Link", R"((?P<dev>\S+): .*8051: Link (?P<text>down.*))"},
    Signature{port_down, kKernel, "state changed to", R"((?P<dev>hfi1_\d+): logical state changed to PORT_(?P<text>DOWN))"},
    Signature{port_up, kKernel, "state changed to", R"((?P<dev>hfi1_\d+): logical state changed to PORT_(?P<text>ACTIVE))"},
    Signature{port_down, kSonic, "oper state", R"(Port (?P<dev>\S+) oper state set from up to (?P<text>down))"},
    Signature{port_up, kSonic, "oper state", R"(Port (?P<dev>\S+) oper state set from down to (?P<text>up))"},
    Signature{port_down, kSonic, "LINEPROTO", R"(Line protocol on Interface (?P<dev>[^,]+), changed state to (?P<text>down))"},
    Signature{port_up, kSonic, "LINEPROTO", R"(Line protocol on Interface (?P<dev>[^,]+), changed state to (?P<text>up))"},
    Signature{pause_storm, kSonic, "PFC storm", R"(detected PFC storm on port (?P<dev>\S+?), queue index (?P<n>\d+))"},
    Signature{pause_storm, kSonic, "storm detected", R"((?P<text>storm detected).*?(?P<dev>Ethernet\d+|swp\d+))"},
    Signature{lossy_pause, kSonic, "on lossy queue", R"(Got PFC (?P<n>\d+) frame\(s\) on lossy queue (?P<op>\d+) port (?P<dev>\S+))"},
    Signature{port_down, kSonic, "IF_DOWN", R"(IF_DOWN_(?P<text>\w+): .*?[Ii]nterface (?P<dev>\S+) is down)"},
    Signature{port_up, kSonic, "IF_UP", R"(IF_UP: .*?[Ii]nterface (?P<dev>\S+) is (?P<text>up))"},
    Signature{port_down, kSonic, "SNMP_TRAP_LINK_DOWN", R"(SNMP_TRAP_LINK_(?P<text>DOWN): .*ifName (?P<dev>[\w/.:-]+))"},
    Signature{port_up, kSonic, "SNMP_TRAP_LINK_UP", R"(SNMP_TRAP_LINK_(?P<text>UP): .*ifName (?P<dev>[\w/.:-]+))"},
    Signature{port_down, kSonic, " changed ", R"([Ii]nterface (?P<dev>[\w/.:-]+),? (?:has )?changed (?:its )?(?:oper\w* )?(?:state )?to (?P<text>[Dd]own|DOWN)\b)"},
    Signature{port_up, kSonic, " changed ", R"([Ii]nterface (?P<dev>[\w/.:-]+),? (?:has )?changed (?:its )?(?:oper\w* )?(?:state )?to (?P<text>[Uu]p|UP)\b)"},
    // The NIC and its driver.
    Signature{device_fatal, kKernel, "Health issue", R"((?P<dev>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f.]{4}).*Health issue observed, (?P<text>.*?), severity)"},
    Signature{device_fatal, kKernel, "handling bad device", R"((?P<dev>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f.]{4}).*(?P<text>handling bad device))"},
    Signature{device_fatal, kKernel, "health compromised", R"((?P<dev>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f.]{4}).*(?P<text>health compromised))"},
    Signature{device_fatal, kKernel, "assert_var", R"((?P<dev>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f.]{4}).*(?P<text>assert_var\[0\]))"},
    Signature{device_fatal, kKernel, "ermware fatal", R"((?P<dev>\S+ ?\S*): .*(?P<text>Detected firmware fatal condition))"},
    Signature{device_fatal, kKernel, "irmware fatal", R"((?P<dev>\S+): .*(?P<text>[Ff]irmware fatal))"},
    Signature{device_fatal, kKernel, "nternal error detected", R"((?P<dev>\S+): (?P<text>Internal error detected))"},
    Signature{device_fatal, kKernel, "critical PE Error", R"((?P<text>critical PE Error.*))"},
    Signature{device_fatal, kKernel, "HMC Error", R"((?P<text>HMC Error))"},
    Signature{device_fatal, kSpdk, "Device Fatal event", R"((?P<text>Device Fatal event.*))"},
    Signature{command_refused, kKernel, "cmdq[", R"((?P<dev>bnxt_\w+ ?\S*?):? .*cmdq\[0x[0-9a-f]+\]=0x(?P<op>[0-9a-f]+) (?P<text>status 0x(?P<vx>[0-9a-f]+)))"},
    Signature{command_refused, kKernel, "timedout", R"((?P<dev>bnxt_\w+ ?\S*?):? .*cmdq\[0x[0-9a-f]+\]=0x(?P<op>[0-9a-f]+) (?P<text>timed ?out))"},
    Signature{command_refused, kKernel, "(timeout: ", R"((?P<dev>bnxt_en \S+)(?: \S+)?: (?:hwrm_\w+: )?Error \((?P<text>timeout): \d+\) msg \{(?P<op>0x[0-9a-f]+))"},
    Signature{command_refused, kKernel, "FW STALL", R"((?P<dev>[\w.-]+): .*(?P<text>FW STALL Detected))"},
    Signature{command_refused, kKernel, "failed, status", R"((?P<dev>[0-9a-f:.]{7,12}): .*?(?P<op>[A-Z0-9_]+)\(0x[0-9a-f]+\) op_mod\(0x[0-9a-f]+\) failed, status (?P<text>[^,]*))"},
    Signature{command_refused, kKernel, "o done completion", R"((?P<dev>[0-9a-f:.]{7,12}): .*?(?P<op>[A-Z0-9_]+)\(0x[0-9a-f]+\).*(?P<text>No done completion))"},
    Signature{command_refused, kKernel, "timeout. Will cause", R"((?P<dev>[0-9a-f:.]{7,12}): .*?(?P<op>[A-Z0-9_]+)\(0x[0-9a-f]+\) (?P<text>timeout))"},
    Signature{command_refused, kKernel, "comp_status", R"((?P<dev>[\w.-]+): Failed to process command (?P<op>\S+) .*comp_status (?P<vd>\d+))"},
    Signature{resource_failed, kKernel, "ouldn't", R"(infiniband (?P<dev>\S+): (?P<text>Couldn't .*))"},
    Signature{resource_failed, kKernel, "ailed to", R"((?P<dev>(?:mlx\d|bnxt_re|irdma|ionic|rocep|ib|hns|mana_\d|efa|rdmap|roce)\w*): (?P<text>Failed to (?:create|register|allocate|init|setup|query|modify).*))"},
    Signature{resource_failed, kKernel, "probe", R"((?P<dev>[0-9a-f]{4}:[0-9a-f:.]+): (?P<text>.*probe.* failed.*))"},
    Signature{transmit_stuck, kKernel, "NETDEV WATCHDOG", R"(NETDEV WATCHDOG: (?P<dev>\S+).*(?P<text>transmit queue \d+ timed out))"},
    Signature{transmit_stuck, kKernel, "transmit timeout", R"((?P<dev>ib\d+\w*): (?P<text>transmit timeout))"},
    Signature{transmit_stuck, kKernel, "TX timeout", R"((?P<dev>[0-9a-f:.]{7,12} ?[\w.-]*): (?P<text>TX timeout (?:detected|on queue: \d+)))"},
    Signature{transmit_stuck, kKernel, "Tx Unit Hang", R"((?P<dev>\S+): (?P<text>Detected Tx Unit Hang))"},
    // The host.
    Signature{iommu_fault, kKernel, "IO_PAGE_FAULT", R"((?P<dev>[0-9a-f]{4}:[0-9a-f:.]+): AMD-Vi: Event logged \[(?P<text>IO_PAGE_FAULT.*)\])"},
    Signature{iommu_fault, kKernel, "DMAR: [", R"((?P<text>DMAR: \[.*?\]) Request device \[(?P<dev>[0-9a-f:.]+)\])"},
    Signature{iommu_fault, kKernel, "ntext fault", R"((?P<text>Unhandled context fault.*))"},
    Signature{pcie_error, kKernel, "PCIe Bus Error", R"((?P<dev>[0-9a-f]{4}:[0-9a-f:.]+): .*PCIe Bus Error: severity=(?P<text>[^,]*))"},
    Signature{pcie_error, kKernel, "DPC: containment", R"((?P<dev>[0-9a-f]{4}:[0-9a-f:.]+).*(?P<text>DPC: containment event))"},
    Signature{pcie_error, kKernel, "AER:", R"(AER: (?P<text>.*error message received from (?P<dev>\S+)))"},
    Signature{machine_check, kKernel, "Hardware Error", R"((?P<text>\[Hardware Error\].*))"},
    Signature{gpu_error, kKernel, "Xid", R"(NVRM: Xid \(PCI:(?P<dev>[0-9a-fA-F:.]+)\): (?P<n>\d+)(?:, (?P<text>.*))?)"},
    Signature{out_of_memory, kKernel, "ut of memory", R"((?P<text>(?:Memory cgroup out|Out) of memory: Killed process (?P<proc>\d+) \((?P<op>[^)]*)\)))"},
    Signature{out_of_memory, kKernel, "oom-kill", R"((?P<text>oom-kill:.*?)(?:task=(?P<op>[^,]*),pid=(?P<proc>\d+)|$))"},
    Signature{cpu_stuck, kKernel, "soft lockup", R"((?P<text>soft lockup - CPU#\d+ stuck for (?P<n>\d+)s!) \[(?P<op>[^\]]*)\])"},
    Signature{cpu_stuck, kKernel, "detected stall", R"((?P<text>rcu.*detected stalls?))"},
    Signature{cpu_stuck, kKernel, "self-detected stall", R"((?P<text>self-detected stall))"},
    Signature{cpu_stuck, kKernel, "hard LOCKUP", R"((?P<text>hard LOCKUP))"},
    Signature{lock_warning, kKernel, "locking dependency", R"(WARNING: (?P<text>possible (?:circular|recursive) locking dependency detected|possible irq lock inversion dependency detected))"},
    Signature{lock_warning, kKernel, "possible recursive locking", R"(WARNING: (?P<text>possible recursive locking detected))"},
    Signature{kernel_bug, kKernel, "BUG: ", R"(BUG: (?P<text>K\w+SAN: [\w -]+) in (?P<op>[\w.]+))"},
    Signature{kernel_bug, kKernel, "BUG: ", R"(BUG: (?P<text>kernel NULL pointer dereference|unable to handle page fault|Bad page state))"},
    Signature{kernel_bug, kKernel, "kernel BUG at", R"((?P<text>kernel BUG) at (?P<op>[\w./-]+:\d+))"},
    Signature{kernel_bug, kKernel, "WARNING: CPU", R"((?P<text>WARNING): CPU: \d+ PID: \d+ at (?P<op>[\w./-]+:\d+))"},
    Signature{process_ended, kKernel, "general protection fault", R"(traps: (?P<op>\S+?)\[(?P<proc>\d+)\]:? (?P<text>general protection fault))"},
    Signature{kernel_bug, kKernel, "general protection fault", R"((?P<text>general protection fault))"},
    Signature{kernel_bug, kKernel, "refcount_t: ", R"((?P<text>refcount_t: [\w -]+))"},
    Signature{kernel_bug, kKernel, "RIP: 0010:", R"((?P<text>RIP): 0010:(?P<op>[\w.]+)\+0x)"},
    Signature{reboot, kKernel, "Linux version", R"(Linux version (?P<text>\S+))"},
    Signature{process_ended, {}, "egmentation fault", R"((?P<text>[Ss]egmentation fault))"},
    Signature{process_ended, {}, "segfault at", R"((?P<op>[\w.-]+)\[(?P<proc>\d+)\]: (?P<text>segfault) at)"},
    Signature{process_ended, kMpi, "exited on signal", R"(process rank \d+ with PID (?P<proc>\d+) on node (?P<host>\S+) (?P<text>exited on signal (?P<n>\d+)[^)]*\)?))"},
    Signature{process_ended, {}, "signal", R"((?P<text>(?:Caught|exited on|received|terminated by|killed by|exit on) signal (?P<n>\d+)[^)]*\)?))"},
    Signature{process_ended, {}, "assert", R"((?P<text>FAILED \w*assert\(.*\)|[Aa]ssertion [`'"].*['"] failed))"},
    Signature{process_ended, {}, "^C", R"(^(?P<text>\^C)\s*$)"},
    Signature{process_ended, {}, "oredump", R"((?P<op>\S+) .*(?P<text>dumped core|coredump))"},
    Signature{process_ended, {}, "Killed", R"(^(?P<text>Killed)\s*$)"},
    Signature{process_ended, {}, "SIGKILL", R"((?P<text>SIGKILL))"},
    Signature{process_ended, {}, "SIGINT", R"((?P<text>SIGINT))"},
    Signature{process_ended, {}, "KeyboardInterrupt", R"((?P<text>KeyboardInterrupt))"},
    Signature{process_ended, {}, "SIGTERM", R"((?P<text>SIGTERM))"},
    // NVMe and other storage.
    Signature{keep_alive_expired, kKernel, "keep-alive timer", R"(nvmet: ctrl (?P<op>\d+) keep-alive timer \((?P<n>\d+) seconds\) (?P<text>expired))"},
    Signature{keep_alive_expired, kSpdk, "keep alive timeout", R"(Disconnecting host (?:(?P<peer>\S+) )?from subsystem (?P<op>\S+) due to (?P<text>keep alive timeout))"},
    Signature{device_fatal, kKernel, "fatal error occurred", R"(nvmet: ctrl (?P<op>\d+) (?P<text>fatal error occurred))"},
    Signature{controller_created, kKernel, "creating", R"(nvmet: (?:creating|Created) \S* ?controller (?P<op>\d+))"},
    Signature{controller_created, kKernel, "new ctrl", R"(nvme (?P<dev>nvme\d+): new ctrl: .*addr (?P<peer>[0-9a-fA-F.:]+))"},
    Signature{queues_created, kKernel, "I/O queues", R"(nvme (?P<dev>nvme\d+): creating (?P<n>\d+) I/O queues)"},
    Signature{storage_timeout, kKernel, "timeout", R"(nvme (?P<dev>nvme\d+): (?P<text>I/O (?:tag )?\d+ .*?QID (?P<n>\d+) timeout))"},
    Signature{storage_timeout, kKernel, "Property", R"(nvme (?P<dev>nvme\d+): (?P<text>Property (?:Get|Set) error: (?P<n>\d+)))"},
    Signature{storage_timeout, kKernel, "Timed out", R"((?:(?P<dev>LNet)\w*: .*)?(?P<text>Timed out (?:tx|RDMA) (?:for|with) (?P<peer>[\w.@]+)))"},
    Signature{storage_timeout, kKernel, "ping timeout", R"((?P<dev>connection\d+:\d+): (?P<text>ping timeout of (?P<n>\d+) secs expired))"},
    Signature{storage_timeout, kKernel, "recovery timed out", R"((?P<dev>session\d+): (?P<text>session recovery timed out after (?P<n>\d+) secs))"},
    Signature{disconnected, kKernel, "detected conn error", R"((?P<dev>connection\d+:\d+): (?P<text>detected conn error \((?P<n>\d+)\)))"},
    Signature{disconnected, kKernel, "rpcrdma: ", R"(rpcrdma: connection to (?P<peer>\S+) (?P<text>closed \((?P<n>-?\d+)\)))"},
    Signature{storage_timeout, kKernel, "SRP ", R"((?P<text>SRP (?:abort called|reset_device called|reset_host called)))"},
    Signature{storage_timeout, kKernel, "not responding", R"(nfs: server (?P<peer>\S+) (?P<text>not responding))"},
    Signature{controller_reset, kKernel, "econnect", R"(nvme (?P<dev>nvme\d+): (?P<text>Reconnecting in \d+ seconds|Failed reconnect attempt \d+|starting error recovery|Successfully reconnected))"},
    Signature{controller_reset, kKernel, "error recovery", R"(nvme (?P<dev>nvme\d+): (?P<text>starting error recovery))"},
    Signature{address_unresolved, {}, "rdma_resolve_", R"((?P<text>rdma_resolve_(?:addr|route)) failed \(?(?P<n>-?\d+))"},
    Signature{address_unresolved, {}, " times ADDR_ERROR", R"((?P<text>Received \d+ times ADDR_ERROR))"},
    Signature{address_unresolved, {}, " times ROUTE_ERROR", R"((?P<text>Received \d+ times ROUTE_ERROR))"},
    Signature{address_unresolved, {}, "rdma_create_ep", R"((?P<op>rdma_create_ep): (?P<text>No such device|Cannot assign requested address|Network is unreachable|No route to host))"},
    Signature{unreachable, kKernel, "connection establishment failed", R"(nvme (?P<dev>nvme\d+): rdma (?P<text>connection establishment failed) \((?P<n>-?\d+)\))"},
    Signature{rejected, {}, "onnect rejected", R"(Connect rejected: status (?P<n>-?\d+) \((?P<text>.*?)\)(?: (?P<op>nvme status \d+ \(.*?\)))?)"},
    Signature{rejected, kKernel, "SRP LOGIN", R"((?P<dev>scsi host\d+): ib_srp: (?P<text>SRP LOGIN from \S+ to (?P<peer>\S+) REJECTED, reason 0x(?P<op>[0-9a-f]+)))"},
    Signature{rejected, kKernel, "nvalid", R"((?P<text>Connect Invalid .*Parameter.*))"},
    Signature{rejected, kKernel, "is not allowed", R"(nvme (?P<dev>nvme\d+): (?P<text>Connect for subsystem \S+ is not allowed), hostnqn: (?P<peer>\S+))"},
    Signature{rejected, kKernel, "not allowed", R"(nvmet: (?P<text>connect by host (?P<peer>\S+) for subsystem \S+ not allowed))"},
    Signature{rejected, kSpdk, "does not allow host", R"(ubsystem (?P<text>'\S+' does not allow host '(?P<peer>[^']+)')\s*$)"},
    Signature{rejected, {}, "REJECTED", R"((?P<text>(?:RDMA_CM_EVENT_)?REJECTED),?(?:.*?(?:error|status|reason) ?[=:]? ?(?P<n>-?\d+))?)"},
    Signature{unreachable, {}, "UNREACHABLE", R"((?P<text>(?:RDMA_CM_EVENT_)?UNREACHABLE),?(?:.*?(?:error|status) ?[=:]? ?(?P<n>-?\d+))?)"},
    Signature{address_unresolved, {}, "_ERROR", R"((?P<text>(?:RDMA_CM_EVENT_)(?:ADDR|ROUTE)_ERROR),?(?:.*?(?:error|status) ?[=:]? ?(?P<n>-?\d+))?)"},
    Signature{disconnected, {}, "RDMA_CM_EVENT_DISCONNECTED", R"((?P<text>RDMA_CM_EVENT_DISCONNECTED))"},
    // Collectives.
    Signature{watchdog, kTorch, "Watchdog caught", R"(Watchdog caught collective operation timeout: WorkNCCL\(.*?SeqNum=(?P<n>\d+), OpType=(?P<op>\w+).*?ran for (?P<text>\d+) milliseconds)"},
    Signature{watchdog, kTorch, "ast enqueued", R"((?:PG GUID (?P<dev>\w+).*?)?(?P<text>[Ll]ast enqueued (?:NCCL )?work: (?P<n>\d+), last completed (?:NCCL )?work: (?P<op>\d+)))"},
    Signature{watchdog, kTorch, "Heartbeat monitor", R"((?P<text>Heartbeat monitor timed out))"},
    Signature{remote_error, kTorch, "remote process exited", R"((?P<text>remote process exited or there was a network error))"},
    Signature{gpu_memory, {}, "out of memory", R"((?:\[rank(?P<rank>\d+)\]:.*)?(?P<text>(?:CUDA|HIP) out of memory|CUDA error: out of memory))"},
    Signature{gpu_error, {}, "CUDA error", R"((?P<text>CUDA error: .*))"},
    Signature{exception, {}, "Error: ", R"(^(?:\[(?:default)?(?:rank)?(?P<rank>\d+)\]:)?\s?(?P<text>(?:[A-Za-z_]\w*\.)*[A-Z]\w*Error: .*))"},
    Signature{exception, {}, "Exception: ", R"(^(?:\[(?:default)?(?:rank)?(?P<rank>\d+)\]:)?\s?(?P<text>(?:[A-Za-z_]\w*\.)*[A-Z]\w*Exception: .*))"},
};
constexpr std::array kAnyProducer{
    // Completions by the words that ibv_wc_status_str and ib_wc_status_msg have for them, or by the names of verbs.
    Signature{completion_error, {}, "ocal length error", R"((?P<text>[Ll]ocal length error))"},
    Signature{completion_error, {}, "QP operation error", R"((?P<text>local QP operation error))"},
    Signature{completion_error, {}, "ocal protection error", R"((?P<text>[Ll]ocal protection error))"},
    Signature{completion_error, {}, "equest Flushed", R"((?P<text>Work Request Flushed))"},
    Signature{completion_error, {}, "WR flushed", R"((?P<text>WR flushed))"},
    Signature{completion_error, {}, "ocal access error", R"((?P<text>[Ll]ocal access error))"},
    Signature{completion_error, {}, "nvalid request error", R"((?P<text>remote invalid request error))"},
    Signature{completion_error, {}, "emote access error", R"((?P<text>[Rr]emote access error))"},
    Signature{completion_error, {}, "emote operation error", R"((?P<text>[Rr]emote operation error))"},
    Signature{completion_error, {}, "etry counter exceeded", R"((?P<text>(?:transport|RNR|rnr) retry counter exceeded))"},
    Signature{completion_error, {}, "_ERR", R"(\b(?P<text>(?:IBV?_WC_)?(?:LOC_LEN|LOC_QP_OP|LOC_PROT|WR_FLUSH|MW_BIND|BAD_RESP|LOC_ACCESS|REM_INV_REQ|REM_ACCESS|REM_OP|RETRY_EXC|RNR_RETRY_EXC|REM_ABORT|FATAL|RESP_TIMEOUT)_ERR)\b)"},
    Signature{completion_error, {}, "RETRY_CNT_ERR", R"((?P<text>(?:TRANSPORT|RNR_NAK|RNR)_RETRY_CNT_ERR))"},
    // Memory and sockets of any program.
    Signature{memory_refused, {}, "annot allocate memory", R"((?P<op>ibv_\w+|reg_mr|create_qp|create (?:\w+ )?(?:QP|CQ|SRQ)|mmap|register)?.*(?P<text>Cannot allocate memory))"},
    Signature{memory_refused, {}, "ouldn't allocate MR", R"((?P<text>Couldn't allocate MR))"},
    Signature{setup_failed, {}, "failed to modify QP", R"((?P<text>failed to modify QP(?: state)? (?:from \w+ )?to (?P<op>\w+).*))"},
    Signature{setup_failed, {}, "Failed to modify QP", R"((?P<text>Failed to modify QP(?: \S+)? to (?P<op>\w+).*))"},
    Signature{no_device, {}, "o IB devices", R"((?P<text>[Nn]o IB devices(?: found)?))"},
    Signature{setup_failed, {}, "ibv_modify_qp failed", R"(non-zero status: (?P<n>\d+) (?P<text>ibv_modify_qp failed))"},
    Signature{setup_failed, {}, "devx_obj_modify for", R"((?P<text>Error in mlx5dv_devx_obj_modify) for (?P<op>\w+))"},
    Signature{setup_failed, {}, "ibv_modify_qp", R"(ibv_modify_qp\b(?:.*?(?P<op>RTR|RTS))?.*?\b(?P<text>Invalid argument|Connection timed out|No such device|Network is unreachable|No route to host|Input/output error|Operation not supported))"},
    Signature{memory_refused, {}, "ibv_", R"(ibv_(?P<op>reg_mr\w*|create_qp\w*|create_cq\w*|create_srq|alloc_pd)\b.*?\b(?P<text>Cannot allocate memory|Operation not permitted|Resource temporarily unavailable|Bad address))"},
    Signature{no_device, kSpdk, "available RDMA devices", R"((?P<text>Failed to get list of available RDMA devices))"},
    Signature{no_device, kMpi, "OFI ", R"((?P<text>OFI (?:addrinfo|fi_getinfo)\(\) fail\w*(?:.*:[A-Za-z ]+)?))"},
    Signature{no_device, {}, "initialize any transports", R"((?P<text>Unable to initialize any transports))"},
    Signature{no_device, {}, " IB device", R"((?P<text>[Nn]o (?:active |usable |valid )?IB devices? [\w -]{0,60}(?:found|available|detected)))"},
    Signature{no_device, {}, "id not detect devices", R"((?P<text>Did not detect devices))"},
    Signature{no_device, {}, "nfiniband/RoCE device", R"((?P<text>Unable to find the Infiniband/RoCE device))"},
    Signature{no_device, kNccl, "any optimal provider", R"((?P<text>Could not find any optimal provider))"},
    Signature{no_device, {}, "device failed to appear", R"((?P<text>\S+ device failed to appear)\b)"},
    Signature{no_device, {}, "hfi units are available", R"((?P<text>no hfi units are available))"},
    Signature{no_device, {}, "erbs device not found", R"((?P<text>Verbs device not found(?:: (?P<dev>[0-9a-f:.]+))?))"},
    Signature{no_device, kNccl, "o eligible providers", R"((?P<text>No eligible providers were found))"},
    Signature{no_device, {}, "userspace device-specific driver", R"((?P<text>no userspace device-specific driver found for \S+))"},
    Signature{socket_failed, kVerbs, "ouldn't connect to", R"((?P<text>Couldn't connect to (?P<peer>\S+)))"},
    Signature{socket_failed, kTorch, "client socket has", R"((?P<text>client socket has (?:timed out after \S+ while trying to connect|failed to connect to any network address|failed to connect)) (?:to|of) \(?(?P<peer>[^,)\s]+))"},
    Signature{socket_failed, {}, "icresp", R"((?P<op>nvme_tcp): .*(?P<text>failed to receive icresp, error -?\d+))"},
    Signature{socket_failed, {}, "onnection refused", R"((?P<text>Connection refused))"},
    Signature{socket_failed, {}, "onnection reset", R"((?P<text>Connection reset by peer))"},
};
// clang-format on

}  // namespace

std::span<const Signature> signatures() {
    static const std::vector<Signature> all = [] {
        std::vector<Signature> made;
        const auto add_notices = [&](bool first) {
            for (std::size_t row = 0; row < notices().size(); ++row)
                if (const Notice& each = notices()[row]; each.first == first)
                    made.push_back(
                        {notice, each.producer, each.words, each.pattern, 0, {}, static_cast<std::uint8_t>(row + 1)});
        };
        add_notices(true);
        made.insert(made.end(), kFirst.begin(), kFirst.end());
        add_notices(false);
        made.insert(made.end(), kAnyProducer.begin(), kAnyProducer.end());
        return made;
    }();
    return all;
}

}  // namespace qps::casework
