// SavedCapture: a capture file that takes its name only when it is whole.
//
// What was there before stays until then, and for good where anything fails (pending_file.hpp). Standard output ("-")
// is written directly. A file that the packets come from is evidence and never written over.
#pragma once

#include <dissect/capture/pending_file.hpp>
#include <dissect/capture/writer.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace qps::dissect {

// Nanosecond pcap where the name ends in ".pcap", else pcapng.
[[nodiscard]] WriterFormat format_for(std::string_view path);

// Whether a path leads to one of those files ("-": standard input), under whatever name. Only regular files count.
[[nodiscard]] bool is_one_of(const std::string& path, std::span<const std::string> files);

class SavedCapture {
public:
    // Refused: a path that is one of `inputs`.
    [[nodiscard]] static std::expected<SavedCapture, OutputProblem> open(const std::string& path,
                                                                         std::span<const std::string> inputs);
    SavedCapture(SavedCapture&& other) noexcept = default;
    SavedCapture& operator=(SavedCapture&&) = delete;
    ~SavedCapture() = default;  // what was not committed goes

    // As CaptureWriter's.
    [[nodiscard]] std::expected<void, OutputProblem> begin_section(std::string_view comment,
                                                                   std::span<const HostName> hosts);
    // As CaptureWriter's describe_interface(), with a name (empty: none).
    [[nodiscard]] std::expected<void, OutputProblem> describe(InterfaceId interface, LinkType link, BitsPerSecond speed,
                                                              std::string name);
    // As CaptureWriter's. A pcap file has the link type of its first frame.
    [[nodiscard]] std::expected<void, OutputProblem> write(const Frame& frame, std::string_view comment = {});
    // As CaptureWriter's.
    [[nodiscard]] std::expected<void, OutputProblem> end_with(std::string_view comment);
    [[nodiscard]] std::expected<void, OutputProblem> flush();
    // The end: the file takes its name. Nothing can be written afterwards.
    [[nodiscard]] std::expected<void, OutputProblem> commit();

    [[nodiscard]] std::uint64_t frames() const { return frames_; }  // written so far
    [[nodiscard]] bool committed() const { return committed_; }
    // As CaptureWriter's.
    [[nodiscard]] std::uint64_t drained() const { return writer_ ? writer_->drained() : 0; }

private:
    explicit SavedCapture(std::string path);
    [[nodiscard]] std::expected<void, OutputProblem> begin(LinkType link);
    [[nodiscard]] std::expected<void, OutputProblem> naming_path(std::expected<void, OutputProblem> written) const;

    std::string path_;                    // as the user wrote it
    std::optional<PendingFile> pending_;  // nothing: standard output
    Descriptor file_;                     // until the writer has it: everything that opens a file is done by open()
    std::optional<CaptureWriter> writer_;
    std::uint64_t frames_ = 0;
    bool committed_ = false;
};

}  // namespace qps::dissect
