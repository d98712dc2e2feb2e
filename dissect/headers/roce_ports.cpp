#include <dissect/base/parse_value.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/headers/roce_ports.hpp>

#include <algorithm>
#include <array>
#include <atomic>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

std::array<std::atomic<std::uint16_t>, kMostRocePorts> the_ports{};  // 0: no more

}  // namespace

void set_roce_ports(std::span<const std::uint16_t> ports) {
    for (std::size_t i = 0; i < the_ports.size(); ++i)
        the_ports[i].store(i < ports.size() ? ports[i] : 0, std::memory_order_relaxed);
}

std::vector<std::uint16_t> roce_ports() {
    std::vector<std::uint16_t> ports;
    for (const auto& each : the_ports)
        if (const std::uint16_t port = each.load(std::memory_order_relaxed); port != 0) ports.push_back(port);
    return ports;
}

bool is_roce_port(std::uint16_t port) {
    for (const auto& each : the_ports) {
        const std::uint16_t known = each.load(std::memory_order_relaxed);
        if (known == 0) return false;
        if (known == port) return true;
    }
    return false;
}

std::expected<std::vector<std::uint16_t>, std::string> read_roce_ports(std::string_view text) {
    constexpr std::uint64_t kMostPort = 65535;
    std::vector<std::uint16_t> ports;
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
        word = word.substr(0, word.find_last_not_of(' ') + 1);
        const auto number = parse_decimal(word, kMostPort);
        if (!number || *number == 0)
            return std::unexpected(fmt::format("invalid RoCE port '{}': expected 1 to {}", word, kMostPort));
        const auto port = static_cast<std::uint16_t>(*number);
        for (const auto& [other, protocol] : {std::pair{kVxlanPort, "VXLAN"}, std::pair{kGenevePort, "Geneve"},
                                              std::pair{kUltraPort, "Ultra Ethernet"}})
            if (port == other)
                return std::unexpected(fmt::format("invalid RoCE port '{}': it is {}'s", word, protocol));
        if (port != kRocePort && std::ranges::find(ports, port) == ports.end()) ports.push_back(port);
    }
    if (ports.size() > kMostRocePorts)
        return std::unexpected(
            fmt::format("too many RoCE ports ({}): expected at most {}", ports.size(), kMostRocePorts));
    return ports;
}

std::string roce_ports_text(std::span<const std::uint16_t> ports) { return fmt::format("{}", fmt::join(ports, ",")); }

}  // namespace qps::dissect
