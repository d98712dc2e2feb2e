// Pictures of a report as SVG inside of its page: colours come from the page's style, text is escaped.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qps::transport::series {
struct Amount;
}

namespace qps::transport::page {

struct EvidencePacket;
struct LatencyColumn;
struct PsnGrid;

// The time that all columns of a picture are.
struct Span {
    dissect::Instant first{};
    dissect::Duration length{};
};

struct LadderStep {
    dissect::FrameIndex frame{};
    dissect::Duration since_start{};
    const EvidencePacket* packet = nullptr;
};

// Packets between two hosts, from top to bottom; of other hosts as a line without an arrow. Nothing where there are
// none.
[[nodiscard]] std::string ladder(std::span<const LadderStep> steps);
// By column of the capture's time: bytes a second, of them retransmitted; below it when there were NAKs, CE marks and
// CNPs.
[[nodiscard]] std::string throughput(const std::vector<series::Amount>& columns, const Span& of);
// How long messages took: median, 99th percentile and the longest of each column, on a scale of powers of ten. Nothing
// without messages.
[[nodiscard]] std::string latency(const std::vector<LatencyColumn>& columns, const Span& of);
[[nodiscard]] std::string psns(const PsnGrid& grid, const Span& of);

}  // namespace qps::transport::page
