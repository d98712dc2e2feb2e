// FpduCutter: a TCP stream cut into FPDUs for who judges their sender: by nothing but the framing that the ends agreed
// on.
//
// The framer of the analysis is lenient, so that captures of wrong senders can be read too, and drops what nobody
// makes. Here a wrong FPDU is what is looked for, so its length alone says where the next one begins. What the capture
// lacks leaves a hole in an FPDU, or ends the cutting; it begins anew where a segment begins with an FPDU whose CRC is
// right.
//
// What an attacker could feed: any lengths. An FPDU has 64 KiB at most, and that is all that is kept.
#pragma once

#include <transport-replay/iwarp/fpdu_framer.hpp>

#include <optional>
#include <vector>

namespace qps::transport::conformance {

struct CutFpdu {
    std::uint32_t end = 0;  // of the stream, behind its last byte
    std::uint16_t length = 0;
    dissect::Bytes ulpdu{};  // without markers; borrowed until the next call of the cutter
    bool whole = true;       // every byte was captured; else nothing of it counts
    dissect::CrcStatus crc = dissect::CrcStatus::not_applicable;
    bool has_markers = false;
    bool marker_wrong = false;     // one does not point to the start
    bool marker_reserved = false;  // bits are set that must not be
    bool has_pad = false;
    bool pad_wrong = false;
    dissect::FrameIndex first_frame{};
    dissect::FrameIndex last_frame{};
};

class FpduCutter {
public:
    // FPDUs begin at `framing.first`; what comes before is not taken.
    void begin(const Framing& framing);
    // They are somewhere: the next segment that proves where is where it goes on. Needs CRCs, and no markers.
    void join(const Framing& framing);
    // It is not known any more where they begin.
    void lose() {
        aligned_ = waits_ = false;
        raw_.clear();
        total_ = 0;
    }
    [[nodiscard]] bool begun() const { return begun_; }
    [[nodiscard]] bool aligned() const { return aligned_; }
    [[nodiscard]] bool inside() const { return aligned_ && !raw_.empty(); }  // an FPDU whose end did not come yet

    // The next piece of the stream. next() has to be asked until it has nothing.
    void take(const TcpPiece& piece) { piece_ = piece; }
    [[nodiscard]] std::optional<CutFpdu> next();

private:
    [[nodiscard]] std::size_t wanted() const;
    void add(std::size_t count);
    [[nodiscard]] bool take_length();
    [[nodiscard]] bool is_ready();
    [[nodiscard]] CutFpdu finish();
    void judge_markers(CutFpdu& done) const;

    Framing framing_;
    bool begun_ = false;
    bool aligned_ = false;
    bool waits_ = false;  // for the byte at framing_.first
    TcpPiece piece_;      // what is left of it
    // The FPDU under way:
    std::vector<std::byte> raw_{};  // its bytes of the stream; those that were not captured are 0
    std::uint32_t seq_ = 0;
    std::size_t total_ = 0;  // 0: its length was not seen yet
    bool whole_ = true;
    dissect::FrameIndex first_frame_{};
    std::vector<std::byte> plain_{};
};

}  // namespace qps::transport::conformance
