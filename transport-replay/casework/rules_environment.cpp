// Rules about environments: devices that they name and that are not there.
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

void judge_environment(const Facts& facts, Verdict& verdict) {
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
