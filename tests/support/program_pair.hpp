// Two endpoints on a simulated link under virtual time, each with a program: who serves and who connects.
#pragma once

#include <transport-replay/live/device/fault_text.hpp>
#include <transport-replay/live/device/sim_device.hpp>
#include <transport-replay/live/endpoint.hpp>
#include <transport-replay/live/peers/program.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>

namespace qps::tests {

inline constexpr transport::Address kServerAddress = transport::live::ipv4_address(0xc0000201);
inline constexpr transport::Address kClientAddress = transport::live::ipv4_address(0xc0000202);
inline constexpr transport::Address kServerAddress6 = transport::live::ipv6_address(0x2001'0db8'0000'0000, 1);
inline constexpr transport::Address kClientAddress6 = transport::live::ipv6_address(0x2001'0db8'0000'0000, 2);

struct PairSettings {
    transport::LinkFaults faults{};  // both ways
    std::uint64_t seed = 1;
    std::size_t mtu = 1500;
    bool roce_v1 = false;
    dissect::Duration delay = transport::microseconds(2);  // one way
    std::optional<std::uint16_t> vlan{};
    std::uint8_t priority = 0;
    std::uint8_t dscp = 0;
    bool obey_pauses = true;
    std::string server_faults{};  // as --fault has them
};

class ProgramPair {
public:
    using Instant = dissect::Instant;
    using Endpoint = transport::live::Endpoint;
    using Program = transport::live::Program;

    explicit ProgramPair(const PairSettings& settings)
        : wire(transport::live::make_wire(
              {.seed = settings.seed, .delay = settings.delay, .a_to_b = settings.faults, .b_to_a = settings.faults},
              {}, now)),
          server(serving(wire, settings), of(1, kServerAddress, kServerAddress6, settings), now),
          client(transport::live::open_sim_device(wire, transport::End::b),
                 of(2, kClientAddress, kClientAddress6, settings), now) {}

    // One turn of everybody at `now`, then `now` moves to when something is due. False: nothing ever is.
    bool turn(Program* serving, Program* connecting) {
        server.poll(now);
        if (serving != nullptr) serving->poll(server, now);
        client.poll(now);
        if (connecting != nullptr) connecting->poll(client, now);
        std::optional<Instant> due;
        const auto consider = [&](std::optional<Instant> at) {
            if (at && (!due || *at < *due)) due = at;
        };
        consider(server.poll_at());
        consider(client.poll_at());
        if (serving != nullptr) consider(serving->poll_at());
        if (connecting != nullptr) consider(connecting->poll_at());
        // What goes over TCP takes real time, in which the simulated link's stands still.
        if (exchanges_over_tcp(serving, connecting, !due || *due - now > transport::microseconds(1000))) return true;
        if (!due) return false;
        now = std::max(now, *due);
        return true;
    }
    // Until both are done, the server being stopped when the client is. False where that is not so by the limit.
    bool run(Program& serving, Program& connecting, dissect::Duration limit = transport::microseconds(600'000'000)) {
        const Instant end = now + limit;
        if (!serving.begin(server, now) || !connecting.begin(client, now)) return false;
        std::size_t still = 0;  // turns without time
        bool stopped = false;
        while (!serving.done() || !connecting.done()) {
            const Instant before = now;
            if (connecting.done() && !stopped) {
                serving.stop(server, now);
                stopped = true;
            }
            const bool due = turn(&serving, &connecting);
            still = now == before ? still + 1 : 0;
            if (now > end || still > 100'000 || (!due && !(connecting.done() && !stopped)))
                return serving.done() && connecting.done();
        }
        return true;
    }
    // Queue pairs that nobody destroyed, of the first thousands of numbers.
    static std::size_t queue_pairs(Endpoint& endpoint) {
        std::size_t count = 0;
        for (std::uint32_t qpn = 2; qpn < 8192; ++qpn)
            count += endpoint.adapter().query_qp(dissect::Qpn{qpn}) ? 1U : 0U;
        return count;
    }

    Instant now{1'700'000'000'000'000'000};
    std::shared_ptr<transport::live::SimWire> wire;
    Endpoint server;
    Endpoint client;

private:
    // Whether a program may go on by what it waits for besides its endpoint; waits a little where `patient`.
    static bool exchanges_over_tcp(const Program* serving, const Program* connecting, bool patient) {
        std::vector<pollfd> all;
        for (const Program* each : {serving, connecting}) {
            if (each == nullptr) continue;
            for (const transport::live::Watched& watched : each->watched())
                all.push_back({watched.descriptor,
                               static_cast<short>((watched.to_read ? POLLIN : 0) | (watched.to_write ? POLLOUT : 0)),
                               0});
        }
        return !all.empty() && ::poll(all.data(), all.size(), patient ? 20 : 0) > 0;
    }
    static transport::live::Device serving(const std::shared_ptr<transport::live::SimWire>& wire,
                                           const PairSettings& settings) {
        transport::live::Device bare = transport::live::open_sim_device(wire, transport::End::a);
        if (settings.server_faults.empty()) return bare;
        auto faults = transport::live::parse_faults(settings.server_faults);
        if (!faults) return bare;
        faults->pause_source = bare.limits().mac;
        return transport::live::inject_faults(std::move(bare), *faults);
    }
    static transport::live::EndpointSettings of(std::uint64_t last, const transport::Address& address,
                                                const transport::Address& address6, const PairSettings& settings) {
        return {.host = {.mac = transport::live::Mac{0x0200'0000'0000 + last},
                         .addresses = {{address, 24}, {address6, 64}},
                         .mtu = settings.mtu,
                         .vlan = settings.vlan,
                         .detect_duplicates = false},
                .roce_v1 = settings.roce_v1,
                .dscp = settings.dscp,
                .priority = settings.priority,
                .seed = settings.seed * 2 + last,
                .obey_pauses = settings.obey_pauses};
    }
};

}  // namespace qps::tests
