#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/rsocket.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kBigEndianHost = 1;
constexpr std::uint8_t kHasMap = 2;
constexpr std::uint32_t kEntries = 2;  // that the peer offers in turn
constexpr std::size_t kEntry = 16;     // bytes
constexpr std::size_t kMapEntry = 24;  // bytes
constexpr std::uint32_t kMostEntries = 1024;
constexpr std::size_t kHalf = kStreamBuffer / 2;

// The highest three bits of the immediate.
enum class Op : std::uint32_t {
    data = 0,
    more_data = 1,
    direct = 2,
    credits = 4,
    map = 6,
    control = 7
};  // direct: not said, a tag
constexpr unsigned kOpShift = 29;
constexpr std::uint32_t kRest = (1U << kOpShift) - 1;
constexpr std::uint32_t message(Op op, std::uint32_t rest) {
    return static_cast<std::uint32_t>(op) << kOpShift | (rest & kRest);
}
constexpr Op op_of(std::uint32_t message) { return Op{message >> kOpShift}; }

enum Control : std::uint32_t { kDisconnect = 0, kKeepalive = 1, kShutdown = 2 };

// Entries that the peer writes for us: we say that we are little-endian.
struct Entry {
    std::uint64_t address = 0;
    dissect::Rkey key{};
    std::uint32_t length = 0;
};
Entry entry_at(dissect::Bytes bytes) {
    return {dissect::read_le<std::uint64_t>(bytes, 0), dissect::Rkey{dissect::read_le<std::uint32_t>(bytes, 8)},
            dissect::read_le<std::uint32_t>(bytes, 12)};
}
void put(dissect::MutableBytes into, const Entry& entry, bool big) {
    write_be(into, 0, entry.address);
    write_be(into, 8, static_cast<std::uint32_t>(entry.key));
    write_be(into, 12, entry.length);
    if (big) return;
    std::ranges::reverse(into.subspan(0, 8));
    std::ranges::reverse(into.subspan(8, 4));
    std::ranges::reverse(into.subspan(12, 4));
}

}  // namespace

QueueNeeds Rsocket::needs() {
    return {.sends = kStreamSends + kStreamControls, .receives = kStreamReceives, .receive_bytes = 0};
}

bool Rsocket::is_big_endian(dissect::Bytes said) {
    return (dissect::read_be<std::uint8_t>(said, 1) & kBigEndianHost) != 0;
}
bool Rsocket::takes_map(dissect::Bytes said) {
    return (dissect::read_be<std::uint8_t>(said, 1) & kHasMap) != 0 && dissect::read_be<std::uint8_t>(said, 7) != 0;
}

verbs::Result<CmPrivateBytes> Rsocket::prepare(const PeerContext& context) {
    constexpr verbs::Access kWritten{.local_write = true, .remote_write = true};
    struct Wanted {
        Block* block;
        std::size_t bytes;
        verbs::Access access;
    };
    for (const Wanted& wanted :
         {Wanted{&receive_, kStreamBuffer, kWritten}, Wanted{&send_, kStreamBuffer, verbs::kLocalWrite},
          Wanted{&offers_, kEntry * kEntries + kMapEntry, kWritten},
          Wanted{&control_, kMapEntry, verbs::kLocalWrite}}) {
        auto opened = Block::open(context, wanted.bytes, wanted.access);
        if (!opened) return std::unexpected(opened.error());
        *wanted.block = std::move(*opened);
    }
    offered_ = kHalf;
    offer_at_ = kHalf;
    taken_ = kHalf;
    credits_due_ = kStreamReceives / 2;

    std::array<std::byte, kRsocketData> said{};
    const dissect::MutableBytes bytes(said);
    write_be(bytes, 0, kVersion);
    write_be(bytes, 2, static_cast<std::uint16_t>(kStreamReceives));
    if (expects_map_) {
        write_be(bytes, 1, kHasMap);
        write_be(bytes, 7, std::uint8_t{1});
    }
    put(bytes.subspan(8, kEntry), {offers_.mr().address, offers_.mr().rkey, kEntries}, true);
    put(bytes.subspan(24, kEntry), {receive_.mr().address, receive_.mr().rkey, kHalf}, true);
    return CmPrivateBytes(bytes);
}

void Rsocket::close(const PeerContext& context) {
    for (Block* block : {&receive_, &send_, &offers_, &control_}) block->close(context);
}

