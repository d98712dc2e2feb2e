// The walk over LNet messages of o2iblnd. What an attacker could feed: numbers of pieces that are not there; what is
// not within the message is not entered.
#include <dissect/ulp/lnet.hpp>
#include <dissect/ulp/lustre.hpp>
#include <dissect/ulp/walks.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

constexpr Field kMagic = named(kLnetIbFields, "lnet.ib.magic");
constexpr Field kVersion = named(kLnetIbFields, "lnet.ib.version");
constexpr Field kType = named(kLnetIbFields, "lnet.ib.type");
constexpr Field kPieces = named(kLnetMemoryFields, "lnet.rdma.nfrags");
constexpr Field kDoes = named(kLnetHeaderFields, "lnet.msg_type");

void walk_memory(Walk& walk) {
    const std::uint64_t pieces =
        std::min<std::uint64_t>(read(slice(walk.header(), 0, walk.left()), kPieces), kMostLnetPieces);
    static_cast<void>(enter(walk, kind::lnet_memory, kLnetMemory + pieces * kLnetPiece));
}

bool entered(Walk& walk, LayerKind kind) { return !enter(walk, kind, header(kind).length).empty(); }

// The data of a PUT may be a message of Lustre.
void walk_immediate(Walk& walk) {
    const Bytes first = enter(walk, kind::lnet_header, kLnetHeader);
    if (first.empty()) return;
    if (static_cast<LnetMessage>(read(first, kDoes)) == LnetMessage::put) return ulp::walk_lustre(walk);
    add_data(walk);
}

void walk_body(Walk& walk, LnetType type) {
    switch (type) {
        case LnetType::connection_request:
        case LnetType::connection_ack: static_cast<void>(entered(walk, kind::lnet_connect)); return;
        case LnetType::immediate: return walk_immediate(walk);
        case LnetType::put_request:
            if (entered(walk, kind::lnet_header)) static_cast<void>(entered(walk, kind::lnet_cookie));
            return;
        case LnetType::put_ack:
            if (entered(walk, kind::lnet_put_ack)) walk_memory(walk);
            return;
        case LnetType::get_request:
            if (entered(walk, kind::lnet_header) && entered(walk, kind::lnet_cookie)) walk_memory(walk);
            return;
        case LnetType::put_nak:
        case LnetType::put_done:
        case LnetType::get_done: static_cast<void>(entered(walk, kind::lnet_completion)); return;
        case LnetType::noop: break;
    }
    add_data(walk);
}

}  // namespace

LnetOrder lnet_order(Bytes message) {
    if (message.size() < kLnetIb) return LnetOrder::none;
    for (const LnetOrder order : {LnetOrder::little, LnetOrder::big}) {
        const auto number = [&](Field field) {
            field.little = order == LnetOrder::little;
            return read(message, field);
        };
        constexpr std::uint64_t kOldest = 0x11, kNewest = 0x12;
        if (number(kMagic) != kLnetMagic || number(kVersion) < kOldest || number(kVersion) > kNewest) continue;
        const std::uint64_t type = number(kType);
        if (std::ranges::find(kLnetTypes, type, &ValueName::value) != kLnetTypes.end()) return order;
    }
    return LnetOrder::none;
}

namespace ulp {

void walk_lnet(Walk& walk, const UlpHint&) {
    const Bytes message = slice(walk.header(), 0, walk.left());
    const LnetOrder order = lnet_order(message);
    if (order == LnetOrder::none) return add_data(walk);
    const Bytes first = enter(walk, order == LnetOrder::little ? kind::lnet_ib : kind::lnet_ib_big, kLnetIb);
    if (first.empty()) return;
    if (order == LnetOrder::big) return add_data(walk);
    walk_body(walk, static_cast<LnetType>(read(first, kType)));
}

void walk_lnet_private(Walk& walk, const UlpHint& hint, LayerKind) {
    if (lnet_order(slice(walk.header(), 0, walk.left())) != LnetOrder::none) walk_lnet(walk, hint);
}

}  // namespace ulp

}  // namespace qps::dissect
