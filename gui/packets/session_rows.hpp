// SessionRows: the packets of the session that the selection shows, as rows of a list, in the order of the capture or
// in another.
#pragma once

#include <gui/packets/packet_rows.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/series/packet_order.hpp>

namespace qps::gui {

class Session;
class Selection;

class SessionRows : public PacketRows {
public:
    SessionRows(const Session& session, const Selection& selection);

    // Another capture was opened.
    void renew();
    // Of all that are shown; nullptr: the order of the capture. One of another number of packets does not count.
    using Order = std::shared_ptr<const transport::series::PacketOrder>;
    void setOrder(Order order) { m_order = std::move(order); }

    [[nodiscard]] std::uint64_t total() const override;
    [[nodiscard]] transport::PacketRow row(dissect::FrameIndex frame) const override;
    [[nodiscard]] std::uint64_t count() const override;
    [[nodiscard]] dissect::FrameIndex frameAt(std::uint64_t position) const override;
    [[nodiscard]] std::uint64_t positionOf(dissect::FrameIndex frame) const override;
    [[nodiscard]] bool isShown(dissect::FrameIndex frame) const override;
    [[nodiscard]] bool isSorted() const override { return order() != nullptr; }
    [[nodiscard]] std::optional<dissect::FrameIndex> firstShown() const override;
    [[nodiscard]] std::optional<dissect::FrameIndex> shownBefore(dissect::FrameIndex frame) const override;
    [[nodiscard]] const transport::GrowingStore<transport::MessageRow>* messages() const override;
    [[nodiscard]] const dissect::Packet* read(dissect::FrameIndex frame) override;
    [[nodiscard]] std::unique_ptr<PacketRows> snapshot() const override;

private:
    [[nodiscard]] const transport::series::PacketOrder* order() const;

    const Session& m_session;
    const Selection& m_selection;
    std::shared_ptr<const transport::CaptureIndex> m_index;
    transport::PacketReader m_reader;
    Order m_order;
};

}  // namespace qps::gui
