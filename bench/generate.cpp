// Writes a capture to measure with: bench_generate FILE PACKETS PAYLOAD_BYTES
//
// RoCEv2 over IPv4 in a pcap file with nanoseconds: a few queue pairs take turns, each sends messages of 15 packets (SEND and
// RDMA WRITE in turn) and gets an ACK for each, so that one packet of 16 is an ACK. Every ICRC is right, computed here from the
// masking rules of A17.3 and not by the library under test. The same arguments give the same bytes.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <isa-l/crc.h>

namespace {

constexpr std::size_t kMessagePackets = 15;      // the ACK is the 16th
constexpr std::uint32_t kQueuePairs = 8;         // enough that neighbours in the file belong to different connections
constexpr std::uint64_t kGap = 100;              // ns between packets: about 1 KiB at 100 Gbit/s
constexpr std::uint64_t kStart = 1'700'000'000;  // s since 1970
constexpr std::size_t kIp = 14, kUdp = 34, kBth = 42, kAfterBth = 54;

enum : std::uint8_t {
    send_first = 0x00,
    send_middle = 0x01,
    send_last = 0x02,
    write_first = 0x06,
    write_middle = 0x07,
    write_last = 0x08,
    acknowledge = 0x11,
};

class Writer {
public:
    void clear() { bytes_.clear(); }
    void big(std::uint64_t value, int width) {
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
    }
    void little(std::uint64_t value, int width) {
        for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    }
    void set_big(std::size_t at, std::uint32_t value, int width) {
        for (int i = 0; i < width; ++i) bytes_[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> 8 * (width - 1 - i));
    }
    void append(std::span<const std::uint8_t> more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }
    [[nodiscard]] std::span<const std::uint8_t> all() const { return bytes_; }

private:
    std::vector<std::uint8_t> bytes_;
};

// Payload that no compressor shrinks: the worst case for the compressed inputs.
class Noise {
public:
    void fill(std::span<std::uint8_t> bytes) {
        for (std::size_t at = 0; at < bytes.size(); at += 8) {
            std::uint64_t value = next();
            for (std::size_t i = at; i < std::min(at + 8, bytes.size()); ++i, value >>= 8) bytes[i] = static_cast<std::uint8_t>(value);
        }
    }

private:
    std::uint64_t next() {  // splitmix64
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
        z = (z ^ z >> 27) * 0x94d049bb133111ebU;
        return z ^ z >> 31;
    }
    std::uint64_t state_ = 1;
};

struct Connection {
    std::uint32_t number = 0;
    std::uint32_t psn = 0;
    std::uint32_t messages = 0;
    std::size_t packet = 0;  // of the message; kMessagePackets: its ACK
};

std::uint16_t internet_checksum(std::span<const std::uint8_t> header) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i + 1 < header.size(); i += 2) sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

// Over eight bytes of ones, the headers with what routers change as ones, and the rest.
std::uint32_t icrc_of(std::span<const std::uint8_t> frame) {
    std::array<std::uint8_t, 8 + kAfterBth - kIp> head{};
    std::fill_n(head.begin(), 8, std::uint8_t{0xff});
    std::copy(frame.begin() + kIp, frame.begin() + kAfterBth, head.begin() + 8);
    for (const std::size_t at : {kIp + 1, kIp + 8, kIp + 10, kIp + 11, kUdp + 6, kUdp + 7, kBth + 4}) head[at - kIp + 8] = 0xff;
    std::uint32_t crc = crc32_gzip_refl(0, head.data(), head.size());
    const auto rest = frame.subspan(kAfterBth);
    return crc32_gzip_refl(crc, rest.data(), rest.size());
}

