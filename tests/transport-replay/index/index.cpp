// The index of a capture: its rows say what the packets themselves and the analysis say, and packets are found again.
#include <dissect/capture/capture_file.hpp>
#include <dissect/capture/writer.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/moved_capture.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/analysis/annotator.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/index/restored_message.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/verbs.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

std::shared_ptr<CaptureIndex> indexed(const std::vector<std::string>& files, const std::string& spool,
                                      std::size_t jobs = 2, Indexed* outcome = nullptr) {
    auto index = std::make_shared<CaptureIndex>();
    Indexed made = build_index(*index, {.files = files, .jobs = {jobs}, .spool_folder = spool}, {});
    if (outcome != nullptr) *outcome = std::move(made);
    else CHECK(made.problems.empty());
    return index;
}

// Two accounts of the same packet.
void check_same(const Packet& read, const Packet& stored, const Annotation& annotation) {
    CAPTURE(std::to_underlying(stored.frame.index));
    CHECK(std::ranges::equal(read.frame.bytes, stored.frame.bytes));
    CHECK(read.frame.index == stored.frame.index);
    CHECK(read.frame.time == stored.frame.time);
    CHECK(read.frame.elapsed == stored.frame.elapsed);
    CHECK(read.frame.has_time == stored.frame.has_time);
    CHECK(read.frame.wire_length == stored.frame.wire_length);
    CHECK(read.frame.link == stored.frame.link);
    CHECK(read.layer_count == stored.layer_count);
    REQUIRE(read.annotation != nullptr);
    CHECK(read.annotation->connection == annotation.connection);
    CHECK(read.annotation->from == annotation.from);
    CHECK(read.annotation->arrival == annotation.arrival);
    CHECK(read.annotation->retransmission == annotation.retransmission);
    CHECK(read.annotation->duplicated == annotation.duplicated);
    CHECK(read.annotation->mirror_copy == annotation.mirror_copy);
    CHECK(read.annotation->unmatched == annotation.unmatched);
    CHECK(read.annotation->psn_missing == annotation.psn_missing);
    CHECK(read.annotation->messages_completed == annotation.messages_completed);
    CHECK(read.annotation->latency == annotation.latency);
}

// What the rows and the packets of an index say, beside a walk over the file from its beginning.
void check_index(const std::shared_ptr<CaptureIndex>& index, const std::string& path) {
    Annotator annotator;
    PacketReader reader(index);
    std::uint64_t packets = 0;
    qps::tests::for_each_packet(path, [&](Packet& packet) {
        ++packets;
        annotator.annotate(packet);
        const Packet* read = reader.read(packet.frame.index);
        REQUIRE(read != nullptr);
        check_same(*read, packet, *packet.annotation);
        const PacketRow& row = index->row(packet.frame.index);
        CHECK(row.wire_length() == packet.frame.wire_bytes());
        if (row.kind() != ObservationKind::transport) return;
        CHECK(row.opcode() == packet.opcode);
        CHECK(row.psn() == packet.psn);
        CHECK(row.dest_qp() == packet.dest_qp);
        CHECK(row.icrc() == packet.icrc.status);
        CHECK(row.encapsulation() == packet.encapsulation);
        CHECK(row.payload_length() == packet.payload.length);
    });
    CHECK(index->packets.size() == packets);
}

}  // namespace

TEST_CASE("an index says of every packet of every sample what a walk over the file says") {
    const qps::test::TemporaryFolder folder;
    for (const std::string& path : qps::tests::sample_captures()) {
        DYNAMIC_SECTION(path) { check_index(indexed({path}, folder.path()), path); }
    }
}

