// Probes of iWARP: what is said to a service of a device over TCP, any service that takes connections, and what has to
// come of it. No consumer is needed behind it: a READ of no bytes needs no memory (RFC 5040 4.4), so it is answered by
// every implementation, and shows that what was before it was taken.
//
// IwarpProbeRun plays one, without socket and clock, as the sessions of exchange_connection.hpp do.
//
// What an attacker could feed: any bytes. What is held of them is at most kMostHeard; past it the run is over.
#pragma once

#include <transport-replay/checks/passive/iwarp_exchange.hpp>
#include <transport-replay/checks/verdict.hpp>
#include <transport-replay/conformance/iwarp/iwarp_bytes.hpp>
#include <transport-replay/live/exchange/perftest_session.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qps::transport::conformance {

enum class ProbeExpects : std::uint8_t {
    refused,   // no connection: it ends, or a reply rejects it
    answered,  // each READ of no bytes, in order
    ended,     // the connection ends, and nothing that was sent last is answered
    reason,    // the same, by a Terminate with one of these reasons
    left,      // nothing: we go, and the next connection is taken
};

struct IwarpProbe {
    std::string_view check;  // its id; empty: whether the device is alive
    std::string_view title;
    ProbeExpects expects{};
    StreamBytes request;
    std::vector<StreamBytes> then{};  // once the device accepted; each with one system call
    std::size_t answers = 0;          // READs of no bytes in `then` that are answered before, or at all
    bool request_bytewise = false;    // every byte of it with a system call of its own
    bool then_bytewise = false;
    std::vector<TerminateReason> reasons{};
    std::size_t times = 1;  // where what it provokes may go well by chance
};
// In the order of the catalogue.
[[nodiscard]] std::span<const IwarpProbe> iwarp_probes();
[[nodiscard]] const IwarpProbe& iwarp_alive();

struct ProbeOutcome {
    const IwarpProbe* probe = nullptr;
    Verdict verdict = Verdict::inconclusive;
    std::string reason;
    std::vector<ExchangeStep> exchange;
    dissect::Duration took{};
};

class IwarpProbeRun {
public:
    static constexpr dissect::Duration kPatience{2'000'000'000};
    // Between the reply and the first FPDU: soft-iWARP now and then does not notice what comes at once, until more
    // comes.
    static constexpr dissect::Duration kSettling{100'000'000};
    static constexpr std::size_t kMostHeard = 1 << 17;

    // `flow`: from us to the device. What it sends is judged as the packets of a capture, in `tallies`.
    IwarpProbeRun(const IwarpProbe& probe, const FlowKey& flow, HostTallies& tallies, dissect::Instant now,
                  dissect::Duration patience = kPatience);

    void process(dissect::Bytes heard);
    void closed();  // by the device, or lost
    [[nodiscard]] std::vector<std::byte> take_output();
    [[nodiscard]] live::Awaits awaits() const { return over_ ? live::Awaits::nothing : live::Awaits::bytes; }
    // Time goes by.
    void tick(dissect::Instant now);
    [[nodiscard]] bool over() const { return over_; }
    [[nodiscard]] ProbeOutcome outcome();

private:
    void pass() { end(Verdict::pass, {}); }
    void end(Verdict verdict, std::string reason);
    void note(ExchangeWay way, std::string text);
    void show(End from, dissect::Bytes bytes, bool fin);
    [[nodiscard]] bool take_reply();
    [[nodiscard]] bool take_fpdu();
    void take_response();
    void take_terminate(dissect::Bytes payload);
    [[nodiscard]] bool is_settled() const;  // the READs before what is wrong were answered

    const IwarpProbe& probe_;
    IwarpExchange exchange_;
    HostTallies& tallies_;
    FlowKey flow_;
    dissect::Instant began_;
    dissect::Instant now_;
    dissect::Duration patience_;
    std::vector<std::byte> heard_{};
    std::size_t sent_of_request_ = 0;
    std::size_t next_ = 0;  // of `then`
    std::size_t sent_of_part_ = 0;
    std::optional<dissect::Instant> accepted_{};
    std::size_t answers_ = 0;
    std::array<std::uint32_t, 2> streams_{1, 1};
    std::uint64_t frames_ = 0;
    bool over_ = false;
    ProbeOutcome outcome_;
};

}  // namespace qps::transport::conformance
