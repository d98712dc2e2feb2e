// The sample captures of captures/, whole.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/capture/capture_file.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace qps::tests {

inline const std::filesystem::path kSampleFolder = std::filesystem::path(QPSCOPE_SOURCE_DIR) / "captures";

// The path of every sample capture, sorted.
[[nodiscard]] inline std::vector<std::string> sample_captures() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kSampleFolder))
        if (entry.path().filename().string().starts_with("capture.")) paths.push_back(entry.path().string());
    std::ranges::sort(paths);
    REQUIRE(paths.size() > 30);
    return paths;
}

// Calls each(packet) for every frame of a capture, decoded.
template <class Each> void for_each_packet(const std::string& path, Each&& each) {
    auto file = dissect::CaptureFile::open(path);
    REQUIRE(file.has_value());
    dissect::Batch batch;
    dissect::Packet packet;
    while (file->read(batch))
        for (const dissect::Frame& frame : batch.frames) {
            dissect::decode(frame, packet);
            each(packet);
        }
}

}  // namespace qps::tests
