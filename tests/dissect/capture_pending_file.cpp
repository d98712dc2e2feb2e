// A file that takes its name when it is whole: what others left beside it, links, rights, and what is open already.
#include <dissect/capture/pending_file.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace qps;
using dissect::PendingFile;
using dissect::Readers;
using qps::test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

std::vector<std::byte> octets(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}
std::string content(const std::string& path) {
    const auto bytes = qps::test::read_file(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
void fill(PendingFile& file, std::string_view text) {
    const dissect::Descriptor open = file.take_descriptor();
    REQUIRE(::write(open.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}
unsigned mode_of(const std::string& path) { return static_cast<unsigned>(fs::status(path).permissions()); }

}  // namespace

TEST_CASE("what was there stays until a pending file is whole, and where it is given up") {
    const TemporaryFolder folder;
    const std::string path = folder.write("kept", octets("old"));
    {
        auto file = PendingFile::open(path);
        REQUIRE(file);
        fill(*file, "half");
        CHECK(content(path) == "old");
        CHECK(content(file->part()) == "half");
    }
    CHECK_FALSE(fs::exists(path + ".part"));
    CHECK(content(path) == "old");
    auto file = PendingFile::open(path);
    REQUIRE(file);
    fill(*file, "new");
    CHECK_FALSE(file->commit());
    CHECK(content(path) == "new");
    CHECK(file->part().empty());
    CHECK_FALSE(fs::exists(path + ".part"));
}

TEST_CASE("what others left beside a name is not touched, nor followed") {
    const TemporaryFolder folder;
    const std::string path = folder.file("kept"), victim = folder.write("victim", octets("theirs"));
    fs::create_symlink(victim, path + ".part");
    auto file = PendingFile::open(path);
    REQUIRE(file);
    CHECK(file->part() == path + ".part2");
    fill(*file, "new");
    CHECK_FALSE(file->commit());
    CHECK(content(victim) == "theirs");
    CHECK(fs::is_symlink(path + ".part"));
    CHECK(content(path) == "new");
}

TEST_CASE("a pending file has the rights of the one before, or its owner's alone where that is asked for") {
    const TemporaryFolder folder;
    for (const auto& [readers, expected] :
         {std::pair{Readers::as_usual, 0604U}, std::pair{Readers::owner_only, 0600U}}) {
        const std::string path = folder.write("kept", octets("old"));
        REQUIRE(chmod(path.c_str(), 0604) == 0);
        auto file = PendingFile::open(path, readers);
        REQUIRE(file);
        if (readers == Readers::owner_only) CHECK(mode_of(file->part()) == 0600);
        CHECK_FALSE(file->commit());
        CHECK(mode_of(path) == expected);
    }
    auto fresh = PendingFile::open(folder.file("fresh"), Readers::owner_only);
    REQUIRE(fresh);
    CHECK_FALSE(fresh->commit());
    CHECK(mode_of(folder.file("fresh")) == 0600);
}

TEST_CASE("links lead to the file that is replaced, also where there is none yet") {
    const TemporaryFolder folder;
    const std::string path = folder.file("far"), link = folder.file("link");
    fs::create_symlink(path, link);
    for (const std::string_view text : {"first", "second"}) {
        auto file = PendingFile::open(link);
        REQUIRE(file);
        fill(*file, text);
        CHECK_FALSE(file->commit());
        CHECK(fs::is_symlink(link));
        CHECK(content(path) == text);
    }
    CHECK(dissect::same_output(path, link));
    CHECK(dissect::same_output(folder.file("none"), folder.path() + "/./none"));
    CHECK_FALSE(dissect::same_output(path, folder.file("none")));
    CHECK(dissect::same_output("-", "/dev/stdout"));
}

TEST_CASE("devices and what is open already are written directly, and a folder is refused") {
    const TemporaryFolder folder;
    const std::string path = folder.write("kept", octets("old"));
    const int open_file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    REQUIRE(open_file >= 0);
    for (const std::string& name : {std::string("/dev/null"), "/dev/fd/" + std::to_string(open_file),
                                    "/proc/self/fd/" + std::to_string(open_file)}) {
        auto file = PendingFile::open(name);
        REQUIRE(file);
        CHECK(file->part().empty());
        fill(*file, "+");
        CHECK_FALSE(file->commit());
    }
    ::close(open_file);
    CHECK(content(path) == "old++");
    CHECK(PendingFile::open("/dev/fd/" + std::to_string(open_file)).error() == std::errc::bad_file_descriptor);
    CHECK(PendingFile::open(folder.path()).error() == std::errc::is_a_directory);
    CHECK(PendingFile::open(folder.file("no/such/folder")).error() == std::errc::no_such_file_or_directory);
}
