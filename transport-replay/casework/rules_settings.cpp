// Rules about settings: what differs between hosts of one case matters once something failed.
#include <transport-replay/casework/claims.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace qps::casework {

namespace {

struct Gid {
    std::string address, type, ip;
    Place place;
    [[nodiscard]] bool link_local() const { return address.starts_with("fe80"); }
    [[nodiscard]] bool mapped() const {
        return address.contains("0000:0000:0000:0000:0000:ffff:") || address.contains("::ffff:");
    }
};
using Table = std::map<unsigned, Gid>;  // of a device

// host -> device -> table
std::map<std::string, std::map<std::string, Table>> gid_tables(const Case& read) {
    std::map<std::string, std::map<std::string, Table>> tables;
    for (const Setting& setting : read.settings) {
        if (!setting.subject.starts_with("GID ") || setting.subject == "GID in use") continue;
        unsigned index = 0;
        const std::string_view digits = std::string_view(setting.subject).substr(4);
        if (std::from_chars(digits.data(), digits.data() + digits.size(), index).ec != std::errc{}) continue;
        Gid& gid = tables[setting.host][setting.device][index];
        if (setting.name == "address") gid.address = setting.value, gid.place = setting.place;
        if (setting.name == "type") gid.type = setting.value;
        if (setting.name == "IP") gid.ip = setting.value;
    }
    return tables;
}

// The index in use, and who says so; a job's environment holds for all its hosts.
const Setting* index_in_use(const Case& read) {
    const Setting* found = nullptr;
    for (const Setting& setting : read.settings) {
        const bool env = setting.subject == "environment" &&
                         (setting.name == "NCCL_IB_GID_INDEX" || setting.name == "UCX_IB_GID_INDEX");
        if (env || (setting.subject == "GID in use" && setting.name == "index"))
            found = found == nullptr || env ? &setting : found;
    }
    return found;
}

// "index 1 (RoCE v2, 10.0.0.1)"
std::string gid_text(unsigned index, const Gid& gid) {
    std::string text = fmt::format("index {}", index);
    std::vector<std::string> more;
    if (!gid.type.empty()) more.push_back(gid.type);
    if (!gid.ip.empty()) more.push_back(gid.ip);
    else if (gid.link_local()) more.push_back("link-local fe80");
    else if (gid.mapped()) more.push_back("an IPv4 address");
    if (!more.empty()) text += fmt::format(" ({})", fmt::join(more, ", "));
    return text;
}

bool on_roce(const Case& read, const std::string& host) {
    return std::ranges::any_of(read.settings, [&](const Setting& each) {
        return each.host == host &&
               ((each.name == "link layer" && (each.value == "RoCE" || each.value == "Ethernet")) ||
                each.value.starts_with("RoCE v"));
    });
}

// What one host has at the index in use does not lead to others.
void judge_own_index(const Case& read, const std::string& host, const std::string& device, const Table& table,
                     unsigned used, const Setting& said, Verdict& verdict) {
    const auto at = table.find(used);
    if (at == table.end() || !on_roce(read, host)) return;
    const Gid& gid = at->second;
    const auto routable = std::ranges::find_if(table, [](const auto& each) {
        return each.second.type == "RoCE v2" && !each.second.link_local() && !each.second.address.empty();
    });
    const bool poor = gid.link_local() || gid.type == "RoCE v1";
    if (!poor || routable == table.end()) return;
    const bool failed = no_answer(read);
    const bool other = !events_of(read, {EventKind::port_down, EventKind::out_of_memory, EventKind::device_fatal,
                                         EventKind::gpu_error})
                            .empty();
    claim(
        verdict, "case-gid-index",
        failed && !other ? Weight::decisive
        : failed         ? Weight::shown
                         : Weight::hint,
        failed ? Party::host_setting : Party::undecided, host,
        fmt::format(
            "{}{}: the GID in use, {}, is {}; a routable RoCE v2 address stands at {}.{}", at_host(host),
            device.empty() ? "" : " " + device, gid_text(used, gid),
            gid.link_local() ? "link-local (fe80) and leads only to hosts that use such addresses on the same link"
                             : "of RoCE v1, which no router passes on",
            gid_text(routable->first, routable->second),
            failed
                ? " The queue pair got no answer (retries exceeded, status 12, or a timeout): the two NICs may well not reach each other by that GID, although TCP works"
                : ""),
        {said.place, gid.place});
    next_step(
        verdict,
        fmt::format(
            "NCCL_IB_GID_INDEX={0} (UCX_IB_GID_INDEX={0}) on all hosts; before that ib_write_bw -x {0} between the two",
            routable->first),
        "both hosts",
        {{"ib_write_bw passes with it and fails with the other", "the index was the cause"},
         {"both fail", "compare show_gids of both hosts, then the path: capture udp port 4791 at the peer"}});
}

}  // namespace

