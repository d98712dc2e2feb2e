// Schedule: which queue pair sends next, and when one is to be asked again. Queue pairs are slots: small numbers, used
// again.
//
// Two lanes are served round robin, a slot once in each; and every slot may have one time at which it wants to be
// looked at. All operations are O(1), those of times O(log n), and none allocates but the one that adds a slot.
// Invariant: times_ is a heap by time, and each slot knows its place in it. Bounded by its user's slots.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/live/device/device.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace qps::transport::verbs {

using live::kAtOnce;

enum class Slot : std::uint32_t {};
enum class Lane : std::uint8_t { responses, requests };

class Schedule {
public:
    void add(Slot slot);     // slots are dense: 0, 1, ...
    void remove(Slot slot);  // from the lanes and the times

    void ready(Lane lane, Slot slot);  // to the end of the lane, unless it stands there
    [[nodiscard]] bool any(Lane lane) const { return first(lane) != kNone; }
    [[nodiscard]] std::optional<Slot> take(Lane lane);

    // The slot is to be looked at then, and no more at any other time.
    void wake_at(Slot slot, dissect::Instant time);
    void wake_never(Slot slot);
    [[nodiscard]] std::optional<dissect::Instant> next_time() const;
    // A slot whose time has come; it has none any more.
    [[nodiscard]] std::optional<Slot> due(dissect::Instant now);

private:
    static constexpr std::uint32_t kNone = 0xffffffff;
    struct Link {
        std::uint32_t before = kNone;
        std::uint32_t after = kNone;
        bool in = false;
    };
    struct Row {
        std::array<Link, 2> lanes{};
        std::uint32_t place = kNone;  // in times_
    };
    struct Ends {
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
    };
    struct Time {
        dissect::Instant time{};
        std::uint32_t slot = 0;
    };

    [[nodiscard]] std::uint32_t first(Lane lane) const { return ends_[static_cast<std::size_t>(lane)].first; }
    void unlink(Lane lane, std::uint32_t slot);
    void put(std::size_t place, Time time);
    void settle(std::size_t place);

    std::vector<Row> rows_;
    std::array<Ends, 2> ends_{};
    std::vector<Time> times_;
};

}  // namespace qps::transport::verbs
