// OwnedPacket: a decoded packet with the bytes it borrows, for what shows it longer than the capture's reader keeps it.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/packet/tree.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace qps::gui {

class OwnedPacket {
public:
    // `message`: the number of its message and the frames of that, where it is known.
    explicit OwnedPacket(const dissect::Packet& packet, std::optional<std::uint64_t> message = {},
                         std::vector<std::uint32_t> frames = {})
        : m_bytes(packet.frame.bytes.begin(), packet.frame.bytes.end()),
          m_options(packet.frame.options.begin(), packet.frame.options.end()),
          m_frames(std::move(frames)),
          m_packet(packet) {
        m_packet.frame.bytes = m_bytes;
        m_packet.frame.options = m_options;
        if (packet.annotation != nullptr) {
            m_annotation = *packet.annotation;
            m_annotation.message = message;
            m_annotation.message_frames = m_frames;
            m_packet.annotation = &m_annotation;
        }
        m_lines = dissect::tree(m_packet);
    }
    OwnedPacket(const OwnedPacket&) = delete;
    OwnedPacket& operator=(const OwnedPacket&) = delete;

    [[nodiscard]] const dissect::Packet& packet() const { return m_packet; }
    [[nodiscard]] dissect::Bytes bytes() const { return m_packet.frame.bytes; }
    [[nodiscard]] const std::vector<dissect::TreeLine>& lines() const { return m_lines; }

private:
    std::vector<std::byte> m_bytes;
    std::vector<std::byte> m_options;
    std::vector<std::uint32_t> m_frames;
    dissect::Annotation m_annotation;  // borrows them
    dissect::Packet m_packet;
    std::vector<dissect::TreeLine> m_lines;  // borrow m_bytes
};

using SharedPacket = std::shared_ptr<const OwnedPacket>;

}  // namespace qps::gui
