// Captures made to harm their reader, and files that change while they are open.
#include <dissect/capture/capture_file.hpp>
#include <dissect/capture/writer.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/moved_capture.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/index/row_filter.hpp>
#include <transport-replay/model/timeline.hpp>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/resource.h>

using namespace qps::dissect;
using namespace qps::transport;
using qps::test::TemporaryFolder;

namespace {

const std::string kLossy = QPSCOPE_SOURCE_DIR "/captures/loss_write/capture.pcap";

Indexed index_into(CaptureIndex& index, std::vector<std::string> files, const std::string& spool) {
    return build_index(index, {.files = std::move(files), .jobs = {1}, .spool_folder = spool}, {});
}

// How many packets can still be read.
std::uint64_t readable(const std::shared_ptr<const CaptureIndex>& index) {
    PacketReader reader(index);
    std::uint64_t count = 0;
    for (std::uint64_t number = 1; number <= index->packets.size(); ++number)
        count += reader.read(FrameIndex{number}) != nullptr;
    return count;
}

// Little-endian numbers.
class Bytes32 {
public:
    Bytes32& operator()(std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) all.push_back(static_cast<std::byte>(value >> (8 * i)));
        return *this;
    }
    std::vector<std::byte> all;
};

// A section with one interface of a link type and one packet of four bytes.
void append_section(Bytes32& out, LinkType link) {
    out(0x0a0d0d0a, 4)(28, 4)(0x1a2b3c4d, 4)(1, 2)(0, 2)(~std::uint64_t{0}, 8)(28, 4);
    out(1, 4)(20, 4)(std::to_underlying(link), 2)(0, 2)(0, 4)(20, 4);
    out(6, 4)(36, 4)(0, 4)(0, 8)(4, 4)(4, 4)(0, 4)(36, 4);
}

// Files that grow past a size are full, for as long as it lives.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_);
    }

private:
    void (*signal_)(int);
    rlimit before_{};
};

}  // namespace

TEST_CASE("messages of a packet whose row is not there yet are not those of the one before") {
    CaptureIndex index;
    Message message;
    message.first_frame = message.last_frame = FrameIndex{1};
    message.outcome = Outcome::sent;
    PacketRecord record;
    record.completed = 1;
    // As the indexer writes: messages, then what refers to them, then the packet.
    index.messages.append(MessageRow(ConnectionId{1}, End::a, message));
    index.endings.append({0, 0, 1});
    index.packets.append(PacketRow(0, 0, {}, record));
    index.messages.append(MessageRow(ConnectionId{1}, End::a, message));  // of the second packet
    CHECK(index.annotation(FrameIndex{1}).messages_completed == 1);
}

TEST_CASE("who reads an index while it grows is told what it says in the end") {
    const TemporaryFolder folder;
    const auto index = std::make_shared<CaptureIndex>();
    const Filter filter = *Filter::compile("rdma.message.completed or rdma.psn_missing");
    std::atomic<bool> done = false;
    std::vector<std::uint64_t> completed;  // by packet, as soon as it is there
    std::vector<bool> passed;
    std::thread reader([&] {
        const RowFilter rows(index, filter, {});
        PacketReader packets(index);
        for (bool last = false; !last;) {
            last = done;
            while (completed.size() < index->packets.size()) {
                const FrameIndex frame{completed.size() + 1};
                completed.push_back(index->annotation(frame).messages_completed);
                passed.push_back(rows.matches(frame, packets));
            }
        }
    });
    static_cast<void>(index_into(*index, {kLossy, kLossy, kLossy}, folder.path()));
    done = true;
    reader.join();
    REQUIRE(completed.size() == index->packets.size());
    const RowFilter rows(index, filter, {});
    PacketReader packets(index);
    for (std::uint64_t number = 1; number <= completed.size(); ++number) {
        REQUIRE(completed[number - 1] == index->annotation(FrameIndex{number}).messages_completed);
        REQUIRE(passed[number - 1] == rows.matches(FrameIndex{number}, packets));
    }
}

