// CaptureIndex: an open capture as rows: where each packet lies, what it was, and the messages they make up.
//
// One thread (the indexer) adds to it, any number read what is there. Packets are decoded again from their files, which
// stay open, or, where there is no file to go back to (a pipe, an interface, a compressed file), from a spool in a
// temporary file.
//
// What an attacker could feed: everything in the files, and files that change after they were indexed: a packet that is
// not where it was cannot be read any more, nothing worse.
#pragma once

#include <dissect/base/annotation.hpp>
#include <dissect/base/packet.hpp>
#include <dissect/capture/frame_reader.hpp>
#include <transport-replay/index/growing_store.hpp>
#include <transport-replay/index/message_row.hpp>
#include <transport-replay/index/operation_row.hpp>
#include <transport-replay/index/packet_row.hpp>
#include <transport-replay/index/spool.hpp>
#include <transport-replay/index/ulp_knowledge.hpp>

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

// Messages that a packet ended, one after the other. Kept of packets that ended any. The number stands here, and is not
// taken from the next row: while the capture is read, messages of the next packet may be there already and its row not
// yet.
struct EndingRow {
    std::uint32_t row = 0;  // of the packet: its frame less one; both fit, see kMaxRows
    std::uint32_t first_message = 0;
    std::uint32_t messages = 0;
};

// A packet that is of no connection and carries something of an upper protocol: a message of CM.
struct UlpPacketRow {
    dissect::FrameIndex frame{};
    dissect::UlpHint hint;
};

struct IndexedFile {
    std::string name;             // as the user wrote it; "standard input" for "-"
    dissect::FrameIndex first{};  // frame that its packets begin with
    bool spooled = false;         // its packets are read from a copy
};

class CaptureIndex {
public:
    GrowingStore<PacketRow> packets;
    GrowingStore<MessageRow> messages;
    GrowingStore<GapRow> gaps;               // in the order of the capture
    GrowingStore<EndingRow> endings;         // in the order of the capture
    GrowingStore<OperationRow> operations;   // of upper protocols, in the order in which they ended
    GrowingStore<LabelRow> labels;           // of messages that belong to one, in their order
    GrowingStore<UlpPacketRow> ulp_packets;  // in the order of the capture
    UlpKnowledge ulp;

    // The writing thread, at the end of the capture: what was a flow of its own is named by its connection.
    void settle(const FinalNumbers& numbers);

    // What the rows take.
    [[nodiscard]] std::uint64_t bytes() const {
        return packets.bytes() + messages.bytes() + gaps.bytes() + endings.bytes() + operations.bytes() +
               labels.bytes() + ulp_packets.bytes();
    }
    [[nodiscard]] const PacketRow& row(dissect::FrameIndex frame) const {
        return packets[std::to_underlying(frame) - 1];
    }
    [[nodiscard]] bool has(dissect::FrameIndex frame) const {
        return frame != dissect::FrameIndex{} && std::to_underlying(frame) <= packets.size();
    }
    // Of the first packet that has a time; times of pictures and columns count from here.
    [[nodiscard]] std::optional<dissect::Instant> start() const;

    // The frame as it was captured, with its number and the time since the first; nothing where it cannot be read any
    // more. It borrows `buffer`, of which each thread has its own.
    [[nodiscard]] std::optional<dissect::Frame> frame(dissect::FrameIndex number, dissect::FrameBuffer& buffer) const;
    // What the analysis said when the packet passed.
    [[nodiscard]] dissect::Annotation annotation(dissect::FrameIndex number) const;
    // Since the frame before that has a time, 0 of the first; nothing where this one has none.
    [[nodiscard]] std::optional<dissect::Duration> since_previous(dissect::FrameIndex number) const;
    // What the payload of a packet is, as far as the whole capture that was read tells.
    [[nodiscard]] dissect::UlpHint ulp_hint(dissect::FrameIndex number) const;
    // The operation that a message belongs to, by its place in `messages`; nothing where it belongs to none.
    [[nodiscard]] std::optional<UlpLabel> label(std::uint64_t message) const;
    // The messages that a packet ended, as positions in `messages`: from the first to before the second.
    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> ended_by(dissect::FrameIndex number) const;

    [[nodiscard]] std::vector<IndexedFile> files() const;
    // Where that file ends now, if it was truncated since it was opened: packets behind it cannot be read any more.
    [[nodiscard]] std::optional<std::uint64_t> lost_from(std::size_t file) const;
    // How the packets of that file are read; nothing where none has come yet.
    [[nodiscard]] std::shared_ptr<const dissect::CaptureLayout> layout(std::size_t file) const {
        return source_of(file).layout;
    }

    // For the indexer. The next file; nothing past PacketRow::kMaxFiles.
    std::optional<std::size_t> add(IndexedFile file, std::optional<Spool> spool);
    // That of a file which add() was given; it stays where it is.
    [[nodiscard]] Spool* spool(std::size_t file);
    // The packets of a file are read again by this. Once for each file, and again with each new interface in it.
    void read_by(std::size_t file, std::shared_ptr<const dissect::FrameReader> reader, dissect::CaptureLayout layout);
    void started(dissect::Instant first);
    // What the user says of all interfaces; before the first packet.
    void set_link_speed(dissect::BitsPerSecond speed) { link_speed_ = speed; }

private:
    struct Source {
        std::shared_ptr<const dissect::FrameReader> reader;
        std::shared_ptr<const dissect::CaptureLayout> layout;
    };
    struct File {
        IndexedFile description;
        std::optional<Spool> spool;
        Source source;
    };
    [[nodiscard]] Source source_of(std::size_t file) const;
    [[nodiscard]] std::uint32_t missing_before(dissect::FrameIndex number) const;

    dissect::BitsPerSecond link_speed_{};  // 0: as the files say
    mutable std::mutex mutex_;             // of what follows
    std::deque<File> files_;
    std::optional<dissect::Instant> start_;
};

// Decodes packets of an index for one thread.
class PacketReader {
public:
    explicit PacketReader(std::shared_ptr<const CaptureIndex> index);
    // Decoded and annotated, valid until the next call; nullptr where it cannot be read any more.
    [[nodiscard]] const dissect::Packet* read(dissect::FrameIndex number);

private:
    std::shared_ptr<const CaptureIndex> index_;
    dissect::FrameBuffer buffer_;
    dissect::Packet packet_;
    dissect::Annotation annotation_;
};

}  // namespace qps::transport
