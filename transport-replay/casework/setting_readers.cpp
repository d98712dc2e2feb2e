// Readers of settings: GID tables, what ibv_devinfo, rdma, ip, mlnx_qos, dcb and lspci print, environments, and command
// lines that a transcript quotes.
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/casework/readers.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <re2/set.h>

namespace qps::casework {

namespace {

// A line that says one setting. Groups: device, name, value; the subject is the row's, or the block's where it is
// empty.
struct SettingRow {
    std::string_view kind;
    std::string_view subject;
    std::string_view name;
    std::string_view pattern;
    bool begins = false;  // the lines below are of its device
};
constexpr std::array kSettings{
    SettingRow{"device info", "port", "link layer", R"(^\s*link_layer:\s*(?P<value>\w+))"},
    SettingRow{"device info", "port", "active MTU", R"(active_mtu:\s*(?P<value>\d+))"},
    SettingRow{
        "device info", "port", "state",
        R"(^\s*(?:state|State):\s*(?:\d: )?(?P<value>PORT_\w+|ACTIVE|INIT|ARMED|DOWN|Active|Down|Initializing|Armed|Polling|Disabled))"},
    SettingRow{"device info", "port", "physical state",
               R"(^\s*(?:Physical state|phys state):\s*(?:\d: )?(?P<value>\w+))"},
    SettingRow{"device info", "port", "rate", R"(^\s*[Rr]ate:\s*(?P<value>\d+))"},
    SettingRow{"device info", "port", "width", R"(^\s*[Rr]ate:\s*[\d.]+ Gb/sec \((?P<value>\d+X))"},
    SettingRow{"device info", "port", "width", R"(^\s*active_width:\s*(?P<value>\d+X))"},
    SettingRow{"device info", "device", "firmware",
               R"(^\s*(?:fw_ver|firmware-version|Firmware version):\s*(?P<value>\S+))"},
    SettingRow{"device info", "device", "driver", R"(^driver:\s*(?P<value>\S+))"},
    SettingRow{"device info", "device", "driver version", R"(^version:\s*(?P<value>\S+))"},
    SettingRow{"RDMA link", "port", "state",
               R"(^link (?P<device>[\w.-]+)/\d+ (?:.*)?state (?P<value>\w+) physical_state)"},
    SettingRow{"RDMA link", "port", "physical state",
               R"(^link (?P<device>[\w.-]+)/\d+ .*physical_state (?P<value>\w+))"},
    SettingRow{"interface", "interface", "switched off",
               R"(^\d+: (?P<device>ib[\w.-]+)(?:@\S+)?: <(?P<value>BROADCAST,MULTICAST)>)"},
    SettingRow{"interface", "interface", "MTU", R"(^\d+: (?P<device>[\w.-]+)(?:@\S+)?: <.*mtu (?P<value>\d+))", true},
    SettingRow{"interface", "interface", "MTU", R"(^(?P<device>\w[\w.-]*)[: ].*[Mm][Tt][Uu][: =](?P<value>\d+))"},
    SettingRow{"interface", "interface", "speed", R"(^\s*Speed: (?P<value>\S+))"},
    SettingRow{"interface", "interface", "link", R"(^\s*Link detected: (?P<value>\w+))"},
    SettingRow{"PCIe", "PCIe", "ACS", R"(^\s*ACSCtl:\s*(?P<value>.*\S)\s*$)"},
    SettingRow{"PCIe", "PCIe", "link", R"(LnkSta:\s*(?P<value>Speed .*Width \S+.*\S))"},
    SettingRow{"PCIe", "PCIe", "max read request", R"(MaxReadReq (?P<value>\d+))"},
    SettingRow{"QoS settings", "QoS", "trust", R"((?i)Priority trust state:\s*(?P<value>\w+))"},
    SettingRow{"QoS settings", "QoS", "DCBX mode", R"((?i)DCBX mode:\s*(?P<value>\S.*\S))"},
    SettingRow{"QoS settings", "QoS", "PFC enabled", R"(^\s*enabled\s+(?P<value>[01](?:\s+[01]){7})\s*$)"},
    SettingRow{"QoS settings", "QoS", "PFC enabled", R"(prio-pfc\s+(?P<value>0:\w+.*7:\w+))"},
    SettingRow{"QoS settings", "QoS", "traffic class",
               R"((?:^|/)traffic_class[:= ]+(?:Global tclass=)?(?P<value>\d+))"},
    SettingRow{"QoS settings", "QoS", "ECN", R"(/ecn/(?P<name>roce_\w+/enable/\d):(?P<value>[01]))"},
    SettingRow{"memory limit", "limit", "memlock",
               R"((?:max locked memory|Max locked memory).*?(?P<value>unlimited|\d+)\s*(?:bytes|\d+|$))"},
    SettingRow{"memory limit", "limit", "nofile", R"(^(?:Max open files|open files)\D+?(?P<value>\d+)\b)"},
    SettingRow{"kernel", "kernel", "command line", R"((?:Command line:|Kernel command line:) (?P<value>.*))"},
    SettingRow{"RDMA link", "RoCE mode", "mode", R"(^(?P<value>IB/RoCE v1|RoCE v2)\s*$)"},
    SettingRow{"device limits", "most", "qp", R"(^\s*max_qp:\s*(?P<value>\d+))"},
    SettingRow{"device limits", "most", "cq", R"(^\s*max_cq:\s*(?P<value>\d+))"},
    SettingRow{"device limits", "most", "mr", R"(^\s*max_mr:\s*(?P<value>\d+))"},
    SettingRow{"device limits", "most", "srq", R"(^\s*max_srq:\s*(?P<value>\d+))"},
    SettingRow{"RDMA resources", "in use", "qp", R"(^\d+: (?P<device>[\w.-]+): .*\bqp (?P<value>\d+))"},
    SettingRow{"RDMA resources", "in use", "cq", R"(^\d+: (?P<device>[\w.-]+): .*\bcq (?P<value>\d+))"},
    SettingRow{"RDMA resources", "in use", "mr", R"(^\d+: (?P<device>[\w.-]+): .*\bmr (?P<value>\d+))"},
    SettingRow{"RDMA resources", "in use", "srq", R"(^\d+: (?P<device>[\w.-]+): .*\bsrq (?P<value>\d+))"},
    SettingRow{"benchmark output", "buffer", "of a GPU",
               R"((?:cuMemAlloc|hipMalloc)\S* of a (?P<value>\d+) bytes GPU buffer)"},
    SettingRow{"ping", "ping", "loss", R"(packets transmitted, \d+ received, .*?(?P<value>[\d.]+)% packet loss)"},
    SettingRow{"interface", "interface", "VLAN", R"(^\s+vlan protocol 802\.1Q id (?P<value>\d+))"},
    SettingRow{"interface", "interface", "address",
               R"(^\s+inet (?P<value>\d+\.\d+\.\d+\.\d+/\d+)(?:.* (?P<device>[\w.-]+))?\s*$)"},
    SettingRow{"interface", "interface", "address",
               R"(^(?P<device>[\w.-]+)(?:@\S+)?\s+(?:UP|DOWN|UNKNOWN)\s+(?P<value>\d+\.\d+\.\d+\.\d+/\d+))"},
    SettingRow{"interface", "interface", "FEC", R"(^Active FEC encodings?:\s*(?P<value>\S+))"},
    SettingRow{"interface", "virtual function", "", R"(^\s+vf (?P<name>\d+) .*link-state (?P<value>\w+))"},
    SettingRow{"interface", "port", "state", R"(^(?P<device>[\w.-]+) port \d+ ==> \S+ \((?P<value>Up|Down)\))"},
    SettingRow{"neighbours", "neighbour", "",
               R"(^(?P<name>[0-9a-fA-F.:]{3,39}) (?:dev (?P<device>\S+) )?.*\b(?P<value>FAILED|INCOMPLETE)\s*$)"},
    SettingRow{"neighbours", "behind port", "system",
               R"(^(?P<device>Ethernet\d+|swp\d\S*)\s+(?P<value>[A-Za-z][\w.-]*)\s+\S+\s+[A-Z]+\b)"},
    SettingRow{"kernel settings", "sysctl", "",
               R"(^(?P<name>(?:net|vm|kernel|fs)\.[\w./-]+)\s*=\s*(?P<value>-?\d+)\s*$)"},
    SettingRow{"kernel settings", "drops", "reverse path filter", R"(^TcpExtIPReversePathFilter\s+(?P<value>\d+))"},
    SettingRow{"switch settings", "switch port", "PFC state",
               R"(^(?P<device>Et(?:hernet)?\d\S*)\s+(?P<value>D)\s+-\s+-\s)"},
    SettingRow{"pause settings", "interface", "pause settings",
               R"(^Pause parameters for (?P<value>(?P<device>[\w.-]+)):)", true},
    SettingRow{"pause settings", "QoS", "global pause (802.3x) RX", R"(^RX:\s+(?P<value>on|off)\s*$)"},
    SettingRow{"pause settings", "QoS", "global pause (802.3x) TX", R"(^TX:\s+(?P<value>on|off)\s*$)"},
    SettingRow{"device info", "device", "NUMA node", R"(/(?P<device>[\w.-]+)/device/numa_node[: ]+(?P<value>\d+))"},
    SettingRow{"device info", "device", "NUMA node", R"(^\s*NUMA node: (?P<value>\d+)\s*$)"},
    SettingRow{"bond", "bond leg", "interface", R"(^Slave Interface: (?P<value>(?P<device>\S+)))", true},
    SettingRow{"bond", "bond leg", "aggregator", R"(^Aggregator ID: (?P<value>\d+))"},
    SettingRow{"bond", "bond leg", "partner churn", R"(^Partner Churn State: (?P<value>\w+))"},
    SettingRow{"bond", "bond leg", "system", R"(^\s+system mac address: (?P<value>[0-9a-f:]{17}))"},
    SettingRow{"firewall", "firewall", "refuses", R"(^-P INPUT (?P<value>DROP|REJECT))"},
    SettingRow{"firewall", "firewall", "refuses", R"(^Chain INPUT \(policy (?P<value>DROP|REJECT))"},
    SettingRow{"firewall", "firewall", "refuses",
               R"(^(?:-A INPUT -j (?P<value>REJECT|DROP)\b.*|-A INPUT -j (?:LOG|ULOG) .*)$)"},
    SettingRow{"firewall", "firewall", "refuses", R"(^(?P<value>\w+) \(active\)\s*$)"},
    SettingRow{"firewall", "firewall", "refuses", R"(^Status: (?P<value>active)\s*$)"},
    SettingRow{"firewall", "firewall", "accepts", R"(^-A INPUT .*--dports? (?P<value>[\d:,]+)(?: .*)?-j ACCEPT)"},
    SettingRow{"firewall", "firewall", "accepts", R"(^\s+ports:\s+(?P<value>\d\S*(?: \d\S*)*)\s*$)"},
    SettingRow{"request", "asked", "",
               R"(\b(?P<name>max_(?:dest_)?rd_atomic|max_(?:send|recv)_(?:wr|sge)|cqe)\s*[=:]\s*(?P<value>\d+))"},
    SettingRow{"RDMA system", "RDMA system", "netns", R"(^netns (?P<value>shared|exclusive)\b)"},
    SettingRow{"device limits", "device", "atomics", R"(^\s*atomic_cap:\s*(?P<value>ATOMIC_\w+))"},
    SettingRow{"device limits", "most", "rd_atomic", R"(^\s*max_qp_(?:init_)?rd_atom:\s*(?P<value>\d+))"},
    SettingRow{"device limits", "most", "wr", R"(^\s*max_qp_wr:\s*(?P<value>\d+))"},
    SettingRow{"device limits", "most", "sge", R"(^\s*max_sge:\s*(?P<value>\d+))"},
    SettingRow{"device limits", "most", "cqe", R"(^\s*max_cqe:\s*(?P<value>\d+))"},
    SettingRow{"P_Key table", "P_Key", "", R"(/pkeys/(?P<name>\d+)[: ]+(?P<value>0x[0-9a-fA-F]{4}))"},
    SettingRow{"benchmark output", "GID in use", "index", R"(^\s*GID index\s*:\s*(?P<value>\d+)\s*$)"},
    SettingRow{"kernel", "module", "loaded", R"(^(?P<value>nvidia_peermem|nv_peer_mem|gdrdrv)\s+\d+)"},
};

// Most lines have no setting: one pass over the line tells which of all patterns to try.
class Patterns {
public:
    Patterns() : any_(quiet(), RE2::UNANCHORED) {
        for (const SettingRow& row : kSettings) {
            all_.push_back(std::make_unique<RE2>(piece(row.pattern), RE2::Latin1));
            any_.Add(piece(row.pattern), nullptr);
        }
        any_.Compile();
    }
    [[nodiscard]] const RE2& of(std::size_t row) const { return *all_[row]; }
    // Places of rows that the line may fit, in the order of the table: all of them where it asks for too much memory.
    [[nodiscard]] std::vector<int> fitting(std::string_view line) const {
        std::vector<int> rows;
        RE2::Set::ErrorInfo error{RE2::Set::kNoError};
        if (!any_.Match(piece(line), &rows, &error) && error.kind != RE2::Set::kNoError) {
            rows.resize(all_.size());
            std::iota(rows.begin(), rows.end(), 0);
        }
        std::ranges::sort(rows);
        return rows;
    }

private:
    static RE2::Options quiet() {
        RE2::Options made(RE2::Latin1);
        made.set_log_errors(false);
        return made;
    }

