// Rules about what readings of ports and paths show by themselves: ports that are not active, a table without GIDs,
// versions of RoCE, what ping carries.
#include <transport-replay/casework/claims.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <map>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// Ports that are not active, by host.
void judge_ports_down(const Case& read, Verdict& verdict) {
    struct Ports {
        std::set<std::string> names, physical;
        std::vector<Place> places;
    };
    std::map<std::string, Ports> down, waiting;
    const auto is_any = [](std::string_view value, std::initializer_list<std::string_view> of) {
        return std::ranges::find(of, value) != of.end();
    };
    for (const Setting& setting : read.settings) {
        if (setting.subject != "port" || setting.name != "state") continue;
        const bool is_down = is_any(setting.value, {"PORT_DOWN", "DOWN", "Down", "Polling", "Disabled"});
        const bool waits = is_any(setting.value, {"PORT_INIT", "INIT", "Initializing", "PORT_ARMED", "Armed", "ARMED"});
        if (!is_down && !waits) continue;
        Ports& ports = (is_down ? down : waiting)[setting.host];
        ports.names.insert(setting.device.empty() ? "a device" : setting.device);
        for (const Setting& other : read.settings)
            if (other.name == "physical state" && other.host == setting.host && other.device == setting.device)
                ports.physical.insert(other.value);
        if (ports.places.size() < 4) ports.places.push_back(setting.place);
    }
    for (auto& [host, ports] : down) {
        claim(verdict, "case-port-is-down", Weight::hint, Party::undecided, host,
              fmt::format("{}: the port of {} is down{}", at_host(host), list_text(ports.names, 4),
                          ports.physical.empty() ? ""
                                                 : fmt::format(" (physical state {}: Polling finds no partner, "
                                                               "Disabled was set so)",
                                                               list_text(ports.physical, 2))),
              std::move(ports.places));
        next_step(verdict,
                  "mlxlink -d DEVICE -m -c, ethtool -m IF: cable and transceiver; the state of the switch port",
                  at_host(host),
                  {{"no signal, or no module", "cable, transceiver or the switch port"},
                   {"the switch port was shut down", "somebody, or its software, did so: its log"}});
    }
    for (auto& [host, ports] : waiting) {
        claim(verdict, "case-port-waits-for-sm", Weight::shown, Party::undecided, host,
              fmt::format("{}: the link of {} is up, but the port is still initializing: no subnet manager (SM) has "
                          "set it up and given it a LID, so nothing of InfiniBand passes",
                          at_host(host), list_text(ports.names, 4)),
              std::move(ports.places));
        undecided(verdict, "undecided: whether no subnet manager runs, or it does not reach this port");
        next_step(
            verdict, "sminfo and ibstat on a host whose port is active; the log of opensm, or of the SM in the switch",
            at_host(host),
            {{"no SM answers anywhere", "start opensm (systemctl start opensm), or the SM of a switch"},
             {"one is there", "its log says why it leaves this port out (duplicate GUID, partition, bad cable)"}});
    }
}

// A table of GIDs without an entry: a device whose interface stands in another network namespace.
void judge_empty_table(const Case& read, Verdict& verdict) {
    for (const Setting& setting : read.settings) {
        if (setting.subject != "GID table" || setting.value != "0") continue;
        const bool failed = no_answer(read) || !events_of(read, {EventKind::address_unresolved}).empty();
        claim(verdict, "case-gid-table-empty", failed ? Weight::decisive : Weight::shown, Party::host_setting,
              setting.host,
              fmt::format("{}: the GID table is empty here (n_gids_found=0): no interface with an address belongs to "
                          "the device in this network namespace, so no queue pair of RoCE can be connected; not the "
                          "network",
                          at_host(setting.host)),
              {setting.place});
        next_step(verdict,
                  "ip addr in that container, rdma system and rdma dev on the host: give the pod the interface of the "
                  "device (SR-IOV, macvlan, host network), or the RDMA device of its interface",
                  at_host(setting.host),
                  {{"an interface with an address comes up", "show_gids lists it, then connect again"},
                   {"show_gids stays empty", "the device and the interface are of different adapters or namespaces"}});
        return;
    }
}

// Which version of RoCE connections of rdma_cm use, by device: a host of one version never answers the other.
void judge_modes(const Case& read, Verdict& verdict) {
    std::map<std::string, const Setting*> modes;  // by host
    for (const Setting& setting : read.settings)
        if (setting.subject == "RoCE mode" && !setting.host.empty()) modes.emplace(setting.host, &setting);
    for (const auto& [host, mode] : modes) {
        const auto& [first_host, first] = *modes.begin();
        if (mode->value == first->value) continue;
        const bool failed = no_answer(read);
        claim(verdict, "case-roce-mode-differs", failed ? Weight::decisive : Weight::shown, Party::host_setting, host,
              fmt::format("the RoCE version that rdma_cm uses differs: {} on {}, {} on {} (cma_roce_mode): requests of "
                          "one version are not answered by a host of the other; not a loss",
                          first->value, first_host, mode->value, host),
              {first->place, mode->place});
        next_step(
            verdict, "cma_roce_mode -d DEVICE -p 1 -m 2 (RoCE v2) on all hosts, then connect again", "all hosts",
            {{"it connects", "the versions were the cause"}, {"it does not", "addresses or the path (show_gids)"}});
        return;
    }
}

