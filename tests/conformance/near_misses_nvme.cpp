// Captures of NVMe over RDMA that nearly break its rules: what is allowed, and what a capture lacks, doubles and
// reorders.
#include <tests/conformance/nvme_scenes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/passive_run.hpp>

#include <algorithm>

namespace qps::tests {

using namespace dissect;
using transport::conformance::CheckResult;
using transport::conformance::is_of_storage;
using transport::conformance::Verdict;

namespace {

constexpr std::uint16_t kAnyCid = 7;
constexpr std::int64_t kSoon = 1000;  // ns: what a tap may exchange

std::function<RecordedCapture()> near_scene(NvmePlay play) {
    return [play = std::move(play)] { return nvme_scene(play); };
}
// On a queue for I/O, and the ways go on.
std::function<RecordedCapture()> near_io(NvmePlay play, std::uint16_t sends = 31) {
    return near_scene([play = std::move(play), sends](NvmeDialogue& d) {
        play_io(d, sends);
        play(d);
        d.step = NvmeDialogue::kStep;
        go_on(d, 0x70);
        go_on(d, 0x71);
    });
}
std::function<RecordedCapture()> near_admin(NvmePlay play) {
    return near_scene([play = std::move(play)](NvmeDialogue& d) {
        play_admin(d);
        play(d);
        go_on(d, 0x70);
    });
}
// The last packet with data came before the one with data before it: acknowledgements stand where they stood.
void exchange_before(NvmeDialogue& d, std::size_t back) {
    std::vector<RecordedFrame>& frames = d.capture.frames;
    std::swap(frames[frames.size() - 1 - back].bytes, frames[frames.size() - 3 - back].bytes);
}
RecordedCapture everything(std::int64_t step = NvmeDialogue::kStep) {
    return nvme_scene([step](NvmeDialogue& d) {
        d.step = step;
        play_admin(d);
        d.host(admin_entry(0x06, 3, 4096, 1));
        d.write({kNvmeMemory, 0, 4096});
        d.respond(3);
        go_on(d);
        play_io(d);
        for (std::uint16_t cid = 1; cid < 12; ++cid) {
            d.host(cid % 2 == 0 ? nvme_blocks_entry(1, cid, 0, 4) : invalidating(nvme_blocks_entry(2, cid, 0, 4)));
            if (cid % 2 == 0) d.read({kNvmeMemory, 0, 2048});
            else d.write({kNvmeMemory, 0, 2048});
            d.target(d.response(cid), cid % 2 == 0 ? std::nullopt : std::optional(kNvmeMemory.key));
        }
        go_on(d);
    });
}
void no_failure_of_storage(const RecordedCapture& capture, const std::string& how) {
    for (const CheckResult& result : check_capture(capture)) {
        if (!is_of_storage(result.check->family)) continue;
        INFO(how << ": " << result.check->id << ": " << result.reason);
        CHECK(result.verdict != Verdict::fail);
    }
}

}  // namespace

NearMisses recorded_nvme_near_misses() {
    return {
        {"NVME-03", "the controller of a queue for I/O", near_scene([](NvmeDialogue& d) { play_io(d); }),
         Verdict::not_applicable},
        {"NVME-05", "as many receives as HSQSIZE says, which is one less than the host has",
         near_scene([](NvmeDialogue& d) { play_connect(d, {.target_receives = 31}); })},
        {"NVME-05", "fewer receives", near_scene([](NvmeDialogue& d) { play_connect(d, {.target_receives = 1}); })},
        {"NVME-08", "rejected by CM", near_scene([](NvmeDialogue& d) { d.set_up({.rejection = 0, .reason = 8}); }),
         Verdict::not_applicable},
        {"NVME-09", "a record format that is too long, too",
         near_scene([](NvmeDialogue& d) { d.set_up({.record_format = 1, .rejection = 1}); })},
        {"NVME-09", "record format 1 is rejected as such",
         near_scene([](NvmeDialogue& d) { d.set_up({.record_format = 1, .rejection = 2}); })},
        {"NVME-13", "a command that a tap had before the response to Connect", near_scene([](NvmeDialogue& d) {
             d.set_up({.queue = 1});
             d.host(connect_entry(0, 1));
             d.read({{}, 0, 1024});
             d.step = kSoon;
             d.target(d.response(0, 0, 5));
             d.host(nvme_entry(0, kAnyCid, 0));
             exchange_before(d, 1);
             d.step = NvmeDialogue::kStep;
             d.respond(kAnyCid);
             go_on(d);
             go_on(d);
         })},
        {"NVME-14", "again, behind one that failed", near_scene([](NvmeDialogue& d) {
             d.set_up({});
             d.host(connect_entry(0, 0));
             d.read({{}, 0, 1024});
             d.respond(0, 0x4181);
             d.host(connect_entry(1, 0));
             d.read({{}, 0, 1024});
             d.respond(1, 0, 5);
         })},
        {"NVME-18", "the last byte of the data", near_scene([](NvmeDialogue& d) {
             d.set_up({});
             d.host(connect_entry(0, 0));
             d.read({{}, 0, 1024});
             d.respond(0, 0x4182, 0x103ff);
         })},
        {"NVME-20", "a Connect with its data: whether it may is not sure", near_scene([](NvmeDialogue& d) {
             d.set_up({.queue = 1});
             Capsule entry = in_capsule(connect_entry(0, 1), 1024);
             entry[64 + 16] = std::byte{5};
             d.host(entry);
             d.respond(0, 0, 5);
         }),
         Verdict::inconclusive},
        {"NVME-22", "data at the very end of the capsule", near_io([](NvmeDialogue& d) {
             Capsule entry = in_capsule(nvme_blocks_entry(1, kAnyCid, 0, 1), 512);
             entry[24] = std::byte{16};
             entry.resize(entry.size() + 16);
             d.host(entry);
             d.respond(kAnyCid);
         })},
        {"NVME-28", "a descriptor of nothing", near_io([](NvmeDialogue& d) {
             Capsule entry = nvme_entry(0, kAnyCid, 0);
             entry[24 + 15] = std::byte{0x20};
             d.host(entry);
             d.respond(kAnyCid);
         })},
        {"NVME-31", "a WRITE that a tap had before its command", near_io([](NvmeDialogue& d) {
             d.step = kSoon;
             d.host(nvme_blocks_entry(2, kAnyCid, 0, 4));
             d.write({kNvmeMemory, 0, 2048});
             exchange_before(d, 1);
             d.respond(kAnyCid);
         })},
        {"NVME-33", "parts of the data in another order", near_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(2, kAnyCid, 0, 4));
             d.write({kNvmeMemory, 1024, 1024});
             d.write({kNvmeMemory, 0, 1024});
             d.respond(kAnyCid);
         })},
        {"NVME-33", "a Read that failed", near_io([](NvmeDialogue& d) {
             d.host(nvme_blocks_entry(2, kAnyCid, 0, 4));
             d.respond(kAnyCid, 0x281);
         }),
         Verdict::not_applicable},
        {"NVME-34", "a Write with its data in the capsule", near_io([](NvmeDialogue& d) {
             d.host(in_capsule(nvme_blocks_entry(1, kAnyCid, 0, 1), 512));
             d.respond(kAnyCid);
         })},
        {"NVME-34", "a READ that a tap had before its command", near_io([](NvmeDialogue& d) {
             d.step = kSoon;
             d.host(nvme_blocks_entry(1, kAnyCid, 0, 4));
             d.read({kNvmeMemory, 0, 2048}, false);
             exchange_before(d, 0);
             d.answer_read(Capsule(2048));
             d.respond(kAnyCid);
         })},
        {"NVME-36", "asked for, and not done", near_io([](NvmeDialogue& d) {
             d.host(invalidating(nvme_blocks_entry(2, kAnyCid, 0, 4)));
             d.write({kNvmeMemory, 0, 2048});
             d.respond(kAnyCid);
         }),
         Verdict::not_applicable},
        {"NVME-37", "a tap had the response before the answer to the READ", near_io([](NvmeDialogue& d) {
             d.step = kSoon;
             d.host(nvme_blocks_entry(1, kAnyCid, 0, 4));
             d.read({kNvmeMemory, 0, 2048}, false);
             d.respond(kAnyCid);
             d.answer_read(Capsule(2048));
         })},
        {"NVME-38", "a response that a tap had before its command", near_io([](NvmeDialogue& d) {
             d.step = kSoon;
             d.host(nvme_entry(0, kAnyCid, 0));
             d.target(d.response(kAnyCid));
             exchange_before(d, 1);
         })},
        {"NVME-38", "a command that the capture lacks", near_io([](NvmeDialogue& d) {
             d.host(nvme_entry(0, kAnyCid, 0));
             d.capture.frames.erase(d.capture.frames.end() - 2);
             d.respond(kAnyCid);
         })},
        {"NVME-39", "an ID that is used again, its command had behind the response", near_io([](NvmeDialogue& d) {
             go_on(d, kAnyCid);
             d.step = kSoon;
             d.host(nvme_entry(0, kAnyCid, 0));
             d.target(d.response(kAnyCid));
             exchange_before(d, 1);
         })},
        {"NVME-41", "one back, from another processor", near_io([](NvmeDialogue& d) {
             for (std::uint16_t cid = 1; cid <= 3; ++cid) d.host(nvme_entry(0, cid, 0));
             const Capsule one = d.response(1), two = d.response(2), three = d.response(3);
             d.target(two);
             d.target(one);
             d.target(three);
         })},
        {"NVME-41", "it stays where it was", near_io([](NvmeDialogue& d) {
             for (std::uint16_t cid = 1; cid <= 3; ++cid) {
                 d.host(nvme_entry(0, cid, 0));
                 d.target(d.response(cid));
                 --d.head;
             }
         })},
        {"NVME-44", "all bits of a property of 8 bytes", near_admin([](NvmeDialogue& d) {
             d.host(property_entry(false, kAnyCid, 0, true));
             d.respond(kAnyCid, 0, 0xffffffffffffffff);
         }),
         Verdict::not_applicable},
        {"NVME-45", "as many as fit",
         near_io(
             [](NvmeDialogue& d) {
                 for (std::uint16_t cid = 1; cid <= 3; ++cid) d.host(nvme_entry(0, cid, 0));
                 for (std::uint16_t cid = 1; cid <= 3; ++cid) d.respond(cid);
             },
             3)},
        {"NVME-45", "one more, which a tap had before a response",
         near_io(
             [](NvmeDialogue& d) {
                 for (std::uint16_t cid = 1; cid <= 3; ++cid) d.host(nvme_entry(0, cid, 0));
                 d.step = kSoon;
                 d.respond(1);
                 d.host(nvme_entry(0, 4, 0));
                 exchange_before(d, 1);
                 d.step = NvmeDialogue::kStep;
                 for (std::uint16_t cid = 2; cid <= 4; ++cid) d.respond(cid);
             },
             3)},
        {"NVME-47", "used again at once, had before the response", near_io([](NvmeDialogue& d) {
             d.host(nvme_entry(0, kAnyCid, 0));
             d.step = kSoon;
             d.respond(kAnyCid);
             d.host(nvme_entry(0, kAnyCid, 0));
             exchange_before(d, 1);
             d.step = NvmeDialogue::kStep;
             d.respond(kAnyCid);
         })},
        {"NVME-47", "a command that was retransmitted", near_io([](NvmeDialogue& d) {
             d.host(nvme_entry(0, kAnyCid, 0));
             d.capture.frames.pop_back();
             RecordedFrame again = d.capture.frames.back();
             again.time += NvmeDialogue::kStep / 2;
             d.capture.frames.push_back(again);
             d.respond(kAnyCid);
         })},
        {"NVME-49", "a Keep Alive before it", near_scene([](NvmeDialogue& d) {
             play_connect(d);
             go_on(d);
         }),
         Verdict::not_applicable},
        {"NVME-01", "a REQ that is sent twice", near_scene([](NvmeDialogue& d) {
             play_admin(d);
             d.capture.frames.insert(d.capture.frames.begin() + 1, RecordedFrame(d.capture.frames[0]));
         })},
    };
}