void judge_gids(const Facts& facts, Verdict& verdict) {
    const Case& read = facts.read;
    const auto tables = gid_tables(read);
    const Setting* said = index_in_use(read);
    unsigned used = 0;
    const bool known =
        said != nullptr &&
        std::from_chars(said->value.data(), said->value.data() + said->value.size(), used).ec == std::errc{};
    if (known)
        for (const auto& [host, devices] : tables)
            for (const auto& [device, table] : devices)
                if (said->host.empty() || said->host == host)
                    judge_own_index(read, host, device, table, used, *said, verdict);
    if (tables.size() < 2) return;
    // Between hosts: the first device of each, or the one that both have by name.
    const auto& [first_host, first_devices] = *tables.begin();
    for (const auto& [host, devices] : tables) {
        if (host == first_host) continue;
        for (const auto& [device, table] : devices) {
            auto other = first_devices.find(device);
            if (other == first_devices.end()) {
                if (devices.size() != 1 || first_devices.size() != 1) continue;
                other = first_devices.begin();
            }
            const auto lacks = [&](const Table& a, unsigned index) { return !a.contains(index); };
            const bool failed = no_answer(read) || anything_failed(read);
            for (const auto& [with, with_host, without, without_host] :
                 {std::tuple{&table, &host, &other->second, &first_host},
                  std::tuple{&other->second, &first_host, &table, &host}}) {
                if (!known || !with->contains(used) || !lacks(*without, used)) continue;
                std::string same;
                for (const auto& [index, gid] : *without)
                    if (gid.mapped()) same = gid_text(index, gid);
                claim(
                    verdict, "case-gid-tables-differ", failed ? Weight::decisive : Weight::shown, Party::host_setting,
                    *without_host,
                    fmt::format(
                        "the GID tables differ: index {} is in use, but {} has no entry {}, it lists only {} entries{}; {} has {}",
                        used, *without_host, used, without->size(),
                        same.empty() ? "" : fmt::format(" with its address at {}", same), *with_host,
                        gid_text(used, with->at(used))),
                    {said->place, with->at(used).place, without->rbegin()->second.place});
                next_step(
                    verdict,
                    "show_gids (or gid_attrs/types) on both hosts, then an index with the same type and family on both (UCX_IB_GID_INDEX, NCCL_IB_GID_INDEX; index 0 exists everywhere); the same driver (OFED) on both",
                    "both hosts",
                    {{"an index is alike on both and it works there", "the tables were the cause"},
                     {"it fails there too", "the types (RoCE v1, v2) or the path"}});
                return;
            }
            for (const auto& [index, gid] : table) {
                const auto there = other->second.find(index);
                if (there == other->second.end()) continue;
                const bool type = !gid.type.empty() && !there->second.type.empty() && gid.type != there->second.type;
                const bool family =
                    !gid.address.empty() && !there->second.address.empty() && gid.mapped() != there->second.mapped();
                if (!type && !family) continue;
                if (known && index != used) continue;
                claim(verdict, "case-gid-tables-differ",
                      known && failed ? Weight::decisive
                      : failed        ? Weight::hint
                                      : Weight::remark,
                      known ? Party::host_setting : Party::undecided, host,
                      fmt::format("the GID tables differ at index {}: {} has {}, {} has {}: {}", index, host,
                                  gid_text(index, gid), first_host, gid_text(index, there->second),
                                  known ? "the index in use means two different things"
                                        : "no fixed index means the same on both"),
                      {gid.place, there->second.place});
                next_step(
                    verdict,
                    "show_gids on both hosts, then NCCL_IB_GID_INDEX or UCX_IB_GID_INDEX with an index that has the same type and family on both",
                    "both hosts");
                return;
            }
        }
    }
}

