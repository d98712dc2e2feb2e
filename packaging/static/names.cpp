// What a static program cannot ask of glibc: names of hosts, services, protocols and networks. NSS looks them up by
// libraries that it loads, which must be of the very glibc that the program was linked with. Linked into the static
// file alone, in place of glibc's functions, so that neither our sources nor libpcap need to know. Addresses are
// numeric or in /etc/hosts; DNS is not asked.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>

namespace {

using Words = std::vector<std::string>;

constexpr const char* kNoDns = "no address, and no name in /etc/hosts (this program is static and asks no DNS)";

// The lines of a table of /etc that have at least so many words; none where there is no such table.
std::vector<Words> lines_of(const char* path, std::size_t least) {
    std::vector<Words> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream text(line.substr(0, line.find('#')));
        Words words;
        for (std::string word; text >> word;) words.push_back(std::move(word));
        if (words.size() >= least) lines.push_back(std::move(words));
    }
    return lines;
}

bool is_one_of(std::span<const std::string> names, std::string_view name) {
    return std::ranges::any_of(
        names, [&](const std::string& each) { return strcasecmp(each.c_str(), std::string(name).c_str()) == 0; });
}

// A name at the start of a line, or among its aliases from the third word on; the second word is what is asked for.
std::optional<std::string> second_word(const char* path, std::string_view name) {
    for (const Words& words : lines_of(path, 2)) {
        const std::span all = words;
        if (is_one_of(all.first(1), name) || is_one_of(all.subspan(2), name)) return words[1];
    }
    return {};
}

template <class Number> std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return number;
}

// One address of a host; the port is added later.
struct Address {
    sockaddr_storage bytes{};
    socklen_t length = 0;
};

Address address_of(const in_addr& ip) {
    sockaddr_in socket{};
    socket.sin_family = AF_INET;
    socket.sin_addr = ip;
    Address address{.length = sizeof socket};
    std::memcpy(&address.bytes, &socket, sizeof socket);
    return address;
}

Address address_of(const in6_addr& ip, std::uint32_t scope = 0) {
    sockaddr_in6 socket{};
    socket.sin6_family = AF_INET6;
    socket.sin6_addr = ip;
    socket.sin6_scope_id = scope;
    Address address{.length = sizeof socket};
    std::memcpy(&address.bytes, &socket, sizeof socket);
    return address;
}

// "10.0.0.1", "fe80::1%eth0".
std::optional<Address> numeric_address(const std::string& text) {
    in_addr ipv4{};
    if (text.find_first_not_of("0123456789abcdefABCDEFxX.") == std::string::npos && inet_aton(text.c_str(), &ipv4) != 0)
        return address_of(ipv4);
    const std::size_t percent = text.find('%');
    in6_addr ipv6{};
    if (inet_pton(AF_INET6, text.substr(0, percent).c_str(), &ipv6) != 1) return {};
    if (percent == std::string::npos) return address_of(ipv6);
    const std::string zone = text.substr(percent + 1);
    const std::uint32_t scope = number_in<std::uint32_t>(zone).value_or(if_nametoindex(zone.c_str()));
    return scope == 0 ? std::nullopt : std::optional(address_of(ipv6, scope));
}

std::vector<Address> addresses_of(const char* host, int flags) {
    if (host == nullptr) {
        if ((flags & AI_PASSIVE) != 0) return {address_of(in_addr{htonl(INADDR_ANY)}), address_of(in6addr_any)};
        return {address_of(in6addr_loopback), address_of(in_addr{htonl(INADDR_LOOPBACK)})};
    }
    if (const auto numeric = numeric_address(host)) return {*numeric};
    std::vector<Address> found;
    if ((flags & AI_NUMERICHOST) != 0) return found;
    for (const Words& words : lines_of("/etc/hosts", 2))
        if (is_one_of(std::span(words).subspan(1), host))
            if (const auto address = numeric_address(words[0])) found.push_back(*address);
    return found;
}

