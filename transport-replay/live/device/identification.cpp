#include <dissect/base/icrc.hpp>
#include <transport-replay/live/device/identification.hpp>

#include <array>
#include <bit>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::uint32_t kPolynomial = 0xedb8'8320;  // of the CRC-32 (7.8.1), least significant bit first
constexpr std::size_t kIcrc = 4;
constexpr std::size_t kShortest = bth_offset(IcrcCoverage::roce_v2_ipv4) + 12 + kIcrc;
constexpr std::size_t kIdentification = 4, kFlags = 6;  // bytes of the header
constexpr std::byte kDontFragmentFlag{0x40};
constexpr unsigned kFlagBit = 6;                                        // of its byte, in the order of the CRC
constexpr unsigned kUnknownBits = 17;                                   // identification, then the flag
constexpr unsigned kSteps = (kFlags - kIdentification) * 8 + kFlagBit;  // of the CRC from the first of them to the flag

// As the CRC's register has it: the first byte of the wire is the least significant.
std::uint32_t crc_of(Bytes packet) {
    return std::byteswap(invariant_crc(IcrcCoverage::roce_v2_ipv4, packet.first(packet.size() - kIcrc)));
}

// What one bit changes of a CRC, and what a bit one step before it does.
constexpr std::uint32_t step(std::uint32_t change) { return change >> 1 ^ ((change & 1) != 0 ? kPolynomial : 0); }

// Changes of the CRC, each with the unknown bits that make it; by their highest bit, so that any sum can be taken
// apart.
class Changes {
public:
    void add(std::uint32_t change, std::uint32_t bits) {
        const auto [rest, with] = reduce(change, bits);
        if (rest != 0) rows_[static_cast<std::size_t>(std::bit_width(rest)) - 1] = {rest, with};
    }
    // The rest of a change that those added cannot make (0: they can), and which bits it takes.
    struct Row {
        std::uint32_t change = 0;
        std::uint32_t bits = 0;
    };
    [[nodiscard]] Row reduce(std::uint32_t change, std::uint32_t bits) const {
        for (std::size_t i = rows_.size(); i-- > 0;) {
            if ((change >> i & 1) == 0 || rows_[i].change == 0) continue;
            change ^= rows_[i].change;
            bits ^= rows_[i].bits;
        }
        return {change, bits};
    }

private:
    std::array<Row, 32> rows_{};
};

}  // namespace

bool find_identification(MutableBytes packet) {
    if (packet.size() < kShortest) return false;
    const std::uint32_t guessed = crc_of(packet);
    const std::uint32_t wanted = guessed ^ read_le<std::uint32_t>(packet, packet.size() - kIcrc);
    if (wanted == 0) return true;
    packet[kFlags] ^= kDontFragmentFlag;
    std::uint32_t change = guessed ^ crc_of(packet);
    packet[kFlags] ^= kDontFragmentFlag;

    // Bits of bytes 4 and 5 come in the order of the CRC: the least significant of each byte first.
    Changes changes;
    for (unsigned at = kSteps;; --at, change = step(change)) {
        if (at == kSteps) changes.add(change, 1U << (kUnknownBits - 1));
        else if (at < kUnknownBits - 1) changes.add(change, 1U << at);
        if (at == 0) break;
    }
    const auto [rest, bits] = changes.reduce(wanted, 0);
    if (rest != 0) return false;
    packet[kIdentification] ^= static_cast<std::byte>(bits);
    packet[kIdentification + 1] ^= static_cast<std::byte>(bits >> 8);
    if ((bits >> (kUnknownBits - 1)) != 0) packet[kFlags] ^= kDontFragmentFlag;
    return true;
}

}  // namespace qps::transport::live