void judge_acs(const Facts& facts, Verdict& verdict) {
    const Case& read = facts.read;
    std::map<std::string, std::vector<const Setting*>> on, off;
    for (const Setting& setting : read.settings) {
        if (setting.name != "ACS") continue;
        const bool redirects = setting.value.contains("ReqRedir+") || setting.value.contains("CmpltRedir+") ||
                               setting.value.contains("UpstreamFwd+");
        (redirects ? on : off)[setting.host].push_back(&setting);
    }
    if (on.empty()) return;
    const bool direct =
        std::ranges::any_of(read.settings, [](const Setting& each) { return each.name == "GPU Direct RDMA"; });
    for (const auto& [host, settings] : on) {
        const bool local = std::ranges::any_of(read.events, [&](const Event& event) {
            return event.kind == EventKind::completion_error && event.status == 4 &&
                   (!event.vendor || event.vendor == 0U || event.vendor == 0x51U) &&
                   (event.host == host || event.host.empty());
        });
        std::string others;
        for (const auto& [other, unused] : off)
            if (other != host && !on.contains(other)) others += (others.empty() ? "" : ", ") + at_host(other);
        claim(
            verdict, "case-acs", local ? Weight::decisive : Weight::hint,
            local ? Party::host_setting : Party::undecided, host,
            fmt::format(
                "{}: ACS is enabled in its PCIe switches (ReqRedir+ CmpltRedir+ UpstreamFwd+, {} of {}), so peer-to-peer DMA between GPU and NIC is redirected{}{}",
                at_host(host), settings.size(), settings.size() + (off.contains(host) ? off.at(host).size() : 0),
                others.empty() ? "" : fmt::format("; on {} it is off", others),
                local
                    ? fmt::format(
                          ". That explains the local protection error (status 4){}: the NIC could not read memory of its own host. Not the network",
                          direct ? " with GPU direct (GDRDMA)" : "")
                    : ""),
            {settings.front()->place});
        if (local) verdict.not_network = true;
        next_step(
            verdict,
            "disable ACS in the BIOS or by setpci -s BRIDGE ECAP_ACS+6.w=0000 (again after each boot), or run once with NCCL_NET_GDR_LEVEL=0",
            at_host(host),
            {{"it runs with ACS off, or without GPU direct", "ACS was the cause"},
             {"it fails still", "look at IOMMU (iommu=pt) and nvidia_peermem"}});
    }
}

// What differs between hosts, by subject and name. One row for each that matters.
void judge_link_settings(const Facts& facts, Verdict& verdict) {
    const Case& read = facts.read;
    struct Compared {
        std::string_view name, means, command;
    };
    constexpr std::array kCompared{
        Compared{"active MTU",
                 "a path MTU that only one side can carry loses the first large message while small ones pass",
                 "ip link show on every hop; ping -M do -s 4156; ib_send_bw -m 1024"},
        Compared{"MTU",
                 "RoCE takes the largest InfiniBand MTU that fits; a smaller MTU on the way loses large packets only",
                 "ping -M do -s 4156 between the hosts; ip link show"},
        Compared{"rate", "a port that is slower than its peers makes congestion", "mlxlink -d DEVICE; ibstat"},
        Compared{"width", "a port that uses fewer lanes than its peers has lost some: cable or transceiver",
                 "mlxlink -d DEVICE; reseat or replace the cable of the narrow port"},
        Compared{"speed", "a port that is slower than its peers makes congestion", "mlxlink -d DEVICE; ethtool IF"},
        Compared{"firmware", "unequal firmware on one rail", "update to one version, then repeat"},
    };
    const bool failed = no_answer(read);
    for (const Compared& row : kCompared) {
        std::map<std::string, std::set<std::string>> values;  // value -> hosts
        std::vector<Place> evidence;
        for (const Setting& setting : read.settings) {
            if (setting.name != row.name || setting.device == "lo" || setting.host.empty()) continue;
            if (values[setting.value].insert(setting.host).second && evidence.size() < 4)
                evidence.push_back(setting.place);
        }
        std::set<std::string> all;
        std::vector<std::string> parts;
        for (const auto& [value, hosts] : values) {
            all.insert(hosts.begin(), hosts.end());
            parts.push_back(fmt::format("{} on {}", value, list_text(hosts, 4)));
        }
        if (values.size() < 2 || all.size() < 2) continue;
        std::size_t most = 0;
        for (const auto& [value, hosts] : values) most = std::max(most, hosts.size());
        if (most == all.size()) continue;  // one host has several ports
        const bool slow = row.name == "rate" || row.name == "width" || row.name == "speed";
        claim(verdict, "case-settings-differ", failed || slow ? Weight::hint : Weight::remark, Party::undecided, "",
              fmt::format("the {} differs: {}; {}", row.name, fmt::join(parts, ", "), row.means), evidence);
        if (failed) undecided(verdict, fmt::format("undecided: whether the {} that differs is the cause", row.name));
        next_step(verdict, std::string(row.command), "both hosts");
    }
    for (const Setting& setting : read.settings) {
        if (setting.name == "memlock" && setting.value != "unlimited") {
            const bool refused = !events_of(read, {EventKind::memory_refused}).empty();
            claim(verdict, "case-locked-memory", refused ? Weight::decisive : Weight::hint,
                  refused ? Party::host_setting : Party::undecided, setting.host,
                  fmt::format("{}: the limit of locked memory is {}: registration of more fails", at_host(setting.host),
                              setting.value),
                  {setting.place});
            next_step(verdict,
                      "set memlock to unlimited (limits.conf, LimitMEMLOCK of the service), start the job anew",
                      at_host(setting.host));
        }
        const bool degraded =
            setting.subject == "PCIe" && setting.name == "link" && setting.value.contains("downgraded");
        if (degraded)
            claim(verdict, "case-pcie-narrow", Weight::shown, Party::local_host, setting.host,
                  fmt::format("{}: a PCIe link runs below what it can ({})", at_host(setting.host), setting.value),
                  {setting.place});
        if (degraded)
            next_step(verdict, "lspci -vvv: LnkCap against LnkSta of that device; reseat the card",
                      at_host(setting.host));
    }
}

