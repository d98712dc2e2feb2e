// A sample capture read to its end: what the models of the window show.
#pragma once

#include <tests/support/catch.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace qps::gui::tests {

struct ReadSample {
    std::shared_ptr<transport::CaptureIndex> index;
    std::shared_ptr<const transport::Timeline> timeline;
};

// `name`: a folder of captures/ with a capture that is not compressed.
[[nodiscard]] inline std::string sampleFile(const std::string& name) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + name))
        if (entry.path().stem() == "capture") return entry.path().string();
    return {};
}

[[nodiscard]] inline ReadSample readSample(const std::string& name) {
    auto index = std::make_shared<transport::CaptureIndex>();
    auto read = transport::build_index(*index, {.files = {sampleFile(name)}, .jobs = {1}, .spool_folder = ""}, {});
    REQUIRE(read.problems.empty());
    return {index, std::make_shared<transport::Timeline>(std::move(read.timeline))};
}

}  // namespace qps::gui::tests
