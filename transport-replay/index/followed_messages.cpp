#include <transport-replay/index/followed_messages.hpp>
#include <transport-replay/index/restored_message.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kAskEvery = 16'384;                  // rows
constexpr std::size_t kMostWaiting = std::size_t{32} << 20;  // bytes; what is outstanding of one connection is far less

// Places of the messages of a connection that are wanted, and how many it has.
struct Wanted {
    std::uint64_t all = 0;
    std::vector<std::uint64_t> places;  // in `messages` of the index
};

std::optional<Wanted> find_wanted(const CaptureIndex& index, ConnectionId connection, std::uint64_t first,
                                  std::size_t most, std::size_t most_bytes, const std::function<bool()>& stopped) {
    Wanted wanted;
    std::uint64_t bytes = 0;
    const std::uint64_t messages = index.messages.size();
    for (std::uint64_t at = 0; at < messages; ++at) {
        if (at % kAskEvery == 0 && stopped && stopped()) return std::nullopt;
        const MessageRow& row = index.messages[at];
        if (row.connection() != connection || ++wanted.all < first || wanted.places.size() == most ||
            bytes >= most_bytes)
            continue;
        wanted.places.push_back(at);
        bytes += row.bytes();
    }
    return wanted;
}

class Walk {
public:
    Walk(const std::shared_ptr<const CaptureIndex>& index, ConnectionId connection, FollowedPart& part,
         std::vector<std::uint64_t> places, std::uint64_t first, std::size_t most_bytes)
        : index_(index),
          reader_(index),
          connection_(connection),
          part_(part),
          places_(std::move(places)),
          first_(first),
          most_bytes_(most_bytes),
          store_(kMostWaiting) {}

    // From the first packet of any of them on. False: stopped.
    bool run(const std::function<bool()>& stopped) {
        std::uint64_t from = index_->packets.size(), last = 0;
        for (const std::uint64_t place : places_) {
            const MessageRow& row = index_->messages[place];
            from = std::min(from, std::to_underlying(row.first_frame()));
            last = std::max({last, std::to_underlying(row.last_frame()),
                             std::to_underlying(row.answer_frame().value_or(FrameIndex{}))});
        }
        for (std::uint64_t number = std::max<std::uint64_t>(from, 1); number <= std::min(last, index_->packets.size());
             ++number) {
            if (number % kAskEvery == 0 && stopped && stopped()) return false;
            take(FrameIndex{number});
        }
        // Those that no packet ended: they were open at the end, or what ended them is of another connection.
        for (; next_ < places_.size(); ++next_) finish(places_[next_]);
        part_.let_go = store_.let_go();
        return true;
    }

private:
    void take(FrameIndex number) {
        const PacketRow& row = index_->row(number);
        if (row.connection() == connection_ && row.kind() == ObservationKind::transport) keep(number, row);
        for (const std::uint64_t end = index_->ended_by(number).second; next_ < places_.size() && places_[next_] < end;
             ++next_)
            finish(places_[next_]);
    }

    void keep(FrameIndex number, const PacketRow& row) {
        const auto frame = index_->frame(number, buffer_);
        if (!frame) return;
        decode(*frame, packet_);
        observe(packet_, observation_ = {});
        PacketRecord record;
        record.connection = connection_;
        record.from = row.from();
        record.mirror_copy = row.has(Mark::mirror_copy);
        store_.keep(observation_, record);
    }

    // Rows say how much a message was to carry; where more came, the part ends here.
    void finish(std::uint64_t place) {
        if (carried_ >= most_bytes_ && !part_.followed.empty()) return;
        const MessageRow& row = index_->messages[place];
        // What was said of its own packets knows the command that they answer.
        UlpHint hint = index_->has(row.last_frame()) ? index_->ulp_hint(row.last_frame()) : UlpHint{};
        if (hint.protocol == UlpProtocol::none) hint = index_->ulp.hint(connection_, row.requester());
        FollowedMessage followed{first_ + next_, row.requester(), restored(*index_, row), hint, {}};
        add_operands(followed.message, reader_);
        followed.message.ulp = index_->label(place);
        followed.payload = store_.take(followed.requester, followed.message);
        carried_ += followed.payload.bytes.size();
        part_.followed.push_back(std::move(followed));
    }

    std::shared_ptr<const CaptureIndex> index_;
    PacketReader reader_;
    ConnectionId connection_;
    FollowedPart& part_;
    std::vector<std::uint64_t> places_;
    std::uint64_t first_;
    std::size_t next_ = 0;  // of places_
    std::size_t most_bytes_;
    std::size_t carried_ = 0;  // by those that are followed
    PayloadStore store_;
    FrameBuffer buffer_;
    Packet packet_;
    Observation observation_;
};

FrameIndex last_of(const CaptureIndex& index, const MessageRow& row) {
    const FrameIndex last = index.has(row.last_frame()) ? row.last_frame() : row.first_frame();
    return std::max(last, row.answer_frame().value_or(last));
}

}  // namespace

std::optional<std::uint64_t> followed_number(const CaptureIndex& index, ConnectionId connection, FrameIndex packet) {
    if (!index.has(packet) || index.row(packet).connection() != connection) return std::nullopt;
    std::optional<std::uint64_t> answered;
    std::uint64_t number = 0;
    for (std::uint64_t at = 0; at < index.messages.size(); ++at) {
        const MessageRow& row = index.messages[at];
        if (row.connection() != connection) continue;
        ++number;
        if (!index.has(row.first_frame()) || packet < row.first_frame() || last_of(index, row) < packet) continue;
        const PacketRow& last = index.row(index.has(row.last_frame()) ? row.last_frame() : row.first_frame());
        if (carries(row, index.row(row.first_frame()), last, index.row(packet))) return number;
        if (row.answer_frame() == packet) answered = number;
    }
    return answered;
}

FrameIndex packet_of_byte(const CaptureIndex& index, ConnectionId connection, const FollowedMessage& followed,
                          std::size_t byte) {
    const auto piece = std::ranges::find_if(followed.payload.pieces, [&](const PayloadPiece& each) {
        return each.begin <= byte && byte < each.begin + each.length;
    });
    if (piece == followed.payload.pieces.end()) return {};
    const Psn wanted = followed.message.first + piece->packet;
    const FrameIndex last = std::max(followed.message.last_frame, followed.message.answer_frame);
    const End sender = payload_sender(followed);
    // Backwards: what came again replaces what was there.
    for (std::uint64_t number = std::min(std::to_underlying(last), index.packets.size());
         number >= std::max<std::uint64_t>(1, std::to_underlying(followed.message.first_frame)); --number) {
        const PacketRow& row = index.row(FrameIndex{number});
        if (row.connection() == connection && row.kind() == ObservationKind::transport && row.from() == sender &&
            row.psn() == wanted && row.payload_length() != 0 && !row.has(Mark::mirror_copy))
            return FrameIndex{number};
    }
    return {};
}

std::optional<FollowedPart> follow(const std::shared_ptr<const CaptureIndex>& index, ConnectionId connection,
                                   std::uint64_t first, std::size_t most, std::size_t most_bytes,
                                   const std::function<bool()>& stopped) {
    first = std::max<std::uint64_t>(first, 1);
    auto wanted = find_wanted(*index, connection, first, most, most_bytes, stopped);
    if (!wanted) return std::nullopt;
    FollowedPart part;
    part.messages = wanted->all;
    part.followed.reserve(wanted->places.size());
    Walk walk(index, connection, part, std::move(wanted->places), first, most_bytes);
    if (!walk.run(stopped)) return std::nullopt;
    return part;
}

}  // namespace qps::transport
