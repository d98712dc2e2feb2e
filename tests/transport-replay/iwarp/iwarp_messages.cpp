// iWARP connections in the tables of all others: recognised, followed through loss and disorder, and told from what
// they are not.
#include <dissect/base/types.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/iwarp_dialogue.hpp>
#include <tests/support/packets.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <bit>
#include <random>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr End a = End::a, b = End::b;

// A ping as rping makes it: SEND, READ, SEND, SEND, WRITE, SEND.
void ping(IwarpDialogue& dialogue, std::uint32_t round, std::size_t length = 3000) {
    const std::uint32_t msn = round * 2 + 1;
    const Block data = pattern(length);
    dialogue.post(a, ulpdu::send({.msn = msn}, pattern(16)));
    dialogue.post(b, ulpdu::read_request(round + 1, {.length = static_cast<std::uint32_t>(length)}));
    for (std::size_t at = 0; at < length; at += 1400) {
        const std::size_t part = std::min<std::size_t>(1400, length - at);
        dialogue.post(a, ulpdu::read_response(0x22, 0x2000 + at, at + part == length, Bytes(data).subspan(at, part)));
    }
    dialogue.post(b, ulpdu::send({.msn = msn}, pattern(16)));
    dialogue.post(a, ulpdu::send({.msn = msn + 1}, pattern(16)));
    for (std::size_t at = 0; at < length; at += 1400) {
        const std::size_t part = std::min<std::size_t>(1400, length - at);
        dialogue.post(b, ulpdu::write(0x44, 0x9000 + at, at + part == length, Bytes(data).subspan(at, part)));
    }
    dialogue.post(b, ulpdu::send({.msn = msn + 1}, pattern(16)));
    dialogue.acknowledge(a);
}
constexpr std::size_t kFramesOfPing = 1 + 1 + 3 + 1 + 1 + 3 + 1 + 1;
constexpr std::size_t kFramesOfSetUp = 5;

IwarpDialogue pings(const IwarpDialogue::Settings& settings, std::uint32_t rounds) {
    IwarpDialogue dialogue(settings);
    dialogue.connect();
    for (std::uint32_t i = 0; i < rounds; ++i) ping(dialogue, i);
    return dialogue;
}

void check_pings(const Followed& followed, std::uint64_t rounds) {
    CHECK(followed.count(Verb::send, Outcome::completed) == rounds * 4);
    CHECK(followed.count(Verb::write, Outcome::completed) == rounds);
    CHECK(followed.count(Verb::read_request, Outcome::completed) == rounds);
    CHECK(followed.messages.size() == rounds * 6);
}

const Connection& only(const Followed& followed) {
    REQUIRE(followed.timeline.connections.size() == 1);
    return followed.timeline.connections.front();
}
const IwarpConversation& record(const Followed& followed) {
    REQUIRE(followed.timeline.iwarp.conversations.size() == 1);
    return followed.timeline.iwarp.conversations.front();
}

}  // namespace

