// Rules about environments: devices that they name and that are not there.
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/claims.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// How a library reads a list of devices.
struct ListRow {
    std::string_view name;
    bool by_prefix;  // "mlx5" means all whose names begin so
};
constexpr std::array kLists{ListRow{"NCCL_IB_HCA", true}, ListRow{"UCX_NET_DEVICES", false}};

// "=mlx5_0:1,mlx5_1" -> mlx5_0, mlx5_1; nothing of a list of what is not to be used.
std::vector<std::string> devices_named(std::string_view value) {
    std::vector<std::string> devices;
    if (value.starts_with('^')) return devices;
    if (value.starts_with('=')) value.remove_prefix(1);
    while (!value.empty()) {
        const std::size_t end = std::min(value.find(','), value.size());
        const std::string_view each = value.substr(0, end);
        if (const std::string_view device = each.substr(0, each.find(':')); !device.empty() && device != "all")
            devices.emplace_back(device);
        value.remove_prefix(std::min(end + 1, value.size()));
    }
    return devices;
}

// All RDMA devices of hosts whose list is here: `rdma link` and `ibv_devinfo` list every one.
std::map<std::string, std::map<std::string, Place>> devices_listed(const Case& read) {
    std::map<std::string, std::map<std::string, Place>> hosts;
    for (const Setting& each : read.settings)
        if (each.subject == "port" && each.name == "state" && !each.host.empty() && !each.device.empty())
            hosts[each.host].emplace(each.device, each.place);
    return hosts;
}

}  // namespace

// Processes of NCCL meet over TCP first, at the address of one interface of each host.
void judge_bootstrap(const Facts& facts, Verdict& verdict) {
    static constexpr std::array<std::string_view, 9> kInner{"docker",  "br-",  "virbr", "veth", "cni",
                                                            "flannel", "cali", "lxc",   "tun"};
    std::map<std::string, std::map<std::string, const Setting*>> addresses;  // address -> host
    const Setting* inner = nullptr;
    for (const Setting& setting : facts.read.settings) {
        if (setting.subject != "bootstrap" || setting.host.empty()) continue;
        addresses[setting.value].emplace(setting.host, &setting);
        if (std::ranges::any_of(kInner, [&](std::string_view begin) { return setting.name.starts_with(begin); }))
            inner = &setting;
    }
    const bool failed = anything_failed(facts.read) ||
                        !events_of(facts.read, {EventKind::socket_failed, EventKind::peer_closed}).empty();
    const auto step = [&](const std::string& where) {
        next_step(
            verdict,
            "NCCL_SOCKET_IFNAME with the interface by which the hosts reach each other (ip -br addr), on all hosts",
            where,
            {{"the job starts", "the interface was the cause"},
             {"it does not", "a filter between the hosts, or nobody listens there"}});
    };
    for (const auto& [address, hosts] : addresses) {
        if (hosts.size() < 2 || address.starts_with("fe80")) continue;
        const Setting& first = *hosts.begin()->second;
        const bool shown = failed && inner != nullptr && inner->value == address;
        std::set<std::string> names;
        std::vector<Place> evidence;
        for (const auto& [host, setting] : hosts) {
            names.insert(host);
            if (evidence.size() < 4) evidence.push_back(setting->place);
        }
        claim(
            verdict, "case-bootstrap-address", shown ? Weight::decisive : Weight::hint,
            shown ? Party::host_setting : Party::undecided, first.host,
            fmt::format("{} hosts ({}) use the same address {} of {} for the bootstrap (TCP): each reaches itself, not "
                        "the others{}; it is not RDMA that fails",
                        hosts.size(), list_text(names), address, first.name,
                        shown ? ", as with a bridge inside each host (containers)" : ""),
            std::move(evidence));
        step("all hosts");
        return;
    }
    if (inner == nullptr || events_of(facts.read, {EventKind::socket_failed}).empty()) return;
    claim(verdict, "case-bootstrap-address", Weight::hint, Party::undecided, inner->host,
          fmt::format("{}: the bootstrap (TCP) uses {} of {}, an interface of containers inside this host, which other "
                      "hosts do not reach",
                      at_host(inner->host), inner->value, inner->name),
          {inner->place});
    step(at_host(inner->host));
}

