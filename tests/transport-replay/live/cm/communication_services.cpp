// SIDR, alternate paths, and the RDMA IP CM service.
#include <tests/support/catch.hpp>
#include <tests/support/cm_ends.hpp>
#include <transport-replay/live/cm/cm_messages.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::tests;
using Kind = ConnectionEventKind;

namespace {

constexpr ServiceId kNames = ip_service(PortSpace::udp, IpPort{7175});
const IpEnds kIpEnds{.source = kActiveAddress,
                     .destination = kPassiveAddress,
                     .source_port = IpPort{40000},
                     .destination_port = IpPort{7175}};

// Established, and the ids of both sides.
std::pair<CmId, CmId> established(CmEnds& ends) {
    REQUIRE(ends.passive().listen(kEchoService));
    const auto id = ends.active().connect(CmEnds::request(), ends.now);
    ends.run_for(seconds(1));
    return {*id, ends.events_of(End::b, Kind::established).at(0).id};
}

}  // namespace

TEST_CASE("a datagram service is resolved by SIDR, with its Q_Key") {
    CmEnds ends;
    REQUIRE(ends.passive().listen(kNames, ListenKind::datagrams));
    ends.consumer = [](CmEnds& world, End end, const ConnectionEvent& event) {
        if (event.kind != Kind::sidr_request) return;
        const auto caller = read_ip_cm(event.private_data.bytes());
        REQUIRE(caller);
        CHECK(caller->ends.source == kActiveAddress);
        CHECK(caller->ends.source_port == IpPort{40000});
        CHECK(caller->private_data.size() == kIpSidrRoom);
        CHECK(agrees(caller->ends, event.remote, event.local));
        CHECK(world.of(end).sidr_reply(event.id, {.status = SidrStatus::valid, .qpn = Qpn{0x31}, .qkey = kRdmaCmQkey},
                                       {}, world.now));
    };
    int losses = 1;
    ends.lost = [&](End, CmMessage said) { return said == CmMessage::sidr_rep && losses-- > 0; };
    const auto id = ip_resolve(ends.active(), PortSpace::udp, kIpEnds, {}, ends.now);
    REQUIRE(id);
    ends.run_for(seconds(100));
    CHECK(ends.events_of(End::b, Kind::sidr_request).size() == 1);
    const auto resolved = ends.events_of(End::a, Kind::sidr_response);
    REQUIRE(resolved.size() == 1);
    CHECK(resolved[0].last);
    CHECK(resolved[0].sidr ==
          SidrAnswer{.status = SidrStatus::valid, .qpn = Qpn{0x31}, .qkey = kRdmaCmQkey, .service = kNames});
    CHECK(ends.sent(End::b, CmMessage::sidr_rep) == 2);
    CHECK(ends.active().size() + ends.passive().size() == 0);
}

TEST_CASE("a service that is not there, one of another kind, one that does not answer") {
    CmEnds ends;
    SECTION("not there") {
        REQUIRE(ip_resolve(ends.active(), PortSpace::udp, kIpEnds, {}, ends.now));
        ends.run_for(seconds(1));
        CHECK(ends.events_of(End::a, Kind::sidr_response).at(0).sidr.status == SidrStatus::no_service);
    }
    SECTION("connections only") {
        REQUIRE(ends.passive().listen(kNames));
        REQUIRE(ip_resolve(ends.active(), PortSpace::udp, kIpEnds, {}, ends.now));
        ends.run_for(seconds(1));
        CHECK(ends.events_of(End::a, Kind::sidr_response).at(0).sidr.status == SidrStatus::no_service);
    }
    SECTION("datagrams only") {
        REQUIRE(ends.passive().listen(kEchoService, ListenKind::datagrams));
        REQUIRE(ends.active().connect(CmEnds::request(), ends.now));
        ends.run_for(seconds(1));
        CHECK(ends.events_of(End::a, Kind::rejected).at(0).rejection.reason == RejectReason::invalid_service_id);
    }
    SECTION("silent") {
        REQUIRE(ends.passive().listen(kNames, ListenKind::datagrams));
        REQUIRE(ip_resolve(ends.active(), PortSpace::udp, kIpEnds, {}, ends.now));
        ends.run_for(seconds(300));
        CHECK(ends.events_of(End::a, Kind::unreachable).size() == 1);
        CHECK(ends.events_of(End::b, Kind::unreachable).size() >= 1);
    }
    CHECK(ends.active().size() + ends.passive().size() == 0);
}

