#include <cli/live/options/number.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/options/choice.hpp>
#include <transport-replay/live/host/addresses.hpp>

#include <array>
#include <utility>

namespace qps::cli {

using namespace transport;
using live::Mac;

namespace {

TypedAddress read_own_address(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto address = read_address(text.substr(0, slash));
    if (!address)
        refuse(fmt::format("invalid address '{}': expected ADDRESS or ADDRESS/LENGTH, such as 10.77.0.9/24", text));
    const std::uint8_t most = live::family_of(*address) == live::Family::ipv4 ? 32 : 128;
    TypedAddress own{.address = *address, .prefix_length = {}};
    if (slash != std::string::npos)
        own.prefix_length = read_number<std::uint8_t>(text.substr(slash + 1), 0, most, "prefix length");
    return own;
}

Mac read_mac(const std::string& text) {
    const auto bits = dissect::parse_mac(text);
    if (!bits || !live::is_individual(Mac{*bits}))
        refuse(fmt::format("invalid MAC address '{}': expected a unicast address such as 02:00:00:00:00:09", text));
    return Mac{*bits};
}

PathMtu read_mtu(const std::string& text) {
    for (const PathMtu mtu :
         {PathMtu::bytes_256, PathMtu::bytes_512, PathMtu::bytes_1024, PathMtu::bytes_2048, PathMtu::bytes_4096})
        if (text == std::to_string(bytes_of(mtu))) return mtu;
    refuse(fmt::format("invalid path MTU '{}': expected 256, 512, 1024, 2048 or 4096", text));
}

// One of two or four words, which the sentence lists as one says them.
template <class T, std::size_t N>
auto word_into(T& target, const std::array<NamedValue<T>, N>& words, std::string_view option,
               std::string_view expected) {
    return [&target, &words, option, expected](const std::string& text) {
        const auto word = std::ranges::find(words, text, &NamedValue<T>::name);
        if (word == words.end()) refuse(fmt::format("invalid {} '{}': expected {}", option, text, expected));
        target = word->value;
    };
}
constexpr std::array kVias{NamedValue{"ring", Via::ring}, NamedValue{"xdp", Via::xdp}, NamedValue{"pcap", Via::pcap},
                           NamedValue{"udp", Via::udp}};
constexpr std::array kRateControls{NamedValue{"dcqcn", RateControlWord::dcqcn},
                                   NamedValue{"rtt", RateControlWord::rtt}};
constexpr std::array kObeys{NamedValue{"obey", true}, NamedValue{"ignore", false}};

// What takes words each of which is one more.
template <class Value, class Read> auto more_of(std::vector<Value>& target, Read read) {
    return [&target, read](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) target.push_back(read(text));
    };
}

}  // namespace

void WireOptions::add(OptionTable& table) {
    table.under(headings::kWire)
        .add("-i,--interface", "NAME", interface, "Use this interface (needs CAP_NET_RAW; not with --via udp)");
    add_settings(table);
    table.under(headings::kOutput)
        .add("-w,--write", "FILE", capture, "Write all frames sent and received to FILE")
        .is(PathUse::written);
}

void WireOptions::add_settings(OptionTable& table) {
    table.under(headings::kWire);
    table
        .add(
            "-a,--address", "ADDRESS[/LENGTH]", more_of(addresses, read_own_address),
            "Use this address, with a MAC address of its own; repeatable (default: those of the interface, shared with the system)")
        .each();
    table.add(
        "--mac", "MAC", [this](const std::string& text) { mac = read_mac(text); },
        "Use this MAC address (default: derived from the address, or that of the interface)");
    table
        .add("--gateway", "ADDRESS", more_of(gateways, read_peer_address),
             "Route to other networks through this address")
        .each();
    table.add(
        "--via", "WORD", word_into(via, kVias, "--via", "ring, xdp, pcap or udp"),
        "Send by ring (packet socket), xdp (AF_XDP), pcap (libpcap) or udp (socket on port 4791, no root) (default: ring)");
    add_frames(table);
    table.under(headings::kRun);
    table
        .add(
            "--fault", "FAULT", faults,
            "Inject a fault: loss=3%, out:corrupt=1%,seed=7, drop psn=17 qp=0x11 round=2, pause=65535 every=1ms, ...; repeatable")
        .each();
    table.flag("--trace", trace, "Print a line for every frame sent or received");
    table.flag("--busy", busy, "Poll without sleeping: lowest latency, one busy CPU");
    table.add("--for", "TIME", into(lasts, [](const std::string& text) { return read_time(text); }),
              "Stop after this time: 10s, 500ms, ...");
    table.add("--seed", "N", number_into(seed, std::uint64_t{0}, ~std::uint64_t{0}, "seed"),
              "Use this seed for identifiers, first PSNs and data");
}

void WireOptions::add_frames(OptionTable& table) {
    using Byte = std::uint8_t;
    table.add("--vlan", "N", number_into(vlan, std::uint16_t{1}, std::uint16_t{4094}, "VLAN"),
              "Tag all frames with this VLAN");
    table.add("--priority", "N", number_into(priority, Byte{0}, Byte{7}, "priority"),
              "Set the priority in the VLAN tag");
    table.add("--dscp", "N", number_into(dscp, Byte{0}, Byte{63}, "DSCP"), "Set the DSCP of sent packets");
    table.add(
        "--mtu", "BYTES", [this](const std::string& text) { mtu = read_mtu(text); },
        "Path MTU: 256, 512, 1024, 2048 or 4096 (default: the largest that the interface carries)");
    table.flag("--roce-v1", roce_v1, "Use RoCEv1 (Ethertype 0x8915) instead of RoCEv2");
    table.add("--rate-control", "WORD", word_into(rate_control, kRateControls, "--rate-control", "dcqcn or rtt"),
              "React to congestion: dcqcn (to CNPs) or rtt (to round trips, as TIMELY does) (default: not)");
    table.add("--pause", "WORD", word_into(obey_pauses, kObeys, "--pause", "obey or ignore"),
              "React to PAUSE and PFC: obey or ignore (default: obey)");
    table.add("--link-speed", "SPEED", into(link_speed, read_speed),
              "Compute pause times for this link speed: 100G, ... (default: that of the interface, else 10G)");
}

}  // namespace qps::cli
