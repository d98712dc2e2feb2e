#include <dissect/capture/pending_file.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace qps::dissect {

namespace {

namespace fs = std::filesystem;

constexpr int kMostParts = 100;  // that others may have left beside the name before we give up

std::error_code last_error() { return {errno, std::generic_category()}; }

// The number of what is open already under that name. Its file, if it is one, is somebody's who may write behind us.
std::optional<int> open_already(std::string_view path) {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view folder : {std::string_view("/dev/fd/"), std::string_view("/proc/self/fd/")}) {
        if (!path.starts_with(folder)) continue;
        const std::string_view digits = path.substr(folder.size());
        int number = -1;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error == std::errc{} && end == digits.data() + digits.size() && number >= 0) return number;
    }
    return std::nullopt;
}

// Where links lead, also where nothing is there yet, or what is open already; the path itself where that cannot be
// told.
std::string followed(const std::string& path) {
    constexpr int kMostLinks = 40;  // as the kernel has it
    std::error_code error;
    fs::path end = path;
    for (int i = 0; i < kMostLinks; ++i) {
        if (open_already(end.native())) return end;
        if (!fs::is_symlink(fs::symlink_status(end, error))) break;
        const fs::path next = fs::read_symlink(end, error);
        if (error) return path;
        end = end.parent_path() / next;
    }
    end = fs::weakly_canonical(fs::absolute(end, error), error);  // a relative name of nothing would stay relative
    return error ? path : end.string();
}

}  // namespace

PendingFile::PendingFile(PendingFile&& other) noexcept
    : target_(std::move(other.target_)),
      part_(std::exchange(other.part_, {})),
      readers_(other.readers_),
      file_(std::move(other.file_)) {}

std::expected<PendingFile, std::error_code> PendingFile::open(const std::string& path, Readers readers) {
    PendingFile made;
    made.readers_ = readers;
    std::error_code error;
    const std::string target = followed(path);
    if (const auto number = open_already(target)) {
        made.file_ = Descriptor(::fcntl(*number, F_DUPFD_CLOEXEC, 0), true);
    } else if (const fs::file_status status = fs::status(path, error);
               fs::is_regular_file(status) || !fs::exists(status)) {
        if (const std::error_code failed = made.claim(target)) return std::unexpected(failed);
    } else {
        made.file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY), true);
    }
    if (made.file_.number() < 0) return std::unexpected(last_error());
    return made;
}

// Makes the file that grows.
std::error_code PendingFile::claim(const std::string& path) {
    target_ = path;
    const mode_t mode = readers_ == Readers::owner_only ? 0600 : 0666;  // less the user's umask
    for (int i = 1; i <= kMostParts; ++i) {
        const std::string part = i == 1 ? target_ + ".part" : fmt::format("{}.part{}", target_, i);
        file_ = Descriptor(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode), true);
        if (file_.number() >= 0) {
            part_ = part;
            return {};
        }
        if (errno != EEXIST) break;
    }
    return last_error();
}

std::error_code PendingFile::commit() {
    std::error_code error;
    if (part_.empty()) return error;
    const fs::file_status before = fs::status(target_, error);
    if (readers_ == Readers::as_usual && fs::exists(before))
        fs::permissions(part_, before.permissions(), error);  // as far as the system lets us
    fs::rename(part_, target_, error);
    if (!error) part_.clear();
    return error;
}

void PendingFile::discard() {
    if (!part_.empty()) ::unlink(part_.c_str());
    part_.clear();
}

bool same_output(const std::string& a, const std::string& b) {
    const auto name = [](const std::string& path) { return path == "-" ? std::string("/dev/stdout") : path; };
    std::error_code error;
    if (fs::equivalent(name(a), name(b), error) && !error) return true;
    return followed(name(a)) == followed(name(b));
}

}  // namespace qps::dissect