TEST_CASE("an iWARP connection is a connection, and its operations are messages") {
    for (const bool crc : {false, true})
        for (const bool markers : {false, true}) {
            INFO("crc " << crc << " markers " << markers);
            const Followed followed = follow(pings({.crc = crc, .markers = markers}, 5).frames);
            check_pings(followed, 5);
            const Connection& connection = only(followed);
            CHECK(connection.uid == ConnectionId{1});
            CHECK(connection.service == Service::iwarp);
            CHECK(text(connection.ends[0]) == "10.0.0.1:40000");
            CHECK(text(connection.ends[1]) == "10.0.0.2:4711");
            CHECK(connection.ends[1].is_port);
            CHECK(connection.confidence == Confidence::certain);
            CHECK(connection.way(a).messages_of(MessageKind::send) == 10);
            CHECK(connection.way(b).messages_of(MessageKind::send) == 10);
            CHECK(connection.way(b).messages_of(MessageKind::write) == 5);
            CHECK(connection.way(b).messages_of(MessageKind::read) == 5);
            CHECK(connection.way(a).read_responses == 15);
            CHECK(connection.way(b).most_reads == 1);
            CHECK(connection.way(a).incidents->retransmitted == 0);
            CHECK(connection.packets() == 5 * kFramesOfPing + kFramesOfSetUp - 3);  // from the MPA request on
            CHECK(followed.timeline.totals.messages[static_cast<std::size_t>(MessageKind::send)] == 20);
            CHECK(followed.timeline.totals.message_bytes == 5 * (4 * 16 + 2 * 3000));
            CHECK(record(followed).crc == crc);
            CHECK(record(followed).way(a).markers == markers);
            CHECK(record(followed).way(a).fpdus == 5 * 5);
            CHECK(record(followed).way(b).fpdus == 5 * 6);
            CHECK(record(followed).way(a).crc_good == (crc ? 25 : 0));
            CHECK(record(followed).way(a).missing_bytes + record(followed).way(b).missing_bytes == 0);
            CHECK(followed.timeline.left_out.messages == 0);
        }
}

TEST_CASE("a READ has the memory of its request, its response's bytes and its time") {
    const Followed followed = follow(pings({}, 1).frames);
    const auto read = std::ranges::find(followed.messages, Verb::read_request,
                                        [](const Followed::Ended& e) { return e.message.verb; });
    REQUIRE(read != followed.messages.end());
    const Message& message = read->message;
    CHECK(read->requester == b);
    REQUIRE(message.access);
    CHECK(message.access->address == 0x1000);
    CHECK(message.access->key == Rkey{0x11});
    CHECK(message.access->length == 3000);
    CHECK(message.bytes == 3000);
    CHECK(message.packets == 3);
    CHECK(message.missing == 0);
    CHECK(message.answer_time - message.first_time == Duration{3000});
    CHECK(message.answer_frame == FrameIndex{kFramesOfSetUp + 5});
    const auto write =
        std::ranges::find(followed.messages, Verb::write, [](const Followed::Ended& e) { return e.message.verb; });
    CHECK(write->message.access == RemoteAccess{0x9000, Rkey{0x44}, 3000});
}

TEST_CASE("atomics, invalidation and immediate data are told") {
    IwarpDialogue dialogue({});
    dialogue.connect();
    dialogue.post(a, ulpdu::atomic_request(1, {.operation = 0, .identifier = 3}));
    dialogue.post(a, ulpdu::atomic_request(2, {.operation = 2, .identifier = 4}));
    dialogue.post(b, ulpdu::atomic_response(1, 3, 100));
    dialogue.post(b, ulpdu::atomic_response(2, 4, 200));
    dialogue.post(a, ulpdu::send({.msn = 1}, pattern(8), 0x99));
    dialogue.post(a, ulpdu::immediate(2, 0x0102030405060708));
    dialogue.acknowledge(b);
    const Followed followed = follow(dialogue.frames);
    REQUIRE(followed.messages.size() == 4);
    CHECK(followed.messages[0].message.verb == Verb::fetch_add);
    CHECK(followed.messages[0].message.atomic_result == 100);
    CHECK(followed.messages[0].message.atomic == AtomicOperands{5, 9});
    CHECK(followed.messages[1].message.verb == Verb::compare_swap);
    CHECK(followed.messages[1].message.outcome == Outcome::completed);
    CHECK(followed.messages[2].message.invalidate == Rkey{0x99});
    CHECK(followed.messages[3].message.immediate == 0x05060708);
    CHECK(only(followed).way(a).most_reads == 2);
}

namespace {

// As a sender numbers them that sends them in this order: what it sends again has an identification of its own.
std::vector<Block> numbered(std::vector<Block> frames) {
    constexpr std::size_t kIdentification = 18;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        frames[i][kIdentification] = static_cast<std::byte>(i >> 8);
        frames[i][kIdentification + 1] = static_cast<std::byte>(i);
    }
    return frames;
}

}  // namespace