// ping of two sizes: small ones pass, large ones do not.
void judge_pings(const Case& read, Verdict& verdict) {
    const auto size_of = [](const Setting& setting) {
        static constexpr std::string_view kSize = " -s ";
        const std::size_t at = setting.device.find(kSize);
        constexpr unsigned kUsual = 56;  // without -s
        unsigned size = 0;
        if (!setting.device.contains("ping")) return size;
        if (at == std::string::npos) return kUsual;
        const char* from = setting.device.data() + at + kSize.size();
        std::from_chars(from, setting.device.data() + setting.device.size(), size);
        return size;
    };
    const Setting *passed = nullptr, *lost = nullptr;
    for (const Setting& setting : read.settings) {
        if (setting.subject != "ping" || size_of(setting) == 0) continue;
        const Setting*& kept = setting.value == "0" ? passed : lost;
        if (setting.value == "0" ? passed == nullptr || size_of(*passed) < size_of(setting)
                                 : setting.value == "100" && (lost == nullptr || size_of(setting) < size_of(*lost)))
            kept = &setting;
    }
    if (passed == nullptr || lost == nullptr || size_of(*passed) >= size_of(*lost)) return;
    constexpr unsigned kHeaders = 28;  // IPv4 and ICMP
    const unsigned needed = size_of(*lost) + kHeaders;
    std::set<std::string> enough;
    for (const Setting& setting : read.settings) {
        unsigned mtu = 0;
        if (setting.subject == "interface" && setting.name == "MTU")
            std::from_chars(setting.value.data(), setting.value.data() + setting.value.size(), mtu);
        if (mtu >= needed) enough.insert(setting.host);
    }
    const bool both = enough.size() >= 2;
    claim(
        verdict, "case-path-mtu", no_answer(read) || both ? Weight::decisive : Weight::shown,
        both ? Party::switch_setting : Party::undecided, "",
        fmt::format("ping passes with {} bytes and not with {}: something on the path carries no packet of {} bytes"
                    "{}. RDMA with a path MTU above that loses every large message while small ones pass",
                    size_of(*passed), size_of(*lost), needed,
                    both ? fmt::format(", although the interfaces of {} have a larger MTU: a switch or router between",
                                       list_text(enough, 4))
                         : ""),
        {passed->place, lost->place});
    next_step(
        verdict,
        "ping -M do -s SIZE from hop to hop, the MTU of each switch port and VLAN interface; meanwhile ib_write_bw -m 1024",
        "the path",
        {{"one hop stops large packets", "set its MTU as the others (9216), or RDMA's below it"},
         {"all hops pass them", "the receiving host: its MTU, its firewall"}});
}

// A ratio of bit errors is a reading with a time of its own: since the counters were cleared. What FEC leaves is lost.
void judge_bit_errors(const Case& read, Verdict& verdict) {
    constexpr double kGood = 1e-14;  // specified for links with FEC: 1e-15 and better
    for (const Setting& setting : read.settings) {
        if (setting.name != "mlxlink Effective Physical BER") continue;
        const double ratio = std::strtod(setting.value.c_str(), nullptr);
        if (!(ratio > kGood) || ratio >= 1) continue;
        std::string raw, minutes;
        for (const Setting& other : read.settings) {
            if (other.host != setting.host || other.device != setting.device) continue;
            if (other.name == "mlxlink Raw Physical BER") raw = other.value;
            if (other.name.starts_with("mlxlink Time Since Last Clear")) minutes = other.value;
        }
        claim(verdict, "case-bit-errors", Weight::shown, Party::network, setting.host,
              fmt::format("{}: the link of {} has bit errors that FEC does not mend: effective BER {}{}{}; good links "
                          "have less than 1e-15. Each costs a packet: cable, transceiver or port of this link",
                          at_host(setting.host), setting.device.empty() ? "this port" : setting.device, setting.value,
                          raw.empty() ? "" : fmt::format(", raw BER {}", raw),
                          minutes.empty() ? "" : fmt::format(", over {} minutes", minutes)),
              {setting.place});
        next_step(verdict, "mlxlink -d DEVICE -m -c again after --pc (clear counters), on both ends of this link",
                  at_host(setting.host),
                  {{"the BER stays", "clean or replace cable or transceiver, then swap the port"},
                   {"it is good after clearing", "the errors are old: watch whether they come back"}});
    }
}

}  // namespace

void judge_port_readings(const Facts& facts, Verdict& verdict) {
    judge_ports_down(facts.read, verdict);
    judge_empty_table(facts.read, verdict);
    judge_modes(facts.read, verdict);
    judge_pings(facts.read, verdict);
    judge_bit_errors(facts.read, verdict);
}

}  // namespace qps::casework
