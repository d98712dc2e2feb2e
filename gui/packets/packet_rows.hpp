// PacketRows: what a list of packets shows and what a search goes through: rows in their order, and the packet of each.
#pragma once

#include <dissect/base/packet.hpp>
#include <transport-replay/index/growing_store.hpp>
#include <transport-replay/index/message_row.hpp>
#include <transport-replay/index/packet_row.hpp>
#include <transport-replay/index/row_set.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace qps::gui {

class PacketRows {
public:
    PacketRows() = default;
    PacketRows(const PacketRows&) = delete;
    PacketRows& operator=(const PacketRows&) = delete;
    virtual ~PacketRows() = default;

    // Frames of the capture, shown or not; frames 1 to total() have a row.
    [[nodiscard]] virtual std::uint64_t total() const = 0;
    [[nodiscard]] virtual transport::PacketRow row(dissect::FrameIndex frame) const = 0;

    // How many are shown, and where each stands. Positions count from 0; positionOf() a packet that is not shown is
    // where the next one that is shown stands.
    [[nodiscard]] virtual std::uint64_t count() const = 0;
    [[nodiscard]] virtual dissect::FrameIndex frameAt(std::uint64_t position) const = 0;
    [[nodiscard]] virtual std::uint64_t positionOf(dissect::FrameIndex frame) const = 0;
    [[nodiscard]] virtual bool isShown(dissect::FrameIndex frame) const = 0;

    // Whether they stand in another order than that of the capture; and in that, the first one, and the one before.
    [[nodiscard]] virtual bool isSorted() const { return false; }
    [[nodiscard]] virtual std::optional<dissect::FrameIndex> firstShown() const {
        return count() == 0 ? std::nullopt : std::optional(frameAt(0));
    }
    [[nodiscard]] virtual std::optional<dissect::FrameIndex> shownBefore(dissect::FrameIndex frame) const {
        const std::uint64_t position = positionOf(frame);
        return position == 0 ? std::nullopt : std::optional(frameAt(position - 1));
    }

    // The messages of the capture, or nullptr where nobody knows.
    [[nodiscard]] virtual const transport::GrowingStore<transport::MessageRow>* messages() const = 0;

    // Decoded and annotated, valid until the next call; nullptr where it cannot be read any more.
    [[nodiscard]] virtual const dissect::Packet* read(dissect::FrameIndex frame) = 0;

    // The rows as they are now, for one other thread.
    [[nodiscard]] virtual std::unique_ptr<PacketRows> snapshot() const = 0;
};

}  // namespace qps::gui
