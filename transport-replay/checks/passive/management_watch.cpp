#include <dissect/mad/attributes.hpp>
#include <dissect/mad/cm.hpp>
#include <dissect/mad/mad.hpp>
#include <transport-replay/checks/passive/management_watch.hpp>

#include <algorithm>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::size_t kMadBytes = 256, kMadHeader = 24;
constexpr std::uint64_t kCmClass = 0x07, kCmVersion = 2, kSend = 3;
constexpr std::uint64_t kFirstAttribute = 0x10, kLastAttribute = 0x1a;
constexpr std::uint64_t kDefaultPkey = 0xffff;

[[nodiscard]] std::uint64_t number(Bytes body, const Field& field) { return read(body, field); }
[[nodiscard]] Address gid(Bytes body, const Field& field, AddressSpace space) {
    return {{read_be<std::uint64_t>(body, field.bit / 8U), read_be<std::uint64_t>(body, field.bit / 8U + 8)}, space};
}

// 13.4.3, C13-3. The Q_Key and the queue pairs are those of FMT-22.
void check_header(const Observation& datagram, const PacketFacts& facts, HostTallies& tallies) {
    const Bytes mad = datagram.payload;
    if (read_bits(mad, 8, 8) != kCmClass) return;
    const std::uint64_t attribute = read_bits(mad, 128, 16);
    if (attribute < kFirstAttribute || attribute > kLastAttribute) return;  // such as ClassPortInfo, which is asked for
    tallies.look(Passive::cm_01);
    const bool right = read_bits(mad, 0, 8) == 1 && read_bits(mad, 16, 8) == kCmVersion &&
                       read_bits(mad, 24, 8) == kSend && datagram.payload_length == kMadBytes &&
                       datagram.flow.destination_qp == kGsiQpn && (facts.wrong & bit(Passive::fmt_22)) == 0;
    if (!right) tallies.fail(Passive::cm_01, datagram.frame);
}

// Reserved bits of a REQ: those that its table gives no name, or the name of reserved ones.
[[nodiscard]] bool reserved_are_zero(Bytes req) {
    return std::ranges::all_of(kCmReqFields, [&](const Field& field) {
        const bool reserved = field.name.empty() || field.name.find("reserved") != std::string_view::npos;
        return !reserved || read(req, field) == 0;
    });
}

void check_req(Bytes req, const Observation& datagram, HostTallies& tallies) {
    constexpr std::uint64_t kUc = 1, kExtended = 3, kXrc = 1;
    tallies.look(Passive::cm_02);
    const std::uint64_t type = number(req, named(kCmReqFields, "infiniband.cm.req.transpsvctype"));
    const std::uint64_t extended = number(req, named(kCmReqFields, "infiniband.cm.req.ext_transport"));
    bool right = type <= kUc || (type == kExtended && extended == kXrc);
    right &= reserved_are_zero(req);
    const bool local = number(req, named(kCmReqFields, "infiniband.cm.req.prim_subnetlocal")) != 0;
    const std::uint64_t hops = number(req, named(kCmReqFields, "infiniband.cm.req.prim_hoplim"));
    if (datagram.encapsulation == Encapsulation::roce_v2) {
        right &= number(req, named(kCmReqFields, "infiniband.cm.req.pkey")) == kDefaultPkey;
        right &= local == (hops <= 1);
        right &= gid(req, named(kCmReqFields, "infiniband.cm.req.prim_localgid"), AddressSpace::roce_v2) ==
                 datagram.flow.source;
        right &= gid(req, named(kCmReqFields, "infiniband.cm.req.prim_remotegid"), AddressSpace::roce_v2) ==
                 datagram.flow.destination;
    }
    if (!right) tallies.fail(Passive::cm_02, datagram.frame);
}

// A11.6. IPv4 addresses are the last four of sixteen bytes; those of the packet are IPv4-mapped.
[[nodiscard]] bool is_ip_of(Bytes header, std::size_t at, std::uint64_t version, const Address& address) {
    constexpr std::uint64_t kMapped = 0xffff'0000'0000;
    const std::array<std::uint64_t, 2> bits{read_be<std::uint64_t>(header, at), read_be<std::uint64_t>(header, at + 8)};
    if (version == 6) return bits == address.bits;
    return bits[0] == 0 && bits[1] >> 32 == 0 && address.bits == std::array<std::uint64_t, 2>{0, kMapped | bits[1]};
}

