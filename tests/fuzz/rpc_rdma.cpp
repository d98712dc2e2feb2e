// Fuzzer: bytes as messages and transfers of a connection that speaks RPC over RDMA: each is decoded, with every detail, and followed.
// Layers cover the message without a gap, and what is open stays within its bounds.
#include <dissect/field.hpp>
#include <dissect/ulp/upper.hpp>
#include <tests/fuzz/bytewise.hpp>
#include <tests/support/upper_talk.hpp>

#include <cstdlib>

namespace {

using namespace qps::dissect;
using namespace qps::transport;

void show(Bytes message, std::uint8_t detail) {
    Packet packet;
    decode_message(message, {UpperProtocol::rpc_rdma, (detail & 1) != 0, detail}, packet);
    std::size_t next = 0;
    for (const Layer& layer : packet.layers()) {
        if (layer.offset != next) std::abort();
        next += layer.length;
        for (const Field& field : header(layer.kind).fields) (void)value_of(packet, layer, field);
    }
    if (next != message.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    qps::fuzz::Bytewise input{std::span(data, size)};
    UpperHints hints;
    if ((input.byte() & 1) != 0) hints[1] = UpperProtocol::rpc_rdma;
    qps::tests::UpperTalk talk(std::move(hints));
    constexpr std::uint8_t kDetails = 7;
    while (!input.empty()) {
        const std::uint8_t what = input.byte();
        const End from = (what & 1) != 0 ? End::a : End::b;
        const std::size_t length = (std::size_t{input.byte()} << 8U | input.byte()) & 0x7ffU;
        const auto taken = std::as_bytes(input.take(length));
        if ((what & 6) == 6) {
            const RemoteAccess memory{std::uint64_t{input.byte()} << 8U, Rkey{input.byte()}, input.byte() * 64U};
            talk.move(from, (what & 8) != 0, memory, taken.size(), taken);
            continue;
        }
        show(taken, what % kDetails);
        talk.say(from, {taken.begin(), taken.end()});
    }
    talk.finish();
    for (const UpperConversation& conversation : talk.report.conversations)
        if (conversation.facts.size() > kMaxFacts) std::abort();
    return 0;
}