std::optional<std::string> Rsocket::judge(dissect::Bytes said) {
    if (said.size() < kRsocketData || dissect::read_be<std::uint8_t>(said, 0) != kVersion)
        return "does not use rsockets version 1";
    const auto entries = dissect::read_be<std::uint32_t>(said, 20);
    if (entries < kEntries || entries > kMostEntries) return fmt::format("has room for {} offers", entries);
    return std::nullopt;
}

void Rsocket::connect(dissect::Bytes said) {
    its_order_is_big_ = is_big_endian(said);
    may_send_ = dissect::read_be<std::uint16_t>(said, 2);
    its_offers_ = dissect::read_be<std::uint64_t>(said, 8);
    its_key_ = dissect::Rkey{dissect::read_be<std::uint32_t>(said, 16)};
    its_entries_ = dissect::read_be<std::uint32_t>(said, 20);
    put(offers_.bytes().first(kEntry),
        {dissect::read_be<std::uint64_t>(said, 24), dissect::Rkey{dissect::read_be<std::uint32_t>(said, 32)},
         dissect::read_be<std::uint32_t>(said, 36)},
        false);
    connected_ = true;
}

void Rsocket::done(const PeerContext& context, Link& link, const Done& done) {
    if (!done.receive) {
        if (op_of(done.tag) == Op::data) {
            unacknowledged_ -= done.tag & kRest;
            --pieces_;
        } else if (op_of(done.tag) == Op::direct) {
            --writing_;
        } else {
            --controls_;
        }
        return;
    }
    if (!connected_ || !done.wc.flags.with_imm) {
        link.fail("sent an invalid rsockets message");
        return;
    }
    const std::uint32_t rest = done.wc.imm_data & kRest;
    switch (op_of(done.wc.imm_data)) {
        case Op::data:
        case Op::more_data: take_data(link, done.wc, rest); break;
        case Op::credits: may_send_ = static_cast<std::uint16_t>(rest); break;
        case Op::map:
            if (expects_map_ && (rest != 0 || done.wc.byte_len != kMapEntry)) {
                link.fail(fmt::format("sent an invalid entry of the I/O map ({:#010x}, {} bytes)", done.wc.imm_data,
                                      done.wc.byte_len));
            } else if (expects_map_) {
                ++maps_;
            }
            break;
        case Op::control: peer_left_ = peer_left_ || rest == kDisconnect || rest == kShutdown; break;
        default: link.fail(fmt::format("sent a reserved value ({:#010x})", done.wc.imm_data)); break;
    }
    if (!link.complaint) link.post_receive(context, done.tag);
}

void Rsocket::take_data(Link& link, const verbs::Wc& wc, std::uint32_t length) {
    const std::size_t left_of_half = kHalf - arrive_at_ % kHalf;
    if (length == 0 || length != wc.byte_len || length > offered_ || length > left_of_half ||
        waiting_.size() >= kStreamReceives) {
        link.fail(fmt::format("announced {} bytes where {} fit", length, std::min(offered_, left_of_half)));
        return;
    }
    offered_ -= length;
    arrive_at_ = (arrive_at_ + length) % kStreamBuffer;
    waiting_.push_back(length);
}

dissect::Bytes Rsocket::readable() const {
    if (waiting_.empty()) return {};
    return dissect::Bytes(receive_.bytes()).subspan(read_at_, waiting_.front());
}

void Rsocket::take(std::size_t bytes) {
    if (waiting_.empty()) return;
    const std::size_t taken = std::min<std::size_t>(bytes, waiting_.front());
    read_at_ = (read_at_ + taken) % kStreamBuffer;
    taken_ += taken;
    waiting_.front() -= static_cast<std::uint32_t>(taken);
    if (waiting_.front() != 0) return;
    waiting_.pop_front();
    ++taken_messages_;
}

dissect::MutableBytes Rsocket::writable() const {
    if (!connected_ || shutting_ || pieces_ >= kStreamSends || sent_ == may_send_) return {};
    const Entry to = entry_at(offers_.bytes().subspan(entry_ * kEntry, kEntry));
    const std::size_t room = std::min({kStreamBuffer - unacknowledged_, kStreamBuffer - write_at_,
                                       std::size_t{to.length}, std::size_t{kLongestPiece}});
    return send_.bytes().subspan(write_at_, room);
}

