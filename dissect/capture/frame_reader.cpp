// Records read alone, by the walks that read them in a row.
#include <dissect/capture/frame_reader.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::dissect {

namespace {

// Bytes from `offset` on; fewer where the file ends or fails.
std::size_t read_at(int file, std::uint64_t offset, MutableBytes into) {
    std::size_t filled = 0;
    while (filled < into.size()) {
        const ssize_t count =
            ::pread(file, into.data() + filled, into.size() - filled, static_cast<off_t>(offset + filled));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        filled += static_cast<std::size_t>(count);
    }
    return filled;
}

// Whether a record of `length` bytes fits between its offset and the end of what is described.
bool fits(const CaptureLayout& layout, std::uint64_t offset, std::size_t length) {
    return offset < layout.known_to && length <= layout.known_to - offset;
}

}  // namespace

FrameReader::FrameReader(Descriptor file, std::uint64_t size) : file_(std::move(file)), size_(size) {
    static std::atomic<std::uint64_t> readers = 0;
    id_ = ++readers;
}

std::expected<FrameReader, InputProblem> FrameReader::open(const std::string& path) {
    const auto fail = [&](InputProblemKind kind, std::string sentence) {
        return std::unexpected(InputProblem{kind, path, 0, std::move(sentence)});
    };
    // O_NONBLOCK: a FIFO is refused, not waited for.
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), true);
    if (file.number() < 0)
        return fail(InputProblemKind::unreadable, "cannot open: " + std::generic_category().message(errno));
    struct stat status{};
    if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))
        return fail(InputProblemKind::unreadable, "not a regular file: its frames cannot be read again");
    static_assert(kPcapHeader == kPcapngHeader);
    std::array<std::byte, kPcapHeader> start{};
    const Bytes header = Bytes(start).first(read_at(file.number(), 0, start));
    if (header.size() < start.size() || (!is_pcapng(header) && !read_pcap_header(header)))
        return fail(InputProblemKind::not_a_capture, "not an uncompressed pcap or pcapng capture");
    return FrameReader(std::move(file), static_cast<std::uint64_t>(status.st_size));
}

std::optional<std::uint64_t> FrameReader::lost_from() const {
    struct stat status{};
    if (::fstat(file_.number(), &status) != 0 || status.st_size < 0) return std::nullopt;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    return size < size_ ? std::optional(size) : std::nullopt;
}

// The bytes from `offset` on, as many as there are but at most `length`.
Bytes FrameReader::bytes_at(std::uint64_t offset, std::size_t length, FrameBuffer& buffer) const {
    const bool held = buffer.reader == id_ && offset >= buffer.offset && offset - buffer.offset <= buffer.filled &&
                      length <= buffer.filled - static_cast<std::size_t>(offset - buffer.offset);
    if (!held) {
        if (buffer.storage.size() < std::max(length, kReadAhead)) buffer.storage.resize(std::max(length, kReadAhead));
        buffer.filled = 0;
        buffer.reader = id_;
        buffer.offset = offset;
        buffer.filled =
            read_at(file_.number(), offset, MutableBytes(buffer.storage).first(std::max(length, kReadAhead)));
    }
    return slice(Bytes(buffer.storage).first(buffer.filled), static_cast<std::size_t>(offset - buffer.offset), length);
}

std::optional<Frame> FrameReader::pcap_at(const CaptureLayout& layout, std::uint64_t offset,
                                          FrameBuffer& buffer) const {
    if (offset < kPcapHeader) return std::nullopt;
    const auto length = pcap_record_length(*layout.pcap, bytes_at(offset, kPcapRecordStart, buffer));
    if (!length || !fits(layout, offset, *length)) return std::nullopt;
    Window window{.bytes = bytes_at(offset, *length, buffer), .offset = offset, .used = 0, .last = true};
    FrameClock clock;
    buffer.frames.clear();
    static_cast<void>(walk_pcap(*layout.pcap, window, clock, buffer.frames));
    return buffer.frames.size() == 1 ? std::optional(buffer.frames.front()) : std::nullopt;
}

std::optional<Frame> FrameReader::pcapng_at(const CaptureLayout& layout, std::uint64_t offset,
                                            FrameBuffer& buffer) const {
    const auto next = std::ranges::upper_bound(layout.sections, offset, {}, &PcapngSection::start);
    if (next == layout.sections.begin()) return std::nullopt;
    const PcapngSection& section = *std::prev(next);
    const std::size_t end = next == layout.sections.end() ? layout.origins.size() : next->first_interface;
    if (end > layout.origins.size() || section.first_interface > end) return std::nullopt;
    const auto origins = std::span(layout.origins).subspan(section.first_interface, end - section.first_interface);

    const auto length = pcapng_block_length(bytes_at(offset, kPcapngBlockStart, buffer), section.order);
    if (!length || !fits(layout, offset, *length)) return std::nullopt;
    const Bytes block = bytes_at(offset, *length, buffer);
    if (block.size() != *length) return std::nullopt;
    auto frame = pcapng_frame(block, section, origins);
    if (frame) frame->file_offset = offset;
    return frame;
}

std::optional<Frame> FrameReader::at(const CaptureLayout& layout, std::uint64_t record_offset,
                                     FrameBuffer& buffer) const try {
    if (record_offset >= layout.known_to) return std::nullopt;
    return layout.pcap ? pcap_at(layout, record_offset, buffer) : pcapng_at(layout, record_offset, buffer);
} catch (const std::bad_alloc&) {
    return std::nullopt;
}

}  // namespace qps::dissect
