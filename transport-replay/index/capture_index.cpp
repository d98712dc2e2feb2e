#include <dissect/base/types.hpp>
#include <dissect/ulp/ulp.hpp>
#include <transport-replay/analysis/annotator.hpp>
#include <transport-replay/index/capture_index.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

void CaptureIndex::settle(const FinalNumbers& numbers) {
    if (!numbers.any()) return;
    ConnectionId last{};
    const auto settle_row = [&](auto& row) { row.settle(numbers); };
    packets.change_all([&](PacketRow& row) {
        last = std::max(last, row.connection().value_or(ConnectionId{}));
        row.settle(numbers);
    });
    messages.change_all(settle_row);
    operations.change_all(settle_row);
    // Numbers are no higher than those that were given: of each what it had is known when its turn comes.
    for (std::uint32_t given = 1; given <= std::to_underlying(last); ++given) {
        ConnectionId connection{given};
        End end = End::a;
        numbers.settle(connection, end);
        if (connection == ConnectionId{given}) continue;
        const UlpHint hint = ulp.hint(ConnectionId{given}, End::a);
        ulp.learn(ConnectionId{given}, End::a, {});
        if (hint.protocol == UlpProtocol::none || connection == ConnectionId{}) continue;
        // A connection knows better than a flow that is a part of it.
        if (ulp.hint(connection, End::a).protocol == UlpProtocol::none) ulp.learn(connection, end, hint);
    }
}

std::optional<std::size_t> CaptureIndex::add(IndexedFile file, std::optional<Spool> spool) {
    const std::lock_guard lock(mutex_);
    if (files_.size() == PacketRow::kMaxFiles) return std::nullopt;
    files_.push_back({std::move(file), std::move(spool), {}});
    return files_.size() - 1;
}

Spool* CaptureIndex::spool(std::size_t file) {
    const std::lock_guard lock(mutex_);
    return files_[file].spool ? &*files_[file].spool : nullptr;
}

void CaptureIndex::read_by(std::size_t file, std::shared_ptr<const FrameReader> reader, CaptureLayout layout) {
    auto shared = std::make_shared<const CaptureLayout>(std::move(layout));
    const std::lock_guard lock(mutex_);
    files_[file].source = {std::move(reader), std::move(shared)};
}

void CaptureIndex::started(Instant first) {
    const std::lock_guard lock(mutex_);
    start_ = first;
}

std::optional<Instant> CaptureIndex::start() const {
    const std::lock_guard lock(mutex_);
    return start_;
}

std::vector<IndexedFile> CaptureIndex::files() const {
    const std::lock_guard lock(mutex_);
    std::vector<IndexedFile> files;
    for (const File& file : files_) files.push_back(file.description);
    return files;
}

std::optional<std::uint64_t> CaptureIndex::lost_from(std::size_t file) const {
    const Source source = source_of(file);
    return source.reader != nullptr ? source.reader->lost_from() : std::nullopt;
}

CaptureIndex::Source CaptureIndex::source_of(std::size_t file) const {
    const std::lock_guard lock(mutex_);
    return file < files_.size() ? files_[file].source : Source{};
}

std::optional<Frame> CaptureIndex::frame(FrameIndex number, FrameBuffer& buffer) const {
    if (!has(number)) return std::nullopt;
    const PacketRow& kept = row(number);
    const Source source = source_of(kept.file());
    if (source.reader == nullptr) return std::nullopt;
    std::optional<Frame> frame = source.reader->at(*source.layout, kept.file_offset(), buffer);
    if (!frame) return std::nullopt;
    frame->index = number;
    if (link_speed_ != BitsPerSecond{}) frame->link_speed = link_speed_;
    frame->time = kept.time();
    frame->has_time = !kept.has(Mark::timeless);
    const std::optional<Instant> first = start();
    frame->elapsed = frame->has_time && first ? frame->time - *first : Duration{};
    return frame;
}