void Rsocket::send(const PeerContext& context, Link& link, std::size_t bytes) {
    const auto length = static_cast<std::uint32_t>(std::min(bytes, writable().size()));
    if (length == 0) return;
    // The entry is changed before the data goes: once that has arrived, the peer may write another offer there.
    const dissect::MutableBytes place = offers_.bytes().subspan(entry_ * kEntry, kEntry);
    const Entry to = entry_at(place);
    put(place, {to.address + length, to.key, to.length - length}, false);
    if (to.length == length) entry_ = (entry_ + 1) % kEntries;

    const std::uint32_t said = message(Op::data, length);
    const verbs::Sge piece = send_.piece(write_at_, length);
    write_at_ = (write_at_ + length) % kStreamBuffer;
    unacknowledged_ += length;
    ++pieces_;
    ++sent_;
    link.post(context,
              {.sg_list = {&piece, 1},
               .opcode = verbs::WrOpcode::rdma_write_with_imm,
               .imm_data = said,
               .remote = {to.address, to.key}},
              said);
}

IoMap Rsocket::map() const {
    const dissect::Bytes bytes = dissect::Bytes(offers_.bytes()).subspan(kEntry * kEntries, kMapEntry);
    const Entry entry = entry_at(bytes.subspan(8));
    return {dissect::read_le<std::uint64_t>(bytes, 0), entry.address, entry.key, entry.length};
}

bool Rsocket::show(const PeerContext& context, Link& link, const Block& block) {
    if (!connected_ || shutting_ || sent_ == may_send_ || controls_ >= kStreamControls) return false;
    const dissect::MutableBytes bytes = control_.bytes();
    std::ranges::fill(bytes.first(8), std::byte{});
    put(bytes.subspan(8), {block.mr().address, block.mr().rkey, static_cast<std::uint32_t>(block.size())},
        its_order_is_big_);
    const verbs::Sge piece = control_.piece(0, kMapEntry);
    const std::uint32_t said = message(Op::map, 0);
    ++sent_;  // as a message of data, for the credits
    ++controls_;
    link.post(context,
              {.sg_list = {&piece, 1},
               .opcode = verbs::WrOpcode::rdma_write_with_imm,
               .send_flags = {.inline_data = true},
               .imm_data = said,
               .remote = {its_offers_ + std::uint64_t{its_entries_} * kEntry, its_key_}},
              said);
    return true;
}

void Rsocket::write(const PeerContext& context, Link& link, const verbs::Sge& piece, const verbs::Remote& to) {
    ++writing_;
    link.post(context, {.sg_list = {&piece, 1}, .opcode = verbs::WrOpcode::rdma_write, .remote = to},
              message(Op::direct, 0));
}

void Rsocket::tend(const PeerContext& context, Link& link) {
    if (!connected_ || link.complaint) return;
    if (!shutting_) {
        give_credits(context, link);
        return;
    }
    if (!said_so_ && !peer_left_ && controls_ < kStreamControls) {
        say(context, link, message(Op::control, kDisconnect), {});
        said_so_ = true;
    }
    if (said_so_ || peer_left_) link.finish();
}

void Rsocket::give_credits(const PeerContext& context, Link& link) {
    const bool many = static_cast<std::int16_t>(static_cast<std::uint16_t>(taken_messages_ - credits_due_)) >= 0;
    if ((taken_ < kHalf && !many) || controls_ >= kStreamControls || peer_left_) return;
    credits_due_ = static_cast<std::uint16_t>(taken_messages_ + kStreamReceives / 2);
    const auto credits = static_cast<std::uint16_t>(taken_messages_ + kStreamReceives);
    if (taken_ < kHalf) {
        say(context, link, message(Op::credits, credits), {});
        return;
    }
    const dissect::MutableBytes entry = control_.bytes().first(kEntry);
    put(entry, {receive_.mr().address + offer_at_, receive_.mr().rkey, kHalf}, its_order_is_big_);
    say(context, link, message(Op::credits, credits), entry);
    taken_ -= kHalf;
    offered_ += kHalf;
    offer_at_ = (offer_at_ + kHalf) % kStreamBuffer;
    its_entry_ = (its_entry_ + 1) % its_entries_;
}

void Rsocket::say(const PeerContext& context, Link& link, std::uint32_t said, dissect::Bytes entry) {
    const verbs::Sge piece = control_.piece(0, entry.size());
    verbs::SendWr wr{
        .opcode = verbs::WrOpcode::rdma_write_with_imm, .send_flags = {.inline_data = true}, .imm_data = said};
    if (!entry.empty()) {
        wr.sg_list = {&piece, 1};
        wr.remote = {its_offers_ + std::uint64_t{its_entry_} * kEntry, its_key_};
    }
    ++controls_;
    link.post(context, wr, said);
}

}  // namespace qps::transport::live::peers
