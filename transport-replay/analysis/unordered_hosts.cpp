#include <dissect/base/bytes.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/analysis/unordered_hosts.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport {

namespace {

Address host_of(const dissect::ParsedIp& ip) {
    constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // ::ffff:0:0/96
    const dissect::Bytes bytes(ip.bytes);
    if (ip.ipv4) return {{0, kMapped | dissect::read_be<std::uint32_t>(bytes, 0)}, AddressSpace::roce_v2};
    return {{dissect::read_be<std::uint64_t>(bytes, 0), dissect::read_be<std::uint64_t>(bytes, 8)},
            AddressSpace::roce_v2};
}

}  // namespace

std::expected<std::vector<Address>, std::string> read_unordered_hosts(std::string_view text) {
    std::vector<Address> hosts;
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
        word = word.substr(0, word.find_last_not_of(' ') + 1);
        const auto ip = dissect::parse_ip(word);
        if (!ip) return std::unexpected(fmt::format("invalid host '{}': expected an IP address", word));
        const Address host = host_of(*ip);
        if (std::ranges::find(hosts, host) != hosts.end()) continue;
        if (hosts.size() == kMostUnorderedHosts)
            return std::unexpected(fmt::format("too many hosts: expected at most {}", kMostUnorderedHosts));
        hosts.push_back(host);
    }
    return hosts;
}

std::string unordered_hosts_text(std::span<const Address> hosts) {
    std::string all;
    for (const Address& host : hosts) {
        if (!all.empty()) all += ", ";
        all += text(host);
    }
    return all;
}

}  // namespace qps::transport