    std::vector<std::unique_ptr<RE2>> all_;
    RE2::Set any_;
};

std::string group(const RE2& pattern, const std::vector<re2::StringPiece>& found, const char* name) {
    const auto& names = pattern.NamedCapturingGroups();
    const auto at = names.find(name);
    if (at == names.end()) return {};
    const re2::StringPiece& text = found[static_cast<std::size_t>(at->second)];
    return text.data() == nullptr ? std::string() : std::string(text.data(), std::min(text.size(), kMostWord));
}

// "export NCCL_IB_GID_INDEX=3", also before a command: names in capitals of the libraries that we know.
bool take_environment(std::string_view line, const LineState& state, Case& found) {
    static const RE2 each(
        R"(\b((?:NCCL|RCCL|UCX|OMPI|FI|MLX5|RDMAV|IBV|TORCH_NCCL|GLOO|NVSHMEM|MV2)_[A-Z0-9_]+)\s*=\s*("[^"]*"|'[^']*'|[^\s;]+))");
    re2::StringPiece left(piece(line));
    std::string name, value;
    bool any = false;
    while (RE2::FindAndConsume(&left, each, &name, &value)) {
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\''))
            value = value.substr(1, value.size() - 2);
        add(found,
            Setting{{}, {}, "environment", name.substr(0, kMostWord), value.substr(0, kMostWord), state.place()});
        any = true;
    }
    return any;
}

}  // namespace

