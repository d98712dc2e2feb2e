// Messages of RPC over RDMA as layers: values, what is not there because chunks carry it, and messages that end
// anywhere.
#include <dissect/base/field.hpp>
#include <dissect/packet/render_value.hpp>
#include <dissect/ulp/nfs.hpp>
#include <dissect/ulp/rpc_rdma.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/rpc_messages.hpp>

#include <memory>

using namespace qps::dissect;
using namespace qps::tests;
namespace calls = qps::tests::rpc_messages;

namespace {

// A message in a block of exactly its size, decoded.
struct RpcDecoded {
    explicit RpcDecoded(const std::vector<std::byte>& bytes, RpcDetail detail = RpcDetail::unknown,
                        std::size_t length = SIZE_MAX)
        : size(std::min(length, bytes.size())), block(std::make_unique<std::byte[]>(size)) {
        std::copy_n(bytes.begin(), size, block.get());
        decode_message({block.get(), size}, {UlpProtocol::rpc_rdma, true, std::to_underlying(detail)}, packet);
    }
    // All values of that name, with commas between.
    [[nodiscard]] std::string values(std::string_view name) const {
        std::string text;
        for (const Layer& layer : packet.layers())
            for (const Field& field : header(layer.kind).fields) {
                if (field.name != name) continue;
                const auto value = value_of(packet, layer, field);
                if (!value) continue;
                if (!text.empty()) text += ',';
                append_plain(text, field, *value);
            }
        return text;
    }
    [[nodiscard]] std::string layers() const {
        std::string text;
        for (const Layer& layer : packet.layers())
            text += (text.empty() ? "" : " ") + std::string(header(layer.kind).name);
        return text;
    }
    // Layers follow each other without a gap to the end.
    [[nodiscard]] bool covers_all() const {
        std::size_t next = 0;
        for (const Layer& layer : packet.layers()) {
            if (layer.offset != next) return false;
            next += layer.length;
        }
        return next == size;
    }

    std::size_t size;
    std::unique_ptr<std::byte[]> block;
    Packet packet;
};

std::vector<std::vector<std::byte>> all_messages() {
    return {calls::read_call(1),        calls::read_reply(1),       calls::write_call(2),
            calls::write_reply(2, 0),   calls::write_reply(2, 28),  calls::lookup3_call(3),
            calls::status3_reply(3, 2), calls::recall_call(4),      calls::recall_reply(4),
            calls::long_answer_call(5), calls::long_answer(5, 200), calls::long_call(6, 1 << 12),
            calls::error(7, 1),         calls::error(7, 2)};
}

}  // namespace

TEST_CASE("a READ of NFSv4 is walked from operation to operation, its chunk and its credits are told") {
    const RpcDecoded call(calls::read_call(0x1234));
    CHECK(call.values("rpcordma.xid") == "4660");
    CHECK(call.values("rpcordma.flow_control") == "32");
    CHECK(call.values("rpcordma.reads_count") == "0");
    CHECK(call.values("rpcordma.writes_count") == "1");
    CHECK(call.values("rpcordma.reply_count") == "0");
    CHECK(call.values("rpcordma.rdma_handle") == "17");
    CHECK(call.values("rpcordma.rdma_offset") == "4096");
    CHECK(call.values("rpc.program") == "100003");
    CHECK(call.values("rpc.auth.flavor") == "1,0");
    CHECK(call.values("rpc.auth.machinename") == "host");
    CHECK(call.values("rpc.auth.uid") == "1000");
    CHECK(call.values("nfs.procedure_v4") == "1");
    CHECK(call.values("nfs.procedure_v3") == "");
    CHECK(call.values("nfs.minorversion") == "2");
    CHECK(call.values("nfs.ops.count") == "4");
    CHECK(call.values("nfs.opcode") == "53,22,25,9");
    CHECK(call.values("nfs.main_opcode") == "25");
    CHECK(call.values("nfs.offset4") == "8192");
    CHECK(call.values("nfs.count4") == "4096");
    CHECK(call.values("nfs.slotid") == "2");
    CHECK(call.covers_all());
    CHECK(
        call.layers() ==
        "rpcordma rpcordma.list_end rpcordma.write rpcordma.segment rpcordma.list_end rpcordma.list_end rpc rpc.auth rpc.auth nfs "
        "nfs.operation nfs.operation nfs.operation nfs.operation");

    const RpcDecoded reply(calls::read_reply(0x1234));
    CHECK(reply.values("rpc.state_accept") == "0");
    CHECK(reply.values("nfs.status") == "0,0,0,0,0");
    CHECK(reply.values("nfs.opcode") == "53,22,25,9");  // though the data of READ is not there
    CHECK(reply.covers_all());
}

