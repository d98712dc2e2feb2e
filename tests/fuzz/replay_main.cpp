// A plain main for a fuzzer: replays the files, and the files below the folders, that it is given.
//
// Each input is copied into a heap block of exactly its size, so that AddressSanitizer sees a read one byte too far.
// A folder that does not exist holds no inputs; a file that cannot be read is an error.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <span>

#include <fmt/format.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

[[nodiscard]] bool replay(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return false;
    const std::streamoff size = file.tellg();
    if (size < 0) return false;
    const auto count = static_cast<std::size_t>(size);
    const auto block = std::make_unique_for_overwrite<char[]>(count);
    file.seekg(0);
    file.read(block.get(), size);
    if (file.gcount() != size) return false;
    // bytes are characters here and integers there; the standard lets either alias the other
    static_cast<void>(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(block.get()), count));
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t replayed = 0;
    std::size_t unreadable = 0;
    const auto one = [&](const std::filesystem::path& path) {
        if (replay(path)) {
            ++replayed;
        } else {
            fmt::print(stderr, "cannot read {}\n", path.string());
            ++unreadable;
        }
    };
    static_cast<void>(LLVMFuzzerTestOneInput(nullptr, 0));  // the empty input comes with every corpus
    for (const char* argument : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
        const std::filesystem::path path(argument);
        if (std::filesystem::is_directory(path)) {
            for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
                if (entry.is_regular_file()) one(entry.path());
        } else if (std::filesystem::exists(path)) {
            one(path);
        } else {
            fmt::print("no inputs in {}\n", path.string());
        }
    }
    fmt::print("{} inputs replayed\n", replayed + 1);
    return unreadable == 0 ? 0 : 1;
}
