// Fuzzer of NVMe over RDMA: bytes as one message under every hint, and as messages, memory and CM private data of one
// queue. What comes out must agree with itself: layers inside their bytes, no more operations than commands, nothing
// without a name.
#include <dissect/packet/render.hpp>
#include <dissect/ulp/nvme_kinds.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/fuzz/bytewise.hpp>
#include <transport-replay/ulp/nvme_protocol.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <cstdlib>
#include <string>

namespace {

using namespace qps;
using namespace qps::transport;

void must(bool holds) {
    if (!holds) std::abort();
}

void decode_under(dissect::Bytes bytes, std::uint8_t detail, bool from_active) {
    dissect::Packet packet;
    dissect::Annotation annotation;
    annotation.ulp = {UlpProtocol::nvme, from_active, detail};
    dissect::decode_message(bytes, annotation.ulp, packet);
    packet.annotation = &annotation;
    for (const dissect::Layer& layer : packet.layers()) must(std::size_t{layer.offset} + layer.length <= bytes.size());
    std::string text;
    dissect::append_tree(text, packet);
    must(bytes.empty() || !text.empty());
}

// Each step is a byte that says what happens, and some that say with what.
struct Queue {
    Tracker tracker{false};
    UlpTracker ulp{UlpHints{}};
    std::uint64_t ended = 0;
    std::uint64_t commands = 0;
    std::int64_t clock = 0;
    OperationSink sink = [this](const UlpOperation& operation) {
        ++ended;
        must(!nvme::operation_name(operation.code).empty());
        must(nvme::describe(operation).size() < 256);
        must(!nvme::status(operation).empty());
    };

    void message(dissect::Bytes bytes, End from, std::uint64_t more) {
        UlpMessage message;
        message.connection = ConnectionId{1};
        message.from = from;
        message.bytes = bytes;
        message.length = bytes.size() + more;
        message.begun = message.time = dissect::Instant{clock};
        message.first_frame = message.last_frame = dissect::FrameIndex{static_cast<std::uint64_t>(++clock)};
        ++commands;
        ulp.deliver(message, tracker, sink);
    }
    void transfer(dissect::Bytes bytes, End requester, const RemoteAccess& access) {
        Transfer transfer;
        transfer.connection = ConnectionId{1};
        transfer.requester = requester;
        transfer.access = access;
        transfer.bytes = bytes.size();
        transfer.begun = transfer.time = dissect::Instant{clock};
        transfer.first_frame = transfer.last_frame = dissect::FrameIndex{static_cast<std::uint64_t>(++clock)};
        transfer.payload = bytes;
        ulp.transferred(transfer);
    }
};

void follow(fuzz::Bytewise input) {
    Queue queue;
    CmReport cm;
    RemoteAccess last;
    while (!input.empty()) {
        const std::uint8_t what = input.byte();
        const End from = (what & 1U) != 0 ? End::b : End::a;
        const std::size_t size = what & 2U ? input.byte() * std::size_t{16} : what & 4U ? 64 : 16;
        const auto bytes = std::as_bytes(input.take(size));
        switch (what >> 6U) {
            case 0:
            case 1:
                if (bytes.size() >= 40)
                    last = {dissect::read_le<std::uint64_t>(bytes, 24),
                            dissect::Rkey{dissect::read_le<std::uint32_t>(bytes, 35)}, 1};
                queue.message(bytes, from, (what & 8U) != 0 ? input.byte() : 0);
                break;
            case 2:
                last.length = static_cast<std::uint32_t>(bytes.size());
                queue.transfer(bytes, from, last);
                break;
            default: {
                CmAttempt& attempt = cm.attempts.emplace_back();
                attempt.ip.emplace();
                attempt.ip->protocol = 6;
                attempt.ip->port = 4420;
                PrivateData& data = attempt.active.private_data;
                data.room = 56;
                data.used = static_cast<std::uint16_t>(std::min(bytes.size(), kPrivateBytesKept));
                std::copy_n(bytes.begin(), data.used, data.first.begin());
                attempt.rejection.emplace();
                attempt.rejection->private_data = data;
                queue.ulp.connected(ConnectionId{1}, attempt, queue.tracker, queue.sink);
                break;
            }
        }
        queue.clock += (what & 16U) != 0 ? std::int64_t{1'000'000'000} * 10 : 1;
    }
    const UlpReport report = queue.ulp.finish(cm, queue.sink);
    must(queue.ended <= queue.commands);
    for (const UlpConversation& conversation : report.conversations) {
        must(conversation.operations <= conversation.messages);
        must(conversation.failed + conversation.unanswered <= conversation.operations);
        must(conversation.facts.size() <= kMaxFacts);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const dissect::Bytes bytes = std::as_bytes(std::span(data, size));
    constexpr unsigned kDetails = 32;
    for (unsigned detail = 0; detail < kDetails; ++detail)
        decode_under(bytes, static_cast<std::uint8_t>(detail), detail % 2 == 0);
    follow(fuzz::Bytewise(std::span(data, size)));
    return 0;
}
