#include <transport-replay/set_up/nccl_exchange.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::array<std::uint8_t, kNcclHello> kHello{0x6c, 0x9d, 0x4b, 0xfc, 0xf2, 0xb9, 0x4a, 0x56, 4, 0, 0, 0};
constexpr std::size_t kMostBefore = 32;  // bytes of devices: none, 20 or 21 by version
constexpr std::size_t kQueuePairs = 128;
constexpr std::uint8_t kEthernet = 2;  // IBV_LINK_LAYER_ETHERNET

// ncclIbDevInfo, from its beginning; what stands behind differs.
constexpr std::size_t kPort = 4, kMtu = 8, kLayer = 12, kGid = 16, kKey = 32, kDeviceEnd = 36;
constexpr std::array<std::size_t, 2> kDeviceSizes{56, 72};
constexpr std::uint8_t kDevices = 4;
// ncclIbQpInfo of versions that join several devices.
constexpr std::size_t kEce = 16, kDeviceIndex = 20, kQueuePair = 24;
constexpr std::array<std::size_t, 3> kSpare{0, 4, 8};  // queue pairs of others behind, by version

std::optional<Qpn> qpn_at(Bytes bytes, std::size_t at) {
    const auto qpn = read_le<std::uint32_t>(bytes, at);
    return qpn > 1 && qpn < 0xffffff ? std::optional(Qpn{qpn}) : std::nullopt;
}
bool is_mtu(std::uint32_t mtu) { return mtu >= 1 && mtu <= 5; }  // ibv_mtu
bool has_gid(Bytes bytes, std::size_t at, const Address& own) {
    return Address{{read_be<std::uint64_t>(bytes, at), read_be<std::uint64_t>(bytes, at + 8)}, AddressSpace::roce_v2} ==
           own;
}

// Older versions: all of one device, whose queue pairs are a row of numbers; some have their ECE behind.
std::optional<NcclQueuePair> read_one_device(Bytes bytes, const Address& own) {
    constexpr std::size_t kRow = 8, kOldLayer = 5, kBehind = kRow + 4 * kQueuePairs, kEceOfAll = 16 * kQueuePairs;
    for (const std::size_t gid : {kBehind, kBehind + kEceOfAll}) {
        if (bytes.size() < gid + 24 || !has_gid(bytes, gid, own)) continue;
        const bool good = read_be<std::uint8_t>(bytes, kPort) != 0 &&
                          read_be<std::uint8_t>(bytes, kOldLayer) == kEthernet &&
                          is_mtu(read_le<std::uint32_t>(bytes, gid + 16));
        if (const auto qpn = qpn_at(bytes, kRow); good && qpn)
            return NcclQueuePair{0, *qpn, Rkey{read_le<std::uint32_t>(bytes, gid + 20)}};
    }
    return {};
}

bool is_device(Bytes bytes, std::size_t at) {
    return bytes.size() >= at + kDeviceEnd && read_be<std::uint8_t>(bytes, at + kPort) != 0 &&
           is_mtu(read_le<std::uint32_t>(bytes, at + kMtu)) && read_be<std::uint8_t>(bytes, at + kLayer) == kEthernet;
}

// The first ones of them are spread over the devices.
void add_queue_pairs(Bytes bytes, std::uint8_t device, Rkey key, std::vector<NcclQueuePair>& found) {
    for (std::uint8_t i = 0; i < kDevices; ++i) {
        const std::size_t at = i * kQueuePair;
        const auto qpn = qpn_at(bytes, at);
        if (!qpn || read_le<std::uint32_t>(bytes, at + kEce) > 1) return;
        if (read_le<std::uint32_t>(bytes, at + kDeviceIndex) == device) found.push_back({i, *qpn, key});
    }
}

// Newer versions.
std::vector<NcclQueuePair> read_devices(Bytes bytes, const Address& own) {
    for (const std::size_t spare : kSpare) {
        for (const std::size_t size : kDeviceSizes) {
            const std::size_t begin = (kQueuePairs + spare) * kQueuePair;
            for (std::uint8_t device = 0; device < kDevices && is_device(bytes, begin + device * size); ++device) {
                const std::size_t at = begin + device * size;
                if (!has_gid(bytes, at + kGid, own)) continue;
                std::vector<NcclQueuePair> found;
                add_queue_pairs(bytes, device, Rkey{read_le<std::uint32_t>(bytes, at + kKey)}, found);
                if (!found.empty()) return found;
            }
        }
    }
    return {};
}

}  // namespace

bool begins_nccl(Bytes stream) {
    const std::size_t known = std::min(stream.size(), kHello.size());
    return known >= kNcclMagic &&
           std::equal(kHello.begin(), kHello.begin() + static_cast<std::ptrdiff_t>(known), stream.begin(),
                      [](std::uint8_t one, std::byte other) { return std::byte{one} == other; });
}

std::vector<NcclQueuePair> read_nccl(Bytes stream, const Address& own) {
    for (std::size_t before = 0; before <= std::min(kMostBefore, stream.size()); ++before) {
        const Bytes bytes = stream.subspan(before);
        if (const auto one = read_one_device(bytes, own)) return {*one};
        if (auto found = read_devices(bytes, own); !found.empty()) return found;
    }
    return {};
}

}  // namespace qps::transport
