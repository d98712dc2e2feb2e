// Settings and states of several places: what each line says, what does not fit together, and what nearly does not.
#include <tests/case/case_folder.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/casework/notices.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

using namespace qps;
using namespace qps::casework;
using namespace qps::testing;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

// "subject|name|value|device" of each setting of a text.
std::vector<std::string> settings_said(const std::string& text) {
    CaseReader reader;
    reader.read("h1.state", text);
    std::vector<std::string> said;
    for (const Setting& each : reader.end().settings)
        said.push_back(fmt::format("{}|{}|{}|{}", each.subject, each.name, each.value, each.device));
    return said;
}

bool claims(const Files& files, std::string_view id) {
    const Verdict verdict = verdict_of(files);
    return std::ranges::any_of(verdict.claims, [&](const Claim& each) { return each.id == id; });
}

std::string vlan_of(std::string_view id, std::string_view address) {
    return fmt::format(
        "14: ens2.{0}@ens2: <BROADCAST,UP> mtu 9000 qdisc noqueue state UP\n    vlan protocol 802.1Q id {0} "
        "<REORDER_HDR>\n    inet {1} scope global ens2.{0}\n",
        id, address);
}

}  // namespace

TEST_CASE("lines of states become settings") {
    struct Said {
        std::string line, setting;
    };
    const std::vector<Said> all{
        {"10.0.3.7 dev ens3 FAILED", "neighbour|10.0.3.7|FAILED|ens3"},
        {"10.0.3.7 FAILED", "neighbour|10.0.3.7|FAILED|"},
        {"fe80::1 dev ens3 INCOMPLETE", "neighbour|fe80::1|INCOMPLETE|ens3"},
        {"net.ipv4.conf.all.rp_filter = 1", "sysctl|net.ipv4.conf.all.rp_filter|1|"},
        {"netns exclusive copy-on-fork on", "RDMA system|netns|exclusive|"},
        {"    vf 3     link/ether 02:11:22:33:44:53 brd ff, link-state disable, trust off",
         "virtual function|3|disable|"},
        {"mlx5_3 port 1 ==> ens4f1 (Down)", "port|state|Down|mlx5_3"},
        {"  atomic_cap:     ATOMIC_NONE (0)", "device|atomics|ATOMIC_NONE|"},
        {"-P INPUT DROP", "firewall|refuses|DROP|"},
        {"-A INPUT -p tcp -m tcp --dport 7000:7100 -j ACCEPT", "firewall|accepts|7000:7100|"},
        {"Active FEC encoding: RS", "interface|FEC|RS|"},
        {"$ ulimit -l\n8192", "limit|memlock|8192|"},
        {"$ cat /sys/class/infiniband/mlx5_0/ports/1/pkeys/0\n0x7fff", "P_Key|0|0x7fff|mlx5_0"},
        {"Slave Interface: ens5\nAggregator ID: 2", "bond leg|aggregator|2|ens5"},
        {"Ethernet44   gpu-17          b8:59:9f:00:00:10  O             enp27", "behind port|system|gpu-17|Ethernet44"},
    };
    for (const Said& each : all) {
        INFO(each.line);
        const auto said = settings_said(each.line + "\n");
        CHECK(std::ranges::find(said, each.setting) != said.end());
    }
}

TEST_CASE("what nearly is one of these lines says nothing") {
    for (const std::string line :
         {"10.0.3.7 dev ens3 lladdr b8:ce:f6:0a:11:21 REACHABLE", "netns sharedness", "vf 3 link-state disable",
          "-A INPUT -i lo -j ACCEPT", "atomic_cap: none", "Aggregator: 2"}) {
        INFO(line);
        CHECK(settings_said(line + "\n").empty());
    }
}

TEST_CASE("VLANs differ only where both have an address of one subnet") {
    const auto with = [](std::string_view id, std::string_view address) {
        return claims({{"n1.link", vlan_of("110", "192.168.50.11/24")}, {"n2.link", vlan_of(id, address)}},
                      "case-vlans-differ");
    };
    CHECK(with("120", "192.168.50.12/24"));
    CHECK_FALSE(with("110", "192.168.50.12/24"));
    CHECK_FALSE(with("120", "192.168.51.12/24"));
    CHECK_FALSE(with("120", "192.168.50.12/25"));
    CHECK_FALSE(with("120", "192.168.50.12/99"));
}

TEST_CASE("P_Keys are apart only without a full member between them") {
    const auto with = [](const std::string& a, const std::string& b) {
        const std::string at = "/sys/class/infiniband/mlx5_0/ports/1/pkeys/0:";
        return claims({{"n1.keys", at + a + "\n"}, {"n2.keys", at + b + "\n"}}, "case-partitions-apart");
    };
    CHECK(with("0x7fff", "0x7fff"));
    CHECK(with("0xffff", "0x8012"));
    CHECK_FALSE(with("0xffff", "0x7fff"));
    CHECK_FALSE(with("0x7fff", "0xffff"));
    CHECK_FALSE(with("0x0000", "0x0000"));
}

TEST_CASE("a firewall is named where it lists what a program wants not") {
    const auto with = [](const std::string& rules,
                         const std::string& failure = "Couldn't connect to 10.4.4.4:18515\n") {
        return claims({{"c1.txt", "$ ib_read_lat 10.4.4.4\n" + failure}, {"s1.iptables", rules}}, "case-tcp-filtered");
    };
    CHECK(with("-P INPUT DROP\n"));
    CHECK(with("-P INPUT DROP\n-A INPUT -p tcp -m tcp --dport 18516 -j ACCEPT\n"));
    CHECK_FALSE(with("-P INPUT DROP\n-A INPUT -p tcp -m tcp --dport 18515 -j ACCEPT\n"));
    CHECK_FALSE(with("-P INPUT DROP\n-A INPUT -p tcp -m tcp --dport 18000:19000 -j ACCEPT\n"));
    CHECK_FALSE(with("-P INPUT ACCEPT\n"));
    CHECK_FALSE(with("-P INPUT DROP\n", "connect: Connection refused\n"));
}

