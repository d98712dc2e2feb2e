// The structure of RPC-over-RDMA messages (RFC 8166) and of the RPC messages in them (RFC 5531): where each part lies.
// What shows them and what follows them read it here.
//
// What an attacker could feed: chunk lists of 2^32 segments, credentials that end beyond the message. Every length is
// checked against what is there; a part that is not whole is not told of.
#pragma once

#include <dissect/ulp/xdr.hpp>

#include <optional>

namespace qps::dissect {

inline constexpr std::uint32_t kRpcRdmaVersion = 1;
inline constexpr std::size_t kRpcRdmaHeaderLength = 16;

enum class RpcRdmaType : std::uint32_t { msg, nomsg, msgp, done, error };  // RFC 8166 4.2
enum class RpcRdmaError : std::uint32_t { version = 1, chunk = 2 };

struct RpcRdmaHead {
    std::uint32_t xid = 0;
    std::uint32_t version = 0;
    std::uint32_t credits = 0;  // of a call: asked for; of an answer: granted
    RpcRdmaType type{};
    std::size_t length = 0;  // of the fixed part; the chunk lists follow, of an error its code
    [[nodiscard]] bool has_lists() const { return type <= RpcRdmaType::msgp; }
};
// Nothing for less than the fixed part and for a type that does not exist.
[[nodiscard]] std::optional<RpcRdmaHead> rpc_rdma_head(Bytes message);

// One piece of the chunk lists after the other.
enum class ChunkList : std::uint8_t { read, write, reply, none };
struct ChunkPiece {
    enum class Kind : std::uint8_t { read_segment, chunk, segment, end } kind{};
    ChunkList list{};
    std::size_t offset = 0;  // from the start of the message
    std::size_t length = 0;
};
class ChunkLists {
public:
    ChunkLists(Bytes message, std::size_t at) : message_(message), at_(at) {}
    [[nodiscard]] std::optional<ChunkPiece> next();
    // All lists were walked to their ends.
    [[nodiscard]] bool whole() const { return list_ == ChunkList::none; }
    [[nodiscard]] std::size_t at() const { return at_; }

private:
    std::optional<ChunkPiece> take(ChunkPiece::Kind kind, std::size_t length);

    Bytes message_;
    std::size_t at_;
    ChunkList list_ = ChunkList::read;
    std::uint32_t segments_left_ = 0;
};

// A segment of memory, of a read chunk with its position.
struct ChunkSegment {
    std::uint32_t position = 0;
    std::uint32_t handle = 0;
    std::uint32_t length = 0;
    std::uint64_t offset = 0;
};
[[nodiscard]] ChunkSegment segment_of(Bytes message, const ChunkPiece& piece);

// Which items are not in the message because its chunks carry them.
[[nodiscard]] ReducedItems reduced_items(Bytes message, const RpcRdmaHead& head);

// UlpHint::detail: what the reconstruction of the connection says of a packet. An answer alone does not say to what.
enum class RpcDetail : std::uint8_t {
    unknown,
    compound,   // an answer to a COMPOUND of NFSv4
    callback,   // to a callback's
    procedure,  // to a procedure whose results begin with a status of NFS
    other,      // to something else
    rpc,        // memory that holds an RPC message: a call or an answer too long for a SEND
};

namespace rpc_program {
inline constexpr std::uint32_t kPortmap = 100000;
inline constexpr std::uint32_t kNfs = 100003;
inline constexpr std::uint32_t kMount = 100005;
inline constexpr std::uint32_t kLockManager = 100021;
inline constexpr std::uint32_t kStatusMonitor = 100024;
inline constexpr std::uint32_t kNfsAcl = 100227;
inline constexpr std::uint32_t kFirstTransient =
    0x40000000;  // NFSv4 clients take a number of these for callbacks (RFC 7530 16.33)
inline constexpr std::uint32_t kLastTransient = 0x5fffffff;
}  // namespace rpc_program
[[nodiscard]] constexpr bool is_callback_program(std::uint32_t program) {
    return program >= rpc_program::kFirstTransient && program <= rpc_program::kLastTransient;
}

inline constexpr std::size_t kRpcCallLength = 24;
inline constexpr std::size_t kRpcReplyLength = 12;
inline constexpr std::uint32_t kAuthSys = 1;
inline constexpr std::uint32_t kAuthGss = 6;

// Offsets count from the start of the RPC message.
struct RpcHead {
    bool call = false;
    std::uint32_t xid = 0;
    std::uint32_t version = 0;  // of a call, as all that follow
    std::uint32_t program = 0;
    std::uint32_t program_version = 0;
    std::uint32_t procedure = 0;
    std::size_t credential = 0;
    bool denied = false;       // of an answer, as all that follow
    std::uint32_t state = 0;   // accept state, or reject state
    std::uint32_t detail = 0;  // where it says so: authentication state
    std::size_t state_offset = 0;
    std::size_t verifier = 0;  // of both; 0: none
    std::size_t body = 0;      // arguments or results; the end where there are none
    bool clear = false;        // they are not wrapped by a security service
};
[[nodiscard]] std::optional<RpcHead> rpc_head(Bytes message);
// Name of the machine in credentials that begin there; empty where they have none.
[[nodiscard]] Bytes machine_name(Bytes message, std::size_t credential);

}  // namespace qps::dissect
