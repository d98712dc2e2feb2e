#include <dissect/ulp/rds.hpp>
#include <transport-replay/ulp/rds_machine.hpp>

#include <bit>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kSequence = named(kRdsFields, "rdma.rds.sequence");
constexpr Field kAck = named(kRdsFields, "rdma.rds.ack");
constexpr Field kLength = named(kRdsFields, "rdma.rds.len");
constexpr Field kSourcePort = named(kRdsFields, "rdma.rds.sport");
constexpr Field kDestinationPort = named(kRdsFields, "rdma.rds.dport");
constexpr Field kCongestion = named(kRdsFields, "rdma.rds.flags.congestion_map");
constexpr Field kMajor = named(kRdsConnectFields, "rdma.rds.connect.major");
constexpr Field kMinor = named(kRdsConnectFields, "rdma.rds.connect.minor");
constexpr Field kTos = named(kRdsConnectFields, "rdma.rds.connect.tos");
constexpr Field kCredit = named(kRdsConnectFields, "rdma.rds.connect.credit");
constexpr Field kSource = named(kRdsConnectFields, "rdma.rds.connect.saddr");

Bytes private_bytes(const CmSide& side) { return slice(side.private_data.first, 0, side.private_data.room); }

// The part that both forms have alike, as if it were that of IPv4; empty where it is none of RDS.
Bytes connect_data(const CmSide& side) {
    const Bytes bytes = private_bytes(side);
    const LayerKind form = rds_connect_kind(bytes);
    if (form == kind::rds_connect) return bytes;
    if (form == kind::rds_connect_ipv6) return slice(bytes, kRdsAddressesIpv6 - kRdsAddressesIpv4);
    return {};
}

OperationCode code_of(std::uint64_t source, std::uint64_t destination) {
    if (destination == 0) return rds::kPing;
    return source == 0 ? rds::kPong : rds::kMessage;
}

}  // namespace

namespace rds {

Likeness likeness(const UlpMessage& message) { return {is_rds_header(message.bytes) ? kSure : std::uint8_t{0}, false}; }

// An address at the front is any number: it must be the one that CM knows.
bool is_private_data(const CmAttempt& attempt) {
    const Bytes bytes = connect_data(attempt.active);
    if (bytes.empty() || !attempt.ip || !attempt.ip->addressed) return false;
    if (rds_connect_kind(private_bytes(attempt.active)) == kind::rds_connect_ipv6) return true;
    constexpr std::uint64_t kLow = 0xffff'ffff;
    return read(bytes, kSource) == (attempt.ip->source.bits[1] & kLow);
}

std::string_view operation_name(OperationCode code) {
    switch (code) {
        case kMessage: return "Message";
        case kPing: return "Ping";
        case kPong: return "Pong";
        case kCongestionMap: return "Congestion map";
        default: return "RDS";
    }
}

std::string describe(const UlpOperation& operation) {
    if (operation.code == kCongestionMap) return fmt::format("{} ports full", operation.subject[0]);
    return fmt::format("port {} to {}", operation.subject[0], operation.subject[1]);
}

}  // namespace rds

void RdsMachine::connected(const CmAttempt& attempt, UlpSession& session) {
    for (const CmSide* side : {&attempt.passive, &attempt.active}) {
        const Bytes bytes = connect_data(*side);
        if (bytes.empty()) continue;
        session.conversation().note("version", fmt::format("{}.{}", read(bytes, kMajor), read(bytes, kMinor)));
        if (read(bytes, kTos) != 0)
            session.conversation().note("type of service", fmt::format("{}", read(bytes, kTos)));
        session.conversation().note(
            "flow control", read(bytes, kCredit) == 0 ? "none" : fmt::format("{} credits", read(bytes, kCredit)));
    }
}

void RdsMachine::acknowledge(End sender, std::uint64_t ack, const UlpMessage& message, UlpSession& session) {
    Side& side = sides_[static_cast<std::size_t>(sender)];
    ack = std::min(ack, side.newest);  // the capture may lack messages
    if (side.oldest == 0 || ack < side.oldest) return;
    for (std::uint64_t sequence = side.oldest;; ++sequence) {
        static_cast<void>(session.end(sender, sequence, OperationOutcome::done, 0, message));
        if (sequence == ack) break;
    }
    side.oldest = ack + 1;
}

UlpLabel RdsMachine::take_map(const UlpMessage& message, std::uint64_t length, UlpSession& session) {
    Side& side = sides_[static_cast<std::size_t>(message.from)];
    const Bytes map = slice(message.bytes, kRdsHeader);
    for (const std::byte ports : map)
        side.ports_full += static_cast<std::uint64_t>(std::popcount(static_cast<std::uint8_t>(ports)));
    side.map_seen += message.length - kRdsHeader;
    if (side.map_seen >= length) {
        UlpOperation operation;
        operation.requester = message.from;
        operation.code = rds::kCongestionMap;
        operation.one_way = true;
        operation.bytes = operation.in_message = length;
        operation.subject[0] = side.ports_full;
        session.begin(operation, message);
        side.map_seen = side.ports_full = 0;
    }
    return {UlpLabel::Part::request, UlpProtocol::rds, rds::kCongestionMap, 0};
}

Understood RdsMachine::message(const UlpMessage& message, UlpSession& session) {
    if (!is_rds_header(message.bytes)) return {};
    acknowledge(other(message.from), read(message.bytes, kAck), message, session);
    const std::uint64_t length = read(message.bytes, kLength);
    const std::uint64_t data = message.length - kRdsHeader;
    if (read(message.bytes, kCongestion) != 0) return {.understood = true, .label = take_map(message, length, session)};
    const std::uint64_t sequence = read(message.bytes, kSequence);
    if (sequence == 0) return {.understood = true, .label = {}};  // it acknowledges, or gives credits
    Side& side = sides_[static_cast<std::size_t>(message.from)];
    const std::uint64_t source = read(message.bytes, kSourcePort), destination = read(message.bytes, kDestinationPort);
    const UlpLabel label{UlpLabel::Part::request, UlpProtocol::rds, code_of(source, destination), sequence};
    if (side.oldest != 0 && sequence <= side.newest) {
        if (UlpOperation* open = session.operations().find(message.from, sequence))
            open->in_message = std::min(open->in_message + data, open->bytes);  // another fragment, or it comes again
        return {.understood = true, .label = label};
    }
    if (side.oldest == 0) side.oldest = sequence;
    side.newest = sequence;
    if (side.newest - side.oldest >= OpenOperations::kMaxOpen) side.oldest = side.newest - OpenOperations::kMaxOpen + 1;
    UlpOperation operation;
    operation.requester = message.from;
    operation.code = label.code;
    operation.tag = sequence;
    operation.subject = {source, destination};
    operation.bytes = length;
    operation.in_message = std::min(data, length);
    session.begin(operation, message);
    return {.understood = true, .label = label};
}

}  // namespace qps::transport
