// Rules about where things lie: MTUs of hosts and of the ports that they hang on, and processes beside or far from
// their adapter.
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/claims.hpp>
#include <transport-replay/casework/line_pattern.hpp>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// A port of a switch that carries less than the interfaces of the hosts send.
void judge_port_mtu(const Case& read, Verdict& verdict) {
    const Setting* largest = nullptr;
    for (const Setting& each : read.settings) {
        const bool of_host = each.subject == "interface" && each.name == "MTU" && each.device != "lo";
        const auto size = dissect::parse_decimal(each.value);
        if (of_host && size && *size <= 9'600 &&  // jumbo frames at most
            (largest == nullptr || *size > dissect::parse_decimal(largest->value)))
            largest = &each;
    }
    if (largest == nullptr) return;
    const auto host = dissect::parse_decimal(largest->value);
    std::size_t ports = 0;
    for (const Setting& each : read.settings) ports += each.name == "port MTU" ? 1U : 0U;
    for (const Setting& each : read.settings) {
        const auto port = dissect::parse_decimal(each.value);
        if (each.name != "port MTU" || !port || !host || *port >= *host || each.host == largest->host) continue;
        const bool its = ports == 1 || behind_port(read, each.host, each.device) == largest->host;
        const bool shown = its && no_answer(read);
        claim(verdict, "case-port-mtu-small", shown ? Weight::shown : Weight::hint,
              shown ? Party::switch_setting : Party::undecided, each.host,
              fmt::format("{}: port {} has an MTU of {}, {} of {} one of {}: what is larger than the port's is dropped "
                          "there without a word, while small packets (ping, connection set-up) pass; RoCE takes the "
                          "largest InfiniBand MTU below that of its interface",
                          each.host.empty() ? "the switch" : each.host, each.device, *port, largest->device,
                          at_host(largest->host), *host),
              {each.place, largest->place});
        next_step(
            verdict,
            "the MTU of all ports of the path at 9216 (config interface mtu), then ping -M do -s 4156 between the "
            "hosts; ib_write_bw -m 1024 meanwhile",
            "the switch",
            {{"large pings pass then", "that was the cause"}, {"they do not", "another hop is smaller: tracepath"}});
        return;
    }
}

// The node that a command binds its process to.
std::optional<std::uint64_t> node_of(const Measurement& each) {
    static const RE2 binding(R"(numactl .*?(?:--cpunodebind|-N|--cpubind)[= ]?(\d+))");
    std::uint64_t node = 0;
    return RE2::PartialMatch(piece(each.command), binding, &node) ? std::optional(node) : std::nullopt;
}

// One benchmark, bound to two nodes of NUMA, of which one is far slower.
void judge_numa(const Case& read, Verdict& verdict) {
    constexpr double kMuch = 1.5;
    for (const Measurement& fast : read.measurements)
        for (const Measurement& slow : read.measurements) {
            const auto near = node_of(fast), far = node_of(slow);
            if (!near || !far || near == far || fast.bytes != slow.bytes ||
                fast.bits_per_second < kMuch * slow.bits_per_second)
                continue;
            const auto device = std::ranges::find(read.settings, "NUMA node", &Setting::name);
            const bool its = device != read.settings.end() && dissect::parse_decimal(device->value) == near;
            std::vector<Place> evidence{fast.place, slow.place};
            if (its) evidence.push_back(device->place);
            claim(
                verdict, "case-far-from-adapter", its ? Weight::shown : Weight::hint,
                its ? Party::local_host : Party::undecided, slow.host,
                fmt::format("{}: bound to NUMA node {} the benchmark reaches {:.1f} Gb/s, bound to node {} {:.1f} Gb/s"
                            "{}: the way between the CPU (socket) and the adapter is the limit, not the network",
                            at_host(slow.host), *near, fast.bits_per_second / 1e9, *far, slow.bits_per_second / 1e9,
                            its ? fmt::format(", and the adapter is at node {}", *near) : ""),
                std::move(evidence));
            next_step(verdict,
                      fmt::format("bind processes and their memory to the adapter's node (numactl --cpunodebind={0} "
                                  "--membind={0}, taskset, binding of the launcher); NPS and SNC in the BIOS",
                                  *near),
                      at_host(slow.host),
                      {{"the job is as fast then", "its placement was the cause"},
                       {"it is not", "PCIe of the adapter (LnkSta), memory channels of that node"}});
            return;
        }
}

}  // namespace

void judge_placement(const Facts& facts, Verdict& verdict) {
    judge_port_mtu(facts.read, verdict);
    judge_numa(facts.read, verdict);
}

}  // namespace qps::casework
