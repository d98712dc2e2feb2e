// Anonymizer: a frame as it may be given away: addresses, keys and names are others (pseudonyms.hpp), payload is gone.
//
// A frame is put together anew: what the field tables explain is taken over, field by field, as secrets.hpp says; every
// byte that no field explains becomes zero. So what we do not know is never given away. Checksums, ICRC, VCRC and the
// CRCs of MPA are made of what is there now: right ones stay right, 0 stays 0, wrong ones are wrong by a difference
// that only the key decides. Were they wrong by as much as they were, then one that was 0 would be a linear equation of
// the original bytes.
//
// What an attacker could feed: any frame. Layers lie within their frame; fields that do not lie in their layer are left
// out.
#pragma once

#include <dissect/base/frame.hpp>
#include <dissect/base/packet.hpp>
#include <dissect/base/ulp_hint.hpp>
#include <transport-replay/evidence/frame_sums.hpp>
#include <transport-replay/evidence/mpa_crc_carry.hpp>
#include <transport-replay/evidence/pseudonyms.hpp>
#include <transport-replay/evidence/secrets.hpp>

#include <vector>

namespace qps::transport {

// What becomes of bytes that are of no header.
enum class PayloadMode : std::uint8_t {
    zero,
    cut,   // the frame ends before them, as if the capture had left them out
    keep,  // on request alone: the user is responsible for it
};

class Anonymizer {
public:
    Anonymizer(Pseudonyms& pseudonyms, PayloadMode payload);

    // The frame with other bytes, which live here until the next call. `way`: that of its TCP segment; `hint`: what its
    // payload is.
    [[nodiscard]] dissect::Frame anonymize(const dissect::Frame& frame, const FlowKey& way,
                                           const dissect::UlpHint& hint);

private:
    struct Step {
        const dissect::Field* field = nullptr;
        Secret secret{};
        bool fixed = false;  // always there, and a number in whole bytes
    };
    // What is done with the layers of one kind.
    struct Plan {
        std::vector<std::byte> mask;  // of the fixed part: the bits that are taken over
        std::vector<Step> steps;
        bool is_payload = false;
    };
    [[nodiscard]] static Plan plan_for(dissect::LayerKind kind);
    void rewrite(const dissect::Layer& layer);
    void rewrite_exchanges(dissect::Bytes in, dissect::MutableBytes out);
    void rewrite_wireup(dissect::Bytes in, dissect::MutableBytes out);
    void take_step(const dissect::Layer& layer, const Step& step);
    void write_number(const dissect::Layer& layer, const Step& step);
    void write_bytes(Secret secret, std::size_t offset, dissect::Bytes bytes);
    [[nodiscard]] std::uint64_t other(Secret secret, std::uint64_t value, unsigned width);
    [[nodiscard]] std::size_t end_of_headers() const;
    void decode_again();
    void restore_mpa_crcs(const dissect::UlpHint& hint);
    void restore_sums_and_crcs(const FrameSums& sums);

    Pseudonyms& pseudonyms_;
    PayloadMode payload_;
    CrcDifference difference_16_;
    CrcDifference difference_32_;
    std::vector<Plan> plans_;    // by kind of layer
    dissect::Packet packet_;     // as it was
    dissect::Packet rewritten_;  // as it is now
    std::vector<std::byte> out_;
    MpaCrcCarry crcs_;
};

}  // namespace qps::transport
