// What the court reads of a frame: Ethernet, VLAN tags, IPv4 or IPv6, UDP port 4791, BTH and the headers after it
// (volume 1, 9.2 to 9.6; A17). RoCEv1 too, with its GIDs as addresses. Nothing else: a frame that it cannot read proves
// nothing.
#pragma once

#include <tests/court/recording.hpp>

#include <compare>
#include <string>

namespace qps::court {

struct Reth {
    std::uint64_t address = 0;
    std::uint32_t key = 0;
    std::uint32_t length = 0;
};

// One packet of RoCE. Places are offsets in the record's bytes.
struct Wire {
    std::size_t frame = 0;  // from 1
    std::int64_t time = 0;
    std::string from, to;  // addresses
    std::size_t ip = 0;    // place of the IP header
    bool ipv4 = false;
    std::uint32_t identification = 0;         // of IPv4
    std::uint32_t traffic_class = 0;          // with ECN
    std::optional<std::uint32_t> priority{};  // of the VLAN tag
    std::uint32_t port = 0;                   // UDP source; 0 where there is none
    std::uint8_t opcode = 0;
    std::uint32_t to_qp = 0;
    std::uint32_t psn = 0;
    std::uint32_t partition_key = 0;
    bool ack_request = false;
    std::size_t bth = 0;
    std::optional<Reth> reth{};               // or what an AtomicETH says of the same
    std::optional<std::uint32_t> syndrome{};  // of an AETH that was captured
    std::uint32_t length = 0;           // of the IP packet on the wire, as the tables of bytes count: without Ethernet
    std::optional<std::size_t> icrc{};  // its place, where it was captured
    bool icrc_right = true;             // as far as it could be checked
    std::size_t data = 0;               // place of the payload
    std::uint32_t payload = 0;          // its bytes on the wire; of reliable connections and datagrams

    [[nodiscard]] std::uint32_t dscp() const { return traffic_class >> 2U; }
    [[nodiscard]] bool version_1() const { return port == 0; }
    [[nodiscard]] std::uint32_t service() const { return opcode >> 5U; }
    [[nodiscard]] std::uint32_t operation() const { return opcode & 0x1fU; }
    [[nodiscard]] bool reliable() const { return service() == 0; }
    [[nodiscard]] bool is_acknowledged() const {
        return reliable() || service() == 2 || service() == 5;
    }  // RC, RD, XRC
    [[nodiscard]] bool acknowledge() const { return is_acknowledged() && operation() == 17; }
    [[nodiscard]] bool read_response() const { return reliable() && operation() >= 13 && operation() <= 16; }
    [[nodiscard]] bool atomic_response() const { return reliable() && operation() == 18; }
    [[nodiscard]] bool answer() const { return acknowledge() || read_response() || atomic_response(); }
    [[nodiscard]] bool request() const { return reliable() && !answer(); }
    [[nodiscard]] bool read_request() const { return reliable() && operation() == 12; }
    [[nodiscard]] bool atomic_request() const { return reliable() && (operation() == 19 || operation() == 20); }
    [[nodiscard]] bool management() const { return to_qp == 1; }
    [[nodiscard]] bool cnp() const { return opcode == 0x80 || opcode == 0x81; }
    // Of a message's packets: the first of several, or the only one; the last, or the only one.
    [[nodiscard]] bool begins() const {
        const std::uint32_t it = operation();
        return it == 0 || (it >= 4 && it <= 6) || (it >= 10 && it <= 13) || it == 16 || it == 19 || it == 20 ||
               it == 23;
    }
    [[nodiscard]] bool ends() const {
        const std::uint32_t it = operation();
        return (it >= 2 && it <= 5) || (it >= 8 && it <= 12) || it == 15 || it == 16 || (it >= 18 && it <= 20) ||
               it == 22 || it == 23;
    }
    // Of an ACK with its AETH (9.7.5.1): positive, RNR NAK, NAK and its code.
    [[nodiscard]] bool positive() const { return syndrome && *syndrome >> 5U == 0; }
    [[nodiscard]] bool rnr_nak() const { return acknowledge() && syndrome && *syndrome >> 5U == 1; }
    [[nodiscard]] bool nak(std::uint32_t code) const {
        return acknowledge() && syndrome && *syndrome == (0x60U | code);
    }
    [[nodiscard]] bool any_nak() const { return acknowledge() && syndrome && *syndrome >> 5U == 3; }
};

[[nodiscard]] std::optional<Wire> read_wire(const Record& record, std::size_t frame);
// All packets of RoCE, in order.
[[nodiscard]] std::vector<Wire> read_wires(const Recording& recording);

// Where the IP header begins and the protocol it is: past VLAN tags. Nothing where there is none.
struct Network {
    std::size_t place = 0;
    std::uint32_t type = 0;  // EtherType
};
[[nodiscard]] std::optional<Network> network_of(const Octets& frame);
// The addresses of the network header, as text; "" where there is none.
[[nodiscard]] std::string source_of(const Octets& frame);
[[nodiscard]] std::string destination_of(const Octets& frame);
// Corrects the checksum of an IPv4 header after a change.
void fix_checksum(Octets& frame, std::size_t ip);
// The CRC of 7.8.1 and A17.3.3 over the packet at `ip` that ends before `icrc`.
[[nodiscard]] std::uint32_t invariant_crc(const Octets& frame, std::size_t ip, std::size_t icrc);

// How far PSN `later` is after `earlier`, across the wrap at 2^24; negative where it is before.
[[nodiscard]] constexpr std::int32_t psn_distance(std::uint32_t earlier, std::uint32_t later) {
    const std::uint32_t difference = (later - earlier) & 0xffffffU;
    return difference < 0x800000U ? static_cast<std::int32_t>(difference)
                                  : static_cast<std::int32_t>(difference) - 0x1000000;
}

}  // namespace qps::court
