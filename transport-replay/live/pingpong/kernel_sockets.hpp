// Sockets of the system as pingpong uses them: TCP and UDP between two addresses, nonblocking, and how one says whose
// it is.
//
// A greeting, big-endian, is the first that a client says on either, and what the server answers where it takes it:
//    0  4  "QPSk"   4 4 version, 1   8 8 the token of its connection
// A client says it again on UDP until it is answered. Nothing here waits; nothing grows.
//
// What a stranger could feed: any greeting, cut or whole, or none: who waits for one says for how long.
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/live/exchange/exchange_connection.hpp>

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace qps::transport::live::pingpong {

enum class SocketKind : std::uint8_t { tcp, udp };
[[nodiscard]] constexpr std::string_view name(SocketKind kind) { return kind == SocketKind::tcp ? "TCP" : "UDP"; }

inline constexpr std::size_t kGreeting = 16;
using Greeting = std::array<std::byte, kGreeting>;
[[nodiscard]] Greeting greeting_of(std::uint64_t token);
// The token; nothing where the bytes are no greeting.
[[nodiscard]] std::optional<std::uint64_t> read_greeting(dissect::Bytes bytes);

// What one call moved; nothing of both: not now.
struct Moved {
    std::size_t bytes = 0;
    bool ended = false;  // the peer sends no more
    int error = 0;       // of errno
};

// Whom to call, and from where.
struct Call {
    std::string from{};       // an address of ours
    std::string interface{};  // empty: where the system likes
    std::string to{};
    std::uint16_t port = 0;
};

class KernelSocket {
public:
    KernelSocket() = default;
    explicit KernelSocket(OwnedDescriptor socket) : socket_(std::move(socket)) {}
    // A sentence where the system refuses at once; TCP is connecting then, and says later what came of it.
    [[nodiscard]] static std::expected<KernelSocket, std::string> call(SocketKind kind, const Call& call);
    // UDP, at one of our addresses.
    [[nodiscard]] static std::expected<KernelSocket, std::string> bind_datagrams(const std::string& address,
                                                                                 std::uint16_t port);

    [[nodiscard]] Moved receive(dissect::MutableBytes room);
    [[nodiscard]] Moved send(dissect::Bytes bytes);
    void end_sending();
    [[nodiscard]] int descriptor() const { return socket_.get(); }
    [[nodiscard]] bool is_open() const { return socket_.get() >= 0; }
    void close() { socket_.close(); }

private:
    OwnedDescriptor socket_;
};

// "connection refused", of errno.
[[nodiscard]] std::string error_text(int error);

// A client's socket until the server has greeted it.
class Caller {
public:
    enum class State : std::uint8_t { idle, calling, there, failed };
    static constexpr dissect::Duration kPatience{3'000'000'000};  // until nobody is there
    static constexpr dissect::Duration kAgain{200'000'000};       // a greeting of UDP may be lost

    void begin(SocketKind kind, const Call& call, std::uint64_t token, dissect::Instant now);
    void poll(dissect::Instant now);
    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] const std::string& why() const { return why_; }  // it failed
    [[nodiscard]] std::optional<dissect::Instant> due() const;
    [[nodiscard]] bool wants_to_write() const { return state_ == State::calling && said_ < kGreeting; }
    [[nodiscard]] KernelSocket& socket() { return socket_; }
    [[nodiscard]] const KernelSocket& socket() const { return socket_; }
    void close();

private:
    void fail(std::string why);
    void greet(dissect::Instant now);

    SocketKind kind_ = SocketKind::tcp;
    State state_ = State::idle;
    KernelSocket socket_;
    Greeting greeting_{};
    Greeting heard_{};
    std::size_t said_ = 0;
    std::size_t came_ = 0;
    dissect::Instant since_{};
    dissect::Instant again_{};
    std::string place_;  // "TCP port 7474 of 10.0.0.1"
    std::string why_;
};

}  // namespace qps::transport::live::pingpong