TEST_CASE("a filter of the reverse path needs two interfaces in one subnet") {
    const auto with = [](std::string_view second, std::string_view filter) {
        return claims({{"h1.net", fmt::format("net.ipv4.conf.all.rp_filter = {}\nens1  UP  10.1.0.4/16\nens2  UP  {}\n",
                                              filter, second)}},
                      "case-reverse-path-filter");
    };
    CHECK(with("10.1.0.5/16", "1"));
    CHECK_FALSE(with("10.1.0.5/16", "2"));
    CHECK_FALSE(with("10.2.0.5/16", "1"));
}

TEST_CASE("FEC matters where a link is down") {
    const std::string ports =
        "  Interface        Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin\n Ethernet16  1,2,3,4     100G   "
        "9100     rs     etp5   trunk    {}       up\n";
    const auto with = [&](std::string_view fec, std::string_view is) {
        return claims({{"h9.ethtool", fmt::format("Active FEC encoding: {}\n", fec)},
                       {"tor.txt", fmt::format(fmt::runtime(ports), is)}},
                      "case-fec-differs");
    };
    CHECK(with("Off", "down"));
    CHECK(with("BaseR", "down"));
    CHECK_FALSE(with("RS", "down"));
    CHECK_FALSE(with("Off", "up"));
}

TEST_CASE("an interface over InfiniBand that nobody switched on is named") {
    const std::string down = "5: ibp5s0: <BROADCAST,MULTICAST> mtu 4092 qdisc noop state DOWN mode DEFAULT\n"
                             "    link/infiniband 00:00:10:49:fe:80 brd 00:ff:ff:ff:ff:12\n";
    CHECK(claims({{"h1.link", down}}, "case-ipoib-off"));
    std::string up = down;
    up.replace(up.find("MULTICAST>"), 10, "MULTICAST,UP,LOWER_UP>");
    CHECK_FALSE(claims({{"h1.link", up}}, "case-ipoib-off"));
}

TEST_CASE("a port of a switch with a small MTU is named beside a larger one of a host") {
    const auto with = [](std::string_view port, std::string_view host) {
        return claims(
            {{"tor.txt", fmt::format("  Interface        Lanes    Speed    MTU    FEC    Oper    Admin\n Ethernet16  "
                                     "1,2,3,4     100G   {}     rs     up       up\n",
                                     port)},
             {"h1.link", fmt::format("4: ens1: <BROADCAST,UP> mtu {} qdisc mq state UP\n", host)}},
            "case-port-mtu-small");
    };
    CHECK(with("1500", "9000"));
    CHECK_FALSE(with("9100", "9000"));
    CHECK_FALSE(with("1500", "1500"));
    CHECK_FALSE(with("1500", "65536"));  // of no Ethernet
}

TEST_CASE("a process far from its adapter is named where one nearer is much faster") {
    const auto with = [](std::string_view rate, std::string_view binding) {
        const std::string head = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";
        const std::string one = "$ numactl --cpunodebind=0 ib_write_bw\n" + head + " 65536  5000  97.1  97.0  0.18\n";
        const std::string other =
            fmt::format("$ numactl {} ib_write_bw\n{} 65536  5000  {}  {}  0.02\n", binding, head, rate, rate);
        return claims({{"near.txt", one}, {"far.txt", other}}, "case-far-from-adapter");
    };
    CHECK(with("12.1", "-N 1"));
    CHECK_FALSE(with("90.0", "-N 1"));
    CHECK_FALSE(with("12.1", "-N 0"));
    CHECK_FALSE(with("12.1", "--show"));
}

TEST_CASE("rows of notices fit the tables beside them") {
    REQUIRE(notices().size() < 255);  // Event::notice
    for (const Notice& row : notices()) {
        INFO(row.id << ": " << row.pattern);
        CHECK(claim_row(row.id) != nullptr);
        CHECK(row.words.size() >= 3);
        CHECK(row.beside <= row.weight);
        CHECK_FALSE(row.command.empty());
        CHECK((row.party == Party::undecided) == (row.weight < Weight::shown || row.party == Party::undecided));
        CHECK_FALSE(row.says.ends_with('.'));
    }
}

TEST_CASE("hostile lines of states are read within bounds") {
    std::string text;
    for (const std::string part :
         {"vf 1 ", "-A INPUT --dport ", "10.0.0.1/", "::", "0x7fff ", "FAILED ", "id 9 ", "= "})
        for (int i = 0; i < 400; ++i) text += part;
    Files files{{"a.state", text + '\n'}, {"b.state", std::string(200'000, '.') + " FAILED\n"}};
    files.emplace_back("c.state", std::string("14: \xff@\0: <> mtu 99999999999999999999\n    vlan protocol 802.1Q id "
                                              "99999999999999999999\n    inet 999.1.1.1/33\n    inet 1.1.1.1/\n",
                                              104));
    files.emplace_back("d.state", "-P INPUT DROP\n-A INPUT --dport ,,::,9-:, -j ACCEPT\nCouldn't connect to <:>:\n");
    const Verdict verdict = verdict_of(files);
    CHECK(verdict.party == Party::undecided);
    // A setting at the end of a long line is found as in a short one.
    const auto said = settings_said("x " + std::string(9'000, 'y') + " max_send_wr = 77\n");
    CHECK(std::ranges::find(said, "asked|max_send_wr|77|") != said.end());
}
