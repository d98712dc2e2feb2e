#include <dissect/ulp/crc32c.hpp>
#include <transport-replay/iwarp/fpdu_framer.hpp>

#include <algorithm>
#include <array>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kWord = 4;  // the length and the control of DDP and RDMAP: no marker is between them
constexpr std::size_t kHeadBytes = mpa::kLengthField + mpa::kToDecide;

// The first plain bytes of an FPDU, as far as there are.
struct Head {
    std::array<std::byte, kHeadBytes> storage{};
    std::size_t count = 0;
    [[nodiscard]] Bytes bytes() const { return {storage.data(), count}; }
};

Head head_of(Bytes raw, mpa::ToMarker to_marker) {
    Head head;
    std::size_t at = 0;
    while (head.count < kHeadBytes && at < raw.size()) {
        if (to_marker == 0U) {
            at += mpa::kMarkerLength;
            to_marker = mpa::kMarkerInterval - mpa::kMarkerLength;
            continue;
        }
        head.storage[head.count++] = raw[at++];
        if (to_marker) --*to_marker;
    }
    return head;
}

void strip_markers(Bytes raw, std::size_t to_marker, std::vector<std::byte>& plain) {
    plain.clear();
    while (!raw.empty()) {
        const Bytes run = slice(raw, 0, to_marker);
        plain.insert(plain.end(), run.begin(), run.end());
        raw = slice(raw, run.size() + mpa::kMarkerLength);
        to_marker = mpa::kMarkerInterval - mpa::kMarkerLength;
    }
}

bool has_right_crc(Bytes raw) {
    const std::size_t covered = raw.size() - mpa::kCrcLength;
    return crc32c(raw.first(covered)) == read_be<std::uint32_t>(raw, covered);
}

// The first FPDU of a segment, where it is whole, its CRC is right, and each marker points back to its beginning: the
// CRC covers markers, so it tells how many there are, but not where.
struct Proof {
    std::size_t total = 0;
    bool marked = false;  // a marker lies in it
};
std::optional<Proof> proof(Bytes segment, const mpa::ToMarker& to_marker) {
    const Head head = head_of(segment, to_marker);
    if (head.count < kHeadBytes) return std::nullopt;
    const std::size_t ulpdu = read_be<std::uint16_t>(head.bytes(), 0);
    if (!mpa::heading(head.bytes().subspan(mpa::kLengthField), ulpdu)) return std::nullopt;
    const std::size_t plain = mpa::plain_bytes(ulpdu), total = mpa::stream_bytes(plain, to_marker);
    if (total > segment.size()) return std::nullopt;
    for (std::size_t at = to_marker.value_or(total); at < total; at += mpa::kMarkerInterval)
        if (read_be<std::uint32_t>(segment, at) != at) return std::nullopt;
    if (!has_right_crc(segment.first(total))) return std::nullopt;
    return Proof{total, total != plain};
}

}  // namespace

bool begins_fpdu(Bytes segment, std::uint32_t length, const Framing& framing, std::uint32_t seq) {
    std::size_t at = 0;
    while (at < length) {
        const auto to_marker = framing.to_marker(seq + static_cast<std::uint32_t>(at));
        const Head head = head_of(slice(segment, at), to_marker);
        if (head.count < kHeadBytes) return false;
        const std::size_t ulpdu = read_be<std::uint16_t>(head.bytes(), 0);
        if (!mpa::heading(head.bytes().subspan(mpa::kLengthField), ulpdu)) return false;
        const std::size_t total = mpa::stream_bytes(mpa::plain_bytes(ulpdu), to_marker);
        if (framing.crc && at + total <= segment.size()) return has_right_crc(segment.subspan(at, total));
        at += total;
    }
    return at == length && length > 0;
}

void FpduFramer::begin(const Framing& framing) {
    framing_ = framing;
    aligned_ = waits_ = true;
    markers_settled_ = false;
    searches_ = 0;
    passed_ = total_ = 0;
    raw_.clear();
}

