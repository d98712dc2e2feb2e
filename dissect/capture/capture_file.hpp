// CaptureFile: a capture, whatever its format, compression and origin, as batches of frames.
//
// Reads pcap (micro- and nanoseconds, the modified format) and pcapng in both byte orders, plain, gzip or zstd, from a
// file, FIFO, device or standard input. Plain regular files are mapped, everything else is streamed: memory is then
// bounded by the batch (kBatchBytes, or one record of up to kMaxRecord) and the window of the compression.
//
// Everything readable is delivered: the frames before a damage come first, then read() returns false and problem() says
// where and why. A frame that the end of the file cuts is not delivered. A header without packets is a valid empty
// capture.
//
// What an attacker could feed: everything here is theirs. No length is used before it is checked against the bytes that
// are there. A mapped file may be truncated while it is read: what is gone is not handed out any more, and a frame that
// was shows zeros there (see file_map.hpp); problem() says so.
//
// One thread at a time may call a CaptureFile, but for walk() and still_there(); the frames it delivered may be read by
// any number of threads meanwhile.
#pragma once

#include <dissect/capture/byte_source.hpp>
#include <dissect/capture/drops.hpp>
#include <dissect/capture/options.hpp>
#include <dissect/capture/pcap.hpp>
#include <dissect/capture/pcapng.hpp>
#include <dissect/capture/stretch.hpp>

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qps::dissect {

enum class CaptureFormat : std::uint8_t { pcap, pcap_nanosecond, pcap_modified, pcapng };

// "pcap", "nanosecond pcap", "modified pcap", "pcapng".
[[nodiscard]] std::string_view name(CaptureFormat format);
// "none", "gzip", "zstd".
[[nodiscard]] std::string_view name(Compression compression);

// Frames of consecutive records. They borrow `storage` (streams) or the mapping of their CaptureFile, and live until
// the batch is read into again or one of the two ends. Reuse batches: a used one makes no allocations.
struct Batch {
    std::vector<Frame> frames;
    std::vector<std::byte> storage;              // its size says nothing about how much of it is in use
    Stretch stretch;                             // where the frames were found, if not by read()
    std::optional<std::uint64_t> numbered_from;  // what the numbers of frames of a stretch are to be raised by

    Batch() = default;
    Batch(Batch&&) = default;
    Batch& operator=(Batch&&) = default;
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch() = default;
};

// What it takes to read any record again whose place is known (see frame_reader.hpp): a value, for any thread to keep.
struct CaptureLayout {
    std::optional<PcapHeader> pcap;       // nothing: pcapng
    std::vector<PcapngSection> sections;  // in the order of the file
    std::vector<FrameOrigin> origins;     // interfaces over all sections
    std::vector<std::string> names;       // of those, as Interface::name
    std::uint64_t known_to = 0;           // what starts from here on is not described
};

class CaptureFile {
public:
    // A path, or "-" for standard input. Reads the header of the file: on a FIFO it waits for that.
    // Fails with unreadable or not_a_capture.
    // `stop` is asked when a signal interrupts waiting for a FIFO or standard input.
    [[nodiscard]] static std::expected<CaptureFile, InputProblem> open(const std::string& path, Stop stop = {});
    // A file that is open already, from its beginning; `name` is for problems.
    [[nodiscard]] static std::expected<CaptureFile, InputProblem> open(HeldFile file, const std::string& name,
                                                                       Stop stop = {});
    // A capture in memory, which the caller keeps; `name` is for problems. Where `piece` is not zero it is read as a
    // stream that arrives so many bytes at a time.
    [[nodiscard]] static std::expected<CaptureFile, InputProblem> from_memory(Bytes bytes, std::string name,
                                                                              std::size_t piece = 0);

    CaptureFile(CaptureFile&&) noexcept;
    CaptureFile& operator=(CaptureFile&&) noexcept;
    ~CaptureFile();

    // Fills `batch` with the next frames, at least one; false (and an empty batch) at the end or at damage. From a live
    // stream it takes what is there and waits only for the first frame.
    [[nodiscard]] bool read(Batch& batch);
    // The same by several threads, where the file is mapped and its first frames were read. reach(), by one thread:
    // where the next frames are, without looking at them; false where it cannot be told yet, and read() must be called
    // once all that was reached is settled. walk(), by any thread: the frames there. settle(), by one thread and in the
    // order of reach(): makes sure of it, and tells what their numbers are to be raised by; the batch may be empty
    // then. What it delivers is what read() delivers, in batches of other sizes. `length`: of a stretch, in bytes, more
    // or less; 0: as of a batch.
    [[nodiscard]] bool reach(Batch& batch, std::size_t length = 0);
    void walk(Batch& batch) const;
    void settle(Batch& batch);
    // After read() returned false: why. Kind none at the end of a sound capture, else damaged (or unreadable where
    // memory ran out).
    [[nodiscard]] const InputProblem& problem() const;

    [[nodiscard]] const std::string& name() const;  // "standard input" for "-"
    [[nodiscard]] CaptureFormat format() const;
    [[nodiscard]] Compression compression() const;
    [[nodiscard]] bool mapped() const;  // frames borrow the file, not the batch
    // How many frames, of a batch and in its order, are in the file that they borrow: who looked at the others, after
    // it was truncated, saw zeros. To be asked after looking. Any thread may ask.
    [[nodiscard]] std::size_t still_there(std::span<const Frame> frames) const;
    [[nodiscard]] bool shrank() const;  // some frames may be gone

    // What has been seen so far; InterfaceId is the index. The span is valid until the next read(). pcap has one
    // interface from the start, pcapng as many as were described up to the last frame delivered.
    [[nodiscard]] std::span<const Interface> interfaces() const;
    [[nodiscard]] Drops drops() const;
    [[nodiscard]] SkippedBlocks skipped_blocks() const;
    // Whether it says so far that packets were left out of it on purpose (kSliceComment); pcap files cannot.
    [[nodiscard]] bool is_slice() const;

    // Describes all frames delivered so far (of pcapng, those of the first kMaxSections sections).
    [[nodiscard]] CaptureLayout layout() const;

    // Progress, in bytes as stored (compressed): done, and all of them where that is known.
    [[nodiscard]] std::uint64_t bytes_read() const;
    [[nodiscard]] std::optional<std::uint64_t> size() const;

private:
    struct State;
    explicit CaptureFile(std::unique_ptr<State> state);
    [[nodiscard]] static std::expected<CaptureFile, InputProblem> start(ByteSource source);
    std::unique_ptr<State> state_;
};

}  // namespace qps::dissect
