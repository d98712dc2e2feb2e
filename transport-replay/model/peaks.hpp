// Peaks: how much of each bound a part of the analysis needed at most. Each part has the bounds of the whole; as long
// as what all parts needed together is within them, the whole in one piece would not have reached any either, and how
// it was cut makes no difference.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace qps::transport {

// What has a bound that is the whole capture's, not one connection's.
enum class Need : std::uint8_t {
    connections,
    messages_of_way,  // of the way with the most: how many it may have open depends on how many connections there are
    requests_waiting,
    pending_answers,
    lone_flows,
    recoveries,
    fatalities,
    attempts,
    joins,
    refusals,
    conversations,
    undecided,
    operations,
    payload,
    asking,
    operation_sums,
    ulp_events,
    failures,
    unanswered,
    refused,
    streams,
    candidates,
    no_streams,
    segments,
    contexts,
    flows,
    pairs,
    notifications,
    incast_pairs,
    collective_ways,
    collective_connections,
    nccl_events,
    heard,
    rates,
    count_,
};

class Peaks {
public:
    void add(Need what, std::uint64_t needed, std::uint64_t most) {
        Row& row = rows_[static_cast<std::size_t>(what)];
        row.needed += needed;
        row.most = most;
    }
    // Of what is not added up: the largest of all parts counts.
    void raise(Need what, std::uint64_t needed) {
        Row& row = rows_[static_cast<std::size_t>(what)];
        row.needed = std::max(row.needed, needed);
        row.most = UINT64_MAX;
    }
    void add(const Peaks& part) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const auto what = static_cast<Need>(i);
            if (what == Need::messages_of_way) raise(what, part.rows_[i].needed);
            else add(what, part.rows_[i].needed, std::max(rows_[i].most, part.rows_[i].most));
        }
    }
    [[nodiscard]] std::uint64_t needed(Need what) const { return rows_[static_cast<std::size_t>(what)].needed; }
    // Whether nothing came as far as its bound: what is full may have refused something.
    [[nodiscard]] bool within_bounds() const {
        return std::ranges::all_of(rows_, [](const Row& row) { return row.needed < row.most || row.most == 0; });
    }

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    struct Row {
        std::uint64_t needed = 0;
        std::uint64_t most = 0;  // 0: nobody said
    };
    std::array<Row, static_cast<std::size_t>(Need::count_)> rows_{};
};

}  // namespace qps::transport
