// Field tables of LNet over InfiniBand (Lustre's o2iblnd): messages in the byte order of who sent them, told by their
// magic. The tables are little-endian; of the other order only the first header is taken apart.
#pragma once

#include <dissect/base/field.hpp>

#include <utility>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind lnet_ib = kind_in(LayerFamily::lnet, 0);
inline constexpr LayerKind lnet_ib_big = kind_in(LayerFamily::lnet, 1);
inline constexpr LayerKind lnet_connect = kind_in(LayerFamily::lnet, 2);
inline constexpr LayerKind lnet_header = kind_in(LayerFamily::lnet, 3);
inline constexpr LayerKind lnet_cookie = kind_in(LayerFamily::lnet, 4);
inline constexpr LayerKind lnet_put_ack = kind_in(LayerFamily::lnet, 5);
inline constexpr LayerKind lnet_completion = kind_in(LayerFamily::lnet, 6);
inline constexpr LayerKind lnet_memory = kind_in(LayerFamily::lnet, 7);
}  // namespace kind

inline constexpr std::uint32_t kLnetMagic = 0x0be91b91;

enum class LnetType : std::uint8_t {
    connection_request = 0xc0,
    connection_ack = 0xc1,
    noop = 0xd0,
    immediate = 0xd1,
    put_request = 0xd2,
    put_nak = 0xd3,
    put_ack = 0xd4,
    put_done = 0xd5,
    get_request = 0xd6,
    get_done = 0xd7,
};
inline constexpr std::array kLnetTypes{
    ValueName{0xc0, "CONNREQ"}, ValueName{0xc1, "CONNACK"},  ValueName{0xd0, "NOOP"},    ValueName{0xd1, "IMMEDIATE"},
    ValueName{0xd2, "PUT_REQ"}, ValueName{0xd3, "PUT_NAK"},  ValueName{0xd4, "PUT_ACK"}, ValueName{0xd5, "PUT_DONE"},
    ValueName{0xd6, "GET_REQ"}, ValueName{0xd7, "GET_DONE"},
};
inline constexpr std::array kLnetNetworks{ValueName{1, "qsw"},    ValueName{2, "tcp"},  ValueName{3, "gm"},
                                          ValueName{4, "openib"}, ValueName{5, "o2ib"}, ValueName{9, "lo"},
                                          ValueName{10, "ra"},    ValueName{13, "gni"}, ValueName{14, "gip"},
                                          ValueName{15, "ptl4"},  ValueName{16, "kfi"}};

inline constexpr std::array kLnetIbFields{
    row::hex("lnet.ib.magic", "Magic number", at(0), 32).le(),
    row::hex("lnet.ib.version", "Version", at(4), 16).le(),
    row::hex("lnet.ib.type", "Type of the message", at(6), 8).le().named(kLnetTypes),
    row::decimal("lnet.ib.credits", "Credits returned", at(7), 8).le(),
    row::decimal("lnet.ib.nob", "Bytes of the whole message", at(8), 32).le().in("bytes"),
    row::decimal("lnet.ksm_csum", "Checksum, 0: none", at(12), 32).le(),
    row::ipv4("lnet.nid.addr", "Address of the source", at(16)).le(),
    row::decimal("lnet.nid.net_interface", "Network number of the source", at(20), 16).le(),
    row::decimal("lnet.nid.type", "Network type of the source", at(22), 16).le().named(kLnetNetworks),
    row::hex("rdma.lnet.ib.srcstamp", "Incarnation of the source", at(24), 64).le(),
    row::ipv4("lnet.nid.addr", "Address of the destination", at(32)).le(),
    row::decimal("lnet.nid.net_interface", "Network number of the destination", at(36), 16).le(),
    row::decimal("lnet.nid.type", "Network type of the destination", at(38), 16).le().named(kLnetNetworks),
    row::hex("rdma.lnet.ib.dststamp", "Incarnation of the destination, as the source knows it", at(40), 64).le(),
};
inline constexpr std::size_t kLnetIb = 48;
static_assert(tiles(kLnetIbFields, kLnetIb));

