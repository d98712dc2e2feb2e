// A copy of a capture that was recorded later: files of the same times would be one recording.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace qps::test {

// Of a pcap file in this machine's order of bytes. Returns `to`.
inline std::string copied_later(const std::string& from, const std::string& to, std::uint32_t seconds) {
    constexpr std::size_t kFileHeader = 24, kPacketHeader = 16, kCaptured = 8;
    std::ifstream in(from, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    for (std::size_t at = kFileHeader; at + kPacketHeader <= bytes.size();) {
        std::uint32_t time = 0, captured = 0;
        std::memcpy(&time, bytes.data() + at, sizeof time);
        std::memcpy(&captured, bytes.data() + at + kCaptured, sizeof captured);
        time += seconds;
        std::memcpy(bytes.data() + at, &time, sizeof time);
        at += kPacketHeader + captured;
    }
    std::ofstream(to, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return to;
}

}  // namespace qps::test
