// The floor: what any analyser that checks every ICRC must do at least. Maps a pcap file, walks its records and takes
// the CRC-32 of every frame, no more:  bench_floor FILE [ROUNDS]
//
// Prints packets, best and median seconds. For files that bench_generate wrote: it trusts lengths only as far as the
// map goes.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/crc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

constexpr std::size_t kFileHeader = 24;
constexpr std::size_t kRecordHeader = 16;

struct Walk {
    std::uint64_t packets = 0;
    std::uint64_t crcs = 0;  // their sum, so that none can be left out
};

Walk walk(std::span<const std::uint8_t> file) {
    Walk walk;
    std::size_t at = kFileHeader;
    while (at + kRecordHeader <= file.size()) {
        std::uint32_t length = 0;
        std::memcpy(&length, file.data() + at + 8, sizeof length);
        at += kRecordHeader;
        if (length > file.size() - at) break;
        walk.crcs += crc32_gzip_refl(0, file.data() + at, length);
        ++walk.packets;
        at += length;
    }
    return walk;
}

bool walk_file(const char* path, Walk& result) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (fd < 0 || ::fstat(fd, &status) != 0) return false;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    ::close(fd);
    if (map == MAP_FAILED) return false;
    ::madvise(map, size, MADV_SEQUENTIAL);
    result = walk({static_cast<const std::uint8_t*>(map), size});
    ::munmap(map, size);
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    std::size_t rounds = 1;
    if (argc > 2) {
        const std::string_view text = arguments[2];
        std::from_chars(text.begin(), text.end(), rounds);
    }
    if (argc < 2 || rounds == 0) {
        fmt::print(stderr, "usage: bench_floor FILE [ROUNDS]\n");
        return 2;
    }
    std::vector<double> seconds;
    Walk result;
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto start = std::chrono::steady_clock::now();
        if (!walk_file(arguments[1], result)) {
            fmt::print(stderr, "bench_floor: cannot read {}\n", arguments[1]);
            return 1;
        }
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::ranges::sort(seconds);
    fmt::print("packets={} best={:.6f} median={:.6f} crcs={:x}\n", result.packets, seconds.front(),
               seconds[seconds.size() / 2], result.crcs);
    return 0;
}