struct Kind {
    int type;
    int protocol;
    std::string_view name;
};
constexpr std::array kKinds{Kind{SOCK_STREAM, IPPROTO_TCP, "/tcp"}, Kind{SOCK_DGRAM, IPPROTO_UDP, "/udp"},
                            Kind{SOCK_RAW, 0, ""}};

// "4791", or a name of /etc/services.
std::optional<std::uint16_t> port_of(const char* service, const Kind& kind, int flags) {
    if (service == nullptr) return 0;
    if (const auto port = number_in<std::uint16_t>(service)) return port;
    if ((flags & AI_NUMERICSERV) != 0) return {};
    for (const Words& words : lines_of("/etc/services", 2)) {
        const std::string_view port = words[1];
        if (kind.name.empty() || !port.ends_with(kind.name)) continue;
        if (is_one_of(std::span(words).first(1), service) || is_one_of(std::span(words).subspan(2), service))
            return number_in<std::uint16_t>(port.substr(0, port.size() - kind.name.size()));
    }
    return {};
}

// What getaddrinfo() gives out; freeaddrinfo() finds it by its first member.
struct Entry {
    addrinfo info{};
    sockaddr_storage address{};
};

struct FreeList {
    void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using List = std::unique_ptr<addrinfo, FreeList>;

void add(List& list, addrinfo**& last, const Address& address, const Kind& kind, std::uint16_t port) {
    auto* const entry = new Entry;
    entry->address = address.bytes;
    if (address.bytes.ss_family == AF_INET) reinterpret_cast<sockaddr_in&>(entry->address).sin_port = htons(port);
    else reinterpret_cast<sockaddr_in6&>(entry->address).sin6_port = htons(port);
    entry->info.ai_family = address.bytes.ss_family;
    entry->info.ai_socktype = kind.type;
    entry->info.ai_protocol = kind.protocol;
    entry->info.ai_addrlen = address.length;
    entry->info.ai_addr = reinterpret_cast<sockaddr*>(&entry->address);
    if (list) *last = &entry->info;
    else list.reset(&entry->info);
    last = &entry->info.ai_next;
}

// The name and an empty list of aliases, in the room of the caller of a function that ends in _r.
int fill(char*& name, char**& aliases, const std::string& text, std::span<char> room) {
    void* place = room.data();
    std::size_t left = room.size();
    if (std::align(alignof(char*), sizeof(char*) + text.size() + 1, place, left) == nullptr) return ERANGE;
    aliases = static_cast<char**>(place);
    *aliases = nullptr;
    name = static_cast<char*>(place) + sizeof(char*);
    std::memcpy(name, text.c_str(), text.size() + 1);
    return 0;
}

}  // namespace

extern "C" {

int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** result) try {
    const addrinfo wanted = hints == nullptr ? addrinfo{} : *hints;
    const std::vector<Address> addresses = addresses_of(host, wanted.ai_flags);
    if (addresses.empty()) return EAI_NONAME;
    List list;
    addrinfo** last = nullptr;
    bool served = false;
    for (const Address& address : addresses) {
        if (wanted.ai_family != AF_UNSPEC && wanted.ai_family != address.bytes.ss_family) continue;
        for (const Kind& kind : kKinds) {
            if (wanted.ai_socktype != 0 && wanted.ai_socktype != kind.type) continue;
            if (wanted.ai_protocol != 0 && kind.protocol != 0 && wanted.ai_protocol != kind.protocol) continue;
            const auto port = port_of(service, kind, wanted.ai_flags);
            if (!port) continue;
            served = true;
            add(list, last, address, kind, *port);
        }
    }
    if (!list) return service != nullptr && !served ? EAI_SERVICE : EAI_NONAME;
    *result = list.release();
    return 0;
} catch (const std::bad_alloc&) {
    return EAI_MEMORY;
}

