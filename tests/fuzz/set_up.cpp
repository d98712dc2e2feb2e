// Fuzzer of what programs exchange of their queue pairs: any bytes as texts over TCP, as what NCCL sends, as a wire-up
// of UCX. What is read of them is within them, and bounded.
//
// The first byte chooses; of NCCL the address of who sends follows.
#include <dissect/ulp/ucx_address.hpp>
#include <transport-replay/set_up/exchange_text.hpp>
#include <transport-replay/set_up/nccl_exchange.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

constexpr std::uint32_t kQueuePairs = 1U << 24U;

void demand(bool holds) {
    if (!holds) std::abort();
}

void texts(Bytes bytes) {
    static_cast<void>(begins_exchange(bytes));
    const auto text = read_exchange(bytes);
    if (!text) return;
    demand(text->size <= bytes.size() && text->size >= kShortestExchange &&
           std::to_underlying(text->end.qpn) < kQueuePairs);
    std::vector<std::byte> out(text->size);
    rewrite_exchange(bytes, text->end.address.bits, out);
    const auto again = read_exchange(out);
    demand(again && again->end.qpn == text->end.qpn && again->end.psn == text->end.psn &&
           again->end.address == text->end.address);
}

void nccl(Bytes bytes) {
    constexpr std::size_t kGid = 16;
    if (bytes.size() < kGid) return;
    static_cast<void>(begins_nccl(bytes.subspan(kGid)));
    const Address own{{read_be<std::uint64_t>(bytes, 0), read_be<std::uint64_t>(bytes, 8)}, AddressSpace::roce_v2};
    const auto found = read_nccl(bytes.subspan(kGid), own);
    demand(found.size() <= 4);
    for (const NcclQueuePair& one : found) demand(std::to_underlying(one.qpn) < kQueuePairs && one.index < 4);
}

void wireup(Bytes bytes) {
    static_cast<void>(ucx::acknowledges_wireup(bytes, 1, 2));
    const auto message = ucx::read_wireup(bytes);
    if (!message) return;
    demand(message->count != 0 && message->count <= message->lanes.size());
    for (const ucx::LaneEnd& one : message->lanes) demand(std::to_underlying(one.qpn) < kQueuePairs);
    constexpr std::size_t kBefore = 8;
    std::vector<std::byte> out(bytes.begin(), bytes.end());
    ucx::rewrite_wireup(bytes.subspan(kBefore), std::identity{}, MutableBytes(out).subspan(kBefore));
    // What is written is read as it was, or is nothing.
    const auto again = ucx::read_wireup(out);
    if (!again) return;
    demand(again->count == message->count && again->reply == message->reply && again->source == message->source);
    for (std::size_t i = 0; i < message->count; ++i)
        demand(again->lanes[i].qpn == message->lanes[i].qpn && again->lanes[i].gid == message->lanes[i].gid &&
               again->lanes[i].lane == message->lanes[i].lane);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const Bytes bytes = std::as_bytes(std::span(data, size)).subspan(1);
    switch (data[0] % 3) {
        case 0: texts(bytes); break;
        case 1: nccl(bytes); break;
        default: wireup(bytes);
    }
    return 0;
}