// The time after which the transport gives up, as the environment sets it: 4.096 us times 2 to the timeout, for each
// try.
void judge_retry_time(const Case& read, Verdict& verdict) {
    const auto setting_of = [&](std::string_view name) -> const Setting* {
        const auto found = std::ranges::find(read.settings, name, &Setting::name);
        return found == read.settings.end() || found->subject != "environment" ? nullptr : &*found;
    };
    const Setting* timeout = setting_of("NCCL_IB_TIMEOUT");
    if (timeout == nullptr || !has_status(read, 12)) return;
    const Setting* retries = setting_of("NCCL_IB_RETRY_CNT");
    const auto exponent = dissect::parse_decimal(timeout->value);
    const std::uint64_t tries = 1 + (retries == nullptr ? 7 : dissect::parse_decimal(retries->value).value_or(7));
    if (!exponent || *exponent == 0 || *exponent > 31 || tries > 8) return;
    const double seconds = 4.096e-6 * static_cast<double>(std::uint64_t{1} << *exponent) * static_cast<double>(tries);
    constexpr double kShort = 0.02;  // a switch that pauses, or one that takes another path, needs longer
    if (seconds > kShort) return;
    std::vector<Place> evidence{timeout->place};
    if (retries != nullptr) evidence.push_back(retries->place);
    claim(
        verdict, "case-retries-too-short", Weight::shown, Party::host_setting, timeout->host,
        fmt::format("{}: NCCL_IB_TIMEOUT={}{} makes the adapter give up after some {:.3g} ms without an answer, far "
                    "too short for a loaded network (the default is seconds): status 12 then says little of the path",
                    at_host(timeout->host), timeout->value,
                    retries == nullptr ? "" : fmt::format(" with NCCL_IB_RETRY_CNT={}", retries->value), seconds * 1e3),
        std::move(evidence));
    next_step(
        verdict, "unset NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT (defaults 20 and 7), or set 22, and run again",
        "all hosts",
        {{"no status 12", "the time was too short"}, {"status 12 again", "the path or the peer: capture at its port"}});
}

void judge_environment(const Facts& facts, Verdict& verdict) {
    judge_retry_time(facts.read, verdict);
    const Case& read = facts.read;
    const auto listed = devices_listed(read);
    for (const Setting& setting : read.settings) {
        const auto row = std::ranges::find(kLists, setting.name, &ListRow::name);
        const auto devices = listed.find(setting.host);
        if (setting.subject != "environment" || row == kLists.end() || devices == listed.end()) continue;
        const bool exact = !row->by_prefix || setting.value.starts_with('=');
        const auto is_there = [&](const std::string& name) {
            return std::ranges::any_of(devices->second, [&](const auto& device) {
                return exact ? device.first == name : device.first.starts_with(name);
            });
        };
        const auto named = devices_named(setting.value);
        if (named.empty() || std::ranges::any_of(named, is_there)) continue;
        std::set<std::string> names;
        for (const auto& [device, place] : devices->second) names.insert(device);
        const auto without = events_of(read, {EventKind::no_device});
        const bool unused =
            std::ranges::any_of(without, [&](const Event* event) { return event->host == setting.host; });
        claim(verdict, "case-device-not-there", unused ? Weight::decisive : Weight::hint,
              unused ? Party::host_setting : Party::undecided, setting.host,
              fmt::format("{}: {}={} names no device that is there: its list has {}{}", at_host(setting.host),
                          setting.name, setting.value, list_text(names),
                          unused ? ". So the library found no device, and RDMA was not used; not the network" : ""),
              {setting.place, devices->second.begin()->second});
        next_step(verdict,
                  fmt::format("set {} to devices of rdma link on that host ({}), or leave it out", setting.name,
                              list_text(names)),
                  at_host(setting.host),
                  {{"NET/IB: Using ...", "the name was the cause"},
                   {"no device still", "the user-space driver (rdma-core), /dev/infiniband in the container"}});
        return;
    }
}

}  // namespace qps::casework
