// Two connection managers and what they say to each other when nothing is wrong but the wire.
#include <tests/support/catch.hpp>
#include <tests/support/cm_ends.hpp>
#include <tests/support/cm_target.hpp>
#include <transport-replay/live/cm/cm_messages.hpp>

#include <algorithm>
#include <string>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::tests;
using Kind = ConnectionEventKind;

namespace {

std::string ladder(const CmEnds& ends) {
    std::string text;
    for (const auto& [end, datagram] : ends.said) {
        const auto read = read_cm(datagram.bytes);
        text += end == End::a ? ">" : "<";
        text += read ? name(read->message) : "?";
        text += ' ';
    }
    return text;
}

template <class Message> Message last_said(const CmEnds& ends, End end) {
    for (auto each = ends.said.rbegin(); each != ends.said.rend(); ++each) {
        const auto read = read_cm(each->second.bytes);
        if (each->first == end && read && read->message == kMessageOf<Message>)
            return read_message<Message>(body_of(each->second), AddressSpace::roce_v2);
    }
    FAIL("it was not said");
    return {};
}

std::vector<std::byte> text_bytes(std::string_view text) {
    std::vector<std::byte> bytes;
    for (const char letter : text) bytes.push_back(static_cast<std::byte>(letter));
    return bytes;
}

bool begins_with(const CmPrivateBytes& bytes, std::string_view text) {
    return std::ranges::equal(slice(bytes.bytes(), 0, text.size()), text_bytes(text));
}

}  // namespace

TEST_CASE("a connection is made and released, and both sides know the same of it") {
    CmEnds ends;
    REQUIRE(ends.passive().listen(kEchoService));
    ConnectRequest request = CmEnds::request();
    const auto hello = text_bytes("hello");
    request.private_data = hello;
    const auto id = ends.active().connect(request, ends.now);
    REQUIRE(id);
    ends.run_for(seconds(1));
    CHECK(ladder(ends) == ">REQ <REP >RTU ");

    const auto asked = ends.events_of(End::b, Kind::request);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].service == kEchoService);
    CHECK(asked[0].remote == kActiveAddress);
    CHECK(asked[0].local == kPassiveAddress);
    CHECK(asked[0].private_data.size() == 92);
    CHECK(begins_with(asked[0].private_data, "hello"));
    CHECK(asked[0].parameters.remote_qpn == Qpn{0x11});
    CHECK(asked[0].parameters.remote_psn == Psn(0x1000));
    CHECK(asked[0].parameters.responder_resources == 8);  // what the active side wants outstanding
    CHECK(asked[0].parameters.initiator_depth == 4);
    CHECK(asked[0].parameters.path.local == kPassiveAddress);
    CHECK(asked[0].parameters.path.remote == kActiveAddress);
    CHECK(asked[0].parameters.ack_timeout == TimeoutCode{19});
    CHECK(asked[0].parameters.retry_count == 7);

    const auto reply = ends.events_of(End::a, Kind::reply);
    REQUIRE(reply.size() == 1);
    CHECK(reply[0].id == *id);
    CHECK(reply[0].parameters.remote_qpn == Qpn{0x1011});
    CHECK(reply[0].parameters.local_psn == Psn(0x1000));
    CHECK(reply[0].parameters.remote_psn == Psn(0x2000));
    CHECK(reply[0].parameters.initiator_depth == 8);  // the passive side could answer 16
    CHECK(reply[0].parameters.responder_resources == 2);
    CHECK(reply[0].parameters.ack_timeout == TimeoutCode{19});

    const auto established = ends.events_of(End::b, Kind::established);
    REQUIRE(established.size() == 1);
    CHECK(established[0].local_qpn == Qpn{0x1011});
    CHECK(established[0].parameters.local_psn == Psn(0x2000));
    CHECK(established[0].parameters.responder_resources == 8);
    CHECK(established[0].parameters.initiator_depth == 2);
    CHECK(ends.passive().half_open() == 0);

    REQUIRE(ends.active().disconnect(*id, text_bytes("bye"), ends.now));
    ends.run_for(seconds(60));
    CHECK(ladder(ends) == ">REQ <REP >RTU >DREQ <DREP ");
    const auto left = ends.events_of(End::b, Kind::disconnected);
    REQUIRE(left.size() == 1);
    CHECK(left[0].parting == Parting::by_peer);
    CHECK(begins_with(left[0].private_data, "bye"));
    CHECK(left[0].private_data.size() == 220);
    REQUIRE(ends.events_of(End::a, Kind::disconnected).size() == 1);
    CHECK(ends.events_of(End::a, Kind::disconnected)[0].parting == Parting::by_us);
    for (const End end : {End::a, End::b}) {
        const auto released = ends.events_of(end, Kind::released);
        REQUIRE(released.size() == 1);
        CHECK(released[0].last);
        CHECK(ends.of(end).size() == 0);
        CHECK_FALSE(ends.of(end).poll_at());
    }
    CHECK(ends.active().disconnect(*id, {}, ends.now).error() == CmError::unknown_id);
}