void judge_classes(const Facts& facts, Verdict& verdict) {
    const Case& read = facts.read;
    std::map<std::string, std::map<std::string, std::string>> hosts;  // name -> host -> value
    std::map<std::string, Place> places;
    for (const Setting& setting : read.settings)
        if (setting.subject == "QoS" && !setting.host.empty()) {
            hosts[setting.name][setting.host] = setting.value;
            places.emplace(setting.name + setting.host, setting.place);
        }
    for (const auto& [name, values] : hosts) {
        std::map<std::string, std::set<std::string>> by_value;
        std::vector<Place> evidence;
        for (const auto& [host, value] : values) {
            by_value[value].insert(host);
            if (evidence.size() < 4) evidence.push_back(places.at(name + host));
        }
        if (by_value.size() < 2) continue;
        std::vector<std::string> parts;
        for (const auto& [value, its] : by_value) parts.push_back(fmt::format("{} on {}", value, list_text(its, 4)));
        claim(
            verdict, "case-qos-differs", Weight::shown, Party::host_setting, *by_value.begin()->second.begin(),
            fmt::format(
                "QoS differs between hosts: {} is {}: pause and marking hold for one priority only where hosts and switch agree",
                name, fmt::join(parts, ", ")),
            evidence);
        next_step(
            verdict,
            "mlnx_qos -i IF, cma_roce_tos -d DEVICE and show_gids on all hosts; the PFC and DSCP maps of the switch",
            "all hosts and the switch",
            {{"one differs", "set it as the others, then read drops and pause counters again"},
             {"all agree", "look at the queue drops of the switch"}});
    }
    // A class that is used but not lossless.
    const auto class_of = [&](std::string_view name) -> const Setting* {
        for (const Setting& setting : read.settings)
            if (setting.subject == "environment" && setting.name == name) return &setting;
        return nullptr;
    };
    const Setting* traffic = class_of("NCCL_IB_TC");
    if (traffic == nullptr) traffic = class_of("UCX_IB_TRAFFIC_CLASS");
    for (const Setting& setting : read.settings) {
        if (setting.subject != "QoS" || setting.name != "PFC enabled" || traffic == nullptr) continue;
        unsigned tc = 0;
        std::from_chars(traffic->value.data(), traffic->value.data() + traffic->value.size(), tc);
        const unsigned priority = tc >> 5U;  // DSCP >> 3, where the map is the default one
        std::string bits;
        for (const char c : setting.value)
            if (c == '0' || c == '1') bits += c;
        if (bits.size() != 8 || bits[priority & 7U] == '1' || !bits.contains('1')) continue;
        claim(verdict, "case-class-not-lossless", Weight::hint, Party::undecided, setting.host,
              fmt::format(
                  "{}: {} = {} is DSCP {}, by the default map priority {}, for which PFC is not enabled (enabled: {})",
                  at_host(setting.host), traffic->name, tc, tc >> 2U, priority, setting.value),
              {setting.place, traffic->place});
        next_step(verdict, "the dscp2prio map (mlnx_qos -i IF); rx_prioN_bytes and rx_prioN_pause of ethtool -S twice",
                  at_host(setting.host));
        break;
    }
}

}  // namespace qps::casework
