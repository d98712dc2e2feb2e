// What the bounds of the analysis left out of a timeline, in one table: reports list it, a finding says it, and who
// relies on a verdict learns that there was more than could be judged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

struct Timeline;

struct Bound {
    std::string_view id;    // in snake_case, of JSON
    std::string_view noun;  // of one of what was left out: "packet"
    std::string_view what;  // "of further connections, not followed"
    bool unjudged = false;  // no sum has it: a finding may be missing
    std::uint64_t (*count)(const Timeline& timeline);
};

[[nodiscard]] std::span<const Bound> bounds();

// Whether everything of the capture was judged: a finding that is not there is no finding.
[[nodiscard]] bool judged_all(const Timeline& timeline);

// Whether there was anything to judge: RDMA, or what carries it (LLDP of its links, pauses, management). Of a capture
// of which nothing could be read, or whose reading was interrupted before, nobody knows that there was not.
[[nodiscard]] bool saw_anything(const Timeline& timeline);
// And if not: what every front end says, with the next step.
inline constexpr std::string_view kNothingSeen =
    "no RDMA packet was captured, so nothing was judged: tcpdump on a NIC whose RoCE bypasses the kernel sees none; capture at a mirror port or "
    "with the sniffer of the NIC (`qpscope doctor`, docs/guide/capture.md)";

// Says what was left out, a part for each bound that was reached: "3 packets of further connections, not followed".
// Empty where none was.
[[nodiscard]] std::vector<std::string> left_out_parts(const Timeline& timeline);
[[nodiscard]] std::string left_out_text(const Timeline& timeline);  // of all of them

}  // namespace qps::transport
