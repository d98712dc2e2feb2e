// Tally: what a passive check has seen: how much it looked at, what was wrong, what it could not decide. Of fixed size,
// and the same whatever was seen first: what was seen of parts of a capture adds up to what is seen of the whole.
//
// Tallies: of all checks, as they are concluded. Where one device alone is judged, about() says whom the following
// look(), fail() and doubt() are about; others are not counted.
#pragma once

#include <transport-replay/checks/passive/passive_checks.hpp>
#include <transport-replay/checks/verdict.hpp>
#include <transport-replay/model/address.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <optional>
#include <string>

namespace qps::transport::conformance {

// A frame that proves an event. Events have the order of their last frames.
struct Proof {
    dissect::FrameIndex event{};
    dissect::FrameIndex frame{};
    [[nodiscard]] auto operator<=>(const Proof&) const = default;
};

// Events of one kind, and what proves the first of them.
struct Events {
    std::uint64_t count = 0;
    std::array<Proof, kMostEvidence> first{};  // ascending
    std::uint8_t kept = 0;

    // One event, which the packets prove; 0 is none.
    void add(dissect::FrameIndex one, dissect::FrameIndex other = {}) {
        ++count;
        const dissect::FrameIndex event = std::max(one, other);
        keep({event, one});
        keep({event, other});
    }
    void add(const Events& others) {
        count += others.count;
        for (std::size_t i = 0; i < others.kept; ++i) keep(others.first[i]);
    }
    void keep(Proof proof) {
        if (proof.frame == dissect::FrameIndex{}) return;
        if (kept < first.size()) ++kept;
        else if (!(proof < first.back())) return;
        std::size_t at = kept - 1U;
        for (; at > 0 && proof < first[at - 1]; --at) first[at] = first[at - 1];
        first[at] = proof;
    }
};

struct Tally {
    std::uint64_t examined = 0;
    Events failures;
    Events doubts;
    std::string words;  // instead of the row's; of checks that conclude at the end
};

// A GID is a host's, whichever network carries it; a LID is not one.
[[nodiscard]] constexpr bool is_same_host(const Address& a, const Address& b) {
    return a.bits == b.bits && (a.space == AddressSpace::infiniband_lid) == (b.space == AddressSpace::infiniband_lid);
}

struct HostTally;

class Tallies {
public:
    [[nodiscard]] Tally& operator[](Passive check) { return all_[std::to_underlying(check)]; }
    [[nodiscard]] const Tally& operator[](Passive check) const { return all_[std::to_underlying(check)]; }
    // One device is judged; without it, all are.
    void judge_only(const Address& device) {
        device_ = device;
        counts_ = false;
    }
    // What comes now is about this host, or these two.
    void about(const Address& host) { counts_ = !device_ || is_device(host); }
    void about(const Address& one, const Address& other) { counts_ = !device_ || is_device(one) || is_device(other); }
    void about_all() { counts_ = true; }  // about the capture
    [[nodiscard]] bool counts() const { return counts_; }

    void look(Passive check, std::uint64_t count = 1) {
        if (counts_) (*this)[check].examined += count;
    }
    void fail(Passive check, dissect::FrameIndex frame, dissect::FrameIndex other = {}) {
        if (counts_) (*this)[check].failures.add(frame, other);
    }
    void doubt(Passive check, dissect::FrameIndex frame, dissect::FrameIndex other = {}) {
        if (counts_) (*this)[check].doubts.add(frame, other);
    }
    // What was counted of a host while packets came, which is judged.
    void add(const HostTally& host);
    // `more` events of a check whose first has just been added.
    void fail_more(Passive check, std::uint64_t more) {
        if (counts_) (*this)[check].failures.count += more;
    }
    void doubt_more(Passive check, std::uint64_t more) {
        if (counts_) (*this)[check].doubts.count += more;
    }

private:
    [[nodiscard]] bool is_device(const Address& host) const { return is_same_host(host, *device_); }

    std::array<Tally, kPassiveChecks> all_{};
    std::optional<Address> device_;
    bool counts_ = true;
};

}  // namespace qps::transport::conformance
