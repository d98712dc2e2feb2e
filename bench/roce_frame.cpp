// The bytes of a frame: see roce_frame.hpp. Trusts its caller.
#include "roce_frame.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "dice.hpp"
#include <isa-l/crc.h>

namespace qps::bench {

namespace {

constexpr std::size_t kIp = 14, kUdp = 34, kBth = 42, kAfterBth = 54;
constexpr std::size_t kIcrc = 4;

std::uint16_t internet_checksum(std::span<const std::uint8_t> header) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i + 1 < header.size(); i += 2)
        sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

// Over eight bytes of ones, the headers with what routers change as ones, and the rest.
std::uint32_t icrc_of(std::span<const std::uint8_t> frame) {
    std::array<std::uint8_t, 8 + kAfterBth - kIp> head{};
    std::fill_n(head.begin(), 8, std::uint8_t{0xff});
    std::copy(frame.begin() + kIp, frame.begin() + kAfterBth, head.begin() + 8);
    for (const std::size_t at : {kIp + 1, kIp + 8, kIp + 10, kIp + 11, kUdp + 6, kUdp + 7, kBth + 4})
        head[at - kIp + 8] = 0xff;
    const std::uint32_t crc = crc32_gzip_refl(0, head.data(), head.size());
    const auto rest = frame.subspan(kAfterBth);
    return crc32_gzip_refl(crc, rest.data(), rest.size());
}

std::size_t extension_length(const FrameFields& fields) {
    if (fields.opcode == BthOpcode::acknowledge || fields.opcode == BthOpcode::send_only_invalidate) return 4;
    return fields.opcode == BthOpcode::write_first ? 16 : 0;
}

void write_network(Writer& out, const FrameFields& fields) {
    const std::size_t udp_length = frame_length(fields) - kUdp;
    out.big(0x020000000000U + fields.destination, 6);
    out.big(0x020000000000U + fields.source, 6);
    out.big(0x0800, 2);
    out.big(0x4502, 2);  // version, header length; ECT(0)
    out.big(kUdp - kIp + udp_length, 2);
    out.big(fields.identification, 2);
    out.big(0x4000, 2);  // do not fragment
    out.big(0x4011, 2);  // TTL 64, UDP
    out.big(0, 2);
    out.big(fields.source, 4);
    out.big(fields.destination, 4);
    out.set_big(kIp + 10, internet_checksum(out.all().subspan(kIp, kUdp - kIp)), 2);
    out.big(fields.source_port, 2);
    out.big(4791, 2);
    out.big(udp_length, 2);
    out.big(0, 2);
}

void write_transport(Writer& out, const FrameFields& fields) {
    out.big(std::to_underlying(fields.opcode), 1);
    out.big(0, 1);
    out.big(0xffff, 2);
    out.big(fields.queue_pair, 4);
    out.big((fields.ack_request ? 0x80000000U : 0U) | (fields.psn & 0xffffff), 4);
    if (fields.opcode == BthOpcode::acknowledge) {
        out.big(fields.syndrome, 1);
        out.big(fields.msn & 0xffffff, 3);
    } else if (fields.opcode == BthOpcode::send_only_invalidate) {
        out.big(fields.key, 4);
    } else if (fields.opcode == BthOpcode::write_first) {
        out.big(fields.address, 8);
        out.big(fields.key, 4);
        out.big(fields.dma_length, 4);
    }
}

}  // namespace

void Writer::noise(std::uint64_t seed, std::size_t count) {
    Dice dice(seed);
    std::size_t at = bytes_.size();
    bytes_.resize(at + count);
    for (; at < bytes_.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t value = dice.throw_once();
        std::memcpy(bytes_.data() + at, &value, std::min(sizeof value, bytes_.size() - at));
    }
}

std::size_t frame_length(const FrameFields& fields) {
    return kAfterBth + extension_length(fields) + fields.payload_bytes + kIcrc;
}

void write_frame(Writer& out, const FrameFields& fields, std::size_t bytes) {
    out.clear();
    write_network(out, fields);
    write_transport(out, fields);
    const std::size_t headers = out.all().size();
    const bool whole = bytes >= frame_length(fields);
    const std::size_t room = std::max(bytes, headers) - headers;  // headers stay whole
    const std::size_t payload = whole ? fields.payload_bytes : std::min<std::size_t>(room, fields.payload_bytes);
    if (fields.payload.empty()) out.noise(fields.payload_seed, payload);
    else out.copy(fields.payload.first(payload));
    if (whole) out.little(icrc_of(out.all()), kIcrc);
}

}  // namespace qps::bench