TEST_CASE("a message that is restored is of the kind that its row says, with immediate data too") {
    const qps::test::TemporaryFolder folder;
    std::size_t with_immediate = 0;
    for (const std::string& path : qps::tests::sample_captures()) {
        CaptureIndex index;
        static_cast<void>(build_index(index, {.files = {path}, .jobs = {1}, .spool_folder = folder.path()}, {}));
        for (std::uint64_t at = 0; at < index.messages.size(); ++at) {
            const PacketRow& first = index.row(index.messages[at].first_frame());
            if (first.kind() != ObservationKind::transport) continue;
            const Message message = restored(index, index.messages[at]);
            INFO(path << ", message " << at);
            CHECK(kind_of(message) == index.messages[at].kind());
            if (!message.has_immediate()) continue;
            ++with_immediate;
            CHECK(verb_text(message).ends_with("+imm"));
        }
    }
    CHECK(with_immediate > 20);
}

TEST_CASE("what comes compressed is kept in a spool that has no name") {
    const qps::test::TemporaryFolder folder;
    const std::string path = QPSCOPE_SOURCE_DIR "/captures/loss_write/capture.pcap";
    const std::string packed = folder.file("capture.pcap.gz");
    REQUIRE(std::system(("gzip -c '" + path + "' > '" + packed + "'").c_str()) == 0);
    auto index = indexed({packed}, folder.path());
    REQUIRE(index->files().size() == 1);
    CHECK(index->files()[0].spooled);
    check_index(index, path);
    // It has no name any more, so that nothing is left behind however the program ends.
    const auto files = std::filesystem::directory_iterator(folder.path());
    CHECK(std::distance(begin(files), end(files)) == 1);
}

TEST_CASE("an index does not depend on the number of threads") {
    const qps::test::TemporaryFolder folder;
    const std::string path = QPSCOPE_SOURCE_DIR "/captures/loss_write/capture.pcap";
    const auto one = indexed({path}, folder.path(), 1);
    const auto four = indexed({path}, folder.path(), 4);
    REQUIRE(one->packets.size() == four->packets.size());
    for (std::uint64_t at = 0; at < one->packets.size(); ++at)
        REQUIRE(std::memcmp(&one->packets[at], &four->packets[at], sizeof(PacketRow)) == 0);
    REQUIRE(one->messages.size() == four->messages.size());
    for (std::uint64_t at = 0; at < one->messages.size(); ++at)
        REQUIRE(std::memcmp(&one->messages[at], &four->messages[at], sizeof(MessageRow)) == 0);
}

