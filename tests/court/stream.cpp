#include <tests/court/stream.hpp>
#include <tests/court/wire.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace qps::court {

namespace {

constexpr std::size_t kMostBytes = 1U << 26;  // of a stream

constexpr std::array<std::uint32_t, 256> make_castagnoli() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = value & 1U ? value >> 1U ^ 0x82f63b78U : value >> 1U;
        table[i] = value;
    }
    return table;
}
std::uint32_t castagnoli(const Octets& bytes, std::size_t from, std::size_t to) {
    static constexpr auto kTable = make_castagnoli();
    std::uint32_t crc = 0xffffffffU;
    for (std::size_t i = from; i < to; ++i) crc = crc >> 8U ^ kTable[(crc ^ bytes[i]) & 0xffU];
    return ~crc;
}

struct Tcp {
    std::size_t place = 0, data = 0, end = 0;
    Segment segment{};
};

// The sum over pseudo-header and segment is all ones where the checksum is right.
bool checksum_right(const Octets& frame, const Network& network, const Tcp& tcp) {
    const bool ipv4 = network.type == 0x0800;
    const std::size_t addresses = network.place + (ipv4 ? 12 : 8);
    std::uint64_t sum = 6 + tcp.end - tcp.place;
    for (std::size_t i = 0; i < (ipv4 ? 8U : 32U); i += 2) sum += number_at(frame, addresses + i, 2);
    for (std::size_t i = tcp.place; i < tcp.end; i += 2)
        sum += i + 1 < tcp.end ? number_at(frame, i, 2) : number_at(frame, i, 1) << 8U;
    while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
    return sum == 0xffff;
}

std::optional<Tcp> read_tcp(const Octets& frame) {
    const auto network = network_of(frame);
    if (!network) return {};
    Tcp tcp;
    const std::size_t ip = network->place;
    if (network->type == 0x0800 && ip + 20 <= frame.size() && frame[ip + 9] == 6) {
        tcp.place = ip + std::size_t{frame[ip] & 0xfU} * 4;
        tcp.end = ip + number_at(frame, ip + 2, 2);
        tcp.segment.ipv4 = true;
        tcp.segment.identification = number_at(frame, ip + 4, 2);
    } else if (network->type == 0x86dd && ip + 40 <= frame.size() && frame[ip + 6] == 6) {
        tcp.place = ip + 40;
        tcp.end = tcp.place + number_at(frame, ip + 4, 2);
    } else {
        return {};
    }
    if (tcp.end > frame.size() || tcp.place + 20 > tcp.end) return {};
    tcp.data = tcp.place + std::size_t{frame[tcp.place + 12]} / 16 * 4;
    if (tcp.data > tcp.end) return {};
    tcp.segment.checksum_right = checksum_right(frame, *network, tcp);
    return tcp;
}

void put_together(Stream& stream) {
    std::int64_t first = 0;
    for (const Segment& segment : stream.segments) first = std::min(first, segment.at);
    stream.first_seq += static_cast<std::uint32_t>(first);
    for (Segment& segment : stream.segments) {
        segment.at -= first;
        const auto at = static_cast<std::size_t>(segment.at);
        if (at + segment.data.size() > kMostBytes) continue;
        if (at + segment.data.size() > stream.bytes.size()) {
            stream.bytes.resize(at + segment.data.size());
            stream.came.resize(stream.bytes.size());
        }
        for (std::size_t i = 0; i < segment.data.size(); ++i) {
            if (!stream.came[at + i]) stream.bytes[at + i] = segment.data[i];
            stream.came[at + i] = true;
        }
    }
}

}  // namespace

std::uint64_t Stream::missing() const { return static_cast<std::uint64_t>(std::ranges::count(came, false)); }

std::size_t Stream::frame_of(std::size_t place) const {
    for (const Segment& segment : segments)
        if (static_cast<std::size_t>(segment.at) <= place &&
            place < static_cast<std::size_t>(segment.at) + segment.data.size())
            return segment.frame;
    return 0;
}