void FpduFramer::begin_anywhere(const Framing& framing) {
    begin(framing);
    aligned_ = waits_ = false;
}

void FpduFramer::lose() {
    if (aligned_) ++lost_;
    aligned_ = waits_ = false;
    passed_ = total_ = 0;
    raw_.clear();
}

std::optional<std::uint32_t> FpduFramer::first_in(const TcpPiece& piece) const {
    std::size_t first = 0;
    const bool inside = passed_ > 0;
    bool known = aligned_ && (!inside || knows_total());
    if (known && waits_) {
        first = is_before(piece.seq, framing_.first) ? framing_.first - piece.seq : 0;
    } else if (known) {
        const std::size_t left = inside ? total_ - passed_ : 0;
        known = piece.missing <= left;
        if (known) first = left - piece.missing;
    }
    if (!known && (!piece.starts_segment || !begins_fpdu(piece.bytes, piece.length, framing_, piece.seq)))
        return std::nullopt;
    if (first >= piece.length) return std::nullopt;
    return static_cast<std::uint32_t>(first);
}

void FpduFramer::take(const TcpPiece& piece) { piece_ = piece; }

void FpduFramer::consume(std::size_t count) {
    piece_.bytes = slice(piece_.bytes, count);
    piece_.length -= static_cast<std::uint32_t>(count);
    piece_.seq += static_cast<std::uint32_t>(count);
    piece_.starts_segment = false;
}

void FpduFramer::settle_markers() {
    const auto to_marker = framing_.to_marker(piece_.seq);
    if (const auto right = proof(piece_.bytes, to_marker)) {
        markers_settled_ = right->marked;
        return;
    }
    if (const auto none = proof(piece_.bytes, std::nullopt)) {
        if (odd_markers_ == FrameIndex{}) odd_markers_ = piece_.frame;
        if (none->total >= mpa::kMarkerInterval) {  // one would have to be in it
            framing_.markers = false;
            markers_settled_ = true;
        } else {
            framing_.first = piece_.seq + mpa::kMarkerInterval - 1;  // behind this one; the next tells more
        }
        return;
    }
    for (std::uint32_t place = 0; place < mpa::kMarkerInterval; ++place) {
        const auto moved = proof(piece_.bytes, place);
        if (!moved || !moved->marked) continue;
        framing_.first = piece_.seq + place;
        markers_settled_ = true;
        if (odd_markers_ == FrameIndex{}) odd_markers_ = piece_.frame;
        return;
    }
    markers_settled_ =
        ++searches_ == kMostSearches;  // the capture cut them, or they are spoiled: what was agreed on holds
}

// Bytes that the capture does not have: inside an FPDU they are a hole, else nobody knows where the next one begins.
std::optional<Fpdu> FpduFramer::skip_missing() {
    const std::size_t missing = piece_.missing;
    piece_.missing = 0;
    if (missing == 0 || !aligned_) return std::nullopt;
    if (waits_ && !is_before(framing_.first, piece_.seq)) return std::nullopt;  // all of it was before the first FPDU
    const bool inside = passed_ > 0 && knows_total();
    const std::size_t left = inside ? total_ - passed_ : 0;
    if (inside && missing < left) {
        passed_ += missing;
        return std::nullopt;
    }
    if (!inside) {
        lose();
        return std::nullopt;
    }
    const Fpdu cut = finish(raw_, total_);
    if (missing > left) lose();
    return cut;
}

// The usual case: nothing is copied.
std::optional<Fpdu> FpduFramer::whole_in_place() {
    const auto to_marker = framing_.to_marker(piece_.seq);
    const std::size_t lead = to_marker == 0U ? mpa::kMarkerLength : 0;
    const Bytes head = slice(piece_.bytes, lead, kWord);
    const std::size_t ulpdu = read_be<std::uint16_t>(head, 0);
    if (!mpa::heading(slice(head, mpa::kLengthField), ulpdu)) return std::nullopt;
    const std::size_t total = mpa::stream_bytes(mpa::plain_bytes(ulpdu), to_marker);
    if (total > piece_.bytes.size()) return std::nullopt;
    under_way_ = {.seq = piece_.seq, .first_frame = piece_.frame, .first_time = piece_.time};
    const Fpdu found = finish(piece_.bytes.first(total), total);
    consume(total);
    return found;
}

