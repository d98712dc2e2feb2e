// Rows for the packet list without a session: those of a sample capture, analysed; and a hundred million that do not
// exist.
#pragma once

#include <gui/packets/packet_rows.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace qps::gui::tests {

// 0 where there is no frame.
[[nodiscard]] inline std::uint64_t number(std::optional<dissect::FrameIndex> frame) {
    return frame ? std::to_underlying(*frame) : 0;
}

// A capture in memory.
struct LoadedCapture {
    std::vector<std::vector<std::byte>> bytes;
    std::vector<std::vector<std::byte>> options;
    std::vector<dissect::Frame> frames;
    std::vector<dissect::Annotation> annotations;
    std::vector<transport::PacketRow> rows;
    transport::GrowingStore<transport::MessageRow> messages;
};
// captures/<name>/<file>
[[nodiscard]] std::shared_ptr<const LoadedCapture> loadSample(std::string_view name,
                                                              std::string_view file = "capture.pcap");

class SampleRows : public PacketRows {
public:
    explicit SampleRows(std::shared_ptr<const LoadedCapture> sample) : m_sample(std::move(sample)) {}

    // Only these are shown; nothing: all.
    std::optional<transport::RowSet> shown;
    // Of these nothing can be read.
    transport::RowSet lost;

    [[nodiscard]] std::uint64_t total() const override { return m_sample->frames.size(); }
    [[nodiscard]] transport::PacketRow row(dissect::FrameIndex frame) const override;
    [[nodiscard]] std::uint64_t count() const override { return shown ? shown->size() : total(); }
    [[nodiscard]] dissect::FrameIndex frameAt(std::uint64_t position) const override;
    [[nodiscard]] std::uint64_t positionOf(dissect::FrameIndex frame) const override;
    [[nodiscard]] bool isShown(dissect::FrameIndex frame) const override { return !shown || shown->contains(frame); }
    [[nodiscard]] const transport::GrowingStore<transport::MessageRow>* messages() const override {
        return &m_sample->messages;
    }
    [[nodiscard]] const dissect::Packet* read(dissect::FrameIndex frame) override;
    [[nodiscard]] std::unique_ptr<PacketRows> snapshot() const override;

private:
    std::shared_ptr<const LoadedCapture> m_sample;
    dissect::Packet m_packet;
};

// As many rows as one likes: the packets of a sample over and over, with the numbers and times they would have.
class EndlessRows : public PacketRows {
public:
    mutable std::uint64_t looked_up = 0;  // rows
    std::uint64_t decoded = 0;            // packets

    EndlessRows(std::shared_ptr<const LoadedCapture> sample, std::uint64_t rows)
        : m_sample(std::move(sample)), m_rows(rows) {}

    [[nodiscard]] std::uint64_t total() const override { return m_rows; }
    [[nodiscard]] transport::PacketRow row(dissect::FrameIndex frame) const override;
    [[nodiscard]] std::uint64_t count() const override { return m_rows; }
    [[nodiscard]] dissect::FrameIndex frameAt(std::uint64_t position) const override {
        return dissect::FrameIndex{position + 1};
    }
    [[nodiscard]] std::uint64_t positionOf(dissect::FrameIndex frame) const override {
        return std::to_underlying(frame) - 1;
    }
    [[nodiscard]] bool isShown(dissect::FrameIndex) const override { return true; }
    [[nodiscard]] const transport::GrowingStore<transport::MessageRow>* messages() const override { return nullptr; }
    [[nodiscard]] const dissect::Packet* read(dissect::FrameIndex frame) override;
    [[nodiscard]] std::unique_ptr<PacketRows> snapshot() const override {
        return std::make_unique<EndlessRows>(m_sample, m_rows);
    }

private:
    std::shared_ptr<const LoadedCapture> m_sample;
    std::uint64_t m_rows;
    dissect::Packet m_packet;
};

}  // namespace qps::gui::tests
