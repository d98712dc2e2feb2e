#include <dissect/lldp/dcbx.hpp>
#include <transport-replay/watch/lldp_announcement.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kTlvStart = 2;
constexpr std::uint64_t kEnd = 0, kChassis = 1, kPort = 2, kTimeToLive = 3, kSystemName = 5, kCapabilities = 7,
                        kOrganization = 127;
constexpr std::uint64_t kEts = 9, kEtsRecommended = 10, kPfc = 11, kApplications = 12;  // subtypes of IEEE 802.1
constexpr std::uint64_t kCeeGroups = 2, kCeePfc = 3, kCeeApplications = 4;
constexpr std::uint64_t kRoce = 4791;                        // UDP port
constexpr std::uint64_t kUdp = 3, kTcpOrUdp = 4, kDscp = 5;  // selectors of applications
constexpr std::uint64_t kCeePort = 1, kCeeUnlimited = 15;

constexpr Field kSeconds = named(kLldpTimeToLiveFields, "lldp.time_to_live");
constexpr Field kIsBridge = named(kLldpCapabilitiesFields, "lldp.tlv.enable_system_cap.bridge");
constexpr Field kOui = named(kLldpOrganizationFields, "lldp.orgtlv.oui");
constexpr Field kSubtype = named(kLldpOrganizationFields, "rdma.lldp.organization.subtype");
constexpr Field kEtsWilling = named(kDcbxEtsFields, "lldp.dcbx.ieee.willing");
constexpr Field kPfcWilling = named(kDcbxPfcFields, "lldp.dcbx.ieee.willing");
constexpr Field kPfcEnabled = named(kDcbxPfcFields, "rdma.lldp.pfc.enabled");
constexpr Field kTable = named(kDcbxApplicationsFields, "rdma.lldp.app.table");
constexpr Field kCeeEnabled = named(kCeeFeature, "lldp.dcbx.feature.enabled");
constexpr Field kCeeWilling = named(kCeeFeature, "lldp.dcbx.feature.willing");
constexpr Field kCeePfcEnabled = named(kCeePfcFields, "rdma.lldp.pfc.enabled");
constexpr Field kCeeTable = named(kCeeApplicationsFields, "rdma.lldp.cee.app.table");

std::uint64_t type_of(Bytes tlv) { return read_bits(tlv, 0, 7); }
std::size_t length_of(Bytes tlv) { return kTlvStart + static_cast<std::size_t>(read_bits(tlv, 7, 9)); }
bool holds(Bytes tlv, std::size_t length) { return tlv.size() >= length; }
PriorityBits bit_of(std::uint64_t priority) { return static_cast<PriorityBits>(1U << priority); }

std::uint64_t hash_of_bytes(std::uint64_t hash, Bytes bytes) {
    for (const std::byte byte : bytes) hash = mix(hash + 1 + std::to_integer<std::uint64_t>(byte));
    return hash;
}

TransmissionSelection selection_of(std::uint64_t algorithm) {
    constexpr std::uint64_t kStrict = 0, kCreditBased = 1, kEnhanced = 2;
    if (algorithm == kStrict) return TransmissionSelection::strict;
    if (algorithm == kCreditBased) return TransmissionSelection::credit_based;
    return algorithm == kEnhanced ? TransmissionSelection::enhanced : TransmissionSelection::vendor;
}

// Eight numbers of `width` bits from the place of the field of the first on.
std::array<std::uint64_t, kLinkPriorities> eight_of(Bytes tlv, const Field& first, unsigned width) {
    std::array<std::uint64_t, kLinkPriorities> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = read_bits(tlv, first.bit + i * width, width);
    return numbers;
}

// `algorithm` of a class.
template <class Algorithm>
PriorityShares shares_of(const std::array<std::uint64_t, kLinkPriorities>& classes,
                         const std::array<std::uint64_t, kLinkPriorities>& percents, Algorithm algorithm) {
    PriorityShares shares;
    for (std::size_t priority = 0; priority < kLinkPriorities; ++priority) {
        PriorityShares::Share& share = shares.of[priority];
        share.selection = algorithm(classes[priority]);
        if (share.selection != TransmissionSelection::enhanced) continue;
        share.percent = static_cast<std::uint8_t>(percents[classes[priority] % kLinkPriorities]);
        for (std::size_t other = 0; other < kLinkPriorities; ++other)
            if (classes[other] == classes[priority]) share.with = static_cast<PriorityBits>(share.with | bit_of(other));
    }
    return shares;
}

PriorityShares ets_of(Bytes tlv) {
    constexpr Field kClass = named(kDcbxEtsFields, kGroupOfPriorityNames[0]);
    constexpr Field kPercent = named(kDcbxEtsFields, kBandwidthNames[0]);
    constexpr Field kAlgorithm = named(kDcbxEtsFields, kSelectionNames[0]);
    const auto algorithms = eight_of(tlv, kAlgorithm, kAlgorithm.width);
    return shares_of(eight_of(tlv, kClass, kClass.width), eight_of(tlv, kPercent, kPercent.width),
                     [&](std::uint64_t number) { return selection_of(algorithms[number % kLinkPriorities]); });
}

PriorityShares groups_of(Bytes tlv) {
    constexpr Field kGroup = named(kCeeGroupsFields, kGroupOfPriorityNames[0]);
    constexpr Field kPercent = named(kCeeGroupsFields, kBandwidthNames[0]);
    return shares_of(
        eight_of(tlv, kGroup, kGroup.width), eight_of(tlv, kPercent, kPercent.width), [](std::uint64_t group) {
            return group == kCeeUnlimited ? TransmissionSelection::strict : TransmissionSelection::enhanced;
        });
}

