// Rsocket: a stream of bytes between two buffers, as rsockets of librdmacm have it on InfiniBand and RoCE (not as on
// iWARP).
//
//   Both show memory when they connect (40 bytes of private data, big-endian):
//      0  1  version, 1            1  1  flags: 1 big-endian host, 2 has an I/O map   2  2  credits
//      4  3  0                     7  1  size of the I/O map
//      8 16  where the peer's offers go: address 8, key 4, number of entries 4 (two, used in turn, from the second on)
//     24 16  where data goes first: address 8, key 4, length 4 (half of the receive buffer)
//   Everything after that is WRITE with immediate; the highest three bits of the immediate say what it is:
//      0  data: as many bytes as the rest of the immediate says, behind the last in the memory that was offered
//      4  credits: the rest is how many messages of data may have been sent at all, 16 bits; with 16 bytes of payload
//      another
//         half of the buffer is offered, as an entry in the host order of who gets it: address 8, key 4, length 4
//      6  an entry of the I/O map, in place `rest` behind the offers, in the host order of who gets it: offset 8,
//      address 8, key 4,
//         length 4. What lies there may be written directly (riowrite), by WRITEs that say nothing (ignored unless
//         expect_map())
//      7  control: 0 disconnect, 1 keepalive, 2 nothing more to send
//
// Invariant: what is offered was taken; what is sent lies in what was offered, and is not touched before it was
// acknowledged.
//
// The peer says where our data goes: it is its memory, and its loss. What it says of its own data must fit what we
// offered, or the connection ends. Nothing grows: kStreamReceives messages wait at most.
#pragma once

#include <transport-replay/live/peers/link.hpp>
#include <transport-replay/queue_pair/ring.hpp>

namespace qps::transport::live::peers {

inline constexpr std::uint32_t kStreamReceives = 384;     // messages, as the original
inline constexpr std::uint32_t kStreamSends = 64;         // messages of data under way
inline constexpr std::uint32_t kStreamControls = 4;       // and beside them; as the original
inline constexpr std::size_t kStreamBuffer = 1U << 18;    // bytes, each way; two halves are offered in turn
inline constexpr std::uint32_t kLongestPiece = 1U << 16;  // bytes of a message, as the original
inline constexpr std::size_t kRsocketData = 40;           // private data

// Memory that one side shows the other, to be written directly.
struct IoMap {
    std::uint64_t offset = 0;  // by which the program calls it
    std::uint64_t address = 0;
    dissect::Rkey key{};
    std::uint32_t length = 0;
};

class Rsocket {
public:
    [[nodiscard]] static QueueNeeds needs();
    // The blocks; what is said beside request or reply.
    [[nodiscard]] verbs::Result<CmPrivateBytes> prepare(const PeerContext& context);
    void close(const PeerContext& context);
    // What is wrong with what a peer says beside its request or reply.
    [[nodiscard]] static std::optional<std::string> judge(dissect::Bytes said);
    // Of what judge() had nothing against: the order of its host; whether it has place for a piece of our memory.
    [[nodiscard]] static bool is_big_endian(dissect::Bytes said);
    [[nodiscard]] static bool takes_map(dissect::Bytes said);
    // The peer may show one piece of its memory, and another instead later. Before prepare().
    void expect_map() { expects_map_ = true; }
    // What the peer said and judge() had nothing against.
    void connect(dissect::Bytes said);

    // A completion. What is wrong is a failure of the link.
    void done(const PeerContext& context, Link& link, const Done& done);
    // Bytes that arrived, as many as lie together; and that they were looked at.
    [[nodiscard]] dissect::Bytes readable() const;
    void take(std::size_t bytes);
    // Room for bytes to send, as much as lies together and may go now; and that so many of them are to go.
    [[nodiscard]] dissect::MutableBytes writable() const;
    void send(const PeerContext& context, Link& link, std::size_t bytes);
    // How often the peer showed memory, and what last: its words.
    [[nodiscard]] std::uint64_t maps() const { return maps_; }
    [[nodiscard]] IoMap map() const;
    // Shows the peer memory of ours, at offset 0. False: not yet.
    bool show(const PeerContext& context, Link& link, const Block& block);
    // WRITEs a piece directly, which stays as it is until writing() says that it is acknowledged: how many are not.
    [[nodiscard]] bool may_write() const { return connected_ && !shutting_ && pieces_ + writing_ < kStreamSends; }
    void write(const PeerContext& context, Link& link, const verbs::Sge& piece, const verbs::Remote& to);
    [[nodiscard]] std::uint32_t writing() const { return writing_; }
    // Credits and farewells that are due. To be called after take() and when everything else was done.
    void tend(const PeerContext& context, Link& link);
    // Nothing more will be sent or read: says so to the peer, and finishes the link.
    void shut() { shutting_ = true; }
    [[nodiscard]] bool peer_left() const { return peer_left_; }

private:
    void take_data(Link& link, const verbs::Wc& wc, std::uint32_t length);
    void give_credits(const PeerContext& context, Link& link);
    void say(const PeerContext& context, Link& link, std::uint32_t said, dissect::Bytes entry);

    Block receive_;  // where the peer writes data
    Block send_;     // what is under way
    Block offers_;   // where the peer writes what it offers
    Block control_;  // what we offer

    // What the peer offers us.
    std::uint32_t entry_ = 0;         // of offers_, that data goes into
    std::uint16_t sent_ = 0;          // messages of data
    std::uint16_t may_send_ = 0;      // the same number that ends it
    std::size_t write_at_ = 0;        // in send_
    std::size_t unacknowledged_ = 0;  // bytes in send_
    std::uint32_t pieces_ = 0;        // messages of data under way
    std::uint32_t controls_ = 0;      // and others
    std::uint32_t writing_ = 0;       // WRITEs of the program
    std::uint64_t maps_ = 0;

    // What we offer the peer.
    std::uint64_t its_offers_ = 0;
    dissect::Rkey its_key_{};
    std::uint32_t its_entries_ = 0;
    std::uint32_t its_entry_ = 1;
    bool its_order_is_big_ = false;
    Ring<std::uint32_t> waiting_;  // lengths of messages that nobody took
    std::size_t read_at_ = 0;      // in receive_
    std::size_t arrive_at_ = 0;
    std::size_t offered_ = 0;   // bytes that may still arrive
    std::size_t offer_at_ = 0;  // the half that is offered next
    std::size_t taken_ = 0;     // bytes that were taken and are not offered again
    std::uint16_t taken_messages_ = 0;
    std::uint16_t credits_due_ = 0;  // at so many taken

    bool expects_map_ = false;
    bool connected_ = false;
    bool shutting_ = false;
    bool said_so_ = false;
    bool peer_left_ = false;
};

}  // namespace qps::transport::live::peers
