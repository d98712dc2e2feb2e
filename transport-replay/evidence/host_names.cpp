#include <dissect/base/bytes.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/evidence/host_names.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <optional>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kLongestName = 255;  // RFC 1123 2.1
constexpr std::string_view kBlanks = " \t\r";

bool is_name(std::string_view name) {
    const auto fits = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
               c == '_';
    };
    return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, fits);
}

// What pcapng has names for: IP addresses, and GIDs, which are IPv6 addresses.
std::optional<HostName> named_host(const Address& address, std::string_view name) {
    constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // ::ffff:a.b.c.d
    const bool has_ip = address.space == AddressSpace::roce_v2 || address.space == AddressSpace::roce_v1 ||
                        address.space == AddressSpace::infiniband_gid;
    if (!has_ip || !is_name(name)) return std::nullopt;
    HostName host{.ipv4 = address.bits[0] == 0 && address.bits[1] >> 32 << 32 == kMapped, .name = std::string(name)};
    if (host.ipv4) {
        write_bits(host.address, 0, 32, address.bits[1] & UINT32_MAX);
    } else {
        write_bits(host.address, 0, 64, address.bits[0]);
        write_bits(host.address, 64, 64, address.bits[1]);
    }
    return host;
}

std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
    line.remove_prefix(word.size());
    return word;
}

}  // namespace

std::vector<HostName> host_names(const Timeline& timeline) {
    std::vector<HostName> hosts;
    std::vector<Address> known;
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        if (conversation.protocol != UlpProtocol::rpc_rdma || hosts.size() >= kMostHosts) continue;
        const Connection* connection = timeline.find(conversation.connection);
        if (connection == nullptr) continue;
        const Address& address = connection->end(conversation.active).address;
        if (std::ranges::find(known, address) != known.end()) continue;
        if (auto host = named_host(address, conversation.fact("client"))) {
            known.push_back(address);
            hosts.push_back(std::move(*host));
        }
    }
    return hosts;
}

std::vector<HostName> read_hosts(std::string_view text) {
    std::vector<HostName> hosts;
    while (!text.empty() && hosts.size() < kMostHosts) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        line = line.substr(0, line.find('#'));
        const auto ip = parse_ip(next_word(line));
        const std::string_view name = next_word(line);
        if (ip && is_name(name)) hosts.push_back({.address = ip->bytes, .ipv4 = ip->ipv4, .name = std::string(name)});
    }
    return hosts;
}

}  // namespace qps::transport
