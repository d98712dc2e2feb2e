// TCP streams put in order, and cut into FPDUs, whatever the network and the capture did to them.
#include <tests/support/catch.hpp>
#include <tests/support/iwarp_dialogue.hpp>
#include <transport-replay/iwarp/fpdu_framer.hpp>
#include <transport-replay/iwarp/tcp_stream.hpp>

#include <algorithm>
#include <random>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::uint32_t kFirst = 0xffffff00;  // numbers wrap

TcpPiece piece(const Block& all, std::size_t at, std::size_t length, std::size_t captured = SIZE_MAX) {
    return {.seq = kFirst + static_cast<std::uint32_t>(at),
            .length = static_cast<std::uint32_t>(length),
            .bytes = slice(Bytes(all).subspan(at, length), 0, captured),
            .frame = FrameIndex{at + 1},
            .time = Instant{static_cast<std::int64_t>(at)}};
}

// All that comes out now: bytes, and what is missing as dots.
Block drained(TcpStream& stream) {
    Block out;
    while (const auto next = stream.next()) {
        out.insert(out.end(), next->missing, std::byte{'.'});
        out.insert(out.end(), next->bytes.begin(), next->bytes.end());
    }
    return out;
}

struct Cut {
    FpduFramer framer;
    std::vector<Fpdu> found;
    std::vector<Block> ulpdus;
    void take(const TcpPiece& piece) {
        framer.take(piece);
        while (const auto fpdu = framer.next()) {
            found.push_back(*fpdu);
            ulpdus.emplace_back(fpdu->ulpdu.begin(), fpdu->ulpdu.end());
        }
    }
};

// FPDUs of many lengths, back to back, and where each begins.
struct Stream {
    Block bytes;
    std::vector<Block> ulpdus;
    std::vector<std::size_t> begins;
    explicit Stream(bool crc, bool markers, std::size_t count = 60) {
        IwarpDialogue dialogue({.crc = crc, .markers = markers});
        for (std::size_t i = 0; i < count; ++i) {
            ulpdus.push_back(ulpdu::send({.msn = static_cast<std::uint32_t>(i + 1)},
                                         pattern(i * 37 % 1201, static_cast<std::uint8_t>(i))));
            begins.push_back(bytes.size());
            bytes = joined(bytes, dialogue.fpdu(End::a, ulpdus.back()));
        }
        begins.push_back(bytes.size());
    }
};

}  // namespace

TEST_CASE("segments in order come out as they are") {
    const Block all = pattern(100);
    TcpStream stream;
    CHECK(stream.add(piece(all, 0, 60)) == TcpArrival::in_order);
    CHECK(drained(stream) == Block(all.begin(), all.begin() + 60));
    CHECK(stream.add(piece(all, 60, 40)) == TcpArrival::in_order);
    CHECK(drained(stream) == Block(all.begin() + 60, all.end()));
    CHECK(stream.add(piece(all, 60, 40)) == TcpArrival::repeated);
    CHECK(stream.add(piece(all, 10, 30)) == TcpArrival::repeated);
    CHECK(drained(stream).empty());
    CHECK(stream.next_seq() == kFirst + 100);
}

TEST_CASE("what is ahead waits for what is before it, and overlaps come once") {
    const Block all = pattern(100);
    TcpStream stream;
    CHECK(stream.add(piece(all, 0, 10)) == TcpArrival::in_order);
    CHECK(drained(stream).size() == 10);
    CHECK(stream.add(piece(all, 50, 50)) == TcpArrival::ahead);
    CHECK(stream.add(piece(all, 30, 30)) == TcpArrival::late);  // fills a part of the gap
    CHECK(stream.add(piece(all, 30, 30)) == TcpArrival::repeated);
    CHECK(drained(stream).empty());
    CHECK(stream.held_bytes() == 80);
    CHECK(stream.add(piece(all, 5, 30)) == TcpArrival::late);
    CHECK(drained(stream) == Block(all.begin() + 10, all.end()));
    CHECK(stream.held_bytes() == 0);
}

TEST_CASE("what the other end acknowledged and the capture lacks is gone over") {
    const Block all = pattern(100);
    TcpStream stream;
    static_cast<void>(stream.add(piece(all, 0, 10)));
    static_cast<void>(drained(stream));
    static_cast<void>(stream.add(piece(all, 40, 60)));
    stream.acknowledged(kFirst + 10);
    CHECK(drained(stream).empty());
    stream.acknowledged(kFirst + 100);
    const Block out = drained(stream);
    CHECK(out.size() == 90);
    CHECK(out[29] == std::byte{'.'});
    CHECK(out[30] == all[40]);
}