TEST_CASE("transaction and communication ids echo") {
    CmEnds ends;
    REQUIRE(ends.passive().listen(kEchoService));
    const auto id = ends.active().connect(CmEnds::request(), ends.now);
    ends.run_for(seconds(1));
    REQUIRE(ends.passive().disconnect(ends.events_of(End::b, Kind::established).at(0).id, {}, ends.now));
    ends.run_for(seconds(1));
    std::vector<CmDatagram> read;
    for (const auto& [end, datagram] : ends.said) read.push_back(read_cm(datagram.bytes).value());
    REQUIRE(read.size() == 5);
    CHECK(read[0].local_id == static_cast<std::uint32_t>(*id));
    CHECK(read[1].transaction == read[0].transaction);
    CHECK(read[2].transaction == read[0].transaction);
    CHECK(read[3].transaction != read[0].transaction);
    CHECK(read[4].transaction == read[3].transaction);
    CHECK(read[1].remote_id == read[0].local_id);
    CHECK(read[2].local_id == read[0].local_id);
    CHECK(read[2].remote_id == read[1].local_id);
    CHECK(read[3].local_id == read[1].local_id);
    CHECK(read[3].remote_id == read[0].local_id);
    CHECK(last_said<CmDreq>(ends, End::b).remote_qpn == Qpn{0x11});
    CHECK(read[4].local_id == read[0].local_id);
}

TEST_CASE("TIMEWAIT lasts as long as a late packet may live") {
    CmEnds ends;
    REQUIRE(ends.passive().listen(kEchoService));
    const auto id = ends.active().connect(CmEnds::request(), ends.now);
    ends.run_for(seconds(1));
    REQUIRE(ends.active().disconnect(*id, {}, ends.now));
    const Instant asked = ends.now;
    while (ends.events_of(End::a, Kind::released).empty()) ends.run_for(microseconds(1000));
    const auto waited = std::to_underlying(ends.now) - std::to_underlying(asked);
    CHECK(waited > std::to_underlying(duration_of(TimeoutCode{19})));
    CHECK(waited < std::to_underlying(duration_of(TimeoutCode{19})) + 3'000'000);
}

TEST_CASE("a lost REQ, REP, RTU, DREQ or DREP is made good") {
    const auto message = GENERATE(CmMessage::req, CmMessage::rep, CmMessage::rtu, CmMessage::dreq, CmMessage::drep);
    CmEnds ends;
    int losses = 2;
    ends.lost = [&](End, CmMessage said) { return said == message && losses-- > 0; };
    REQUIRE(ends.passive().listen(kEchoService));
    const auto id = ends.active().connect(CmEnds::request(), ends.now);
    ends.run_for(seconds(40));
    REQUIRE(ends.events_of(End::b, Kind::established).size() == 1);
    REQUIRE(ends.active().disconnect(*id, {}, ends.now));
    ends.run_for(seconds(40));
    CHECK(ends.events_of(End::b, Kind::request).size() == 1);
    CHECK(ends.events_of(End::a, Kind::disconnected).size() == 1);
    CHECK(ends.events_of(End::b, Kind::disconnected).size() == 1);
    CHECK(ends.sent(End::a, message) + ends.sent(End::b, message) >= 2);
    CHECK(ends.active().size() + ends.passive().size() == 0);
    if (message == CmMessage::rtu) CHECK(ends.sent(End::b, CmMessage::rep) >= 2);
}

