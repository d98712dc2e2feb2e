// Faults: what can happen to a frame on its way, by chance or to order, and the drawing of it.
//
// The same seed gives the same dispositions everywhere: draws are made of the bits of std::mt19937_64, not by the
// distributions of a library. Every frame takes the same number of draws, so that a fault more or less does not change
// those of later frames. Shared by the simulated link and by the device that injects faults into a real one.
//
// What an attacker could feed: the injector asks for the disposition of frames of strangers; nothing here grows with
// them.
#pragma once

#include <transport-replay/queue_pair/transport_packet.hpp>

#include <optional>
#include <random>
#include <vector>

namespace qps::transport {

// Random numbers that are the same on every machine.
class Draws {
public:
    explicit Draws(std::uint64_t seed) : generator_(seed) {}
    // Uniform in [0, 1).
    [[nodiscard]] double unit() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }
    [[nodiscard]] bool chance(double probability) { return unit() < probability; }
    // Uniform in [0, bound), for bounds far below 2^53; 0 for 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>(unit() * static_cast<double>(bound));
    }

private:
    std::mt19937_64 generator_;
};

// Probabilities for every frame of one way.
struct LinkFaults {
    double loss = 0;
    double duplication = 0;
    double reordering = 0;  // arrives later, by up to what the link or the injector says
    double corruption = 0;  // one bit of what the ICRC covers
    double marking = 0;     // ECN congestion experienced, where the packet is ECN capable
    [[nodiscard]] bool operator==(const LinkFaults&) const = default;
};

enum class FaultKind : std::uint8_t { loss, duplication, reordering, corruption, marking };

// "The k-th transmission of PSN p": happens for certain, besides what is drawn.
struct ExactFault {
    FaultKind kind = FaultKind::loss;
    End from = End::a;
    dissect::Psn psn;
    bool response = false;  // PSNs of requests and of responses to the same end are different things
    std::uint32_t transmission = 1;
    std::optional<dissect::Qpn> destination_qp{};  // of any queue pair where not set
    dissect::Duration later_by{};                  // of reordering; 0: drawn like that by chance
    [[nodiscard]] bool operator==(const ExactFault&) const = default;
};

// By what an exact fault knows the frame of a packet.
struct PacketIdentity {
    dissect::Psn psn;
    dissect::Qpn destination_qp{};
    bool response = false;
};

struct Disposition {
    bool lost = false;
    bool duplicated = false;
    bool reordered = false;
    bool corrupted = false;
    bool marked = false;
    dissect::Duration later_by{};  // of one reordered to order; 0: to be drawn
    std::uint32_t recorded = 0;    // times a tap recorded it
    [[nodiscard]] bool delivered() const { return !lost && !corrupted; }
};

class Dispositions {
public:
    Dispositions(std::uint64_t seed, const LinkFaults& from_a, const LinkFaults& from_b, std::vector<ExactFault> exact)
        : draws_(seed), chances_{from_a, from_b}, exact_(std::move(exact)), seen_(exact_.size()) {}

    // The disposition of the next frame from that end. `packet`: nothing where it is no packet of the transport, which
    // only chance meets.
    [[nodiscard]] Disposition draw(End from, const std::optional<PacketIdentity>& packet);
    // For what else is to be drawn of a frame, after its disposition.
    [[nodiscard]] Draws& draws() { return draws_; }

private:
    void meet_exactly(End from, const PacketIdentity& packet, Disposition& disposition);

    Draws draws_;
    std::array<LinkFaults, 2> chances_;
    std::vector<ExactFault> exact_;
    std::vector<std::uint32_t> seen_;  // how often each exact fault's packet passed
};

// Sets ECN congestion experienced in an Ethernet frame of IPv4 or IPv6 that is ECN capable, with VLAN tags or none;
// false where it is not.
bool mark_congestion(dissect::MutableBytes frame);

// Turns one bit round, counted from the first of `covered`; nothing where that ends before.
void flip_bit(dissect::MutableBytes covered, std::uint64_t bit);

}  // namespace qps::transport
