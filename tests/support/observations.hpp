// The observations of a sample capture, in its order, as the trackers get them.
#pragma once

#include <dissect/capture/capture_file.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/observation.hpp>

#include <string>
#include <string_view>

namespace qps::tests {

// Calls each(observation) for every frame of captures/<sample>/capture.pcap; what the file said of drops.
template <class Each> dissect::Drops for_each_observation(std::string_view sample, Each&& each) {
    auto file = dissect::CaptureFile::open(std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + std::string(sample) +
                                           "/capture.pcap");
    REQUIRE(file.has_value());
    dissect::Batch batch;
    dissect::Packet packet;
    transport::Observation observation;
    while (file->read(batch))
        for (const dissect::Frame& frame : batch.frames) {
            dissect::decode(frame, packet);
            transport::observe(packet, observation);
            each(observation);
        }
    return file->drops();
}

}  // namespace qps::tests
