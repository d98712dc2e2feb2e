#include <dissect/ulp/crc32c.hpp>
#include <transport-replay/checks/passive/fpdu_cutter.hpp>

#include <algorithm>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::size_t kPointer = 2;  // in a marker, behind its reserved half

// Without markers, the first of which is so far on.
void take_plain(Bytes raw, mpa::ToMarker to_marker, std::vector<std::byte>& plain) {
    plain.clear();
    std::size_t run = to_marker.value_or(raw.size());
    while (!raw.empty()) {
        const Bytes part = slice(raw, 0, run);
        plain.insert(plain.end(), part.begin(), part.end());
        raw = slice(raw, part.size() + mpa::kMarkerLength);
        run = mpa::kMarkerInterval - mpa::kMarkerLength;
    }
}

}  // namespace

void FpduCutter::begin(const Framing& framing) {
    lose();
    framing_ = framing;
    begun_ = aligned_ = waits_ = true;
}

void FpduCutter::join(const Framing& framing) {
    lose();
    framing_ = framing;
    begun_ = true;
}

// Bytes until its length is known, or until its end.
std::size_t FpduCutter::wanted() const {
    if (total_ != 0) return total_ - raw_.size();
    const std::size_t lead = framing_.to_marker(seq_) == 0U ? mpa::kMarkerLength : 0;
    return lead + mpa::kLengthField - raw_.size();
}

// So many bytes of the piece, those that are missing before it first.
void FpduCutter::add(std::size_t count) {
    const std::size_t missing = std::min<std::size_t>(count, piece_.missing);
    raw_.resize(raw_.size() + missing);
    piece_.missing -= static_cast<std::uint32_t>(missing);
    count -= missing;
    const Bytes captured = slice(piece_.bytes, 0, count);
    raw_.insert(raw_.end(), captured.begin(), captured.end());
    raw_.resize(raw_.size() + count - captured.size());
    whole_ = whole_ && missing == 0 && captured.size() == count;
    piece_.bytes = slice(piece_.bytes, captured.size());
    piece_.seq += static_cast<std::uint32_t>(count);
    piece_.length -= static_cast<std::uint32_t>(count);
    if (count != 0) piece_.starts_segment = false;
}

bool FpduCutter::take_length() {
    if (!whole_) {
        lose();
        return false;
    }
    const auto to_marker = framing_.to_marker(seq_);
    const std::size_t ulpdu = read_be<std::uint16_t>(raw_, raw_.size() - mpa::kLengthField);
    total_ = mpa::stream_bytes(mpa::plain_bytes(ulpdu), to_marker);
    return true;
}

// Whether the next byte of the piece is one of an FPDU. Else nothing is left of the piece.
bool FpduCutter::is_ready() {
    if (waits_) {
        if (is_before(piece_.seq, framing_.first)) {
            const std::size_t before = std::min<std::size_t>(piece_.length, framing_.first - piece_.seq);
            piece_.missing = 0;
            add(before);
            raw_.clear();
            whole_ = true;
        }
        if (piece_.length == 0) return false;
        waits_ = false;
        if (piece_.seq == framing_.first) piece_.missing = 0;  // all of it was before
    }
    if (!aligned_) {
        piece_.missing = 0;
        aligned_ = framing_.crc && !framing_.markers && piece_.starts_segment &&
                   begins_fpdu(piece_.bytes, piece_.length, framing_, piece_.seq);
        if (!aligned_) piece_.length = 0;
    }
    return aligned_ && (piece_.length > 0 || piece_.missing > 0);
}

// RFC 5044 4.3. A marker before an FPDU belongs to it and says 0; whether those behind it count from it or from the
// length field, readers of that section disagree: both are right.
void FpduCutter::judge_markers(CutFpdu& done) const {
    const auto to_marker = framing_.to_marker(seq_);
    for (std::size_t at = to_marker.value_or(total_); at < total_; at += mpa::kMarkerInterval) {
        done.has_markers = true;
        const std::size_t back = read_be<std::uint16_t>(raw_, at + kPointer);
        const bool from_length = to_marker == 0U && at > 0 && back + mpa::kMarkerLength == at;
        done.marker_wrong = done.marker_wrong || (back != at && !from_length);
        done.marker_reserved = done.marker_reserved || read_be<std::uint16_t>(raw_, at) != 0;
    }
}

CutFpdu FpduCutter::finish() {
    CutFpdu done{.end = seq_ + static_cast<std::uint32_t>(total_),
                 .whole = whole_,
                 .first_frame = first_frame_,
                 .last_frame = piece_.frame};
    const std::size_t covered = total_ - mpa::kCrcLength;
    if (framing_.crc) {
        const bool right = whole_ && crc32c(Bytes(raw_).first(covered)) == read_be<std::uint32_t>(raw_, covered);
        done.crc = !whole_ ? CrcStatus::not_checkable : right ? CrcStatus::good : CrcStatus::bad;
    }
    judge_markers(done);
    take_plain(raw_, framing_.to_marker(seq_), plain_);
    done.length = read_be<std::uint16_t>(plain_, 0);
    done.ulpdu = slice(plain_, mpa::kLengthField, done.length);
    const Bytes pad = slice(plain_, mpa::kLengthField + done.length, mpa::padding(done.length));
    done.has_pad = !pad.empty();
    done.pad_wrong = std::ranges::any_of(pad, [](std::byte byte) { return byte != std::byte{}; });
    raw_.clear();
    total_ = 0;
    whole_ = true;
    return done;
}

std::optional<CutFpdu> FpduCutter::next() {
    while ((piece_.length > 0 || piece_.missing > 0) && is_ready()) {
        if (raw_.empty()) {
            if (piece_.missing > 0) {  // between FPDUs: how many of them are missing nobody knows
                lose();
                continue;
            }
            seq_ = piece_.seq;
            first_frame_ = piece_.frame;
            whole_ = true;
        }
        const std::size_t there = std::size_t{piece_.missing} + piece_.length;
        const std::size_t count = std::min(wanted(), there);
        add(count);
        if (wanted() > 0) continue;
        if (total_ == 0 && !take_length()) continue;
        if (total_ == raw_.size()) return finish();
    }
    return std::nullopt;
}

}  // namespace qps::transport::conformance
