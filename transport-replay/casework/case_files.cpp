#include <dissect/capture/descriptor.hpp>
#include <dissect/capture/file_map.hpp>
#include <transport-replay/casework/case_files.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::casework {

namespace {

// At most so many bytes of an open file.
bool read_all(int file, std::size_t most, std::string& bytes, bool& cut) {
    std::vector<char> piece(1U << 18U);
    for (;;) {
        const ssize_t got = ::read(file, piece.data(), std::min(piece.size(), most - bytes.size() + 1));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) return true;
        bytes.append(piece.data(), static_cast<std::size_t>(got));
        if (bytes.size() <= most) continue;
        bytes.resize(most);
        return cut = true;
    }
}

}  // namespace

void list_folder(const std::string& folder, std::size_t most, std::vector<FoundFile>& files) {
    constexpr int kDeepest = 16;
    std::error_code error;
    std::filesystem::recursive_directory_iterator walk(
        folder, std::filesystem::directory_options::skip_permission_denied, error);
    const std::size_t from = files.size();
    for (; !error && walk != std::filesystem::recursive_directory_iterator() && files.size() < most;
         walk.increment(error)) {
        if (walk.depth() > kDeepest) walk.disable_recursion_pending();
        std::error_code unknown;
        if (walk->is_symlink(unknown) || !walk->is_regular_file(unknown)) continue;
        const std::string path = walk->path().string();
        files.push_back({path, path.substr(std::min(folder.size() + (folder.ends_with('/') ? 0 : 1), path.size()))});
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(from), files.end(),
              [](const FoundFile& a, const FoundFile& b) { return a.name < b.name; });
}

bool list_input(const std::string& input, std::size_t most, std::vector<FoundFile>& files) {
    struct stat status{};
    if (stat(input.c_str(), &status) != 0) return false;
    if (S_ISDIR(status.st_mode)) list_folder(input, most, files);
    else files.push_back({input, input.substr(input.find_last_of('/') + 1)});
    return true;
}

Taken take_file(const FoundFile& found, std::size_t most, CaseReader& reader) {
    constexpr off_t kMapped = 1 << 20;  // bytes from which on it is worth it
    constexpr std::size_t kLooked = 4096;
    const dissect::Descriptor file(open(found.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), true);
    struct stat status{};
    if (file.number() < 0 || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return Taken::unreadable;
    std::array<char, kLooked> head{};
    const ssize_t got = pread(file.number(), head.data(), head.size(), 0);
    if (got < 0) return Taken::unreadable;
    if (CaseReader::is_capture({head.data(), static_cast<std::size_t>(got)})) {
        reader.read_capture(found.name, found.path);
        return Taken::whole;
    }
    if (status.st_size >= kMapped) {
        const dissect::FileMap map(file.number(), static_cast<std::size_t>(status.st_size));
        if (map.good()) {
            const dissect::Bytes bytes = map.bytes();
            reader.read(found.name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
            return map.lost_from() ? Taken::became_shorter : Taken::whole;
        }
    }
    std::string bytes;
    bool cut = false;
    if (!read_all(file.number(), most, bytes, cut)) return Taken::unreadable;
    reader.read(found.name, bytes, cut);
    return Taken::whole;
}

}  // namespace qps::casework
