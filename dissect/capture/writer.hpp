// CaptureWriter: frames into a capture file, as nanosecond pcap or as pcapng, little-endian.
//
// Every error is a value. After one of the system (a full disk) nothing more is written; what was written before stays
// readable: at worst its last record is cut, which CaptureFile tells. A refused frame has no effect. Writing to a pipe
// that nobody reads raises SIGPIPE unless the program ignores that.
#pragma once

#include <dissect/base/frame.hpp>
#include <dissect/capture/capture_file.hpp>
#include <dissect/capture/descriptor.hpp>

#include <array>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace qps::dissect {

enum class WriterFormat : std::uint8_t {
    pcap,    // nanoseconds; one link type; no comments, interfaces or link speeds
    pcapng,  // one section; nanoseconds
};

struct OutputProblem {
    std::string file;      // as the user wrote it; "standard output" for "-"
    std::string sentence;  // without the file name and a full stop; ASCII
    bool closed = false;   // the reader of a pipe went away: no failure, but nothing more is worth doing
};

// Longest comment that fits an option, in bytes.
inline constexpr std::size_t kMaxComment = 65'535;

// How a host is called: of an IPv4 address the first four bytes count. The name is UTF-8 without NUL.
struct HostName {
    std::array<std::byte, 16> address{};
    bool ipv4 = false;
    std::string name{};
};

// What became of the frames of one interface until `time`.
struct InterfaceStatistics {
    InterfaceId interface{};
    LinkType link = LinkType::ethernet;
    Instant time{};
    std::uint64_t received = 0;
    std::uint64_t dropped = 0;            // by the interface
    std::uint64_t dropped_by_system = 0;  // on the way from the interface to who captured
};

class CaptureWriter {
public:
    // Creates or empties a file, or writes to standard output for "-". `link` is the link type of a pcap file;
    // pcapng takes those of the frames.
    [[nodiscard]] static std::expected<CaptureWriter, OutputProblem> open(const std::string& path, WriterFormat format,
                                                                          LinkType link = LinkType::ethernet);
    // Writes to a file that is open and empty, and closes it; `name` is for problems.
    [[nodiscard]] static std::expected<CaptureWriter, OutputProblem> onto(Descriptor file, const std::string& name,
                                                                          WriterFormat format,
                                                                          LinkType link = LinkType::ethernet);

    CaptureWriter(CaptureWriter&&) noexcept;
    CaptureWriter& operator=(CaptureWriter&&) noexcept;
    ~CaptureWriter();  // writes what is buffered, but cannot report: call close()

    // pcapng: what is said of the capture as a whole (UTF-8, at most kMaxComment bytes), and the names of hosts. Before
    // anything else: refused, without effect, where something was written. pcap has no place for either, and nothing
    // happens.
    [[nodiscard]] std::expected<void, OutputProblem> begin_section(std::string_view comment,
                                                                   std::span<const HostName> hosts);
    // pcapng: what is known of the capture as a whole at its end alone, as the comment of a section without frames. The
    // last thing that is written. pcap has no place for it, and nothing happens.
    [[nodiscard]] std::expected<void, OutputProblem> end_with(std::string_view comment);
    // pcapng: the name of an interface, before its first frame.
    void name_interface(InterfaceId interface, std::string name);
    // pcapng: describes an interface before its first frame, so that numbers are those of the order of these calls.
    // Refused, without effect: more than kMaxInterfaces interfaces.
    [[nodiscard]] std::expected<void, OutputProblem> describe_interface(InterfaceId interface, LinkType link,
                                                                        BitsPerSecond speed);

    // Writes one frame. pcapng describes interface, link type and speed of the frame where they are new, so numbers of
    // interfaces are assigned anew in the order of appearance; keeps the options of the frame's record; and puts
    // `comment` (UTF-8, at most kMaxComment bytes) before them. pcap drops options, comment and interface.
    // Refused, without effect: another link type than the pcap file's; a time the format cannot hold (pcap: outside
    // 1970 to 2106, pcapng: before 1970); a frame, with its options, longer than a record may be (kMaxRecord); a
    // comment too long; more than kMaxInterfaces interfaces.
    [[nodiscard]] std::expected<void, OutputProblem> write(const Frame& frame, std::string_view comment = {});

    // pcapng: how many frames the interface lost, each time counted from the beginning; describes it where it is new.
    // pcap has no place for that, and nothing happens. Refused: a time before 1970; more than kMaxInterfaces
    // interfaces.
    [[nodiscard]] std::expected<void, OutputProblem> write(const InterfaceStatistics& statistics);

    // Where in the file the record of the frame written last begins, for who reads it again once it is flushed.
    [[nodiscard]] std::uint64_t last_record() const;
    // Bytes that left for the file or the pipe so far, however long that took.
    [[nodiscard]] std::uint64_t drained() const;

    // How many interfaces are described so far; more are as frames come from more of them.
    [[nodiscard]] std::size_t interfaces() const;
    // Of a pcapng file: how its frames are read again (frame_reader.hpp) once they are flushed.
    [[nodiscard]] CaptureLayout layout() const;

    // Hands what is buffered to the system: after every frame of a slow live capture, say.
    [[nodiscard]] std::expected<void, OutputProblem> flush();
    // The same, and closes the file. Nothing can be written afterwards.
    [[nodiscard]] std::expected<void, OutputProblem> close();

private:
    struct State;
    explicit CaptureWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace qps::dissect
