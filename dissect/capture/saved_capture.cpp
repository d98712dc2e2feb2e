#include <dissect/capture/saved_capture.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace qps::dissect {

namespace {

namespace fs = std::filesystem;

constexpr int kMostParts = 100;  // that others may have left beside the name before we give up
constexpr const char* kNoMemoryLeft = "out of memory";

// Where a link leads, also where nothing is there yet; the path itself where that cannot be told.
std::string followed(const std::string& path) {
    std::error_code error;
    const fs::path end = fs::weakly_canonical(path, error);
    return error ? path : end.string();
}

OutputProblem cannot_create(const std::string& path) {
    return {path, "cannot create: " + std::generic_category().message(errno)};
}

}  // namespace

WriterFormat format_for(std::string_view path) {
    constexpr std::string_view kEnd = ".pcap";
    if (path.size() < kEnd.size()) return WriterFormat::pcapng;
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; };
    return std::ranges::equal(path.substr(path.size() - kEnd.size()), kEnd, same) ? WriterFormat::pcap : WriterFormat::pcapng;
}

bool is_one_of(const std::string& path, std::span<const std::string> files) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    return std::ranges::any_of(
        files, [&](const std::string& file) { return fs::equivalent(path, file == "-" ? "/dev/stdin" : file, error) && !error; });
}

SavedCapture::SavedCapture(std::string path) : path_(std::move(path)) {}

SavedCapture::SavedCapture(SavedCapture&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      part_(std::exchange(other.part_, {})),
      file_(std::move(other.file_)),
      writer_(std::move(other.writer_)),
      frames_(other.frames_) {}

SavedCapture::~SavedCapture() {
    if (!part_.empty()) ::unlink(part_.c_str());
}

std::expected<SavedCapture, OutputProblem> SavedCapture::open(const std::string& path, std::span<const std::string> inputs) try {
    if (is_one_of(path, inputs))
        return std::unexpected(OutputProblem{path, "is also an input and would be overwritten: choose another name"});
    SavedCapture made(path);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (path == "-") {
        made.file_ = Descriptor(STDOUT_FILENO, false);
    } else if (fs::is_regular_file(status) || !fs::exists(status)) {
        if (auto claimed = made.claim(); !claimed) return std::unexpected(claimed.error());
    } else {
        made.file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY), true);
        if (made.file_.number() < 0) return std::unexpected(cannot_create(path));
    }
    // A pcap file waits for its first frame, which knows the link type.
    if (format_for(path) == WriterFormat::pcapng)
        if (auto begun = made.begin(LinkType::ethernet); !begun) return std::unexpected(begun.error());
    return made;
} catch (const std::bad_alloc&) {
    return std::unexpected(OutputProblem{{}, kNoMemoryLeft});
}

// Makes the file that grows, with the rights that the user's new files have.
std::expected<void, OutputProblem> SavedCapture::claim() {
    target_ = followed(path_);
    for (int i = 1; i <= kMostParts; ++i) {
        const std::string part = i == 1 ? target_ + ".part" : fmt::format("{}.part{}", target_, i);
        constexpr mode_t kMode = 0666;  // less the user's umask
        file_ = Descriptor(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode), true);
        if (file_.number() >= 0) {
            part_ = part;
            return {};
        }
        if (errno != EEXIST) break;
    }
    return std::unexpected(cannot_create(path_));
}

// Problems name the file that the user knows.
std::expected<void, OutputProblem> SavedCapture::naming_path(std::expected<void, OutputProblem> written) const {
    if (!written && !part_.empty()) written.error().file = path_;
    return written;
}

std::expected<void, OutputProblem> SavedCapture::begin(LinkType link) {
    auto writer = CaptureWriter::onto(std::move(file_), path_ == "-" ? "standard output" : path_, format_for(path_), link);
    if (!writer) return naming_path(std::unexpected(writer.error()));
    writer_.emplace(std::move(*writer));
    return {};
}

std::expected<void, OutputProblem> SavedCapture::begin_section(std::string_view comment, std::span<const HostName> hosts) {
    if (!writer_) return {};
    return naming_path(writer_->begin_section(comment, hosts));
}

std::expected<void, OutputProblem> SavedCapture::describe(InterfaceId interface, LinkType link, BitsPerSecond speed, std::string name) {
    if (!writer_) return {};
    if (!name.empty()) writer_->name_interface(interface, std::move(name));
    return naming_path(writer_->describe_interface(interface, link, speed));
}

std::expected<void, OutputProblem> SavedCapture::write(const Frame& frame, std::string_view comment) {
    if (!writer_)
        if (auto begun = begin(frame.link); !begun) return begun;
    auto written = naming_path(writer_->write(frame, comment));
    if (written) ++frames_;
    return written;
}

std::expected<void, OutputProblem> SavedCapture::end_with(std::string_view comment) {
    return writer_ ? naming_path(writer_->end_with(comment)) : std::expected<void, OutputProblem>{};
}

std::expected<void, OutputProblem> SavedCapture::flush() {
    return writer_ ? naming_path(writer_->flush()) : std::expected<void, OutputProblem>{};
}

std::expected<void, OutputProblem> SavedCapture::commit() try {
    if (!writer_)
        if (auto begun = begin(LinkType::ethernet); !begun) return begun;
    if (auto closed = naming_path(writer_->close()); !closed || part_.empty()) return closed;
    std::error_code error;
    const fs::file_status before = fs::status(target_, error);
    if (fs::exists(before)) fs::permissions(part_, before.permissions(), error);  // as far as the system lets us
    fs::rename(part_, target_, error);
    if (error) return std::unexpected(OutputProblem{path_, "cannot write: " + error.message()});
    part_.clear();
    return {};
} catch (const std::bad_alloc&) {
    return std::unexpected(OutputProblem{{}, kNoMemoryLeft});
}

}  // namespace qps::dissect
