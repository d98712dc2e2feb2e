#include <dissect/base/frame.hpp>
#include <gui/recorder/interface_list.hpp>
#include <gui/recorder/privilege.hpp>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <net/if_arp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <nlohmann/json.hpp>
#include <pcap/pcap.h>

namespace qps::recorder {

using dissect::LinkType;

namespace {

struct FreeList {
    void operator()(pcap_if_t* list) const { pcap_freealldevs(list); }
};

std::string numeric(const sockaddr& address, socklen_t length) {
    std::array<char, NI_MAXHOST> text{};
    const int status = getnameinfo(&address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
    return status == 0 ? std::string(text.data()) : std::string{};
}

sockaddr_ll hardware(const sockaddr& address) {
    sockaddr_ll copy{};
    std::memcpy(&copy, &address, sizeof(copy));
    return copy;
}

// As text; empty where it is of a kind that says nothing to a person.
std::string text_of(const sockaddr& address) {
    switch (address.sa_family) {
        case AF_INET: return numeric(address, sizeof(sockaddr_in));
        case AF_INET6: return numeric(address, sizeof(sockaddr_in6));
        case AF_PACKET: {
            const sockaddr_ll mac = hardware(address);
            constexpr unsigned kMacBytes = 6;
            if (mac.sll_hatype != ARPHRD_ETHER || mac.sll_halen != kMacBytes) return {};
            return fmt::format("{:02x}", fmt::join(mac.sll_addr, mac.sll_addr + kMacBytes, ":"));
        }
        default: return {};
    }
}

// The type of hardware tells what libpcap will hand out, in the common cases.
std::optional<LinkType> link_of(const pcap_if_t& interface) {
    if (std::strcmp(interface.name, "any") == 0) return LinkType::linux_cooked;
    for (const pcap_addr_t* entry = interface.addresses; entry != nullptr; entry = entry->next) {
        if (entry->addr == nullptr || entry->addr->sa_family != AF_PACKET) continue;
        switch (hardware(*entry->addr).sll_hatype) {
            case ARPHRD_ETHER:
            case ARPHRD_LOOPBACK: return LinkType::ethernet;
            case ARPHRD_NONE: return LinkType::raw_ip;
            default: return std::nullopt;
        }
    }
    return std::nullopt;
}

// Names and descriptions may be any bytes: what is not UTF-8 is replaced.
std::string line_of(const nlohmann::ordered_json& object) {
    return object.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string line_of(const pcap_if_t& interface) {
    nlohmann::ordered_json addresses = nlohmann::ordered_json::array();
    for (const pcap_addr_t* entry = interface.addresses; entry != nullptr; entry = entry->next)
        if (entry->addr != nullptr)
            if (std::string text = text_of(*entry->addr); !text.empty()) addresses.push_back(std::move(text));
    constexpr bpf_u_int32 kUp = PCAP_IF_UP | PCAP_IF_RUNNING;
    nlohmann::ordered_json object{{"type", "interface"},
                                  {"name", interface.name},
                                  {"description", interface.description == nullptr ? "" : interface.description},
                                  {"up", (interface.flags & kUp) == kUp},
                                  {"loopback", (interface.flags & PCAP_IF_LOOPBACK) != 0},
                                  {"addresses", std::move(addresses)}};
    if (const auto link = link_of(interface)) object["link"] = std::to_underlying(*link);
    return line_of(object);
}

}  // namespace

std::expected<std::string, std::string> interface_list(bool may_capture) {
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    pcap_if_t* first = nullptr;
    if (pcap_findalldevs(&first, error.data()) != 0) return std::unexpected(error.data());
    const std::unique_ptr<pcap_if_t, FreeList> list(first);
    nlohmann::ordered_json rights{{"type", "rights"}, {"may_capture", may_capture}};
    if (!may_capture) rights["remedy"] = remedy();
    std::string lines = line_of(rights);
    for (const pcap_if_t* interface = first; interface != nullptr; interface = interface->next)
        lines += line_of(*interface);
    return lines;
}

}  // namespace qps::recorder
