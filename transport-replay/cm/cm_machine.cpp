#include <dissect/mad/cm.hpp>
#include <dissect/mad/mad.hpp>
#include <transport-replay/cm/cm_machine.hpp>

#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kCmClassVersion = 2;  // 16.7.1
constexpr std::uint64_t kMethodSend = 0x03;  // 16.7.2: the only method of CM messages
constexpr std::uint64_t kFirstAttribute = 0x10;

constexpr Field kBaseVersion = named(kMadFields, "infiniband.mad.baseversion");
constexpr Field kClass = named(kMadFields, "infiniband.mad.mgmtclass");
constexpr Field kClassVersion = named(kMadFields, "infiniband.mad.classversion");
constexpr Field kMethod = named(kMadFields, "infiniband.mad.method");
constexpr Field kTransaction = named(kMadFields, "infiniband.mad.transactionid");
constexpr Field kAttribute = named(kMadFields, "infiniband.mad.attributeid");

// Every message has its ids in the same place but SIDR, whose single id is the requester's.
constexpr Field kLocalId = named(kCmRtuFields, "infiniband.cm.rtu.localcommid");
constexpr Field kRemoteId = named(kCmRtuFields, "infiniband.cm.rtu.remotecommid");
constexpr Field kRequestId = named(kCmSidrReqFields, "infiniband.cm.sidr_req.requestid");
static_assert(kLocalId.bit == named(kCmReqFields, "infiniband.cm.req").bit && kLocalId.bit == kRequestId.bit);
constexpr Field kMessageMraed = named(kCmMraFields, "infiniband.cm.mra.msgmra");
constexpr Field kMessageRejected = named(kCmRejFields, "infiniband.cm.rej.msgrej");
constexpr std::size_t kIdsLength = 10;  // both ids and, of an MRA or a REJ, what it speaks of

}  // namespace

std::optional<CmStep> step(CmState state, CmEvent event) {
    if (const auto to = step(kCmConversation, state, event)) return CmStep{*to, false};
    if (const auto to = step(kCmGaps, state, event)) return CmStep{*to, true};
    return {};
}

std::optional<CmDatagram> read_cm(Bytes datagram) {
    if (datagram.size() < kMadHeaderLength + kIdsLength) return {};
    if (read(datagram, kBaseVersion) != kMadBaseVersion || read(datagram, kClassVersion) != kCmClassVersion) return {};
    if (read(datagram, kClass) != std::to_underlying(ManagementClass::communication)) return {};
    const std::uint64_t attribute = read(datagram, kAttribute);
    if (read(datagram, kMethod) != kMethodSend || attribute < kFirstAttribute ||
        attribute >= kFirstAttribute + kCmMessages)
        return {};
    CmDatagram found;
    found.message = static_cast<CmMessage>(attribute - kFirstAttribute);
    found.transaction = read(datagram, kTransaction);
    found.body = slice(datagram, kMadHeaderLength, kCmMessageLength);
    const auto first = static_cast<std::uint32_t>(read(found.body, kLocalId));
    (found.message == CmMessage::sidr_rep ? found.remote_id : found.local_id) = first;
    const bool one_id =
        found.message == CmMessage::req || found.message == CmMessage::sidr_req || found.message == CmMessage::sidr_rep;
    if (!one_id) found.remote_id = static_cast<std::uint32_t>(read(found.body, kRemoteId));
    if (found.message == CmMessage::mra) found.about = static_cast<std::uint8_t>(read(found.body, kMessageMraed));
    if (found.message == CmMessage::rej) found.about = static_cast<std::uint8_t>(read(found.body, kMessageRejected));
    return found;
}

CmEvent event_of(const CmDatagram& datagram, bool from_active) {
    switch (datagram.message) {
        case CmMessage::req: return CmEvent::req;
        case CmMessage::mra:
            return datagram.about == 0   ? CmEvent::mra_of_req
                   : datagram.about == 1 ? CmEvent::mra_of_rep
                                         : CmEvent::mra_of_lap;
        case CmMessage::rej: return from_active ? CmEvent::rej_by_active : CmEvent::rej_by_passive;
        case CmMessage::rep: return CmEvent::rep;
        case CmMessage::rtu: return CmEvent::rtu;
        case CmMessage::dreq: return CmEvent::dreq;
        case CmMessage::drep: return CmEvent::drep;
        case CmMessage::sidr_req: return CmEvent::sidr_req;
        case CmMessage::sidr_rep: return CmEvent::sidr_rep;
        case CmMessage::lap: return CmEvent::lap;
        case CmMessage::apr: return CmEvent::apr;
    }
    return CmEvent::data;
}

}  // namespace qps::transport
