// The program under test, sample captures and small captures to order.
#pragma once

#include <tests/cli/process.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qps::test {

// What cli/exit_code.hpp promises to scripts.
inline constexpr int kDone = 0;
inline constexpr int kFindings = 1;
inline constexpr int kUsage = 2;
inline constexpr int kUnreadable = 3;
inline constexpr int kDamaged = 4;
inline constexpr int kOutputFailed = 5;
inline constexpr int kUnjudged = 6;

[[nodiscard]] Ending qpscope(std::vector<std::string> words, const Surroundings& surroundings = {});

// An address of the loopback that other tests, and other runs of this one, do not use.
[[nodiscard]] std::string loopback(unsigned last);

// Path of the capture of a case in captures/catalogue.json.
[[nodiscard]] std::string sample(std::string_view name);
// Names of all cases there; under sanitizers an eighth of them (tests/support/sanitized.hpp).
[[nodiscard]] std::vector<std::string> all_samples();

// Words of a command line and more of them.
[[nodiscard]] std::vector<std::string> operator+(std::vector<std::string> words, const std::vector<std::string>& more);

// Every sub-command, as the help lists them.
[[nodiscard]] std::vector<std::string> all_commands();

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);
// What stays the same from run to run: numbers become #, times TIME, and columns stand a space apart.
[[nodiscard]] std::string without_numbers(const std::string& text);

// A pcap of Ethernet frames in little-endian byte order.
class Pcap {
public:
    explicit Pcap(std::uint32_t snap_length = 262144);
    // A record whose header says what is asked, with `present` bytes after it.
    Pcap& record(std::uint32_t captured, std::uint32_t on_wire, std::size_t present);
    Pcap& record(std::uint32_t length) { return record(length, length, length); }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }

private:
    void put(std::uint32_t number, int width);
    std::vector<std::byte> bytes_;
};

}  // namespace qps::test
