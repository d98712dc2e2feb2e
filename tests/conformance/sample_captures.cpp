// The sample captures of real devices: no failure that is not a true deviation, each looked at in the packets.
#include <tests/support/catch.hpp>
#include <tests/support/mutation.hpp>
#include <tests/support/passive_run.hpp>

#include <map>
#include <set>

using namespace qps::dissect;
using namespace qps::transport::conformance;
using namespace qps::tests;

namespace {

using CheckNames = std::set<std::string, std::less<>>;

// Soft RoCE of Linux 6.1: MigReq is never set; datagrams of queue pair 1 request acknowledgements (fixed since). The
// NVMe host announces flow control that the device does not have, and has the data of a Connect of a queue for I/O in
// its capsule.
const CheckNames kConnected{"FMT-08"};
const CheckNames kManaged{"FMT-08", "FMT-09"};
const std::map<std::string, CheckNames, std::less<>> kDeviations{
    {"atomic_cas", kConnected},
    {"atomic_fadd", kConnected},
    {"cm_reject_noport", {"FMT-09"}},
    {"cm_timeout_noanswer", {"FMT-09"}},
    {"corrupt_send", kConnected},
    {"dup_write", kConnected},
    {"err_bad_qpn", kConnected},
    {"err_bad_rkey", kConnected},
    {"err_mixed", kConnected},
    {"err_no_write_perm", kConnected},
    {"err_recv_too_small", kConnected},
    {"err_rnr", kConnected},
    {"iser", kManaged},
    {"loss_read", kConnected},
    {"loss_write", kConnected},
    {"multi_qp", kConnected},
    {"nfs_rdma", kManaged},
    {"nvme_rdma", {"FMT-08", "FMT-09", "RSP-47"}},
    {"rc_pingpong", kConnected},
    {"rds", kManaged},
    {"read_8k", kConnected},
    {"rping_v4", kManaged},
    {"rping_v6", kManaged},
    {"send_8k", kConnected},
    {"uc_pingpong", {}},
    {"ucmatose", kManaged},
    {"ud_pingpong", {}},
    {"write_8k", kConnected},
    {"write_bidir_cm", kManaged},
};

// Soft-iWARP of Linux 6.1 and 6.12: what its pads and Terminates have is in docs/findings-siw.md.
const std::map<std::string, CheckNames, std::less<>> kIwarpDeviations{
    {"iwarp_nvme", {}},
    {"iwarp_peer_to_peer", {}},
    {"iwarp_read", {"MPA-14"}},
    {"iwarp_rping", {}},
    {"iwarp_rping_crc", {}},
    {"iwarp_send_reordered", {"MPA-14"}},
    {"iwarp_terminate", {"RDM-15", "RDM-16"}},
    {"iwarp_write", {"MPA-14"}},
    {"iwarp_write_lost", {"MPA-14"}},
};
RecordedCapture iwarp_sample(std::string_view name) {
    return recorded_in(std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + std::string(name) + "/capture.pcapng");
}

}  // namespace

TEST_CASE("soft-iWARP fails only where it deviates, in whatever a capture lacks, doubles or exchanges") {
    for (const auto& [name, deviations] : kIwarpDeviations) {
        const RecordedCapture whole = iwarp_sample(name);
        CheckNames failed;
        for (const CheckResult& result : check_capture(whole)) {
            if (result.verdict == Verdict::fail) failed.insert(std::string(result.check->id));
            if (result.verdict == Verdict::fail) CHECK_FALSE(result.evidence.empty());
            CHECK((result.check->family == CheckFamily::trace || is_of_iwarp(result.check->family)));
        }
        INFO(name);
        CHECK(failed == deviations);
        const auto no_more = [&](const RecordedCapture& capture, const std::string& how) {
            for (const CheckResult& result : check_capture(capture)) {
                INFO(how << ": " << result.check->id << ": " << result.reason);
                if (result.check->family == CheckFamily::trace) continue;  // which says so
                CHECK((result.verdict != Verdict::fail || deviations.contains(result.check->id)));
            }
        };
        for (const std::size_t every : {2U, 3U, 5U, 7U, 11U}) {
            for (std::size_t first = 0; first < every; ++first) {
                RecordedCapture thinned = whole, doubled = whole, exchanged = whole;
                std::size_t place = first;
                std::erase_if(thinned.frames, [&](const RecordedFrame&) { return ++place % every == 0; });
                no_more(thinned, fmt::format("without each {}th from {}", every, first));
                for (std::size_t i = first; i < doubled.frames.size(); i += every + 1)
                    doubled.frames.insert(doubled.frames.begin() + static_cast<std::ptrdiff_t>(i),
                                          RecordedFrame(doubled.frames[i]));
                no_more(doubled, fmt::format("each {}th twice from {}", every, first));
                for (std::size_t i = first; i + 1 < exchanged.frames.size(); i += every)
                    std::swap(exchanged.frames[i].bytes, exchanged.frames[i + 1].bytes);
                no_more(exchanged, fmt::format("each {}th behind the next from {}", every, first));
            }
        }
        for (const std::size_t length : {60U, 70U, 90U, 128U, 300U}) {
            RecordedCapture cut = whole;
            for (RecordedFrame& frame : cut.frames) {
                frame.wire_length = static_cast<std::uint32_t>(frame.bytes.size());
                if (frame.bytes.size() > length) frame.bytes.resize(length);
            }
            no_more(cut, fmt::format("cut at {}", length));
        }
        for (std::size_t from = 0; from < std::min<std::size_t>(whole.frames.size(), 60); ++from) {
            RecordedCapture late = whole;
            late.frames.erase(late.frames.begin(), late.frames.begin() + static_cast<std::ptrdiff_t>(from));
            no_more(late, fmt::format("from frame {}", from));
        }
    }
}

