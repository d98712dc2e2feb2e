// Packets that others made: scapy's, text2pcap's, randpkt's. Skipped, with a word, where the tool is not there.
#include <dissect/packet/build.hpp>
#include <tests/cli/process.hpp>
#include <tests/differential/random_packets.hpp>
#include <tests/differential/verdicts.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <filesystem>

#include <fmt/format.h>

namespace qps::test {

using namespace dissect;

namespace {

bool is_missing(std::string_view program, std::string_view package) {
    for (const std::string_view one : {program, std::string_view("tshark")})
        if (!is_installed(one)) {
            fmt::print("SKIPPED: {} is not installed, so nothing was compared (Debian package: {})\n", one,
                       one == "tshark" ? one : package);
            return true;
        }
    return false;
}

// Transport packets from the BTH on, as a hex dump: text2pcap puts Ethernet, IPv4 and UDP before them.
std::string hex_dump(std::size_t packets) {
    std::string text;
    Dice dice(2);
    for (std::size_t i = 0; i < packets; ++i) {
        // RC SEND First, WRITE First, READ, ACK, FetchAdd; UC WRITE Only
        constexpr std::array<std::uint8_t, 6> kOpcodes{0x00, 0x06, 0x0c, 0x11, 0x14, 0x2a};
        const Opcode opcode{kOpcodes[below(dice, kOpcodes.size())]};
        PacketSpec spec = transport_packet(opcode, Network::roce_v2_ipv4);
        set(spec, "infiniband.bth.destqp", 2 + below(dice, 0xfffff0));
        set(spec, "infiniband.bth.psn", below(dice, 0x1000000));
        set(spec, "infiniband.reth.va", dice.throw_once());
        set(spec, "infiniband.aeth.syndrome", below(dice, 256));
        if (info(opcode).carries_payload) spec.payload.assign(64, std::byte{0xa5});
        constexpr std::size_t kBth = 42;  // Ethernet, IPv4 and UDP before it
        const auto bytes = build(spec);
        text += "000000";
        for (std::size_t at = kBth; at < bytes.size(); ++at)
            text += fmt::format(" {:02x}", std::to_integer<unsigned>(bytes[at]));
        text += '\n';
    }
    return text;
}

// Drawn by scapy's own classes: BTH and what scapy 2.5 has behind it, over IPv4 with its options, IPv6 and tags.
constexpr std::string_view kScapy = R"(
import random, sys
from scapy.all import Ether, Dot1Q, IP, IPv6, UDP, Raw, wrpcap, conf
from scapy.contrib.roce import BTH, AETH, CNPPadding
random.seed(int(sys.argv[2]))
def number(bits): return random.getrandbits(bits)
def network():
    mac = lambda: ':'.join('%02x' % number(8) for _ in range(6))
    link = Ether(src=mac(), dst=mac())
    if number(2) == 0: link = link / Dot1Q(vlan=number(12), prio=number(3))
    if number(1): return link / IP(src='10.%d.%d.%d' % (number(8), number(8), number(8)), dst='10.0.0.1', tos=number(8), ttl=1 + number(7), id=number(16))
    return link / IPv6(src='2001:db8::%x' % number(16), dst='2001:db8::1', tc=number(8), fl=number(20), hlim=1 + number(7))
def transport():
    common = dict(psn=number(24), dqpn=2 + number(23), pkey=number(16), solicited=number(1), migreq=number(1), ackreq=number(1))
    kind = number(1)
    if kind == 0: return BTH(opcode=random.choice([0x00, 0x01, 0x02, 0x07, 0x08]), **common) / Raw(b'\xa5' * (4 * random.randrange(8, 60)))
    return BTH(opcode=0x11, **common) / AETH(syndrome=number(8), msn=number(24))
wrpcap(sys.argv[1], [network() / UDP(sport=0xc000 | number(14), dport=4791) / transport() for _ in range(int(sys.argv[3]))])
)";

std::string python_with_scapy() {
    for (const char* python : {"/usr/bin/python3", "python3"})
        if ((std::filesystem::exists(python) || is_installed(python)) &&
            run({python, "-c", "import scapy.contrib.roce"}).code == 0)
            return python;
    return "";
}

}  // namespace

TEST_CASE("packets of scapy have the same values as tshark's") {
    if (is_missing("tshark", "tshark")) return;
    const std::string python = python_with_scapy();
    if (python.empty())
        return fmt::print("SKIPPED: scapy is not installed, so nothing was compared (Debian package: python3-scapy)\n");
    const TemporaryFolder folder;
    const Capture capture{"scapy", folder.file("scapy.pcap")};
    (void)must(run({python, "-c", std::string(kScapy), capture.path, "1", "500"}), "scapy");
    Verdicts verdicts;
    verdicts.compare(capture);
    verdicts.report("scapy");
    CHECK(verdicts.good());
    // Its ICRC is of its own making: two implementations agree. It has none for IPv6.
    CHECK(must(run({QPSCOPE_PROGRAM, "packets", "-f", "tsv", "-e", "frame.number", "-Y",
                    "ip.version == 4 and rdma.icrc.status != good", capture.path}),
               "qpscope")
              .find_first_of("0123456789") == std::string::npos);
}

TEST_CASE("packets of text2pcap have the same values as tshark's") {
    if (is_missing("text2pcap", "wireshark-common")) return;
    constexpr std::size_t kPackets = 500;
    const TemporaryFolder folder;
    const std::string text = hex_dump(kPackets);
    const std::string dump = folder.write("dump.txt", std::as_bytes(std::span(text)));
    const Capture capture{"text2pcap", folder.file("text2pcap.pcap")};
    (void)must(run({"text2pcap", "-q", "-u", "49152,4791", dump, capture.path}), "text2pcap");
    Verdicts verdicts;
    verdicts.compare(capture);
    verdicts.report("text2pcap");
    CHECK(verdicts.good());
}

// Others in every run: randpkt takes no seed. It knows nothing of RDMA: what is compared is the way to it.
TEST_CASE("packets of randpkt are read to their end") {
    if (is_missing("randpkt", "wireshark-common")) return;
    const TemporaryFolder folder;
    for (const std::string type : {"eth", "ip", "ipv6", "udp", "tcp", "arp", "icmp", "llc", "sctp"}) {
        const std::string path = folder.file(type + ".pcap");
        (void)must(run({"randpkt", "-b", "400", "-c", "300", "-t", type, path}), "randpkt");
        const auto listed =
            run({QPSCOPE_PROGRAM, "packets", "-f", "tsv", "-e", "frame.number", "-e", "frame.len", path});
        // 6: it may write a link type that is not decoded, token ring for one.
        if (listed.code != 6 || listed.err.find("link type") == std::string::npos) (void)must(listed, "qpscope");
        const std::string& lines = listed.out;
        const std::string theirs =
            must(run_tshark({"-r", path, "-T", "fields", "-e", "frame.number", "-e", "frame.len"}), "tshark");
        INFO(type);
        CHECK(lines.substr(lines.find('\n') + 1) == theirs);
        const int code = run({QPSCOPE_PROGRAM, "analyze", "--no-progress", "-f", "json", path}).code;
        CHECK((code == 0 || code == 6));  // 6: none is RDMA
    }
}

}  // namespace qps::test
