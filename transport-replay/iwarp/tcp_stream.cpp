#include <transport-replay/iwarp/tcp_stream.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

void TcpStream::start(std::uint32_t seq) {
    started_ = true;
    next_ = seq;
    arrived_.reset();
    held_.clear();
    held_bytes_ = 0;
    acknowledged_.reset();
}

TcpArrival TcpStream::add(const TcpPiece& piece) {
    if (!started_) start(piece.seq);
    if (!is_before(next_, piece.end())) return TcpArrival::repeated;
    if (is_before(next_, piece.seq)) {
        const auto same = [&](const Held& held) {
            return !is_before(piece.seq, held.piece.seq) && !is_before(held.piece.end(), piece.end());
        };
        if (std::ranges::any_of(held_, same)) return TcpArrival::repeated;
        if (held_.empty()) gap_since_ = piece.time;
        const bool fills = !held_.empty() && is_before(piece.seq, held_.back().piece.seq);
        hold(piece);
        return fills ? TcpArrival::late : TcpArrival::ahead;
    }
    arrived_ = piece;
    return held_.empty() ? TcpArrival::in_order : TcpArrival::late;
}

void TcpStream::hold(const TcpPiece& piece) {
    const auto place =
        std::ranges::find_if(held_, [&](const Held& held) { return is_before(piece.seq, held.piece.seq); });
    Held& held = *held_.emplace(place, Held{piece, {piece.bytes.begin(), piece.bytes.end()}});
    held.piece.bytes = {};
    held_bytes_ += held.bytes.size();
    if (held_.size() > kMaxHeldPieces || held_bytes_ > kMaxHeldBytes) must_skip_ = true;
}

void TcpStream::acknowledged(std::uint32_t seq) {
    if (!acknowledged_ || is_before(*acknowledged_, seq)) acknowledged_ = seq;
}

std::uint32_t TcpStream::unseen() const {
    constexpr std::uint32_t kFinLength = 1;
    if (!started_ || !acknowledged_ || !is_before(next_ + kFinLength, *acknowledged_)) return 0;
    return *acknowledged_ - next_;
}

std::optional<Instant> TcpStream::gap_since() const { return held_.empty() ? std::nullopt : std::optional(gap_since_); }

bool TcpStream::may_skip() const {
    return over_ || must_skip_ || (acknowledged_ && !is_before(*acknowledged_, held_.front().piece.seq));
}

// Cuts off what was handed out before.
std::optional<TcpPiece> TcpStream::deliver(TcpPiece piece) {
    if (const std::uint32_t known = next_ - piece.seq; known != 0) {
        piece.bytes = slice(piece.bytes, known);
        piece.length -= known;
        piece.seq = next_;
        piece.starts_segment = false;
    }
    next_ = piece.end();
    return piece;
}

std::optional<TcpPiece> TcpStream::next() {
    if (arrived_) return deliver(*std::exchange(arrived_, std::nullopt));
    while (!held_.empty()) {
        std::uint32_t missing = 0;
        if (is_before(next_, held_.front().piece.seq)) {
            if (!may_skip()) break;
            missing = held_.front().piece.seq - next_;
            next_ = held_.front().piece.seq;
            must_skip_ = held_.size() > kMaxHeldPieces / 2 || held_bytes_ > kMaxHeldBytes / 2;
        }
        TcpPiece piece = held_.front().piece;
        current_ = std::move(held_.front().bytes);
        piece.bytes = current_;
        piece.missing = missing;
        held_bytes_ -= current_.size();
        held_.pop_front();
        if (held_.empty()) must_skip_ = false;
        if (is_before(next_, piece.end())) return deliver(piece);
    }
    return std::nullopt;
}

}  // namespace qps::transport
