// What a connection manager refuses, and why; what floods, replays and forgeries do to it: nothing.
#include <tests/support/catch.hpp>
#include <tests/support/cm_ends.hpp>
#include <tests/support/cm_target.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::tests;
using Kind = ConnectionEventKind;
using Target = CmTarget;

TEST_CASE("the head of a datagram that is none of ours is counted by name") {
    Target target;
    const auto wrong = [&](CmRefusal refusal, auto change) {
        ManagementDatagram datagram = target.datagram(good_req());
        change(datagram);
        target.manager.process(datagram, target.now);
        CAPTURE(kCmRefusalNames[static_cast<std::size_t>(refusal)]);
        CHECK(target.refused(refusal) == 1);
        CHECK(target.answers().empty());
        CHECK(target.manager.take_events().empty());
    };
    const auto byte = [](std::size_t at, unsigned value) {
        return [=](ManagementDatagram& datagram) { datagram.bytes[at] = static_cast<std::byte>(value); };
    };
    wrong(CmRefusal::base_version, byte(0, 2));
    wrong(CmRefusal::management_class, byte(1, 4));
    wrong(CmRefusal::method, byte(3, 1));
    wrong(CmRefusal::attribute, byte(17, 0x1b));
    wrong(CmRefusal::source_qp, [](ManagementDatagram& datagram) { datagram.remote_qp = Qpn{2}; });
    wrong(CmRefusal::pkey, [](ManagementDatagram& datagram) { datagram.pkey = Pkey{0x8001}; });
    target.manager.process(target.datagram(good_req()), target.now);
    CHECK(target.manager.take_events().size() == 1);
}

TEST_CASE("a REQ of another class version is told the one we know") {
    Target target;
    ManagementDatagram datagram = target.datagram(good_req());
    datagram.bytes[2] = std::byte{3};
    target.manager.process(datagram, target.now);
    const auto rej = target.answer<CmRej>();
    CHECK(rej.reason == RejectReason::class_version);
    CHECK(rej.remote_id == 0x0102'0304);
    CHECK(rej.local_id == 0);
    CHECK(rej.information == RejectInformation(std::array{std::byte{2}}));
    CHECK(target.last_transaction == 0xabc);
    datagram.bytes[17] = std::byte{0x14};  // an RTU is not answered
    target.manager.process(datagram, target.now);
    CHECK(target.answers().empty());
    CHECK(target.refused(CmRefusal::class_version) == 2);
}

TEST_CASE("each thing a REQ can be wrong in has its reason") {
    Target target({.seed = 5, .mtu = PathMtu::bytes_1024});
    const auto reason = [&](auto change) {
        CmReq req = good_req();
        change(req);
        target.say(req);
        const auto rej = target.answer<CmRej>();
        CHECK(rej.about == CmAbout::req);
        CHECK(rej.local_id == 0);
        CHECK(rej.remote_id == req.local_id);
        CHECK(target.manager.take_events().empty());
        CHECK(target.manager.size() == 0);
        return rej;
    };
    CHECK(reason([](CmReq& req) { req.service = ServiceId{4711}; }).reason == RejectReason::invalid_service_id);
    CHECK(reason([](CmReq& req) { req.transport = 2; }).reason == RejectReason::invalid_transport);
    CHECK(reason([](CmReq& req) { req.transport = 3; }).reason == RejectReason::invalid_transport);
    CHECK(reason([](CmReq& req) { req.qpn = Qpn{0}; }).reason == RejectReason::no_qp);
    CHECK(reason([](CmReq& req) { req.qpn = Qpn{1}; }).reason == RejectReason::no_qp);
    CHECK(reason([](CmReq& req) { req.qpn = kMulticastQpn; }).reason == RejectReason::no_qp);
    CHECK(reason([](CmReq& req) { req.mtu = 0; }).reason == RejectReason::invalid_mtu);
    CHECK(reason([](CmReq& req) { req.mtu = 15; }).reason == RejectReason::invalid_mtu);
    const CmRej mtu = reason([](CmReq& req) { req.mtu = 4; });
    CHECK(mtu.reason == RejectReason::invalid_mtu);
    CHECK(mtu.information == RejectInformation(std::array{std::byte{0x30}}));
    const CmRej gid = reason([](CmReq& req) { req.primary.remote_gid = ipv4(1); });
    CHECK(gid.reason == RejectReason::primary_gid);
    REQUIRE(gid.information.size() == 16);
    CHECK(read_be<std::uint64_t>(gid.information.bytes(), 8) == kPassiveAddress.bits[1]);
    CHECK(reason([](CmReq& req) { req.primary.local_gid = ipv4(0xc0000299); }).reason == RejectReason::unsupported);
    CHECK(reason([](CmReq& req) { req.pkey = Pkey{0x8001}; }).reason == RejectReason::unsupported);
    CHECK(reason([](CmReq& req) { req.primary.hop_limit = 0; }).reason == RejectReason::primary_hop_limit);
    // XRC is what follows from the extended type, and its REP has the queue pair elsewhere.
    CmReq xrc = good_req();
    xrc.transport = 3;
    xrc.extended_transport = 1;
    target.say(xrc);
    const auto events = target.manager.take_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].parameters.transport == CmTransport::xrc);
    REQUIRE(target.manager.accept(events[0].id, {.local_qpn = Qpn{0x99}, .starting_psn = Psn(1)}, target.now));
    const auto rep = target.answer<CmRep>();
    CHECK(rep.qpn == Qpn{});
    CHECK(rep.context == Qpn{0x99});
}

