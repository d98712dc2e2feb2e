#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/pingpong/kernel_sockets.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace qps::transport::live::pingpong {

using dissect::Instant;

namespace {

constexpr std::uint32_t kGreetingMagic = 0x5150'536b;  // "QPSk"
constexpr std::uint32_t kGreetingVersion = 1;
constexpr int kDatagramBuffer = 4 << 20;  // bytes: a batch of the longest datagrams; the system may give less

using FoundAddress = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// Of numbers alone: nothing is looked up.
FoundAddress socket_address(SocketKind kind, const std::string& address, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = kind == SocketKind::tcp ? SOCK_STREAM : SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) found = nullptr;
    return {found, freeaddrinfo};
}

OwnedDescriptor open_socket(SocketKind kind, const addrinfo& where) {
    OwnedDescriptor socket(
        ::socket(where.ai_family, where.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, where.ai_protocol));
    if (socket.get() < 0) return socket;
    const int on = 1;
    if (kind == SocketKind::tcp) {
        static_cast<void>(
            setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));  // each message is awaited
    } else {
        static_cast<void>(setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kDatagramBuffer, sizeof kDatagramBuffer));
        static_cast<void>(setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kDatagramBuffer, sizeof kDatagramBuffer));
    }
    return socket;
}

bool is_for_later(int error) { return error == EAGAIN || error == EINTR || error == ENOBUFS; }

Moved moved(ssize_t result) {
    if (result >= 0) return {.bytes = static_cast<std::size_t>(result)};
    return is_for_later(errno) ? Moved{} : Moved{.error = errno};
}

}  // namespace

std::string error_text(int error) { return std::generic_category().message(error); }

Greeting greeting_of(std::uint64_t token) {
    Greeting greeting{};
    peers::write_be(greeting, 0, kGreetingMagic);
    peers::write_be(greeting, 4, kGreetingVersion);
    peers::write_be(greeting, 8, token);
    return greeting;
}

std::optional<std::uint64_t> read_greeting(dissect::Bytes bytes) {
    if (bytes.size() != kGreeting || dissect::read_be<std::uint32_t>(bytes, 0) != kGreetingMagic ||
        dissect::read_be<std::uint32_t>(bytes, 4) != kGreetingVersion)
        return std::nullopt;
    return dissect::read_be<std::uint64_t>(bytes, 8);
}

std::expected<KernelSocket, std::string> KernelSocket::call(SocketKind kind, const Call& call) {
    const FoundAddress to = socket_address(kind, call.to, call.port);
    const FoundAddress from = socket_address(kind, call.from, 0);
    if (to == nullptr || from == nullptr || to->ai_family != from->ai_family)
        return std::unexpected("no address of the same kind");
    OwnedDescriptor socket = open_socket(kind, *to);
    if (socket.get() < 0) return std::unexpected(error_text(errno));
    const std::string& name = call.interface;
    if (!name.empty() &&
        setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, name.c_str(), static_cast<socklen_t>(name.size())) != 0)
        return std::unexpected(fmt::format("cannot bind to {}: {}", name, error_text(errno)));
    if (bind(socket.get(), from->ai_addr, from->ai_addrlen) != 0)
        return std::unexpected(fmt::format("cannot bind to {}: {}", call.from, error_text(errno)));
    if (connect(socket.get(), to->ai_addr, to->ai_addrlen) != 0 && errno != EINPROGRESS)
        return std::unexpected(error_text(errno));
    return KernelSocket(std::move(socket));
}

std::expected<KernelSocket, std::string> KernelSocket::bind_datagrams(const std::string& address, std::uint16_t port) {
    const FoundAddress at = socket_address(SocketKind::udp, address, port);
    if (at == nullptr) return std::unexpected("not an IPv4 or IPv6 address");
    OwnedDescriptor socket = open_socket(SocketKind::udp, *at);
    if (socket.get() < 0 || bind(socket.get(), at->ai_addr, at->ai_addrlen) != 0)
        return std::unexpected(error_text(errno));
    return KernelSocket(std::move(socket));
}

Moved KernelSocket::receive(dissect::MutableBytes room) {
    const ssize_t got = recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    Moved result = moved(got);
    result.ended = got == 0;  // of UDP: an empty datagram
    return result;
}

Moved KernelSocket::send(dissect::Bytes bytes) {
    return moved(::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

void KernelSocket::end_sending() { static_cast<void>(shutdown(socket_.get(), SHUT_WR)); }

void Caller::begin(SocketKind kind, const Call& call, std::uint64_t token, Instant now) {
    close();
    kind_ = kind;
    greeting_ = greeting_of(token);
    place_ = fmt::format("{} port {} of {}", name(kind), call.port, call.to);
    since_ = again_ = now;
    state_ = State::calling;
    auto socket = KernelSocket::call(kind, call);
    if (!socket) return fail(socket.error());
    socket_ = std::move(*socket);
}

void Caller::close() {
    socket_.close();
    state_ = State::idle;
    said_ = came_ = 0;
    why_.clear();
}

void Caller::fail(std::string why) {
    socket_.close();
    why_ = fmt::format("{}: {}", place_, why);
    state_ = State::failed;
}

// UDP says it whole, and again after a while; TCP goes on where it was.
void Caller::greet(Instant now) {
    if (kind_ == SocketKind::udp && said_ == kGreeting && now >= again_) said_ = 0;
    if (said_ == kGreeting) return;
    const Moved sent = socket_.send(dissect::Bytes(greeting_).subspan(said_));
    if (sent.error != 0 && sent.error != ENOTCONN) return fail(error_text(sent.error));
    said_ += sent.bytes;
    again_ = now + kAgain;
}

void Caller::poll(Instant now) {
    if (state_ != State::calling) return;
    greet(now);
    if (state_ != State::calling) return;
    const Moved got = socket_.receive(dissect::MutableBytes(heard_).subspan(came_));
    if (got.error != 0 && got.error != ENOTCONN) return fail(error_text(got.error));
    if (kind_ == SocketKind::tcp && got.ended) return fail("closed by the server");
    came_ = kind_ == SocketKind::tcp ? came_ + got.bytes : 0;
    if (kind_ == SocketKind::udp ? got.bytes == kGreeting && heard_ == greeting_ : came_ == kGreeting) {
        if (heard_ != greeting_) return fail("answers with something else");
        state_ = State::there;
    } else if (now - since_ >= kPatience) {
        fail("no answer");
    }
}

std::optional<Instant> Caller::due() const {
    if (state_ != State::calling) return std::nullopt;
    return kind_ == SocketKind::udp ? std::min(again_, since_ + kPatience) : since_ + kPatience;
}

}  // namespace qps::transport::live::pingpong