TEST_CASE("segments that are doubled, moved and sent again change nothing but counts") {
    std::mt19937 random(17);
    for (int round = 0; round < 40; ++round) {
        auto frames = pings({.crc = round % 2 == 0, .markers = round % 3 == 0}, 6).frames;
        std::size_t doubled = 0;
        for (std::size_t i = kFramesOfSetUp; i < frames.size(); ++i) {
            if (random() % 8 == 0 && frames[i].size() > 54) {
                frames.insert(frames.begin() + static_cast<std::ptrdiff_t>(
                                                   i + 1 + random() % std::min<std::size_t>(6, frames.size() - i)),
                              frames[i]);
                ++doubled;
                ++i;
            }
        }
        const Followed copied = follow(numbered(frames));
        check_pings(copied, 6);
        CHECK(only(copied).way(a).incidents->retransmitted + only(copied).way(b).incidents->retransmitted == doubled);
    }
    // Within a burst of one side, order is the network's.
    IwarpDialogue dialogue({});
    dialogue.connect();
    for (std::uint32_t i = 0; i < 50; ++i) dialogue.post(a, ulpdu::send({.msn = i + 1}, pattern(1000)));
    dialogue.acknowledge(b);
    for (int round = 0; round < 20; ++round) {
        auto frames = dialogue.frames;
        for (std::size_t i = kFramesOfSetUp + 1; i + 5 < frames.size(); ++i)
            std::swap(frames[i], frames[i + random() % 4]);
        const Followed moved = follow(frames);
        CHECK(moved.count(Verb::send, Outcome::completed) == 50);
        CHECK(only(moved).way(a).incidents->retransmitted == 0);
        CHECK(record(moved).way(a).missing_bytes == 0);
    }
}

TEST_CASE("what the network lost and TCP sent again is counted as sent again, of its message too") {
    IwarpDialogue dialogue({});
    dialogue.connect();
    for (std::uint32_t i = 0; i < 10; ++i) dialogue.post(a, ulpdu::send({.msn = i + 1}, pattern(1000)));
    auto frames = dialogue.frames;
    const Block lost = frames[kFramesOfSetUp + 3];
    frames.erase(frames.begin() + kFramesOfSetUp + 3);
    // Four acknowledgments of what is before it, three of them repeated.
    Block same = frames[2];
    std::copy_n(frames[kFramesOfSetUp].begin() + 26, 4, same.begin() + 30);  // addresses and ports of the other way
    std::copy_n(frames[kFramesOfSetUp].begin() + 30, 4, same.begin() + 26);
    std::copy_n(frames[kFramesOfSetUp].begin() + 34, 2, same.begin() + 36);
    std::copy_n(frames[kFramesOfSetUp].begin() + 36, 2, same.begin() + 34);
    std::copy_n(lost.begin() + 42, 4, same.begin() + 38);
    std::copy_n(lost.begin() + 38, 4, same.begin() + 42);
    for (int i = 0; i < 4; ++i) frames.push_back(same);
    frames.push_back(lost);
    IwarpDialogue after = dialogue;
    after.frames.clear();
    after.acknowledge(b);
    frames.push_back(after.frames.front());
    const Followed followed = follow(numbered(frames));
    CHECK(followed.count(Verb::send, Outcome::completed) == 10);
    CHECK(only(followed).way(a).incidents->retransmitted == 1);
    CHECK(followed.episodes[frames.size() - 2].retransmission);
    CHECK(record(followed).way(a).missing_bytes == 0);
    // With the identification that it was first sent with it was overtaken, whatever the receiver asked for.
    const Followed overtaken = follow(frames);
    CHECK(overtaken.count(Verb::send, Outcome::completed) == 10);
    CHECK(only(overtaken).way(a).incidents->retransmitted == 0);
    CHECK_FALSE(overtaken.episodes[frames.size() - 2].retransmission);
}