TEST_CASE("a queue pair that is connected asks again: the new one is stale, the old one is released") {
    Target target;
    const CmId id = target.establish(good_req());
    CmReq again = good_req();
    again.local_id = 0x0909;
    target.say(again, 0xdef);
    auto said = target.answers();
    REQUIRE(said.size() == 2);
    const auto rej = read_message<CmRej>(body_of(said[0]), AddressSpace::roce_v2);
    CHECK(rej.reason == RejectReason::stale_connection);
    CHECK(rej.remote_id == 0x0909);
    const auto dreq = read_message<CmDreq>(body_of(said[1]), AddressSpace::roce_v2);
    CHECK(dreq.local_id == static_cast<std::uint32_t>(id));
    CHECK(dreq.remote_qpn == Qpn{0x55});
    const auto events = target.manager.take_events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == Kind::disconnected);
    CHECK(events[0].parting == Parting::stale);
    // Until TIMEWAIT is over the queue pair stays taken.
    target.say(
        CmDrep{.local_id = good_req().local_id, .remote_id = static_cast<std::uint32_t>(id), .private_data = {}});
    target.say(again, 0xdef);
    CHECK(target.answer<CmRej>().reason == RejectReason::stale_connection);
    target.now = target.now + seconds(10);
    CHECK(target.answers().empty());
    target.say(again, 0xdef);
    CHECK(target.manager.take_events().back().kind == Kind::request);
    // From another address the number means another queue pair.
    ManagementDatagram elsewhere = target.datagram(again, 0x111);
    elsewhere.remote = ipv4(0xc0000203);
    write_bits(elsewhere.bytes, (kMadHeaderLength + 68) * 8, 32, 0xc0000203);
    target.manager.process(elsewhere, target.now);
    CHECK(target.manager.take_events().size() == 1);
}

TEST_CASE("a REP that names a connected queue pair is stale") {
    CmEnds ends;
    REQUIRE(ends.passive().listen(kEchoService));
    const auto first = ends.active().connect(CmEnds::request(0x11), ends.now);
    ends.run_for(seconds(1));
    ends.automatic = false;
    ends.consumer = [](CmEnds& world, End end, const ConnectionEvent& event) {
        if (event.kind == Kind::request)
            CHECK(world.of(end).accept(event.id, {.local_qpn = Qpn{0x1011}, .starting_psn = Psn(0)}, world.now));
    };
    const auto second = ends.active().connect(CmEnds::request(0x12), ends.now);
    ends.run_for(seconds(1));
    CHECK(ends.events_of(End::a, Kind::rejected).at(0).id == *second);
    CHECK(ends.events_of(End::a, Kind::rejected)[0].rejection.reason == RejectReason::stale_connection);
    CHECK(ends.events_of(End::a, Kind::disconnected).at(0).id == *first);
    ends.run_for(seconds(300));
    CHECK(ends.active().size() + ends.passive().size() == 0);
}

