// PingPongSession: one end of the exchange by which ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong, ibv_srq_pingpong
// and ibv_xsrq_pingpong of rdma-core tell each other their queue pairs, over TCP (port 18515 unless said otherwise).
// Sans I/O: bytes in, bytes out.
//
//   client: its ends                    -> server
//   client <- the server's ends            (the server has connected its queue pairs by then)
//   client: "done", closes; the server closes
//
// ibv_xsrq_pingpong has another format, no "done", and a word at the end, so that nobody closes what the other still
// needs:
//
//   client: its end                     -> server
//   client <- the server's end
//   client: "END", when it is through   -> server
//   client <- "END", when the server is
//
// ibv_srq_pingpong always tells kSrqPingPongEnds of them, whatever -q says; the others one. Sizes, iterations and the
// path MTU are not told: both ends must be given the same. The programs read each message with one call, so a message
// must be sent with one.
//
// A peer may send anything: what is not an end in its exact format ends the session with a sentence; what comes beyond
// the last message too. Nothing is kept but the ends and at most one message.
#pragma once

#include <transport-replay/live/exchange/queue_pair_end.hpp>
#include <transport-replay/model/edges.hpp>

#include <string>
#include <vector>

namespace qps::transport::live {

inline constexpr std::uint16_t kExchangePort = 18'515;  // of pingpongs and of perftest
inline constexpr std::size_t kSrqPingPongEnds = 256;    // the most queue pairs that ibv_srq_pingpong has

// What ibv_*_pingpong take where no option says otherwise, and must therefore be ours too.
inline constexpr std::uint32_t kPingPongSize = 4096;    // bytes of a message
inline constexpr std::uint32_t kUdPingPongSize = 1024;  // although its help says 2048
inline constexpr std::uint32_t kPingPongIterations = 1000;
inline constexpr std::uint32_t kXrcPingPongIterations = 5;
inline constexpr PathMtu kPingPongMtu = PathMtu::bytes_1024;
inline constexpr std::uint32_t kSrqPingPongQueuePairs = 16;
inline constexpr dissect::Qkey kUdPingPongQkey{0x1111'1111};

enum class ExchangeRole : std::uint8_t { client, server };

// What the session waits for.
enum class Awaits : std::uint8_t {
    bytes,     // of the peer
    connect,   // the caller connects its queue pairs to remote(), with receives posted, and calls proceed()
    receives,  // the caller posts receives for the size that comes next, and calls proceed(); of perftest alone
    traffic,   // the caller does what the programs are for, and calls proceed()
    nothing,   // it is over: close the connection once output is sent
};

enum class PingPongFormat : std::uint8_t { plain, xrc };  // xrc: ibv_xsrq_pingpong
enum class PingPongState : std::uint8_t { hears_ends, connects, hears_done, exchanges, hears_farewell, over, failed };
enum class PingPongEvent : std::uint8_t {
    all_ends,
    proceed_as_server,
    proceed_as_client,
    proceed_with_xrc,
    done,
    farewell,
    nonsense
};

inline constexpr Machine kPingPongMachine{
    std::array<std::string_view, 7>{"hears_ends", "connects", "hears_done", "talks", "hears_farewell", "over",
                                    "failed"},
    std::array<std::string_view, 7>{"all_ends", "proceed_as_server", "proceed_as_client", "proceed_with_xrc", "done",
                                    "farewell", "nonsense"},
    std::array{
        Edge{PingPongState::hears_ends, PingPongEvent::all_ends, PingPongState::connects},
        Edge{PingPongState::hears_ends, PingPongEvent::nonsense, PingPongState::failed},
        Edge{PingPongState::connects, PingPongEvent::proceed_as_server, PingPongState::hears_done},
        Edge{PingPongState::connects, PingPongEvent::proceed_as_client, PingPongState::exchanges},
        Edge{PingPongState::connects, PingPongEvent::nonsense, PingPongState::failed},
        Edge{PingPongState::hears_done, PingPongEvent::done, PingPongState::exchanges},
        Edge{PingPongState::hears_done, PingPongEvent::nonsense, PingPongState::failed},
        Edge{PingPongState::exchanges, PingPongEvent::proceed_as_server, PingPongState::over},
        Edge{PingPongState::exchanges, PingPongEvent::proceed_as_client, PingPongState::over},
        Edge{PingPongState::connects, PingPongEvent::proceed_with_xrc, PingPongState::exchanges},
        Edge{PingPongState::exchanges, PingPongEvent::proceed_with_xrc, PingPongState::hears_farewell},
        Edge{PingPongState::exchanges, PingPongEvent::nonsense, PingPongState::failed},
        Edge{PingPongState::hears_farewell, PingPongEvent::farewell, PingPongState::over},
        Edge{PingPongState::hears_farewell, PingPongEvent::nonsense, PingPongState::failed},
    },
};
static_assert(sound(kPingPongMachine));

class PingPongSession {
public:
    // `own` are our ends: one, or kSrqPingPongEnds of ibv_srq_pingpong, of which the first so many are in use.
    PingPongSession(ExchangeRole role, std::vector<QueuePairEnd> own, PingPongFormat format = PingPongFormat::plain);

    // Bytes of the peer, cut anyhow.
    void process(dissect::Bytes bytes);
    // The peer has closed its side.
    void closed();
    // What is to be sent, one message; empty where there is none. Call until it is empty.
    [[nodiscard]] std::vector<std::byte> take_output();
    void proceed();

    [[nodiscard]] Awaits awaits() const;
    [[nodiscard]] PingPongState state() const { return state_; }
    [[nodiscard]] std::span<const QueuePairEnd> remote() const { return remote_; }
    // Why it failed, as a sentence without a full stop; empty where it did not.
    [[nodiscard]] const std::string& problem() const { return problem_; }

private:
    bool take(PingPongEvent event);
    void fail(std::string sentence);
    void hear_end();
    bool hear_word(std::byte byte, dissect::Bytes word);
    void hear_farewell();

    ExchangeRole role_;
    PingPongFormat format_;
    std::vector<QueuePairEnd> own_;
    std::vector<QueuePairEnd> remote_;
    std::vector<std::byte> heard_;  // the message that is coming in
    std::size_t ends_sent_ = 0;     // ends put out
    bool may_send_ends_ = false;
    bool says_done_ = false;
    bool says_farewell_ = false;
    PingPongState state_ = PingPongState::hears_ends;
    std::string problem_;
};

}  // namespace qps::transport::live
