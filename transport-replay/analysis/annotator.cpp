// From the record of a packet to the annotation that its fields read.
#include <dissect/ulp/ulp.hpp>
#include <transport-replay/analysis/annotator.hpp>

#include <utility>

namespace qps::transport {

using dissect::Annotation;

// The ends of dissect are those of a record, in the same order.
static_assert(std::to_underlying(Annotation::End::b) == std::to_underlying(End::b));

Annotation annotation(const PacketRecord& record) {
    Annotation annotation;
    if (record.connection) {
        annotation.connection = std::to_underlying(*record.connection);
        annotation.from = Annotation::End{std::to_underlying(record.from)};
    }
    annotation.arrival = record.arrival;
    annotation.retransmission = record.retransmission;
    annotation.duplicated = record.duplicated;
    annotation.mirror_copy = record.mirror_copy;
    annotation.unmatched = record.unmatched;
    annotation.psn_missing = record.missing;
    annotation.messages_completed = record.completed;
    annotation.latency = record.latency;
    annotation.ulp = record.ulp;
    annotation.link_credits = record.link_credits;
    return annotation;
}

// Connections have other numbers than where all packets are followed: only what the payload is gets into the packet.
void Annotator::follow_stream(dissect::Packet& packet) {
    if (find(packet, dissect::LayerKind::tcp) == nullptr) return;
    observe(packet, observation_);
    add_ulp_layers(packet, analysis_.observe(observation_).ulp);
}

std::optional<dissect::Duration> Annotator::since_previous(const dissect::Frame& frame) {
    if (!frame.has_time) return std::nullopt;
    return frame.time - std::exchange(previous_, frame.time).value_or(frame.time);
}

void Annotator::annotate(dissect::Packet& packet) {
    if (scope_ == AnnotatorScope::streams) return follow_stream(packet);
    observe(packet, observation_);
    PacketRecord record = analysis_.observe(observation_);
    if (record.connection) numbers_.settle(*record.connection, record.from);
    annotation_ = annotation(record);
    annotation_.since_previous = since_previous(packet.frame);
    if (more_) more_(packet.frame.index, annotation_);
    packet.annotation = &annotation_;
    add_ulp_layers(packet, annotation_.ulp);
    add_stream_layer(packet);
}

}  // namespace qps::transport