TEST_CASE("a communication id that is in use is refused to another REQ, unless the old one was refused") {
    Target target;
    (void)target.establish(good_req());
    CmReq other = good_req();
    other.qpn = Qpn{0x56};
    target.say(other, 0xdef);
    CHECK(target.answer<CmRej>().reason == RejectReason::duplicate_communication_id);

    CmReq refused = good_req();
    refused.local_id = 0x4444;
    refused.qpn = Qpn{0x66};
    target.say(refused, 1);
    const CmId id = target.manager.take_events().at(0).id;
    REQUIRE(target.manager.reject(id, RejectReason::consumer, {}, {}, target.now));
    CHECK(target.answer<CmRej>().reason == RejectReason::consumer);
    target.say(refused, 2);
    CHECK(target.manager.take_events().at(0).kind == Kind::request);
}

TEST_CASE("forged and foreign messages change nothing") {
    Target target;
    const CmReq req = good_req();
    const CmId id = target.establish(req);
    const auto ours = static_cast<std::uint32_t>(id);
    const auto nothing = [&](CmRefusal refusal) {
        CHECK(target.refused(refusal) == 1);
        CHECK(target.answers().empty());
        CHECK(target.manager.take_events().empty());
        CHECK(target.manager.size() == 1);
    };
    SECTION("DREQ of another queue pair") {
        target.say(CmDreq{.local_id = req.local_id, .remote_id = ours, .remote_qpn = Qpn{0x98}, .private_data = {}});
        nothing(CmRefusal::wrong_qpn);
    }
    SECTION("DREQ beside another id than the peer's") {
        target.say(CmDreq{.local_id = 9, .remote_id = ours, .remote_qpn = Qpn{0x99}, .private_data = {}});
        nothing(CmRefusal::wrong_peer);
    }
    SECTION("DREQ from another address") {
        auto datagram = target.datagram(
            CmDreq{.local_id = req.local_id, .remote_id = ours, .remote_qpn = Qpn{0x99}, .private_data = {}});
        datagram.remote = ipv4(0xc0000299);
        target.manager.process(datagram, target.now);
        nothing(CmRefusal::wrong_peer);
    }
    SECTION("REJ beside another id than the peer's") {
        target.say(CmRej{.local_id = 0,
                         .remote_id = ours,
                         .about = CmAbout::other,
                         .reason = RejectReason::consumer,
                         .information = {},
                         .private_data = {}});
        nothing(CmRefusal::wrong_peer);
    }
    SECTION("DREP and APR that nobody asked for") {
        target.say(CmDrep{.local_id = req.local_id, .remote_id = ours, .private_data = {}});
        nothing(CmRefusal::wrong_state);
        target.say(
            CmApr{.local_id = req.local_id, .remote_id = ours, .status = AlternateStatus::loaded, .private_data = {}});
        CHECK(target.refused(CmRefusal::wrong_state) == 2);
    }
    SECTION("MRA of nothing") {
        target.say(CmMra{.local_id = req.local_id,
                         .remote_id = ours,
                         .about = CmAbout{3},
                         .service_timeout = {},
                         .private_data = {}});
        nothing(CmRefusal::malformed);
        target.say(CmMra{.local_id = req.local_id,
                         .remote_id = ours,
                         .about = CmAbout::rep,
                         .service_timeout = {},
                         .private_data = {}});
        CHECK(target.refused(CmRefusal::wrong_state) == 1);
    }
    SECTION("REP for a passive side") {
        target.say(CmRep{.local_id = req.local_id, .remote_id = ours, .qpn = Qpn{5}, .private_data = {}});
        nothing(CmRefusal::wrong_state);
    }
}