TEST_CASE("the first packet stands for an RTU that was lost") {
    CmEnds ends;
    ends.lost = [](End, CmMessage said) { return said == CmMessage::rtu; };
    REQUIRE(ends.passive().listen(kEchoService));
    REQUIRE(ends.active().connect(CmEnds::request(), ends.now));
    ends.run_for(seconds(1));
    CHECK(ends.events_of(End::b, Kind::established).empty());
    ends.passive().communication_established(Qpn{0x77}, ends.now);  // of no connection
    ends.passive().communication_established(Qpn{0x1011}, ends.now);
    ends.passive().communication_established(Qpn{0x1011}, ends.now);
    ends.run_for(seconds(60));
    CHECK(ends.events_of(End::b, Kind::established).size() == 1);
    CHECK(ends.sent(End::b, CmMessage::rep) == 1);
    CHECK(ends.passive().half_open() == 0);
}

TEST_CASE("nobody answers: every message is said once and Max CM retries times, then it is over") {
    CmEnds ends;
    ends.lost = [](End, CmMessage) { return true; };
    ConnectRequest request = CmEnds::request();
    request.max_retries = 3;
    request.remote_response_timeout = TimeoutCode{18};
    REQUIRE(ends.active().connect(request, ends.now));
    const Instant began = ends.now;
    ends.run_for(seconds(600));
    CHECK(ladder(ends) == ">REQ >REQ >REQ >REQ >REJ ");
    const auto over = ends.events_of(End::a, Kind::unreachable);
    REQUIRE(over.size() == 1);
    CHECK(over[0].last);
    CHECK(ends.active().size() == 0);
    CHECK(ends.active().counts().retries == 3);
    CHECK(ends.active().counts().timeouts == 1);
    const auto rej = last_said<CmRej>(ends, End::a);
    CHECK(rej.reason == RejectReason::timeout);
    CHECK(rej.about == CmAbout::other);
    CHECK(read_be<std::uint64_t>(rej.information.bytes(), 0) == 0x0200'00ff'fe00'0001);
    CHECK(rej.information.size() == 8);
    CHECK(began < ends.now);
}

TEST_CASE("the time between repetitions is the peer's response time and the way there and back") {
    ConnectionManager manager({.seed = 3});
    ConnectRequest request = CmEnds::request();
    Instant now{5};
    REQUIRE(manager.connect(request, now));
    REQUIRE(manager.poll(now));
    CHECK_FALSE(manager.poll(now));
    const std::int64_t interval =
        std::to_underlying(duration_of(TimeoutCode{20})) + 2 * std::to_underlying(duration_of(TimeoutCode{18}));
    CHECK(manager.poll_at() == now + Duration{interval});
    CHECK_FALSE(manager.poll(now + Duration{interval - 1}));
    CHECK(manager.poll(now + Duration{interval}));
}

TEST_CASE("a REP that nobody answers, a DREQ that nobody answers") {
    CmEnds ends;
    REQUIRE(ends.passive().listen(kEchoService));
    const auto id = ends.active().connect(CmEnds::request(), ends.now);
    SECTION("REP") {
        ends.lost = [](End end, CmMessage said) { return end == End::b || said == CmMessage::rej; };
        ends.run_for(seconds(300));
        CHECK(ends.events_of(End::b, Kind::unreachable).size() == 1);
        CHECK(ends.events_of(End::b, Kind::released).size() == 1);  // its queue pair was ready to receive
        CHECK(ends.events_of(End::a, Kind::unreachable).size() == 1);
    }
    SECTION("DREQ") {
        ends.run_for(seconds(1));
        ends.lost = [](End, CmMessage) { return true; };
        REQUIRE(ends.active().disconnect(*id, {}, ends.now));
        ends.run_for(seconds(300));
        CHECK(ends.sent(End::a, CmMessage::dreq) == 16);
        REQUIRE(ends.events_of(End::a, Kind::disconnected).size() == 1);
        CHECK(ends.events_of(End::a, Kind::disconnected)[0].parting == Parting::unanswered);
        CHECK(ends.events_of(End::a, Kind::released).size() == 1);
    }
    CHECK(ends.active().size() == 0);
}

TEST_CASE("a consumer that takes its time is excused with an MRA when the peer asks again") {
    CmEnds ends;
    ends.automatic = false;
    REQUIRE(ends.passive().listen(kEchoService));
    REQUIRE(ends.active().connect(CmEnds::request(), ends.now));
    ends.run_for(seconds(20));  // some repetitions
    REQUIRE(ends.events_of(End::b, Kind::request).size() == 1);
    CHECK(ends.sent(End::a, CmMessage::req) == 2);  // the MRA keeps it quiet
    CHECK(ends.sent(End::b, CmMessage::mra) == 1);
    CHECK(ends.events_of(End::a, Kind::delayed).size() == 1);
    const auto mra = last_said<CmMra>(ends, End::b);
    CHECK(mra.about == CmAbout::req);
    CHECK(mra.service_timeout == TimeoutCode{24});
    SECTION("it decides") {
        ends.decide(End::b, ends.events_of(End::b, Kind::request)[0]);
        ends.run_for(seconds(20));  // the REP waits for the other consumer
        CHECK(ends.sent(End::a, CmMessage::mra) == 1);
        CHECK(last_said<CmMra>(ends, End::a).about == CmAbout::rep);
        CHECK(ends.events_of(End::b, Kind::delayed).size() == 1);
        ends.decide(End::a, ends.events_of(End::a, Kind::reply).at(0));
        ends.run_for(seconds(1));
        CHECK(ends.events_of(End::b, Kind::established).size() == 1);
    }
    SECTION("it never does") {
        ends.run_for(seconds(600));
        CHECK(ends.events_of(End::b, Kind::unreachable).size() == 1);
        REQUIRE(ends.events_of(End::a, Kind::rejected).size() == 1);
        CHECK(ends.events_of(End::a, Kind::rejected)[0].rejection.reason == RejectReason::consumer);
        CHECK(ends.active().size() + ends.passive().size() == 0);
    }
}

TEST_CASE("an MRA of the consumer's wish") {
    CmEnds ends;
    ends.automatic = false;
    REQUIRE(ends.passive().listen(kEchoService));
    REQUIRE(ends.active().connect(CmEnds::request(), ends.now));
    ends.run_for(seconds(1));
    const CmId id = ends.events_of(End::b, Kind::request).at(0).id;
    REQUIRE(ends.passive().delay(id, TimeoutCode{22}, text_bytes("wait"), ends.now));
    CHECK(ends.passive().delay(id, TimeoutCode{32}, {}, ends.now).error() == CmError::invalid_parameter);
    ends.run_for(seconds(15));
    CHECK(ladder(ends) == ">REQ <MRA ");
    CHECK(begins_with(ends.events_of(End::a, Kind::delayed).at(0).private_data, "wait"));
    ends.decide(End::b, ends.events_of(End::b, Kind::request)[0]);
    ends.automatic = true;
    ends.run_for(seconds(1));
    CHECK(ends.events_of(End::a, Kind::reply).size() == 1);
}

TEST_CASE("both sides release at once") {
    CmEnds ends;
    REQUIRE(ends.passive().listen(kEchoService));
    const auto id = ends.active().connect(CmEnds::request(), ends.now);
    ends.run_for(seconds(1));
    REQUIRE(ends.active().disconnect(*id, {}, ends.now));
    REQUIRE(ends.passive().disconnect(ends.events_of(End::b, Kind::established).at(0).id, {}, ends.now));
    ends.run_for(seconds(60));
    for (const End end : {End::a, End::b}) {
        CHECK(ends.sent(end, CmMessage::dreq) == 1);
        CHECK(ends.sent(end, CmMessage::drep) == 1);
        CHECK(ends.events_of(end, Kind::disconnected).size() == 1);
        CHECK(ends.events_of(end, Kind::released).size() == 1);
        CHECK(ends.of(end).size() == 0);
    }
}

TEST_CASE("a consumer refuses, and says so again when asked again") {
    CmEnds ends;
    ends.automatic = false;
    ends.consumer = [](CmEnds& world, End end, const ConnectionEvent& event) {
        if (event.kind != Kind::request) return;
        CHECK(world.of(end).reject(event.id, RejectReason::consumer, text_bytes("why"), text_bytes("no"), world.now));
    };
    int losses = 1;
    ends.lost = [&](End, CmMessage said) { return said == CmMessage::rej && losses-- > 0; };
    REQUIRE(ends.passive().listen(kEchoService));
    REQUIRE(ends.active().connect(CmEnds::request(), ends.now));
    ends.run_for(seconds(1));
    CHECK(ends.passive().size() == 1);  // remembered
    ends.run_for(seconds(200));
    CHECK(ladder(ends) == ">REQ <REJ >REQ <REJ ");
    const auto rejected = ends.events_of(End::a, Kind::rejected);
    REQUIRE(rejected.size() == 1);
    CHECK(rejected[0].rejection.reason == RejectReason::consumer);
    CHECK(rejected[0].rejection.by_peer);
    CHECK(rejected[0].last);
    CHECK(rejected[0].rejection.information.size() == 3);
    CHECK(rejected[0].rejection.private_data.size() == 148);
    CHECK(begins_with(rejected[0].private_data, "no"));
    CHECK(ends.events_of(End::b, Kind::request).size() == 1);
    CHECK(ends.passive().size() == 0);
    CHECK(ends.active().size() == 0);
}

TEST_CASE("an active side refuses the REP") {
    CmEnds ends;
    ends.consumer = [](CmEnds& world, End end, const ConnectionEvent& event) {
        if (event.kind == Kind::reply)
            CHECK(world.of(end).reject(event.id, RejectReason::insufficient_resources, {}, {}, world.now));
    };
    REQUIRE(ends.passive().listen(kEchoService));
    REQUIRE(ends.active().connect(CmEnds::request(), ends.now));
    ends.run_for(seconds(200));
    CHECK(ladder(ends) == ">REQ <REP >REJ ");
    CHECK(last_said<CmRej>(ends, End::a).about == CmAbout::rep);
    CHECK(ends.events_of(End::b, Kind::rejected).at(0).rejection.reason == RejectReason::insufficient_resources);
    CHECK(ends.active().size() + ends.passive().size() == 0);
}

TEST_CASE("private data is as long as its message has room for, and no longer") {
    CHECK(private_room(CmMessage::req) == 92);
    CHECK(private_room(CmMessage::mra) == 222);
    CHECK(private_room(CmMessage::rej) == 148);
    CHECK(private_room(CmMessage::rep) == 196);
    CHECK(private_room(CmMessage::rtu) == 224);
    CHECK(private_room(CmMessage::dreq) == 220);
    CHECK(private_room(CmMessage::drep) == 224);
    CHECK(private_room(CmMessage::lap) == 168);
    CHECK(private_room(CmMessage::apr) == 148);
    CHECK(private_room(CmMessage::sidr_req) == 216);
    CHECK(private_room(CmMessage::sidr_rep) == 136);
    CmEnds ends;
    ends.automatic = false;
    REQUIRE(ends.passive().listen(kEchoService));
    const std::vector<std::byte> much(225, std::byte{0x5a});
    const auto most = [&](CmMessage message) { return Bytes(much).first(private_room(message)); };
    const auto more = [&](CmMessage message) { return Bytes(much).first(private_room(message) + 1); };
    ConnectRequest request = CmEnds::request();
    request.private_data = more(CmMessage::req);
    CHECK(ends.active().connect(request, ends.now).error() == CmError::private_data_long);
    request.private_data = most(CmMessage::req);
    const auto id = ends.active().connect(request, ends.now);
    REQUIRE(id);
    ends.run_for(seconds(1));
    const ConnectionEvent asked = ends.events_of(End::b, Kind::request).at(0);
    CHECK(std::ranges::equal(asked.private_data.bytes(), most(CmMessage::req)));
    AcceptParameters accept{.local_qpn = Qpn{9}, .starting_psn = Psn(0), .private_data = more(CmMessage::rep)};
    CHECK(ends.passive().accept(asked.id, accept, ends.now).error() == CmError::private_data_long);
    accept.private_data = most(CmMessage::rep);
    REQUIRE(ends.passive().accept(asked.id, accept, ends.now));
    ends.run_for(seconds(1));
    CHECK(std::ranges::equal(ends.events_of(End::a, Kind::reply).at(0).private_data.bytes(), most(CmMessage::rep)));
    CHECK(ends.active().reject(*id, RejectReason::consumer, {}, more(CmMessage::rej), ends.now).error() ==
          CmError::private_data_long);
    CHECK(ends.active().delay(*id, TimeoutCode{20}, more(CmMessage::mra), ends.now).error() ==
          CmError::private_data_long);
    CHECK(ends.active().ready(*id, more(CmMessage::rtu), ends.now).error() == CmError::private_data_long);
    REQUIRE(ends.active().ready(*id, most(CmMessage::rtu), ends.now));
    ends.run_for(seconds(1));
    CHECK(
        std::ranges::equal(ends.events_of(End::b, Kind::established).at(0).private_data.bytes(), most(CmMessage::rtu)));
    CHECK(ends.active().disconnect(*id, more(CmMessage::dreq), ends.now).error() == CmError::private_data_long);
    REQUIRE(ends.active().disconnect(*id, most(CmMessage::dreq), ends.now));
    ends.run_for(seconds(1));
    CHECK(std::ranges::equal(ends.events_of(End::b, Kind::disconnected).at(0).private_data.bytes(),
                             most(CmMessage::dreq)));
}

TEST_CASE("calls that cannot be are refused and change nothing") {
    CmEnds ends;
    ends.automatic = false;
    REQUIRE(ends.passive().listen(kEchoService));
    CHECK(ends.passive().listen(kEchoService).error() == CmError::invalid_parameter);
    CHECK(ends.passive().stop_listening(ServiceId{1}).error() == CmError::unknown_id);
    const auto refused = [&](auto change) {
        ConnectRequest request = CmEnds::request();
        change(request);
        return ends.active().connect(request, ends.now).error() == CmError::invalid_parameter;
    };
    CHECK(refused([](ConnectRequest& r) { r.local_qpn = Qpn{}; }));
    CHECK(refused([](ConnectRequest& r) { r.local_qpn = Qpn{1U << 24}; }));
    CHECK(refused([](ConnectRequest& r) { r.transport = CmTransport::rd; }));
    CHECK(refused([](ConnectRequest& r) { r.retry_count = 8; }));
    CHECK(refused([](ConnectRequest& r) { r.rnr_retry_count = 8; }));
    CHECK(refused([](ConnectRequest& r) { r.max_retries = 16; }));
    CHECK(refused([](ConnectRequest& r) { r.path.flow_label = 1U << 20; }));
    CHECK(refused([](ConnectRequest& r) { r.path.sl = 16; }));
    CHECK(refused([](ConnectRequest& r) { r.path.remote = {}; }));
    CHECK(refused([](ConnectRequest& r) { r.remote_response_timeout = TimeoutCode{32}; }));
    CHECK(ends.active().size() == 0);
    CHECK_FALSE(ends.active().poll_at());
    const auto id = ends.active().connect(CmEnds::request(), ends.now);
    CHECK(ends.active().ready(*id, {}, ends.now).error() == CmError::wrong_state);
    CHECK(ends.active().disconnect(*id, {}, ends.now).error() == CmError::wrong_state);
    CHECK(ends.active().accept(*id, {.local_qpn = Qpn{5}, .starting_psn = Psn(0)}, ends.now).error() ==
          CmError::wrong_state);
    CHECK(ends.active().sidr_reply(*id, {}, {}, ends.now).error() == CmError::wrong_state);
    CHECK(ends.active().load_alternate(*id, CmEnds::request().path, {}, ends.now).error() == CmError::wrong_state);
    CHECK(ends.active().abandon(CmId{12345}, ends.now).error() == CmError::unknown_id);
}

TEST_CASE("what is abandoned is told to the peer and forgotten") {
    CmEnds ends;
    ends.automatic = false;
    REQUIRE(ends.passive().listen(kEchoService));
    const auto id = ends.active().connect(CmEnds::request(), ends.now);
    ends.run_for(seconds(1));
    const ConnectionEvent asked = ends.events_of(End::b, Kind::request).at(0);
    SECTION("while the peer decides") {
        REQUIRE(ends.active().abandon(*id, ends.now));
        ends.run_for(seconds(1));
        CHECK(ladder(ends) == ">REQ >REJ ");
        CHECK(ends.events_of(End::b, Kind::rejected).at(0).rejection.reason == RejectReason::timeout);
    }
    SECTION("instead of deciding") {
        REQUIRE(ends.passive().abandon(asked.id, ends.now));
        ends.run_for(seconds(1));
        CHECK(ends.events_of(End::a, Kind::rejected).at(0).rejection.reason == RejectReason::consumer);
    }
    SECTION("when it stands") {
        ends.automatic = true;
        ends.decide(End::b, asked);
        ends.run_for(seconds(1));
        REQUIRE(ends.active().abandon(*id, ends.now));
        CHECK(ends.active().abandon(*id, ends.now).error() == CmError::unknown_id);
        ends.run_for(seconds(60));
        CHECK(ladder(ends) == ">REQ <REP >RTU >DREQ <DREP ");
        CHECK(ends.events_of(End::a, Kind::disconnected).empty());
        CHECK(ends.events_of(End::a, Kind::released).size() == 1);
        CHECK(ends.events_of(End::b, Kind::disconnected).size() == 1);
    }
    ends.run_for(seconds(200));
    CHECK(ends.active().size() + ends.passive().size() == 0);
}