TEST_CASE("what the capture lacks costs the messages that it was of, and no others") {
    const auto whole = pings({}, 6).frames;
    for (std::size_t lost = kFramesOfSetUp; lost + 1 < whole.size(); ++lost) {
        auto frames = whole;
        const bool has_data = frames[lost].size() > 54;
        frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(lost));
        const Followed followed = follow(frames);
        INFO("frame " << lost);
        const std::size_t completed = followed.count(Verb::send, Outcome::completed) +
                                      followed.count(Verb::write, Outcome::completed) +
                                      followed.count(Verb::read_request, Outcome::completed);
        CHECK(completed >= (has_data ? 6 * 6 - 1 : 6 * 6));
        CHECK(completed <= 6 * 6);
        CHECK((record(followed).way(a).missing_bytes + record(followed).way(b).missing_bytes > 0) == has_data);
    }
}

TEST_CASE("a wrong CRC is counted, and what it covers is not taken") {
    auto frames = pings({}, 3).frames;
    Block& spoiled = frames[kFramesOfSetUp];  // the first SEND
    spoiled[spoiled.size() - 10] ^= std::byte{4};
    const Followed followed = follow(frames);
    CHECK(record(followed).way(a).crc_bad == 1);
    CHECK(record(followed).way(a).crc_bad_frames == std::vector{FrameIndex{kFramesOfSetUp + 1}});
    CHECK(only(followed).way(a).incidents->corrupt == 0);  // that is of the ICRC
    CHECK(followed.count(Verb::send, Outcome::completed) == 3 * 4 - 1);
    CHECK(followed.episodes[kFramesOfSetUp].corrupt);
}

TEST_CASE("a Terminate ends a connection in words") {
    IwarpDialogue dialogue({});
    dialogue.connect();
    dialogue.post(a, ulpdu::read_request(1, {.length = 100}));
    dialogue.post(b, ulpdu::terminate(0, 1, 2));
    const Followed followed = follow(dialogue.frames);
    CHECK(only(followed).failed);
    CHECK(followed.count(Verb::read_request, Outcome::abandoned) == 1);
    const auto& terminated = record(followed).terminated;
    REQUIRE(terminated);
    CHECK(terminated->from == b);
    CHECK(terminated->layer == 0);
    CHECK(terminated->type == 1);
    CHECK(terminated->code == 2);
    CHECK(terminated->frame == FrameIndex{kFramesOfSetUp + 2});
}

TEST_CASE("a connection is recognised in its middle by CRCs, or by segments that FPDUs fill") {
    for (const bool crc : {true, false}) {
        auto frames = pings({.crc = crc}, 6).frames;
        frames.erase(frames.begin(), frames.begin() + kFramesOfSetUp + kFramesOfPing);
        const Followed followed = follow(frames);
        INFO("crc " << crc);
        CHECK(only(followed).service == Service::iwarp);
        CHECK(record(followed).crc == crc);
        CHECK(followed.count(Verb::read_request, Outcome::completed) >= 4);
        CHECK(followed.count(Verb::write, Outcome::completed) == 5);
    }
}

TEST_CASE("the first bytes of packets are enough for messages") {
    const Followed followed = follow(pings({}, 5).frames, 54 + 54);
    check_pings(followed, 5);
    CHECK(record(followed).way(a).crc_bad == 0);
}

TEST_CASE("FPDUs that segments do not align with are followed all the same") {
    std::mt19937 random(23);
    for (const bool markers : {false, true})
        for (int round = 0; round < 20; ++round) {
            IwarpDialogue dialogue({.markers = markers});
            dialogue.connect();
            Block all;
            for (std::uint32_t i = 0; i < 40; ++i)
                all = joined(all, dialogue.fpdu(a, ulpdu::send({.msn = i + 1}, pattern(i * 61 % 900))));
            for (std::size_t at = 0; at < all.size();) {
                const std::size_t length = std::min<std::size_t>(1 + random() % 1500, all.size() - at);
                dialogue.segment(a, Bytes(all).subspan(at, length));
                at += length;
            }
            dialogue.acknowledge(b);
            CHECK(follow(dialogue.frames).count(Verb::send, Outcome::completed) == 40);
        }
}

