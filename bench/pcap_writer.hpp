// A pcap file of Ethernet frames with nanoseconds, as the benchmarks write it. Trusts its caller.
#pragma once

#include <cstdint>
#include <cstdio>

#include "roce_frame.hpp"

namespace qps::bench {

// Frames are cut to `snap` bytes; times count from kStart, in nanoseconds.
class PcapWriter {
public:
    PcapWriter(std::FILE* file, std::uint32_t snap) : file_(file), snap_(snap) {
        for (const std::uint32_t word : {0xa1b23c4dU, 0x00040002U, 0U, 0U, snap, 1U}) header_.little(word, 4);
        put(header_);
    }
    void add(const FrameFields& fields, std::uint64_t time) {
        write_frame(frame_, fields, snap_);
        header_.clear();
        header_.little(kStart + time / 1'000'000'000, 4);
        header_.little(time % 1'000'000'000, 4);
        header_.little(frame_.all().size(), 4);
        header_.little(frame_length(fields), 4);
        put(header_);
        put(frame_);
    }
    [[nodiscard]] bool good() const { return good_; }

private:
    static constexpr std::uint64_t kStart = 1'700'000'000;  // s since 1970

    void put(const Writer& out) {
        good_ = good_ && std::fwrite(out.all().data(), 1, out.all().size(), file_) == out.all().size();
    }

    std::FILE* file_;
    std::uint32_t snap_;
    bool good_ = true;
    Writer header_;
    Writer frame_;
};

}  // namespace qps::bench