TEST_CASE("who speaks of what is not there is told so, once for each") {
    Target target;
    target.say(CmRep{.local_id = 7, .remote_id = 8, .qpn = Qpn{5}, .private_data = {}}, 0x123);
    const auto rej = target.answer<CmRej>();
    CHECK(rej.reason == RejectReason::invalid_communication_id);
    CHECK(rej.about == CmAbout::rep);
    CHECK(rej.local_id == 8);
    CHECK(rej.remote_id == 7);
    CHECK(target.last_transaction == 0x123);
    target.say(CmDreq{.local_id = 7, .remote_id = 8, .remote_qpn = Qpn{5}, .private_data = {}}, 0x124);
    const auto drep = target.answer<CmDrep>();
    CHECK(drep.local_id == 8);
    CHECK(drep.remote_id == 7);
    CHECK(target.last_transaction == 0x124);
    target.say(CmLap{.local_id = 7, .remote_id = 8, .remote_qpn = Qpn{5}, .path = {}, .private_data = {}});
    CHECK(target.answer<CmApr>().status == AlternateStatus::invalid_id);
    // None of these is answered, so that two managers cannot dialogue for ever.
    target.say(CmRej{.local_id = 7, .remote_id = 8, .information = {}, .private_data = {}});
    target.say(CmRtu{.local_id = 7, .remote_id = 8, .private_data = {}});
    target.say(CmDrep{.local_id = 7, .remote_id = 8, .private_data = {}});
    target.say(CmMra{.local_id = 7, .remote_id = 8, .private_data = {}});
    target.say(CmApr{.local_id = 7, .remote_id = 8, .private_data = {}});
    target.say(CmSidrRep{.request_id = 7, .private_data = {}});
    CHECK(target.answers().empty());
    CHECK(target.refused(CmRefusal::unknown_id) == 9);
    CHECK(target.manager.size() == 0);
}

TEST_CASE("everything that was ever said, said again, changes nothing") {
    CmEnds ends;
    REQUIRE(ends.passive().listen(kEchoService));
    const auto id = ends.active().connect(CmEnds::request(), ends.now);
    const auto replay = [&] {
        const auto known = ends.events.size();
        const auto said = ends.said;
        for (const auto& [from, datagram] : said) {
            ManagementDatagram copy = datagram;
            std::swap(copy.local, copy.remote);
            ends.of(other(from)).process(copy, ends.now);
            ends.run_for(microseconds(100));
        }
        CHECK(ends.events.size() == known);
    };
    ends.run_for(seconds(1));
    replay();
    replay();
    CHECK(ends.active().size() == 1);
    REQUIRE(ends.active().disconnect(*id, {}, ends.now));
    ends.run_for(microseconds(100));
    CHECK(ends.events_of(End::b, Kind::disconnected).size() == 1);
    replay();  // in TIMEWAIT
    CHECK(ends.passive().counts().of(CmRefusal::repetition) >= 4);
    ends.run_for(seconds(60));
    CHECK(ends.active().size() + ends.passive().size() == 0);
}

TEST_CASE("a repeated REQ gets the REP again before the RTU, and nothing after it") {
    Target target;
    const CmReq req = good_req();
    target.say(req);
    const CmId id = target.manager.take_events().at(0).id;
    REQUIRE(target.manager.accept(id, {.local_qpn = Qpn{0x99}, .starting_psn = Psn(1)}, target.now));
    const auto first = target.answers();
    target.say(req);
    CHECK(target.answers() == first);
    target.say(CmRtu{.local_id = req.local_id, .remote_id = static_cast<std::uint32_t>(id), .private_data = {}});
    target.say(req);
    target.say(CmRtu{.local_id = req.local_id, .remote_id = static_cast<std::uint32_t>(id), .private_data = {}});
    CHECK(target.answers().empty());
    CHECK(target.refused(CmRefusal::repetition) == 3);
}

TEST_CASE("a DREQ that overtook the RTU ends what was half open") {
    Target target;
    const CmReq req = good_req();
    target.say(req);
    const CmId id = target.manager.take_events().at(0).id;
    REQUIRE(target.manager.accept(id, {.local_qpn = Qpn{0x99}, .starting_psn = Psn(1)}, target.now));
    (void)target.answers();
    target.say(CmDreq{.local_id = req.local_id,
                      .remote_id = static_cast<std::uint32_t>(id),
                      .remote_qpn = Qpn{0x99},
                      .private_data = {}},
               3);
    CHECK(target.answer<CmDrep>().remote_id == req.local_id);
    CHECK(target.manager.half_open() == 0);
    CHECK(target.manager.take_events().at(0).kind == Kind::disconnected);
    target.say(CmDreq{.local_id = req.local_id,
                      .remote_id = static_cast<std::uint32_t>(id),
                      .remote_qpn = Qpn{0x99},
                      .private_data = {}},
               4);
    CHECK(target.answer<CmDrep>().remote_id == req.local_id);
    CHECK(target.last_transaction == 4);
}

