// The walks over messages of SDP. What an attacker could feed: messages that do not exist, lengths that lie: only whole
// headers are entered, and no length is believed.
#include <dissect/ulp/sdp.hpp>
#include <dissect/ulp/walks.hpp>

namespace qps::dissect {

namespace sdp {

namespace {

constexpr Field kMessage = named(kBaseFields, "infiniband_sdp.bsdh.mid");
constexpr Field kLength = named(kBaseFields, "infiniband_sdp.bsdh.len");
constexpr Field kIpVersion = named(kHelloFields, "infiniband_sdp.hh.ipv");
constexpr Field kMajor = named(kHelloFields, "infiniband_sdp.hh.majv");

}  // namespace

bool is_hello(Bytes private_data, std::uint64_t message) {
    constexpr std::uint64_t kLeast = kBase + kHelloAckLength, kMost = 256, kMostMajor = 2;
    if (private_data.size() < kLeast || read(private_data, kMessage) != message) return false;
    const std::uint64_t length = read(private_data, kLength);
    const Bytes hello = slice(private_data, kBase);
    const std::uint64_t version = read(hello, kIpVersion), major = read(hello, kMajor);
    const bool versions =
        (version == 4 || version == 6 || (message == kHelloAck && version == 0)) && major >= 1 && major <= kMostMajor;
    return length >= kLeast && length <= kMost && versions;
}

namespace {

void step(Walk& walk, LayerKind kind) {
    if (walk.left() >= header(kind).length) static_cast<void>(enter(walk, kind, header(kind).length));
}

void walk_message(Walk& walk) {
    if (walk.left() < kBase) return add_data(walk);
    const Bytes base = enter(walk, kind::sdp_base, kBase);
    if (base.empty()) return;
    switch (read(base, kMessage)) {
        case kSourceAvailable: step(walk, kind::sdp_source); break;
        case kWriteCompleted:
        case kReadCompleted: step(walk, kind::sdp_moved); break;
        case kChangeBuffer:
        case kChangeBufferAck: step(walk, kind::sdp_buffer); break;
        default: break;
    }
    add_data(walk);
}

void walk_hello(Walk& walk, LayerKind cm_message) {
    const bool asks = cm_message == LayerKind::cm_req;
    if (!asks && cm_message != LayerKind::cm_rep) return;
    if (!is_hello(slice(walk.header(), 0, walk.left()), asks ? kHello : kHelloAck)) return;
    if (!enter(walk, kind::sdp_base, kBase).empty()) step(walk, asks ? kind::sdp_hello : kind::sdp_hello_ack);
}

}  // namespace

}  // namespace sdp

void ulp::walk_sdp(Walk& walk, const UlpHint&) { sdp::walk_message(walk); }
void ulp::walk_sdp_private(Walk& walk, const UlpHint&, LayerKind cm_message) { sdp::walk_hello(walk, cm_message); }

}  // namespace qps::dissect