TEST_CASE("ports that are used anew are another connection") {
    IwarpDialogue dialogue({});
    dialogue.connect();
    ping(dialogue, 0);
    IwarpDialogue again({.first_seq = 5000});
    again.connect();
    ping(again, 0);
    auto frames = dialogue.frames;
    frames.insert(frames.end(), again.frames.begin(), again.frames.end());
    const Followed followed = follow(frames);
    REQUIRE(followed.timeline.connections.size() == 2);
    REQUIRE(followed.timeline.iwarp.conversations.size() == 2);
    CHECK(followed.messages.size() == 12);
    CHECK(followed.messages.back().connection == ConnectionId{2});
}

TEST_CASE("TCP that is no iWARP is no connection") {
    std::mt19937 random(29);
    IwarpDialogue web({.port = 80});
    for (int i = 0; i < 50; ++i) {
        web.segment(a, block("GET /index.html HTTP/1.1\r\nHost: example.org\r\n\r\n"));
        web.segment(b, joined(block("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"), pattern(900)));
    }
    IwarpDialogue noise({.port = 81});
    for (int i = 0; i < 2000; ++i) {
        Block bytes(1 + random() % 1400);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        noise.segment(random() % 2 == 0 ? a : b, bytes);
    }
    IwarpDialogue zeros({.port = 82});
    for (int i = 0; i < 50; ++i) zeros.segment(a, Block(1000, std::byte{0}));
    IwarpDialogue nearly({.port = 83});  // the key of MPA where it is no set-up
    nearly.segment(a, block("MPA ID R is how the frames of MPA begin, says the manual"));
    for (const IwarpDialogue* dialogue : {&web, &noise, &zeros, &nearly}) {
        const Followed followed = follow(dialogue->frames);
        CHECK(followed.timeline.connections.empty());
        CHECK(followed.timeline.iwarp.conversations.empty());
        CHECK(followed.messages.empty());
        CHECK(std::ranges::none_of(followed.episodes, [](const PacketRecord& s) {
            return s.connection || s.ulp.iwarp.what != IwarpPlace::What::none;
        }));
    }
}

TEST_CASE("a connection that was called none is asked again when it begins anew") {
    IwarpDialogue web({.first_seq = 900});
    for (int i = 0; i < 20; ++i) web.segment(a, pattern(300));
    auto frames = web.frames;
    const auto after = pings({}, 2).frames;
    frames.insert(frames.end(), after.begin(), after.end());
    check_pings(follow(frames), 2);
}

TEST_CASE("every frame says where its FPDUs begin") {
    const auto frames = pings({}, 2).frames;
    const Followed followed = follow(frames);
    CHECK(followed.episodes[3].ulp.iwarp.what == IwarpPlace::What::set_up);
    CHECK(followed.episodes[4].ulp.iwarp.what == IwarpPlace::What::set_up);
    for (std::size_t i = kFramesOfSetUp; i < frames.size(); ++i) {
        const IwarpPlace& place = followed.episodes[i].ulp.iwarp;
        CHECK((place.what == IwarpPlace::What::fpdus) == (frames[i].size() > 54));
        CHECK(place.first == 0);
        if (frames[i].size() > 54) CHECK(place.crc);
    }
    IwarpDialogue dialogue({});
    dialogue.connect();
    const Block one = dialogue.fpdu(a, ulpdu::send({.msn = 1}, pattern(500))),
                two = dialogue.fpdu(a, ulpdu::send({.msn = 2}, pattern(500)));
    const Block all = joined(one, two);
    dialogue.segment(a, Bytes(all).first(300));
    dialogue.segment(a, Bytes(all).subspan(300, 100));
    dialogue.segment(a, Bytes(all).subspan(400));
    const Followed cut = follow(dialogue.frames);
    CHECK(cut.episodes[kFramesOfSetUp].ulp.iwarp.first == 0);
    CHECK(cut.episodes[kFramesOfSetUp + 1].ulp.iwarp.what == IwarpPlace::What::none);
    CHECK(cut.episodes[kFramesOfSetUp + 2].ulp.iwarp.first == one.size() - 400);
}

