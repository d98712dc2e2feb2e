#include <dissect/packet/notation.hpp>
#include <transport-replay/index/restored_message.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/gather.hpp>
#include <transport-replay/series/scope.hpp>

namespace qps::transport::page {

using namespace dissect;

EvidencePacket words_of(const Packet& packet) {
    EvidencePacket evidence;
    append_source(evidence.source, packet);
    append_destination(evidence.destination, packet);
    append_line(evidence.line, packet);
    return evidence;
}

bool gather(Collector& collector, const std::shared_ptr<const CaptureIndex>& index,
            const std::function<bool()>& stopped) {
    PacketReader reader(index);
    const bool packets =
        series::scan(index->packets, 0, index->packets.size(), stopped, [&](const PacketRow& row, std::uint64_t at) {
            const FrameIndex frame = series::frame_at(at);
            collector.take(frame, row);
            if (!collector.wants_text(frame)) return;
            if (const Packet* packet = reader.read(frame)) collector.take_text(frame, words_of(*packet));
        });
    return packets &&
           series::scan(index->messages, 0, index->messages.size(), stopped, [&](const MessageRow& row, std::uint64_t) {
               collector.take(row.connection(), restored(*index, row));
           });
}

}  // namespace qps::transport::page
