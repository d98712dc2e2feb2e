// iWARP captures that nearly break rules of MPA, DDP and RDMAP: what is allowed, and what a capture lacks, doubles and
// reorders.
#include <tests/conformance/iwarp_scenes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/passive_run.hpp>

#include <algorithm>

namespace qps::tests {

using namespace dissect;
using transport::End;
using transport::conformance::Verdict;

namespace {

RecordedCapture all_without(std::size_t frame) {
    RecordedCapture capture = iwarp_scene(play_all);
    capture.frames.erase(capture.frames.begin() + static_cast<std::ptrdiff_t>(frame));
    return capture;
}
RecordedCapture all_from(std::size_t frame) {
    RecordedCapture capture = iwarp_scene(play_all);
    capture.frames.erase(capture.frames.begin(), capture.frames.begin() + static_cast<std::ptrdiff_t>(frame));
    return capture;
}
RecordedCapture all_exchanged(std::size_t frame) {
    RecordedCapture capture = iwarp_scene(play_all);
    std::swap(capture.frames[frame].bytes, capture.frames[frame + 1].bytes);
    return capture;
}
RecordedCapture one_way(End from) {
    RecordedCapture capture = iwarp_scene(play_all);
    std::erase_if(capture.frames, [&](const RecordedFrame& frame) {
        constexpr std::size_t kLastOfSource = 29;
        return (frame.bytes[kLastOfSource] == std::byte{1}) != (from == End::a);
    });
    return capture;
}
RecordedCapture cut(std::size_t length, const IwarpDialogue::Settings& settings = {}) {
    RecordedCapture capture = iwarp_scene(play_all, settings);
    for (RecordedFrame& frame : capture.frames) {
        frame.wire_length = static_cast<std::uint32_t>(frame.bytes.size());
        if (frame.bytes.size() > length) frame.bytes.resize(length);
    }
    return capture;
}
// One byte of one FPDU is another.
RecordedCapture spoiled() {
    RecordedCapture capture = iwarp_scene(play_all);
    for (RecordedFrame& frame : capture.frames)
        if (frame.bytes.size() > 1000) {
            frame.bytes[700] ^= std::byte{1};
            break;
        }
    return capture;
}
// Every byte of each way in a segment of its own, but for the set-up.
RecordedCapture byte_by_byte() {
    return iwarp_scene([](IwarpDialogue& d) {
        d.connect();
        for (std::uint32_t msn = 1; msn <= 3; ++msn)
            for (const End end : {End::a, End::b})
                for (const std::byte each : d.fpdu(end, ulpdu::send({.msn = msn}, pattern(9))))
                    d.segment(end, Bytes(&each, 1));
        play_end(d);
    });
}
RecordedCapture quoting_an_old_one() {
    return iwarp_scene([](IwarpDialogue& d) {
        play_start(d);
        for (std::uint32_t msn = 2; msn < 200; ++msn) d.post(End::a, ulpdu::send({.msn = msn}, {}));
        d.post(End::b, ulpdu::terminate(1, 2, 5, 6, joined(Block(2), ulpdu::send({.msn = 1}, {}))));
    });
}
RecordedCapture refusing_at_once() {
    return iwarp_scene([](IwarpDialogue& d) {
        d.connect();
        const Block large = d.fpdu(End::a, ulpdu::write(0x99, 0, true, pattern(2000)));
        d.segment(End::a, slice(large, 0, 1000));
        d.post(End::b, ulpdu::terminate(1, 1, 0));
        d.segment(End::a, slice(large, 1000));
        play_end(d);
    });
}
RecordedCapture announcing(std::uint16_t mss) {
    RecordedCapture capture = iwarp_scene(play_all);
    for (const std::size_t syn : {kSynFrame, kSynAnswerFrame}) announce_mss(capture, syn, mss);
    return capture;
}
RecordedCapture asking(std::uint16_t ird, std::size_t reads, std::uint32_t length) {
    return iwarp_scene(
        [=](IwarpDialogue& d) {
            d.connect(words_of({}), words_of({.ird = ird}));
            for (std::uint32_t msn = 1; msn <= reads; ++msn)
                d.post(End::a, ulpdu::read_request(msn, {.length = length}));
        },
        {.revision = 2});
}

}  // namespace

NearMisses recorded_iwarp_near_misses() {
    const auto lost_read_request = [] {
        return iwarp_scene([](IwarpDialogue& d) {
            play_start(d);
            d.lose(End::a, d.fpdu(End::a, ulpdu::read_request(1, {.length = 8})));
            d.post(End::b, ulpdu::read_response(0x22, 0x2000, true, pattern(8)));
            d.post(End::a, ulpdu::send({.msn = 2}, pattern(8)));
        });
    };
    const auto no_responder = [] {
        return iwarp_scene([](IwarpDialogue& d) {
            d.segment(End::a, d.set_up(false, {}));
            d.segment(End::b, block("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"));
        });
    };
    const auto one_sink = [] {
        return iwarp_scene([](IwarpDialogue& d) {
            play_start(d);
            for (std::uint32_t msn = 1; msn <= 3; ++msn)
                d.post(End::a, ulpdu::read_request(msn, {.sink_offset = msn * 0x1000, .length = 8}));
            for (std::uint32_t msn = 1; msn <= 3; ++msn)
                d.post(End::b, ulpdu::read_response(0x22, msn * 0x1000, true, pattern(8)));
        });
    };
    const auto reset_within = [] {
        return iwarp_scene([](IwarpDialogue& d) {
            play_start(d);
            d.segment(End::a, slice(d.fpdu(End::a, ulpdu::send({.msn = 2}, pattern(100))), 0, 40));
            d.segment(End::b, {}, TcpFlags::reset | TcpFlags::ack);
            d.segment(End::a, {}, TcpFlags::fin | TcpFlags::ack);
        });
    };
    const auto terminated_and_resent = [] {
        RecordedCapture capture = iwarp_scene([](IwarpDialogue& d) {
            play_start(d);
            d.post(End::b, ulpdu::send({.msn = 1}, pattern(8)));
            d.post(End::b, ulpdu::terminate(0, 0, 0xff));
            play_end(d);
        });
        capture.frames.push_back(capture.frames[6]);
        return capture;
    };
    return {
        {"MPA-01", "the initiator is one, what answers is no responder of MPA", no_responder, Verdict::inconclusive},
        {"MPA-02", "a reply of revision 1 to a request of revision 2",
         [] {
             RecordedCapture capture = iwarp_scene([](IwarpDialogue& d) { d.connect(words_of({})); }, {.revision = 2});
             capture.frames[4].bytes[54 + 16] = std::byte{0x40};
             capture.frames[4].bytes[54 + 17] = std::byte{1};
             return capture;
         }},
        {"MPA-03", "512 bytes of private data",
         [] { return iwarp_scene([](IwarpDialogue& d) { d.connect(pattern(512)); }); }},
        {"MPA-04", "the flag of enhanced connections in revision 2",
         [] { return iwarp_scene([](IwarpDialogue& d) { d.connect(words_of({}), words_of({})); }, {.revision = 2}); }},
        {"MPA-07", "ORD and IRD are equal",
         [] {
             return iwarp_scene([](IwarpDialogue& d) { d.connect(words_of({.ird = 7}), words_of({.ord = 7})); },
                                {.revision = 2});
         }},
        {"MPA-07", "the IRD is left open",
         [] {
             return iwarp_scene([](IwarpDialogue& d) { d.connect(words_of({.ird = 0x3fff}), words_of({.ord = 9})); },
                                {.revision = 2});
         }},
        {"MPA-08", "the tap has the FPDU before the reply", [] { return all_exchanged(4); }},
        {"MPA-09", "the tap has the responder's FPDU before the initiator's", [] { return all_exchanged(5); }},
        {"MPA-09", "the responder terminates before it has a whole FPDU", refusing_at_once, Verdict::not_applicable},
        {"MPA-11", "markers where they must be", [] { return iwarp_scene(play_all, {.markers = true}); }},
        {"MPA-13", "one of many is wrong", spoiled, Verdict::inconclusive},
        {"MPA-13", "one direction alone", [] { return one_way(End::a); }, Verdict::inconclusive},
        {"MPA-13", "every packet is cut at 80 bytes", [] { return cut(80); }, Verdict::inconclusive},
        {"MPA-13", "no CRCs, and every packet is cut at 80 bytes", [] { return cut(80, {.crc = false}); },
         Verdict::not_applicable},
        {"MPA-13", "every byte in a segment of its own", byte_by_byte},
        {"MPA-15", "every byte in a segment of its own", byte_by_byte},
        {"MPA-17", "every byte in a segment of its own", byte_by_byte},
        {"MPA-17", "a reset in the middle of an FPDU", reset_within, Verdict::not_applicable},
        {"MPA-27", "neither end has the flag A",
         [] { return iwarp_scene([](IwarpDialogue& d) { d.connect(words_of({}), words_of({})); }, {.revision = 2}); },
         Verdict::not_applicable},
        {"MPA-27", "a rejection without the flag A",
         [] {
             return iwarp_scene(
                 [](IwarpDialogue& d) { d.connect(words_of({.peer_to_peer = true}), words_of({}), true); },
                 {.revision = 2});
         },
         Verdict::not_applicable},
        {"MPA-28", "FPDUs as long as the MSS", [] { return announcing(1020); }},
        {"MPA-28", "segments too short for 128 bytes of DDP",
         [] {
             RecordedCapture capture = iwarp_scene([](IwarpDialogue& d) {
                 d.connect();
                 d.post(End::a, ulpdu::send({.msn = 1}, pattern(100)));
             });
             announce_mss(capture, kSynAnswerFrame, 88);
             return capture;
         }},
        {"MPA-28", "no MSS is announced", [] { return iwarp_scene(play_all); }, Verdict::not_applicable},
        {"DDP-04", "the capture begins in the middle", [] { return all_from(9); }, Verdict::not_applicable},
        {"DDP-05", "the capture begins in the middle", [] { return all_from(9); }},
        {"DDP-05", "the capture lacks a segment", [] { return all_without(8); }},
        {"DDP-06", "the capture lacks a segment", [] { return all_without(8); }},
        {"DDP-06", "two segments come in the other order", [] { return all_exchanged(7); }},
        {"DDP-07", "the capture lacks the last segment of a message", [] { return all_without(9); }},
        {"DDP-08", "the capture lacks a segment", [] { return all_without(11); }, Verdict::pass},
        {"DDP-09", "the last byte there is",
         [] {
             return iwarp_scene([](IwarpDialogue& d) {
                 play_start(d);
                 d.post(End::a, ulpdu::write(1, ~std::uint64_t{7}, true, pattern(8)));
             });
         }},
        {"RDM-07", "the capture lacks the READ", lost_read_request, Verdict::not_applicable},
        {"RDM-07", "the capture begins behind the READs", [] { return all_from(16); }, Verdict::not_applicable},
        {"RDM-07", "the tap has the response before the READ", [] { return all_exchanged(15); }},
        {"RDM-10", "READs into one STag, answered in order", one_sink},
        {"RDM-12", "as many as announced", [] { return asking(4, 4, 8); }},
        {"RDM-12", "empty ones, as those of peer-to-peer connections", [] { return asking(1, 3, 0); }},
        {"RDM-17", "a header older than those that are kept", quoting_an_old_one, Verdict::inconclusive},
        {"RDM-18", "what was sent before is sent again", terminated_and_resent},
        {"RDM-20", "the capture lacks the request", [] { return all_without(18); }, Verdict::not_applicable},
    };
}

TEST_CASE("FPDUs whose CRC cannot be checked are not said to be wrong") {
    using Catch::Matchers::Contains;
    using Catch::Matchers::EndsWith;
    const auto reason = [](const RecordedCapture& capture) {
        const auto results = check_capture(capture);
        const auto found = std::ranges::find(results, "MPA-13", [](const auto& result) { return result.check->id; });
        REQUIRE(found != results.end());
        return found->reason;
    };
    for (const RecordedCapture& capture : {cut(80), one_way(End::a)})
        CHECK_THAT(reason(capture), EndsWith(" FPDUs cannot be checked") && !Contains("wrong"));
    CHECK_THAT(reason(spoiled()),
               Contains("1 of ") && EndsWith("have a wrong CRC although others of their sender do not"));
    // One is wrong and another one is cut.
    RecordedCapture both = spoiled();
    RecordedFrame& last = both.frames.back();
    last.wire_length = static_cast<std::uint32_t>(last.bytes.size());
    last.bytes.resize(last.bytes.size() - 1);
    CHECK_THAT(reason(both),
               Contains("1 of ") && EndsWith("although others of their sender do not, and 1 cannot be checked"));
    CHECK_THAT(reason(cut(80, {.crc = false})), Contains("the capture has no FPDUs with a CRC"));
}

}  // namespace qps::tests
