#include <transport-replay/capture/interfaces.hpp>

#include <algorithm>
#include <array>

#include <pcap/pcap.h>

namespace qps::transport {

std::vector<std::string> capture_sources() {
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    pcap_if_t* first = nullptr;
    if (pcap_findalldevs(&first, error.data()) != 0) return {};
    std::vector<std::string> names;
    for (const pcap_if_t* each = first; each != nullptr; each = each->next) names.emplace_back(each->name);
    pcap_freealldevs(first);
    std::ranges::sort(names);
    return names;
}

}  // namespace qps::transport