void write_packet(Writer& out, const Connection& connection, std::span<const std::uint8_t> payload) {
    const bool ack = connection.packet == kMessagePackets;
    const bool first = connection.packet == 0;
    const bool last = connection.packet == kMessagePackets - 1;
    const bool rdma = connection.messages % 2 != 0;
    const std::uint8_t opcode = ack     ? acknowledge
                                : first ? (rdma ? write_first : send_first)
                                : last  ? (rdma ? write_last : send_last)
                                        : (rdma ? write_middle : send_middle);
    const std::size_t extension = ack ? 4 : rdma && first ? 16 : 0;
    const std::size_t udp_length = 8 + 12 + extension + (ack ? 0 : payload.size()) + 4;
    const std::uint32_t from = ack ? 2 : 1;  // the requester is .1, the responder .2
    const std::uint32_t to = 3 - from;

    out.clear();
    out.big(0x020000000000U + to, 6);
    out.big(0x020000000000U + from, 6);
    out.big(0x0800, 2);
    out.big(0x4502, 2);  // version, header length; ECT(0)
    out.big(20 + udp_length, 2);
    out.big(0x00004000, 4);  // do not fragment
    out.big(0x4011, 2);      // TTL 64, UDP
    out.big(0, 2);
    out.big(0x0a000000U + from, 4);
    out.big(0x0a000000U + to, 4);
    out.set_big(kIp + 10, internet_checksum(out.all().subspan(kIp, 20)), 2);
    out.big(0xc000U + connection.number, 2);
    out.big(4791, 2);
    out.big(udp_length, 2);
    out.big(0, 2);
    out.big(opcode, 1);
    out.big(0, 1);
    out.big(0xffff, 2);
    out.big((ack ? 0x100 : 0x200) + connection.number, 4);
    out.big((last ? 0x80000000U : 0U) | (connection.psn & 0xffffff), 4);
    if (ack) {
        out.big(0x1f, 1);  // ACK, credits not counted
        out.big((connection.messages + 1) & 0xffffff, 3);
    } else if (extension != 0) {
        out.big(0x7f0000000000U + connection.number * 0x100000U, 8);
        out.big(0x1000 + connection.number, 4);
        out.big(payload.size() * kMessagePackets, 4);
    }
    if (!ack) out.append(payload);
    out.little(icrc_of(out.all()), 4);
}

void advance(Connection& connection) {
    if (connection.packet == kMessagePackets) {
        connection.packet = 0;
        ++connection.messages;
        ++connection.psn;
    } else if (++connection.packet < kMessagePackets) {
        ++connection.psn;  // the ACK has the number of the last packet
    }
}

template <class T>
bool parse(std::string_view text, T& value) {
    return std::from_chars(text.begin(), text.end(), value).ptr == text.end();
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    std::uint64_t packets = 0;
    std::size_t payload_bytes = 0;
    if (argc != 4 || !parse(arguments[2], packets) || !parse(arguments[3], payload_bytes) || payload_bytes % 4 != 0 ||
        payload_bytes > 4096) {
        fmt::print(stderr, "usage: bench_generate FILE PACKETS PAYLOAD_BYTES (a multiple of 4, at most 4096)\n");
        return 2;
    }
    const std::string part = std::string(arguments[1]) + ".part";  // a file that is there is whole
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(part.c_str(), "wb"), &std::fclose);
    if (!file) {
        fmt::print(stderr, "bench_generate: cannot write {}\n", part);
        return 1;
    }
    const auto put = [&](const Writer& out) { return std::fwrite(out.all().data(), 1, out.all().size(), file.get()) == out.all().size(); };

    Writer header;
    for (const std::uint32_t word : {0xa1b23c4dU, 0x00040002U, 0U, 0U, 262144U, 1U}) header.little(word, 4);
    bool written = put(header);

    std::array<Connection, kQueuePairs> connections{};
    for (std::uint32_t i = 0; i < kQueuePairs; ++i) connections[i] = {.number = i, .psn = 0xfffff0U * i};
    std::vector<std::uint8_t> payload(payload_bytes);
    Noise noise;
    Writer frame;
    for (std::uint64_t i = 0; written && i < packets; ++i) {
        Connection& connection = connections[i % kQueuePairs];
        noise.fill(payload);
        write_packet(frame, connection, payload);
        advance(connection);
        const std::uint64_t time = i * kGap;
        header.clear();
        header.little(kStart + time / 1'000'000'000, 4);
        header.little(time % 1'000'000'000, 4);
        header.little(frame.all().size(), 4);
        header.little(frame.all().size(), 4);
        written = put(header) && put(frame);
    }
    if (!written || std::fflush(file.get()) != 0 || std::rename(part.c_str(), arguments[1]) != 0) {
        fmt::print(stderr, "bench_generate: cannot write {}\n", part);
        std::remove(part.c_str());
        return 1;
    }
    return 0;
}