TEST_CASE("a mask listens to all services that agree in its bits") {
    CmEnds ends;
    REQUIRE(
        ends.passive().listen(ip_service(PortSpace::tcp, IpPort{0}), ListenKind::connections, 0xffff'ffff'ffff'0000));
    REQUIRE(ends.active().connect(CmEnds::request(), ends.now));
    ConnectRequest other = CmEnds::request(0x12);
    other.service = ip_service(PortSpace::ib, IpPort{7174});
    REQUIRE(ends.active().connect(other, ends.now));
    ends.run_for(seconds(1));
    CHECK(ends.events_of(End::b, Kind::established).size() == 1);
    CHECK(ends.events_of(End::a, Kind::rejected).size() == 1);
    REQUIRE(ends.passive().stop_listening(ip_service(PortSpace::tcp, IpPort{0})));
}

TEST_CASE("an alternate path is refused by who has none, and loaded by who has") {
    CmEnds ends;
    const bool able = GENERATE(true, false);
    ends.managers[1] = ConnectionManager({.seed = 99, .alternate_paths = able});
    const auto [active, passive] = established(ends);
    CmPath path = CmEnds::request().path;
    path.local = ipv4(0xc0000211);
    path.remote = ipv4(0xc0000212);
    int losses = 1;
    ends.lost = [&](End, CmMessage said) { return said == CmMessage::apr && losses-- > 0; };
    ends.consumer = [](CmEnds& world, End end, const ConnectionEvent& event) {
        if (event.kind != Kind::alternate_request) return;
        CHECK(event.alternate.local == ipv4(0xc0000212));
        CHECK(event.alternate.remote == ipv4(0xc0000211));
        CHECK(world.of(end).answer_alternate(event.id, AlternateStatus::loaded, {}, world.now));
    };
    REQUIRE(ends.active().load_alternate(active, path, {}, ends.now));
    CHECK(ends.active().load_alternate(active, path, {}, ends.now).error() == CmError::wrong_state);
    CHECK(ends.passive().load_alternate(passive, path, {}, ends.now).error() == CmError::wrong_state);
    ends.run_for(seconds(60));
    const auto answers = ends.events_of(End::a, Kind::alternate_response);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].alternate_status == (able ? AlternateStatus::loaded : AlternateStatus::unsupported));
    CHECK(answers[0].parameters.alternate.has_value() == able);
    CHECK(ends.events_of(End::b, Kind::alternate_request).size() == (able ? 1U : 0U));
    CHECK(ends.sent(End::a, CmMessage::lap) == 2);
    CHECK(ends.sent(End::b, CmMessage::apr) == 2);
}

TEST_CASE("a LAP nobody answers, and one whose consumer takes its time") {
    CmEnds ends;
    ends.managers[1] = ConnectionManager({.seed = 99, .alternate_paths = true});
    const auto [active, passive] = established(ends);
    CmPath path = CmEnds::request().path;
    SECTION("the path it has") {
        REQUIRE(ends.active().load_alternate(active, path, {}, ends.now));
        ends.run_for(seconds(1));
        CHECK(ends.events_of(End::a, Kind::alternate_response).at(0).alternate_status == AlternateStatus::is_current);
    }
    path.local = ipv4(0xc0000211);
    REQUIRE(ends.active().load_alternate(active, path, {}, ends.now));
    SECTION("lost") {
        ends.lost = [&](End, CmMessage said) { return said == CmMessage::lap; };
        ends.run_for(seconds(300));
        CHECK(ends.sent(End::a, CmMessage::lap) == 16);
        CHECK_FALSE(ends.events_of(End::a, Kind::alternate_response).at(0).alternate_status);
        CHECK(ends.active().size() == 1);  // the connection stands
    }
    SECTION("delayed") {
        ends.run_for(seconds(20));
        CHECK(ends.sent(End::a, CmMessage::lap) == 2);
        CHECK(ends.sent(End::b, CmMessage::mra) == 1);
        REQUIRE(ends.passive().answer_alternate(passive, AlternateStatus::rejected, {}, ends.now));
        ends.run_for(seconds(1));
        CHECK(ends.events_of(End::a, Kind::alternate_response).at(0).alternate_status == AlternateStatus::rejected);
    }
    SECTION("released meanwhile") {
        REQUIRE(ends.active().disconnect(active, {}, ends.now));
        ends.run_for(seconds(60));
        CHECK(ends.active().size() + ends.passive().size() == 0);
    }
}

