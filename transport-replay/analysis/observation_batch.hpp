// ObservationBatch: the observations of a batch of packets. Any worker makes them; the one thread that follows the
// capture takes them through the analysis. Kept from one batch to the next, so that nothing is allocated anew.
#pragma once

#include <transport-replay/analysis/analysis.hpp>

#include <algorithm>
#include <vector>

namespace qps::transport {

class ObservationBatch {
public:
    void clear() { used_ = 0; }
    // `file`: which of those that are read together.
    void add(const dissect::Packet& packet, std::uint16_t file = 0) {
        if (used_ == all_.size()) all_.emplace_back();
        observe(packet, all_[used_]);
        all_[used_++].file = file;
    }
    [[nodiscard]] std::size_t size() const { return used_; }

    // In order: visit(observation, record, place in the batch) is called after each; it returns false to stop.
    template <class Visit> void follow(Analysis& analysis, Visit&& visit) const {
        const auto ahead = [&](std::size_t from, std::size_t places) -> const Observation& {
            return all_[std::min(from + places * Analysis::kAhead, used_ - 1)];
        };
        for (std::size_t i = 0; i < used_; ++i) {
            analysis.prefetch(ahead(i, 3), ahead(i, 2), ahead(i, 1));
            const PacketRecord record = analysis.observe(all_[i]);
            if (!visit(all_[i], record, i)) return;
        }
    }

private:
    std::vector<Observation> all_;
    std::size_t used_ = 0;
};

}  // namespace qps::transport