std::string_view take_gid(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "GID table";
    static const RE2 row(
        R"(^(\S+)\s+(\d+)\s+(\d+)\s+([0-9a-f]{4}(?::[0-9a-f]{4}){7})\s+(?:(\d+\.\d+\.\d+\.\d+)\s+)?(v[12]|RoCE v[12]|IB/RoCE v1)(?:\s+(\S+))?)");
    static const RE2 verbose(R"(GID\[\s*(\d+)\]:\s*([0-9a-f:.]+)(?:, ?(RoCE v[12]|IB/RoCE v1))?)");
    static const RE2 sysfs(R"(/infiniband/([\w.-]+)/ports/\d+/gids/(\d+)[: ]+([0-9a-f:]+))");
    static const RE2 type(R"(/infiniband/([\w.-]+)/ports/\d+/gid_attrs/types/(\d+)[: ]+(.*\S))");
    std::string device, port, index, gid, ip, kind, netdev;
    const auto put = [&](std::string_view name, std::string value) {
        if (!value.empty())
            add(found, Setting{{}, device, "GID " + index, std::string(name), std::move(value), state.place()});
    };
    if (finds(line, row, &device, &port, &index, &gid, &ip, &kind, &netdev)) {
        put("address", gid);
        put("type", kind.ends_with("2") ? "RoCE v2" : "RoCE v1");
        if (!ip.empty()) put("IP", ip);
        return kName;
    }
    if (finds(line, verbose, &index, &gid, &kind)) {
        device = state.device;
        put("address", gid);
        if (!kind.empty()) put("type", kind.ends_with("2") ? "RoCE v2" : "RoCE v1");
        return kName;
    }
    if (finds(line, sysfs, &device, &index, &gid)) return put("address", gid), kName;
    if (finds(line, type, &device, &index, &kind)) {
        put("type", kind.ends_with("2") ? "RoCE v2" : "RoCE v1");
        return kName;
    }
    static const RE2 none(R"(^n_gids_found=0\s*$)");
    if (finds(line, none)) add(found, Setting{{}, {}, "GID table", "entries", "0", state.place()});
    static const RE2 head(R"(^DEV\s+PORT\s+INDEX\s+GID|^---\s+----|^n_gids_found=)");
    return finds(line, head) ? kName : std::string_view{};
}

