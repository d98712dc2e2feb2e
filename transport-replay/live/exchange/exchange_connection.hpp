// ExchangeConnection: the TCP connection that carries a exchange of pingpong_session.hpp or perftest_session.hpp: the
// one file of the exchange that makes system calls. Nothing waits but the look-up of a name; who has nothing to do
// sleeps on descriptor().
//
//   auto listener = ExchangeListener::open("10.0.0.2", kExchangePort);  ...  auto connection = listener->accept();
//   while (!connection->finished()) { connection->drive(session); ...; poll(descriptor, wants_to_write ? POLLOUT :
//   POLLIN) }
//
// Each message goes out with one call, as the programs read each with one. A peer may connect and say anything or
// nothing: at most kReadAtOnce bytes are read in one drive(), what it means is the session's business, and how long to
// wait the caller's.
#pragma once

#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/exchange/perftest_session.hpp>

#include <expected>
#include <optional>
#include <string>
#include <utility>

namespace qps::transport::live {

inline constexpr std::size_t kReadAtOnce = 16'384;  // more than a whole exchange of ibv_srq_pingpong

// A file descriptor that is closed with its owner; -1: none.
class OwnedDescriptor {
public:
    OwnedDescriptor() = default;
    explicit OwnedDescriptor(int descriptor) : descriptor_(descriptor) {}
    OwnedDescriptor(OwnedDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept;
    ~OwnedDescriptor();
    [[nodiscard]] int get() const { return descriptor_; }
    void close();

private:
    int descriptor_ = -1;
};

class ExchangeConnection {
public:
    // To a numeric address or a name, which may take a while to look up. The connection is there once it carries
    // something; a refusal shows as a problem() later. Fails for a name that nobody knows.
    [[nodiscard]] static std::expected<ExchangeConnection, Problem> connect(const std::string& host,
                                                                            std::uint16_t port);

    // Hears what is there, and says what the session has to say. Call when the descriptor is ready, and after
    // proceed().
    template <class Session> void drive(Session& session) {
        if (finished_) return;
        if (const dissect::Bytes heard = receive(); !heard.empty()) session.process(heard);
        if (peer_closed_) session.closed();
        speak(session);
    }

    // The second half of drive(): hears nothing, for a session whose peer is to read first.
    template <class Session> void speak(Session& session) {
        if (finished_) return;
        while (send_rest()) {
            rest_ = session.take_output();
            if (rest_.empty()) break;
        }
        if (problem_ || (rest_.empty() && session.awaits() == Awaits::nothing)) finish();
    }

    [[nodiscard]] int descriptor() const { return socket_.get(); }
    // False: nothing more will come, and a poll() for it would return at once.
    [[nodiscard]] bool wants_to_read() const { return !peer_closed_ && !problem_; }
    [[nodiscard]] bool wants_to_write() const { return !rest_.empty() || connecting_; }
    // Whether the peer took it, as far as is known.
    [[nodiscard]] bool connected() const { return !connecting_ || peer_closed_; }
    // The exchange is over, or the connection; it is closed then.
    [[nodiscard]] bool finished() const { return finished_; }
    // Why the connection is of no use any more; what the session makes of it is its own.
    [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }
    // Who is there, as numbers.
    [[nodiscard]] const std::string& peer() const { return peer_; }
    // For who speaks on it himself; nothing is left here.
    [[nodiscard]] OwnedDescriptor take_socket() { return std::exchange(socket_, {}); }

private:
    friend class ExchangeListener;
    ExchangeConnection(OwnedDescriptor socket, std::string peer, bool connecting);
    [[nodiscard]] dissect::Bytes receive();
    [[nodiscard]] bool send_rest();
    void fail(int error);
    void finish();

    OwnedDescriptor socket_;
    std::string peer_;
    std::vector<std::byte> room_;  // kReadAtOnce
    std::vector<std::byte> rest_;  // of a message that did not go out whole
    bool connecting_ = false;
    bool peer_closed_ = false;
    bool finished_ = false;
    std::optional<Problem> problem_;
};

class ExchangeListener {
public:
    // At one of this machine's addresses, as numbers; empty: at 127.0.0.1, so that nobody is served who was not meant;
    // 0.0.0.0 or :: are all of them. Fails for a port that is taken, an address that is not this machine's.
    [[nodiscard]] static std::expected<ExchangeListener, Problem> open(const std::string& address, std::uint16_t port);

    // The next that has connected; nothing where there is none.
    [[nodiscard]] std::optional<ExchangeConnection> accept();
    [[nodiscard]] int descriptor() const { return socket_.get(); }
    // The port that it listens at; for one opened with port 0.
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    ExchangeListener(OwnedDescriptor socket, std::uint16_t port) : socket_(std::move(socket)), port_(port) {}

    OwnedDescriptor socket_;
    std::uint16_t port_;
};

}  // namespace qps::transport::live
