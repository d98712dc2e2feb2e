// Program: what a live peer does with its endpoint: rping, an echo, a sink; server or client.
//
// A program is polled: after every Endpoint::poll() it takes its completions and connection events, and posts work. It
// waits for nothing and keeps no time but what it is told. kPrograms is the table of all of them; the command line, its
// help and the documentation derive from it. Who adds one writes a type with the members of ProgramLike and a row.
//
// What its peer says is a stranger's word: lengths and addresses in messages are checked before they are used, and what
// a server keeps for a connection goes with the connection. Bounds: kMaxClients, kMaxTransfer.
#pragma once

#include <transport-replay/live/endpoint.hpp>

#include <concepts>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::live {

inline constexpr std::size_t kMaxClients = 1024;  // of one server; more are rejected
inline constexpr std::size_t kFairShare =
    128;  // silent connections of one address that a full server keeps in any case
inline constexpr dissect::Duration kProvingTime{
    60'000'000'000};  // without a completion, until one is silent: a client may pause
inline constexpr std::uint32_t kMaxTransfer = 1U << 30;  // bytes of one message or region that a user may ask for

// What is told to programs that exchange their queue pairs over TCP (ibv_*_pingpong, ib_*); the peer must be told the
// same.
struct ExchangeOptions {
    bool rdma_cm = false;          // of perftest's: over rdma_cm instead, which connects the queue pairs too
    std::string tcp{};             // whom to call, or where to listen; empty: the target's own address, the loopback
    std::optional<PathMtu> mtu{};  // none: the program's own
    std::optional<dissect::Service> service{};    // of perftest's; none: RC
    std::optional<std::uint32_t> queue_pairs{};   // none: the program's own
    bool both_ways = false;                       // bandwidth, in both directions at a time
    bool all_sizes = false;                       // one after another
    std::optional<dissect::Duration> duration{};  // instead of a number of messages
    dissect::Duration gap{};                      // between messages: who sends unreliably may be too fast for the peer
    bool compare_swap = false;                    // atomics: COMPARE SWAP instead of FETCH ADD
};

// What the user asked for.
struct ProgramRequest {
    std::optional<Address> target{};  // whom to connect to; none: serve
    std::optional<IpPort> port{};     // none: the program's own
    std::optional<std::uint64_t>
        count{};  // messages or rounds; none: the program's own, of a server: until it is stopped
    std::optional<std::uint32_t> size{};  // bytes of a message or region; none: the program's own
    std::uint32_t depth = 16;             // messages under way at a time
    std::uint32_t connections = 1;        // of a client
    std::optional<std::uint64_t>
        clients{};       // of a server: it is done once so many have come and gone; none: it serves until stopped
    bool verify = true;  // look at every byte that arrives
    bool fast_registration = false;  // of memory, serving: a key for each question, by a work request
    ConnectOptions connect{};
    ExchangeOptions exchange{};
    std::uint64_t seed = 1;
    std::string folder{};   // of rcopy: where files go
    std::string secret{};   // of the agent: who does not know it may do nothing; empty: there is none
    bool insecure = false;  // of the agent: it may do without, though other machines reach it
};

// A descriptor that a program waits for, besides the device's.
struct Watched {
    int descriptor = -1;
    bool to_read = true;
    bool to_write = false;
};

// What a program has done; only upwards.
struct ProgramCounts {
    std::uint64_t connections = 0;  // established
    std::uint64_t failed = 0;       // connections that ended otherwise than was meant
    std::uint64_t messages = 0;     // sent and received, of the program's own counting
    std::uint64_t bytes = 0;        // payload of these
    std::uint64_t wrong = 0;        // messages whose content was not what it had to be
};

// A program that has descriptors says so by watched(), which may be left out.
template <class T>
concept ProgramLike = std::is_nothrow_move_constructible_v<T> &&
                      requires(T program, const T& constant, Endpoint& endpoint, dissect::Instant now) {
                          // Listens or connects. A sentence where that is not possible.
                          { program.begin(endpoint, now) } -> std::same_as<std::expected<void, std::string>>;
                          { program.poll(endpoint, now) };
                          { constant.poll_at() } -> std::same_as<std::optional<dissect::Instant>>;
                          // The user wants it to end: connections are taken down. done() is true once they are.
                          { program.stop(endpoint, now) };
                          { constant.done() } -> std::same_as<bool>;
                          // Sentences since the last call, for people: a client came, a transfer is through, what
                          // failed.
                          { program.take_lines() } -> std::same_as<std::vector<std::string>>;
                          { constant.counts() } -> std::same_as<ProgramCounts>;
                      };

class Program {
public:
    // In this order: the question whether a Program is like a program would be about itself.
    template <class T>
        requires(!std::same_as<T, Program>) && ProgramLike<T>
    Program(T program)
        : held_(std::make_unique<Holding<T>>(std::move(program))) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now) {
        return held_->begin(endpoint, now);
    }
    void poll(Endpoint& endpoint, dissect::Instant now) { held_->poll(endpoint, now); }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const { return held_->poll_at(); }
    void stop(Endpoint& endpoint, dissect::Instant now) { held_->stop(endpoint, now); }
    [[nodiscard]] bool done() const { return held_->done(); }
    [[nodiscard]] std::vector<std::string> take_lines() { return held_->take_lines(); }
    [[nodiscard]] ProgramCounts counts() const { return held_->counts(); }
    [[nodiscard]] std::vector<Watched> watched() const { return held_->watched(); }

private:
    class Held {
    public:
        virtual ~Held() = default;
        virtual std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now) = 0;
        virtual void poll(Endpoint& endpoint, dissect::Instant now) = 0;
        [[nodiscard]] virtual std::optional<dissect::Instant> poll_at() const = 0;
        virtual void stop(Endpoint& endpoint, dissect::Instant now) = 0;
        [[nodiscard]] virtual bool done() const = 0;
        virtual std::vector<std::string> take_lines() = 0;
        [[nodiscard]] virtual ProgramCounts counts() const = 0;
        [[nodiscard]] virtual std::vector<Watched> watched() const = 0;
    };
    template <class T> class Holding final : public Held {
    public:
        explicit Holding(T program) : program_(std::move(program)) {}
        std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now) override {
            return program_.begin(endpoint, now);
        }
        void poll(Endpoint& endpoint, dissect::Instant now) override { program_.poll(endpoint, now); }
        [[nodiscard]] std::optional<dissect::Instant> poll_at() const override { return program_.poll_at(); }
        void stop(Endpoint& endpoint, dissect::Instant now) override { program_.stop(endpoint, now); }
        [[nodiscard]] bool done() const override { return program_.done(); }
        std::vector<std::string> take_lines() override { return program_.take_lines(); }
        [[nodiscard]] ProgramCounts counts() const override { return program_.counts(); }
        [[nodiscard]] std::vector<Watched> watched() const override {
            if constexpr (requires(const T& program) { program.watched(); }) return program_.watched();
            return {};
        }

    private:
        T program_;
    };

    std::unique_ptr<Held> held_;
};

// A row of the table of programs.
struct ProgramRow {
    std::string_view name;     // as the user types it: that of the program it sessions to, where there is one
    std::string_view summary;  // one line
    IpPort port;               // where it listens, unless the user says otherwise
    bool serves;
    bool connects;
    std::expected<Program, std::string> (*make)(
        const ProgramRequest& request);  // a sentence: what of the request cannot be
};
[[nodiscard]] std::span<const ProgramRow> programs();
[[nodiscard]] const ProgramRow* find_program(std::string_view name);

}  // namespace qps::transport::live
