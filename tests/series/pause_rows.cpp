// Who paused whom: two stations of one link that both ask for pauses, frames of both, and the ways that they can stop.
#include <dissect/capture/writer.hpp>
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/pause_rows.hpp>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

constexpr std::uint64_t kA = 0x0200000000aa, kB = 0x0200000000bb;

class Link {
public:
    Link() : writer_(CaptureWriter::open(path(), WriterFormat::pcap)) { REQUIRE(writer_); }
    [[nodiscard]] std::string path() const { return folder_.file("link.pcap"); }

    // XOFF, or XON where there are no quanta; priority 8: PAUSE.
    void pause(std::int64_t time, std::uint64_t from, unsigned priority, std::uint16_t quanta) {
        std::vector<std::byte> bytes(60);
        write_bits(bytes, 0, 48, 0x0180c2000001);
        write_bits(bytes, 48, 48, from);
        write_bits(bytes, 96, 16, 0x8808);
        write_bits(bytes, 112, 16, priority == 8 ? 0x0001 : 0x0101);
        if (priority == 8) {
            write_bits(bytes, 128, 16, quanta);
        } else {
            write_bits(bytes, 128, 16, 1U << priority);
            write_bits(bytes, 144 + 16 * priority, 16, quanta);
        }
        write(bytes, time);
    }
    // A SEND of priority 3 from one station to the other.
    void send(std::int64_t time, std::uint64_t from, std::uint64_t to, std::uint32_t psn) {
        PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
        spec.payload.resize(64);
        const bool forth = from == kA;
        set(spec, "eth.src", from);
        set(spec, "eth.dst", to);
        set(spec, "ip.src", forth ? 0x0a000001 : 0x0a000002);
        set(spec, "ip.dst", forth ? 0x0a000002 : 0x0a000001);
        set(spec, "infiniband.bth.destqp", forth ? 17 : 18);
        set(spec, "infiniband.bth.psn", psn);
        std::vector<std::byte> bytes = build(spec);
        const std::array tag{std::byte{0x81}, std::byte{0x00}, std::byte{0x60}, std::byte{0x05}};
        bytes.insert(bytes.begin() + 12, tag.begin(), tag.end());
        write(bytes, time);
    }
    [[nodiscard]] PauseRows rows() {
        REQUIRE(writer_->close());
        Indexing indexing;
        indexing.files = {path()};
        timeline_ = build_index(index_, indexing, {}).timeline;
        auto made = pause_rows(index_, timeline_);
        REQUIRE(made);
        return std::move(*made);
    }
    [[nodiscard]] const Timeline& timeline() const { return timeline_; }

private:
    void write(const std::vector<std::byte>& bytes, std::int64_t time) {
        Frame frame;
        frame.bytes = bytes;
        frame.wire_length = static_cast<std::uint32_t>(bytes.size());
        frame.link = LinkType::ethernet;
        frame.time = Instant{time};
        frame.has_time = true;
        REQUIRE(writer_->write(frame));
    }
    qps::test::TemporaryFolder folder_;
    std::expected<CaptureWriter, OutputProblem> writer_;
    CaptureIndex index_;
    Timeline timeline_;
};

}  // namespace

TEST_CASE("Each station that pauses has a row, with its own frames", "[series][pauses]") {
    Link link;
    link.send(0, kA, kB, 1);
    link.send(1000, kB, kA, 1);
    link.pause(10'000, kA, 3, 0xffff);
    link.pause(20'000, kB, 3, 0xffff);
    link.pause(30'000, kA, 3, 0xffff);
    link.pause(310'000, kA, 3, 0);
    link.pause(320'000, kB, 3, 0);
    link.pause(330'000, kB, 8, 0x100);
    link.send(400'000, kA, kB, 2);
    link.send(401'000, kB, kA, 2);
    const PauseRows made = link.rows();
    REQUIRE(made.rows.size() == 3);
    const PauseRow& a = made.rows[0];
    const PauseRow& b = made.rows[1];
    CHECK(a.summary.sender.bits[1] == kA);
    CHECK(b.summary.sender.bits[1] == kB);
    CHECK(made.rows[2].summary.priority == kWholeLink);
    REQUIRE(a.stops.size() == 2);
    CHECK(a.stops[0] == Point{Instant{10'000}, 0xffff, FrameIndex{3}});
    CHECK(a.stops[1].frame == FrameIndex{5});
    REQUIRE(a.resumes.size() == 1);
    CHECK(a.resumes[0].frame == FrameIndex{6});
    CHECK(b.stops.size() == 1);
    CHECK(b.resumes.size() == 1);
    CHECK(made.rows[2].stops[0].y == 0x100);
    REQUIRE(a.periods.size() == 1);
    CHECK(a.periods[0].ended == PauseEnd::resumed);
    CHECK(made.frames_unread == 0);
    CHECK(made.ways_unread == 0);
    // What goes to the station that paused, and nothing else.
    for (const PauseRow* row : {&a, &b}) {
        REQUIRE(row->ways.size() == 1);
        CHECK(row->ways[0].hit == PauseHit::yes);
        const Connection* connection = link.timeline().find(row->ways[0].connection);
        REQUIRE(connection != nullptr);
        const Endpoint& to = connection->end(other(row->ways[0].from));
        CHECK(to.address.bits[1] == (row == &a ? 0xffff0a000001 : 0xffff0a000002));
    }
}

TEST_CASE("Where no packet goes to who paused it is undecided what stops", "[series][pauses]") {
    Link link;
    link.send(0, kA, kB, 1);
    link.pause(10'000, 0x0200000000cc, 3, 0xffff);
    link.pause(20'000, 0x0200000000cc, 5, 0xffff);
    link.pause(310'000, 0x0200000000cc, 3, 0);
    link.pause(320'000, 0x0200000000cc, 5, 0);
    link.send(400'000, kA, kB, 2);
    const PauseRows made = link.rows();
    REQUIRE(made.rows.size() == 2);
    REQUIRE(made.rows[0].ways.size() == 1);
    CHECK(made.rows[0].ways[0].hit == PauseHit::perhaps);
    CHECK(made.rows[1].ways.empty());  // of another priority
}

TEST_CASE("Without pauses nothing is read again", "[series][pauses]") {
    const CaptureIndex index;
    const auto none = pause_rows(index, Timeline{}, [] { return true; });
    REQUIRE(none);
    CHECK(none->rows.empty());
}
