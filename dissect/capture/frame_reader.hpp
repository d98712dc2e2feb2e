// FrameReader: frames of a plain capture file once more, each by the place of its record (Frame::file_offset).
//
// A CaptureFile that goes over the file once, perhaps still at work in another thread, gives the CaptureLayout; here
// records are read alone. Reads are pread() into a buffer of the caller's and not a mapping: a file that grows needs no
// new mapping, one that somebody truncates gives no frame instead of ending the process, and no frame outlives its
// bytes.
//
// What an attacker could feed: the file, which may be another by now, and so any offset. No length is used before it is
// checked, and a record never reaches beyond what the layout describes. An offset where no record starts gives nothing
// or, where the bytes there look like one, a frame of them; a record that was overwritten gives what is there now.
#pragma once

#include <dissect/capture/capture_file.hpp>
#include <dissect/capture/descriptor.hpp>

namespace qps::dissect {

// What one thread has read last, with whichever reader: neighbours come from it without another call of the system. Its
// size is bounded by the longest record (kMaxRecord) and kReadAhead.
struct FrameBuffer {
    std::vector<std::byte> storage;
    std::size_t filled = 0;    // bytes of it that are the file's
    std::uint64_t offset = 0;  // of the first of them
    std::uint64_t reader = 0;  // that read them; 0: none did
    std::vector<Frame> frames;
};

// Bytes asked for at once: some tens of packets, about as quick to get from the page cache as one.
inline constexpr std::size_t kReadAhead = std::size_t{32} << 10;

// Threads may share a reader, each with its own buffer.
class FrameReader {
public:
    // Fails with unreadable, also where `path` is no regular file, and with not_a_capture for one that is compressed:
    // its frames have no places of their own.
    [[nodiscard]] static std::expected<FrameReader, InputProblem> open(const std::string& path);

    // The frame whose record starts at `record_offset`, as CaptureFile delivered it but for index (1) and elapsed time
    // (0). It borrows the buffer until that is used again. Nothing where there is no such record, it does not lie
    // within layout.known_to, or it cannot be read any more.
    [[nodiscard]] std::optional<Frame> at(const CaptureLayout& layout, std::uint64_t record_offset,
                                          FrameBuffer& buffer) const;
    // Where the file ends now, if that is before its end when it was opened: somebody truncated it.
    [[nodiscard]] std::optional<std::uint64_t> lost_from() const;

private:
    FrameReader(Descriptor file, std::uint64_t size);
    [[nodiscard]] Bytes bytes_at(std::uint64_t offset, std::size_t length, FrameBuffer& buffer) const;
    [[nodiscard]] std::optional<Frame> pcap_at(const CaptureLayout& layout, std::uint64_t offset,
                                               FrameBuffer& buffer) const;
    [[nodiscard]] std::optional<Frame> pcapng_at(const CaptureLayout& layout, std::uint64_t offset,
                                                 FrameBuffer& buffer) const;
    Descriptor file_;
    std::uint64_t id_;    // of no other reader of this process, also after this one
    std::uint64_t size_;  // when it was opened
};

}  // namespace qps::dissect
