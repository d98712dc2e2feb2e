// Annotator: follows the packets of a capture in their order and tells of each what is known when it passes.
#pragma once

#include <dissect/annotation.hpp>
#include <transport-replay/analysis/analysis.hpp>

namespace qps::transport {

// What fields, filters and columns show of a story.
[[nodiscard]] dissect::Annotation annotation(const PacketStory& story);

class Annotator {
public:
    Annotator() = default;
    // What is known of connections before: by the user, or by an earlier pass.
    explicit Annotator(UlpHints hints) : analysis_({.hints = std::move(hints)}) {}

    // The next packet of the capture. Its annotation lives here, until the next call.
    void annotate(dissect::Packet& packet);

private:
    Analysis analysis_;
    Observation observation_;
    dissect::Annotation annotation_;
};

}  // namespace qps::transport
