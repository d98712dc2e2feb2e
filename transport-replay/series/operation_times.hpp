// OperationTimes: how long the operations of upper protocols took, each as a point over the time it was asked, and of
// those that moved data where that time went: until its data began, the data, and from the data to the answer.
#pragma once

#include <transport-replay/model/ulp_operation.hpp>
#include <transport-replay/series/scope.hpp>

#include <array>

namespace qps::transport::series {

struct OperationPoint {
    dissect::Instant time{};  // it was asked
    std::int64_t y = 0;       // ns, never negative
    dissect::FrameIndex frame{};
    std::uint32_t bytes = 0;
    UlpProtocol protocol{};
    OperationCode code{};
};

inline constexpr std::array<std::string_view, 3> kOperationParts{"until_data", "data", "to_answer"};
// Sums of the parts up to each operation that has them, in the order in which they were asked.
struct PartSums {
    dissect::Instant time{};
    std::array<std::int64_t, kOperationParts.size()> sums{};  // ns, of it and all before it; stay at the greatest value
};

struct OperationTimes {
    std::vector<OperationPoint> points;  // of answered ones, by time
    std::vector<PartSums> parts;         // by time
    // How long a part took in the mean of the operations asked in a range, and of how many.
    struct Mean {
        std::array<std::int64_t, kOperationParts.size()> parts{};
        std::uint64_t operations = 0;
    };
    [[nodiscard]] Mean mean(const Range& range) const;
};

// Operations whose request lies in the scope. Nothing where it was stopped.
[[nodiscard]] std::optional<OperationTimes> operation_times(const CaptureIndex& index, const Scope& scope,
                                                            const Stop& stop = {});

}  // namespace qps::transport::series
