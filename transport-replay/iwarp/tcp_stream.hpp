// TcpStream: one direction of a TCP connection, its segments put in order as the capture has them.
//
// A segment that is ahead is held until what is before it comes, or until it is sure that the capture lacks that: the
// other end acknowledged it, or more is held than the bounds allow. What the capture lacks is told with the piece
// behind it, and never made up. What an attacker could feed: any sequence numbers, segments that overlap. Bytes are
// taken once, those that came first; what is held has bounds.
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/types.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace qps::transport {

// Sequence numbers wrap: a is before b where the way from a to b is the shorter one (RFC 9293 3.4).
[[nodiscard]] constexpr bool is_before(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) < 0;
}

// What one segment carries, or the part of it that is new.
struct TcpPiece {
    std::uint32_t seq = 0;
    std::uint32_t length = 0;  // on the wire
    dissect::Bytes bytes{};    // as far as captured; borrowed
    dissect::FrameIndex frame{};
    dissect::Instant time{};
    std::uint32_t missing = 0;   // bytes before it that the capture does not have
    bool starts_segment = true;  // else what was before it in its segment was known
    [[nodiscard]] std::uint32_t end() const { return seq + length; }
};

enum class TcpArrival : std::uint8_t {
    in_order,
    ahead,     // what is before it is missing so far
    late,      // fills such a gap
    repeated,  // nothing new in it
};

class TcpStream {
public:
    static constexpr std::size_t kMaxHeldPieces = 256;                  // a window of 256 KiB in segments of 1 KiB
    static constexpr std::size_t kMaxHeldBytes = std::size_t{1} << 19;  // and in large ones

    [[nodiscard]] bool started() const { return started_; }
    // The stream goes on at `seq`: what is before is of no interest.
    void start(std::uint32_t seq);
    // A segment with data. next() has to be asked until it has nothing before the next one comes: it borrows.
    TcpArrival add(const TcpPiece& piece);
    // The other end has everything before `seq`.
    void acknowledged(std::uint32_t seq);
    // What comes next in the stream. Its bytes are valid until the next call.
    [[nodiscard]] std::optional<TcpPiece> next();
    // Nothing will fill gaps any more: next() goes over them.
    void no_more() { over_ = true; }

    [[nodiscard]] std::uint32_t next_seq() const { return next_; }
    // Bytes that the other end acknowledged and that never came; a FIN, which counts as one, is none.
    [[nodiscard]] std::uint32_t unseen() const;
    [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }
    // Since when something is missing; nothing where nothing is.
    [[nodiscard]] std::optional<dissect::Instant> gap_since() const;
    // Gives up the gap, to make room.
    void give_up_gap() { must_skip_ = !held_.empty(); }

private:
    struct Held {
        TcpPiece piece;
        std::vector<std::byte> bytes;
    };
    [[nodiscard]] bool may_skip() const;
    [[nodiscard]] std::optional<TcpPiece> deliver(TcpPiece piece);
    void hold(const TcpPiece& piece);

    bool started_ = false;
    bool over_ = false;
    bool must_skip_ = false;
    std::uint32_t next_ = 0;
    std::optional<std::uint32_t> acknowledged_{};
    std::optional<TcpPiece> arrived_{};  // in order, not handed out yet
    std::deque<Held> held_{};            // by sequence number
    std::vector<std::byte> current_{};   // bytes of the held piece that was handed out last
    std::size_t held_bytes_ = 0;
    dissect::Instant gap_since_{};
};

}  // namespace qps::transport
