// Rows of notices of what lies between hosts: switches, their logs and tables, subnet managers, bonds, paths. Formats
// as SONiC 202211 to 202505, NX-OS, EOS, Junos, FRR, opensm 3.3, ibdiagnet and iputils print them.
#include <transport-replay/casework/notices.hpp>

#include <array>

namespace qps::casework {

namespace {

using enum Weight;

constexpr std::string_view kOfSwitch = "switch log";
constexpr std::string_view kOfSubnetManager = "log of opensm";

// clang-format off
constexpr std::array kFabricNotices{
    Notice{"case-port-error-disabled", kOfSwitch, "ERRDISABLE", R"(ERRDISABLE: (?P<text>.*?) (?:error )?(?:detected )?on (?P<dev>[A-Za-z]+[\d/.]+))",
           shown, shown, Party::network,
           "the switch took its port {device} out of use by itself ({text}): what hangs on it has no link until somebody enables it",
           "show interfaces status errdisabled, the log before it; transceiver and cable of that port (show interfaces transceiver), then shutdown and no shutdown",
           "it was for a link that flapped", "replace the cable or transceiver before the port is enabled again", "another reason (BPDU, loop, rate): what hangs on it sent what it should not"},
    Notice{"case-port-error-disabled", kOfSwitch, "ERROR_DISABLED", R"(ERROR_DISABLED\S*: .*?[Ii]nterface (?P<dev>\S+) is down \((?P<text>[^)]*)\))",
           shown, shown, Party::network,
           "the switch took its port {device} out of use by itself ({text}): what hangs on it has no link until somebody enables it",
           "show interface status err-disabled, the log before it; transceiver and cable of that port, then shutdown and no shutdown",
           "it was for a link that flapped", "replace the cable or transceiver before the port is enabled again", "another reason (BPDU, loop, UDLD): what hangs on it sent what it should not"},
    Notice{"case-port-error-disabled", kOfSwitch, "ERR_DISABLE", R"(ERR_DISABLE: (?P<text>\S+) (?:error )?detected on (?P<dev>[A-Za-z]+[\d/.]+))",
           shown, shown, Party::network,
           "the switch took its port {device} out of use by itself ({text}): what hangs on it has no link until somebody enables it",
           "show interfaces status err-disabled, the log before it; transceiver and cable of that port, then shutdown and no shutdown",
           "it was for a link that flapped", "replace the cable or transceiver before the port is enabled again", "another reason (BPDU, loop, UDLD): what hangs on it sent what it should not"},
    Notice{"case-transceiver-alarm", {}, "emperature high alarm", R"((?P<text>(?:Module|Laser|Cable)? ?temperature high alarm)\s*: On)",
           shown, hint, Party::network,
           "a transceiver is too hot ({text}: On): it may lose its link or make bit errors",
           "ethtool -m IF on both ends over some minutes; air flow and fans of that host or switch, neighbours of that port; then swap the transceiver",
           "the temperature falls with more air", "cool it", "it stays hot alone: replace the transceiver"},
    Notice{"case-mac-moves", kOfSwitch, "MACFLAP", R"((?P<text>MACFLAP\w*): .*?(?P<peer>[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}))",
           shown, hint, Party::undecided,
           "the switch sees the address {peer} come and go between ports ({text}): frames to it go astray in between",
           "show mac address-table of that address; the bond or LACP of the host that has it, loops between switches", "both ports lead to one host", "its bond does not fit the port channel: LACP on both", "they lead elsewhere: a loop, or two machines with one address"},
    Notice{"case-route-lost", kOfSwitch, "ADJCHANGE", R"(ADJCHANGE: [Nn]eighbor (?P<peer>[0-9a-fA-F.:]+|[\w.-]+)\S* .*?(?P<text>Down\b.*))",
           shown, hint, Party::undecided,
           "a router lost its neighbour {peer} ({text}): routes through it are gone, RoCE packets of them go another way or nowhere",
           "show bgp summary, the link to that neighbour and its log at that time; traceroute between the hosts", "the link went down first", "look at that link", "the neighbour restarted, or its timer ran out: its CPU, BFD"},
    Notice{"case-switch-table-full", kOfSwitch, "SAI_STATUS_", R"((?P<text>SAI_STATUS_(?:INSUFFICIENT_RESOURCES|TABLE_FULL|NO_MEMORY)))",
           shown, hint, Party::undecided,
           "the switch has no room for an entry ({text}): a route, a neighbour or a rule (ACL, buffer profile) is not in its hardware, and what needs it is dropped or goes by default",
           "crm show resources all; the line before it names what was added", "a table is full", "fewer entries, or another profile of its tables", "it is of a feature that this traffic does not use"},
    Notice{"case-switch-table-full", kOfSwitch, "THRESHOLD_EXCEEDED", R"((?P<op>\w+) (?P<text>THRESHOLD_EXCEEDED))",
           hint, hint, Party::undecided,
           "a table of the switch is nearly full ({operation}: {text}): further routes, neighbours or rules may find no room",
           "crm show resources all", "it is full", "fewer entries, or another profile of its tables", "there is room: nothing to do"},
    Notice{"case-subnet-manager-error", kOfSubnetManager, ": ERR ", R"(0x01 -> (?P<op>\w+): ERR (?P<code>\w+): (?P<text>.*\S))",
           hint, hint, Party::undecided,
           "the subnet manager reports ({operation}): {text}",
           "ibnetdiscover and iblinkinfo: the node or port that it names; the lines of opensm.log around it", "a node does not answer", "its host, port or firmware", "it is of the fabric's shape (routing, duplicate GUID, partition): change that"},
    Notice{"case-duplicate-guid", {}, "uplicate", R"((?P<text>[Dd]uplicated? (?:port |node |system )?GUIDs?))",
           shown, hint, Party::undecided,
           "two ports of the fabric have the same GUID ({text}): the subnet manager leaves one of them out, or routes to the wrong one",
           "ibnetdiscover: both nodes with that GUID; flint -d DEVICE q, then a GUID of its own for one (flint sg); virtual functions: their GUIDs", "an image was copied with its GUID", "give one a GUID of its own", "a cable leads back to the same adapter"},
    Notice{"case-fabric-check", {}, "-E- ", R"(^\s*-E- (?P<text>.*\S))",
           shown, hint, Party::network,
           "the check of the fabric (ibdiagnet) finds an error: {text}",
           "ibdiagnet --pc -P all=1 --pm_pause_time 60, then its log for that node and port; mlxlink there (cable, transceiver, BER)", "its counters grow during the run", "replace cable or transceiver of that link", "they do not: the error is old, clear the counters and watch"},
    Notice{"case-bond-without-partner", {}, "No 802.3ad response", R"((?P<dev>bond\d+|\S+): .*(?P<text>No 802\.3ad response from the link partner))",
           shown, hint, Party::switch_setting,
           "the bond {device} gets no answer to LACP ({text}): the switch ports are no port channel, so only one leg carries traffic",
           "show lacp neighbor (show lacp, teamdctl, show interfaces portchannel) on the switch; /proc/net/bonding on the host", "the ports are in no channel", "make it there (LACP, MLAG), or use active-backup", "they are: the legs lead to two switches without MLAG"},
    Notice{"case-path-mtu", {}, "Frag needed", R"([Ff]rom (?P<peer>\S+) .*(?P<text>Frag needed and DF set) \(mtu ?= ?(?P<n>\d+)\))",
           shown, shown, Party::network,
           "{peer} on the way carries packets of {number} bytes at most ({text}): the path MTU is smaller than that of the hosts, so large RoCE packets are dropped there while small ones pass",
           "the MTU of that router's interfaces (9216 on all of them), then ping -M do -s 4156 again; ib_write_bw -m 1024 meanwhile", "large pings pass then", "that was the cause", "another hop is smaller as well: tracepath"},
    Notice{"case-path-mtu", {}, "essage too long", R"((?P<text>message too long), mtu[=:] ?(?P<n>\d+))",
           shown, hint, Party::host_setting,
           "the host's own interface has an MTU of {number} ({text}): packets above it do not even leave; RoCE takes the InfiniBand MTU below it",
           "ip link show of all hosts: one MTU (9000) on all of them and on the switch", "they differ", "set them alike", "they are alike: compare with what the program asks for"},
    Notice{"case-larger-mtu-asked", {}, "MTU", R"((?P<text>(?:[Rr]equested|[Cc]onfigured) (?:mtu|MTU)[^.]*(?:larger|greater|bigger|higher) than (?:the )?active[ _](?:mtu|MTU)))",
           shown, hint, Party::host_setting,
           "the program asks for a larger path MTU than its port has ({text}): no queue pair can be connected so",
           "ibv_devinfo (active_mtu) of both ends, ip link show: raise the MTU of the interface, or ask for less (-m 1024)", "one end is smaller", "set both alike", "both are alike: ask for that"},
    Notice{"case-gid-not-added", {}, "ib_cache_gid_add", R"((?P<text>unable to add gid) (?P<peer>\S+) error=(?P<n>-?\d+))",
           shown, hint, Party::undecided,
           "the adapter's GID table did not take {peer} ({text}, -{number}): connections from that address find no GID",
           "show_gids: how many entries there are against the table's size (gid_tbl_len of ibv_devinfo -v); fewer addresses, VLANs or virtual interfaces", "the table is full", "remove addresses, or restart what made so many", "the driver refuses it: dmesg around it"},
    Notice{"case-interface-not-for-rdma", {}, "rxe_newlink", R"(rxe_newlink: (?P<text>failed to add|already configured on) ?(?P<dev>\S+))",
           shown, hint, Party::host_setting,
           "soft RoCE was not put on {device} ({text})",
           "rdma link; dmesg before it: the interface must be there, be no rxe already, and no device of another namespace", "it has one already", "use that, or rdma link delete it first", "choose the physical interface, not a bridge or VLAN on it"},
};
// clang-format on

}  // namespace

std::span<const Notice> fabric_notices() { return kFabricNotices; }

}  // namespace qps::casework
