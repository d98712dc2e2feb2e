// IwarpDialogue: both ends of an iWARP connection as Ethernet frames, right to the last CRC, for tests that then lose,
// double, move and spoil them.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace qps::tests {

using Block = std::vector<std::byte>;

// ULPDUs, that is DDP segments with what RDMAP puts into them.
namespace ulpdu {
struct SegmentPosition {
    std::uint32_t msn = 1;
    std::uint32_t mo = 0;
    bool last = true;
};
[[nodiscard]] Block send(const SegmentPosition& place, dissect::Bytes payload,
                         std::optional<std::uint32_t> invalidate = {});
[[nodiscard]] Block write(std::uint32_t stag, std::uint64_t offset, bool last, dissect::Bytes payload);
[[nodiscard]] Block read_response(std::uint32_t stag, std::uint64_t offset, bool last, dissect::Bytes payload);
struct Read {
    std::uint32_t sink = 0x22;
    std::uint64_t sink_offset = 0x2000;
    std::uint32_t length = 0;
    std::uint32_t source = 0x11;
    std::uint64_t source_offset = 0x1000;
};
[[nodiscard]] Block read_request(std::uint32_t msn, const Read& read);
struct Atomic {
    std::uint8_t operation = 0;
    std::uint32_t identifier = 7;
    std::uint32_t stag = 0x33;
    std::uint64_t offset = 0x3000;
    std::uint64_t operand = 5;
    std::uint64_t compare = 9;
};
[[nodiscard]] Block atomic_request(std::uint32_t msn, const Atomic& atomic);
[[nodiscard]] Block atomic_response(std::uint32_t msn, std::uint32_t identifier, std::uint64_t original);
[[nodiscard]] Block immediate(std::uint32_t msn, std::uint64_t value);
// `rest` follows the control word.
[[nodiscard]] Block terminate(std::uint8_t layer, std::uint8_t type, std::uint8_t code, std::uint8_t headers = 0,
                              dissect::Bytes rest = {});
}  // namespace ulpdu

struct TcpFlags {
    static constexpr std::uint8_t fin = 1, syn = 2, reset = 4, push = 8, ack = 16;
};

class IwarpDialogue {
public:
    struct Settings {
        bool crc = true;
        bool markers = false;            // what both ends say
        bool sends_markers = true;       // what they do
        std::uint32_t marker_shift = 0;  // bytes of the stream before the first FPDU that markers are counted from
        std::uint8_t revision = 1;
        std::uint32_t first_seq = 0xfffff000;  // so that numbers wrap
        std::uint16_t port = 4711;
    };
    explicit IwarpDialogue(const Settings& settings) : settings_(settings) {
        sent_ = {settings.first_seq, settings.first_seq + 77};
        in_fpdus_ = {settings.marker_shift, settings.marker_shift};
    }

    // SYN, SYN and ACK; MPA request and reply.
    void connect(dissect::Bytes private_data = {}, dissect::Bytes reply_data = {}, bool rejected = false);
    [[nodiscard]] Block set_up(bool reply, dissect::Bytes private_data, bool rejected = false) const;
    // The FPDU of what `from` sends next.
    [[nodiscard]] Block fpdu(transport::End from, dissect::Bytes ulpdu);
    // A segment with the next bytes of `from`; how many frames there are then.
    std::size_t segment(transport::End from, dissect::Bytes data, std::uint8_t flags = TcpFlags::push | TcpFlags::ack);
    std::size_t acknowledge(transport::End from) { return segment(from, {}, TcpFlags::ack); }
    void post(transport::End from, dissect::Bytes ulpdu) { segment(from, fpdu(from, ulpdu)); }
    // The bytes are taken as sent, in no frame.
    void lose(transport::End from, dissect::Bytes data) {
        sent_[static_cast<std::size_t>(from)] += static_cast<std::uint32_t>(data.size());
    }

    std::vector<Block> frames{};

private:
    Settings settings_;
    std::array<std::uint32_t, 2> sent_{};      // sequence number of the next byte
    std::array<std::uint32_t, 2> in_fpdus_{};  // bytes of FPDUs so far: where markers are
    std::uint16_t ip_id_ = 1;
};

// What an analysis made of frames, a microsecond apart.
struct Followed {
    transport::Timeline timeline{};
    struct Ended {
        transport::ConnectionId connection{};
        transport::End requester{};
        transport::Message message;
    };
    std::vector<Ended> messages{};
    std::vector<transport::PacketRecord> episodes{};  // by frame, the first at 0

    [[nodiscard]] std::size_t count(dissect::Verb verb, transport::Outcome outcome) const;
};
// `captured`: of each frame.
[[nodiscard]] Followed follow(const std::vector<Block>& frames, std::size_t captured = SIZE_MAX,
                              transport::UlpHints hints = {});

[[nodiscard]] Block pattern(std::size_t length, std::uint8_t first = 1);
[[nodiscard]] Block joined(const Block& a, const Block& b);
[[nodiscard]] Block block(std::string_view text);

}  // namespace qps::tests