TEST_CASE("packets of sections past those that are kept are read as what they are, or not at all") {
    const TemporaryFolder folder;
    Bytes32 out;
    for (std::size_t i = 0; i < kMaxSections; ++i) append_section(out, LinkType::ethernet);
    for (std::size_t i = 0; i < 5000; ++i)
        append_section(out, LinkType::raw_ip);  // in another batch than the last ones that are kept
    const auto index = std::make_shared<CaptureIndex>();
    static_cast<void>(index_into(*index, {folder.write("sections.pcapng", out.all)}, folder.path()));
    REQUIRE(index->packets.size() == kMaxSections + 5000);
    FrameBuffer buffer;
    for (std::uint64_t number = 1; number <= index->packets.size(); ++number) {
        const auto frame = index->frame(FrameIndex{number}, buffer);
        if (number < kMaxSections) REQUIRE(frame.has_value());
        if (frame) REQUIRE(frame->link == (number <= kMaxSections ? LinkType::ethernet : LinkType::raw_ip));
    }
}

TEST_CASE("a file that is cut or overwritten while it is open gives fewer packets and does no harm") {
    const TemporaryFolder folder;
    const auto bytes = qps::test::read_file(kLossy);
    const std::string path = folder.write("changes.pcap", bytes);
    const auto index = std::make_shared<CaptureIndex>();
    REQUIRE(index_into(*index, {path}, folder.path()).problems.empty());
    const std::uint64_t all = index->packets.size();
    CHECK(readable(index) == all);

    SECTION("replaced: what was opened is still there") {
        std::filesystem::remove(path);
        static_cast<void>(folder.write("changes.pcap", std::span(bytes).first(24)));
        CHECK(readable(index) == all);
    }
    SECTION("cut") {
        std::filesystem::resize_file(path, bytes.size() / 2);
        const std::uint64_t left = readable(index);
        CHECK(left > 0);
        CHECK(left < all);
    }
    SECTION("overwritten: lengths that reach to the end of the address space") {
        const std::vector<std::byte> ones(bytes.size(), std::byte{0xff});
        std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
            .write(reinterpret_cast<const char*>(ones.data()), static_cast<std::streamsize>(ones.size()));
        CHECK(readable(index) == 0);
    }
    const RowFilter filter(index, *Filter::compile("ip and infiniband.bth.psn > 3"), {});
    PacketReader reader(index);
    for (std::uint64_t number = 1; number <= all; ++number)
        static_cast<void>(filter.matches(FrameIndex{number}, reader));
}

