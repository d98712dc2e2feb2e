// Where a live endpoint sits, what it is called there, what it does to its own frames: what every command takes that
// speaks on a wire.
#pragma once

#include <cli/options/option_table.hpp>
#include <transport-replay/model/address.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport::live {
enum class Mac : std::uint64_t;
}

namespace qps::cli {

namespace headings {
inline constexpr std::string_view kWire = "Wire";
inline constexpr std::string_view kRun = "Run";
inline constexpr std::string_view kTraffic = "Traffic";
}  // namespace headings

enum class RateControlWord : std::uint8_t { none, dcqcn, rtt };
enum class Via : std::uint8_t {
    ring,
    xdp,
    pcap,
    udp,
    nowhere
};  // how frames reach the interface; nowhere: they are recorded alone

// "10.77.0.9/24", "fd00::9".
struct TypedAddress {
    transport::Address address;
    std::optional<std::uint8_t> prefix_length;
};

struct WireOptions {
    std::string interface;
    Via via = Via::ring;
    std::vector<TypedAddress> addresses;  // none: those of the interface, shared with the system
    std::optional<transport::live::Mac> mac;
    std::vector<transport::Address> gateways;
    std::optional<std::uint16_t> vlan;  // 1..4094
    std::uint8_t priority = 0;          // of the VLAN tag
    std::uint8_t dscp = 0;
    std::optional<transport::PathMtu> mtu;
    bool roce_v1 = false;
    RateControlWord rate_control = RateControlWord::none;
    bool obey_pauses = true;
    dissect::BitsPerSecond link_speed{};  // of pauses; 0: as the interface says
    std::vector<std::string> faults;
    std::string capture;  // -w
    std::string unheard;  // of a ring (with AF_XDP, that beside it) or libpcap: an expression of libpcap; frames that
                          // match it are nobody's here
    bool trace = false;
    bool busy = false;                       // polls without sleeping
    std::optional<dissect::Duration> lasts;  // --for
    std::optional<std::uint64_t> seed;

    void add(OptionTable& table);
    // All of these but -i and -w, for a command that has them of its own.
    void add_settings(OptionTable& table);

private:
    void add_frames(OptionTable& table);  // what is in them
};

}  // namespace qps::cli