TEST_CASE("real devices fail only where they deviate") {
    for (const auto& [name, deviations] : kDeviations) {
        INFO(name);
        CheckNames failed;
        std::uint64_t passed = 0;
        for (const CheckResult& result : check_capture(sample(name))) {
            if (result.verdict == Verdict::fail) failed.insert(std::string(result.check->id));
            if (result.verdict == Verdict::fail) CHECK_FALSE(result.evidence.empty());
            if (result.verdict == Verdict::pass) ++passed;
            CHECK((result.verdict == Verdict::pass) == result.reason.empty());
        }
        CHECK(failed == deviations);
        CHECK(passed >= 9);
    }
}

TEST_CASE("a capture without packets decides nothing") {
    for (const CheckResult& result : check_capture({})) {
        INFO(result.check->id);
        CHECK(result.verdict == Verdict::not_applicable);
        CHECK_FALSE(result.reason.empty());
    }
}

TEST_CASE("what the capture lacks is not held against a device") {
    // Every seventh packet gone, as a tap loses them: nothing fails that did not fail before.
    for (const auto& [name, deviations] : kDeviations) {
        INFO(name);
        RecordedCapture thinned = sample(name);
        std::size_t place = 0;
        std::erase_if(thinned.frames, [&](const RecordedFrame&) { return ++place % 7 == 0; });
        for (const CheckResult& result : check_capture(thinned)) {
            INFO(result.check->id << ": " << result.reason);
            if (result.check->id == "TRC-01") continue;  // which says so
            CHECK((result.verdict != Verdict::fail || deviations.contains(result.check->id)));
        }
    }
}

TEST_CASE("a step of the clock that taps make leaves the order open, a greater one breaks it") {
    const auto verdict = [](std::int64_t step) {
        RecordedCapture capture = sample("rping_v4");
        RecordedFrame& later = capture.frames[capture.frames.size() / 2];
        const RecordedFrame& before = capture.frames[capture.frames.size() / 2 - 1];
        later.time = before.time - step;
        for (const CheckResult& result : check_capture(capture))
            if (result.check->id == "TRC-01") return result;
        return CheckResult{};
    };
    const CheckResult small = verdict(1'000);
    CHECK(small.verdict == Verdict::inconclusive);
    CHECK(small.reason.find("backwards once, by 1 us at most") != std::string::npos);
    CHECK(verdict(1'000'000).verdict == Verdict::inconclusive);
    CHECK(verdict(1'000'001).verdict == Verdict::fail);
}

TEST_CASE("what a network or a tap exchanges is not held against a device") {
    // Every ninth packet behind the next one, where that is no more than a moment later.
    constexpr std::int64_t kMomentNs = 300'000;
    for (const auto& [name, deviations] : kDeviations) {
        INFO(name);
        RecordedCapture exchanged = sample(name);
        for (std::size_t i = 8; i + 1 < exchanged.frames.size(); i += 9) {
            RecordedFrame& one = exchanged.frames[i];
            RecordedFrame& other = exchanged.frames[i + 1];
            if (other.time - one.time > kMomentNs) continue;
            std::swap(one.time, other.time);
            std::swap(one, other);
        }
        for (const CheckResult& result : check_capture(exchanged)) {
            INFO(result.check->id << ": " << result.reason);
            if (result.check->id == "TRC-01") continue;  // an answer before its request is no order of a capture
            CHECK((result.verdict != Verdict::fail || deviations.contains(result.check->id)));
        }
    }
}
