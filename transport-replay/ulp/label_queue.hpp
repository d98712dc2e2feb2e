// LabelQueue: what the messages of one way were for, from when they are seen until they end, in the order of their
// PSNs.
//
// It holds no memory while no message waits: there is one for every way of every conversation. What an attacker could
// feed: messages that never end; past kMost, or where the share of operations is used up, further ones have no label.
#pragma once

#include <transport-replay/model/byte_share.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/ulp_label.hpp>

#include <optional>
#include <vector>

namespace qps::transport {

class LabelQueue {
public:
    static constexpr std::size_t kMost = 4096;  // as many messages as a way has open (RequestStream::kMaxOpen)

    void add(dissect::Psn psn, const UlpLabel& label, const ByteShare& share) {
        if (labels_.size() - first_ < kMost && charge_.hold(share, (labels_.size() + 1) * sizeof(Waiting)))
            labels_.push_back({psn, label});
    }
    // Of the message that begins with `psn`; labels of messages before it are forgotten.
    [[nodiscard]] std::optional<UlpLabel> take(dissect::Psn psn) {
        while (first_ < labels_.size() && labels_[first_].psn.before(psn)) ++first_;
        std::optional<UlpLabel> found;
        if (first_ < labels_.size() && labels_[first_].psn == psn) found = labels_[first_++].label;
        if (first_ * 2 > labels_.size()) {
            labels_.erase(labels_.begin(), labels_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
            if (labels_.empty()) charge_.release();
        }
        return found;
    }

private:
    struct Waiting {
        dissect::Psn psn;
        UlpLabel label;
    };
    std::vector<Waiting> labels_;  // from first_ on
    std::size_t first_ = 0;
    Charge charge_;
};

}  // namespace qps::transport
