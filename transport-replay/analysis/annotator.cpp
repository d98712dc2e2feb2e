// From the story of a packet to the annotation that its fields read.
#include <dissect/ulp/ulp.hpp>
#include <transport-replay/analysis/annotator.hpp>

#include <utility>

namespace qps::transport {

using dissect::Annotation;

// The words of dissect are those of a story, in the same order.
static_assert(std::to_underlying(Annotation::Arrival::restart) == std::to_underlying(Arrival::restart));
static_assert(std::to_underlying(Annotation::End::b) == std::to_underlying(End::b));

Annotation annotation(const PacketStory& story) {
    Annotation annotation;
    if (story.connection) {
        annotation.connection = std::to_underlying(*story.connection);
        annotation.from = Annotation::End{std::to_underlying(story.from)};
    }
    if (story.arrival) annotation.arrival = Annotation::Arrival{std::to_underlying(*story.arrival)};
    annotation.retransmission = story.retransmission;
    annotation.duplicated = story.duplicated;
    annotation.mirror_copy = story.mirror_copy;
    annotation.unmatched = story.unmatched;
    annotation.psn_missing = story.missing;
    annotation.messages_completed = story.completed;
    annotation.latency = story.latency;
    annotation.ulp = story.ulp;
    return annotation;
}

void Annotator::annotate(dissect::Packet& packet) {
    observe(packet, observation_);
    annotation_ = annotation(analysis_.observe(observation_));
    packet.annotation = &annotation_;
    add_ulp_layers(packet, annotation_.ulp);
}

}  // namespace qps::transport
