// Fuzzer of the exchanges over TCP and rdma_cm: any peer, any program and options, bytes cut anyhow. A exchange ends
// once the connection does, and what we say of it is bounded.
//
// The input: two bytes of settings, one of the length of a piece, then what the peer says; over rdma_cm its messages, a
// byte of length before each.
#include <transport-replay/live/exchange/perftest_session.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;

namespace {

void demand(bool holds) {
    if (!holds) std::abort();
}

std::vector<QueuePairEnd> ends(std::size_t count) {
    std::vector<QueuePairEnd> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i].qpn = Qpn{static_cast<std::uint32_t>(i + 17)};
        all[i].gid = ipv4_address(0xc0000201);
    }
    return all;
}

template <class Session> void exchange(Session& session, Bytes peer, std::size_t piece) {
    constexpr std::size_t kMost = std::size_t{1} << 20;  // far above what any exchange of ours has
    std::size_t said = 0;
    const auto go_on = [&] {
        for (;;) {
            for (auto message = session.take_output(); !message.empty(); message = session.take_output())
                demand((said += message.size()) < kMost);
            if (session.awaits() == Awaits::bytes || session.awaits() == Awaits::nothing) return;
            session.proceed();
        }
    };
    go_on();
    const bool messages = piece == 0;
    for (std::size_t at = 0; at < peer.size(); at += piece) {
        if (messages) piece = std::to_integer<std::size_t>(peer[at++]);
        const Bytes part = slice(peer, at, piece);
        const auto exact = std::make_unique<std::byte[]>(part.size());
        std::ranges::copy(part, exact.get());
        session.process({exact.get(), part.size()});
        go_on();
    }
    session.closed();
    go_on();
    demand(session.awaits() == Awaits::nothing);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kHead = 3;
    if (size < kHead) return 0;
    const auto peer = std::as_bytes(std::span(data + kHead, size - kHead));
    const ExchangeRole role = (data[0] & 1) != 0 ? ExchangeRole::client : ExchangeRole::server;
    const std::size_t piece = std::size_t{data[2]} + 1;
    if ((data[0] & 2) != 0) {
        PingPongSession session(role, ends((data[0] & 4) != 0 ? kSrqPingPongEnds : 1));
        exchange(session, peer, piece);
        return 0;
    }
    PerftestSettings settings;
    settings.test = static_cast<PerftestTest>(data[1] & 7);
    settings.queue_pairs = 1 + (data[0] >> 2 & 3U);
    settings.bidirectional = (data[1] & 8) != 0;
    settings.all_sizes = (data[1] & 16) != 0;
    settings.duration = (data[1] & 32) != 0;
    settings.service = (data[1] & 64) != 0 ? Service::ud : Service::rc;
    settings.over_cm = (data[1] & 128) != 0;
    if (settings.test >= PerftestTest::atomic_bw) settings.size = 8;
    PerftestSession session(role, settings, ends(settings.queue_pairs));
    demand(session.problem().empty() == !refusal(settings));
    exchange(session, peer, settings.over_cm ? 0 : piece);
    return 0;
}
