#include <transport-replay/live/pingpong/door.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace qps::transport::live::pingpong {

using dissect::Instant;

// What is behind the name's length is nobody's.
bool Door::From::operator==(const From& other) const {
    return length == other.length && std::memcmp(&name, &other.name, length) == 0;
}

Door Door::open(std::span<const std::string> addresses, std::uint16_t port, std::vector<std::string>& complaints) {
    Door door;
    for (const std::string& address : addresses) {
        auto listener = ExchangeListener::open(address, port);
        auto datagrams = KernelSocket::bind_datagrams(address, port);
        if (!listener) {
            complaints.push_back(fmt::format("{}: {}", address, listener.error().sentence));
        } else if (!datagrams) {
            complaints.push_back(fmt::format("{}: cannot use UDP port {}: {}", address, port, datagrams.error()));
        } else {
            door.streams_.push_back(std::move(*listener));
            door.datagrams_.push_back(std::move(*datagrams));
        }
    }
    door.room_.resize(kDatagramRoom);
    return door;
}

void Door::look(Instant now) {
    accept(now);
    std::erase_if(silent_, [&](Silent& silent) { return heard_enough(silent, now); });
    send_datagrams_back();
}

void Door::accept(Instant now) {
    if (resting_ && now < *resting_) return;
    resting_.reset();
    for (ExchangeListener& listener : streams_)
        for (std::size_t i = 0; i < kMostAtOnce; ++i) {
            auto connection = listener.accept();
            if (!connection) {
                if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) resting_ = now + kRest;
                break;
            }
            if (silent_.size() == kMostCallers) silent_.erase(silent_.begin());
            silent_.push_back(
                {.socket = KernelSocket(connection->take_socket()), .heard = {}, .until = now + kGreetingPatience});
        }
}

// Whether it need not be kept among those who said nothing.
bool Door::heard_enough(Silent& silent, Instant now) {
    const Moved got = silent.socket.receive(dissect::MutableBytes(silent.heard).subspan(silent.came));
    silent.came += got.bytes;
    if (got.ended || got.error != 0) return true;
    if (silent.came < kGreeting) return now >= silent.until;
    const auto token = read_greeting(silent.heard);
    const auto found = token ? expected_.find(*token) : expected_.end();
    // So few bytes fit into the socket of somebody new; who has no room for them is not waited for.
    if (found != expected_.end() && silent.socket.send(silent.heard).bytes == kGreeting)
        found->second.stream = std::move(silent.socket);
    return true;
}

void Door::send_datagrams_back() {
    for (KernelSocket& socket : datagrams_) send_back(socket);
}

void Door::send_back(KernelSocket& socket) {
    for (std::size_t i = 0; i < kMostAtOnce; ++i) {
        From from;
        from.length = sizeof from.name;
        auto* const name = reinterpret_cast<sockaddr*>(&from.name);
        const ssize_t got = recvfrom(socket.descriptor(), room_.data(), room_.size(), MSG_DONTWAIT, name, &from.length);
        if (got < 0) return;
        const dissect::Bytes datagram = dissect::Bytes(room_).first(static_cast<std::size_t>(got));
        // Where there is no room it is lost, as datagrams are.
        if (is_known(from, datagram))
            static_cast<void>(
                sendto(socket.descriptor(), datagram.data(), datagram.size(), MSG_DONTWAIT, name, from.length));
    }
}

bool Door::is_known(const From& from, dissect::Bytes bytes) {
    if (const auto token = read_greeting(bytes)) {
        const auto found = expected_.find(*token);
        if (found != expected_.end()) found->second.datagrams = from;
    }
    return std::ranges::any_of(expected_, [&](const auto& each) { return each.second.datagrams == from; });
}

KernelSocket Door::take_stream(std::uint64_t token) {
    const auto found = expected_.find(token);
    return found == expected_.end() ? KernelSocket{} : std::exchange(found->second.stream, {});
}

std::vector<int> Door::listeners() const {
    std::vector<int> all;
    if (resting_) return all;
    for (const ExchangeListener& each : streams_) all.push_back(each.descriptor());
    return all;
}

std::vector<int> Door::datagrams() const {
    std::vector<int> all;
    for (const KernelSocket& each : datagrams_) all.push_back(each.descriptor());
    return all;
}

std::vector<int> Door::callers() const {
    std::vector<int> all;
    for (const Silent& each : silent_) all.push_back(each.socket.descriptor());
    return all;
}

std::optional<Instant> Door::due() const {
    if (silent_.empty()) return resting_;
    return resting_ ? std::min(*resting_, silent_.front().until) : silent_.front().until;
}

}  // namespace qps::transport::live::pingpong
