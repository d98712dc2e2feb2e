// Tally: what a passive check has seen so far: how much it looked at, what was wrong, what it could not decide. Of fixed size, so that
// nothing is allocated while packets come.
//
// Where one device alone is judged, about() says whom the following look(), fail() and doubt() are about; others are not counted.
#pragma once

#include <transport-replay/checks/passive/passive_checks.hpp>
#include <transport-replay/checks/verdict.hpp>
#include <transport-replay/model/address.hpp>

#include <array>
#include <optional>

namespace qps::transport::conformance {

struct Tally {
    struct Frames {
        std::uint64_t count = 0;
        std::array<dissect::FrameIndex, kMostEvidence> first{};
        std::uint8_t kept = 0;
        std::array<dissect::FrameIndex, 2> last{};  // 0: none: what was kept for the last of them

        // One event, which the packets prove; 0 is none.
        void add(dissect::FrameIndex one, dissect::FrameIndex other = {}) {
            ++count;
            last = {one, other};
            for (const dissect::FrameIndex frame : last)
                if (frame != dissect::FrameIndex{} && kept < first.size()) first[kept++] = frame;
        }
    };
    std::uint64_t examined = 0;
    Frames failures;
    Frames doubts;
    std::string words;  // instead of the row's; of checks that conclude at the end
};

class Tallies {
public:
    [[nodiscard]] Tally& operator[](Passive check) { return all_[std::to_underlying(check)]; }
    [[nodiscard]] const Tally& operator[](Passive check) const { return all_[std::to_underlying(check)]; }
    // One device is judged; without it, all are.
    void judge_only(const Address& device) {
        device_ = device;
        counts_ = false;
    }
    [[nodiscard]] bool judges_one() const { return device_.has_value(); }
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
    // `more` events of a check whose first has just been added.
    void fail_more(Passive check, std::uint64_t more) {
        if (counts_) (*this)[check].failures.count += more;
    }
    void doubt_more(Passive check, std::uint64_t more) {
        if (counts_) (*this)[check].doubts.count += more;
    }

private:
    // A GID is a host's, whichever network carries it; a LID is not one.
    [[nodiscard]] bool is_device(const Address& host) const {
        const auto is_lid = [](const Address& address) { return address.space == AddressSpace::infiniband_lid; };
        return host.bits == device_->bits && is_lid(host) == is_lid(*device_);
    }

    std::array<Tally, kPassiveChecks> all_{};
    std::optional<Address> device_;
    bool counts_ = true;
};

}  // namespace qps::transport::conformance
