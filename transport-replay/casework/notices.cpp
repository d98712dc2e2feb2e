// Rows of notices of libraries and adapters, and the whole table. Formats as Linux 6.1 and 6.12 (net/core/neighbour.c,
// ulp/ipoib, drivers/net/ethernet/mellanox), NCCL 2.3 to 2.30, RCCL 2.20, UCX 1.4 to 1.19, libfabric 1.22, aws-ofi-nccl
// and Slurm 23 print them.
#include <transport-replay/casework/notices.hpp>

#include <array>
#include <vector>

namespace qps::casework {

namespace {

using enum Weight;

constexpr std::string_view kNcclLines = "NCCL log";
constexpr std::string_view kUcxLines = "UCX log";
constexpr std::string_view kKernelLines = "kernel log";

// clang-format off
constexpr std::array kNotices{
    Notice{"case-neighbours-full", kKernelLines, "table overflow", R"((?P<op>arp_cache|ndisc_cache|neigh\w*): (?P<text>neighbou?r table overflow))",
           decisive, decisive, Party::host_setting,
           "the kernel's table of neighbours is full ({operation}: {text}): addresses of further peers do not resolve, so queue pairs to them cannot reach RTR; not the network",
           "sysctl net.ipv4.neigh.default.gc_thresh1 net.ipv4.neigh.default.gc_thresh2 net.ipv4.neigh.default.gc_thresh3 (and ipv6), ip -s neigh | wc -l",
           "more neighbours than gc_thresh3", "raise gc_thresh1, 2 and 3 above the number of addresses in the subnet", "see which addresses fill it (ip neigh)"},
    Notice{"case-multicast-refused", kKernelLines, "multicast join failed", R"((?P<dev>[\w.-]+): (?P<text>multicast join failed) for (?P<peer>\S+), status (?P<n>-?\d+))",
           shown, hint, Party::undecided,
           "the subnet manager did not let {device} join the multicast group {peer} (status -{number}): without the broadcast group IPoIB resolves no address. -22 is a refusal (P_Key, MTU, rate or Q_Key do not fit the group), -110 no answer",
           "sminfo; saquery -g (MTU, rate and P_Key of the group) against ibstat and the P_Key table of this port (smpquery pkeys)",
           "the group asks for another P_Key, MTU or rate", "set the partition (partitions.conf of opensm) or this port so", "no SM answers: start one, or look at its log"},
    Notice{"case-bus-narrow", kKernelLines, "available PCIe bandwidth", R"((?P<dev>[0-9a-f]{4}:[0-9a-f:.]+): (?P<op>[\d.]+ Gb/s) available PCIe bandwidth, limited by (?P<text>.* link at \S+))",
           hint, remark, Party::undecided,
           "the bus carries {operation} at most to {device} (limited by {text}), less than the card can: a rate near that is the bus, not the network",
           "lspci -vvv -s that bridge and card (LnkCap, LnkSta): slot width, riser, BIOS settings",
           "LnkSta is narrower or slower than LnkCap", "another slot or riser, or reseat the card", "the slot is so by design: compare the rate that is reached with it"},
    Notice{"case-device-not-opened", kNcclLines, "nable to open device", R"(NET/IB ?: (?P<text>Unable to open device) (?P<dev>\S+))",
           decisive, hint, Party::host_setting,
           "{device} is visible, but the process may not open it (ibv_open_device failed): its character device is missing or forbidden, as in a container without /dev/infiniband; the library goes on with sockets (TCP), which are slow; not the network",
           "ls -l /dev/infiniband in the container; docker --device=/dev/infiniband, or the RDMA device plugin of the pod; ulimit -l",
           "uverbs is missing there", "give the container its devices", "rights of the device file, or the user-space driver (rdma-core)"},
    Notice{"case-gpu-direct-off", kNcclLines, "GPU Direct RDMA Disabled", R"((?P<text>GPU Direct RDMA Disabled) for (?:HCA \d+ '(?P<dev>[^']*)'|(?P<op>GPU .*)))",
           hint, remark, Party::undecided,
           "NCCL does not use GPU Direct RDMA: it is disabled for {device}{operation}: all data goes through memory of the host, which costs bandwidth; not the network",
           "lsmod | grep -E 'nvidia_peermem|nv_peer_mem'; dmesg | grep -i peermem; NCCL with DMA-BUF (open kernel modules of the GPU); NCCL_NET_GDR_LEVEL where it names a distance",
           "the module is not loaded", "modprobe nvidia_peermem, then start the job anew", "its build does not fit the RDMA driver (reinstall it after OFED), or the distance is too far"},
    Notice{"case-named-option-missing", kNcclLines, "Missing \"", R"x(Missing "(?P<text>[^"]+)" from (?P<op>kernel command line|environment))x",
           hint, remark, Party::undecided,
           "the collective library finds {text} missing from the {operation}, and says that this may hang or be slow; not the network",
           "cat /proc/cmdline and the environment of the job; set what is missing, reboot where it is of the kernel",
           "it runs with it", "that was the cause", "look for what else differs from a host that runs"},
    Notice{"case-no-way-to-peer", kUcxLines, "estination is unreachable", R"(no (?:[\w ]+) transport to (?P<peer>.*?): (?P<text>.*Destination is unreachable))",
           hint, hint, Party::undecided,
           "UCX calls the peer unreachable before anything is sent ({text}): it compares the addresses of both ends, and no device that it may use fits (subnet prefix, RoCE address and GID index, P_Key, transport)",
           "ucx_info -d and show_gids on both hosts; UCX_NET_DEVICES, UCX_TLS and UCX_IB_GID_INDEX of both; once with UCX_LOG_LEVEL=debug; UCX_IB_ROCE_REACHABILITY_MODE",
           "the addresses are of different subnets", "choose devices of one subnet, or let UCX take routed ones", "a transport or device is left out by the environment"},
    Notice{"case-host-unreachable", {}, "completed with error: err: 113", R"((?P<text>completed with error: err: 113).*?(?:strerror: (?P<op>[^,]*))?)",
           hint, hint, Party::undecided,
           "the provider calls the peer unreachable (err 113, no route to host): on EFA packets between the two are dropped by a security group, or the two are not in one subnet",
           "the rules of the security group of both instances (all traffic from and to the group itself, inbound and outbound), their subnet; fi_pingpong -p efa between the two",
           "fi_pingpong fails too", "the rules or the subnet", "the process of the receiver ended: its log"},
    Notice{"case-openib-not-started", {}, "initializing an OpenFabrics device", R"((?P<text>error initializing an OpenFabrics device))",
           hint, remark, Party::undecided,
           "Open MPI's old transport (openib) could not start {device}, and says so; since version 4 InfiniBand and RoCE belong to UCX there. Whether MPI uses RDMA then depends on UCX (pml ucx), or it goes on with TCP",
           "ompi_info | grep ucx; mpirun --mca pml ucx --mca btl ^openib with UCX_LOG_LEVEL=info; ibv_devinfo on that host",
           "it runs with pml ucx", "only the warning was left: leave openib out", "UCX is missing in this build, or the device is not usable"},
    Notice{"case-firewall", {}, "dpt:4791", R"(^\s*(?P<n>\d+)[KMG]?\s+\d+[KMG]?\s+(?P<text>DROP|REJECT)\s+(?:udp|17)\s.*dpt:4791)",
           decisive, decisive, Party::host_setting,
           "a rule of the firewall has {text} for UDP 4791, the port of RoCE v2, and {number} packets met it: RoCE packets to this host, also those of connection management, are dropped by its own rules",
           "iptables -L -n -v --line-numbers, nft list ruleset: allow UDP 4791 (firewall-cmd --add-port=4791/udp) on that host",
           "its counter grows while connecting", "the rule was the cause", "the adapter bypasses the rule: look at the path"},
    Notice{"case-firewall", {}, "dport 4791", R"(udp dport 4791 .*?(?:packets (?P<n>\d+) .*?)?(?P<text>drop|reject)\b)",
           decisive, decisive, Party::host_setting,
           "a rule of the firewall has {text} for UDP 4791, the port of RoCE v2, and {number} packets met it: RoCE packets to this host, also those of connection management, are dropped by its own rules",
           "iptables -L -n -v --line-numbers, nft list ruleset: allow UDP 4791 (firewall-cmd --add-port=4791/udp) on that host",
           "its counter grows while connecting", "the rule was the cause", "the adapter bypasses the rule: look at the path"},
    Notice{"case-optics", {}, "power low alarm", R"((?P<text>(?:[Rr]x|[Rr]eceive\w*|Laser rx) power low alarm(?: \(Channel \d\))?)\s*: On)",
           shown, hint, Party::network,
           "the transceiver says that the light it receives is too weak ({text}: On): dirty or damaged fibre, a weak transceiver at the other end, or none that sends",
           "ethtool -m IF on both ends (Rx and Tx power by lane); clean the connectors, then swap cable or transceiver",
           "the other end sends with normal power", "the fibre or its connectors", "the transceiver at the other end, or its port is down"},
    Notice{"case-hot", kKernelLines, "igh temperature", R"((?P<dev>[0-9a-f]{4}:[0-9a-f:.]+)\S*: .*(?P<text>High temperature))",
           shown, hint, Party::local_host,
           "the adapter {device} reports a high temperature: it may slow down or drop its link; not the network",
           "sensors, mget_temp -d DEVICE, the fans and the air flow of that host; temperature of transceivers (ethtool -m IF)",
           "it is hot under load", "cool it; what fails in the same minutes may follow", "the threshold is low: watch the temperature"},
    Notice{"case-link-below-best", {}, "Could be", R"x(==\( *(?P<op>[^)]*?(?:Gbps|Active).*?)\)==>.*?"(?P<peer>[^"]*)".*\( *(?P<text>Could be [^)]*?) *\))x",
           shown, remark, Party::undecided,
           "a link to {peer} runs below what both of its ends can ({operation}; {text}): it trained to less, as with a bad cable, or was set so",
           "mlxlink or ibportstate on both ends of that link: enabled and supported speeds and widths, then reset the port and watch what it trains to",
           "it trains to less again", "replace the cable or transceiver", "it was set so, or the cable was reseated"},
    Notice{"case-port-left-fabric", {}, "Removed port with GUID", R"((?P<text>Removed port) with GUID:\S+ LID range \[[^\]]*\] of node:(?P<peer>\S+))",
           shown, hint, Party::undecided,
           "the subnet manager removed a port of {peer} from the fabric: it did not answer any more or its link went down; what uses that port fails from then on",
           "ibstat and dmesg of that host from before this time, the port of the switch that it hangs on (iblinkinfo, ibqueryerrors)",
           "its link went down, or it rebooted", "that is the reason", "it was up all the time: management packets were lost on the way"},
    Notice{"case-job-ended", {}, "CANCELLED AT", R"((?P<text>(?:JOB|STEP) \S+ ON (?P<op>\S+) CANCELLED AT \S+?(?: DUE TO [A-Z ]+\w)?)\s*(?:\*|$))",
           shown, hint, Party::undecided,
           "the scheduler ended the job ({text}): what libraries report after that follows from it",
           "scontrol show job, sacct -j: time limit, state and reason; nothing where the job was to end so, else a longer --time or earlier checkpoints",
           "errors begin after it", "they only follow", "the job hung before: look at the first error, or at what its ranks did last"},
};
// clang-format on

}  // namespace

std::span<const Notice> notices() {
    static const std::vector<Notice> all = [] {
        std::vector<Notice> made(kNotices.begin(), kNotices.end());
        for (const auto rows : {host_notices(), fabric_notices(), job_notices()})
            made.insert(made.end(), rows.begin(), rows.end());
        return made;
    }();
    return all;
}

}  // namespace qps::casework
