// What a connection costs that has nothing to tell: all of an analysis that has many of them, divided by their number.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/model/large_blocks.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

using namespace qps::tests;
using namespace qps::transport;

namespace {

constexpr std::uint8_t kSendLast = 0x02;

// Memory of the process that is no file's, as the system counts it: what users see. Address space that nobody touched
// costs nothing.
std::size_t bytes_in_use() {
    std::ifstream rollup("/proc/self/smaps_rollup");
    std::string line;
    constexpr std::string_view kName = "Anonymous:";
    while (std::getline(rollup, line))
        if (line.starts_with(kName)) return std::stoul(line.substr(kName.size())) * 1024;
    FAIL("no line " << kName);
    return 0;
}

}  // namespace

TEST_CASE("a connection that has nothing to tell takes no more than it must") {
    constexpr std::uint32_t kConnections = 40'000;  // more than are looked at for collectives and upper protocols
    constexpr std::size_t kMost = 3200;  // bytes of each: 1344 of the tracker, 2 messages, 2 flows, where all are found
    return_large_blocks();               // as all programs do
    const std::size_t before = bytes_in_use();
    AnalysedWire wire;
    for (std::uint32_t psn = 0; psn < 8; ++psn)
        for (std::uint32_t i = 0; i < kConnections; ++i) {
            const std::uint32_t here = 1 + i / 16 * 2, first = static_cast<std::uint32_t>(mix(i));
            // Of two messages one is under way while the other is answered.
            wire.packet(here, here + 1, 0x100000 + i, psn % 2 == 0 ? kRcSendFirst : kSendLast, first + psn);
            if (psn % 2 == 0 && psn != 0) wire.packet(here + 1, here, 0x200000 + i, kRcAcknowledge, first + psn - 1);
        }
    const std::size_t each = (bytes_in_use() - std::min(bytes_in_use(), before)) / kConnections;
    if (!kSanitized) {
        INFO(each << " bytes");
        CHECK(each <= kMost);
    }
    const Timeline timeline = wire.analysis.finish();
    CHECK(timeline.connections.size() == kConnections);
    CHECK(std::ranges::all_of(timeline.connections, [](const Connection& connection) {
        return connection.way(End::a).completed == 3 && connection.way(End::a).open == 1;
    }));
}
