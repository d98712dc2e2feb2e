#include <transport-replay/live/peers/offer.hpp>
#include <transport-replay/live/peers/pattern.hpp>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kOfferMagic = 0x5150'536f;         // "QPSo"
constexpr std::uint32_t kAnnouncementMagic = 0x5150'5361;  // "QPSa"
constexpr std::uint8_t kVersion = 1;

bool begins(dissect::Bytes bytes, std::size_t size, std::uint32_t magic) {
    return bytes.size() >= size && dissect::read_be<std::uint32_t>(bytes, 0) == magic &&
           dissect::read_be<std::uint8_t>(bytes, 4) == kVersion;
}

}  // namespace

void write(dissect::MutableBytes into, const Offer& offer) {
    write_be(into, 0, kOfferMagic);
    write_be(into, 4, kVersion);
    write_be(into, 5, offer.allowed);
    write_be(into, 6, offer.slots);
    write_be(into, 8, offer.address);
    write_be(into, 16, offer.length);
    write_be(into, 24, static_cast<std::uint32_t>(offer.key));
    write_be(into, 28, std::uint32_t{0});
}

std::optional<Offer> read_offer(dissect::Bytes bytes) {
    if (!begins(bytes, kOfferBytes, kOfferMagic)) return std::nullopt;
    const Offer offer{.allowed = dissect::read_be<std::uint8_t>(bytes, 5),
                      .slots = dissect::read_be<std::uint16_t>(bytes, 6),
                      .address = dissect::read_be<std::uint64_t>(bytes, 8),
                      .length = dissect::read_be<std::uint64_t>(bytes, 16),
                      .key = dissect::Rkey{dissect::read_be<std::uint32_t>(bytes, 24)}};
    if (offer.slots == 0) return std::nullopt;
    return offer;
}

void write(dissect::MutableBytes into, const Announcement& announcement) {
    write_be(into, 0, kAnnouncementMagic);
    write_be(into, 4, kVersion);
    write_be(into, 5, static_cast<std::uint8_t>(announcement.way));
    write_be(into, 6, announcement.depth);
    write_be(into, 8, announcement.bytes);
    write_be(into, 12, std::uint32_t{0});
}

std::optional<Announcement> read_announcement(dissect::Bytes bytes) {
    if (!begins(bytes, kAnnouncementBytes, kAnnouncementMagic)) return std::nullopt;
    const auto way = dissect::read_be<std::uint8_t>(bytes, 5);
    if (way > static_cast<std::uint8_t>(Way::write_with_imm)) return std::nullopt;
    return Announcement{.way = Way{way},
                        .depth = dissect::read_be<std::uint16_t>(bytes, 6),
                        .bytes = dissect::read_be<std::uint32_t>(bytes, 8)};
}

}  // namespace qps::transport::live::peers
