// DDP segments: their headers, and their place in queues and messages.
#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <transport-replay/checks/passive/iwarp_segments.hpp>

#include <algorithm>
#include <limits>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr Field kTaggedFlag = named(kDdpTaggedFields, "iwarp_ddp.tagged_flag");
constexpr Field kLastFlag = named(kDdpTaggedFields, "iwarp_ddp.last_flag");
constexpr Field kDdpReserved = named(kDdpTaggedFields, "iwarp_ddp.rsvd");
constexpr Field kDdpVersion = named(kDdpTaggedFields, "iwarp_ddp.dv");
constexpr Field kStag = named(kDdpTaggedFields, "iwarp_ddp.stag");
constexpr Field kOffset = named(kDdpTaggedFields, "iwarp_ddp.tagged_offset");
constexpr Field kQueue = named(kDdpUntaggedFields, "iwarp_ddp.qn");
constexpr Field kMsn = named(kDdpUntaggedFields, "iwarp_ddp.msn");
constexpr Field kMo = named(kDdpUntaggedFields, "iwarp_ddp.mo");
constexpr Field kWord = named(kRdmapInvalidateFields, "iwarp_rdma.inval_stag");

// RFC 5040 4.1, RFC 7306 4: by opcode; nothing where its messages are tagged.
constexpr std::array<std::optional<std::uint32_t>, 12> kQueues{
    std::nullopt, 1, std::nullopt, 0, 0, 0, 0, 2, 0, 0, 1, 3};
static_assert(kQueues.size() == kRdmapOpcodeNames.size());

}  // namespace

void IwarpSegments::start(End from) {
    Way& started = way(from);
    started.whole = true;
    for (Queue& queue : started.queues) queue.known = true;
}

void IwarpSegments::forget(End from) {
    Way& lost = way(from);
    lost.whole = false;
    for (Queue& queue : lost.queues) queue.known = false;
    for (TaggedMessage& message : lost.tagged) message.open = false;
    lost.asked.clear();
    way(other(from)).asked.clear();  // their answers may have been in what is lost
}

// RFC 5040 4.8: what a Terminate quotes.
void IwarpSegments::remember(End from, Bytes ulpdu, bool tagged) {
    Way& sender = way(from);
    sender.headers[sender.segments % kHeadersKept] = crc32c(slice(ulpdu, 0, tagged ? mpa::kTagged : mpa::kUntagged));
    ++sender.segments;
}

void IwarpSegments::take(End from, Bytes ulpdu, FrameIndex first, FrameIndex last, bool whole,
                         const EndTallies& tallies) {
    Header header;
    const At at{.from = from, .header = header, .first = first, .last = last, .whole = whole, .tallies = tallies};
    Way& sender = way(from);
    if (sender.terminate && !sender.went_on) {
        sender.went_on = true;
        at.fail(Passive::rdm_18, *sender.terminate);
    }
    const std::size_t control = 1;
    header.tagged = read(ulpdu, kTaggedFlag) != 0;
    header.last = read(ulpdu, kLastFlag) != 0;
    const std::size_t length = header.tagged ? mpa::kTagged : mpa::kUntagged;
    at.judge(Passive::mpa_15, ulpdu.size() < length);
    if (ulpdu.size() < length) return forget(from);
    remember(from, ulpdu, header.tagged);
    const auto trusted = [&](Passive check, bool wrong) {
        at.judge(check, wrong);
        if (wrong) forget(from);
        return !wrong;
    };
    if (!trusted(Passive::ddp_01, read(ulpdu, kDdpVersion) != 1)) return;
    at.judge(Passive::ddp_02, read(ulpdu, kDdpReserved) != 0);
    const Bytes rdmap = ulpdu.subspan(control);
    if (!trusted(Passive::rdm_01, read(rdmap, rdmap_rows::kVersion) != 1)) return;
    at.judge(Passive::rdm_02, read(rdmap, rdmap_rows::kReserved) != 0);
    header.opcode = static_cast<std::uint8_t>(read(rdmap, rdmap_rows::kOpcode));
    if (!trusted(Passive::rdm_03, header.opcode >= kQueues.size())) return;
    const std::optional<std::uint32_t> queue = kQueues[header.opcode];
    if (!trusted(Passive::rdm_04, header.tagged == queue.has_value())) return;
    header.payload = ulpdu.subspan(length);
    if (header.tagged) {
        header.stag = static_cast<std::uint32_t>(read(ulpdu, kStag));
        header.offset = read(ulpdu, kOffset);
        place_tagged(at);
    } else {
        header.word = static_cast<std::uint32_t>(read(rdmap, kWord));
        header.queue = static_cast<std::uint32_t>(read(ulpdu, kQueue));
        header.msn = static_cast<std::uint32_t>(read(ulpdu, kMsn));
        header.mo = static_cast<std::uint32_t>(read(ulpdu, kMo));
        if (!trusted(Passive::ddp_03, header.queue != *queue)) return;
        place_untagged(at);
    }
    take_message(at);
}

// RFC 5041 5.2, 5.3. Each deviation fails the check of what deviates; what follows is compared with what came.
void IwarpSegments::place_untagged(const At& at) {
    const Header& header = at.header;
    // A Terminate is one message: RDM-13 judges all of it.
    if (header.opcode == std::to_underlying(RdmapOpcode::terminate)) return;
    Queue& queue = way(at.from).queues[header.queue];
    const bool follows = header.msn == queue.msn + 1;
    if (queue.known && queue.open) {
        const bool same = header.msn == queue.msn;
        const bool begins = follows && header.mo == 0;
        at.judge(Passive::ddp_07, begins, queue.frame);
        at.judge(Passive::ddp_05, !same && !begins, queue.frame);
        if (same) {
            at.judge(Passive::ddp_06, header.mo != queue.next, queue.frame);
            at.judge(Passive::ddp_10, header.opcode != queue.opcode || header.word != queue.word, queue.frame);
        }
    } else if (queue.known) {
        at.judge(queue.any ? Passive::ddp_05 : Passive::ddp_04, !follows, queue.frame);
        if (queue.any) at.tallies.look(at.from, Passive::ddp_07);
        if (follows) at.judge(Passive::ddp_06, header.mo != 0, queue.frame);
    }
    queue = {.known = true,
             .any = true,
             .open = !header.last,
             .msn = header.msn,
             .next = std::uint64_t{header.mo} + header.payload.size(),
             .opcode = header.opcode,
             .word = header.word,
             .frame = at.last};
}

void IwarpSegments::place_tagged(const At& at) {
    const Header& header = at.header;
    const bool response = header.opcode == std::to_underlying(RdmapOpcode::read_response);
    TaggedMessage& message = way(at.from).tagged[response ? 1 : 0];
    const std::uint64_t length = header.payload.size();
    at.judge(Passive::ddp_09, length > 0 && header.offset > std::numeric_limits<std::uint64_t>::max() - (length - 1));
    if (message.open)
        at.judge(Passive::ddp_08, header.stag != message.stag || header.offset != message.next, message.frame);
    message = {.open = !header.last, .stag = header.stag, .next = header.offset + length, .frame = at.last};
}

}  // namespace qps::transport::conformance
