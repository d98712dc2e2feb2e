// RDMAP messages: READs and ATOMICs with their responses, immediate data, Terminates.
#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <transport-replay/checks/passive/iwarp_segments.hpp>

#include <algorithm>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

consteval std::size_t length_of(LayerKind kind) {
    return std::ranges::find(kIwarpHeaders, kind, &Header::kind)->length;
}
constexpr std::size_t kReadRequest = length_of(kind::rdmap_read_request),
                      kAtomicRequest = length_of(kind::rdmap_atomic_request),
                      kAtomicResponse = length_of(kind::rdmap_atomic_response),
                      kImmediate = length_of(kind::rdmap_immediate), kTerminate = length_of(kind::rdmap_terminate);

constexpr Field kLayer = named(kRdmapTerminateFields, "iwarp_rdma.term_layer");
constexpr Field kType = named(kRdmapTerminateFields, "iwarp_rdma.term_etype_rdma");
constexpr Field kCode = named(kRdmapTerminateFields, "iwarp_rdma.term_errcode_rdma");
constexpr Field kHasLength = named(kRdmapTerminateFields, "iwarp_rdma.term_hdrct_m");
constexpr Field kHasDdp = named(kRdmapTerminateFields, "iwarp_rdma.hdrct_d");
constexpr Field kHasRdmap = named(kRdmapTerminateFields, "iwarp_rdma.hdrct_r");
constexpr Field kReserved = named(kRdmapTerminateFields, "iwarp_rdma.term_rsvd");
constexpr Field kQuotedTagged = named(kDdpTaggedFields, "iwarp_ddp.tagged_flag");
constexpr std::size_t kSegmentLength = 2;
constexpr std::uint8_t kAtomicOperations = kAtomicOpcodeNames.size();

bool has(std::span<const ValueName> names, std::uint64_t value) {
    return std::ranges::find(names, value, &ValueName::value) != names.end();
}

// Codes of local catastrophic errors, and of the layer below DDP, are that layer's own.
bool is_defined_error(std::uint64_t layer, std::uint64_t type, std::uint64_t code) {
    switch (layer) {
        case 0: return has(kRdmapErrorTypes, type) && (type == 0 || has(kRdmapErrorCodes, code));
        case 1:
            return has(kDdpErrorTypes, type) &&
                   (type == 1 ? has(kTaggedErrorCodes, code) : type != 2 || has(kUntaggedErrorCodes, code));
        case 2: return has(kMpaErrorTypes, type) && has(kMpaErrorCodes, code);
        default: return false;
    }
}

bool invalidates(std::uint8_t opcode) {
    return opcode == std::to_underlying(RdmapOpcode::send_invalidate) ||
           opcode == std::to_underlying(RdmapOpcode::send_solicited_invalidate);
}

}  // namespace

void IwarpSegments::take_message(const At& at) {
    const Header& header = at.header;
    const bool alone = header.last && header.mo == 0;
    if (!header.tagged && !invalidates(header.opcode)) at.judge(Passive::rdm_05, header.word != 0);
    switch (static_cast<RdmapOpcode>(header.opcode)) {
        case RdmapOpcode::read_request: return take_read_request(at);
        case RdmapOpcode::read_response: return take_read_response(at);
        case RdmapOpcode::atomic_request: return take_atomic_request(at);
        case RdmapOpcode::atomic_response: return take_atomic_response(at);
        case RdmapOpcode::terminate: return take_terminate(at);
        case RdmapOpcode::immediate:
        case RdmapOpcode::immediate_solicited:
            return at.judge(Passive::rdm_22, !alone || header.payload.size() != kImmediate);
        default: return;
    }
}

// RFC 6581 9.1. Empty READs are those of peer-to-peer mode, which no IRD counts for sure.
void IwarpSegments::ask(const At& at, const Asked& asked) {
    Way& requester = way(at.from);
    requester.asked.push_back(asked);
    if (requester.asked.size() > kMostAsked) return forget(at.from);
    if (requester.most_asked == kOpenDepth || !answers_count(at)) return;
    const auto open = std::ranges::count_if(requester.asked,
                                            [](const Asked& one) { return one.atomic || one.read.source.length != 0; });
    at.judge(Passive::rdm_12, std::cmp_greater(open, requester.most_asked));
}

void IwarpSegments::take_read_request(const At& at) {
    const Header& header = at.header;
    const bool wrong = !header.last || header.mo != 0 || header.payload.size() != kReadRequest;
    at.judge(Passive::rdm_06, wrong);
    const auto request = wrong ? std::nullopt : read_request(header.payload);
    if (!request) return forget(at.from);
    ask(at, {.read = way(at.from).turned ? turned(*request) : *request, .frame = at.last});
}

