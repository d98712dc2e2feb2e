#include <dissect/base/ethertypes.hpp>
#include <transport-replay/live/device/pause_frame.hpp>

#include <algorithm>

namespace qps::transport::live {

using namespace dissect;

namespace {

// Bytes of a frame: addresses, type, opcode, what the opcode has.
constexpr std::size_t kSource = 6, kType = 12, kOpcode = 14, kParameters = 16;
constexpr std::size_t kPauseEnd = kParameters + 2;  // one timer
constexpr std::size_t kVector = kParameters, kTimers = kVector + 2;
constexpr std::size_t kPfcEnd = kTimers + 2 * kPriorities;
constexpr std::size_t kMacBits = 48;
constexpr std::uint16_t kPauseOpcode = 0x0001, kPfcOpcode = 0x0101;

std::uint64_t mac_at(Bytes frame, std::size_t at) { return read_bits(frame, at * 8, kMacBits); }

}  // namespace

std::expected<PauseDemand, NoPause> read_pause(Bytes frame, std::uint64_t mac) {
    if (frame.size() < kParameters) return std::unexpected(NoPause::cut);
    const auto opcode = read_be<std::uint16_t>(frame, kOpcode);
    const bool pfc = opcode == kPfcOpcode;
    if (!pfc && opcode != kPauseOpcode) return std::unexpected(NoPause::other_opcode);
    const std::uint64_t destination = mac_at(frame, 0);
    if (destination != kPauseGroup && destination != mac) return std::unexpected(NoPause::other_address);
    if (frame.size() < (pfc ? kPfcEnd : kPauseEnd)) return std::unexpected(NoPause::cut);
    PauseDemand demand{.whole_link = !pfc, .source = mac_at(frame, kSource)};
    if (demand.source == mac) return std::unexpected(NoPause::from_us);
    if (!pfc) {
        demand.quanta[0] = read_be<std::uint16_t>(frame, kParameters);
        return demand;
    }
    demand.priorities = read_be<std::uint8_t>(frame, kVector + 1);  // the upper byte is reserved
    for (std::size_t priority = 0; priority < kPriorities; ++priority)
        demand.quanta[priority] = read_be<std::uint16_t>(frame, kTimers + 2 * priority);
    return demand;
}

void write_pause(const PauseDemand& demand, MutableBytes into) {
    if (into.size() < kPauseFrameBytes) return;
    const MutableBytes frame = into.first(kPauseFrameBytes);
    std::ranges::fill(frame, std::byte{0});
    write_bits(frame, 0, kMacBits, kPauseGroup);
    write_bits(frame, kSource * 8, kMacBits, demand.source);
    write_bits(frame, kType * 8, 16, ethertype::mac_control);
    write_bits(frame, kOpcode * 8, 16, demand.whole_link ? kPauseOpcode : kPfcOpcode);
    if (demand.whole_link) return write_bits(frame, kParameters * 8, 16, demand.quanta[0]);
    write_bits(frame, kVector * 8, 16, demand.priorities);
    for (std::size_t priority = 0; priority < kPriorities; ++priority)
        write_bits(frame, (kTimers + 2 * priority) * 8, 16, demand.quanta[priority]);
}

std::optional<std::uint8_t> priority_of(Bytes frame) {
    constexpr std::size_t kBehind = 14;
    if (frame.size() < kBehind + 2) return 0;
    const auto bits = [&](std::size_t from) { return static_cast<std::uint8_t>(read_bits(frame, from, 3)); };
    switch (read_be<std::uint16_t>(frame, kType)) {
        case ethertype::mac_control: return std::nullopt;
        case ethertype::customer_tag:
        case ethertype::service_tag: return bits(kBehind * 8);
        case ethertype::ipv4: return bits((kBehind + 1) * 8);  // the second byte: DSCP and ECN
        case ethertype::ipv6:
        case ethertype::roce1:
            return bits(kBehind * 8 + 4);  // behind the version: traffic class, of the GRH as of IPv6
        default: return 0;
    }
}

}  // namespace qps::transport::live
