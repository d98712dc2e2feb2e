#include <transport-replay/live/peers/received_file.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::size_t kMostName = 255;  // NAME_MAX of Linux

}  // namespace

bool is_plain_name(std::string_view name) {
    if (name.empty() || name.size() > kMostName || name.front() == '.' || name.front() == '-') return false;
    return std::ranges::none_of(name, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f || c == '/'; });
}

ReceivedFile::ReceivedFile(std::shared_ptr<const int> folder, int file, std::string name)
    : folder_(std::move(folder)), file_(file), name_(std::move(name)) {}

ReceivedFile::ReceivedFile(ReceivedFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      file_(std::exchange(other.file_, -1)),
      name_(std::move(other.name_)),
      written_(other.written_),
      kept_(other.kept_) {}

ReceivedFile& ReceivedFile::operator=(ReceivedFile&& other) noexcept {
    if (this != &other) {
        drop();
        folder_ = std::move(other.folder_);
        file_ = std::exchange(other.file_, -1);
        name_ = std::move(other.name_);
        written_ = other.written_;
        kept_ = other.kept_;
    }
    return *this;
}

ReceivedFile::~ReceivedFile() { drop(); }

// Removes it only where it is still the file that was made here.
void ReceivedFile::drop() {
    if (file_ < 0) return;
    struct stat ours{};
    struct stat named{};
    const bool same = fstat(file_, &ours) == 0 && fstatat(*folder_, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                      ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
    if (!kept_ && same) static_cast<void>(unlinkat(*folder_, name_.c_str(), 0));
    ::close(std::exchange(file_, -1));
}

int ReceivedFile::write(dissect::Bytes bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(written_));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? errno : EIO;
        written_ += static_cast<std::uint64_t>(done);
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return 0;
}

int ReceivedFile::keep() {
    if (ftruncate(file_, static_cast<off_t>(written_)) != 0) return errno;
    kept_ = true;
    return 0;
}

std::expected<FileDrop, std::string> FileDrop::open(const std::string& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return std::unexpected(
            fmt::format("{}: {}", folder, std::error_code(errno, std::generic_category()).message()));
    return FileDrop(std::shared_ptr<const int>(new int(descriptor), [](const int* held) {
        ::close(*held);
        delete held;
    }));
}

std::expected<ReceivedFile, int> FileDrop::create(std::string_view name) const {
    if (!is_plain_name(name)) return std::unexpected(EACCES);
    std::string plain(name);
    const int file = ::openat(*folder_, plain.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0) return std::unexpected(errno);
    return ReceivedFile(folder_, file, std::move(plain));
}

}  // namespace qps::transport::live::peers