// The READ that a segment of a response is for. Where it is for none, the check of what differs fails, if the capture
// has all requests.
std::deque<IwarpSegments::Asked>::iterator IwarpSegments::find_read(const At& at) {
    const End requester = other(at.from);
    auto& asked = way(requester).asked;
    const Header& header = at.header;
    const std::uint64_t length = header.payload.size();
    const auto goes_to = [&](const ReadRequest& read) { return static_cast<std::uint32_t>(read.sink) == header.stag; };
    const auto fits = [&](const ReadRequest& read, const Asked& one) {
        if (one.atomic) return false;
        if (read.source.length == 0 && length == 0) return true;
        const std::uint64_t left = read.source.length - std::min<std::uint64_t>(one.answered, read.source.length);
        return goes_to(read) && (one.wrong || (header.offset == read.sink_offset + one.answered && length <= left));
    };
    const auto first = std::ranges::find_if(asked, [](const Asked& one) { return !one.atomic; });
    const auto found = std::find_if(first, asked.end(), [&](const Asked& one) { return fits(one.read, one); });
    const bool counts = answers_count(at);
    if (found != asked.end()) {
        if (!counts) return found;
        at.tallies.look(at.from, Passive::rdm_07);
        at.tallies.look(at.from, Passive::rdm_08);
        at.judge(Passive::rdm_10, found != first, first->frame);
        return found;
    }
    const auto backwards =
        std::find_if(first, asked.end(), [&](const Asked& one) { return fits(turned(one.read), one); });
    if (backwards != asked.end() && length > 0) {
        at.tallies.judge(requester, Passive::rdm_11, true, backwards->frame, at.last);
        turn_reads(requester);
        return backwards;
    }
    if (!counts) {
        way(requester).whole = false;
        return asked.end();
    }
    const auto same =
        std::find_if(first, asked.end(), [&](const Asked& one) { return !one.atomic && goes_to(one.read); });
    at.judge(Passive::rdm_07, same == asked.end(), first == asked.end() ? FrameIndex{} : first->frame);
    if (same == asked.end()) return same;
    const bool longer = header.offset == same->read.sink_offset + same->answered;
    at.judge(longer ? Passive::rdm_09 : Passive::rdm_08, true, same->frame);
    same->wrong = true;
    return same;
}

void IwarpSegments::turn_reads(End requester) {
    way(requester).turned = true;
    for (Asked& one : way(requester).asked)
        if (!one.atomic) one.read = turned(one.read);
}

// RFC 5040 4.5, 5.5.
void IwarpSegments::take_read_response(const At& at) {
    const End requester = other(at.from);
    const auto found = find_read(at);
    if (found == way(requester).asked.end()) return;
    found->answered += at.header.payload.size();
    if (!at.header.last) return;
    const std::uint64_t length = found->read.source.length;
    if (!found->wrong && answers_count(at)) at.judge(Passive::rdm_09, found->answered != length, found->frame);
    if (length > 0 && !way(requester).turned) at.tallies.look(requester, Passive::rdm_11);
    way(requester).asked.erase(found);
}

void IwarpSegments::take_atomic_request(const At& at) {
    const Header& header = at.header;
    const auto request = header.payload.size() == kAtomicRequest ? atomic_request(header.payload) : std::nullopt;
    const bool wrong = !request || !header.last || header.mo != 0 || request->operation >= kAtomicOperations;
    at.judge(Passive::rdm_19, wrong);
    if (!request) return forget(at.from);
    ask(at, {.atomic = true, .identifier = request->identifier, .frame = at.last});
}

void IwarpSegments::take_atomic_response(const At& at) {
    const Header& header = at.header;
    const bool wrong = !header.last || header.mo != 0 || header.payload.size() != kAtomicResponse;
    at.judge(Passive::rdm_21, wrong);
    const auto response = wrong ? std::nullopt : atomic_response(header.payload);
    auto& asked = way(other(at.from)).asked;
    if (!response) return forget(at.from);
    const auto found = std::ranges::find_if(
        asked, [&](const Asked& one) { return one.atomic && one.identifier == response->identifier; });
    if (answers_count(at)) at.judge(Passive::rdm_20, found == asked.end());
    else if (found == asked.end()) way(other(at.from)).whole = false;
    if (found != asked.end()) asked.erase(found);
}

// RFC 5040 4.8, 7.1.
void IwarpSegments::take_terminate(const At& at) {
    const Header& header = at.header;
    Way& sender = way(at.from);
    at.tallies.look(at.from, Passive::rdm_18);
    at.judge(Passive::rdm_13, !header.last || header.mo != 0 || header.msn != 1);
    if (!sender.terminate) sender.terminate = at.last;
    const Bytes said = header.payload;
    if (said.size() < kTerminate) return at.judge(Passive::rdm_16, true);
    at.judge(Passive::rdm_14, !is_defined_error(read(said, kLayer), read(said, kType), read(said, kCode)));
    at.judge(Passive::rdm_15, read(said, kReserved) != 0);
    std::size_t length = kTerminate;
    if (read(said, kHasLength) != 0) length += kSegmentLength;
    if (read(said, kHasDdp) == 0) {
        if (read(said, kHasRdmap) == 0) at.judge(Passive::rdm_16, said.size() != length);
        return;
    }
    const Bytes quoted = slice(said, length);
    const bool tagged = !quoted.empty() && read(quoted, kQuotedTagged) != 0;
    const std::size_t ddp = tagged ? mpa::kTagged : mpa::kUntagged;
    length += ddp;
    const bool cut = quoted.size() < ddp;
    if (!cut) judge_quoted(at, quoted.first(ddp));
    if (read(said, kHasRdmap) == 0 || cut) return at.judge(Passive::rdm_16, said.size() != length);
    // The RDMAP header is that of a request: no other message has one.
    const auto opcode = static_cast<RdmapOpcode>(read(quoted.subspan(1), rdmap_rows::kOpcode));
    if (opcode == RdmapOpcode::read_request) at.judge(Passive::rdm_16, said.size() != length + kReadRequest);
}

void IwarpSegments::judge_quoted(const At& at, Bytes quoted) {
    const Way& peer = way(other(at.from));
    if (!answers_count(at)) return;
    const auto kept = std::span(peer.headers).first(std::min<std::size_t>(peer.segments, kHeadersKept));
    at.tallies.look(at.from, Passive::rdm_17);
    if (std::ranges::find(kept, crc32c(quoted)) != kept.end()) return;
    if (peer.segments > kHeadersKept) at.tallies.doubt(at.from, Passive::rdm_17, at.last);
    else at.fail(Passive::rdm_17);
}

}  // namespace qps::transport::conformance