TEST_CASE("a spool that the disk does not take ends what can be shown, not the analysis") {
    const TemporaryFolder folder;
    const std::string packed = folder.file("capture.pcap.gz");
    REQUIRE(std::system(("gzip -c '" + kLossy + "' > '" + packed + "'").c_str()) == 0);
    const auto index = std::make_shared<CaptureIndex>();
    Indexed outcome;
    {
        const FullDisk full(100'000);
        outcome = index_into(*index, {packed}, folder.path());
    }
    REQUIRE(outcome.problems.size() == 1);
    CHECK_THAT(outcome.problems[0].sentence, Catch::Contains("cannot be shown"));
    CHECK(outcome.timeline.packets == index->packets.size());
    const std::uint64_t left = readable(index);
    CHECK(left > 0);
    CHECK(left < index->packets.size());
}

TEST_CASE("a folder that takes no spool is told, and other files are read") {
    const TemporaryFolder folder;
    const std::string packed = folder.file("capture.pcap.gz");
    REQUIRE(std::system(("gzip -c '" + kLossy + "' > '" + packed + "'").c_str()) == 0);
    CaptureIndex index;
    const Indexed outcome = index_into(index, {packed, kLossy}, folder.file("missing"));
    REQUIRE(outcome.problems.size() == 1);
    CHECK(outcome.problems[0].file == packed);
    CHECK(index.packets.size() > 0);
    CHECK(index.files().size() == 1);
}

TEST_CASE("files past the most an index can tell apart are told, and not mixed up with the first") {
    const TemporaryFolder folder;
    const std::string path = QPSCOPE_SOURCE_DIR "/captures/err_rnr/capture.pcap";
    std::vector<std::string> many;
    for (std::uint32_t i = 0; i < PacketRow::kMaxFiles + 2; ++i)
        many.push_back(qps::test::copied_later(path, folder.file("piece" + std::to_string(i)), 60 * i));
    const auto index = std::make_shared<CaptureIndex>();
    const Indexed outcome = index_into(*index, many, folder.path());
    // Each keeps a descriptor: the system may have fewer than that.
    CHECK(index->files().size() <= PacketRow::kMaxFiles);
    CHECK(index->files().size() + outcome.problems.size() == many.size());
    CHECK(outcome.problems.size() >= 2);
    CHECK(readable(index) == index->packets.size());
}

TEST_CASE("what a message row cannot hold stops at the most it can") {
    Message message;
    message.first_frame = FrameIndex{1};
    message.last_frame = FrameIndex{(1U << 24) + 5};
    message.answer_frame = FrameIndex{(std::uint64_t{1} << 32) + 5};
    message.bytes = (std::uint64_t{1} << 32) + 7;
    message.retransmissions = 300;
    const MessageRow row(ConnectionId{1}, End::b, message);
    CHECK(row.last_frame() == FrameIndex{1 << 24});
    CHECK_FALSE(row.answer_frame().has_value());
    CHECK(row.bytes() == UINT32_MAX);
    CHECK(row.retransmissions() == 255);
}

TEST_CASE("rows take no more than their part of the memory, and what has none is analysed and counted") {
    const TemporaryFolder folder;
    constexpr MemoryBudget kMemory{32 << 10};
    const std::uint64_t rows = bytes_of_rows(kMemory);
    CHECK(rows <= kMemory.bytes() / 2);
    const auto whole = std::make_shared<CaptureIndex>();
    const Indexed all = index_into(*whole, {kLossy}, folder.path());
    REQUIRE(whole->bytes() > 2 * rows);
    const auto index = std::make_shared<CaptureIndex>();
    const Indexed some =
        build_index(*index, {.files = {kLossy}, .jobs = {1}, .spool_folder = folder.path(), .memory = kMemory}, {});
    CHECK(index->bytes() >= rows);
    CHECK(index->bytes() < rows + 1024);
    CHECK(some.left_out != 0);
    CHECK(some.left_out + index->packets.size() == whole->packets.size());
    CHECK(some.messages_left_out != 0);
    CHECK(some.timeline.packets == all.timeline.packets);
    CHECK(readable(index) == index->packets.size());
    std::uint64_t ended = 0;
    for (std::uint64_t number = 1; number <= index->packets.size(); ++number) {
        const auto [first, last] = index->ended_by(FrameIndex{number});
        CHECK(index->annotation(FrameIndex{number}).messages_completed <= last - first);
        ended += last - first;
    }
    CHECK(ended == index->messages.size());  // no message is of a packet that is not there
    // Nor is a copy made of what has no row: a capture that goes on for days does not fill the disk.
    const std::string packed = folder.file("capture.pcap.gz");
    REQUIRE(std::system(("gzip -c '" + kLossy + "' > '" + packed + "'").c_str()) == 0);
    const auto copied = std::make_shared<CaptureIndex>();
    const auto copied_whole = std::make_shared<CaptureIndex>();
    const Indexed cut =
        build_index(*copied, {.files = {packed}, .jobs = {1}, .spool_folder = folder.path(), .memory = kMemory}, {});
    static_cast<void>(index_into(*copied_whole, {packed}, folder.path()));
    REQUIRE((copied->spool(0) != nullptr && copied_whole->spool(0) != nullptr));
    CHECK(cut.left_out == some.left_out);
    CHECK(copied->spool(0)->bytes() < copied_whole->spool(0)->bytes());
    CHECK(readable(copied) == copied->packets.size());
    CHECK(all.left_out == 0);
    CHECK(all.messages_left_out == 0);
}
