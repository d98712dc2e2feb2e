#include <dissect/capture/saved_capture.hpp>

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace qps::dissect {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNoMemoryLeft = "out of memory";

}  // namespace

WriterFormat format_for(std::string_view path) {
    constexpr std::string_view kEnd = ".pcap";
    if (path.size() < kEnd.size()) return WriterFormat::pcapng;
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; };
    return std::ranges::equal(path.substr(path.size() - kEnd.size()), kEnd, same) ? WriterFormat::pcap
                                                                                  : WriterFormat::pcapng;
}

bool is_one_of(const std::string& path, std::span<const std::string> files) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    return std::ranges::any_of(files, [&](const std::string& file) {
        return fs::equivalent(path, file == "-" ? "/dev/stdin" : file, error) && !error;
    });
}

SavedCapture::SavedCapture(std::string path) : path_(std::move(path)) {}

std::expected<SavedCapture, OutputProblem> SavedCapture::open(const std::string& path,
                                                              std::span<const std::string> inputs) try {
    if (is_one_of(path, inputs))
        return std::unexpected(OutputProblem{path, "is also an input and would be overwritten: choose another name"});
    SavedCapture made(path);
    if (path == "-") {
        made.file_ = Descriptor(STDOUT_FILENO, false);
    } else {
        auto pending = PendingFile::open(path);
        if (!pending) return std::unexpected(OutputProblem{path, "cannot create: " + pending.error().message()});
        made.pending_.emplace(std::move(*pending));
        made.file_ = made.pending_->take_descriptor();
    }
    // A pcap file waits for its first frame, which knows the link type.
    if (format_for(path) == WriterFormat::pcapng)
        if (auto begun = made.begin(LinkType::ethernet); !begun) return std::unexpected(begun.error());
    return made;
} catch (const std::bad_alloc&) {
    return std::unexpected(OutputProblem{{}, kNoMemoryLeft});
}

// Problems name the file that the user knows.
std::expected<void, OutputProblem> SavedCapture::naming_path(std::expected<void, OutputProblem> written) const {
    if (!written && pending_) written.error().file = path_;
    return written;
}

std::expected<void, OutputProblem> SavedCapture::begin(LinkType link) {
    auto writer =
        CaptureWriter::onto(std::move(file_), path_ == "-" ? "standard output" : path_, format_for(path_), link);
    if (!writer) return naming_path(std::unexpected(writer.error()));
    writer_.emplace(std::move(*writer));
    return {};
}

std::expected<void, OutputProblem> SavedCapture::begin_section(std::string_view comment,
                                                               std::span<const HostName> hosts) {
    if (!writer_) return {};
    return naming_path(writer_->begin_section(comment, hosts));
}

std::expected<void, OutputProblem> SavedCapture::describe(InterfaceId interface, LinkType link, BitsPerSecond speed,
                                                          std::string name) {
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
    if (auto closed = naming_path(writer_->close()); !closed) return closed;
    if (pending_)
        if (const std::error_code error = pending_->commit())
            return std::unexpected(OutputProblem{path_, "cannot write: " + error.message()});
    committed_ = true;
    return {};
} catch (const std::bad_alloc&) {
    return std::unexpected(OutputProblem{{}, kNoMemoryLeft});
}

}  // namespace qps::dissect
