#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <tests/support/iwarp_service.hpp>

#include <algorithm>

namespace qps::tests {

using namespace dissect;
using namespace transport::conformance;

bool IwarpService::accept() {
    if (gone_ && lapse_ == IwarpLapse::goes_on) return false;
    heard_.clear();
    output_.clear();
    accepted_ = ended_ = false;
    hangs_ = gone_;
    msn_ = 0;
    pieces_ = answered_ = 0;
    return true;
}

void IwarpService::say(const StreamBytes& bytes) { output_.insert(output_.end(), bytes.begin(), bytes.end()); }

StreamBytes IwarpService::take_output() {
    StreamBytes out;
    out.swap(output_);
    return out;
}

void IwarpService::closed() {
    if (!accepted_ && !ended_ && !heard_.empty() && neglects(IwarpDuty::early_end)) gone_ = true;
    ended_ = true;
}

bool IwarpService::refuses(IwarpDuty duty, std::optional<Reason> reason) {
    if (neglects(duty)) {
        if (lapse_ == IwarpLapse::goes_on) return false;
        if (lapse_ == IwarpLapse::hangs) {
            hangs_ = true;
            return true;
        }
        reason = Reason{1, 2, 3};
    }
    if (reason) say(fpdu(terminate_ulpdu(*reason)));
    ended_ = true;
    return true;
}

void IwarpService::process(Bytes heard) {
    if (hangs_ || ended_) return;
    heard_.insert(heard_.end(), heard.begin(), heard.end());
    ++pieces_;
    answered_ = 0;
    if (!accepted_) take_request();
    if (accepted_ && pieces_ > 1 && neglects(IwarpDuty::fpdu_in_pieces)) {
        if (lapse_ == IwarpLapse::goes_on) ended_ = true;
        else hangs_ = true;
        return;
    }
    while (accepted_ && !ended_ && !hangs_ && take_fpdu()) {
    }
}

void IwarpService::take_request() {
    constexpr std::uint16_t kMostPrivate = 512;
    constexpr std::uint8_t kLatest = 2;
    if (pieces_ > 1 && neglects(IwarpDuty::request_in_pieces)) {
        if (lapse_ == IwarpLapse::goes_on) ended_ = true;
        else hangs_ = true;
        return;
    }
    if (heard_.size() < kMpaSetUpLength) return;
    constexpr std::string_view kRequestKey = "MPA ID Req Frame";
    const bool right_key = std::ranges::equal(kRequestKey, Bytes(heard_).first(kRequestKey.size()), {},
                                              [](char c) { return static_cast<std::byte>(c); });
    if (!right_key && refuses(IwarpDuty::key, {})) return;
    const auto revision = read_be<std::uint8_t>(heard_, 17);
    const auto length = read_be<std::uint16_t>(heard_, 18);
    if (revision > kLatest && refuses(IwarpDuty::revision, {})) return;
    if (length > kMostPrivate && refuses(IwarpDuty::private_length, {})) return;
    if (heard_.size() < kMpaSetUpLength + length) return;
    heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(kMpaSetUpLength + length));
    say(mpa_reply({}, false));
    accepted_ = true;
    pieces_ = 0;
}

bool IwarpService::take_fpdu() {
    if (heard_.size() < mpa::kLengthField) return false;
    const std::size_t length = read_be<std::uint16_t>(heard_, 0), total = mpa::plain_bytes(length);
    if (heard_.size() < total) return false;
    const StreamBytes whole(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(total));
    heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(total));
    pieces_ = 0;
    const Bytes bytes(whole);
    const std::size_t covered = total - mpa::kCrcLength;
    if (crc32c(bytes.first(covered)) != read_be<std::uint32_t>(bytes, covered) &&
        refuses(IwarpDuty::crc, Reason{2, 0, 2}))
        return false;
    const Bytes ulpdu = slice(bytes, mpa::kLengthField, length);
    if (length < mpa::kTagged) return !refuses(IwarpDuty::length, Reason{2, 0, 3});
    const auto control = std::to_integer<std::uint8_t>(ulpdu[kDdpControlAt]),
               rdmap = std::to_integer<std::uint8_t>(ulpdu[kRdmapControlAt]);
    if ((control & 3) != 1 && refuses(IwarpDuty::ddp_version, Reason{1, 2, 6})) return false;
    if (rdmap >> 6 != 1 && refuses(IwarpDuty::rdmap_version, Reason{0, 2, 5})) return false;
    if ((rdmap & 0xf) > 11 && refuses(IwarpDuty::opcode, Reason{0, 2, 6})) return false;
    if ((control & 0x80) != 0) take_tagged(rdmap & 0xf);
    else take_untagged(ulpdu);
    return true;
}

void IwarpService::take_tagged(std::uint8_t opcode) {
    const bool response = opcode == std::to_underlying(RdmapOpcode::read_response);
    static_cast<void>(response ? refuses(IwarpDuty::unasked_response, Reason{1, 1, 0})
                               : refuses(IwarpDuty::write_stag, Reason{1, 1, 0}));
}

void IwarpService::take_untagged(Bytes ulpdu) {
    const auto opcode = static_cast<RdmapOpcode>(std::to_integer<std::uint8_t>(ulpdu[kRdmapControlAt]) & 0xf);
    if (opcode == RdmapOpcode::terminate) {
        static_cast<void>(refuses(IwarpDuty::terminate, {}));
        return;
    }
    const auto queue = read_be<std::uint32_t>(ulpdu, kQueueNumberAt), msn = read_be<std::uint32_t>(ulpdu, 10),
               offset = read_be<std::uint32_t>(ulpdu, kMessageOffsetAt);
    if (queue != 1 && refuses(IwarpDuty::queue, Reason{1, 2, 1})) return;
    if (msn != msn_ + 1 && refuses(IwarpDuty::msn, Reason{1, 2, 3})) return;
    msn_ = msn;
    if (offset != 0 && refuses(IwarpDuty::offset, Reason{1, 2, 4})) return;
    constexpr std::size_t kLengthAt = mpa::kUntagged + 12;
    const auto length = read_be<std::uint32_t>(ulpdu, kLengthAt);
    if (length != 0 && refuses(IwarpDuty::read_stag, Reason{0, 1, 0})) return;
    // What comes together must be answered, each of it.
    if (neglects(IwarpDuty::fpdus_together) && answered_ == 1) {
        if (lapse_ == IwarpLapse::goes_on) ended_ = true;
        else if (lapse_ == IwarpLapse::hangs) hangs_ = true;
        return;
    }
    ++answered_;
    constexpr std::uint32_t kMost = 64;
    const StreamBytes data(std::min(length, kMost));
    say(fpdu(read_response_ulpdu(read_be<std::uint32_t>(ulpdu, mpa::kUntagged),
                                 read_be<std::uint64_t>(ulpdu, mpa::kUntagged + 4), data)));
}

}  // namespace qps::tests
