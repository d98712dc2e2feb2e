// The walk over an iSER message, and over the private data of its connections.
#include <dissect/ulp/iser.hpp>
#include <dissect/ulp/walks.hpp>

namespace qps::dissect::ulp {

void walk_iser(Walk& walk, const UlpHint&) {
    const std::uint64_t type = read(slice(walk.header(), 0, 1), named(iser::kControlFields, "iser.flags.opcode"));
    if (type == iser::kHello || type == iser::kHelloReply) {
        if (!enter(walk, kind::iser_hello, iser::kHeader).empty()) add_data(walk);
        return;
    }
    if (type != iser::kControlType) return;  // not iSER: data stays what it was
    if (!enter(walk, kind::iser_control, iser::kHeader).empty()) walk_iscsi(walk);
}

void walk_iser_private(Walk& walk, const UlpHint&, LayerKind message) {
    if (message != LayerKind::cm_req && message != LayerKind::cm_rep) return;
    add_layer(walk.packet, kind::iser_private, walk.offset, iser::kPrivate, walk.end);
}

}  // namespace qps::dissect::ulp
