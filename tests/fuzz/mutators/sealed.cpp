#include <dissect/base/packet.hpp>
#include <tests/fuzz/mutators/sealed.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>

#include <algorithm>
#include <span>

namespace qps::fuzz {

using namespace dissect;

namespace {

constexpr unsigned kLeftWrong = 8;  // one in so many

Packet decoded(Bytes bytes, LinkType link) {
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.link = link;
    Packet packet;
    decode(frame, packet);
    return packet;
}

void put_be(MutableBytes bytes, std::size_t at, std::uint64_t value, std::size_t length) {
    if (at + length > bytes.size()) return;
    for (std::size_t i = 0; i < length; ++i) bytes[at + i] = static_cast<std::byte>(value >> 8 * (length - 1 - i));
}

}  // namespace

void seal(MutableBytes frame, LinkType link) {
    constexpr std::size_t kIpv4Header = 20, kIpv6Header = 40;
    const std::size_t size = frame.size();
    const Packet packet = decoded(frame, link);
    for (const Layer& layer : packet.layers()) {
        const std::size_t rest = size - std::min<std::size_t>(layer.offset, size);
        switch (layer.kind) {
            case LayerKind::ipv4:
                if (rest < kIpv4Header) break;
                put_be(frame, layer.offset + 2, rest, 2);
                transport::seal_ipv4_header(frame.subspan(layer.offset));
                break;
            case LayerKind::ipv6:
                if (rest >= kIpv6Header) put_be(frame, layer.offset + 4, rest - kIpv6Header, 2);
                break;
            case LayerKind::udp: put_be(frame, layer.offset + 4, rest, 2); break;
            default: break;
        }
    }
    const Packet again = decoded(frame, link);
    const Layer* icrc = find(again, LayerKind::icrc);
    if (icrc != nullptr && again.icrc.status == CrcStatus::bad) put_be(frame, icrc->offset, again.icrc.expected, 4);
}

std::size_t mutate_packet(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed, std::size_t control) {
    if (size <= control) return LLVMFuzzerMutate(data, size, most);
    // The control bytes alone now and then, else what lies behind them.
    constexpr unsigned kControlAlone = 16;
    if (seed % kControlAlone == kControlAlone - 1) {
        static_cast<void>(LLVMFuzzerMutate(data, control, control));
    } else {
        size = control + LLVMFuzzerMutate(data + control, size - control, most - control);
    }
    if (seed / kControlAlone % kLeftWrong == 0 || size <= control) return size;
    const std::span input(data, size);
    seal(std::as_writable_bytes(input.subspan(control)), kLinkTypeNames[data[0] % kLinkTypeNames.size()].link);
    return size;
}

}  // namespace qps::fuzz
