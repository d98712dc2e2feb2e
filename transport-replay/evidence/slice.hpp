// Slice chooses the packets of a capture that somebody else needs to see what happened: those of chosen connections,
// what proves chosen findings, what is as close in time as asked, and the set-up of those connections, however far
// away it is.
//
// It is made of a timeline and asked of each packet while the same capture is read once more, so that it keeps nothing
// of packets.
#pragma once

#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/model/timeline.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace qps::transport {

struct SliceRequest {
    std::vector<ConnectionId> connections;  // none: those of the findings
    std::vector<std::size_t> findings;      // by their place in the timeline
    // How close to what proves the findings; nothing: from the beginning to the end.
    std::optional<dissect::Duration> around;
    bool everything = false;  // packets of all connections and of none, as close as that
};

// The findings of a timeline that a word names: the id of a finding, of today or an earlier one, or a place in the
// list, counted from 1. Empty: none.
[[nodiscard]] std::vector<std::size_t> findings_named(const Timeline& timeline, std::string_view word);

// The frames that prove those findings, in order.
[[nodiscard]] std::vector<dissect::FrameIndex> evidence_of(const Timeline& timeline,
                                                           std::span<const std::size_t> findings);

class Slice {
public:
    // The timeline must outlive it. `times`: those of the frames that prove the findings.
    Slice(const Timeline& timeline, const SliceRequest& request, std::span<const dissect::Instant> times);

    // Whether the packet belongs to it, with its record in the second reading.
    [[nodiscard]] bool takes(const Observation& observation, const PacketRecord& record) const;

    [[nodiscard]] std::span<const ConnectionId> connections() const { return connections_; }
    // Messages of the set-up that are known to have passed and whose frames were not kept.
    [[nodiscard]] std::uint64_t set_up_left_out() const { return set_up_left_out_; }

private:
    struct Window {
        dissect::Instant begin{};
        dissect::Instant end{};
    };
    void add_connection(const Connection& connection);
    void add_attempt(const CmAttempt& attempt);
    void add_windows(std::span<const dissect::Instant> times, dissect::Duration around);
    [[nodiscard]] bool is_close(const Observation& observation) const;
    [[nodiscard]] bool is_of_connection(const Observation& observation, const PacketRecord& record) const;

    const Timeline& timeline_;
    std::vector<ConnectionId> connections_;       // sorted
    std::vector<FlowKey> flows_;                  // of those connections, both ways; sorted
    std::vector<dissect::FrameIndex> frames_;     // taken wherever they are; sorted
    std::optional<std::vector<Window>> windows_;  // apart, in order; nothing: all of the capture
    bool everything_ = false;
    std::uint64_t set_up_left_out_ = 0;
};

}  // namespace qps::transport
