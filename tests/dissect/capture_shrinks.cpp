// A capture that somebody truncates while it is read: what was there is read, what is gone is said, and nobody is
// killed.
#include <dissect/capture/capture_file.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <csignal>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

using namespace qps::dissect;
using namespace qps::test;

namespace {

constexpr std::size_t kRecord = 1000, kRecordHeader = 16, kFileHeader = 24;
constexpr std::size_t kFrames = 20'000;  // five batches and 20 MB

std::vector<std::byte> long_capture() {
    std::vector<std::byte> file(kFileHeader + kFrames * (kRecordHeader + kRecord));
    const auto little = [&](std::size_t at, std::uint32_t value) {
        for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<std::byte>(value >> (8 * i));
    };
    little(0, 0xa1b2c3d4), little(4, 0x00040002), little(16, 262144), little(20, 1);
    for (std::size_t i = 0; i < kFrames; ++i) {
        const std::size_t at = kFileHeader + i * (kRecordHeader + kRecord);
        little(at, static_cast<std::uint32_t>(i)), little(at + 8, kRecord), little(at + 12, kRecord);
        file[at + kRecordHeader] = std::byte{1};
    }
    return file;
}

}  // namespace

TEST_CASE("a file that is truncated while it is read is read as far as it is there") {
    const TemporaryFolder folder;
    const std::string path = folder.write("shrinks.pcap", long_capture());
    constexpr std::size_t kLeft =
        kFileHeader + kFrames / 2 * (kRecordHeader + kRecord) + 100;  // not the end of a page, nor of a record
    auto file = CaptureFile::open(path);
    REQUIRE(file);
    Batch batch;
    REQUIRE(file->read(batch));
    std::size_t frames = batch.frames.size();
    REQUIRE(frames < kFrames / 2);
    std::filesystem::resize_file(path, kLeft);
    std::size_t wrong = 0;
    while (file->read(batch)) {
        frames += batch.frames.size();
        for (const Frame& frame : batch.frames)
            wrong += frame.bytes.size() != kRecord || frame.bytes[0] != std::byte{1} ? 1U : 0U;
    }
    CHECK(wrong == 0);
    CHECK(frames == kFrames / 2);
    CHECK(file->problem().kind == InputProblemKind::damaged);
    CHECK(file->problem().sentence == "the file was truncated while it was read");
    CHECK(file->problem().offset == kLeft);
}

TEST_CASE("who asks is told which frames of a batch are in the file yet") {
    const TemporaryFolder folder;
    const std::string path = folder.write("shrinks.pcap", long_capture());
    auto file = CaptureFile::open(path);
    REQUIRE(file);
    Batch batch;
    REQUIRE(file->read(batch));
    REQUIRE(batch.frames.size() > 100);
    CHECK(file->still_there(batch.frames) == batch.frames.size());
    constexpr std::size_t kLeft = 70;  // frames; of the next one all but its last byte
    std::filesystem::resize_file(
        path, kFileHeader + (kLeft + 1) * (kRecordHeader + kRecord) - 1);  // nobody has looked at them yet
    CHECK(file->still_there(batch.frames) == kLeft);
    CHECK(file->still_there(std::span(batch.frames).subspan(kLeft, 1)) == 0);
    CHECK(file->problem().sentence == "the file was truncated while it was read");
    CHECK_FALSE(file->read(batch));
}

TEST_CASE("who looks at a frame after its file was truncated sees zeros, and the file says so") {
    const TemporaryFolder folder;
    const std::string path = folder.write("shrinks.pcap", long_capture());
    auto file = CaptureFile::open(path);
    REQUIRE(file);
    Batch batch;
    REQUIRE(file->read(batch));
    std::filesystem::resize_file(path, 0);
    unsigned sum = 0;
    for (const Frame& frame : batch.frames)
        for (const std::byte byte : frame.bytes) sum += std::to_integer<unsigned>(byte);
    CHECK(sum <= batch.frames.size());
    CHECK(file->problem().kind == InputProblemKind::damaged);
    CHECK_FALSE(file->read(batch));
    // The next file has nothing of it.
    const std::string other = folder.write("whole.pcap", long_capture());
    auto whole = CaptureFile::open(other);
    REQUIRE(whole);
    std::size_t frames = 0;
    while (whole->read(batch)) frames += batch.frames.size();
    CHECK(frames == kFrames);
    CHECK(whole->problem().sentence.empty());
}

TEST_CASE("another SIGBUS ends the process as it always did") {
    const TemporaryFolder folder;
    auto file = CaptureFile::open(folder.write("whole.pcap", long_capture()));  // the handler is there
    REQUIRE(file);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::raise(SIGBUS);
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK_FALSE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