void FpduFramer::take_bytes(std::size_t count) {
    if (raw_.size() == passed_) {  // no hole so far
        const Bytes more = slice(piece_.bytes, 0, count);
        raw_.insert(raw_.end(), more.begin(), more.end());
    }
    passed_ += count;
    under_way_.last_frame = piece_.frame;
    under_way_.last_time = piece_.time;
    consume(count);
}

// The word with the length, and what is before it. False where it is not there, or begins nothing that a sender of
// RDMAP makes.
bool FpduFramer::take_length() {
    const auto to_marker = framing_.to_marker(under_way_.seq);
    const std::size_t lead = (to_marker == 0U ? mpa::kMarkerLength : 0) + kWord;
    while (passed_ < lead) {
        const std::size_t count = std::min<std::size_t>(lead - passed_, piece_.length);
        if (count == 0) return false;
        if (piece_.bytes.size() < count) {
            lose();
            return false;
        }
        take_bytes(count);
    }
    const Bytes word = slice(raw_, lead - kWord);
    const std::size_t ulpdu = read_be<std::uint16_t>(word, 0);
    if (!mpa::heading(slice(word, mpa::kLengthField), ulpdu)) {
        lose();
        return false;
    }
    total_ = mpa::stream_bytes(mpa::plain_bytes(ulpdu), to_marker);
    return true;
}

Fpdu FpduFramer::finish(Bytes raw, std::size_t total) {
    Fpdu done = under_way_;
    done.last_frame = piece_.frame;
    done.last_time = piece_.time;
    done.end = done.seq + static_cast<std::uint32_t>(total);
    if (framing_.crc)
        done.crc = raw.size() < total   ? CrcStatus::not_checkable
                   : has_right_crc(raw) ? CrcStatus::good
                                        : CrcStatus::bad;
    Bytes plain = raw;
    if (const auto to_marker = framing_.to_marker(done.seq)) {
        strip_markers(raw, *to_marker, plain_);
        plain = plain_;
    } else if (!raw_.empty() && raw.data() == raw_.data()) {  // what is handed out must outlive what comes next
        plain_.assign(raw.begin(), raw.end());
        plain = plain_;
    }
    done.length = read_be<std::uint16_t>(plain, 0);
    done.ulpdu = slice(plain, mpa::kLengthField, done.length);
    passed_ = total_ = 0;
    raw_.clear();
    return done;
}

std::optional<Fpdu> FpduFramer::next() {
    if (piece_.missing != 0)
        if (auto cut = skip_missing()) return cut;
    if (waits_) {
        if (is_before(piece_.seq, framing_.first))
            consume(std::min<std::size_t>(piece_.length, framing_.first - piece_.seq));
        waits_ = is_before(piece_.seq, framing_.first);
    }
    if (piece_.length == 0) return std::nullopt;
    if (!aligned_) {
        aligned_ = piece_.starts_segment && begins_fpdu(piece_.bytes, piece_.length, framing_, piece_.seq);
        if (!aligned_) {
            unread_ += piece_.length;
            piece_.length = 0;
            return std::nullopt;
        }
    }
    if (passed_ == 0) {
        if (framing_.markers && framing_.crc && !markers_settled_) settle_markers();
        if (auto found = whole_in_place()) return found;
        under_way_ = {.seq = piece_.seq, .first_frame = piece_.frame, .first_time = piece_.time};
    }
    if (!knows_total() && !take_length()) {
        if (!aligned_) {  // it was lost: what is left cannot be read
            unread_ += piece_.length;
            piece_.length = 0;
        }
        return std::nullopt;
    }
    take_bytes(std::min<std::size_t>(total_ - passed_, piece_.length));
    if (passed_ < total_) return std::nullopt;
    return finish(raw_, total_);
}

}  // namespace qps::transport
