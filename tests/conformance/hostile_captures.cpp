// Whatever a capture holds, the passive suite ends in verdicts: bytes changed anywhere, packets lost, doubled, in
// another order, at absurd times.
#include <tests/support/catch.hpp>
#include <tests/support/forgery.hpp>
#include <tests/support/passive_run.hpp>

#include <limits>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::conformance;
using namespace qps::tests;

namespace {

void spoil(RecordedCapture& capture, Draws& draws) {
    for (RecordedFrame& frame : capture.frames) {
        if (draws.chance(0.3)) {
            mutate(frame.bytes, draws);
            frame.wire_length = 0;
            if (draws.chance(0.8)) seal(frame.bytes, draws.chance(0.5));
        }
        if (draws.chance(0.05)) frame.wire_length = static_cast<std::uint32_t>(draws.below(10000));
        if (draws.chance(0.05))
            frame.time =
                draws.chance(0.5) ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
        if (frame.wire_length < frame.bytes.size()) frame.wire_length = 0;
    }
    for (std::size_t i = 0; i < capture.frames.size(); ++i) {
        const std::size_t other = draws.below(capture.frames.size());
        if (draws.chance(0.1)) std::swap(capture.frames[i], capture.frames[other]);
        else if (draws.chance(0.1)) capture.frames[i] = capture.frames[other];
    }
}

}  // namespace

TEST_CASE("hostile captures end in verdicts") {
    Draws draws(4711);
    for (const std::string name : {"rping_v4", "nvme_rdma", "err_mixed", "congestion", "cm_reject_noport",
                                   "uc_pingpong", "err_rnr", "opcodes_roce", "iwarp_rping_crc", "iwarp_nvme"})
        for (int round = 0; round < 6; ++round) {
            INFO(name << ", round " << round);
            RecordedCapture capture =
                name.starts_with("iwarp")
                    ? recorded_in(std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + name + "/capture.pcapng")
                    : sample(name);
            spoil(capture, draws);
            std::size_t decided = 0;
            for (const CheckResult& result : check_capture(capture)) {
                CHECK(result.evidence.size() <= kMostEvidence);
                CHECK((result.verdict == Verdict::pass) == result.reason.empty());
                for (const FrameIndex frame : result.evidence)
                    CHECK((std::to_underlying(frame) >= 1 && std::to_underlying(frame) <= capture.frames.size()));
                if (result.verdict != Verdict::not_applicable) ++decided;
            }
            CHECK(decided > 3);
        }
}