std::string_view take_setting(std::string_view line, LineState& state, Case& found) {
    static const Patterns patterns;
    static const RE2 device(R"(^\s*(?:hca_id:\s*|CA '|Infiniband device ')([\w.-]+))");
    static const RE2 interface(R"(^Settings for ([\w.-]+):)");
    static const RE2 address(R"(^\s*([A-Za-z][\w.-]*)\s+(\d+\.\d+\.\d+\.\d+)\s*$)");
    std::string name, value;
    if (finds(line, device, &name) || finds(line, interface, &name)) {
        state.device = name;
        return "device info";
    }
    // Open MPI names host and device of a complaint below it.
    static const RE2 local(R"(^\s*Local (host|device|adapter):\s+([\w.-]+)\s*$)");
    if (finds(line, local, &name, &value)) {
        if (name == "host") say_host(found, state, value.substr(0, value.find('.')));
        else if (!found.events.empty() && found.events.back().kind == EventKind::notice &&
                 found.events.back().place.file == state.file)
            found.events.back().device = value.substr(0, kMostWord);
        return "MPI log";
    }
    if (finds(line, address, &name, &value)) {
        add_address(found, value, name);
        return "list of hosts";
    }
    // "cma_roce_tos -d mlx5_0", "cat /sys/.../roce_np/enable/3", then the value alone.
    static const RE2 alone(R"(^\s*(\d{1,9}|0x[0-9a-fA-F]{4}|unlimited)\s*$)");
    static const RE2 shown(R"(^cat (/sys/\S+)$)");
    if (finds(line, alone, &value)) {
        if (state.command.contains("cma_roce_tos")) {
            add(found,
                Setting{{}, state.device, "QoS", "traffic class of rdma_cm (cma_roce_tos)", value, state.place()});
            return "QoS settings";
        }
        if (state.command.contains("ulimit -l")) {
            add(found, Setting{{}, {}, "limit", "memlock", value, state.place()});
            return "memory limit";
        }
        if (finds(state.command, shown, &name)) {
            const std::string whole = name + ":" + value;
            state.command.clear();
            return take_setting(whole, state, found);
        }
        return {};
    }
    std::string_view kind;
    for (const int fits : patterns.fitting(line)) {
        const auto i = static_cast<std::size_t>(fits);
        const RE2& pattern = patterns.of(i);
        std::vector<re2::StringPiece> groups(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1);
        if (!pattern.Match(piece(line), 0, line.size(), RE2::UNANCHORED, groups.data(),
                           static_cast<int>(groups.size())))
            continue;
        const SettingRow& row = kSettings[i];
        Setting setting{{},
                        group(pattern, groups, "device"),
                        std::string(row.subject),
                        std::string(row.name),
                        group(pattern, groups, "value"),
                        state.place()};
        if (row.begins) state.device = setting.device;
        if (setting.value.empty()) continue;
        if (setting.device.empty()) setting.device = state.device;
        if (setting.subject == "ping") setting.device = state.command;
        if (std::string given = group(pattern, groups, "name"); !given.empty()) setting.name = std::move(given);
        add(found, std::move(setting));
        kind = row.kind;
    }
    if (kind.empty() && take_environment(line, state, found)) kind = "environment";
    return kind;
}