void take_applications(Bytes tlv, BridgingAnnouncement& content) {
    constexpr std::size_t kEntry = 3, kCodePoints = 64;
    for (std::size_t at = kTable.bit / 8; at + kEntry <= tlv.size(); at += kEntry) {
        const std::uint64_t selector = read_bits(tlv, at * 8 + 5, 3), protocol = read_be<std::uint16_t>(tlv, at + 1);
        const PriorityBits priority = bit_of(read_bits(tlv, at * 8, 3));
        if ((selector == kUdp || selector == kTcpOrUdp) && protocol == kRoce)
            content.roce = static_cast<PriorityBits>(content.roce | priority);
        if (selector == kDscp && protocol < kCodePoints)
            content.dscp[protocol] = static_cast<PriorityBits>(content.dscp[protocol] | priority);
    }
}

void take_bridging(Bytes tlv, BridgingAnnouncement& content) {
    const std::uint64_t subtype = read(tlv, kSubtype);
    if (subtype >= kEts && subtype <= kApplications) content.ieee = true;
    switch (subtype) {
        case kEts:
            if (!holds(tlv, header(kind::dcbx_ets).length)) return;
            content.shares = ets_of(tlv);
            content.shares_willing = read(tlv, kEtsWilling) != 0;
            return;
        case kEtsRecommended:
            if (holds(tlv, header(kind::dcbx_ets_recommended).length)) content.recommended = ets_of(tlv);
            return;
        case kPfc:
            if (!holds(tlv, header(kind::dcbx_pfc).length)) return;
            content.pfc = static_cast<PriorityBits>(read(tlv, kPfcEnabled));
            content.pfc_willing = read(tlv, kPfcWilling) != 0;
            return;
        case kApplications: return take_applications(tlv, content);
        default: return;
    }
}

void take_cee_applications(Bytes tlv, BridgingAnnouncement& content) {
    constexpr std::size_t kEntry = 6, kSelector = 2, kMap = 5;
    for (std::size_t at = kCeeTable.bit / 8; at + kEntry <= tlv.size(); at += kEntry)
        if ((read_be<std::uint8_t>(tlv, at + kSelector) & 3U) == kCeePort && read_be<std::uint16_t>(tlv, at) == kRoce)
            content.roce = static_cast<PriorityBits>(content.roce | read_be<std::uint8_t>(tlv, at + kMap));
}

void take_feature(Bytes tlv, BridgingAnnouncement& content) {
    if (read(tlv, kCeeEnabled) == 0) return;
    const bool willing = read(tlv, kCeeWilling) != 0;
    switch (type_of(tlv)) {
        case kCeeGroups:
            if (!holds(tlv, header(kind::cee_groups).length)) return;
            content.shares = groups_of(tlv);
            content.shares_willing = willing;
            return;
        case kCeePfc:
            if (!holds(tlv, header(kind::cee_pfc).length)) return;
            content.pfc = static_cast<PriorityBits>(read(tlv, kCeePfcEnabled));
            content.pfc_willing = willing;
            return;
        case kCeeApplications: content.applications_willing = willing; return take_cee_applications(tlv, content);
        default: return;
    }
}

void take_organization(Bytes tlv, BridgingAnnouncement& content) {
    constexpr std::uint64_t kCeeSubtype = 2;
    const std::uint64_t oui = read(tlv, kOui);
    if (oui == kOuiBridging) return take_bridging(tlv, content);
    if (oui != kOuiCee || read(tlv, kSubtype) != kCeeSubtype) return;
    content.cee = true;
    for (Bytes left = slice(tlv, header(kind::cee).length); left.size() >= kTlvStart;
         left = slice(left, length_of(left)))
        take_feature(slice(left, 0, length_of(left)), content);
}

}  // namespace

std::optional<LldpAnnouncement> read_announcement(Bytes lldpdu) {
    LldpAnnouncement said;
    std::uint64_t expected = kChassis;  // the first three have an order (802.1AB 8.2)
    for (Bytes left = lldpdu; left.size() >= kTlvStart; left = slice(left, length_of(left))) {
        const Bytes tlv = slice(left, 0, length_of(left));
        if (tlv.size() < length_of(left)) break;
        const std::uint64_t type = type_of(tlv);
        if (expected <= kTimeToLive) {
            if (type != expected++) return std::nullopt;
            if (type != kTimeToLive) said.station = hash_of_bytes(said.station, tlv);
            else said.lifetime = Duration{static_cast<std::int64_t>(read(tlv, kSeconds) * kNanosecondsPerSecond)};
            continue;
        }
        if (type == kEnd) {
            said.content.whole = true;
            break;
        }
        const Bytes value = slice(tlv, kTlvStart, kMaxSystemName);
        if (type == kSystemName) said.name.assign(reinterpret_cast<const char*>(value.data()), value.size());
        if (type == kCapabilities) said.content.bridge = read(tlv, kIsBridge) != 0;
        if (type == kOrganization) take_organization(tlv, said.content);
    }
    if (expected <= kTimeToLive) return std::nullopt;
    if (said.content.ieee && said.content.cee) said.content.whole = false;
    return said;
}

}  // namespace qps::transport
