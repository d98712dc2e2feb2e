// A capture among the files of a case: its findings, what it shows in sums, and which of its connections lines of logs
// are about. The reconstruction itself is gone by then: a case may have many captures, and each is analysed by itself.
// The pieces of a recording that was rotated (tcpdump -C, dumpcap -b) are one capture, in the order of their times.
#pragma once

#include <dissect/capture/capture_file.hpp>
#include <transport-replay/casework/evidence.hpp>
#include <transport-replay/model/finding.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/totals.hpp>

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::casework {

// A line of a log, and the connection or attempt to connect that it is most likely about.
struct LineOnWire {
    Place line{};
    std::uint64_t connection = 0;  // its number in the capture; 0: an attempt of CM
    Place frame{};                 // the first of it
    std::string ends;              // "10.0.0.1 QP 17 and 10.0.0.2 QP 18"
    std::string reasons;           // "both hosts; 7 timeouts"
    std::string own;               // the address of the host that wrote the line; empty: not known
    bool alone = false;            // no other connection fits as well
};

// A file of a capture that was rotated.
struct CapturePiece {
    std::uint32_t file = 0;    // index in Case::files
    std::uint64_t before = 0;  // packets of the pieces before it
    std::uint64_t packets = 0;
};

struct CaseCapture {
    std::uint32_t file = 0;              // index in Case::files, of the first piece
    std::vector<CapturePiece> pieces{};  // at least one, once it was read
    std::uint64_t packets = 0;
    std::uint64_t connections = 0;
    transport::Totals totals{};
    std::vector<transport::Finding> findings{};  // warnings and errors, worst first
    std::uint64_t notes = 0;                     // findings that are notes
    std::uint64_t left_out = 0;                  // warnings and errors past kMostCaptured
    std::vector<LineOnWire> lines{};
    std::string problem{};  // a sentence: why it was not read, or not to its end
};

inline constexpr std::size_t kMostCaptured = 64;  // findings of a capture that become claims
inline constexpr std::size_t kMostMatched = 256;  // lines that are looked up in a capture

// The capture from its beginning, as often as it is called.
using OpenCapture = std::function<std::expected<dissect::CaptureFile, dissect::InputProblem>()>;

// A file of a capture, as often as it is opened.
struct OpenPiece {
    std::uint32_t file = 0;  // index in Case::files
    OpenCapture open;
};
// Analyses it as `analyze` does, and looks up the lines of the case's events in it. Pieces of one recording, in the
// order of their times; at least one.
[[nodiscard]] CaseCapture read_case_capture(const std::vector<OpenPiece>& pieces, const Case& read,
                                            transport::MemoryBudget memory);
// Where a packet stands, counted over all pieces.
[[nodiscard]] Place place_of(const CaseCapture& capture, dissect::FrameIndex frame);
// What names of pieces of one recording have in common: "tap_00001_20260102030405.pcap", "tap.pcap3"; empty: of a file
// that is no piece.
[[nodiscard]] std::string recording_of(std::string_view name);

}  // namespace qps::casework