// The same rows, most significant byte first. All of them are whole bytes, so their places are the same, but for the
// parts of an address, which is one number of 64 bits: type, number and address change their order.
template <std::size_t N> [[nodiscard]] consteval std::array<Field, N> big_endian(std::array<Field, N> fields) {
    for (std::size_t i = 0; i < N; ++i) {
        fields[i].little = false;
        if (fields[i].name != "lnet.nid.type") continue;
        const std::uint16_t bit = fields[i - 2].bit;
        std::swap(fields[i], fields[i - 2]);
        fields[i - 2].bit = bit;
        fields[i - 1].bit = static_cast<std::uint16_t>(bit + 16);
        fields[i].bit = static_cast<std::uint16_t>(bit + 32);
    }
    return fields;
}
inline constexpr std::array kLnetIbBigFields = big_endian(kLnetIbFields);
static_assert(tiles(kLnetIbBigFields, kLnetIb));

inline constexpr std::array kLnetConnectFields{
    row::decimal("lnet.connparam.qdepth", "Messages that may be on their way", at(0), 16).le(),
    row::decimal("lnet.connparam.max_frags", "Pieces of memory that a message may name", at(2), 16).le(),
    row::decimal("lnet.connparam.max_size", "Longest message", at(4), 32).le().in("bytes"),
};
inline constexpr std::size_t kLnetConnect = 8;
static_assert(tiles(kLnetConnectFields, kLnetConnect));

enum class LnetMessage : std::uint32_t { ack, put, get, reply, hello };
inline constexpr std::array kLnetMessages{ValueName{0, "ACK"}, ValueName{1, "PUT"}, ValueName{2, "GET"},
                                          ValueName{3, "REPLY"}, ValueName{4, "HELLO"}};
inline constexpr std::array kLnetPortals{
    ValueName{1, "CONNMGR_REQUEST"},
    ValueName{2, "CONNMGR_REPLY"},
    ValueName{4, "OSC_REPLY"},
    ValueName{6, "OST_IO"},
    ValueName{7, "OST_CREATE"},
    ValueName{8, "OST_BULK"},
    ValueName{10, "MDC_REPLY"},
    ValueName{12, "MDS_REQUEST"},
    ValueName{13, "MDS_IO"},
    ValueName{14, "MDS_BULK"},
    ValueName{15, "LDLM_CB_REQUEST"},
    ValueName{16, "LDLM_CB_REPLY"},
    ValueName{17, "LDLM_CANCEL_REQUEST"},
    ValueName{22, "MDS_SETATTR"},
    ValueName{23, "MDS_READPAGE"},
    ValueName{24, "OUT"},
    ValueName{25, "MGC_REPLY"},
    ValueName{26, "MGS_REQUEST"},
    ValueName{28, "OST_REQUEST"},
    ValueName{33, "MGS_BULK"},
};

inline constexpr std::uint16_t kLnetMessageAt = at(24);
inline constexpr std::array kLnetHeaderFields{
    row::ipv4("lnet.nid.addr", "Address of the destination", at(0)).le(),
    row::decimal("lnet.nid.net_interface", "Network number of the destination", at(4), 16).le(),
    row::decimal("lnet.nid.type", "Network type of the destination", at(6), 16).le().named(kLnetNetworks),
    row::ipv4("lnet.nid.addr", "Address of the source", at(8)).le(),
    row::decimal("lnet.nid.net_interface", "Network number of the source", at(12), 16).le(),
    row::decimal("lnet.nid.type", "Network type of the source", at(14), 16).le().named(kLnetNetworks),
    row::decimal("lnet.dest_pid", "Process of the destination", at(16), 32).le(),
    row::decimal("lnet.src_pid", "Process of the source", at(20), 32).le(),
    row::decimal("lnet.msg_type", "What the message does", kLnetMessageAt, 32).le().named(kLnetMessages),
    row::decimal("lnet.payload_length", "Length of its data", at(28), 32).le().in("bytes"),
    row::bytes("rdma.lnet.body", "What belongs to that kind of message", at(32), 320),
    // ACK, PUT, GET and REPLY begin with the memory descriptor that an answer is for
    row::hex("lnet.msg_dst_interface_cookie", "Memory descriptor for the answer: interface", at(32), 64).le().part(),
    row::hex("lnet.msg_dst_object_cookie", "Memory descriptor for the answer: object", at(40), 64).le().part(),
    row::hex("lnet.msg_dst_match_bits", "Match bits", at(48), 64).le().only_if(kLnetMessageAt, 32, 0).part(),
    row::decimal("lnet.msg_length", "Accepted length", at(56), 32).le().only_if(kLnetMessageAt, 32, 0).part(),
    row::hex("lnet.msg_dst_match_bits", "Match bits", at(48), 64).le().only_if(kLnetMessageAt, 32, 1).part(),
    row::hex("lnet.msg_hdr_data", "Data for the other side's event", at(56), 64)
        .le()
        .only_if(kLnetMessageAt, 32, 1)
        .part(),
    row::decimal("lnet.ptl_index", "Portal", at(64), 32).le().named(kLnetPortals).only_if(kLnetMessageAt, 32, 1).part(),
    row::decimal("lnet.offset", "Offset in the memory of the destination", at(68), 32)
        .le()
        .only_if(kLnetMessageAt, 32, 1)
        .part(),
    row::hex("lnet.msg_dst_match_bits", "Match bits", at(48), 64).le().only_if(kLnetMessageAt, 32, 2).part(),
    row::decimal("lnet.ptl_index", "Portal", at(56), 32).le().named(kLnetPortals).only_if(kLnetMessageAt, 32, 2).part(),
    row::decimal("lnet.src_offset", "Offset in the memory of the source", at(60), 32)
        .le()
        .only_if(kLnetMessageAt, 32, 2)
        .part(),
    row::decimal("lnet.sink_length", "Room for the data", at(64), 32)
        .le()
        .only_if(kLnetMessageAt, 32, 2)
        .in("bytes")
        .part(),
};
inline constexpr std::size_t kLnetHeader = 72;
static_assert(tiles(kLnetHeaderFields, kLnetHeader));

