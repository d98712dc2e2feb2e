// Annotator: follows the packets of a capture in their order and tells of each what is known when it passes.
#pragma once

#include <dissect/base/annotation.hpp>
#include <transport-replay/analysis/analysis.hpp>

#include <functional>
#include <utility>

namespace qps::transport {

// A record as fields, filters and columns show it.
[[nodiscard]] dissect::Annotation annotation(const PacketRecord& record);

// Which packets an Annotator follows.
enum class AnnotatorScope : std::uint8_t {
    all,
    streams,  // TCP alone, for the layers of iWARP in it: nobody asks for annotations, and other packets cost nothing
};

class Annotator {
public:
    Annotator() = default;
    // Hints on connections: by the user, or by an earlier pass that followed the same packets.
    explicit Annotator(AnalysisSettings settings, AnnotatorScope scope = AnnotatorScope::all)
        : numbers_(std::exchange(settings.numbers, {})), analysis_(std::move(settings)), scope_(scope) {}

    // More about a packet that was annotated so far, by its frame.
    using More = std::function<void(dissect::FrameIndex, dissect::Annotation&)>;
    void know(More more) { more_ = std::move(more); }

    void end_recording() { analysis_.end_recording(); }

    // The next packet of the capture. Its annotation lives here, until the next call.
    void annotate(dissect::Packet& packet);

private:
    void follow_stream(dissect::Packet& packet);
    [[nodiscard]] std::optional<dissect::Duration> since_previous(const dissect::Frame& frame);

    FinalNumbers numbers_;
    Analysis analysis_;
    AnnotatorScope scope_ = AnnotatorScope::all;
    Observation observation_;
    dissect::Annotation annotation_;
    std::optional<dissect::Instant> previous_;
    More more_;
};

}  // namespace qps::transport
