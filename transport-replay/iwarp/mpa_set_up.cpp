#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/iwarp/mpa_set_up.hpp>

#include <algorithm>
#include <string_view>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kMarkers = named(kMpaRequestFields, "iwarp_mpa.marker_flag");
constexpr Field kCrc = named(kMpaRequestFields, "iwarp_mpa.crc_flag");
constexpr Field kRejected = named(kMpaRequestFields, "iwarp_mpa.rej_flag");
constexpr Field kEnhanced = named(kMpaRequestFields, "rdma.iwarp.enhanced");
constexpr Field kRevision = named(kMpaRequestFields, "iwarp_mpa.rev");
constexpr Field kPrivateLength = named(kMpaRequestFields, "iwarp_mpa.pdlength");
constexpr Field kPeerToPeer = named(kMpaEnhancedFields, "rdma.iwarp.peer_to_peer");
constexpr Field kIrd = named(kMpaEnhancedFields, "rdma.iwarp.ird");
constexpr Field kOrd = named(kMpaEnhancedFields, "rdma.iwarp.ord");

constexpr std::string_view kRequestKey = "MPA ID Req Frame", kReplyKey = "MPA ID Rep Frame";
constexpr std::uint8_t kLatestRevision = 2;
constexpr std::uint8_t kEnhancedRevision = 2;
constexpr std::uint16_t kMostPrivate = 512;  // RFC 5044 7.1.1

bool has_key(Bytes segment, std::string_view key) {
    const Bytes found = slice(segment, 0, key.size());
    return std::ranges::equal(found, key, {}, [](std::byte byte) { return static_cast<char>(byte); });
}

}  // namespace

std::optional<SetUpFrame> set_up_frame(Bytes segment) {
    if (segment.size() < kMpaSetUpLength) return std::nullopt;
    SetUpFrame frame;
    frame.reply = has_key(segment, kReplyKey);
    if (!frame.reply && !has_key(segment, kRequestKey)) return std::nullopt;
    frame.said.revision = static_cast<std::uint8_t>(read(segment, kRevision));
    const auto private_length = static_cast<std::uint16_t>(read(segment, kPrivateLength));
    if (frame.said.revision > kLatestRevision || private_length > kMostPrivate) return std::nullopt;
    frame.said.markers = read(segment, kMarkers) != 0;
    frame.said.crc = read(segment, kCrc) != 0;
    frame.said.rejected = frame.reply && read(segment, kRejected) != 0;
    frame.length = kMpaSetUpLength + private_length;
    Bytes data = slice(segment, kMpaSetUpLength, private_length);
    const std::size_t words = header(kind::mpa_enhanced).length;
    frame.said.private_data_bytes = private_length;
    if (frame.said.revision >= kEnhancedRevision && read(segment, kEnhanced) != 0 && data.size() >= words) {
        frame.said.peer_to_peer = read(data, kPeerToPeer) != 0;
        frame.said.ird = static_cast<std::uint16_t>(read(data, kIrd));
        frame.said.ord = static_cast<std::uint16_t>(read(data, kOrd));
        frame.said.private_data_bytes = static_cast<std::uint16_t>(private_length - words);
        data = data.subspan(words);
    }
    frame.private_data = data;
    return frame;
}

}  // namespace qps::transport