TEST_CASE("several files are one capture, numbered on") {
    const qps::test::TemporaryFolder folder;
    const std::string path = QPSCOPE_SOURCE_DIR "/captures/err_rnr/capture.pcap";
    Indexed outcome;
    const std::string later = qps::test::copied_later(path, folder.file("later.pcap"), 60);
    const auto index = indexed({path, folder.file("missing"), later}, folder.path(), 2, &outcome);
    CHECK(index->packets.size() == 64);
    REQUIRE(outcome.problems.size() == 1);
    CHECK(outcome.problems[0].file == folder.file("missing"));
    REQUIRE(index->files().size() == 2);
    CHECK(index->files()[1].first == FrameIndex{33});
    PacketReader reader(index);
    const Packet* first = reader.read(FrameIndex{33});
    REQUIRE(first != nullptr);
    CHECK(first->frame.elapsed == Duration{60'000'000'000});  // since the first packet of all
    CHECK(outcome.timeline.packets == 64);
}

TEST_CASE("how far several files are is told of all of them together") {
    const std::string path = QPSCOPE_SOURCE_DIR "/captures/err_rnr/capture.pcap";
    const std::uint64_t size = std::filesystem::file_size(path);
    CaptureIndex index;
    std::vector<std::uint64_t> done;
    const Indexed outcome = build_index(index, {.files = {path, path, path}, .jobs = {1}, .spool_folder = "/tmp"},
                                        {.progressed = [&](std::uint64_t bytes, std::optional<std::uint64_t> all) {
                                            REQUIRE(all == 3 * size);
                                            done.push_back(bytes);
                                        }});
    CHECK(outcome.problems.empty());
    CHECK(std::ranges::is_sorted(done));
    REQUIRE_FALSE(done.empty());
    CHECK(done.back() == 3 * size);
}

TEST_CASE("a damaged file is there up to the damage") {
    const qps::test::TemporaryFolder folder;
    std::vector<std::byte> bytes = qps::test::read_file(QPSCOPE_SOURCE_DIR "/captures/err_rnr/capture.pcap");
    bytes.resize(bytes.size() - 7);
    Indexed outcome;
    const auto index = indexed({folder.write("cut.pcap", bytes)}, folder.path(), 2, &outcome);
    CHECK(index->packets.size() == 31);
    REQUIRE(outcome.problems.size() == 1);
    CHECK(outcome.problems[0].kind == InputProblemKind::damaged);
}

TEST_CASE("indexing stops when it is told, and shows what it knows on the way") {
    const qps::test::TemporaryFolder folder;
    CaptureIndex index;
    int asked = 0;
    int shown = 0;
    const Indexed outcome = build_index(
        index,
        {.files = {QPSCOPE_SOURCE_DIR "/captures/loss_write/capture.pcap"}, .jobs = {1}, .spool_folder = folder.path()},
        {.stopped = [&] { return ++asked > 3; },
         .wants_timeline = [] { return true; },
         .timeline = [&](Timeline&& so_far) { shown += so_far.packets == index.packets.size(); }});
    CHECK(outcome.stopped);
    CHECK(shown > 0);
    CHECK(outcome.timeline.packets == index.packets.size());
}

TEST_CASE("what several threads index is what one does, and what is shown on the way is what was read") {
    const qps::test::TemporaryFolder folder;
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        Indexed first;
        const auto one = indexed({path}, folder.path(), 1, &first);
        for (const std::size_t jobs : {2U, 5U}) {
            CaptureIndex index;
            std::size_t shown = 0, wrong = 0;
            const Indexed outcome = build_index(index, {.files = {path}, .jobs = {jobs}, .spool_folder = folder.path()},
                                                {.wants_timeline = [] { return true; },
                                                 .timeline =
                                                     [&](Timeline&& so_far) {
                                                         ++shown;
                                                         wrong += so_far.packets != index.packets.size();
                                                     }});
            CHECK_FALSE(outcome.over);
            CHECK(shown > 0);
            CHECK(wrong == 0);
            CHECK(outcome.timeline.findings.size() == first.timeline.findings.size());
            REQUIRE(index.packets.size() == one->packets.size());
            REQUIRE(index.messages.size() == one->messages.size());
            REQUIRE(index.operations.size() == one->operations.size());
            for (std::uint64_t at = 0; at < index.packets.size(); ++at)
                CHECK(std::memcmp(&index.packets[at], &one->packets[at], sizeof(PacketRow)) == 0);
        }
    }
}

TEST_CASE("where several threads need more memory than there is, one reads again") {
    const qps::test::TemporaryFolder folder;
    // Two readings at most: of one lane, nobody needs more than there is.
    const Indexing first{.files = {QPSCOPE_SOURCE_DIR "/captures/multi_qp/capture.pcap"},
                         .jobs = {4},
                         .spool_folder = folder.path(),
                         .memory = MemoryBudget{64 << 10}};
    CaptureIndex index;
    const Indexed outcome = build_index(index, first, {});
    REQUIRE(outcome.over);
    const auto second = second_reading(first, outcome);
    REQUIRE(second);
    CHECK(second->one_lane);
    CaptureIndex again;
    const Indexed whole = build_index(again, *second, {});
    CHECK_FALSE(whole.over);
    CHECK_FALSE(second_reading(*second, whole));
    Indexing alone = first;
    alone.jobs = {1};
    CaptureIndex by_one;
    const Indexed expected = build_index(by_one, alone, {});
    CHECK_FALSE(expected.over);
    CHECK(again.packets.size() == by_one.packets.size());
    CHECK(whole.timeline.connections.size() == expected.timeline.connections.size());
    const ReadIndex read = read_index(first, {});
    CHECK(read.outcome.timeline.connections.size() == expected.timeline.connections.size());
    CHECK(read.index->packets.size() == by_one.packets.size());
}
