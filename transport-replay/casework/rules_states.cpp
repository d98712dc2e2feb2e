// Rules about what settings and states of several places show together: VLANs and addresses, bonds, P_Keys, neighbours,
// filters, virtual functions, FEC, and what a program asks of a device.
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/claims.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace qps::casework {

namespace {

using Settings = std::vector<const Setting*>;

Settings settings_of(const Case& read, std::string_view subject, std::string_view name = {}) {
    Settings found;
    for (const Setting& each : read.settings)
        if (each.subject == subject && (name.empty() || each.name == name)) found.push_back(&each);
    return found;
}

// Somebody could not connect, or got no answer.
bool no_connection(const Case& read) {
    return no_answer(read) || !events_of(read, {EventKind::address_unresolved, EventKind::rejected}).empty();
}

// "10.0.0.7/24" -> its network and length.
struct Subnet {
    std::uint32_t network = 0;
    unsigned length = 0;
    [[nodiscard]] bool operator==(const Subnet&) const = default;
};
std::optional<Subnet> subnet_of(std::string_view text) {
    std::uint32_t address = 0;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (int part = 0; part < 4; ++part) {
        unsigned byte = 0;
        const auto [next, error] = std::from_chars(at, end, byte);
        if (error != std::errc{} || byte > 255 || next == end || *next != (part == 3 ? '/' : '.')) return std::nullopt;
        address = address << 8U | byte;
        at = next + 1;
    }
    Subnet made;
    if (std::from_chars(at, end, made.length).ec != std::errc{} || made.length == 0 || made.length > 32)
        return std::nullopt;
    made.network = address & ~static_cast<std::uint32_t>((std::uint64_t{1} << (32 - made.length)) - 1);
    return made;
}

// Addresses of one subnet on interfaces of two VLANs: no frame of one reaches the other.
void judge_vlans(const Case& read, Verdict& verdict) {
    struct Leg {
        const Setting* vlan = nullptr;
        const Setting* address = nullptr;
        Subnet subnet;
    };
    std::vector<Leg> legs;
    for (const Setting* address : settings_of(read, "interface", "address")) {
        const auto subnet = subnet_of(address->value);
        for (const Setting* vlan : settings_of(read, "interface", "VLAN"))
            if (subnet && vlan->host == address->host && vlan->device == address->device)
                legs.push_back({vlan, address, *subnet});
    }
    for (const Leg& a : legs)
        for (const Leg& b : legs) {
            if (a.vlan->host >= b.vlan->host || a.subnet != b.subnet || a.vlan->value == b.vlan->value) continue;
            const bool failed = no_connection(read);
            claim(verdict, "case-vlans-differ", failed ? Weight::decisive : Weight::shown, Party::host_setting,
                  b.vlan->host,
                  fmt::format("the VLAN differs: {} of {} ({}) is in VLAN {}, {} of {} ({}) in VLAN {}, with addresses "
                              "of one subnet: neither reaches the other, not even by ARP",
                              a.vlan->device, at_host(a.vlan->host), a.address->value, a.vlan->value, b.vlan->device,
                              at_host(b.vlan->host), b.address->value, b.vlan->value),
                  {a.vlan->place, b.vlan->place, a.address->place, b.address->place});
            next_step(verdict,
                      "ip -d link on both hosts, and the VLANs that the switch allows on their ports (switchport, "
                      "bridge vlan): one VLAN for one subnet",
                      "both hosts",
                      {{"ping and arping work once both are in one VLAN", "that was the cause"},
                       {"they do not", "the switch does not carry that VLAN to one of the ports"}});
            return;
        }
}

// Two interfaces of a host in one subnet, and a filter that drops what comes in by the other one.
void judge_reverse_path(const Case& read, Verdict& verdict) {
    std::map<std::string, const Setting*> strict;  // of each host
    for (const Setting* each : settings_of(read, "sysctl"))
        if (each->name.ends_with(".rp_filter") && each->value == "1") strict.emplace(each->host, each);
    for (const auto& [host, filter] : strict) {
        Settings addresses;
        for (const Setting* each : settings_of(read, "interface", "address"))
            if (each->host == host) addresses.push_back(each);
        for (const Setting* a : addresses)
            for (const Setting* b : addresses) {
                const auto one = subnet_of(a->value), other = subnet_of(b->value);
                if (a->device >= b->device || !one || one != other) continue;
                std::string dropped;
                std::vector<Place> evidence{filter->place, a->place, b->place};
                for (const Setting* drops : settings_of(read, "drops", "reverse path filter"))
                    if (drops->host == host && drops->value != "0") {
                        dropped = fmt::format(" (TcpExtIPReversePathFilter {})", drops->value);
                        evidence.push_back(drops->place);
                    }
                const bool shown = !dropped.empty() && no_connection(read);
                claim(verdict, "case-reverse-path-filter", shown ? Weight::shown : Weight::hint,
                      shown ? Party::host_setting : Party::undecided, host,
                      fmt::format("{}: two interfaces ({} {}, {} {}) are in the same subnet, and rp_filter is 1 "
                                  "(strict): the kernel answers by one of them and drops packets that come in by the "
                                  "other{}; addresses of RDMA then do not resolve, or resolve to the wrong adapter",
                                  at_host(host), a->device, a->value, b->device, b->value, dropped),
                      std::move(evidence));
                next_step(verdict,
                          "sysctl net.ipv4.conf.all.rp_filter=2, arp_ignore=1, arp_announce=2, and a routing table for "
                          "each interface (ip rule); better a subnet for each",
                          at_host(host),
                          {{"it connects then", "that was the cause"}, {"it does not", "ip neigh on the peer"}});
                return;
            }
    }
}

// Limited members of a partition of InfiniBand reach its full members alone.
void judge_partitions(const Case& read, Verdict& verdict) {
    constexpr std::uint64_t kFull = 0x8000, kKey = 0x7fff;
    std::map<std::string, std::map<std::uint64_t, const Setting*>> hosts;
    for (const Setting* each : settings_of(read, "P_Key"))
        if (const auto key = dissect::parse_number(each->value); key && (*key & kKey) != 0 && !each->host.empty())
            hosts[each->host].emplace(*key, each);
    for (const auto& [a, keys] : hosts)
        for (const auto& [b, others] : hosts) {
            if (a >= b) continue;
            const auto meets = [&](bool full) {
                for (const auto& [key, setting] : keys)
                    for (const auto& [other, its] : others)
                        if ((key & kKey) == (other & kKey) && (!full || ((key | other) & kFull) != 0)) return true;
                return false;
            };
            if (meets(true)) continue;
            const bool limited = meets(false);
            const bool failed = no_answer(read);
            claim(verdict, "case-partitions-apart", failed ? Weight::decisive : Weight::shown, Party::undecided, a,
                  fmt::format("{} (P_Key {}) and {} (P_Key {}) {}: the adapters drop each other's packets without an "
                              "answer, whatever the links are",
                              a, keys.begin()->second->value, b, others.begin()->second->value,
                              limited ? "are both limited members of their partition (no bit 0x8000), and limited "
                                        "members may reach full members only"
                                      : "have no partition in common"),
                  {keys.begin()->second->place, others.begin()->second->place});
            undecided(verdict, "undecided: whether the subnet manager's partitions or the choice of hosts is wrong");
            next_step(verdict,
                      "partitions.conf of opensm (or the SM of the switch): one end full (=full, 0xffff), then "
                      "smpquery pkeys on both ports",
                      "the subnet manager",
                      {{"one is full, and they meet", "the membership was the cause"},
                       {"they do not", "the index of the P_Key that the program uses"}});
            return;
        }
}

// A leg of a bond without a partner in LACP carries nothing.
void judge_bond_legs(const Case& read, Verdict& verdict) {
    for (const Setting* leg : settings_of(read, "bond leg", "system")) {
        if (leg->value != "00:00:00:00:00:00") continue;
        const auto of_leg = [&](std::string_view name, const Setting& its) -> const Setting* {
            for (const Setting* each : settings_of(read, "bond leg", name))
                if (each->host == its.host && each->device == its.device) return each;
            return nullptr;
        };
        const Setting* aggregator = of_leg("aggregator", *leg);
        const Setting* other = nullptr;
        for (const Setting* each : settings_of(read, "bond leg", "aggregator"))
            if (aggregator != nullptr && each->host == leg->host && each->device != leg->device &&
                each->value != aggregator->value)
                other = each;
        if (other == nullptr) continue;
        const Setting* churn = of_leg("partner churn", *leg);
        claim(verdict, "case-bond-leg-alone", Weight::shown, Party::switch_setting, leg->host,
              fmt::format("{}: {} of the bond (LACP, 802.3ad) has no partner (system 00:00:00:00:00:00{}) and is in "
                          "aggregator {}, not in that of {} ({}): only one leg carries traffic, half of the bond",
                          at_host(leg->host), leg->device,
                          churn == nullptr ? "" : fmt::format(", partner {}", churn->value), aggregator->value,
                          other->device, other->value),
              {leg->place, aggregator->place, other->place});
        next_step(verdict,
                  "on the switch of that leg: show lacp neighbor, show interfaces portchannel (is the port in the "
                  "channel, and of the same MLAG?)",
                  "the switch",
                  {{"the port is in no channel, or in another", "put it into the channel of the other leg"},
                   {"it is", "the cable leads to another port: LLDP on both ends"}});
        return;
    }
}

// Addresses that the kernel asked for and nobody answered.
void judge_neighbours(const Case& read, Verdict& verdict) {
    std::map<std::string, Settings> failed;
    for (const Setting* each : settings_of(read, "neighbour")) failed[each->host].push_back(each);
    for (const auto& [host, list] : failed) {
        std::set<std::string> names;
        std::vector<Place> evidence;
        for (const Setting* each : list) {
            names.insert(each->device.empty() ? each->name : fmt::format("{} ({})", each->name, each->device));
            if (evidence.size() < 4) evidence.push_back(each->place);
        }
        const bool shown = no_connection(read);
        claim(
            verdict, "case-neighbour-unresolved", shown ? Weight::shown : Weight::hint, Party::undecided, host,
            fmt::format("{}: the neighbour {} did not resolve (FAILED or INCOMPLETE): nobody answered to ARP or ND for "
                        "it, so nothing can be sent there, neither by TCP nor by RoCE",
                        at_host(host), list_text(names)),
            std::move(evidence));
        undecided(verdict, "undecided: whether that host, its address, its VLAN or the path is wrong");
        next_step(verdict,
                  "arping -I IF that address; ip -br addr and link on the host that should have it; its VLAN and port "
                  "on the switch; capture arp there",
                  at_host(host),
                  {{"the request arrives there", "its address, arp_ignore or rp_filter"},
                   {"it does not", "VLAN, switch port or cable between"}});
    }
}

// A virtual function whose link its host has switched off.
void judge_virtual_functions(const Case& read, Verdict& verdict) {
    for (const Setting* each : settings_of(read, "virtual function")) {
        if (each->value != "disable") continue;
        const bool down = std::ranges::any_of(settings_of(read, "port", "state"), [&](const Setting* port) {
            return port->host != each->host && (port->value == "PORT_DOWN" || port->value.starts_with("D"));
        });
        claim(
            verdict, "case-virtual-function-off", down ? Weight::shown : Weight::hint,
            down ? Party::host_setting : Party::undecided, each->host,
            fmt::format("{}: virtual function {} (VF {}) of {} has its link switched off (link-state disable): in its "
                        "machine the port is down, whatever the cable does; not the network",
                        at_host(each->host), each->name, each->name, each->device),
            {each->place});
        next_step(verdict, fmt::format("ip link set {} vf {} state auto", each->device, each->name),
                  at_host(each->host),
                  {{"the port of the guest comes up", "that was the cause"},
                   {"it stays down", "another function belongs to that guest, or its driver is not bound"}});
        return;
    }
}

// Interfaces of IPoIB that nobody switched on: rdma_cm finds no address of their ports.
void judge_ipoib_off(const Case& read, Verdict& verdict) {
    std::map<std::string, Settings> hosts;
    for (const Setting* each : settings_of(read, "interface", "switched off")) hosts[each->host].push_back(each);
    for (const auto& [host, list] : hosts) {
        std::set<std::string> names;
        for (const Setting* each : list) names.insert(each->device);
        claim(verdict, "case-ipoib-off", Weight::hint, Party::undecided, host,
              fmt::format(
                  "{}: the IPoIB interface {} is switched off (state DOWN without the flag UP): it has no address "
                  "that leads anywhere, and libraries that connect by IP (rdma_cm, verbs of libfabric) find no "
                  "device there",
                  at_host(host), list_text(names)),
              {list.front()->place});
        next_step(verdict,
                  "ip link set IF up, an address on it (ip addr add), ibstat of its port; then fi_info -p verbs",
                  at_host(host),
                  {{"the library finds it then", "that was the cause"},
                   {"it does not", "the port: state and subnet manager (ibstat)"}});
    }
}

// FEC of a host's interface and of a port of a switch, where one of them has no link.
void judge_fec(const Case& read, Verdict& verdict) {
    const auto kind = [](std::string_view value) -> std::string_view {
        std::string low(value);
        std::ranges::transform(low, low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (low.starts_with("rs")) return "rs";
        if (low.starts_with("base") || low.starts_with("fc")) return "fc";
        if (low == "off" || low == "none") return "none";
        return {};
    };
    const auto hosts = settings_of(read, "interface", "FEC");
    const auto ports = settings_of(read, "switch port", "port FEC");
    const bool down = std::ranges::any_of(read.settings, [](const Setting& each) {
        return (each.name == "link" && each.value == "no") || (each.name == "state" && each.value == "DOWN");
    });
    if (hosts.size() != 1 || ports.size() != 1 || !down) return;
    const auto a = kind(hosts.front()->value), b = kind(ports.front()->value);
    if (a.empty() || b.empty() || a == b) return;
    claim(
        verdict, "case-fec-differs", Weight::shown, Party::undecided, hosts.front()->host,
        fmt::format("the FEC differs: {} on {} of {}, {} on {} of {}: a link comes up only where both of its ends use "
                    "the same, and it is down",
                    hosts.front()->value, hosts.front()->device, at_host(hosts.front()->host), ports.front()->value,
                    ports.front()->device, at_host(ports.front()->host)),
        {hosts.front()->place, ports.front()->place});
    undecided(verdict, "undecided: which of the two ends has the wrong FEC: the cable and speed ask for one");
    next_step(verdict,
              "ethtool --set-fec IF encoding rs (or auto) on the host, or the port's FEC on the switch: 100G of four "
              "lanes by optics and all above use rs",
              "both ends",
              {{"the link comes up", "that was the cause"}, {"it stays down", "speed, autonegotiation or the cable"}});
}

// PFC that hosts use and ports of a switch have off.
void judge_pfc_of_ports(const Case& read, Verdict& verdict) {
    const auto off = settings_of(read, "switch port", "PFC state");
    if (off.empty()) return;
    const Setting* host = nullptr;
    for (const Setting* each : settings_of(read, "QoS", "PFC enabled"))
        if (each->value.contains('1') && each->host != off.front()->host) host = each;
    std::set<std::string> ports;
    for (const Setting* each : off) ports.insert(each->device);
    std::vector<Place> evidence{off.front()->place};
    if (host != nullptr) evidence.push_back(host->place);
    claim(
        verdict, "case-pfc-off-at-switch", host != nullptr ? Weight::shown : Weight::hint,
        host != nullptr ? Party::switch_setting : Party::undecided, off.front()->host,
        fmt::format("{}: PFC is disabled on the ports {}{}: a pause of one end is not heeded by the other, and packets "
                    "are dropped when a buffer is full",
                    off.front()->host.empty() ? "the switch" : off.front()->host, list_text(ports),
                    host == nullptr
                        ? ""
                        : fmt::format(", while {} has it enabled (by priority: {})", at_host(host->host), host->value)),
        std::move(evidence));
    next_step(
        verdict,
        "priority-flow-control on those ports for the priority of RDMA, and the same priority and trust (DSCP) on "
        "hosts (mlnx_qos -i IF); then the drops of the ports twice",
        "the switch",
        {{"drops stop", "that was the cause"}, {"they go on", "the class that RDMA uses: DSCP map, ECN"}});
}

// An atomic operation towards a device that has none.
void judge_atomics(const Case& read, Verdict& verdict) {
    const Event* refused = nullptr;
    for (const Event* event : events_of(read, {EventKind::completion_error}))
        if (event->status == 9U || event->status == 2U) refused = event;
    for (const Setting* each : settings_of(read, "device", "atomics")) {
        if (each->value != "ATOMIC_NONE" || refused == nullptr) continue;
        claim(verdict, "case-no-atomics", Weight::hint, Party::undecided, each->host,
              fmt::format("{}: its device has no atomic operations (atomic_cap: ATOMIC_NONE): an atomic request "
                          "(compare and swap, fetch and add) is refused there as an invalid request (status 9)",
                          at_host(each->host)),
              {each->place, refused->place});
        next_step(verdict, "atomic_cap of ibv_devinfo -v on both hosts; does the program use atomics?", "both hosts",
                  {{"it does", "take a device that has them, or a way without atomics (locks by messages)"},
                   {"it does not", "the size of the receive and the access flags of the queue pair"}});
        return;
    }
}

// A process that ended, and few open files that it may have.
void judge_open_files(const Case& read, Verdict& verdict) {
    constexpr std::uint64_t kFew = 4'096;  // a busy server with a connection to each peer needs more
    for (const Setting* each : settings_of(read, "limit", "nofile")) {
        const auto limit = dissect::parse_decimal(each->value);
        const auto ended = events_of(read, {EventKind::process_ended});
        const auto its = std::ranges::find_if(ended, [&](const Event* event) { return event->host == each->host; });
        if (!limit || *limit > kFew || its == ended.end()) continue;
        claim(verdict, "case-open-files", Weight::hint, Party::undecided, each->host,
              fmt::format("{}: its process may have {} open files, and ended ({}): each connection of RDMA takes some "
                          "(channels of completions and events), so a busy program runs out of descriptors",
                          at_host(each->host), *limit, (*its)->text),
              {each->place, (*its)->place});
        next_step(verdict,
                  "LimitNOFILE of its service (ulimit -n) to 65536 or more; ls /proc/PID/fd | wc -l under load",
                  at_host(each->host),
                  {{"it runs with more", "that was the cause"},
                   {"it ends still", "its backtrace (gdb, coredumpctl): which call failed"}});
        return;
    }
}

// What a program asks for above what its device has.
void judge_asked(const Case& read, Verdict& verdict) {
    for (const Setting* asked : settings_of(read, "asked")) {
        for (const Setting* most : settings_of(read, "most")) {
            if (!asked->name.contains(most->name)) continue;
            if (most->host != asked->host && !most->host.empty() && !asked->host.empty()) continue;
            const auto wants = dissect::parse_decimal(asked->value), has = dissect::parse_decimal(most->value);
            if (!wants || !has || *wants <= *has) continue;
            const bool failed = !events_of(read, {EventKind::setup_failed, EventKind::memory_refused}).empty();
            claim(verdict, "case-more-than-device", failed ? Weight::decisive : Weight::hint,
                  failed ? Party::application : Party::undecided, asked->host,
                  fmt::format("{}: the program asks for {} = {}, and the device takes {} at most ({}): it refuses the "
                              "queue pair; not the network",
                              at_host(asked->host), asked->name, asked->value, most->value,
                              most->name == "rd_atomic" ? "max_qp_rd_atom, outstanding reads and atomics"
                                                        : fmt::format("max_{}", most->name)),
                  {asked->place, most->place});
            next_step(verdict,
                      fmt::format("the program's setting of {}: at most {} (ibv_query_device tells it)", asked->name,
                                  most->value),
                      at_host(asked->host),
                      {{"it connects then", "that was the cause"}, {"it does not", "the GID index, the MTU"}});
            return;
        }
    }
}

// Ports of "5000", "5000:6000", "22,80" or "5000/tcp 22/tcp".
bool lists_port(std::string_view list, std::uint64_t port) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find_first_of(", "), list.size());
        const std::string_view each = list.substr(0, end).substr(0, list.substr(0, end).find('/'));
        const std::size_t to = each.find_first_of(":-");
        const auto low = dissect::parse_decimal(each.substr(0, to));
        const auto high = to == std::string_view::npos ? low : dissect::parse_decimal(each.substr(to + 1));
        if (low && high && port >= *low && port <= *high) return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

// A connection of TCP that failed, and a host of the case that refuses what it does not list.
void judge_filters(const Case& read, Verdict& verdict) {
    const auto refuses = settings_of(read, "firewall", "refuses");
    for (const Event* event : events_of(read, {EventKind::socket_failed})) {
        if (event->text.contains("refused")) continue;  // somebody answered
        const std::size_t colon = event->peer.find_first_of("<:");
        const auto port =
            colon == std::string::npos
                ? std::optional<std::uint64_t>{}
                : dissect::parse_decimal(
                      std::string_view(event->peer).substr(colon + 1, event->peer.find('>', colon) - colon - 1));
        std::set<std::string> hosts;
        for (const Setting* each : refuses)
            if (each->host != event->host) hosts.insert(each->host);
        if (hosts.size() != 1 || !port) continue;
        const bool listed = std::ranges::any_of(settings_of(read, "firewall", "accepts"), [&](const Setting* each) {
            return each->host == *hosts.begin() && lists_port(each->value, *port);
        });
        if (listed) continue;
        const auto rule = std::ranges::find(refuses, *hosts.begin(), &Setting::host);
        claim(verdict, "case-tcp-filtered", Weight::shown, Party::host_setting, *hosts.begin(),
              fmt::format("{}: its firewall refuses what it does not list ({}), and port {}, to which {} could not "
                          "connect (TCP), is not listed: the programs do not meet; RDMA has not begun",
                          at_host(*hosts.begin()), (*rule)->value, *port, at_host(event->host)),
              {(*rule)->place, event->place});
        next_step(
            verdict,
            fmt::format("iptables -S, nft list ruleset, firewall-cmd --list-all: allow TCP {} and the ports of the "
                        "job between its hosts, and UDP 4791 for RoCE",
                        *port),
            at_host(*hosts.begin()),
            {{"it connects then", "the filter was the cause"},
             {"it does not", "is a program listening there (ss -ltnp)?"}});
        return;
    }
}

// Queues that the watchdog of a switch has stopped, as its table shows.
void judge_stormed(const Case& read, Verdict& verdict) {
    for (const Setting* each : settings_of(read, "PFC watchdog", "state")) {
        const std::size_t colon = each->device.find(':');
        const std::string port = each->device.substr(0, colon);
        const std::string queue = colon == std::string::npos ? "" : each->device.substr(colon + 1);
        const std::string behind = behind_port(read, each->host, port);
        claim(verdict, "case-pause-storm", Weight::shown, Party::undecided, behind.empty() ? each->host : behind,
              fmt::format("{}: queue {} of {} is stormed: what is behind that port{} paused priority {} without end, "
                          "and the watchdog drops what goes there",
                          at_host(each->host), queue, port, behind.empty() ? "" : fmt::format(" ({})", behind), queue),
              {each->place});
        undecided(verdict, "undecided: why the device behind that port pauses");
        next_step(verdict,
                  fmt::format("ethtool -S IF | grep prio{}_pause twice on {}: its PCIe, memory and CPU; its dmesg",
                              queue, behind.empty() ? "the host behind that port" : behind),
                  behind.empty() ? "the host behind the port" : behind,
                  {{"tx_prio pause grows there", "that host cannot take what it is sent: its bus, IOMMU, or a hang"},
                   {"it does not", "look further along the pause, or at the watchdog's times"}});
    }
}

}  // namespace

std::string behind_port(const Case& read, std::string_view host, std::string_view port) {
    for (const Setting& each : read.settings)
        if (each.subject == "behind port" && each.host == host && each.device == port) return each.value;
    return {};
}

void judge_states(const Facts& facts, Verdict& verdict) {
    for (const auto rule : {judge_vlans, judge_reverse_path, judge_partitions, judge_bond_legs, judge_neighbours,
                            judge_virtual_functions, judge_ipoib_off, judge_fec, judge_pfc_of_ports, judge_atomics,
                            judge_open_files, judge_asked, judge_filters, judge_stormed})
        rule(facts.read, verdict);
}

}  // namespace qps::casework
