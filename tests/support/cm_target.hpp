// A connection manager that listens, and a peer that says to it whatever a test makes it say.
#pragma once

#include <tests/support/catch.hpp>
#include <tests/support/cm_ends.hpp>
#include <transport-replay/live/cm/cm_messages.hpp>

#include <vector>

namespace qps::tests {

using namespace dissect;
using namespace transport;
using namespace transport::live;

inline Bytes body_of(const ManagementDatagram& datagram) { return Bytes(datagram.bytes).subspan(kMadHeaderLength); }

// A manager that listens, and somebody who says whatever the test makes him say.
struct CmTarget {
    explicit CmTarget(ManagerSettings settings = {.seed = 5, .guid = CaGuid{0x77}}) : manager(settings) {
        REQUIRE(manager.listen(kEchoService));
    }
    template <class Message>
    ManagementDatagram datagram(const Message& message, std::uint64_t transaction = 0xabc) const {
        ManagementDatagram made = write_message(message, transaction).value();
        made.remote = kActiveAddress;
        made.local = kPassiveAddress;
        return made;
    }
    template <class Message> void say(const Message& message, std::uint64_t transaction = 0xabc) {
        manager.process(datagram(message, transaction), now);
    }
    // What it answered to that; nothing where it said nothing.
    std::vector<ManagementDatagram> answers() {
        std::vector<ManagementDatagram> all;
        while (const auto one = manager.poll(now)) all.push_back(*one);
        return all;
    }
    template <class Message> Message answer() {
        const auto all = answers();
        REQUIRE(all.size() == 1);
        REQUIRE(read_cm(all[0].bytes).value().message == kMessageOf<Message>);
        CHECK(all[0].remote == kActiveAddress);
        CHECK(all[0].local == kPassiveAddress);
        CHECK(all[0].remote_qp == kGsiQpn);
        last_transaction = read_cm(all[0].bytes)->transaction;
        return read_message<Message>(body_of(all[0]), AddressSpace::roce_v2);
    }
    std::uint64_t refused(CmRefusal refusal) const { return manager.counts().of(refusal); }
    // Accepted and established; the id.
    CmId establish(const CmReq& req);

    ConnectionManager manager;
    Instant now{1000};
    std::uint64_t last_transaction = 0;
};

inline CmReq good_req() {
    CmReq req;
    req.local_id = 0x0102'0304;
    req.service = kEchoService;
    req.qpn = Qpn{0x55};
    req.responder_resources = 3;
    req.initiator_depth = 3;
    req.remote_response_timeout = TimeoutCode{20};
    req.local_response_timeout = TimeoutCode{20};
    req.starting_psn = Psn(7);
    req.retry_count = 7;
    req.pkey = Pkey{0xffff};
    req.mtu = 3;
    req.max_retries = 15;
    req.primary.local_gid = kActiveAddress;
    req.primary.remote_gid = kPassiveAddress;
    req.primary.hop_limit = 64;
    req.primary.ack_timeout = TimeoutCode{19};
    return req;
}

inline CmId CmTarget::establish(const CmReq& req) {
    say(req);
    const auto events = manager.take_events();
    REQUIRE(events.size() == 1);
    REQUIRE(events[0].kind == ConnectionEventKind::request);
    REQUIRE(manager.accept(events[0].id, {.local_qpn = Qpn{0x99}, .starting_psn = Psn(1)}, now));
    CHECK(answers().size() == 1);
    say(CmRtu{.local_id = req.local_id, .remote_id = static_cast<std::uint32_t>(events[0].id), .private_data = {}});
    const auto after = manager.take_events();
    REQUIRE(after.size() == 1);
    REQUIRE(after[0].kind == ConnectionEventKind::established);
    return events[0].id;
}

}  // namespace qps::tests
