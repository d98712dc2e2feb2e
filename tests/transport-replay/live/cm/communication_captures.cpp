// The connection manager against what Linux really sent: every recorded message is read and written back byte for byte,
// and what we say in the same place differs in ids alone.
#include <tests/support/catch.hpp>
#include <tests/support/cm_ends.hpp>
#include <tests/support/cm_target.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/live/cm/cm_messages.hpp>
#include <transport-replay/model/observation.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::tests;
using Kind = ConnectionEventKind;

namespace {

// The CM messages of a capture, as they arrived.
std::vector<ManagementDatagram> recorded(const std::string& path) {
    std::vector<ManagementDatagram> found;
    for_each_packet(path, [&](const Packet& packet) {
        Observation observation;
        observe(packet, observation);
        if (!observation.management || observation.payload.size() != kMadLength || !read_cm(observation.payload))
            return;
        ManagementDatagram datagram;
        std::ranges::copy(observation.payload, datagram.bytes.begin());
        datagram.remote = observation.flow.source;
        datagram.local = observation.flow.destination;
        found.push_back(datagram);
    });
    return found;
}
std::vector<ManagementDatagram> recorded_in(const std::string& folder) {
    return recorded(QPSCOPE_SOURCE_DIR "/captures/" + folder + "/capture.pcap");
}

template <class Message> Message read_of(const ManagementDatagram& datagram) {
    return read_message<Message>(body_of(datagram), datagram.remote.space);
}

template <class Message> bool same_again(const ManagementDatagram& datagram, std::uint64_t transaction) {
    const auto written = write_message(read_of<Message>(datagram), transaction);
    return written && written->bytes == datagram.bytes;
}

bool same_again(const ManagementDatagram& datagram) {
    const CmDatagram read = read_cm(datagram.bytes).value();
    switch (read.message) {
        case CmMessage::req: return same_again<CmReq>(datagram, read.transaction);
        case CmMessage::mra: return same_again<CmMra>(datagram, read.transaction);
        case CmMessage::rej: return same_again<CmRej>(datagram, read.transaction);
        case CmMessage::rep: return same_again<CmRep>(datagram, read.transaction);
        case CmMessage::rtu: return same_again<CmRtu>(datagram, read.transaction);
        case CmMessage::dreq: return same_again<CmDreq>(datagram, read.transaction);
        case CmMessage::drep: return same_again<CmDrep>(datagram, read.transaction);
        case CmMessage::sidr_req: return same_again<CmSidrReq>(datagram, read.transaction);
        case CmMessage::sidr_rep: return same_again<CmSidrRep>(datagram, read.transaction);
        case CmMessage::lap: return same_again<CmLap>(datagram, read.transaction);
        case CmMessage::apr: return same_again<CmApr>(datagram, read.transaction);
    }
    return false;
}

// The bytes with the ids of ours and the transaction taken from what was recorded.
ManagementDatagram with_ids_of(ManagementDatagram ours, const ManagementDatagram& theirs, bool remote_too) {
    constexpr std::size_t kTransaction = 8;
    const auto take = [&](std::size_t at, std::size_t length) {
        std::copy_n(theirs.bytes.begin() + static_cast<std::ptrdiff_t>(at), length,
                    ours.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    };
    take(kTransaction, 8);
    take(kMadHeaderLength, 4);
    if (remote_too) take(kMadHeaderLength + 4, 4);
    return ours;
}

// The consumer's part of the private data: what follows the header of the IP CM service, as far as it is not zero.
Bytes consumer_data(Bytes private_data) {
    std::size_t used = private_data.size();
    while (used > 0 && private_data[used - 1] == std::byte{}) --used;
    return private_data.first(used);
}

// What rdma_cm was asked for to say that REQ.
ConnectRequest asked_for(const CmReq& req) {
    ConnectRequest request;
    request.service = req.service;
    request.path.local = req.primary.local_gid;
    request.path.remote = req.primary.remote_gid;
    request.path.flow_label = req.primary.flow_label;
    request.path.rate = req.primary.rate;
    request.path.traffic_class = req.primary.traffic_class;
    request.path.packet_lifetime =
        TimeoutCode{static_cast<std::uint8_t>(std::to_underlying(req.primary.ack_timeout) - 1)};
    request.local_qpn = req.qpn;
    request.starting_psn = req.starting_psn;
    request.mtu = PathMtu{req.mtu};
    request.responder_resources = req.responder_resources;
    request.initiator_depth = req.initiator_depth;
    request.flow_control = req.flow_control;
    request.retry_count = req.retry_count;
    request.rnr_retry_count = req.rnr_retry_count;
    request.shared_receive_queue = req.shared_receive_queue;
    return request;
}

}  // namespace

TEST_CASE("every recorded message of Linux is read and written back byte for byte") {
    std::map<CmMessage, std::size_t> seen;
    for (const std::string& path : sample_captures()) {
        const bool made_to_order =
            path.find("/opcodes_") != std::string::npos || path.find("/attributes_") != std::string::npos ||
            path.find("/wrong") != std::string::npos || path.find("/tunnels") != std::string::npos;
        if (made_to_order) continue;
        for (const ManagementDatagram& datagram : recorded(path)) {
            CAPTURE(path);
            CHECK(same_again(datagram));
            ++seen[read_cm(datagram.bytes)->message];
        }
    }
    for (const CmMessage message :
         {CmMessage::req, CmMessage::rep, CmMessage::rtu, CmMessage::rej, CmMessage::dreq, CmMessage::drep}) {
        CAPTURE(name(message));
        CHECK(seen[message] >= 2);
    }
}

TEST_CASE("connect() says what rdma_cm of Linux says, but for ids") {
    const std::string folder =
        GENERATE("rping_v4", "rping_v6", "nvme_rdma", "nfs_rdma", "iser", "rds", "ucmatose", "write_bidir_cm");
    std::size_t compared = 0;
    for (const ManagementDatagram& datagram : recorded_in(folder)) {
        if (read_cm(datagram.bytes)->message != CmMessage::req) continue;
        const auto req = read_of<CmReq>(datagram);
        const auto caller = read_ip_cm(req.private_data.bytes());
        REQUIRE(caller);
        CHECK(agrees(caller->ends, datagram.remote, datagram.local));
        const auto service = ip_service_of(req.service);
        REQUIRE(service);
        CHECK(service->space == PortSpace::tcp);
        ConnectionManager manager({.seed = 1, .guid = req.guid});
        const Instant now{0};
        ConnectRequest request = asked_for(req);
        const auto id = ip_connect(manager, caller->ends, request, consumer_data(caller->private_data), now);
        REQUIRE(id);
        const auto ours = manager.poll(now);
        REQUIRE(ours);
        CHECK(ours->remote == datagram.local);
        CHECK(with_ids_of(*ours, datagram, false).bytes == datagram.bytes);
        ++compared;
    }
    CHECK(compared >= 1);
}

TEST_CASE("both sides, played against one side of a recorded exchange, say what the other side of it said") {
    const std::string folder = GENERATE("rping_v4", "rping_v6", "nfs_rdma", "iser");
    const auto messages = recorded_in(folder);
    REQUIRE(messages.size() >= 5);
    const auto req = read_of<CmReq>(messages[0]);
    const auto rep = read_of<CmRep>(messages[1]);
    REQUIRE(read_cm(messages[4].bytes)->message == CmMessage::drep);
    const Instant now{0};

    ConnectionManager passive({.seed = 2, .guid = rep.guid, .ack_delay = rep.target_ack_delay});
    REQUIRE(passive.listen(req.service));
    passive.process(messages[0], now);
    const ConnectionEvent asked = passive.take_events().at(0);
    CHECK(asked.parameters.remote_qpn == req.qpn);
    CHECK(asked.parameters.mtu == PathMtu::bytes_4096);
    REQUIRE(passive.accept(asked.id,
                           {.local_qpn = rep.qpn,
                            .starting_psn = rep.starting_psn,
                            .responder_resources = rep.responder_resources,
                            .initiator_depth = rep.initiator_depth,
                            .rnr_retry_count = rep.rnr_retry_count,
                            .flow_control = rep.flow_control,
                            .shared_receive_queue = rep.shared_receive_queue,
                            .private_data = consumer_data(rep.private_data.bytes())},
                           now));
    const auto answer = passive.poll(now);
    REQUIRE(answer);
    CHECK(read_cm(answer->bytes)->transaction == read_cm(messages[0].bytes)->transaction);
    CHECK(with_ids_of(*answer, messages[1], false).bytes == messages[1].bytes);
    // The RTU and the DREQ that were recorded, spoken to our id.
    const auto to_ours = [&](ManagementDatagram datagram) {
        write_bits(datagram.bytes, (kMadHeaderLength + 4) * 8, 32, static_cast<std::uint32_t>(asked.id));
        return datagram;
    };
    passive.process(to_ours(messages[2]), now);
    CHECK(passive.take_events().at(0).kind == Kind::established);
    passive.process(to_ours(messages[3]), now);
    CHECK(passive.take_events().at(0).kind == Kind::disconnected);
    const auto farewell = passive.poll(now);
    REQUIRE(farewell);
    CHECK(with_ids_of(*farewell, messages[4], true).bytes == messages[4].bytes);

    ConnectionManager active({.seed = 3, .guid = req.guid});
    ConnectRequest request = asked_for(req);
    request.private_data = req.private_data.bytes();
    const auto id = active.connect(request, now);
    REQUIRE(id);
    const auto said = active.poll(now);
    ManagementDatagram reply = messages[1];
    write_bits(reply.bytes, (kMadHeaderLength + 4) * 8, 32, static_cast<std::uint32_t>(*id));
    write_bits(reply.bytes, 64, 64, read_cm(said->bytes)->transaction);
    active.process(reply, now);
    const ConnectionEvent replied = active.take_events().at(0);
    CHECK(replied.kind == Kind::reply);
    CHECK(replied.parameters.remote_qpn == rep.qpn);
    CHECK(replied.parameters.ack_timeout == req.primary.ack_timeout);
    REQUIRE(active.ready(*id, {}, now));
    const auto rtu = active.poll(now);
    REQUIRE(rtu);
    CHECK(with_ids_of(*rtu, messages[2], false).bytes == messages[2].bytes);
    REQUIRE(active.disconnect(*id, {}, now));
    const auto dreq = active.poll(now);
    REQUIRE(dreq);
    CHECK(with_ids_of(*dreq, messages[3], false).bytes == messages[3].bytes);
}

TEST_CASE("a REQ for a port nobody listens to is refused as Linux refuses it") {
    const auto messages = recorded_in("cm_reject_noport");
    REQUIRE(messages.size() == 2);
    ConnectionManager manager({.seed = 4});
    manager.process(messages[0], Instant{0});
    const auto rej = manager.poll(Instant{0});
    REQUIRE(rej);
    CHECK(rej->bytes == messages[1].bytes);
    CHECK(rej->remote == messages[0].remote);
}