TEST_CASE("what is held of a stream has a bound") {
    const Block all = pattern(1000);
    TcpStream stream;
    static_cast<void>(stream.add(piece(all, 0, 1)));
    static_cast<void>(drained(stream));
    std::size_t out = 0;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        TcpPiece one = piece(all, 0, 1000);
        one.seq = kFirst + 2000 + i * 2000;  // a hole before each
        static_cast<void>(stream.add(one));
        out += drained(stream).size();
        REQUIRE(stream.held_bytes() <= TcpStream::kMaxHeldBytes + 1000);
    }
    CHECK(out > 0);
}

TEST_CASE("any order of segments gives the stream") {
    std::mt19937 random(7);
    const Block all = pattern(20'000);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::pair<std::size_t, std::size_t>> cuts;
        for (std::size_t at = 0; at < all.size();) {
            const std::size_t length = std::min<std::size_t>(1 + random() % 700, all.size() - at);
            cuts.emplace_back(at, length);
            if (random() % 4 == 0 && at > 50) cuts.emplace_back(at - random() % 50, length);  // overlapping
            at += length;
        }
        for (std::size_t i = 1; i + 1 < cuts.size(); ++i)
            std::swap(cuts[i], cuts[std::min(cuts.size() - 1, i + random() % 5)]);
        if (cuts.front().first != 0)
            std::swap(cuts.front(),
                      *std::ranges::find(cuts, std::size_t{0}, &std::pair<std::size_t, std::size_t>::first));
        TcpStream stream;
        Block out;
        for (const auto& [at, length] : cuts) {
            static_cast<void>(stream.add(piece(all, at, length)));
            out = joined(out, drained(stream));
        }
        REQUIRE(out == all);
    }
}

TEST_CASE("FPDUs are found however segments cut them") {
    std::mt19937 random(11);
    for (const bool crc : {false, true})
        for (const bool markers : {false, true}) {
            const Stream stream(crc, markers);
            for (int round = 0; round < 30; ++round) {
                Cut cut;
                cut.framer.begin({.crc = crc, .markers = markers, .first = kFirst});
                const std::size_t most = round == 0 ? 1 : 1 + random() % 3000;
                for (std::size_t at = 0; at < stream.bytes.size();) {
                    const std::size_t length = std::min<std::size_t>(1 + random() % most, stream.bytes.size() - at);
                    cut.take(piece(stream.bytes, at, length));
                    at += length;
                }
                REQUIRE(cut.ulpdus == stream.ulpdus);
                for (std::size_t i = 0; i < cut.found.size(); ++i) {
                    CHECK(cut.found[i].crc == (crc ? CrcStatus::good : CrcStatus::not_applicable));
                    CHECK(cut.found[i].seq == kFirst + static_cast<std::uint32_t>(stream.begins[i]));
                    CHECK(cut.found[i].end == kFirst + static_cast<std::uint32_t>(stream.begins[i + 1]));
                }
            }
        }
}

TEST_CASE(
    "after a hole in an FPDU it goes on behind it, after a greater one at the next segment that begins with one") {
    for (const bool markers : {false, true})
        for (const bool crc : {false, true}) {
            const Stream stream(crc, markers, 40);
            for (std::size_t lost = 1; lost + 1 < stream.ulpdus.size(); ++lost) {
                Cut cut;
                cut.framer.begin({.crc = crc, .markers = markers, .first = kFirst});
                for (std::size_t i = 0; i < stream.ulpdus.size(); ++i) {
                    if (i == lost) continue;
                    TcpPiece next = piece(stream.bytes, stream.begins[i], stream.begins[i + 1] - stream.begins[i]);
                    if (i == lost + 1)
                        next.missing = static_cast<std::uint32_t>(stream.begins[i] - stream.begins[lost]);
                    cut.take(next);
                }
                auto expected = stream.ulpdus;
                expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(lost));
                REQUIRE(cut.ulpdus == expected);
                CHECK(cut.framer.lost_alignment() == 1);
            }
        }
    const Stream stream(true, false, 40);
    Cut cut;
    cut.framer.begin({.crc = true, .first = kFirst});
    const std::size_t last = stream.begins[40] - stream.begins[39];
    REQUIRE(last > 60);
    for (std::size_t i = 0; i < 39; ++i)
        cut.take(piece(stream.bytes, stream.begins[i], stream.begins[i + 1] - stream.begins[i]));
    cut.take(piece(stream.bytes, stream.begins[39], 30));
    TcpPiece rest = piece(stream.bytes, stream.begins[39] + 40, last - 40);
    rest.missing = 10;
    cut.take(rest);
    REQUIRE(cut.found.size() == 40);
    CHECK(cut.found.back().crc == CrcStatus::not_checkable);
    CHECK(cut.found.back().length == stream.ulpdus.back().size());
    CHECK(cut.ulpdus.back().size() == 28);
    CHECK(cut.framer.lost_alignment() == 0);
}

