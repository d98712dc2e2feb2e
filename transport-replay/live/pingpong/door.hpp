// Door: where a server of pingpong is reached by sockets of the system: it listens on TCP and UDP, hears greetings,
// keeps the stream of each token that it expects, and sends datagrams back.
//
// A token is expected from when a connection by RDMA is accepted until that ends. One stream a token: a new one takes
// the place of the old. A datagram is sent back, as it came, to where a greeting with an expected token came from, and
// to nobody else: never more bytes than came, never to a stranger.
//
// What a stranger could feed: connections that say nothing or something else are closed after kGreetingPatience,
// kMostCallers wait at a time, and beyond that the oldest makes room; datagrams of his are read and forgotten. In one
// look() there are kMostAtOnce of each. Where the process has no descriptor left, those who call wait for kRest, and
// nobody is woken for them.
#pragma once

#include <transport-replay/live/pingpong/kernel_sockets.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace qps::transport::live::pingpong {

inline constexpr std::size_t kMostCallers = 64;  // streams without a greeting: all the others are some client's
inline constexpr std::size_t kMostAtOnce = 64;   // of one look: nobody holds the loop
inline constexpr dissect::Duration kGreetingPatience{5'000'000'000};  // a greeting is said at once
inline constexpr dissect::Duration kRest{100'000'000};                // until a descriptor may be free again
inline constexpr std::size_t kDatagramRoom = 1U << 16;                // bytes: more than any datagram has

class Door {
public:
    // At each of the addresses where that is possible; a sentence of each where it is not.
    [[nodiscard]] static Door open(std::span<const std::string> addresses, std::uint16_t port,
                                   std::vector<std::string>& complaints);
    [[nodiscard]] bool listens() const { return !streams_.empty(); }

    void expect(std::uint64_t token) { expected_.try_emplace(token); }
    void forget(std::uint64_t token) { expected_.erase(token); }
    // Who has connected, what they say, datagrams.
    void look(dissect::Instant now);
    // Datagrams alone.
    void send_datagrams_back();
    // The stream that greeted with that token, once.
    [[nodiscard]] KernelSocket take_stream(std::uint64_t token);

    [[nodiscard]] std::vector<int> listeners() const;
    [[nodiscard]] std::vector<int> datagrams() const;
    [[nodiscard]] std::vector<int> callers() const;
    [[nodiscard]] std::optional<dissect::Instant> due() const;  // the patience with somebody, or a rest, ends

private:
    struct Silent {  // has said no whole greeting
        KernelSocket socket;
        Greeting heard{};
        std::size_t came = 0;
        dissect::Instant until{};
    };
    struct From {  // a socket by its address
        sockaddr_storage name{};
        socklen_t length = 0;
        [[nodiscard]] bool operator==(const From& other) const;
    };
    struct Expected {
        KernelSocket stream;
        std::optional<From> datagrams;
    };

    Door() = default;
    void accept(dissect::Instant now);
    [[nodiscard]] bool heard_enough(Silent& silent, dissect::Instant now);
    void send_back(KernelSocket& socket);
    [[nodiscard]] bool is_known(const From& from, dissect::Bytes bytes);

    std::vector<ExchangeListener> streams_;
    std::vector<KernelSocket> datagrams_;
    std::vector<Silent> silent_;  // the oldest first
    std::map<std::uint64_t, Expected> expected_;
    std::optional<dissect::Instant> resting_;  // until then nobody is accepted
    std::vector<std::byte> room_;              // of a datagram
};

}  // namespace qps::transport::live::pingpong