TEST_CASE("service ids are made of ports") {
    CHECK(ip_service(PortSpace::tcp, IpPort{0x1c06}) == ServiceId{0x0000'0000'0106'1c06});
    CHECK(ip_service(PortSpace::udp, IpPort{1}) == ServiceId{0x0000'0000'0111'0001});
    CHECK(ip_service(PortSpace::ib, IpPort{0xffff}) == ServiceId{0x0000'0000'013f'ffff});
    CHECK(ip_service(PortSpace::ipoib, IpPort{2}) == ServiceId{0x0000'0000'0002'0002});
    for (const PortSpace space : {PortSpace::tcp, PortSpace::udp, PortSpace::ib, PortSpace::ipoib}) {
        CHECK(ip_service_of(ip_service(space, IpPort{77})) == IpService{space, IpPort{77}});
        CHECK_FALSE(name(space).empty());
    }
    CHECK_FALSE(ip_service_of(ServiceId{0x0000'0001'0106'1c06}));
    CHECK_FALSE(ip_service_of(ServiceId{0x0105'1c06}));
}

TEST_CASE("the header of IPv4 and IPv6 addresses, both ways") {
    IpEnds ends = kIpEnds;
    ends.destination_port = {};
    if (GENERATE(true, false)) {
        ends.source = {{0x2001'0db8'0000'0000, 1}, AddressSpace::roce_v2};
        ends.destination = {{0x2001'0db8'0000'0000, 2}, AddressSpace::roce_v2};
    }
    const std::array mine{std::byte{1}, std::byte{2}};
    for (const CmMessage message : {CmMessage::req, CmMessage::sidr_req}) {
        const auto written = write_ip_cm(message, ends, mine);
        REQUIRE(written);
        CHECK(written->size() == 38);
        const auto read = read_ip_cm(written->bytes());
        REQUIRE(read);
        CHECK(read->ends == ends);
        CHECK(std::ranges::equal(read->private_data, mine));
    }
    CHECK(agrees(ends, ends.source, ends.destination));
    CHECK_FALSE(agrees(ends, ends.destination, ends.source));
    const std::vector<std::byte> much(kIpSidrRoom + 1);
    CHECK(write_ip_cm(CmMessage::req, ends, Bytes(much).first(kIpReqRoom)));
    CHECK_FALSE(write_ip_cm(CmMessage::req, ends, Bytes(much).first(kIpReqRoom + 1)));
    CHECK(write_ip_cm(CmMessage::sidr_req, ends, Bytes(much).first(kIpSidrRoom)));
    CHECK_FALSE(write_ip_cm(CmMessage::sidr_req, ends, much));
    CHECK_FALSE(write_ip_cm(CmMessage::rep, ends, {}));
}

TEST_CASE("a header that cannot be is refused by name") {
    std::array<std::byte, 92> bytes{};
    CHECK(read_ip_cm(Bytes(bytes).first(35)).error() == IpCmFault::short_header);
    CHECK(read_ip_cm(bytes).error() == IpCmFault::ip_version);
    bytes[1] = std::byte{0x40};
    CHECK(read_ip_cm(bytes));
    bytes[0] = std::byte{0x10};
    CHECK(read_ip_cm(bytes).error() == IpCmFault::version);
}
