// Every name of a refusal of the connection manager, and what causes it: a name that nothing causes is no name.
#include <tests/support/catch.hpp>
#include <tests/support/cm_target.hpp>

#include <algorithm>
#include <set>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::tests;

namespace {

using Say = void (*)(CmTarget&);
struct Cause {
    CmRefusal refusal;
    Say say;  // to a manager that has heard nothing yet
};

void say_with(CmTarget& target, std::size_t at, unsigned value) {
    ManagementDatagram datagram = target.datagram(good_req());
    datagram.bytes[at] = static_cast<std::byte>(value);
    target.manager.process(datagram, target.now);
}

void flood(CmTarget& target, std::size_t count, ServiceId service) {
    for (std::uint32_t i = 0; i < count; ++i) {
        CmReq req = good_req();
        req.local_id = i + 1;
        req.qpn = Qpn{i + 2};
        req.service = service;
        target.say(req, i);
    }
}

constexpr std::array kCauses{
    Cause{CmRefusal::base_version, [](CmTarget& target) { say_with(target, 0, 2); }},
    Cause{CmRefusal::management_class, [](CmTarget& target) { say_with(target, 1, 4); }},
    Cause{CmRefusal::class_version, [](CmTarget& target) { say_with(target, 2, 1); }},
    Cause{CmRefusal::method, [](CmTarget& target) { say_with(target, 3, 1); }},
    Cause{CmRefusal::method, [](CmTarget& target) { say_with(target, 5, 1); }},  // a status
    Cause{CmRefusal::attribute, [](CmTarget& target) { say_with(target, 17, 0x1b); }},
    Cause{CmRefusal::attribute, [](CmTarget& target) { say_with(target, 17, 0x0f); }},
    Cause{CmRefusal::source_qp,
          [](CmTarget& target) {
              ManagementDatagram datagram = target.datagram(good_req());
              datagram.remote_qp = Qpn{2};
              target.manager.process(datagram, target.now);
          }},
    Cause{CmRefusal::pkey,
          [](CmTarget& target) {
              ManagementDatagram datagram = target.datagram(good_req());
              datagram.pkey = Pkey{0x8001};
              target.manager.process(datagram, target.now);
          }},
    Cause{CmRefusal::unknown_id,
          [](CmTarget& target) { target.say(CmRtu{.local_id = 7, .remote_id = 8, .private_data = {}}); }},
    Cause{CmRefusal::wrong_peer,
          [](CmTarget& target) {
              target.say(good_req(), 1);
              target.say(good_req(), 2);  // another wish under the same id
          }},
    Cause{CmRefusal::wrong_qpn,
          [](CmTarget& target) {
              const auto ours = static_cast<std::uint32_t>(target.establish(good_req()));
              target.say(CmDreq{
                  .local_id = good_req().local_id, .remote_id = ours, .remote_qpn = Qpn{0x98}, .private_data = {}});
          }},
    Cause{CmRefusal::wrong_state,
          [](CmTarget& target) {
              const auto ours = static_cast<std::uint32_t>(target.establish(good_req()));
              target.say(CmDrep{.local_id = good_req().local_id, .remote_id = ours, .private_data = {}});
          }},
    Cause{CmRefusal::repetition,
          [](CmTarget& target) {
              target.say(good_req());
              target.say(good_req());
          }},
    Cause{CmRefusal::malformed,
          [](CmTarget& target) {
              CmReq req = good_req();
              req.qpn = Qpn{0};
              target.say(req);
          }},
    Cause{CmRefusal::half_open, [](CmTarget& target) { flood(target, kMaxHalfOpen + 1, kEchoService); }},
    Cause{CmRefusal::full, [](CmTarget& target) { flood(target, kMaxCmEvents + 1, kEchoService); }},
    Cause{CmRefusal::answers, [](CmTarget& target) { flood(target, kMaxCmAnswers + 1, ServiceId{1}); }},  // a REJ each
    Cause{CmRefusal::mra,
          [](CmTarget& target) {
              ConnectRequest request = CmEnds::request();
              std::swap(request.path.local, request.path.remote);
              request.max_retries = 1;
              const auto id = target.manager.connect(request, target.now);
              REQUIRE(id);
              for (int i = 0; i < 3; ++i)
                  target.say(CmMra{.local_id = 3,
                                   .remote_id = static_cast<std::uint32_t>(*id),
                                   .about = CmAbout::req,
                                   .service_timeout = TimeoutCode{10},
                                   .private_data = {}});
          }},
};

}  // namespace

TEST_CASE("every refusal of the connection manager has a cause, and a name of its own") {
    std::set<CmRefusal> caused;
    for (const Cause& cause : kCauses) {
        CAPTURE(kCmRefusalNames[static_cast<std::size_t>(cause.refusal)]);
        CmTarget target;
        cause.say(target);
        CHECK(target.refused(cause.refusal) >= 1);
        if (target.refused(cause.refusal) != 0) caused.insert(cause.refusal);
    }
    for (std::size_t i = 0; i < kCmRefusalNames.size(); ++i) {
        CAPTURE(kCmRefusalNames[i]);
        CHECK(caused.contains(static_cast<CmRefusal>(i)));
    }
    CHECK(std::set<std::string_view>(kCmRefusalNames.begin(), kCmRefusalNames.end()).size() == caused.size());
}