TEST_CASE("a flood of REQs: the oldest make room, what is remembered is bounded, and it all ends") {
    Target target;
    constexpr std::uint32_t kFlood = 20'000;
    std::size_t requests = 0;
    std::size_t rejected = 0;
    std::size_t refusals = 0;
    for (std::uint32_t i = 0; i < kFlood; ++i) {
        CmReq req = good_req();
        req.local_id = i + 1;
        req.qpn = Qpn{i + 2};
        target.say(req, i);
        for (const auto& datagram : target.answers())
            refusals +=
                read_message<CmRej>(body_of(datagram), AddressSpace::roce_v2).reason == RejectReason::no_resources ? 1U
                                                                                                                   : 0U;
        for (const ConnectionEvent& event : target.manager.take_events()) {
            requests += event.kind == Kind::request ? 1U : 0U;
            if (event.kind != Kind::rejected) continue;
            ++rejected;
            CHECK(event.last);
            CHECK_FALSE(event.rejection.by_peer);
        }
        REQUIRE(target.manager.half_open() <= kMaxHalfOpen);
        REQUIRE(target.manager.size() <= kMaxHalfOpen + kMaxRemembered);
    }
    CHECK(requests == kFlood);
    CHECK(rejected == kFlood - kMaxHalfOpen);
    CHECK(refusals == rejected);
    CHECK(target.refused(CmRefusal::half_open) == rejected);
    target.now = target.now + seconds(200);
    (void)target.answers();
    target.now = target.now + seconds(200);
    (void)target.answers();
    CHECK(target.manager.size() == 0);
    CHECK_FALSE(target.manager.poll_at());
}

TEST_CASE("a flood that nobody looks at fills no memory") {
    Target target;
    for (std::uint32_t i = 0; i < 3 * kMaxCmEvents; ++i) {
        CmReq req = good_req();
        req.local_id = i + 1;
        req.qpn = Qpn{i + 2};
        target.say(req, i);
        req.service = ServiceId{1};
        target.say(req, i);
    }
    CHECK(target.manager.take_events().size() <= 2 * kMaxCmEvents);
    CHECK(target.answers().size() <= kMaxCmAnswers);
    CHECK(target.refused(CmRefusal::full) > 0);
    CHECK(target.refused(CmRefusal::answers) > 0);
}

TEST_CASE("accepted connections that nobody finishes make room too, and end in TIMEWAIT") {
    Target target;
    for (std::uint32_t i = 0; i < kMaxHalfOpen + 10; ++i) {
        CmReq req = good_req();
        req.local_id = i + 1;
        req.qpn = Qpn{i + 2};
        req.primary.ack_timeout = TimeoutCode{31};
        req.local_response_timeout = TimeoutCode{31};
        target.say(req, i);
        for (const ConnectionEvent& event : target.manager.take_events())
            if (event.kind == Kind::request)
                REQUIRE(target.manager.accept(event.id, {.local_qpn = Qpn{i + 2}, .starting_psn = Psn(0)}, target.now));
        (void)target.answers();
    }
    CHECK(target.manager.half_open() == kMaxHalfOpen);
    CHECK(target.manager.size() == kMaxHalfOpen + 10);
    target.now = target.now + seconds(9);  // kLongestTimewait, whatever the peer said
    (void)target.answers();
    const auto released = target.manager.take_events();
    CHECK(std::ranges::count(released, Kind::released, &ConnectionEvent::kind) == 10);
}

TEST_CASE("a peer cannot put us off for ever") {
    ConnectionManager manager({.seed = 9});
    ConnectRequest request = CmEnds::request();
    request.max_retries = 2;
    Instant now{0};
    const auto id = manager.connect(request, now);
    std::size_t delays = 0;
    for (int i = 0; i < 1000 && manager.size() != 0; ++i) {
        while (const auto datagram = manager.poll(now)) {
        }
        ManagementDatagram mra = write_message(CmMra{.local_id = 3,
                                                     .remote_id = static_cast<std::uint32_t>(*id),
                                                     .about = CmAbout::req,
                                                     .service_timeout = TimeoutCode{31},
                                                     .private_data = {}},
                                               1)
                                     .value();
        mra.remote = kPassiveAddress;
        manager.process(mra, now);
        for (const auto& event : manager.take_events()) delays += event.kind == Kind::delayed ? 1U : 0U;
        now = now + seconds(1);
    }
    CHECK(manager.size() == 0);
    CHECK(delays == 3);
    CHECK(manager.counts().of(CmRefusal::mra) >= 1);
    CHECK(std::to_underlying(now) < 600'000'000'000);
}