TEST_CASE("the set-up is told as both ends said it") {
    IwarpDialogue dialogue({.crc = true, .markers = true, .revision = 2});
    dialogue.connect(hex("8010 4020 aabb"), hex("0008 0004"));
    ping(dialogue, 0);
    const Followed followed = follow(dialogue.frames);
    const auto& request = record(followed).way(a).set_up;
    REQUIRE(request);
    CHECK(request->revision == 2);
    CHECK(request->peer_to_peer);
    CHECK(request->ird == 16);
    CHECK(request->ord == 32);
    CHECK(request->private_data_bytes == 2);
    REQUIRE(record(followed).way(b).set_up);
    CHECK(record(followed).way(b).set_up->ird == 8);
    CHECK_FALSE(record(followed).way(b).set_up->rejected);
    check_pings(followed, 1);
}

TEST_CASE("SENDs are messages for upper protocols, whatever segments they came in") {
    IwarpDialogue dialogue({});
    dialogue.connect();
    const Block large = pattern(5000);
    for (std::uint32_t at = 0; at < 5000; at += 1000)
        dialogue.post(a, ulpdu::send({.msn = 1, .mo = at, .last = at == 4000}, Bytes(large).subspan(at, 1000)));
    dialogue.post(b, ulpdu::send({.msn = 1}, pattern(16)));
    dialogue.post(b, ulpdu::write(1, 2, true, pattern(16)));
    auto frames = dialogue.frames;
    std::swap(frames[kFramesOfSetUp + 1], frames[kFramesOfSetUp + 3]);
    const Followed followed = follow(frames, SIZE_MAX, {{1, UlpProtocol::lnet}});
    REQUIRE(followed.timeline.ulp.conversations.size() == 1);
    CHECK(followed.timeline.ulp.conversations[0].messages == 2);
    CHECK(followed.episodes.back().ulp.protocol == UlpProtocol::lnet);
    CHECK(followed.count(Verb::send, Outcome::completed) == 1);
    REQUIRE(followed.messages.size() == 3);
    CHECK(followed.messages[0].message.packets == 5);
    CHECK(followed.messages[0].message.bytes == 5000);
}

TEST_CASE("markers at other places, or left out, are found by the CRC") {
    for (const std::uint32_t shift : {0U, 4U, 100U, 508U}) {
        INFO("shift " << shift);
        const Followed followed = follow(pings({.markers = true, .marker_shift = shift}, 4).frames);
        check_pings(followed, 4);
        CHECK((record(followed).way(a).odd_markers != FrameIndex{}) == (shift != 0));
        CHECK(record(followed).way(a).markers);
        CHECK(record(followed).way(a).crc_bad + record(followed).way(b).crc_bad == 0);
    }
    const Followed none = follow(pings({.markers = true, .sends_markers = false}, 4).frames);
    check_pings(none, 4);
    CHECK(record(none).way(a).odd_markers != FrameIndex{});
    CHECK_FALSE(record(none).way(a).markers);
    CHECK(record(none).way(b).crc_bad == 0);
}

TEST_CASE("a wrong CRC moves no markers") {
    IwarpDialogue dialogue({.markers = true});
    dialogue.connect();
    Block first = dialogue.fpdu(a, ulpdu::send({}, pattern(900)));
    first[300] ^= std::byte{1};
    dialogue.segment(a, first);
    ping(dialogue, 0);
    const Followed followed = follow(dialogue.frames);
    CHECK(record(followed).way(a).crc_bad == 1);
    CHECK(record(followed).way(a).odd_markers == FrameIndex{});
    CHECK(followed.count(Verb::write, Outcome::completed) == 1);
}