void check_ip_header(Bytes req, const Observation& datagram, HostTallies& tallies) {
    constexpr std::uint64_t kTcp = 6, kUdp = 17, kAnyIb = 0x3f;
    const std::uint64_t service = number(req, named(kCmReqFields, "infiniband.cm.req.serviceid"));
    if (service >> 24 != kIpCmServicePrefix || datagram.encapsulation != Encapsulation::roce_v2) return;
    tallies.look(Passive::cm_03);
    const std::uint64_t protocol = service >> 16 & 0xff;
    constexpr Field kPrivate = named(kCmReqFields, "infiniband.cm.req.private");
    const Bytes header = slice(req, kPrivate.bit / 8U, kIpCmHeaderLength);
    const std::uint64_t version = number(header, named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.ipv"));
    constexpr Field kSource = named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.sip6");
    constexpr Field kDestination = named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.dip6");
    const bool right = (protocol == kTcp || protocol == kUdp || protocol == kAnyIb) &&
                       number(header, named(kCmIpPrivateFields, "infiniband.cm.req.ip_cm.majv")) == 0 &&
                       (version == 4 || version == 6) &&
                       is_ip_of(header, kSource.bit / 8U, version, datagram.flow.source) &&
                       is_ip_of(header, kDestination.bit / 8U, version, datagram.flow.destination);
    if (!right) tallies.fail(Passive::cm_03, datagram.frame);
}

// Messages that say how much of a field they use.
struct Measured {
    CmMessage message;
    Field length;
    Field room;
};
constexpr std::array kMeasured{
    Measured{CmMessage::rej, named(kCmRejFields, "infiniband.cm.rej.rejinfolen"),
             named(kCmRejFields, "infiniband.cm.rej.ari")},
    Measured{CmMessage::apr, named(kCmAprFields, "infiniband.cm.apr.addinfolen"),
             named(kCmAprFields, "infiniband.cm.apr.addinfo")},
    Measured{CmMessage::sidr_rep, named(kCmSidrRepFields, "infiniband.cm.sidr_rep.addinfolen"),
             named(kCmSidrRepFields, "infiniband.cm.sidr_rep.addinfo")},
};

void check_tail(const CmDatagram& message, const Observation& datagram, HostTallies& tallies) {
    const auto* measured = std::ranges::find(kMeasured, message.message, &Measured::message);
    if (measured == kMeasured.end()) return;
    tallies.look(Passive::cm_27);
    const std::uint64_t used = number(message.body, measured->length);
    const std::size_t room = measured->room.width / 8U;
    const Bytes rest = used < room ? slice(message.body, measured->room.bit / 8U + used, room - used) : Bytes{};
    const bool zeros = std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte{}; });
    if (used > room || !zeros) tallies.fail(Passive::cm_27, datagram.frame);
}

[[nodiscard]] std::uint64_t digest(Bytes body) {
    std::uint64_t sum = body.size();
    for (std::size_t i = 0; i + 8 <= body.size(); i += 8) sum = mix(sum + read_be<std::uint64_t>(body, i));
    return sum;
}

// Which messages begin a transaction, and whom others answer.
enum class Side : std::uint8_t { begins, answers_receiver, continues_sender, either };
[[nodiscard]] Side side_of(CmMessage message) {
    switch (message) {
        case CmMessage::req:
        case CmMessage::dreq:
        case CmMessage::lap:
        case CmMessage::sidr_req: return Side::begins;
        case CmMessage::rep:
        case CmMessage::drep:
        case CmMessage::apr:
        case CmMessage::sidr_rep: return Side::answers_receiver;
        case CmMessage::rtu: return Side::continues_sender;
        case CmMessage::mra:
        case CmMessage::rej: break;
    }
    return Side::either;
}
// Exchanges whose IDs are apart: connecting, releasing, alternate paths, resolving.
[[nodiscard]] std::uint64_t exchange_of(const CmDatagram& message) {
    switch (message.message) {
        case CmMessage::dreq:
        case CmMessage::drep: return 1;
        case CmMessage::lap:
        case CmMessage::apr: return 2;
        case CmMessage::sidr_req:
        case CmMessage::sidr_rep: return 3;
        case CmMessage::mra: return message.about == 2 ? 2 : 0;
        default: return 0;
    }
}

}  // namespace

// 13.4.6.4: answers bear the transaction ID of what they answer.
void ManagementWatch::take_transaction(const CmDatagram& message, const Observation& datagram, HostTallies& tallies) {
    const std::uint64_t exchange = exchange_of(message) << 32;
    const Key own{datagram.flow.source, datagram.flow.destination, exchange | message.local_id};
    const Key peer{datagram.flow.destination, datagram.flow.source, exchange | message.remote_id};
    const Side side = side_of(message.message);
    if (side == Side::begins) {
        const std::uint64_t content = digest(message.body);
        const auto found = open_.find(own);
        if (found != open_.end() && found->second.digest == content) {  // a repetition; else the ID is used anew
            tallies.look(Passive::cm_26);
            if (found->second.id != message.transaction) tallies.fail(Passive::cm_26, datagram.frame);
        } else if (found != open_.end() || open_.size() < kMostTransactions) {
            open_[own] = {message.transaction, content};
        }
        return;
    }
    auto found = side == Side::continues_sender ? open_.find(own) : open_.find(peer);
    if (found == open_.end() && side == Side::either) found = open_.find(own);
    if (found == open_.end()) return;
    tallies.look(Passive::cm_26);
    if (found->second.id != message.transaction) tallies.fail(Passive::cm_26, datagram.frame);
}

void ManagementWatch::observe(const Observation& datagram, const PacketFacts& facts, HostTallies& tallies) {
    if (datagram.payload.size() < kMadHeader || datagram.icrc == CrcStatus::bad) return;
    check_header(datagram, facts, tallies);
    if (datagram.payload.size() < kMadBytes) return;
    const auto message = read_cm(datagram.payload);
    if (!message) return;
    if (message->message == CmMessage::req) {
        check_req(message->body, datagram, tallies);
        check_ip_header(message->body, datagram, tallies);
    }
    check_tail(*message, datagram, tallies);
    take_transaction(*message, datagram, tallies);
}

}  // namespace qps::transport::conformance
