// Messages of RPC over RDMA with NFS in them, as clients and servers of Linux send them.
#pragma once

#include <tests/support/message_writer.hpp>

namespace qps::tests::rpc_messages {

inline constexpr std::uint32_t kNfs = 100003;
inline constexpr std::uint32_t kCallback = 0x40000000;

// Transport header and empty chunk lists.
inline MessageWriter transport(std::uint32_t xid, std::uint32_t credits, std::uint32_t type) {
    MessageWriter message;
    message.words({xid, 1, credits, type});
    return message;
}
inline MessageWriter inline_message(std::uint32_t xid, std::uint32_t credits) {
    MessageWriter message = transport(xid, credits, 0);
    message.words({0, 0, 0});
    return message;
}

// Call with AUTH_SYS of the machine "host".
inline MessageWriter call(std::uint32_t xid, std::uint32_t program, std::uint32_t version, std::uint32_t procedure) {
    MessageWriter rpc;
    rpc.words({xid, 0, 2, program, version, procedure});
    rpc.words({1, 24, 7}).opaque("host").words({1000, 100, 0});
    rpc.words({0, 0});
    return rpc;
}
inline MessageWriter accepted(std::uint32_t xid, std::uint32_t state = 0) {
    MessageWriter rpc;
    rpc.words({xid, 1, 0, 0, 0, state});
    return rpc;
}

inline void sequence(MessageWriter& rpc) { rpc.words({53, 1, 2, 3, 4, 9, 2, 29, 0}); }
inline void sequence_result(MessageWriter& rpc) { rpc.words({53, 0, 1, 2, 3, 4, 9, 2, 29, 29, 0}); }
inline void put_handle(MessageWriter& rpc) { rpc.words({22}).opaque("handle12"); }

// SEQUENCE PUTFH READ GETATTR, with a write chunk for the data.
inline std::vector<std::byte> read_call(std::uint32_t xid, std::uint32_t credits = 32) {
    MessageWriter message = transport(xid, credits, 0);
    message.words({0, 1, 1, 0x11, 4096, 0, 0x1000, 0, 0});
    MessageWriter rpc = call(xid, kNfs, 4, 1);
    rpc.words({0, 2, 4});
    sequence(rpc);
    put_handle(rpc);
    rpc.words({25}).zeros(16).hyper(8192).words({4096});
    rpc.words({9, 1, 0x18});
    return message.add(rpc.bytes()).bytes();
}
// Its data was WRITten: only the length is here.
inline std::vector<std::byte> read_reply(std::uint32_t xid, std::uint32_t credits = 32) {
    MessageWriter message = transport(xid, credits, 0);
    message.words({0, 1, 1, 0x11, 4096, 0, 0x1000, 0, 0});
    MessageWriter rpc = accepted(xid);
    rpc.words({0, 0, 4});
    sequence_result(rpc);
    rpc.words({22, 0, 25, 0, 1, 4096});
    rpc.words({9, 0, 1, 0x18, 16, 0, 1, 0, 2});
    return message.add(rpc.bytes()).bytes();
}
// SEQUENCE PUTFH WRITE GETATTR, its data in a read chunk.
inline std::vector<std::byte> write_call(std::uint32_t xid) {
    MessageWriter rpc = call(xid, kNfs, 4, 1);
    rpc.words({0, 2, 4});
    sequence(rpc);
    put_handle(rpc);
    rpc.words({38}).zeros(16).hyper(65536).words({2, 8192});
    const auto position = static_cast<std::uint32_t>(rpc.bytes().size());
    rpc.words({9, 1, 0x18});
    MessageWriter message = transport(xid, 32, 0);
    message.words({1, position, 0x22, 8192, 0, 0x2000, 0, 0, 0});
    return message.add(rpc.bytes()).bytes();
}
inline std::vector<std::byte> write_reply(std::uint32_t xid, std::uint32_t status) {
    MessageWriter message = inline_message(xid, 32);
    MessageWriter rpc = accepted(xid);
    rpc.words({status, 0, 3});
    sequence_result(rpc);
    rpc.words({22, 0, 38, status});
    if (status == 0) rpc.words({8192, 2}).zeros(8);
    return message.add(rpc.bytes()).bytes();
}
// NFSv3 LOOKUP of "motd".
inline std::vector<std::byte> lookup3_call(std::uint32_t xid) {
    MessageWriter rpc = call(xid, kNfs, 3, 3);
    rpc.opaque("directory123").opaque("motd");
    MessageWriter message = inline_message(xid, 32);
    return message.add(rpc.bytes()).bytes();
}
inline std::vector<std::byte> status3_reply(std::uint32_t xid, std::uint32_t status) {
    MessageWriter rpc = accepted(xid);
    rpc.words({status, 0});
    MessageWriter message = inline_message(xid, 32);
    return message.add(rpc.bytes()).bytes();
}
// CB_SEQUENCE CB_RECALL, from the server.
inline std::vector<std::byte> recall_call(std::uint32_t xid) {
    MessageWriter rpc = call(xid, kCallback, 1, 1);
    rpc.words({0, 1, 0, 2});
    rpc.words({11, 1, 2, 3, 4, 5, 0, 0, 0, 0});
    rpc.words({4}).zeros(16).words({0}).opaque("handle12");
    MessageWriter message = inline_message(xid, 8);
    return message.add(rpc.bytes()).bytes();
}
inline std::vector<std::byte> recall_reply(std::uint32_t xid) {
    MessageWriter rpc = accepted(xid);
    rpc.words({0, 0, 2, 11, 0, 1, 2, 3, 4, 5, 0, 0, 0, 4, 0});
    MessageWriter message = inline_message(xid, 8);
    return message.add(rpc.bytes()).bytes();
}
// A call whose answer will be long: READDIR with a reply chunk; and the answer that says it is there.
inline std::vector<std::byte> long_answer_call(std::uint32_t xid) {
    MessageWriter rpc = call(xid, kNfs, 4, 1);
    rpc.words({0, 2, 2});
    put_handle(rpc);
    rpc.words({26}).hyper(0).zeros(8).words({4096, 4096, 1, 0x18});
    MessageWriter message = transport(xid, 32, 0);
    message.words({0, 0, 1, 1, 0x33, 8192, 0, 0x3000});
    return message.add(rpc.bytes()).bytes();
}
inline std::vector<std::byte> long_answer(std::uint32_t xid, std::uint32_t length) {
    return transport(xid, 32, 1).words({0, 0, 1, 1, 0x33, length, 0, 0x3000}).bytes();
}
// A call that is all in a chunk.
inline std::vector<std::byte> long_call(std::uint32_t xid, std::uint32_t length) {
    return transport(xid, 32, 1).words({1, 0, 0x44, length, 0, 0x4000, 0, 0, 0}).bytes();
}
inline std::vector<std::byte> error(std::uint32_t xid, std::uint32_t code) {
    MessageWriter message = transport(xid, 32, 4);
    message.words({code});
    if (code == 1) message.words({1, 1});
    return message.bytes();
}

}  // namespace qps::tests::rpc_messages