namespace {

// A READ of `length` bytes whose request is in the byte order of its sender, and a response to `answered`.
Followed backward_read(std::uint32_t length, std::uint64_t answered) {
    IwarpDialogue dialogue({});
    dialogue.connect();
    const auto turned = [](auto value) { return std::byteswap(value); };
    for (std::uint32_t i = 0; i < 2; ++i) {
        dialogue.post(b, ulpdu::read_request(i + 1, {.sink = turned(std::uint32_t{0x22}),
                                                     .sink_offset = turned(std::uint64_t{0x2000}),
                                                     .length = turned(length),
                                                     .source = turned(std::uint32_t{0x11}),
                                                     .source_offset = turned(std::uint64_t{0x1000})}));
        dialogue.post(a, ulpdu::read_response(0x22, answered, true, pattern(length)));
    }
    dialogue.acknowledge(b);
    return follow(dialogue.frames);
}

}  // namespace

TEST_CASE("READ requests in the wrong byte order are read once a response proves it") {
    const Followed followed = backward_read(300, 0x2000);
    CHECK(followed.count(Verb::read_request, Outcome::completed) == 2);
    for (const Followed::Ended& ended : followed.messages) {
        CHECK(ended.message.access == RemoteAccess{0x1000, Rkey{0x11}, 300});
        CHECK(ended.message.bytes == 300);
    }
    CHECK(record(followed).way(b).turned_read == FrameIndex{7});
    CHECK(record(followed).way(a).turned_read == FrameIndex{});
    // A response to other memory proves nothing.
    const Followed strange = backward_read(300, 0x7000);
    CHECK(strange.count(Verb::read_request, Outcome::completed) == 0);
    CHECK(record(strange).way(b).turned_read == FrameIndex{});
    CHECK(record(follow(pings({}, 2).frames)).way(b).turned_read == FrameIndex{});
}

TEST_CASE("the set-up of MPA is an attempt at a connection") {
    const auto attempt_of = [](const IwarpDialogue& dialogue) {
        const Followed followed = follow(dialogue.frames);
        REQUIRE(followed.timeline.cm.attempts.size() == 1);
        REQUIRE(followed.timeline.connections.size() == 1);
        CHECK(followed.timeline.connections[0].cm_attempt == 0U);
        return followed.timeline.cm.attempts[0];
    };
    IwarpDialogue dialogue({.crc = true, .revision = 2});
    dialogue.connect(hex("8010 4020 aabb"), hex("0008 0004"));
    const CmAttempt open = attempt_of(dialogue);
    CHECK(open.service == CmService::iwarp);
    CHECK(open.outcome == CmOutcome::established);
    REQUIRE(open.ladder.size() == 2);
    CHECK(open.ladder[0].frame == FrameIndex{4});
    CHECK(open.ladder[0].from_active);
    CHECK(open.ladder[1].state == CmState::established);
    CHECK(open.setup_time() == Duration{1000});
    CHECK(open.active.mpa->ird == 16);
    CHECK(open.passive.mpa->ord == 4);
    CHECK(open.active.private_data.used == 2);
    dialogue.segment(a, {}, TcpFlags::fin | TcpFlags::ack);
    CHECK(attempt_of(dialogue).outcome == CmOutcome::disconnected);

    IwarpDialogue refused({});
    refused.connect({}, {}, true);
    const CmAttempt no = attempt_of(refused);
    CHECK(no.outcome == CmOutcome::rejected);
    CHECK_FALSE(no.rejection);  // MPA has no reasons

    IwarpDialogue silent({});
    silent.segment(a, silent.set_up(false, {}));
    CHECK(attempt_of(silent).outcome == CmOutcome::open);
    // In the middle nobody saw a set-up.
    IwarpDialogue middle = pings({}, 2);
    middle.frames.erase(middle.frames.begin(), middle.frames.begin() + kFramesOfSetUp);
    CHECK(follow(middle.frames).timeline.cm.attempts.empty());
}
