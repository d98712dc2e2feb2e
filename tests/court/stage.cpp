#include <tests/court/stage.hpp>
#include <tests/support/catch.hpp>

namespace qps::court {

using namespace dissect;

namespace {

constexpr std::uint64_t kHosts = 0xc0000200;  // 192.0.2.0 (RFC 5737)

void apply(PacketSpec& spec, const Settings& settings) {
    for (const auto& [field, value] : settings) {
        INFO(field);
        REQUIRE(set(spec, field, value));
    }
}

}  // namespace

Settings joined(Settings first, const Settings& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
}

void Stage::put(const PacketSpec& spec) {
    Octets frame;
    for (const std::byte byte : build(spec)) frame.push_back(std::to_integer<std::uint8_t>(byte));
    put(std::move(frame));
}

void Stage::put(Octets frame) {
    clock_ += kAMicrosecond;
    const auto length = static_cast<std::uint32_t>(frame.size());
    recording.records.push_back({.time = clock_, .wire = length, .bytes = std::move(frame)});
}

void Stage::packet(std::uint8_t opcode, unsigned from, unsigned to, const Settings& settings, std::size_t bytes) {
    message(opcode, from, to, settings, Octets(bytes));
}

void Stage::message(std::uint8_t opcode, unsigned from, unsigned to, const Settings& settings, const Octets& payload) {
    PacketSpec spec = transport_packet(Opcode{opcode}, dissect::Network::roce_v2_ipv4);
    apply(spec, {{"ip.src", kHosts + from}, {"ip.dst", kHosts + to}});
    apply(spec, settings);
    for (const std::uint8_t octet : payload) spec.payload.push_back(std::byte{octet});
    put(spec);
}

void Stage::send(unsigned from, unsigned to, std::uint64_t qp, unsigned number, const Settings& more,
                 std::size_t bytes) {
    constexpr std::uint8_t kSendOnly = 0x04;
    packet(kSendOnly, from, to,
           joined({{"infiniband.bth.destqp", qp}, {"infiniband.bth.psn", 1000 * qp + number}, {"infiniband.bth.a", 1}},
                  more),
           bytes);
}

void Stage::acknowledge(unsigned from, unsigned to, std::uint64_t qp, unsigned number, const Settings& more) {
    constexpr std::uint8_t kAcknowledge = 0x11;
    packet(kAcknowledge, from, to,
           joined({{"infiniband.bth.destqp", qp + 1000},
                   {"infiniband.bth.psn", 1000 * qp + number},
                   {"infiniband.aeth.syndrome", 0x1f},
                   {"infiniband.aeth.msn", number + 1}},
                  more));
}

void Stage::dialogue(unsigned a, unsigned b, std::uint64_t qp, unsigned count, const Settings& of_a,
                     const Settings& of_b, unsigned first) {
    for (unsigned number = first; number < first + count; ++number) {
        send(a, b, qp, number, of_a);
        acknowledge(b, a, qp, number, of_b);
    }
}

void Stage::cm(unsigned message, unsigned from, unsigned to, const Settings& settings) {
    const MadAttribute& attribute =
        *find_attribute(ManagementClass::communication, static_cast<std::uint16_t>(0x10 + message));
    PacketSpec spec = mad_packet(ManagementClass::communication, attribute, dissect::Network::roce_v2_ipv4);
    apply(spec, {{"ip.src", kHosts + from}, {"ip.dst", kHosts + to}});
    apply(spec,
          {{"infiniband.mad.method", 3}, {"infiniband.mad.classversion", 2}, {"infiniband.mad.transactionid", 77}});
    apply(spec, settings);
    put(spec);
}

void Stage::req(const Settings& more) {
    cm(0, 1, 2,
       joined({{"infiniband.cm.req", 0xa1},
               {"infiniband.cm.req.serviceid", 0x1061c06},
               {"infiniband.cm.req.localqpn", 1021},
               {"infiniband.cm.req.startpsn", 200},
               {"infiniband.cm.req.initdepth", 2},
               {"infiniband.cm.req.pkey", 0xffff},
               {"infiniband.cm.req.pppmtu", 3},
               {"infiniband.cm.req.remoteresptout", 14},
               {"infiniband.cm.req.localresptout", 14}},
              more));
}

void Stage::rep(const Settings& more) {
    cm(3, 2, 1,
       joined({{"infiniband.cm.rep", 0xb2},
               {"infiniband.cm.rep.remotecommid", 0xa1},
               {"infiniband.cm.rep.localqpn", 21},
               {"infiniband.cm.rep.startpsn", 21'000},
               {"infiniband.cm.rep.respres", 2}},
              more));
}

void Stage::rtu() { cm(4, 1, 2, {{"infiniband.cm.rtu.localcommid", 0xa1}, {"infiniband.cm.rtu.remotecommid", 0xb2}}); }

void Stage::connect(const Settings& of_req, const Settings& of_rep) {
    req(of_req);
    rep(of_rep);
    rtu();
}

}  // namespace qps::court