namespace {

// The place of the row for that packet in a store of rows for some packets, or of the next one.
template <class Row, class Of> std::uint64_t lower_bound(const GrowingStore<Row>& store, std::uint64_t wanted, Of of) {
    std::uint64_t low = 0;
    for (std::uint64_t high = store.size(); low < high;) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (of(store[middle]) < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

}  // namespace

std::uint32_t CaptureIndex::missing_before(FrameIndex number) const {
    const std::uint64_t at =
        lower_bound(gaps, std::to_underlying(number), [](const GapRow& gap) { return std::to_underlying(gap.frame); });
    return at < gaps.size() && gaps[at].frame == number ? gaps[at].missing : 0;
}

std::pair<std::uint64_t, std::uint64_t> CaptureIndex::ended_by(FrameIndex number) const {
    const std::uint64_t wanted = std::to_underlying(number) - 1;
    const std::uint64_t at = lower_bound(endings, wanted, [](const EndingRow& ending) { return ending.row; });
    if (at >= endings.size() || endings[at].row != wanted) return {};
    const EndingRow& ending = endings[at];
    return {ending.first_message, std::uint64_t{ending.first_message} + ending.messages};
}

Annotation CaptureIndex::annotation(FrameIndex number) const {
    const PacketRow& kept = row(number);
    PacketRecord record;
    record.connection = kept.connection();
    record.from = kept.from();
    record.arrival = kept.arrival();
    record.retransmission = kept.has(Mark::retransmission);
    record.duplicated = kept.has(Mark::duplicated);
    record.mirror_copy = kept.has(Mark::mirror_copy);
    record.unmatched = kept.has(Mark::unmatched);
    if (kept.has(Mark::gap)) record.missing = missing_before(number);
    if (kept.has(Mark::completes)) {
        const auto [first, last] = ended_by(number);
        for (std::uint64_t at = first; at < last; ++at) {
            const MessageRow& message = messages[at];
            if (message.outcome() != Outcome::completed && message.outcome() != Outcome::sent) continue;
            ++record.completed;
            const std::optional<FrameIndex> answer = message.answer_frame();
            if (message.outcome() == Outcome::completed && answer && has(message.first_frame()) && has(*answer))
                record.latency = row(*answer).time() - row(message.first_frame()).time();
        }
    }
    record.ulp = ulp_hint(number);
    Annotation known = transport::annotation(record);
    known.since_previous = since_previous(number);
    return known;
}

// Over all frames of a capture the steps back are as many as frames, however many have no time.
std::optional<Duration> CaptureIndex::since_previous(FrameIndex number) const {
    const PacketRow& kept = row(number);
    if (kept.has(Mark::timeless)) return std::nullopt;
    for (std::uint64_t before = std::to_underlying(number) - 1; before != 0; --before)
        if (const PacketRow& earlier = row(FrameIndex{before}); !earlier.has(Mark::timeless))
            return kept.time() - earlier.time();
    return Duration{};
}

UlpHint CaptureIndex::ulp_hint(FrameIndex number) const {
    const auto frame_of = [](const UlpPacketRow& packet) { return std::to_underlying(packet.frame); };
    const std::uint64_t at = lower_bound(ulp_packets, std::to_underlying(number), frame_of);
    if (at < ulp_packets.size() && ulp_packets[at].frame == number) return ulp_packets[at].hint;
    const PacketRow& kept = row(number);
    const auto connection = kept.connection();
    return connection ? ulp.hint(*connection, kept.from()) : UlpHint{};
}

std::optional<UlpLabel> CaptureIndex::label(std::uint64_t message) const {
    const std::uint64_t at = lower_bound(labels, message, [](const LabelRow& row) { return row.message(); });
    return at < labels.size() && labels[at].message() == message ? std::optional(labels[at].label()) : std::nullopt;
}

PacketReader::PacketReader(std::shared_ptr<const CaptureIndex> index) : index_(std::move(index)) {}

const Packet* PacketReader::read(FrameIndex number) {
    const std::optional<Frame> frame = index_->frame(number, buffer_);
    if (!frame) return nullptr;
    decode(*frame, packet_);
    annotation_ = index_->annotation(number);
    packet_.annotation = &annotation_;
    add_ulp_layers(packet_, annotation_.ulp);
    add_stream_layer(packet_);
    return &packet_;
}

}  // namespace qps::transport