inline constexpr std::array kLnetCookieFields{
    row::hex("lnet.o2ib.cookie", "Cookie by which the answer is found", at(0), 64).le()};
static_assert(tiles(kLnetCookieFields, 8));

inline constexpr std::array kLnetPutAckFields{
    row::hex("lnet.o2ib.src_cookie", "Cookie of the request", at(0), 64).le(),
    row::hex("lnet.o2ib.dest_cookie", "Cookie for its end", at(8), 64).le(),
};
static_assert(tiles(kLnetPutAckFields, 16));

inline constexpr std::array kLnetCompletionFields{
    row::hex("lnet.o2ib.cookie", "Cookie of what ended", at(0), 64).le(),
    row::decimal("lnet.o2ib.status", "Status: 0, a length, or a negative error number", at(8), 32).le(),
};
inline constexpr std::size_t kLnetCompletion = 12;
static_assert(tiles(kLnetCompletionFields, kLnetCompletion));

// The memory a message names: a key, and pieces of 12 bytes (length, address).
inline constexpr std::array kLnetMemoryFields{
    row::hex("lnet.rdma.key", "Key of the memory", at(0), 32).le(),
    row::decimal("lnet.rdma.nfrags", "Pieces of memory", at(4), 32).le(),
    row::bytes("rdma.lnet.pieces", "Pieces: length and address each", at(8), kToEnd),
    row::decimal("lnet.rdma_frag.size", "Length of the first piece", at(8), 32).le().in("bytes").part(),
    row::hex("lnet.rdma_frag.addr", "Address of the first piece", at(12), 64).le().part(),
};
inline constexpr std::size_t kLnetMemory = 8;
inline constexpr std::size_t kLnetPiece = 12;
inline constexpr std::uint32_t kMostLnetPieces = 256;  // of o2iblnd
static_assert(tiles(kLnetMemoryFields, kLnetMemory));

inline constexpr std::array kLnetHeaders{
    Header{kind::lnet_ib, "lnet.ib", "LNet o2ib message", kLnetIb, kLnetIbFields},
    Header{kind::lnet_ib_big, "lnet.ib", "LNet o2ib message, big-endian", kLnetIb, kLnetIbBigFields},
    Header{kind::lnet_connect, "lnet.connparam", "LNet connection parameters", kLnetConnect, kLnetConnectFields},
    Header{kind::lnet_header, "lnet", "LNet header", kLnetHeader, kLnetHeaderFields},
    Header{kind::lnet_cookie, "rdma.lnet.request", "LNet request", 8, kLnetCookieFields},
    Header{kind::lnet_put_ack, "rdma.lnet.put_ack", "LNet PUT accepted", 16, kLnetPutAckFields},
    Header{kind::lnet_completion, "rdma.lnet.completion", "LNet completion", kLnetCompletion, kLnetCompletionFields},
    Header{kind::lnet_memory, "lnet.rdma", "LNet memory", kLnetMemory, kLnetMemoryFields},
};

enum class LnetOrder : std::uint8_t { none, little, big };
// By its magic number, with a version and a type that exist; `none`: no message of LNet.
[[nodiscard]] LnetOrder lnet_order(Bytes message);

}  // namespace qps::dissect