TEST_CASE("NVMe over RDMA: whatever a capture lacks, doubles, exchanges or cuts off, nothing fails") {
    for (const std::int64_t step : {NvmeDialogue::kStep, kSoon}) {
        const RecordedCapture whole = everything(step);
        no_failure_of_storage(whole, "whole");
        for (std::size_t i = 0; i < whole.frames.size(); ++i) {
            RecordedCapture without = whole, twice = whole;
            without.frames.erase(without.frames.begin() + static_cast<std::ptrdiff_t>(i));
            no_failure_of_storage(without, fmt::format("without frame {} of steps of {}", i + 1, step));
            twice.frames.insert(twice.frames.begin() + static_cast<std::ptrdiff_t>(i), RecordedFrame(whole.frames[i]));
            no_failure_of_storage(twice, fmt::format("frame {} twice, of steps of {}", i + 1, step));
            if (step != kSoon || i + 1 == whole.frames.size()) continue;
            RecordedCapture exchanged = whole;
            std::swap(exchanged.frames[i].bytes, exchanged.frames[i + 1].bytes);
            no_failure_of_storage(exchanged, fmt::format("frame {} behind the next", i + 1));
        }
        for (const std::size_t length : {60U, 90U, 130U, 300U, 1000U}) {
            RecordedCapture cut = whole;
            for (RecordedFrame& frame : cut.frames) {
                frame.wire_length = static_cast<std::uint32_t>(frame.bytes.size());
                if (frame.bytes.size() > length) frame.bytes.resize(length);
            }
            no_failure_of_storage(cut, fmt::format("cut at {}", length));
        }
        for (std::size_t from = 0; from < whole.frames.size(); ++from) {
            RecordedCapture late = whole, early = whole;
            late.frames.erase(late.frames.begin(), late.frames.begin() + static_cast<std::ptrdiff_t>(from));
            early.frames.resize(from);
            no_failure_of_storage(late, fmt::format("from frame {}", from + 1));
            no_failure_of_storage(early, fmt::format("up to frame {}", from));
        }
    }
}

TEST_CASE("only a service of NVMe is judged as one") {
    RecordedCapture capture = everything();
    for (const std::size_t place : matching(capture, "infiniband.cm.request"))
        REQUIRE(set_field(capture.frames[place], "infiniband.cm.req.serviceid.dport", 4711));
    for (const CheckResult& result : check_capture(capture)) CHECK_FALSE(is_of_storage(result.check->family));
}

}  // namespace qps::tests
