// CaptureIndex: an open capture as rows: where each packet lies, what it was, and the messages they make up.
//
// One thread (the indexer) adds to it, any number read what is there. Packets are decoded again from their files, which stay open,
// or, where there is no file to go back to (a pipe, an interface, a compressed file), from a spool in a temporary file.
//
// What an attacker could feed: everything in the files, and files that change after they were indexed: a packet that is
// not where it was cannot be read any more, nothing worse.
#pragma once

#include <dissect/annotation.hpp>
#include <dissect/packet.hpp>
#include <transport-replay/index/growing_store.hpp>
#include <transport-replay/index/message_row.hpp>
#include <transport-replay/index/packet_row.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport {

// PSNs that are missing before a packet. Kept apart: few packets have any.
struct GapRow {
    dissect::FrameIndex frame{};
    std::uint32_t missing = 0;
};

struct IndexedFile {
    std::string name;             // as the user wrote it
    std::string path;             // where its packets are read from: itself, or a spool
    dissect::FrameIndex first{};  // frame that its packets begin with
    bool spooled = false;
};

class CaptureIndex {
public:
    CaptureIndex();
    ~CaptureIndex();
    CaptureIndex(const CaptureIndex&) = delete;
    CaptureIndex& operator=(const CaptureIndex&) = delete;

    GrowingStore<PacketRow> packets;
    GrowingStore<MessageRow> messages;
    GrowingStore<GapRow> gaps;  // in the order of the capture

    [[nodiscard]] const PacketRow& row(dissect::FrameIndex frame) const { return packets[std::to_underlying(frame) - 1]; }
    [[nodiscard]] bool has(dissect::FrameIndex frame) const {
        return frame != dissect::FrameIndex{} && std::to_underlying(frame) <= packets.size();
    }
    // Of the first packet that has a time; times of pictures and columns count from here.
    [[nodiscard]] std::optional<dissect::Instant> start() const;

    // The frame as it was captured, with its number and the time since the first; nothing where it cannot be read any more.
    // It borrows the mapped file or `buffer`.
    [[nodiscard]] std::optional<dissect::Frame> frame(dissect::FrameIndex frame, std::vector<std::byte>& buffer) const;
    // What the analysis said when the packet passed; the latency of messages is looked up among `messages`.
    [[nodiscard]] dissect::Annotation annotation(dissect::FrameIndex frame) const;

    [[nodiscard]] std::vector<IndexedFile> files() const;
};

// Decodes packets of an index for one thread.
class PacketReader {
public:
    explicit PacketReader(std::shared_ptr<const CaptureIndex> index);
    // Decoded and annotated, valid until the next call; nullptr where it cannot be read any more.
    [[nodiscard]] const dissect::Packet* read(dissect::FrameIndex frame);

private:
    std::shared_ptr<const CaptureIndex> index_;
    std::vector<std::byte> buffer_;
    dissect::Packet packet_;
    dissect::Annotation annotation_;
};

}  // namespace qps::transport