TEST_CASE("headers alone are enough to follow FPDUs that segments begin with") {
    for (const bool crc : {false, true}) {
        const Stream stream(crc, false);
        Cut cut;
        cut.framer.begin({.crc = crc, .first = kFirst});
        for (std::size_t i = 0; i < stream.ulpdus.size(); ++i)
            cut.take(piece(stream.bytes, stream.begins[i], stream.begins[i + 1] - stream.begins[i], 24));
        REQUIRE(cut.found.size() == stream.ulpdus.size());
        for (std::size_t i = 0; i < cut.found.size(); ++i) CHECK(cut.found[i].length == stream.ulpdus[i].size());
    }
}

TEST_CASE("a segment says itself whether it begins with an FPDU") {
    const Stream stream(true, false, 12);
    const Framing framing{.crc = true, .first = kFirst};
    const auto begins = [&](std::size_t at) {
        const auto length = static_cast<std::uint32_t>(stream.bytes.size() - at);
        return begins_fpdu(Bytes(stream.bytes).subspan(at), length, framing, kFirst + static_cast<std::uint32_t>(at));
    };
    for (std::size_t at = 0; at < stream.bytes.size(); ++at)
        CHECK(begins(at) == (std::ranges::find(stream.begins, at) != stream.begins.end()));
    std::mt19937 random(3);
    for (int i = 0; i < 20'000; ++i) {
        Block noise(64);
        for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
        noise[0] = std::byte{0};
        CHECK_FALSE(begins_fpdu(noise, 64, framing, kFirst));
    }
}

TEST_CASE("an FPDU that nobody can have sent loses the alignment, and noise is never more than noise") {
    std::mt19937 random(5);
    Cut cut;
    cut.framer.begin({.crc = true, .first = kFirst});
    Block noise(3000);
    for (int i = 0; i < 300; ++i) {
        for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
        cut.take(piece(noise, 0, noise.size()));
    }
    for (const Fpdu& found : cut.found) CHECK(found.crc != CrcStatus::good);
    CHECK(cut.framer.unread_bytes() > 0);
}

TEST_CASE("a Terminate about the set-up names the end that broke it, and what to compare") {
    using Catch::Matchers::Contains;
    // Flag A and an empty READ; neither.
    const Block wanted = {std::byte{0x80}, std::byte{4}, std::byte{0x40}, std::byte{4}},
                plain = {std::byte{0}, std::byte{4}, std::byte{0}, std::byte{4}};
    struct Said {
        End from;
        std::uint8_t layer, type, code;
        const Block& reply;
        Party party;
        std::string_view advice;
    };
    const std::array said{
        Said{End::a, 2, 0, 7, plain, Party::responder, "lacks the flag A of its request"},
        Said{End::a, 2, 0, 7, wanted, Party::responder, "Compare IRD, ORD and ready-to-receive messages (RTR)"},
        Said{End::a, 2, 0, 6, wanted, Party::responder, "Compare IRD, ORD"},
        Said{End::b, 2, 0, 6, wanted, Party::requester, "Compare IRD, ORD"},
        Said{End::b, 2, 0, 2, wanted, Party::fabric, "changes payload"},
        Said{End::b, 2, 0, 5, wanted, Party::responder, "failed locally"},
        Said{End::b, 1, 1, 0, wanted, Party::requester, "memory keys"}};
    for (const Said& each : said) {
        IwarpDialogue dialogue({.revision = 2});
        dialogue.connect(wanted, each.reply);
        dialogue.post(End::a, ulpdu::write(0, 0, true, {}));
        dialogue.post(each.from, ulpdu::terminate(each.layer, each.type, each.code));
        const Followed followed = follow(dialogue.frames);
        const auto found = std::ranges::find(followed.timeline.findings, "iwarp-terminated", &Finding::id);
        REQUIRE(found != followed.timeline.findings.end());
        const Finding& finding = *found;
        INFO(finding.summary << " / " << finding.advice);
        CHECK(finding.party == each.party);
        CHECK_THAT(finding.advice, Contains(std::string(each.advice)));
        CHECK(finding.packets.size() == (each.layer == 2 && each.code >= 6 ? 3 : 1));
    }
}
