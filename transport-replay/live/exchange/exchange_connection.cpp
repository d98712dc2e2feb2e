#include <transport-replay/live/exchange/exchange_connection.hpp>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

using Found = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

std::string words_of(int error) { return std::error_code(error, std::generic_category()).message(); }

std::expected<Found, Problem> look_up(const std::string& host, std::uint16_t port, bool to_listen) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE | AI_NUMERICHOST : 0);
    addrinfo* found = nullptr;
    const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (error != 0) return std::unexpected(Problem{host, fmt::format("cannot resolve: {}", gai_strerror(error))});
    return Found(found, freeaddrinfo);
}

std::string name_of(const sockaddr* address, socklen_t length) {
    std::array<char, NI_MAXHOST> host{};
    if (getnameinfo(address, length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) return "?";
    const std::string_view name = host.data();
    const bool mapped = name.starts_with("::ffff:") && name.contains('.');  // IPv4 at a listener of both kinds
    return std::string(mapped ? name.substr(name.rfind(':') + 1) : name);
}

void set(int socket, int level, int option) {
    const int on = 1;
    static_cast<void>(setsockopt(socket, level, option, &on, sizeof on));
}

std::uint16_t port_of(int socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

constexpr int kBacklog = 128;  // not accepted yet: of several addresses, where one has all places

bool later_again(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

OwnedDescriptor& OwnedDescriptor::operator=(OwnedDescriptor&& other) noexcept {
    if (this != &other) {
        close();
        descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
}

OwnedDescriptor::~OwnedDescriptor() { close(); }

void OwnedDescriptor::close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

ExchangeConnection::ExchangeConnection(OwnedDescriptor socket, std::string peer, bool connecting)
    : socket_(std::move(socket)), peer_(std::move(peer)), room_(kReadAtOnce), connecting_(connecting) {
    set(socket_.get(), IPPROTO_TCP, TCP_NODELAY);  // small words, each awaited
}

std::expected<ExchangeConnection, Problem> ExchangeConnection::connect(const std::string& host, std::uint16_t port) {
    auto found = look_up(host, port, false);
    if (!found) return std::unexpected(found.error());
    int error = 0;
    for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) {
        OwnedDescriptor socket(
            ::socket(each->ai_family, each->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, each->ai_protocol));
        if (socket.get() < 0) continue;
        if (::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0 || errno == EINPROGRESS)
            return ExchangeConnection(std::move(socket), name_of(each->ai_addr, each->ai_addrlen), true);
        error = errno;
    }
    return std::unexpected(Problem{host, fmt::format("cannot connect to port {}: {}", port, words_of(error))});
}

void ExchangeConnection::fail(int error) {
    if (problem_) return;  // the first says why
    problem_ =
        Problem{peer_, fmt::format("{}: {}", connecting_ ? "cannot connect" : "connection lost", words_of(error))};
}

void ExchangeConnection::finish() {
    finished_ = true;
    rest_.clear();
    socket_.close();
}

Bytes ExchangeConnection::receive() {
    if (peer_closed_ || problem_) return {};
    const ssize_t got = recv(socket_.get(), room_.data(), room_.size(), 0);
    if (got > 0) {
        connecting_ = false;
        return Bytes(room_).first(static_cast<std::size_t>(got));
    }
    if (got == 0) peer_closed_ = true;
    else if (!later_again(errno) && !(connecting_ && errno == ENOTCONN)) fail(errno);
    return {};
}

// False where some of it is left, to be sent later.
bool ExchangeConnection::send_rest() {
    if (problem_ || rest_.empty()) return !problem_;
    const ssize_t sent = send(socket_.get(), rest_.data(), rest_.size(), MSG_NOSIGNAL);
    if (sent < 0) {
        if (!later_again(errno) && !(connecting_ && errno == ENOTCONN)) fail(errno);
        return false;
    }
    connecting_ = false;
    rest_.erase(rest_.begin(), rest_.begin() + sent);
    return rest_.empty();
}

std::expected<ExchangeListener, Problem> ExchangeListener::open(const std::string& address, std::uint16_t port) {
    auto found = look_up(address.empty() ? "127.0.0.1" : address, port, true);
    if (!found) return std::unexpected(found.error());
    int error = 0;
    for (const int family : {AF_INET6, AF_INET}) {  // all IPv6 addresses hold those of IPv4 too
        for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) {
            if (each->ai_family != family) continue;
            OwnedDescriptor socket(
                ::socket(each->ai_family, each->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, each->ai_protocol));
            if (socket.get() < 0) continue;
            set(socket.get(), SOL_SOCKET, SO_REUSEADDR);
            if (bind(socket.get(), each->ai_addr, each->ai_addrlen) == 0 && listen(socket.get(), kBacklog) == 0) {
                const std::uint16_t own = port_of(socket.get());
                return ExchangeListener(std::move(socket), own);
            }
            error = errno;
        }
    }
    return std::unexpected(Problem{address, fmt::format("cannot listen on port {}: {}", port, words_of(error))});
}

std::optional<ExchangeConnection> ExchangeListener::accept() {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    OwnedDescriptor socket(accept4(socket_.get(), generic, &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() < 0) return std::nullopt;
    return ExchangeConnection(std::move(socket), name_of(generic, length), false);
}

}  // namespace qps::transport::live