TEST_CASE("data that a read chunk carries is left out where its position says so") {
    const RpcDecoded call(calls::write_call(7));
    CHECK(call.values("rpcordma.reads_count") == "1");
    CHECK(call.values("nfs.opcode") == "53,22,38,9");
    CHECK(call.values("nfs.offset4") == "65536");
    CHECK(call.covers_all());

    // Another position: the data would have to be here.
    std::vector<std::byte> other = calls::write_call(7);
    other[23] = std::byte{4};
    CHECK(RpcDecoded(other).values("nfs.opcode") == "53,22");
    CHECK(RpcDecoded(other).covers_all());
}

TEST_CASE("what an answer is to is said by who followed the connection, or guessed") {
    CHECK(RpcDecoded(calls::write_reply(1, 28)).values("nfs.status") == "28,0,0,28");
    CHECK(RpcDecoded(calls::write_reply(1, 28), RpcDetail::compound).values("nfs.opcode") == "53,22,38");
    CHECK(RpcDecoded(calls::write_reply(1, 28), RpcDetail::procedure).values("nfs.status") == "28");
    CHECK(RpcDecoded(calls::write_reply(1, 28), RpcDetail::procedure).values("nfs.opcode") == "");
    CHECK(RpcDecoded(calls::write_reply(1, 28), RpcDetail::other).values("nfs.status") == "");
    CHECK(RpcDecoded(calls::status3_reply(1, 2)).values("nfs.status") == "2");
    CHECK(RpcDecoded(calls::status3_reply(1, 2), RpcDetail::compound).values("nfs.status") == "");
}

TEST_CASE("NFSv3 tells its procedure, handle and name") {
    const RpcDecoded call(calls::lookup3_call(9));
    CHECK(call.values("nfs.procedure_v3") == "3");
    CHECK(call.values("nfs.procedure_v4") == "");
    CHECK(call.values("nfs.name") == "motd");
    CHECK(call.values("nfs.status") == "");
    CHECK(call.covers_all());
}

TEST_CASE("operations of callbacks have their own names") {
    const RpcDecoded call(calls::recall_call(9));
    CHECK(call.values("nfs.cb_procedure") == "1");
    CHECK(call.values("nfs.cb.operation") == "11,4");
    CHECK(call.values("nfs.opcode") == "");
    const RpcDecoded reply(calls::recall_reply(9));
    CHECK(reply.values("nfs.cb.operation") == "11,4");
    CHECK(reply.values("nfs.opcode") == "");
}

TEST_CASE("errors of the transport and of RPC are told") {
    CHECK(RpcDecoded(calls::error(1, 2)).values("rpcordma.errcode") == "2");
    CHECK(RpcDecoded(calls::error(1, 2)).values("rpcordma.vers_low") == "");
    CHECK(RpcDecoded(calls::error(1, 1)).values("rpcordma.vers_high") == "1");
    MessageWriter denied = calls::inline_message(5, 1);
    denied.words({5, 1, 1, 1, 13});
    CHECK(RpcDecoded(denied.bytes()).values("rpc.state_auth") == "13");
    CHECK(RpcDecoded(denied.bytes()).values("rpc.version.min") == "");
    MessageWriter mismatch = calls::inline_message(5, 1);
    mismatch.words({5, 1, 1, 0, 2, 2});
    CHECK(RpcDecoded(mismatch.bytes()).values("rpc.version.max") == "2");
    MessageWriter program = calls::inline_message(5, 1);
    program.words({5, 1, 0, 0, 0, 2, 3, 4});
    CHECK(RpcDecoded(program.bytes()).values("rpc.programversion.max") == "4");
    CHECK(RpcDecoded(program.bytes()).covers_all());
}

