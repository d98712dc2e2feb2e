// Two connection managers back to back under virtual time, with a wire between them that loses, doubles and delays by
// seed.
#pragma once

#include <tests/support/catch.hpp>
#include <transport-replay/live/cm/communication.hpp>
#include <transport-replay/live/cm/ip_cm.hpp>
#include <transport-replay/live/sim_link.hpp>

#include <array>
#include <functional>
#include <map>
#include <vector>

namespace qps::tests {

inline constexpr transport::Address kActiveAddress = transport::live::ipv4(0xc0000201);  // RFC 5737
inline constexpr transport::Address kPassiveAddress = transport::live::ipv4(0xc0000202);
inline constexpr transport::live::ServiceId kEchoService =
    transport::live::ip_service(transport::live::PortSpace::tcp, transport::live::IpPort{7174});

struct CmWire {
    double loss = 0;
    double duplication = 0;
    double reordering = 0;
};

class CmEnds {
public:
    using Consumer = std::function<void(CmEnds&, transport::End, const transport::live::ConnectionEvent&)>;

    explicit CmEnds(std::uint64_t seed = 1, CmWire wire = {})
        : managers{transport::live::ConnectionManager(
                       {.seed = seed, .guid = transport::live::CaGuid{0x0200'00ff'fe00'0001}}),
                   transport::live::ConnectionManager(
                       {.seed = seed + 1000, .guid = transport::live::CaGuid{0x0200'00ff'fe00'0002}})},
          wire_(wire),
          draws_(seed) {}

    [[nodiscard]] transport::live::ConnectionManager& active() { return managers[0]; }
    [[nodiscard]] transport::live::ConnectionManager& passive() { return managers[1]; }
    [[nodiscard]] transport::live::ConnectionManager& of(transport::End end) {
        return managers[static_cast<std::size_t>(end)];
    }

    [[nodiscard]] static transport::live::ConnectRequest request(std::uint32_t qpn = 0x11) {
        transport::live::ConnectRequest wish;
        wish.service = kEchoService;
        wish.path.local = kActiveAddress;
        wish.path.remote = kPassiveAddress;
        wish.local_qpn = dissect::Qpn{qpn};
        wish.starting_psn = dissect::Psn(0x1000);
        wish.responder_resources = 4;
        wish.initiator_depth = 8;
        return wish;
    }

    // Accepts, gets ready; what a test wants besides it says by `consumer`, which is asked first.
    void decide(transport::End end, const transport::live::ConnectionEvent& event);

    // Everything that is due until `until`.
    void run(dissect::Instant until);
    void run_for(dissect::Duration time) { run(now + time); }

    [[nodiscard]] std::vector<transport::live::ConnectionEvent> events_of(
        transport::End end, transport::live::ConnectionEventKind kind) const {
        std::vector<transport::live::ConnectionEvent> found;
        for (const auto& [who, event] : events)
            if (who == end && event.kind == kind) found.push_back(event);
        return found;
    }
    [[nodiscard]] std::size_t sent(transport::End end, transport::CmMessage message) const {
        return static_cast<std::size_t>(std::ranges::count_if(said, [&](const auto& each) {
            const auto read = transport::read_cm(each.second.bytes);
            return each.first == end && read && read->message == message;
        }));
    }

    std::array<transport::live::ConnectionManager, 2> managers;
    dissect::Instant now{1'000'000'000};
    std::vector<std::pair<transport::End, transport::live::ConnectionEvent>> events;
    std::vector<std::pair<transport::End, transport::live::ManagementDatagram>> said;  // in order, lost or not
    Consumer consumer{};                                                               // true decisions are its
    bool automatic = true;
    // Drops what it says true of.
    std::function<bool(transport::End, transport::CmMessage)> lost{};

private:
    void ship(transport::End from, transport::live::ManagementDatagram datagram);

    CmWire wire_;
    transport::Draws draws_;
    std::multimap<dissect::Instant, std::pair<transport::End, transport::live::ManagementDatagram>> under_way_;
};

inline void CmEnds::decide(transport::End end, const transport::live::ConnectionEvent& event) {
    using transport::live::ConnectionEventKind;
    if (event.kind == ConnectionEventKind::request) {
        (void)of(end).accept(
            event.id,
            {.local_qpn = dissect::Qpn{static_cast<std::uint32_t>(event.parameters.remote_qpn) + 0x1000},
             .starting_psn = dissect::Psn(0x2000),
             .responder_resources = 16,
             .initiator_depth = 2},
            now);
    } else if (event.kind == ConnectionEventKind::reply) {
        (void)of(end).ready(event.id, {}, now);
    }
}

inline void CmEnds::ship(transport::End from, transport::live::ManagementDatagram datagram) {
    said.emplace_back(from, datagram);
    const auto read = transport::read_cm(datagram.bytes);
    if (lost && read && lost(from, read->message)) return;
    constexpr dissect::Duration kWay = transport::microseconds(10);
    std::swap(datagram.local, datagram.remote);
    const int copies = draws_.chance(wire_.duplication) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
        if (draws_.chance(wire_.loss)) continue;
        const bool late = draws_.chance(wire_.reordering);
        const auto more = transport::nanoseconds(late ? static_cast<std::int64_t>(draws_.below(8'000'000'000)) : 0);
        under_way_.emplace(now + kWay + more, std::pair{transport::other(from), datagram});
    }
}

inline void CmEnds::run(dissect::Instant until) {
    constexpr int kMostSteps = 200'000;
    for (int step = 0; step < kMostSteps; ++step) {
        for (const transport::End end : {transport::End::a, transport::End::b}) {
            while (const auto datagram = of(end).poll(now)) ship(end, *datagram);
            for (const auto& event : of(end).take_events()) {
                events.emplace_back(end, event);
                if (consumer) consumer(*this, end, event);
                if (automatic) decide(end, event);
            }
        }
        std::optional<dissect::Instant> next;
        const auto consider = [&](std::optional<dissect::Instant> time) {
            if (time && (!next || *time < *next)) next = time;
        };
        for (const auto& manager : managers) consider(manager.poll_at());
        if (!under_way_.empty()) consider(under_way_.begin()->first);
        if (!next || *next > until) {
            now = until;
            return;
        }
        now = std::max(now, *next);
        while (!under_way_.empty() && under_way_.begin()->first <= now) {
            const auto [to, datagram] = under_way_.begin()->second;
            under_way_.erase(under_way_.begin());
            of(to).process(datagram, now);
        }
    }
    FAIL("the managers never come to rest");
}

[[nodiscard]] inline dissect::Duration seconds(std::int64_t count) {
    return transport::nanoseconds(count * 1'000'000'000);
}

}  // namespace qps::tests
