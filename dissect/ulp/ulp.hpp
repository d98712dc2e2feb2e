// What rides on RDMA: the protocols whose messages connections carry, and their layers in a packet or a message.
//
// A packet alone does not tell what its payload is: the reconstruction of its connection says so (UlpHint, as part of
// an Annotation), and add_ulp_layers() puts the layers in the place of the payload. A hint may be wrong, and the bytes
// are anybody's: a walk that does not understand them leaves data, never less than there was.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/base/ulp_hint.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace qps::dissect {

struct Walk;

// One row a protocol. `walk` stands at the first byte of a message; `walk_private` at the private data of the consumer
// in a CM message of that kind; `walk_data` at the first byte of memory that a WRITE or a READ response moves for an
// operation. Nothing where the protocol has none. Data is walked only where the hint has a detail: it alone tells what
// the memory holds.
struct UlpRow {
    UlpProtocol protocol{};
    std::string_view word;  // as users type it: "nvme"
    std::string_view name;  // "NVMe over RDMA"
    void (*walk)(Walk& walk, const UlpHint& hint) = nullptr;
    void (*walk_private)(Walk& walk, const UlpHint& hint, LayerKind cm_message) = nullptr;
    void (*walk_data)(Walk& walk, const UlpHint& hint) = nullptr;
};

// In the order of UlpProtocol.
[[nodiscard]] std::span<const UlpRow> ulp_rows();
[[nodiscard]] const UlpRow& info(UlpProtocol protocol);
// By its word; nothing for one that no row has.
[[nodiscard]] std::optional<UlpProtocol> ulp_protocol(std::string_view word);

// Puts the layers of the upper protocol where the payload was: of a packet that begins a message, as far as the packet
// holds it, and of a CM message's private data. Any other packet stays as it was.
void add_ulp_layers(Packet& packet, const UlpHint& hint);

// A TCP segment whose annotation names a connection has what the annotation says in a layer of its own, behind all
// others.
void add_stream_layer(Packet& packet);

// A whole message as a packet of nothing but it: trees, fields and filters work on it as on any packet. Borrows
// `message`.
void decode_message(Bytes message, const UlpHint& hint, Packet& packet);

}  // namespace qps::dissect
