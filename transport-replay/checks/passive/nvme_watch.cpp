#include <dissect/mad/cm.hpp>
#include <dissect/ulp/nvme.hpp>
#include <transport-replay/checks/passive/nvme_watch.hpp>
#include <transport-replay/cm/cm_machine.hpp>

#include <algorithm>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::array<std::uint16_t, 2> kPortsOfNvme{4420, 8009};
constexpr std::uint64_t kTcpPorts = 6;  // the port space of rdma_cm

bool has_only_zeros(Bytes bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}
Bytes private_of(Bytes body, const Field& field, std::size_t skip = 0) {
    return slice(body, field.bit / 8U + skip, field.width / 8U - skip);
}
bool is_to_nvme(Bytes body, std::uint16_t another) {
    const std::uint64_t service = read(body, named(kCmReqFields, "infiniband.cm.req.serviceid"));
    const auto port = static_cast<std::uint16_t>(service);
    return service >> 24 == kIpCmServicePrefix && (service >> 16 & 0xffU) == kTcpPorts &&
           ((another != 0 && port == another) || std::ranges::find(kPortsOfNvme, port) != kPortsOfNvme.end());
}
std::uint64_t digest_of(Bytes body) {
    std::uint64_t sum = body.size();
    for (std::size_t i = 0; i + 8 <= body.size(); i += 8) sum = mix(sum + read_be<std::uint64_t>(body, i));
    return sum;
}
std::uint32_t path_mtu_of(Bytes body) {
    const std::uint64_t code = read(body, named(kCmReqFields, "infiniband.cm.req.pppmtu"));
    return code >= 1 && code <= kMtuCodes.size() ? 128U << code : 0;
}
constexpr Field kRequestPrivate = named(kCmReqFields, "infiniband.cm.req.private");
constexpr Field kReplyPrivate = named(kCmRepFields, "infiniband.cm.rep.private");
constexpr Field kRejectPrivate = named(kCmRejFields, "infiniband.cm.rej.private");

}  // namespace

NvmeWatch::NvmeWatch(const MemoryBudget& budget) : most_(most_queues(budget)) {
    room_.most_commands = most_commands(budget);
}

void NvmeWatch::set_up(const Observation& datagram, HostTallies& tallies) {
    if (datagram.icrc == CrcStatus::bad) return;
    const auto message = read_cm(datagram.payload);
    if (!message || message->body.size() < kCmMessageLength) return;
    switch (message->message) {
        case CmMessage::req: return request(*message, datagram, tallies);
        case CmMessage::rep: return reply(*message, datagram, tallies);
        case CmMessage::rej: return reject(*message, datagram, tallies);
        default: return;
    }
}

// RDMA transport 3.1.4, figure 5.
void NvmeWatch::request(const CmDatagram& message, const Observation& datagram, HostTallies& tallies) {
    const Bytes body = message.body;
    if (!is_to_nvme(body, another_port_)) return;
    const Asked asked{datagram.flow.source, datagram.flow.destination, message.local_id};
    const std::uint64_t digest = digest_of(body);
    if (const auto known = pending_.find(asked); known != pending_.end() && known->second.digest == digest)
        return;  // once more
    const Bytes said = private_of(body, kRequestPrivate, kIpCmHeaderLength);
    const auto said_of = [&](const Field& field) { return static_cast<std::uint16_t>(read(said, field)); };
    Pending pending;
    pending.digest = digest;
    pending.host_qp = Qpn{static_cast<std::uint32_t>(read(body, named(kCmReqFields, "infiniband.cm.req.localqpn")))};
    pending.set_up = {
        .host = asked.host,
        .target = asked.target,
        .request = datagram.frame,
        .host_psn = {},
        .target_psn = Psn{static_cast<std::uint32_t>(read(body, named(kCmReqFields, "infiniband.cm.req.startpsn")))},
        .record_format = said_of(named(kNvmeRequestFields, "nvme-rdma.cm.req.recfmt")),
        .queue = said_of(named(kNvmeRequestFields, "nvme-rdma.cm.req.qid")),
        .receives = said_of(named(kNvmeRequestFields, "nvme-rdma.cm.req.hrqsize")),
        .sends = said_of(named(kNvmeRequestFields, "nvme-rdma.cm.req.hsqsize")),
        .rnr_retries = static_cast<std::uint8_t>(read(body, named(kCmReqFields, "infiniband.cm.req.rnrretrcount"))),
        .path_mtu = path_mtu_of(body)};
    tallies.about(asked.host);
    tallies.look(Passive::nvme_01);
    if (pending.set_up.record_format != 0) tallies.fail(Passive::nvme_01, datagram.frame);
    if (pending.set_up.record_format == 0) {
        constexpr std::size_t kReservedAt = named(kNvmeRequestFields, "nvme-rdma.cm.req.reserved").bit / 8U;
        tallies.look(Passive::nvme_02);
        if (!has_only_zeros(slice(said, kReservedAt, kNvmePrivate - kReservedAt)))
            tallies.fail(Passive::nvme_02, datagram.frame);
        if (pending.set_up.queue == 0) {
            tallies.look(Passive::nvme_03);
            if (said_of(named(kNvmeRequestFields, "nvme-rdma.cm.req.cntlid")) != 0)
                tallies.fail(Passive::nvme_03, datagram.frame);
        }
    }
    if (pending_.size() >= most_) pending_.clear();
    pending_.insert_or_assign(asked, pending);
}

