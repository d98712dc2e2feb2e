// fuzz_replay NAME CORPUS [FILE|FOLDER]...: a plain main for the fuzzers. Gives the one of that name the files, and the
// files below the folders; without libFuzzer, and in one program, because each would be linked with all that we have.
//
// Each input is copied into a heap block of exactly its size, so that AddressSanitizer sees a read one byte too far.
// A corpus, folder or file, without an input is an error, for a replay of nothing proves nothing. A folder behind it
// that does not exist holds no inputs; a file that cannot be read is an error.
#include <tests/fuzz/fuzzers.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <span>

#include <fmt/format.h>

namespace {

[[nodiscard]] bool replay(const qps::fuzz::Fuzzer& fuzzer, const std::filesystem::path& path) {
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
    static_cast<void>(fuzzer.run(reinterpret_cast<const std::uint8_t*>(block.get()), count));
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    const auto all = qps::fuzz::fuzzers();
    const auto fuzzer =
        argc < 3 ? all.end() : std::ranges::find(all, std::string_view(arguments[1]), &qps::fuzz::Fuzzer::name);
    if (fuzzer == all.end()) {
        fmt::print(stderr, "usage: fuzz_replay NAME CORPUS [FILE|FOLDER]...; NAME is one of");
        for (const qps::fuzz::Fuzzer& each : all) fmt::print(stderr, " {}", each.name);
        fmt::print(stderr, "\n");
        return 2;
    }
    std::size_t replayed = 0;
    std::size_t unreadable = 0;
    const auto one = [&](const std::filesystem::path& path) {
        if (replay(*fuzzer, path)) {
            ++replayed;
        } else {
            fmt::print(stderr, "cannot read {}\n", path.string());
            ++unreadable;
        }
    };
    static_cast<void>(fuzzer->run(nullptr, 0));  // the empty input comes with every corpus
    for (const char* argument : arguments.subspan(2)) {
        const std::filesystem::path path(argument);
        if (std::filesystem::is_directory(path)) {
            for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
                if (entry.is_regular_file()) one(entry.path());
        } else if (std::filesystem::exists(path)) {
            one(path);
        } else {
            fmt::print("no inputs in {}\n", path.string());
        }
        if (replayed == 0) {
            fmt::print(stderr, "fuzz_replay: {} has no input\n", path.string());
            return 1;
        }
    }
    fmt::print("{} inputs replayed\n", replayed + 1);
    return unreadable == 0 ? 0 : 1;
}
