// Reconstructs what happened in a capture and prints the findings: what went wrong, and what to do.   print_findings
// FILE
#include <dissect/capture/capture_file.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <iostream>

using namespace qps;

int main(int argc, char** argv) {
    auto file = dissect::CaptureFile::open(argc > 1 ? argv[1] : "-");
    if (!file) return std::cerr << file.error().file << ": " << file.error().sentence << '\n', 1;
    transport::Analysis analysis;
    transport::Observation observation;
    dissect::Packet packet;
    dissect::Batch batch;
    while (file->read(batch))
        for (const dissect::Frame& frame : batch.frames) {
            dissect::decode(frame, packet);
            transport::observe(packet, observation);
            analysis.observe(observation);
        }
    const transport::Timeline timeline = analysis.finish(file->drops());
    std::cout << "packets: " << timeline.packets << ", connections: " << timeline.connections.size() << '\n';
    for (const transport::Finding& finding : timeline.findings)
        std::cout << transport::kSeverityNames[static_cast<std::size_t>(finding.severity)] << ' ' << finding.id << ": "
                  << finding.summary << "\n    " << finding.advice << '\n';
}
