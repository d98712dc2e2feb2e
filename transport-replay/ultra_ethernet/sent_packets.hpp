// SentPackets: what one end of a context sent and nobody has acknowledged yet, in the order of PSNs; SeenPsns: which of
// the latest PSNs were on the wire at all.
//
// PSNs of 32 bits are counted on in 64: serial arithmetic, so that a window never wraps. Packets come in any order,
// since their sender sprays them over paths. What an attacker could feed: PSNs anywhere. Both are of bounded size: what
// is further behind is not known.
#pragma once

#include <dissect/base/types.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace qps::transport {

using LongPsn = std::int64_t;

// The one nearest to another that is known.
[[nodiscard]] constexpr LongPsn lengthened(std::uint32_t psn, LongPsn near) {
    return near + static_cast<std::int32_t>(psn - static_cast<std::uint32_t>(near));
}

class SeenPsns {
public:
    static constexpr LongPsn kReach = 1024;
    enum class Answer : std::uint8_t { no, yes, unknown };

    [[nodiscard]] bool any() const { return any_; }
    [[nodiscard]] LongPsn highest() const { return highest_; }
    [[nodiscard]] Answer look(LongPsn psn) const {
        if (!any_ || psn > highest_) return Answer::no;
        if (highest_ - psn >= kReach) return Answer::unknown;
        return (word(psn) & bit(psn)) != 0 ? Answer::yes : Answer::no;
    }
    void note(LongPsn psn) {
        if (!any_ || psn - highest_ >= kReach) words_ = {};
        else
            for (LongPsn each = highest_ + 1; each <= psn; ++each) word(each) &= ~bit(each);
        if (!any_ || psn > highest_) highest_ = psn;
        any_ = true;
        if (highest_ - psn < kReach) word(psn) |= bit(psn);
    }

private:
    static constexpr std::size_t kBits = 64;
    static std::uint64_t bit(LongPsn psn) { return std::uint64_t{1} << (static_cast<std::uint64_t>(psn) % kBits); }
    static std::size_t place(LongPsn psn) { return static_cast<std::uint64_t>(psn) % kReach / kBits; }
    [[nodiscard]] std::uint64_t& word(LongPsn psn) { return words_[place(psn)]; }
    [[nodiscard]] const std::uint64_t& word(LongPsn psn) const { return words_[place(psn)]; }

    std::array<std::uint64_t, kReach / kBits> words_{};
    LongPsn highest_ = 0;
    bool any_ = false;
};

struct SentPacket {
    LongPsn psn = 0;
    dissect::Instant time{};    // of the last sending
    std::uint32_t message = 0;  // its serial number, 0: none is known
    std::uint16_t entropy = 0;
    std::uint16_t ip_id = 0;  // with the entropy: the same sending again is a copy, unless it is 0
    std::uint8_t nack_code = 0;
    bool resent = false;
    bool trimmed = false;
    bool acknowledged = false;  // selectively
};

class SentPackets {
public:
    static constexpr std::size_t kMost =
        4096;  // the largest window that a receiver can grant has 32640 PSNs; NICs use hundreds

    [[nodiscard]] std::span<SentPacket> waiting() { return std::span(packets_).subspan(head_); }
    [[nodiscard]] std::size_t size() const { return packets_.size() - head_; }
    [[nodiscard]] std::size_t bytes() const { return packets_.capacity() * sizeof(SentPacket); }
    [[nodiscard]] SentPacket* find(LongPsn psn) {
        const auto found = std::ranges::lower_bound(waiting(), psn, {}, &SentPacket::psn);
        return found == waiting().end() || found->psn != psn ? nullptr : &*found;
    }
    // Only of a PSN that is not there.
    SentPacket& insert(const SentPacket& packet) {
        const auto found = std::ranges::upper_bound(waiting(), packet.psn, {}, &SentPacket::psn);
        return *packets_.insert(packets_.begin() + static_cast<std::ptrdiff_t>(head_) + (found - waiting().begin()),
                                packet);
    }
    void drop_first() {
        ++head_;
        constexpr std::size_t kFew = 64;
        if (head_ < kFew || head_ * 2 < packets_.size()) {
            if (head_ != packets_.size()) return;
            packets_.clear();
            head_ = 0;
            return;
        }
        packets_.erase(packets_.begin(), packets_.begin() + static_cast<std::ptrdiff_t>(head_));
        head_ = 0;
    }
    void forget() {
        std::vector<SentPacket>().swap(packets_);
        head_ = 0;
    }

private:
    std::vector<SentPacket> packets_;
    std::size_t head_ = 0;
};

}  // namespace qps::transport
