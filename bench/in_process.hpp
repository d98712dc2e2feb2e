// The whole analysis of a capture in one thread: it decodes, observes and analyses a batch at a time, as `qpscope
// analyze -j 1` does.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/capture/capture_file.hpp>
#include <transport-replay/analysis/analysis.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace qps::bench {

// Nothing where the capture cannot be read.
[[nodiscard]] inline std::optional<transport::Timeline> analyse(const char* path,
                                                                transport::AnalysisSettings settings = {}) {
    auto capture = dissect::CaptureFile::open(path);
    if (!capture) return {};
    transport::Analysis analysis(std::move(settings));
    dissect::Batch batch;
    dissect::Packet packet;
    std::vector<transport::Observation> seen;
    while (capture->read(batch)) {
        const std::size_t count = batch.frames.size();
        seen.resize(std::max(seen.size(), count));
        for (std::size_t i = 0; i < count; ++i) {
            dissect::decode(batch.frames[i], packet);
            transport::observe(packet, seen[i]);
        }
        const auto ahead = [&](std::size_t i, std::size_t places) -> const transport::Observation& {
            return seen[std::min(i + places * transport::Analysis::kAhead, count - 1)];
        };
        for (std::size_t i = 0; i < count; ++i) {
            analysis.prefetch(ahead(i, 3), ahead(i, 2), ahead(i, 1));
            static_cast<void>(analysis.observe(seen[i]));
        }
    }
    return analysis.finish(capture->drops());
}

}  // namespace qps::bench
