// Endpoint: a live peer on a wire: a device, a host on it, a channel adapter, a connection manager, driven by
// poll(now).
//
//   Endpoint endpoint(Device(std::move(*ring)), {.host = {...}, .seed = 7}, clock());
//   for (;;) {
//       const dissect::Instant now = clock();
//       endpoint.arrive(now);                    // takes what arrived
//       program.poll(endpoint, now);             // takes completions and events, posts work
//       endpoint.depart(now);                    // sends what is due: acknowledgments, and what was posted just now,
//       in one batch sleep on endpoint.device().descriptor() until earliest of endpoint.poll_at(), program.poll_at()
//   }
//
// No clock, no thread, no waiting in here; with a simulated device the same calls give the same frames.
//
// Who wants to be a queue pair himself, packet by packet, claims its number: frames to it are kept for him as they
// came, wrong ones too, and nobody else sees them; send_raw() sends what he made. Queue pair 1 can be claimed too: then
// nobody manages connections.
//
// PAUSE and PFC frames that arrive are obeyed: what has a priority that is stopped stays where it is until its timer
// ends, packets of queue pairs in their queues, so that no retransmission timer runs for what was not sent.
//
// Everything that arrives is a stranger's: the host looks at addresses, the decoder at lengths and the ICRC, the
// adapter and the connection manager at the rest; what is refused is counted by name. What grows: packets that wait for
// the MAC address of where they go (kMaxWaiting), claimed frames that nobody takes (kMaxClaimed), raw ones that wait
// (kMaxRaw); the rest is bounded by the parts.
#pragma once

#include <transport-replay/live/connections.hpp>
#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/host/host.hpp>
#include <transport-replay/live/link_pauses.hpp>

#include <deque>
#include <memory>

namespace qps::transport::live {

inline constexpr std::size_t kMaxWaiting = 256;       // packets; a peer that cannot be found fills no more
inline constexpr std::size_t kMaxClaimed = 1U << 13;  // frames that nobody took: the answers to a storm, some megabytes
inline constexpr std::size_t kMaxRaw = 1U << 12;      // frames to send: far above what a device takes at a time
inline constexpr std::size_t kMaxClaims = 1U << 10;   // queue pairs: each is looked for in every packet

struct EndpointSettings {
    HostSettings host;
    verbs::AdapterSettings adapter{};  // its addresses are the host's
    bool roce_v1 = false;              // connections are made with RoCEv1
    std::uint8_t dscp = 0;             // of connections
    std::uint8_t priority = 0;         // of connections, in their VLAN tag
    std::uint64_t seed = 1;            // of everything drawn: ids, PSNs
    bool obey_pauses = true;
    dissect::BitsPerSecond link_speed{};  // of pause times; 0: as the device says, or kUsualLinkSpeed
};

// What arrived and was no use, besides what the parts count.
struct EndpointCounts {
    std::uint64_t packets_received = 0;  // RoCE, for us, whole and right
    std::uint64_t packets_sent = 0;
    std::uint64_t wrong_icrc = 0;
    std::uint64_t malformed = 0;     // RoCE that cannot be read: cut, lengths that lie
    std::uint64_t unroutable = 0;    // to send: nobody answers for the address, or kMaxWaiting
    std::uint64_t send_later = 0;    // times the device had no room
    std::uint64_t claimed = 0;       // frames for claimed queue pairs, right or wrong; not in packets_received
    std::uint64_t claimed_lost = 0;  // of these: beyond kMaxClaimed
    std::uint64_t raw_sent = 0;      // not in packets_sent
};

// A frame for a queue pair that was claimed.
struct ClaimedFrame {
    std::vector<std::byte> bytes;
    dissect::Instant time{};
};

class Endpoint {
public:
    Endpoint(Device device, const EndpointSettings& settings, dissect::Instant now);
    Endpoint(Endpoint&&) noexcept;
    Endpoint& operator=(Endpoint&&) noexcept;
    ~Endpoint();

    void arrive(dissect::Instant now);
    void depart(dissect::Instant now);
    // Both, for who posts nothing in between.
    void poll(dissect::Instant now);
    // When poll() is due of its own accord; the device's descriptor says when frames arrived.
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;

    [[nodiscard]] verbs::Adapter& adapter();
    [[nodiscard]] Connections& connections();
    [[nodiscard]] ConnectionManager& manager();
    [[nodiscard]] Host& host();
    [[nodiscard]] Device& device();
    [[nodiscard]] const EndpointCounts& counts() const;
    [[nodiscard]] const LinkPauses& pauses() const;
    [[nodiscard]] std::size_t waiting() const;  // packets, for the MAC address of where they go

    // From now on frames to that queue pair are for take_claimed(). False: kMaxClaims.
    bool claim(dissect::Qpn qp);
    void release(dissect::Qpn qp);
    // In the order of arrival.
    [[nodiscard]] std::vector<ClaimedFrame> take_claimed();
    // Whole, from the Ethernet header on; Host::complete() knows the MAC addresses. Goes out with the next depart().
    // False: kMaxRaw wait, or it is longer than the device carries.
    [[nodiscard]] bool send_raw(dissect::Bytes frame);
    [[nodiscard]] std::size_t raw_waiting() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace qps::transport::live