std::string_view take_command(std::string_view line, LineState& state, Case& found) {
    static const RE2 prompt(R"(^\[?\w[\w.-]*@([\w-]+)[^#$]*[#$] (.*))");
    static const RE2 plain(R"(^[#$] +(\S.*))");
    static const RE2 device(R"((?:/infiniband/|-d |-C )([a-z][\w.-]*))");
    static const RE2 interface(R"(ethtool (?:-\w+ )?([a-z][\w.-]*))");
    static const RE2 slow(R"(^real\s+(\d+)m([\d.]+)s)");
    std::string host, command, name;
    if (finds(line, slow, &host, &command)) {
        add(found, Setting{{}, {}, "duration", state.command, host + "m" + command + "s", state.place()});
        return "shell transcript";
    }
    static const RE2 bare(R"(^([A-Za-z][\w.-]*)[$#] (\S.*))");  // "node-a$ show_gids"
    const bool prompted = finds(line, prompt, &host, &command) || finds(line, bare, &host, &command);
    if (!prompted && !finds(line, plain, &command)) return {};
    if (prompted) state.host = host.substr(0, kMostWord);
    state.command = command.substr(0, kMostWord);
    if (RE2::PartialMatch(piece(command), device, &name) || RE2::PartialMatch(piece(command), interface, &name)) {
        state.device = name;
        state.dump = SIZE_MAX;
    }
    take_environment(command, state, found);
    return "shell transcript";
}

}  // namespace qps::casework