TEST_CASE("messages of RPC over RDMA may end anywhere") {
    for (const auto& message : all_messages())
        for (std::size_t length = 0; length <= message.size(); ++length) {
            const RpcDecoded decoded(message, RpcDetail::unknown, length);
            INFO(length << " of " << message.size());
            CHECK((length == 0 || decoded.covers_all()));
            for (const Layer& layer : decoded.packet.layers())
                for (const Field& field : header(layer.kind).fields) (void)value_of(decoded.packet, layer, field);
        }
}

TEST_CASE("a list of chunks longer than there is room for keeps what follows it") {
    MessageWriter message = calls::transport(1, 32, 0);
    message.words({0, 1, 40});
    for (std::uint32_t i = 0; i < 40; ++i) message.words({i, 4096, 0, i});
    message.words({0, 0});
    message.add(calls::call(1, calls::kNfs, 4, 0).bytes());
    const RpcDecoded decoded(message.bytes());
    CHECK(decoded.values("nfs.procedure_v4") == "0");
    CHECK(decoded.covers_all());
}

TEST_CASE("chunk lists and COMPOUNDs that lie end the walk") {
    MessageWriter endless = calls::transport(1, 32, 0);
    endless.words({0, 1, 0xffffffff, 1, 2, 3, 4});
    CHECK(RpcDecoded(endless.bytes()).values("rpc.xid") == "");
    CHECK(RpcDecoded(endless.bytes()).covers_all());
    MessageWriter many = calls::inline_message(1, 32);
    many.add(calls::call(1, calls::kNfs, 4, 1).bytes()).words({0, 2, 0xffffffff, 24});
    CHECK(RpcDecoded(many.bytes()).values("nfs.ops.count") == "");
    CHECK(RpcDecoded(many.bytes()).covers_all());
}

TEST_CASE("every pattern of NFS's operations is one that can be walked") {
    const auto zeros = std::vector<std::byte>(4096);
    const auto check = [&](std::string_view pattern, std::string_view name) {
        if (pattern == "!") return;
        INFO(name << " " << pattern);
        Xdr xdr(zeros);
        ReducedItems none;
        XdrMarks marks;
        (void)walk_xdr(pattern, xdr, none, marks);
        // Zeros are no case of a few unions; everything else can be read as zeros.
        CHECK((xdr.ok() || pattern.contains('{')));
    };
    for (const nfs::Operation& operation : nfs::kOperations)
        for (const auto pattern : {operation.arguments, operation.results, operation.failure})
            check(pattern, operation.name);
    for (const nfs::Operation& operation : nfs::kCallbackOperations)
        for (const auto pattern : {operation.arguments, operation.results, operation.failure})
            check(pattern, operation.name);
}

TEST_CASE("XDR patterns read what RFC 4506 says") {
    MessageWriter bytes;
    bytes.words({2, 7, 8, 1, 5, 1, 6, 0, 3}).opaque("abcde").words({9});
    Xdr xdr(bytes.bytes());
    ReducedItems none;
    XdrMarks marks;
    CHECK(walk_xdr("[i](i){1:x|3:Ni}", xdr, none, marks));
    CHECK(xdr.at() == bytes.bytes().size());
    REQUIRE(marks.find('N') != nullptr);
    CHECK(marks.find('N')->length == 5);
    Xdr again(bytes.bytes());
    CHECK_FALSE(walk_xdr("[i](i){1:x|2:Ni}", again, none, marks));
    Xdr endless(bytes.bytes());
    CHECK_FALSE(walk_xdr("[[i]]", endless, none, marks));
}
