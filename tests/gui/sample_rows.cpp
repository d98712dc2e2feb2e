#include <dissect/capture/capture_file.hpp>
#include <tests/gui/sample_rows.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/analysis/annotator.hpp>
#include <transport-replay/model/timeline.hpp>

#include <string>

namespace qps::gui::tests {

using namespace dissect;

std::shared_ptr<const LoadedCapture> loadSample(std::string_view name, std::string_view file) {
    auto sample = std::make_shared<LoadedCapture>();
    auto capture =
        CaptureFile::open(std::string(QPSCOPE_SOURCE_DIR "/captures/").append(name).append("/").append(file));
    REQUIRE(capture.has_value());
    transport::Analysis analysis({.message = [&](transport::ConnectionId connection, transport::End requester,
                                                 const transport::Message& message) {
        sample->messages.append(transport::MessageRow(connection, requester, message));
    }});
    Batch batch;
    Packet packet;
    transport::Observation observation;
    while (capture->read(batch))
        for (const Frame& frame : batch.frames) {
            decode(frame, packet);
            transport::observe(packet, observation);
            const transport::PacketRecord record = analysis.observe(observation);
            sample->rows.emplace_back(0, frame.file_offset, observation, record);
            sample->annotations.push_back(transport::annotation(record));
            sample->bytes.emplace_back(frame.bytes.begin(), frame.bytes.end());
            sample->options.emplace_back(frame.options.begin(), frame.options.end());
            Frame& kept = sample->frames.emplace_back(frame);
            kept.bytes = sample->bytes.back();
            kept.options = sample->options.back();
        }
    static_cast<void>(analysis.finish());
    REQUIRE(!sample->frames.empty());
    return sample;
}

transport::PacketRow SampleRows::row(FrameIndex frame) const {
    return m_sample->rows.at(std::to_underlying(frame) - 1);
}
FrameIndex SampleRows::frameAt(std::uint64_t position) const {
    return shown ? shown->at(position) : FrameIndex{position + 1};
}
std::uint64_t SampleRows::positionOf(FrameIndex frame) const {
    return shown ? shown->rank(frame) : std::to_underlying(frame) - 1;
}

const Packet* SampleRows::read(FrameIndex frame) {
    if (lost.contains(frame)) return nullptr;
    const std::uint64_t at = std::to_underlying(frame) - 1;
    decode(m_sample->frames.at(at), m_packet);
    m_packet.annotation = &m_sample->annotations.at(at);
    return &m_packet;
}

std::unique_ptr<PacketRows> SampleRows::snapshot() const {
    auto copy = std::make_unique<SampleRows>(m_sample);
    copy->shown = shown;
    copy->lost = lost;
    return copy;
}

transport::PacketRow EndlessRows::row(FrameIndex frame) const {
    ++looked_up;
    return m_sample->rows[(std::to_underlying(frame) - 1) % m_sample->rows.size()];
}

const Packet* EndlessRows::read(FrameIndex frame) {
    ++decoded;
    const std::uint64_t at = (std::to_underlying(frame) - 1) % m_sample->frames.size();
    Frame numbered = m_sample->frames[at];
    numbered.index = frame;
    decode(numbered, m_packet);
    m_packet.annotation = &m_sample->annotations[at];
    return &m_packet;
}

}  // namespace qps::gui::tests