void freeaddrinfo(addrinfo* list) noexcept {
    while (list != nullptr) {
        const std::unique_ptr<Entry> entry(reinterpret_cast<Entry*>(list));
        list = list->ai_next;
    }
}

const char* gai_strerror(int error) noexcept {
    switch (error) {
        case EAI_NONAME: return kNoDns;
        case EAI_SERVICE: return "unknown port: expected a number, or a name in /etc/services";
        case EAI_MEMORY: return "out of memory";
        default: return "unknown error";
    }
}

// Numbers alone: nobody asks for names of what connected to him.
int getnameinfo(const sockaddr* address, socklen_t length, char* host, socklen_t host_length, char* service,
                socklen_t service_length, int flags) {
    if ((host != nullptr && (flags & NI_NUMERICHOST) == 0) || (service != nullptr && (flags & NI_NUMERICSERV) == 0))
        return EAI_NONAME;
    std::array<char, INET6_ADDRSTRLEN + 1 + IF_NAMESIZE> text{};
    std::uint16_t port = 0;
    if (address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
        sockaddr_in ipv4{};
        std::memcpy(&ipv4, address, sizeof ipv4);
        inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size());
        port = ntohs(ipv4.sin_port);
    } else if (address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
        sockaddr_in6 ipv6{};
        std::memcpy(&ipv6, address, sizeof ipv6);
        inet_ntop(AF_INET6, &ipv6.sin6_addr, text.data(), text.size());
        port = ntohs(ipv6.sin6_port);
        if (ipv6.sin6_scope_id != 0) {
            char* const end = text.data() + std::strlen(text.data());
            *end = '%';
            if (if_indextoname(ipv6.sin6_scope_id, end + 1) == nullptr)
                *std::to_chars(end + 1, end + IF_NAMESIZE, ipv6.sin6_scope_id).ptr = 0;
        }
    } else {
        return EAI_FAMILY;
    }
    std::array<char, 8> digits{};
    std::to_chars(digits.data(), digits.data() + digits.size() - 1, port);
    for (const auto& [to, room, from] :
         {std::tuple(host, host_length, text.data()), std::tuple(service, service_length, digits.data())}) {
        if (to == nullptr) continue;
        if (std::strlen(from) >= room) return EAI_OVERFLOW;
        std::memcpy(to, from, std::strlen(from) + 1);
    }
    return 0;
}

// Of libpcap: "ip proto NAME".
int getprotobyname_r(const char* name, protoent* found, char* room, std::size_t size, protoent** result) try {
    *result = nullptr;
    const auto number =
        second_word("/etc/protocols", name).and_then([](const std::string& word) { return number_in<int>(word); });
    if (!number) return 0;
    found->p_proto = *number;
    const int error = fill(found->p_name, found->p_aliases, name, {room, size});
    if (error == 0) *result = found;
    return error;
} catch (const std::bad_alloc&) {
    return ENOMEM;
}

// Of libpcap: "net NAME".
int getnetbyname_r(const char* name, netent* found, char* room, std::size_t size, netent** result,
                   int* host_error) try {
    *result = nullptr;
    *host_error = HOST_NOT_FOUND;
    const auto number = second_word("/etc/networks", name).transform([](const std::string& word) {
        return inet_network(word.c_str());
    });
    if (!number || *number == INADDR_NONE) return 0;
    found->n_addrtype = AF_INET;
    found->n_net = *number;
    const int error = fill(found->n_name, found->n_aliases, name, {room, size});
    if (error == 0) *result = found;
    return error;
} catch (const std::bad_alloc&) {
    return ENOMEM;
}

// Of libpcap's pcap_nametoaddr(), which nobody calls any more.
hostent* gethostbyname(const char* /*name*/) {
    h_errno = HOST_NOT_FOUND;
    return nullptr;
}

// Of SQLite, for extensions, which nobody asks it for. The linker calls it in place of dlopen().
void* __wrap_dlopen(const char* /*file*/, int /*mode*/) { return nullptr; }

}  // extern "C"