std::vector<Stream> read_streams(const Recording& recording) {
    std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>, std::size_t> known;
    std::vector<Stream> streams;
    if (recording.link != kEthernet) return streams;
    for (std::size_t i = 0; i < recording.records.size(); ++i) {
        const Octets& frame = recording.records[i].bytes;
        auto tcp = read_tcp(frame);
        if (!tcp) continue;
        const std::string from = source_of(frame), to = destination_of(frame);
        const std::uint32_t from_port = number_at(frame, tcp->place, 2), to_port = number_at(frame, tcp->place + 2, 2);
        const bool syn = (frame[tcp->place + 13] & 2U) != 0;
        const std::uint32_t seq = number_at(frame, tcp->place + 4, 4) + (syn ? 1 : 0);
        const auto [place, is_new] = known.try_emplace({from, to, from_port, to_port}, streams.size());
        if (is_new || (syn && seq != streams[place->second].first_seq)) {  // ports may be used anew
            place->second = streams.size();
            streams.push_back({.from = from,
                               .to = to,
                               .from_port = from_port,
                               .to_port = to_port,
                               .first_seq = seq,
                               .from_its_beginning = syn});
        }
        if (tcp->data == tcp->end) continue;
        Stream& stream = streams[place->second];
        tcp->segment.frame = i + 1;
        tcp->segment.at = static_cast<std::int32_t>(seq - stream.first_seq);
        tcp->segment.data.assign(frame.begin() + static_cast<std::ptrdiff_t>(tcp->data),
                                 frame.begin() + static_cast<std::ptrdiff_t>(tcp->end));
        stream.segments.push_back(std::move(tcp->segment));
    }
    for (Stream& stream : streams) put_together(stream);
    return streams;
}

std::optional<SetUp> set_up_of(const Stream& stream) {
    constexpr std::size_t kLength = 20;
    if (stream.bytes.size() < kLength) return {};
    const std::string key(stream.bytes.begin(), stream.bytes.begin() + 16);
    if (key != "MPA ID Req Frame" && key != "MPA ID Rep Frame") return {};
    const std::uint8_t flags = stream.bytes[16];
    return SetUp{.reply = key[9] == 'p',
                 .markers = (flags & 0x80U) != 0,
                 .crc = (flags & 0x40U) != 0,
                 .rejected = (flags & 0x20U) != 0,
                 .length = kLength + number_at(stream.bytes, 18, 2)};
}

Fpdus read_fpdus(const Stream& stream, std::size_t from, std::optional<std::uint32_t> shift) {
    constexpr std::size_t kInterval = 512, kMarker = 4;
    std::vector<std::size_t> places;  // of what is no marker
    for (std::size_t i = from; i < stream.bytes.size() && stream.came[i]; ++i)
        if (!shift || (i - from + *shift) % kInterval >= kMarker) places.push_back(i);
    Fpdus found{.all = {}, .end = from};
    for (std::size_t at = 0; at + 2 <= places.size();) {
        const std::size_t length = std::size_t{stream.bytes[places[at]]} << 8U | stream.bytes[places[at + 1]];
        const std::size_t crc = at + (2 + length + 3) / 4 * 4;
        if (length < 14 || crc + 4 > places.size()) break;  // no ULPDU is shorter than a tagged header (RFC 5041 4)
        Fpdu fpdu{.place = found.end};
        for (std::size_t i = 0; i < length; ++i) fpdu.ulpdu.push_back(stream.bytes[places[at + 2 + i]]);
        const std::uint32_t right = castagnoli(stream.bytes, found.end, places[crc]);
        fpdu.crc_right = true;
        for (std::size_t i = 0; i < 4; ++i)
            fpdu.crc_right &= stream.bytes[places[crc + i]] == (right >> 8U * i & 0xffU);
        found.end = places[crc + 3] + 1;
        found.all.push_back(std::move(fpdu));
        at = crc + 4;
    }
    return found;
}

}  // namespace qps::court
