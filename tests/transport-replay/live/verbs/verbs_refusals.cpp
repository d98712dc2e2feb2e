// Every name of a refusal of the adapter, and the packet that causes it: a name that nothing causes is no name.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>

#include <set>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

// Two adapters, with a pair of connected queue pairs and a queue pair for datagrams at b.
struct Refuser {
    VerbsPair pair{};
    std::pair<dissect::Qpn, dissect::Qpn> connected = pair.pair();
    dissect::Qpn datagrams = VerbsPair::datagram_qp(pair.b, dissect::Qkey{0x22});
    std::vector<std::byte> bytes{};

    [[nodiscard]] IncomingPacket send(dissect::Qpn to, dissect::Opcode opcode = dissect::Opcode{0x04},
                                      std::size_t length = 8) {
        bytes.resize(length);
        IncomingPacket in{.source = v4(1), .destination = v4(2)};
        in.packet.opcode = opcode;
        in.packet.dest_qp = to;
        in.packet.psn = dissect::Psn(100);
        in.packet.payload = bytes;
        return in;
    }
    [[nodiscard]] IncomingPacket datagram(dissect::Qpn to, dissect::Qkey key, std::size_t length = 8) {
        IncomingPacket in = send(to, dissect::Opcode::ud_send_only, length);
        in.packet.datagram = Datagram{.key = key, .source_qp = dissect::Qpn{0x33}};
        return in;
    }
    void process(const IncomingPacket& in) { pair.b.adapter.process(in, pair.now); }
    void process(IncomingPacket in, auto change) {
        change(in);
        process(in);
    }
};

constexpr dissect::Qkey kKey{0x22}, kGsiKey{0x8001'0000};
constexpr std::size_t kMadLength = 256;

using R = Refuser&;
struct Cause {
    Refusal refusal;
    void (*arrive)(R);
};
constexpr std::array kCauses{
    Cause{Refusal::transport_version,
          [](R r) { r.process(r.send(r.connected.second), [](IncomingPacket& in) { in.transport_version = 1; }); }},
    Cause{Refusal::undefined_opcode, [](R r) { r.process(r.send(r.connected.second, dissect::Opcode{0x1f})); }},
    Cause{Refusal::management_qp, [](R r) { r.process(r.send(dissect::kSmiQpn)); }},
    Cause{Refusal::destination,
          [](R r) { r.process(r.send(r.connected.second), [](IncomingPacket& in) { in.destination = v4(77); }); }},
    Cause{Refusal::unknown_qp, [](R r) { r.process(r.send(dissect::Qpn{0x5555})); }},
    Cause{Refusal::qp_state, [](R r) { r.process(r.send(*r.pair.b.adapter.create_qp(r.pair.b.init()))); }},
    Cause{Refusal::service, [](R r) { r.process(r.send(r.connected.second, dissect::Opcode{0x24})); }},
    Cause{Refusal::pkey,
          [](R r) {
              r.process(r.send(r.connected.second), [](IncomingPacket& in) { in.packet.pkey = dissect::Pkey{0x8001}; });
          }},
    Cause{Refusal::qkey, [](R r) { r.process(r.datagram(r.datagrams, dissect::Qkey{0x23})); }},
    Cause{Refusal::source,
          [](R r) { r.process(r.send(r.connected.second), [](IncomingPacket& in) { in.source = v4(66); }); }},
    Cause{Refusal::multicast_service, [](R r) { r.process(r.send(dissect::kMulticastQpn)); }},
    Cause{Refusal::multicast_group,
          [](R r) {
              r.process(r.datagram(dissect::kMulticastQpn, kKey), [](IncomingPacket& in) { in.destination = kGroup; });
          }},
    Cause{Refusal::no_receive, [](R r) { r.process(r.datagram(r.datagrams, kKey)); }},
    Cause{Refusal::datagram_length,
          [](R r) {
              REQUIRE(r.pair.b.receive(r.datagrams, 1, 0, 47));  // 40 bytes are for the network header
              r.process(r.datagram(r.datagrams, kKey));
          }},
    Cause{Refusal::datagram_queue,
          [](R r) {
              for (std::size_t i = 0; i <= kMaxDatagrams; ++i)
                  r.process(r.datagram(dissect::kGsiQpn, kGsiKey, kMadLength));
          }},
    Cause{Refusal::unusable,
          [](R r) {  // an RDMA WRITE of UC with a key of nothing
              const auto [qa, qb] = r.pair.pair(QpType::uc);
              r.process(r.send(qb, dissect::Opcode{0x2a}), [](IncomingPacket& in) {
                  in.packet.access = RemoteAccess{.address = 0, .key = dissect::Rkey{0x7777}, .length = 8};
              });
          }},
};

}  // namespace

TEST_CASE("every refusal of the adapter has a cause, which is refused for nothing else") {
    std::set<Refusal> caused;
    for (const Cause& cause : kCauses) {
        CAPTURE(kRefusalNames[static_cast<std::size_t>(cause.refusal)]);
        Refuser refuser;
        cause.arrive(refuser);
        std::uint64_t all = 0;
        for (const std::uint64_t count : refuser.pair.b.adapter.counts().refused) all += count;
        CHECK(refuser.pair.b.refused(cause.refusal) == 1);
        CHECK(all == 1);
        if (all == 1) caused.insert(cause.refusal);
    }
    for (std::size_t i = 0; i < kRefusalNames.size(); ++i) {
        CAPTURE(kRefusalNames[i]);
        CHECK(caused.contains(static_cast<Refusal>(i)));
    }
}
