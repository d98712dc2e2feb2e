#include <transport-replay/live/pingpong/socket_row.hpp>

#include <algorithm>

namespace qps::transport::live::pingpong {

namespace {

constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kMostOfTurn = 4U << 20;  // bytes that pour in one turn
constexpr unsigned kByte = 8;

}  // namespace

void write_number(dissect::MutableBytes message, std::uint64_t number) {
    const std::size_t bytes = std::min(message.size(), kNumberBytes);
    for (std::size_t i = 0; i < bytes; ++i)
        message[bytes - 1 - i] = static_cast<std::byte>(number >> (kByte * i) & 0xff);
}

std::uint64_t number_of(dissect::Bytes message, std::uint64_t first) {
    const std::size_t bytes = std::min(message.size(), kNumberBytes);
    std::uint64_t low = 0;
    for (std::size_t i = 0; i < bytes; ++i) low = low << kByte | std::to_integer<std::uint64_t>(message[i]);
    if (bytes == kNumberBytes) return low;
    const std::uint64_t mask = (std::uint64_t{1} << (kByte * bytes)) - 1;
    return first + ((low - first) & mask);
}

void SocketRow::begin(std::uint32_t slots) {
    sent_ = lost_ = 0;
    sent_of_ = came_of_ = 0;
    ended_ = poured_ = false;
    awaited_.assign(slots, false);
    why_.clear();
}

void SocketRow::fail(const Moved& moved) {
    if (why_.empty()) why_ = moved.error != 0 ? error_text(moved.error) : "closed by the server";
}

bool SocketRow::send(KernelSocket& socket, std::uint64_t posted, const Pieces& out) {
    while (sent_ < posted) {
        const Moved moved = socket.send(out.of(sent_).subspan(sent_of_));
        if (moved.error != 0) fail(moved);
        if (moved.bytes == 0) break;
        sent_of_ += moved.bytes;
        if (sent_of_ < out.size) continue;
        sent_of_ = 0;
        ++sent_;
    }
    return why_.empty();
}

void SocketRow::receive(KernelSocket& socket, std::uint64_t posted, std::uint64_t& returned, const Pieces& back,
                        const Take& take) {
    while (returned < posted) {
        const dissect::MutableBytes room = back.of(returned);
        const Moved moved = socket.receive(room.subspan(came_of_));
        if (moved.ended || moved.error != 0) fail(moved);
        if (moved.bytes == 0) return;
        came_of_ += moved.bytes;
        if (came_of_ < back.size) continue;
        came_of_ = 0;
        take(returned, room);
        ++returned;
    }
}

std::uint64_t SocketRow::pour(KernelSocket& socket, std::uint64_t wanted, bool enough, const Pieces& out) {
    for (std::size_t all = 0; !ended_ && all < kMostOfTurn;) {
        if (sent_of_ == 0 && (enough || sent_ == wanted)) {
            socket.end_sending();
            ended_ = true;
            break;
        }
        const Moved moved = socket.send(out.of(sent_).subspan(sent_of_));
        if (moved.error != 0) fail(moved);
        if (moved.bytes == 0) break;
        all += moved.bytes;
        sent_of_ += moved.bytes;
        if (sent_of_ < out.size) continue;
        sent_of_ = 0;
        ++sent_;
    }
    if (!ended_) return sent_;
    std::array<std::byte, 1> nothing{};
    const Moved moved = socket.receive(nothing);
    if (moved.error != 0) fail(moved);
    else if (moved.bytes > 0) why_ = "the server sent what was not asked for";
    poured_ = moved.ended;
    return sent_;
}

bool SocketRow::send_datagram(KernelSocket& socket, std::uint32_t slot, dissect::Bytes message) {
    const Moved moved = socket.send(message);
    if (moved.error != 0) fail(moved);
    if (moved.error != 0 || moved.bytes != message.size()) return false;
    awaited_[slot] = true;
    return true;
}

void SocketRow::advance(std::uint64_t posted, std::uint64_t& returned) {
    while (returned < posted && !awaited_[returned % awaited_.size()]) ++returned;
}

void SocketRow::receive_datagrams(KernelSocket& socket, std::uint64_t posted, std::uint64_t& returned,
                                  const Pieces& back, const Take& take) {
    room_.resize(std::size_t{back.size} + 1);
    for (std::size_t i = 0; i < awaited_.size() && returned < posted; ++i) {
        const Moved moved = socket.receive(room_);
        if (moved.error != 0) fail(moved);
        if (moved.error != 0 || (moved.bytes == 0 && !moved.ended)) return;
        if (moved.bytes != back.size) continue;
        const dissect::Bytes message = dissect::Bytes(room_).first(moved.bytes);
        const std::uint64_t number = number_of(message, returned);
        if (number < returned || number >= posted || !awaited_[number % awaited_.size()]) continue;
        awaited_[number % awaited_.size()] = false;
        take(number, message);
        advance(posted, returned);
    }
}

void SocketRow::give_up(std::uint64_t posted, std::uint64_t& returned) {
    ++lost_;
    awaited_[returned % awaited_.size()] = false;
    advance(posted, returned);
}

}  // namespace qps::transport::live::pingpong
