// The findings of every sample capture: just those that captures/catalogue.json names, each with a reason why.
// QPSCOPE_SHOW_FINDINGS=1 prints them all, which is how the catalogue is reviewed.
#include <dissect/capture/capture_file.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using qps::tests::kSampleFolder;

namespace {

Timeline analyze(const std::filesystem::path& path) {
    auto file = CaptureFile::open(path.string());
    REQUIRE(file.has_value());
    Analysis analysis;
    Batch batch;
    Packet packet;
    Observation observation;
    while (file->read(batch))
        for (const Frame& frame : batch.frames) {
            decode(frame, packet);
            observe(packet, observation);
            analysis.observe(observation);
        }
    Timeline timeline = analysis.finish(file->drops());
    draw_findings(timeline);
    return timeline;
}

std::string text(const Finding& finding) {
    std::string out = fmt::format("{} {} {} x{}", kSeverityNames[std::to_underlying(finding.severity)], finding.id,
                                  kPartyNames[std::to_underlying(finding.party)], finding.count);
    if (finding.connection) out += fmt::format(" connection {}", std::to_underlying(*finding.connection));
    out += "\n    " + finding.summary + "\n    " + finding.advice + "\n    frames";
    for (const FrameIndex frame : finding.packets) out += fmt::format(" {}", std::to_underlying(frame));
    return out + "\n";
}

}  // namespace

TEST_CASE("every sample capture has the findings that the catalogue names, and no others") {
    const char* show = std::getenv("QPSCOPE_SHOW_FINDINGS");
    std::ifstream catalogue(kSampleFolder / "catalogue.json");
    const nlohmann::json document = nlohmann::json::parse(catalogue);  // outlives the loop over a part of it
    std::size_t captures = 0;
    for (const auto& row : document["captures"]) {
        ++captures;
        const auto name = row["case"].get<std::string>();
        const Timeline timeline = analyze(kSampleFolder / name / row["file"].get<std::string>());
        std::map<std::string, std::size_t> found, expected;
        std::string texts;
        for (const Finding& finding : timeline.findings) {
            ++found[std::string(finding.id)];
            texts += text(finding);
        }
        if (show != nullptr && *show != '\0')
            fmt::print("== {} ({} connections)\n{}\n", name, timeline.connections.size(), texts);
        REQUIRE(row.contains("findings"));
        for (const auto& finding : row["findings"]) {
            expected[finding["id"].get<std::string>()] = finding.value("count", std::size_t{1});
            CHECK(finding["why"].get<std::string>().size() > 10);
        }
        INFO(name << "\n" << texts);
        CHECK(found == expected);
    }
    CHECK(captures > 40);
}