// Figure 6.
void NvmeWatch::reply(const CmDatagram& message, const Observation& datagram, HostTallies& tallies) {
    const auto found = pending_.find({datagram.flow.destination, datagram.flow.source, message.remote_id});
    if (found == pending_.end() || found->second.answered) return;
    Pending& pending = found->second;
    pending.answered = true;
    const Bytes body = message.body;
    const Bytes said = private_of(body, kReplyPrivate);
    const NvmeSetUp& asked = pending.set_up;
    constexpr std::size_t kReservedAt = named(kNvmeReplyFields, "nvme-rdma.cm.rsp.reserved").bit / 8U;
    const std::uint64_t receives = read(said, named(kNvmeReplyFields, "nvme-rdma.cm.rsp.crqsize"));
    tallies.about(asked.target);
    const auto judge = [&](Passive check, bool right) {
        tallies.look(check);
        if (!right) tallies.fail(check, datagram.frame, asked.request);
    };
    judge(Passive::nvme_04, read(said, named(kNvmeReplyFields, "nvme-rdma.cm.rsp.recfmt")) == 0 &&
                                has_only_zeros(slice(said, kReservedAt, kNvmePrivate - kReservedAt)));
    judge(Passive::nvme_09, asked.record_format == 0);
    if (asked.record_format != 0) return;
    judge(Passive::nvme_05, receives != 0 && receives <= std::uint64_t{asked.sends} + 1);
    judge(Passive::nvme_06, read(body, named(kCmRepFields, "infiniband.cm.rep.rnrretrcount")) == asked.rnr_retries);
    judge(Passive::nvme_07, read(body, named(kCmRepFields, "infiniband.cm.rep.respres")) == 0);
    pending.set_up.host_psn =
        Psn{static_cast<std::uint32_t>(read(body, named(kCmRepFields, "infiniband.cm.rep.startpsn")))};
    begin(pending, Qpn{static_cast<std::uint32_t>(read(body, named(kCmRepFields, "infiniband.cm.rep.localqpn")))});
}

// Figures 7 and 11: only where the consumer rejects, as a target of NVMe does.
void NvmeWatch::reject(const CmDatagram& message, const Observation& datagram, HostTallies& tallies) {
    constexpr std::uint64_t kByConsumer = 28, kInvalidFormat = 2, kLastStatus = 9;
    const auto found = pending_.find({datagram.flow.destination, datagram.flow.source, message.remote_id});
    if (found == pending_.end() || found->second.answered) return;
    found->second.answered = true;
    if (read(message.body, named(kCmRejFields, "infiniband.cm.rej.reason")) != kByConsumer) return;
    const Bytes said = private_of(message.body, kRejectPrivate);
    const NvmeSetUp& asked = found->second.set_up;
    const std::uint64_t status = read(said, named(kNvmeRejectionFields, "nvme-rdma.cm.rej.status"));
    tallies.about(asked.target);
    tallies.look(Passive::nvme_08);
    const bool defined = status >= 1 && status <= kLastStatus;
    if (!defined || read(said, named(kNvmeRejectionFields, "nvme-rdma.cm.rej.recfmt")) != 0)
        tallies.fail(Passive::nvme_08, datagram.frame, asked.request);
    if (!defined) return;
    tallies.look(Passive::nvme_09);
    const bool by_length = status == 1;  // which comes before
    if (!by_length && (status == kInvalidFormat) != (asked.record_format != 0))
        tallies.fail(Passive::nvme_09, datagram.frame, asked.request);
}

void NvmeWatch::begin(const Pending& pending, Qpn target_qp) {
    const FlowKey from_host{.source = pending.set_up.host,
                            .destination = pending.set_up.target,
                            .destination_qp = target_qp,
                            .source_qp = {}};
    const FlowKey from_target{.source = pending.set_up.target,
                              .destination = pending.set_up.host,
                              .destination_qp = pending.host_qp,
                              .source_qp = {}};
    drop(from_host);
    drop(from_target);
    if (queues_.size() >= most_) {
        ++unwatched_;
        return;
    }
    const std::size_t number = next_++;
    queues_.emplace(number, Watched{std::make_unique<NvmeQueue>(pending.set_up), {from_host, from_target}});
    ways_.insert_or_assign(from_host, WayOf{number, true});
    ways_.insert_or_assign(from_target, WayOf{number, false});
}

// Its queue pair is used anew.
void NvmeWatch::drop(const FlowKey& way) {
    const auto found = ways_.find(way);
    if (found == ways_.end()) return;
    const auto watched = queues_.find(found->second.queue);
    watched->second.queue->end(room_);
    for (const FlowKey& each : std::array(watched->second.ways)) ways_.erase(each);
    queues_.erase(watched);
}

void NvmeWatch::observe(const Observation& packet, const PacketRecord& record, HostTallies& tallies) {
    if (ways_.empty() || record.corrupt) return;
    const auto found = ways_.find(packet.flow);
    if (found == ways_.end()) return;
    queues_.find(found->second.queue)->second.queue->observe(packet, record, found->second.from_host, room_, tallies);
}

}  // namespace qps::transport::conformance
