// What qpscope-capture is told to do, from its command line.
//
// An attacker may call this program with any arguments while it still has its privileges, so they are checked here,
// before anything else happens: numbers have ranges, the name of an interface has no slash, the filter has a longest
// length.
#pragma once

#include <transport-replay/capture/listener.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace qps::recorder {

enum class Task : std::uint8_t { record, list, help, version };

// Where packets go beside standard output.
struct Files {
    std::string path;                            // empty: nowhere
    std::optional<std::uint64_t> bytes{};        // of a file, then the next one begins
    std::optional<std::chrono::seconds> time{};  // of a file
    std::size_t kept = 0;                        // the last ones; 0: all
    [[nodiscard]] bool are_several() const { return bytes || time; }
};

struct Order {
    Task task = Task::record;
    std::string interface;
    std::string filter;  // BPF; empty: everything
    std::uint32_t snap_length = transport::kListenerSnapLength;
    std::optional<std::uint64_t> count{};          // frames, then it ends
    std::optional<std::chrono::seconds> patience;  // so long, then it ends
    Files files{};
    bool sandbox = true;
};

inline constexpr std::size_t kMaxInterface = 255;  // bytes; the kernel's names have 15, libpcap's others more
inline constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 40;  // more than a day at the speed of any link
inline constexpr std::size_t kMaxPath = 4000;                       // bytes, with room for a number
inline constexpr std::uint64_t kMaxMegabytes = 1'000'000;           // of a file
inline constexpr std::uint64_t kMaxFiles = 100'000;
inline constexpr std::uint64_t kMaxSeconds = 366ULL * 24 * 60 * 60;

// The error is a sentence without the name of the program.
[[nodiscard]] std::expected<Order, std::string> parse(int argc, char** argv);

[[nodiscard]] std::string_view help_text();

}  // namespace qps::recorder
