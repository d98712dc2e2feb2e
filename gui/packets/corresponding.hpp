// Messages around a packet: which one it belongs to, what answers it, which comes next. Plain walks over the rows of a
// capture.
#pragma once

#include <gui/packets/packet_rows.hpp>

#include <string>
#include <vector>

namespace qps::gui {

// The message that a packet is a request of, else the last one that it answers, else the READ whose response it is.
[[nodiscard]] std::optional<transport::MessageRow> messageOf(const PacketRows& rows, dissect::FrameIndex frame);

// The message of a packet as fields have it: counted from 1 in the order in which messages end, and its frames; of one
// with very many frames the first ones, and its last.
struct MessageFrames {
    std::uint64_t number = 0;
    std::vector<std::uint32_t> frames;
};
[[nodiscard]] std::optional<MessageFrames> messageFramesOf(const PacketRows& rows, dissect::FrameIndex frame);

// From a request packet to the answer of its message, from any answer to the first request packet.
[[nodiscard]] std::optional<dissect::FrameIndex> correspondingTo(const PacketRows& rows, dissect::FrameIndex frame);

// A display filter of that packet's message, by its number where filters know it: that of InfiniBand and RoCE. Empty:
// it is of none.
[[nodiscard]] std::string messageFilterOf(const PacketRows& rows, dissect::FrameIndex frame);
// By what it is made of: the request packets of a message, their answers, and nothing else.
[[nodiscard]] std::string filterOf(const PacketRows& rows, const transport::MessageRow& message);

}  // namespace qps::gui
