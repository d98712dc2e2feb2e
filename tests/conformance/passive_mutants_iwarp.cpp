// iWARP captures that break rules of MPA, DDP and RDMAP, each in one place.
#include <tests/conformance/iwarp_scenes.hpp>

#include <bit>

namespace qps::tests {

using namespace dissect;
using transport::End;

namespace {

constexpr std::size_t kPayloadAt = 54;  // of a frame: behind Ethernet, IPv4 and TCP
constexpr std::size_t kRequestFrame = 3, kReplyFrame = 4;
constexpr std::size_t kFlagsAt = 16, kRevisionAt = 17, kWordAt = 2, kOpcodeAt = 1, kMsnAt = 10, kQueueAt = 6;

RecordedCapture healthy_all() {
    return iwarp_scene([](IwarpDialogue& d) {
        play_all(d);
        play_end(d);
    });
}
RecordedCapture healthy_marked() { return iwarp_scene(play_all, kMarkedSettings); }
RecordedCapture healthy_enhanced() {
    return iwarp_scene(
        [](IwarpDialogue& d) {
            d.connect(words_of({}), words_of({}));
            d.post(End::a, ulpdu::read_request(1, {.length = 4}));
            d.post(End::b, ulpdu::read_response(0x22, 0x2000, true, pattern(4)));
            d.post(End::a, ulpdu::atomic_request(2, {}));
            d.post(End::b, ulpdu::atomic_response(1, 7, 1));
        },
        kEnhancedSettings);
}
RecordedCapture healthy_terminated() {
    return iwarp_scene([](IwarpDialogue& d) {
        play_start(d);
        const Block quoted = joined(Block{std::byte{0}, std::byte{38}}, ulpdu::send({.msn = 1}, {}));
        d.post(End::b, ulpdu::terminate(1, 2, 5, 6, quoted));
        play_end(d);
    });
}
RecordedCapture healthy_rejected() {
    return iwarp_scene([](IwarpDialogue& d) {
        d.connect({}, {}, true);
        play_end(d);
    });
}

// Another play in its place.
std::function<void(RecordedCapture&)> played(IwarpPlay play, const IwarpDialogue::Settings& settings = {}) {
    return [play = std::move(play), settings](RecordedCapture& capture) { capture = iwarp_scene(play, settings); };
}
// Behind the start, the next ULPDUs of an end.
std::function<void(RecordedCapture&)> sent(End from, std::vector<Block> ulpdus) {
    return played([from, ulpdus = std::move(ulpdus)](IwarpDialogue& d) {
        play_start(d);
        for (const Block& each : ulpdus) d.post(from, each);
    });
}
// A READ of these bytes, answered so.
std::function<void(RecordedCapture&)> answered(std::vector<ulpdu::Read> reads, std::vector<Block> responses) {
    return played([reads = std::move(reads), responses = std::move(responses)](IwarpDialogue& d) {
        play_start(d);
        std::uint32_t msn = 0;
        for (const ulpdu::Read& read : reads) d.post(End::a, ulpdu::read_request(++msn, read));
        for (const Block& each : responses) d.post(End::b, each);
    });
}
std::function<void(RecordedCapture&)> terminated(Block terminate) {
    return played([terminate = std::move(terminate)](IwarpDialogue& d) {
        play_start(d);
        d.post(End::b, terminate);
    });
}
// The bytes of every FPDU of the initiator, changed.
std::function<void(RecordedCapture&)> framed(const std::function<Block(Block)>& change,
                                             const IwarpDialogue::Settings& settings = {}) {
    return played(
        [change](IwarpDialogue& d) {
            d.connect();
            for (std::uint32_t msn = 1; msn <= 4; ++msn)
                d.segment(End::a, change(d.fpdu(End::a, ulpdu::send({.msn = msn}, pattern(601)))));
        },
        settings);
}
void set_payload(RecordedCapture& capture, std::size_t frame, std::size_t at, std::uint8_t value) {
    capture.frames[frame].bytes[kPayloadAt + at] = static_cast<std::byte>(value);
}
Block reversed_crc(Block fpdu) {
    std::reverse(fpdu.end() - 4, fpdu.end());
    return fpdu;
}
ulpdu::Read backwards(const ulpdu::Read& read) {
    return {.sink = std::byteswap(read.sink),
            .sink_offset = std::byteswap(read.sink_offset),
            .length = std::byteswap(read.length),
            .source = std::byteswap(read.source),
            .source_offset = std::byteswap(read.source_offset)};
}
// Reads that wait, as many as these.
std::function<void(RecordedCapture&)> waiting(std::uint16_t ird, std::size_t reads, std::size_t atomics) {
    return played(
        [=](IwarpDialogue& d) {
            d.connect(words_of({}), words_of({.ird = ird}));
            std::uint32_t msn = 0;
            for (std::size_t i = 0; i < reads; ++i) d.post(End::a, ulpdu::read_request(++msn, {.length = 8}));
            for (std::size_t i = 0; i < atomics; ++i) {
                ++msn;
                d.post(End::a, ulpdu::atomic_request(msn, {.identifier = msn}));
            }
        },
        kEnhancedSettings);
}
std::function<void(RecordedCapture&)> ready(const Depths& request, const Depths& reply, Block first) {
    return played(
        [=](IwarpDialogue& d) {
            d.connect(words_of(request), words_of(reply));
            d.post(End::a, first);
        },
        kEnhancedSettings);
}
RecordedCapture healthy_ready() {
    return iwarp_scene(
        [](IwarpDialogue& d) {
            d.connect(words_of({.peer_to_peer = true, .write = true}), words_of({.peer_to_peer = true, .write = true}));
            d.post(End::a, ulpdu::write(0, 0, true, {}));
            d.post(End::b, ulpdu::send({.msn = 1}, pattern(8)));
        },
        kEnhancedSettings);
}
// Both ends announce 1,460 bytes in their SYNs.
RecordedCapture healthy_announced() {
    RecordedCapture capture = healthy_all();
    for (const std::size_t syn : {kSynFrame, kSynAnswerFrame}) announce_mss(capture, syn, 1460);
    return capture;
}
void set_mss(RecordedCapture& capture, std::size_t syn, std::uint16_t mss) {
    set_payload(capture, syn, 2, static_cast<std::uint8_t>(mss >> 8));
    set_payload(capture, syn, 3, static_cast<std::uint8_t>(mss));
}
std::function<void(RecordedCapture&)> closed_behind(std::size_t bytes) {
    return played([bytes](IwarpDialogue& d) {
        play_start(d);
        d.segment(End::a, slice(d.fpdu(End::a, ulpdu::send({.msn = 2}, pattern(100))), 0, bytes));
        d.segment(End::a, {}, TcpFlags::fin | TcpFlags::ack);
        d.acknowledge(End::b);
    });
}

}  // namespace

PassiveMutants recorded_framing_mutants() {
    return {
        {"MPA-01", "the request has another key", healthy_all,
         [](RecordedCapture& c) { set_payload(c, kRequestFrame, 11, 'f'); }},
        {"MPA-01", "the reply has the key of a request", healthy_all,
         [](RecordedCapture& c) { set_payload(c, kReplyFrame, 9, 'q'); }},
        {"MPA-02", "the request has revision 3", healthy_all,
         [](RecordedCapture& c) { set_payload(c, kRequestFrame, kRevisionAt, 3); }},
        {"MPA-02", "a reply of revision 2 to a request of revision 1", healthy_all,
         [](RecordedCapture& c) { set_payload(c, kReplyFrame, kRevisionAt, 2); }},
        {"MPA-02", "the reply has revision 0", healthy_all,
         [](RecordedCapture& c) { set_payload(c, kReplyFrame, kRevisionAt, 0); }},
        {"MPA-03", "513 bytes in the request", healthy_all, played([](IwarpDialogue& d) { d.connect(pattern(513)); })},
        {"MPA-03", "600 bytes in the reply", healthy_all,
         played([](IwarpDialogue& d) { d.connect({}, pattern(600)); })},
        {"MPA-04", "a reserved bit in the request", healthy_all,
         [](RecordedCapture& c) { set_payload(c, kRequestFrame, kFlagsAt, 0x41); }},
        {"MPA-04", "the flag of enhanced connections in revision 1", healthy_all,
         [](RecordedCapture& c) { set_payload(c, kReplyFrame, kFlagsAt, 0x50); }},
        {"MPA-05", "a request that rejects", healthy_all,
         [](RecordedCapture& c) { set_payload(c, kRequestFrame, kFlagsAt, 0x60); }},
        {"MPA-05", "an enhanced request that rejects", healthy_enhanced,
         [](RecordedCapture& c) { set_payload(c, kRequestFrame, kFlagsAt, 0x70); }},
        {"MPA-06", "an enhanced reply to a request that is not", healthy_enhanced,
         [](RecordedCapture& c) { set_payload(c, kRequestFrame, kFlagsAt, 0x40); }},
        {"MPA-06", "an enhanced request without private data", healthy_enhanced,
         played([](IwarpDialogue& d) { d.connect(); }, kEnhancedSettings)},
        {"MPA-07", "ORD 5 to an IRD of 4", healthy_enhanced,
         played([](IwarpDialogue& d) { d.connect(words_of({.ird = 4}), words_of({.ord = 5})); }, kEnhancedSettings)},
        {"MPA-07", "ORD 16 to an IRD of 0", healthy_enhanced,
         played([](IwarpDialogue& d) { d.connect(words_of({.ird = 0}), words_of({.ord = 16})); }, kEnhancedSettings)},
        {"MPA-08", "an FPDU right behind the request", healthy_all, played([](IwarpDialogue& d) {
             d.segment(End::a, d.set_up(false, {}));
             d.post(End::a, ulpdu::send({.msn = 1}, pattern(20)));
             d.segment(End::b, d.set_up(true, {}));
         })},
        {"MPA-08", "an FPDU in the segment of the request", healthy_all, played([](IwarpDialogue& d) {
             d.segment(End::a, joined(d.set_up(false, {}), d.fpdu(End::a, ulpdu::write(1, 2, true, pattern(8)))));
             d.segment(End::b, d.set_up(true, {}));
         })},
        {"MPA-09", "the responder sends first", healthy_all, played([](IwarpDialogue& d) {
             d.connect();
             d.post(End::b, ulpdu::send({.msn = 1}, pattern(20)));
             d.post(End::a, ulpdu::send({.msn = 1}, pattern(20)));
         })},
        {"MPA-09", "an FPDU in the segment of the reply", healthy_all, played([](IwarpDialogue& d) {
             d.segment(End::a, d.set_up(false, {}));
             d.segment(End::b, joined(d.set_up(true, {}), d.fpdu(End::b, ulpdu::send({.msn = 1}, pattern(8)))));
             d.post(End::a, ulpdu::send({.msn = 1}, pattern(20)));
         })},
        {"MPA-09", "the responder sends, the initiator never", healthy_all, played([](IwarpDialogue& d) {
             d.connect();
             d.post(End::b, ulpdu::send({.msn = 1}, pattern(20)));
             d.acknowledge(End::a);
         })},
        {"MPA-10", "the responder sends an FPDU", healthy_rejected, played([](IwarpDialogue& d) {
             d.connect({}, {}, true);
             d.post(End::b, ulpdu::send({.msn = 1}, pattern(8)));
         })},
        {"MPA-10", "the initiator sends an FPDU", healthy_rejected, played([](IwarpDialogue& d) {
             d.connect({}, {}, true);
             d.post(End::a, ulpdu::send({.msn = 1}, pattern(8)));
         })},
        {"MPA-11", "the second marker points 8 bytes too far", healthy_marked,
         framed(
             [](Block fpdu) {
                 const std::uint8_t low = std::to_integer<std::uint8_t>(fpdu.at(515));
                 return sealed(with_byte(std::move(fpdu), 515, static_cast<std::uint8_t>(low + 8)));
             },
             kMarkedSettings)},
        {"MPA-11", "no markers, although the peer asked for them", healthy_marked,
         [](RecordedCapture& c) { c = iwarp_scene(play_all, {.markers = true, .sends_markers = false}); }},
        {"MPA-11", "markers counted from another byte", healthy_marked,
         [](RecordedCapture& c) { c = iwarp_scene(play_all, {.markers = true, .marker_shift = 20}); }},
        {"MPA-12", "a bit in the first marker", healthy_marked,
         framed([](Block fpdu) { return sealed(with_byte(std::move(fpdu), 0, 0x80)); }, kMarkedSettings)},
        {"MPA-12", "a bit in the second marker", healthy_marked,
         framed([](Block fpdu) { return sealed(with_byte(std::move(fpdu), 513, 1)); }, kMarkedSettings)},
        {"MPA-13", "no CRC, although CRCs are in use", healthy_all, framed([](Block fpdu) {
             std::fill(fpdu.end() - 4, fpdu.end(), std::byte{});
             return fpdu;
         })},
        {"MPA-13", "the CRC has the other byte order", healthy_all, framed(reversed_crc)},
        {"MPA-14", "a pad of a SEND", healthy_all,
         framed([](Block fpdu) { return sealed(with_byte(std::move(fpdu), 2 + 18 + 601, 0x40)); })},
        {"MPA-14", "the last byte of a pad of three", healthy_all, played([](IwarpDialogue& d) {
             d.connect();
             d.segment(End::a,
                       sealed(with_byte(d.fpdu(End::a, ulpdu::write(1, 0, true, pattern(5))), 2 + 14 + 5 + 2, 1)));
         })},
        {"MPA-15", "17 bytes of an untagged segment", healthy_all, sent(End::a, {Block(17, std::byte{0x41})})},
        {"MPA-15", "an empty FPDU", healthy_all, sent(End::a, {Block{}})},
        {"MPA-27", "the reply has not the flag A", healthy_ready,
         ready({.peer_to_peer = true, .write = true}, {.write = true}, ulpdu::write(0, 0, true, {}))},
        {"MPA-27", "the reply has neither flag nor ready-to-receive message, and the initiator terminates",
         healthy_ready, ready({.peer_to_peer = true, .read = true}, {}, ulpdu::terminate(2, 0, 7))},
        {"MPA-28", "WRITEs of 1,020 bytes to who takes 1,016", healthy_announced,
         [](RecordedCapture& c) { set_mss(c, kSynAnswerFrame, 1016); }},
        {"MPA-28", "READ responses of 1,020 bytes to who takes 536", healthy_announced,
         [](RecordedCapture& c) { set_mss(c, kSynFrame, 536); }},
        {"MPA-16", "a SEND with data", healthy_ready,
         ready({.peer_to_peer = true, .write = true}, {.peer_to_peer = true, .write = true},
               ulpdu::send({.msn = 1}, pattern(8)))},
        {"MPA-16", "an empty WRITE, where a READ was agreed on", healthy_ready,
         ready({.peer_to_peer = true, .write = true, .read = true}, {.peer_to_peer = true, .read = true},
               ulpdu::write(0, 0, true, {}))},
        {"MPA-17", "in the middle of the payload", healthy_all, closed_behind(60)},
        {"MPA-17", "behind one byte", healthy_all, closed_behind(1)},
    };
}

PassiveMutants recorded_placement_mutants() {
    const Block plain = ulpdu::send({.msn = 2}, pattern(8));
    const Block write = ulpdu::write(0x11, 0x1000, true, pattern(8));
    const Block half = ulpdu::send({.msn = 2, .last = false}, pattern(100));
    const Block half_write = ulpdu::write(0x11, 0x1000, false, pattern(100));
    return {
        {"DDP-01", "version 2", healthy_all, sent(End::a, {with_byte(plain, 0, 0x42)})},
        {"DDP-01", "version 0 of a WRITE", healthy_all, sent(End::a, {with_byte(write, 0, 0xc0)})},
        {"DDP-02", "of a SEND", healthy_all, sent(End::a, {with_byte(plain, 0, 0x45)})},
        {"DDP-02", "of a WRITE", healthy_all, sent(End::a, {with_byte(write, 0, 0xe1)})},
        {"DDP-03", "a SEND on queue 1", healthy_all, sent(End::a, {with_byte(plain, kQueueAt + 3, 1)})},
        {"DDP-03", "a READ request on queue 0", healthy_all,
         sent(End::a, {with_byte(ulpdu::read_request(1, {}), kQueueAt + 3, 0)})},
        {"DDP-03", "a queue that does not exist", healthy_all, sent(End::a, {with_byte(plain, kQueueAt, 0x80)})},
        {"DDP-04", "SENDs begin with 0", healthy_all, sent(End::b, {ulpdu::send({.msn = 0}, pattern(8))})},
        {"DDP-04", "READ requests begin with 2", healthy_all, sent(End::a, {ulpdu::read_request(2, {})})},
        {"DDP-05", "one is skipped", healthy_all, sent(End::a, {ulpdu::send({.msn = 3}, pattern(8))})},
        {"DDP-05", "one comes twice", healthy_all, sent(End::a, {ulpdu::send({.msn = 1}, pattern(8))})},
        {"DDP-05", "another one within a message", healthy_all,
         sent(End::a, {half, ulpdu::send({.msn = 4, .mo = 100}, pattern(8))})},
        {"DDP-06", "a hole within the message", healthy_all,
         sent(End::a, {half, ulpdu::send({.msn = 2, .mo = 104}, pattern(8))})},
        {"DDP-06", "an overlap", healthy_all, sent(End::a, {half, ulpdu::send({.msn = 2, .mo = 96}, pattern(8))})},
        {"DDP-06", "the first segment is not at 0", healthy_all,
         sent(End::a, {ulpdu::send({.msn = 2, .mo = 8}, pattern(8))})},
        {"DDP-07", "a message of one segment", healthy_all, sent(End::a, {half, ulpdu::send({.msn = 3}, pattern(8))})},
        {"DDP-07", "a message of three", healthy_all,
         sent(End::a,
              {half, ulpdu::send({.msn = 2, .mo = 100, .last = false}, pattern(100)),
               ulpdu::send({.msn = 2, .mo = 200, .last = false}, pattern(100)), ulpdu::send({.msn = 3}, pattern(8))})},
        {"DDP-08", "another STag", healthy_all,
         sent(End::a, {half_write, ulpdu::write(0x12, 0x1000 + 100, true, pattern(8))})},
        {"DDP-08", "an offset that overlaps", healthy_all,
         sent(End::a, {half_write, ulpdu::write(0x11, 0x1000 + 99, true, pattern(8))})},
        {"DDP-09", "by many bytes", healthy_all,
         sent(End::a, {ulpdu::write(0x11, ~std::uint64_t{15}, true, pattern(64))})},
        {"DDP-09", "by one byte", healthy_all, sent(End::a, {ulpdu::write(0x11, ~std::uint64_t{0}, true, pattern(2))})},
        {"DDP-10", "a SEND goes on as a SEND with solicited event", healthy_all,
         sent(End::a, {half, with_byte(ulpdu::send({.msn = 2, .mo = 100}, pattern(8)), kOpcodeAt, 0x45)})},
        {"DDP-10", "another STag to invalidate", healthy_all,
         sent(End::a, {ulpdu::send({.msn = 2, .last = false}, pattern(100), 0x77),
                       ulpdu::send({.msn = 2, .mo = 100}, pattern(8), 0x78)})},
    };
}

PassiveMutants recorded_rdmap_mutants() {
    const Block plain = ulpdu::send({.msn = 2}, pattern(8));
    const Block write = ulpdu::write(0x11, 0x1000, true, pattern(8));
    const Block data = pattern(64);
    const ulpdu::Read read{.length = 64}, second{.sink = 0x23, .sink_offset = 0x4000, .length = 64},
        third{.sink = 0x24, .length = 64};
    const auto response = [&](const ulpdu::Read& of) {
        return ulpdu::read_response(of.sink, of.sink_offset, true, data);
    };
    const Block quote = joined(Block{std::byte{0}, std::byte{38}}, ulpdu::send({.msn = 1}, {}));
    const auto read_request = [](std::size_t at, std::uint8_t value) {
        return with_byte(ulpdu::read_request(1, {.length = 4}), at, value);
    };
    const auto atomic_answer = [](const Block& answer) {
        return played([answer](IwarpDialogue& d) {
            play_start(d);
            d.post(End::a, ulpdu::atomic_request(1, {.identifier = 7}));
            d.post(End::b, answer);
        });
    };
    Block short_answer = ulpdu::atomic_response(1, 7, 1);
    short_answer.pop_back();
    Block long_read = ulpdu::read_request(1, {.length = 4});
    long_read.push_back({});
    Block short_atomic = ulpdu::atomic_request(1, {});
    short_atomic.pop_back();
    Block short_immediate = ulpdu::immediate(2, 1);
    short_immediate.resize(short_immediate.size() - 4);
    constexpr std::size_t kTerminateAt = 18;
    return {
        {"RDM-01", "version 0", healthy_all, sent(End::a, {with_byte(plain, kOpcodeAt, 0x03)})},
        {"RDM-01", "version 2 of a WRITE", healthy_all, sent(End::a, {with_byte(write, kOpcodeAt, 0x80)})},
        {"RDM-02", "of a SEND", healthy_all, sent(End::a, {with_byte(plain, kOpcodeAt, 0x53)})},
        {"RDM-02", "of a WRITE", healthy_all, sent(End::a, {with_byte(write, kOpcodeAt, 0x60)})},
        {"RDM-03", "opcode 12", healthy_all, sent(End::a, {with_byte(plain, kOpcodeAt, 0x4c)})},
        {"RDM-03", "opcode 15 of a tagged segment", healthy_all, sent(End::a, {with_byte(write, kOpcodeAt, 0x4f)})},
        {"RDM-04", "a tagged SEND", healthy_all, sent(End::a, {with_byte(write, kOpcodeAt, 0x43)})},
        {"RDM-04", "an untagged WRITE", healthy_all, sent(End::a, {with_byte(plain, kOpcodeAt, 0x40)})},
        {"RDM-05", "of a SEND", healthy_all, sent(End::a, {with_byte(plain, kWordAt, 0x11)})},
        {"RDM-05", "of a READ request", healthy_all, sent(End::a, {read_request(kWordAt + 3, 1)})},
        {"RDM-06", "29 bytes", healthy_all, sent(End::a, {long_read})},
        {"RDM-06", "not the last segment", healthy_all, sent(End::a, {read_request(0, 0x01)})},
        {"RDM-07", "another STag", healthy_all, answered({read}, {ulpdu::read_response(0x99, 0x2000, true, data)})},
        {"RDM-07", "no READ at all", healthy_all, answered({}, {response(read)})},
        {"RDM-07", "a response twice", healthy_all, answered({read}, {response(read), response(read)})},
        {"RDM-08", "8 bytes further", healthy_all, answered({read}, {ulpdu::read_response(0x22, 0x2008, true, data)})},
        {"RDM-08", "the second segment is where the first one was", healthy_all,
         answered({read}, {ulpdu::read_response(0x22, 0x2000, false, slice(data, 0, 32)),
                           ulpdu::read_response(0x22, 0x2000, true, slice(data, 32))})},
        {"RDM-09", "it ends early", healthy_all,
         answered({read}, {ulpdu::read_response(0x22, 0x2000, true, slice(data, 0, 60))})},
        {"RDM-09", "it is longer", healthy_all,
         answered({read}, {ulpdu::read_response(0x22, 0x2000, true, pattern(68))})},
        {"RDM-10", "two READs, the second answered first", healthy_all,
         answered({read, second}, {response(second), response(read)})},
        {"RDM-10", "three READs, the last answered in the middle", healthy_all,
         answered({read, second, third}, {response(read), response(third), response(second)})},
        {"RDM-11", "one READ", healthy_all, answered({backwards(read)}, {response(read)})},
        {"RDM-11", "two of them", healthy_all,
         answered({backwards(read), backwards(second)}, {response(read), response(second)})},
        {"RDM-12", "two READs, IRD 1", healthy_enhanced, waiting(1, 2, 0)},
        {"RDM-12", "two READs and an ATOMIC, IRD 2", healthy_enhanced, waiting(2, 2, 1)},
        {"RDM-13", "MSN 2", healthy_terminated, terminated(with_byte(ulpdu::terminate(0, 0, 0xff), kMsnAt + 3, 2))},
        {"RDM-13", "not the last segment", healthy_terminated,
         terminated(with_byte(ulpdu::terminate(0, 0, 0xff), 0, 0x01))},
        {"RDM-14", "layer 3", healthy_terminated, terminated(ulpdu::terminate(3, 0, 0))},
        {"RDM-14", "a code that DDP lacks", healthy_terminated, terminated(ulpdu::terminate(1, 2, 0x40))},
        {"RDM-14", "layer and type exchanged", healthy_terminated, terminated(ulpdu::terminate(2, 1, 5))},
        {"RDM-15", "the last byte", healthy_terminated,
         terminated(with_byte(ulpdu::terminate(1, 2, 5), kTerminateAt + 3, 1))},
        {"RDM-15", "HdrCt in the wrong bits", healthy_terminated,
         terminated(with_byte(ulpdu::terminate(1, 2, 5), kTerminateAt + 2, 3))},
        {"RDM-16", "headers that are not announced", healthy_terminated,
         terminated(ulpdu::terminate(1, 2, 5, 0, quote))},
        {"RDM-16", "headers that are not there", healthy_terminated,
         terminated(ulpdu::terminate(1, 2, 5, 6, slice(quote, 0, 10)))},
        {"RDM-17", "an MSN that was not sent", healthy_terminated,
         terminated(ulpdu::terminate(1, 2, 5, 6, with_byte(quote, 2 + kMsnAt + 3, 20)))},
        {"RDM-17", "a WRITE that was not sent", healthy_terminated,
         terminated(ulpdu::terminate(1, 1, 0, 6, joined(Block(2), ulpdu::write(0x77, 0, true, {}))))},
        {"RDM-18", "a SEND follows", healthy_terminated,
         sent(End::b, {ulpdu::terminate(0, 0, 0xff), ulpdu::send({.msn = 1}, pattern(8))})},
        {"RDM-18", "another Terminate follows", healthy_terminated,
         sent(End::b, {ulpdu::terminate(0, 0, 0xff), ulpdu::terminate(0, 0, 0xff)})},
        {"RDM-19", "operation 5", healthy_all, sent(End::a, {ulpdu::atomic_request(1, {.operation = 5})})},
        {"RDM-19", "51 bytes", healthy_all, sent(End::a, {short_atomic})},
        {"RDM-20", "another identifier", healthy_all, atomic_answer(ulpdu::atomic_response(1, 8, 1))},
        {"RDM-20", "no request", healthy_all, sent(End::b, {ulpdu::atomic_response(1, 7, 1)})},
        {"RDM-21", "11 bytes", healthy_all, atomic_answer(short_answer)},
        {"RDM-21", "not the last segment", healthy_all,
         atomic_answer(with_byte(ulpdu::atomic_response(1, 7, 1), 0, 0x01))},
        {"RDM-22", "4 bytes", healthy_all, sent(End::a, {short_immediate})},
        {"RDM-22", "not the last segment", healthy_all, sent(End::a, {with_byte(ulpdu::immediate(2, 1), 0, 0x01)})},
    };
}

}  // namespace qps::tests
