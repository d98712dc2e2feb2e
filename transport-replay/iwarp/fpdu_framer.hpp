// FpduFramer: a TCP stream cut into FPDUs, with or without markers (RFC 5044 4).
//
// It must know where FPDUs begin. Where the capture lacks bytes in the middle of an FPDU whose length is known, it goes
// on behind them; where it lacks more, the next segment that begins with an FPDU (begins_fpdu()) is where it goes on:
// senders of MPA begin segments so. What an attacker could feed: any lengths. An FPDU has 64 KiB at most, and that is
// all that is kept.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/base/ulp_hint.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <transport-replay/iwarp/tcp_stream.hpp>

#include <optional>
#include <vector>

namespace qps::transport {

// What both ends agreed on for one way.
struct Framing {
    bool crc = false;
    bool markers = false;
    std::uint32_t first =
        0;  // of the stream: where its first FPDU began, and so its markers; of no meaning without them
    [[nodiscard]] dissect::mpa::ToMarker to_marker(std::uint32_t seq) const {
        if (!markers) return std::nullopt;
        return static_cast<std::size_t>(first - seq) % dissect::mpa::kMarkerInterval;
    }
};

// Whether an FPDU begins with the first byte of a segment: one of its FPDUs has the right CRC, or where CRCs are not in
// use (or not captured) they fill the segment to its last byte, and each looks like one.
[[nodiscard]] bool begins_fpdu(dissect::Bytes segment, std::uint32_t length, const Framing& framing, std::uint32_t seq);

struct Fpdu {
    std::uint32_t seq = 0;  // of its first byte
    std::uint32_t end = 0;  // behind its last
    std::uint16_t length = 0;
    dissect::Bytes ulpdu{};  // as far as captured, without markers; borrowed until the next call of the framer
    dissect::CrcStatus crc = dissect::CrcStatus::not_applicable;
    dissect::FrameIndex first_frame{};
    dissect::FrameIndex last_frame{};
    dissect::Instant first_time{};
    dissect::Instant last_time{};
};

class FpduFramer {
public:
    // FPDUs begin at `framing.first`; what comes before is not taken.
    void begin(const Framing& framing);
    // It is not known where they begin.
    void begin_anywhere(const Framing& framing);
    // The other end said more: before the first FPDU.
    void agree(const Framing& framing) { framing_ = framing; }
    [[nodiscard]] const Framing& framing() const { return framing_; }
    [[nodiscard]] bool aligned() const { return aligned_; }

    // Where the first FPDU of the piece that take() is about to get begins; nothing where none does, or nobody knows.
    [[nodiscard]] std::optional<std::uint32_t> first_in(const TcpPiece& piece) const;
    // The next piece of the stream. next() has to be asked until it has nothing.
    void take(const TcpPiece& piece);
    [[nodiscard]] std::optional<Fpdu> next();

    [[nodiscard]] std::uint64_t lost_alignment() const { return lost_; }
    [[nodiscard]] std::uint64_t unread_bytes() const { return unread_; }
    // The segment whose markers were found elsewhere than the framing that was agreed on has them, or not at all; 0:
    // none.
    [[nodiscard]] dissect::FrameIndex odd_markers() const { return odd_markers_; }

private:
    // Senders of the first hour count markers from other bytes, or leave them out. Only a right CRC tells: until an
    // FPDU had a marker in it, each is tried.
    static constexpr std::uint8_t kMostSearches = 4;  // of 512 CRCs each
    void settle_markers();

    [[nodiscard]] bool knows_total() const { return total_ != 0; }
    void lose();
    [[nodiscard]] std::optional<Fpdu> skip_missing();
    [[nodiscard]] std::optional<Fpdu> whole_in_place();
    [[nodiscard]] bool take_length();
    void take_bytes(std::size_t count);
    [[nodiscard]] Fpdu finish(dissect::Bytes raw, std::size_t total);
    void consume(std::size_t count);

    Framing framing_;
    bool aligned_ = false;
    bool waits_ = false;  // for the byte at framing_.first
    TcpPiece piece_;      // what is left of it
    // The FPDU under way:
    Fpdu under_way_;
    std::vector<std::byte> raw_{};  // its bytes of the stream, up to the first that is not captured
    std::size_t passed_ = 0;        // bytes of it that went by
    std::size_t total_ = 0;         // 0: its length was not seen yet
    std::vector<std::byte> plain_{};
    bool markers_settled_ = false;
    dissect::FrameIndex odd_markers_{};
    std::uint8_t searches_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t unread_ = 0;
};

}  // namespace qps::transport
