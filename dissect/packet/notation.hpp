// The one-line notation of a packet: what `packets` prints, tests compare and scripts will read.
//
//   RC_RDMA_WRITE_FIRST qp=17 psn=4711 va=0x00007f3a00001000 rkey=0x00001234 dmalen=8192 len=1024
//   RC_ACKNOWLEDGE qp=18 psn=4718 nak=PSN_SEQUENCE_ERROR msn=3
//   UD_SEND_ONLY qp=1 psn=0 qkey=0x80010000 srcqp=1 class=CM method=Send attr=REQ comm=0x01234567 ...
//
// A name, then key=value words and bare flags, in the order of the layers. One table says which field has which key.
#pragma once

#include <dissect/base/packet.hpp>

#include <span>
#include <string>

namespace qps::dissect {

// When a word is worth its place in the line.
enum class Mention : std::uint8_t {
    always,   // key=value
    set,      // the bare key, where the value is not 0
    unusual,  // key=value, where the value is not the usual one
};

struct Word {
    LayerKind kind;
    std::string_view field;
    std::string_view key;
    Mention mention = Mention::always;
    std::uint64_t usual = 0;
};

[[nodiscard]] std::span<const Word> words();

// Appends the line, without a line end.
void append_line(std::string& out, const Packet& packet);

// Of one layer alone: " va=0x1000 rkey=0x12"; nothing where it has no words.
void append_words_of_layer(std::string& out, const Packet& packet, const Layer& layer);

// Where the packet comes from and goes to, by its innermost network layer: addresses, GIDs, LIDs, else MAC addresses;
// empty where the frame has none.
void append_source(std::string& out, const Packet& packet);
void append_destination(std::string& out, const Packet& packet);

// "RoCEv2", "RoCEv1", "InfiniBand", "TCP", "ARP", ...: the short name of what the packet is.
[[nodiscard]] std::string_view protocol(const Packet& packet);

}  // namespace qps::dissect
