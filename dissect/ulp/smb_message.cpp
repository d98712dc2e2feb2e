#include <dissect/ulp/smb_direct.hpp>

namespace qps::dissect {

namespace {

constexpr std::uint64_t kVersion = 0x0100;          // MS-SMBD 2.2.1: the only one
constexpr std::uint64_t kLeastReceive = 128;        // 2.2.1, 2.2.2
constexpr std::uint64_t kLeastFragmented = 131072;  // 2.2.1, 2.2.2
constexpr std::uint32_t kMagic = 0xfe534d42;        // 0xFE 'S' 'M' 'B'
constexpr std::uint16_t kTransferSize = 49;         // StructureSize of READ and WRITE requests (MS-SMB2 2.2.19, 2.2.21)

template <std::size_t N> consteval Field field(const std::array<Field, N>& table, std::string_view name) {
    return named(table, name);
}

bool is_request(Bytes message) {
    static constexpr Field kLow = field(kSmbDirectRequestFields, "smb_direct.version.min");
    static constexpr Field kHigh = field(kSmbDirectRequestFields, "smb_direct.version.max");
    static constexpr Field kCredits = field(kSmbDirectRequestFields, "smb_direct.credits.requested");
    static constexpr Field kReceive = field(kSmbDirectRequestFields, "smb_direct.max_receive_size");
    static constexpr Field kFragmented = field(kSmbDirectRequestFields, "smb_direct.max_fragmented_size");
    constexpr std::size_t kReserved = 4;
    return read(message, kLow) == kVersion && read(message, kHigh) >= kVersion &&
           read_le<std::uint16_t>(message, kReserved) == 0 && read(message, kCredits) > 0 &&
           read(message, kReceive) >= kLeastReceive && read(message, kFragmented) >= kLeastFragmented;
}

bool is_response(Bytes message) {
    static constexpr Field kLow = field(kSmbDirectResponseFields, "smb_direct.version.min");
    static constexpr Field kHigh = field(kSmbDirectResponseFields, "smb_direct.version.max");
    static constexpr Field kStatus = field(kSmbDirectResponseFields, "smb_direct.status");
    static constexpr Field kReceive = field(kSmbDirectResponseFields, "smb_direct.max_receive_size");
    static constexpr Field kFragmented = field(kSmbDirectResponseFields, "smb_direct.max_fragmented_size");
    constexpr std::size_t kReserved = 6;
    if (read(message, kLow) != kVersion || read(message, kHigh) < kVersion ||
        read_le<std::uint16_t>(message, kReserved) != 0)
        return false;
    return read(message, kStatus) != 0 ||
           (read(message, kReceive) >= kLeastReceive && read(message, kFragmented) >= kLeastFragmented);
}

bool is_data(Bytes message, std::uint64_t length) {
    const SmbDirectData data = smb_direct_data(message);
    constexpr std::size_t kFlags = 4, kReserved = 6;
    constexpr std::uint32_t kAlignment = 8;
    if (read_le<std::uint16_t>(message, kFlags) > 1 || read_le<std::uint16_t>(message, kReserved) != 0) return false;
    if (data.length == 0) return data.remaining == 0 && data.offset <= length;
    return data.offset >= kSmbDirectDataLength && data.offset % kAlignment == 0 && data.offset <= length &&
           data.length <= length - data.offset;
}

}  // namespace

std::optional<SmbDirectType> smb_direct_type(Bytes message, std::uint64_t length) {
    if (message.size() < kSmbDirectDataLength) return std::nullopt;
    if (length == kSmbDirectRequestLength && is_request(message)) return SmbDirectType::request;
    if (length == kSmbDirectResponseLength && message.size() == length && is_response(message))
        return SmbDirectType::response;
    if (is_data(message, length)) return SmbDirectType::data;
    return std::nullopt;
}

SmbDirectData smb_direct_data(Bytes message) {
    static constexpr Field kRequested = field(kSmbDirectDataFields, "smb_direct.credits.requested");
    static constexpr Field kGranted = field(kSmbDirectDataFields, "smb_direct.credits.granted");
    static constexpr Field kRemaining = field(kSmbDirectDataFields, "smb_direct.remaining_length");
    static constexpr Field kOffset = field(kSmbDirectDataFields, "smb_direct.data_offset");
    static constexpr Field kLength = field(kSmbDirectDataFields, "smb_direct.data_length");
    return {.credits_requested = static_cast<std::uint16_t>(read(message, kRequested)),
            .credits_granted = static_cast<std::uint16_t>(read(message, kGranted)),
            .remaining = static_cast<std::uint32_t>(read(message, kRemaining)),
            .offset = static_cast<std::uint32_t>(read(message, kOffset)),
            .length = static_cast<std::uint32_t>(read(message, kLength))};
}

std::optional<Smb2Head> smb2_head(Bytes message) {
    static constexpr Field kMagicField = field(kSmb2Fields, "smb2.protocol_id");
    static constexpr Field kLength = field(kSmb2Fields, "smb2.header_len");
    static constexpr Field kStatus = field(kSmb2Fields, "smb2.nt_status");
    static constexpr Field kCommand = field(kSmb2Fields, "smb2.cmd");
    static constexpr Field kCredits = field(kSmb2Fields, "smb2.credits.granted");
    static constexpr Field kResponse = field(kSmb2Fields, "smb2.flags.response");
    static constexpr Field kAsync = field(kSmb2Fields, "smb2.flags.async");
    static constexpr Field kNext = field(kSmb2Fields, "smb2.chain_offset");
    static constexpr Field kMessage = field(kSmb2Fields, "smb2.msg_id");
    static constexpr Field kTree = field(kSmb2Fields, "smb2.tid");
    static constexpr Field kSession = field(kSmb2Fields, "smb2.sesid");
    if (message.size() < kSmb2HeaderLength || read(message, kMagicField) != kMagic ||
        read(message, kLength) != kSmb2HeaderLength)
        return std::nullopt;
    return Smb2Head{.command = static_cast<Smb2Command>(read(message, kCommand)),
                    .response = read(message, kResponse) != 0,
                    .async = read(message, kAsync) != 0,
                    .status = static_cast<std::uint32_t>(read(message, kStatus)),
                    .credits = static_cast<std::uint16_t>(read(message, kCredits)),
                    .next = static_cast<std::uint32_t>(read(message, kNext)),
                    .message_id = read(message, kMessage),
                    .tree = static_cast<std::uint32_t>(read(message, kTree)),
                    .session = read(message, kSession)};
}

std::optional<Smb2Transfer> smb2_transfer(Bytes message, const Smb2Head& head) {
    if (head.response || (head.command != Smb2Command::read && head.command != Smb2Command::write)) return std::nullopt;
    const Bytes body = slice(message, kSmb2HeaderLength);
    if (body.size() < kSmb2ReadLength || read_le<std::uint16_t>(body, 0) != kTransferSize) return std::nullopt;
    const bool reads = head.command == Smb2Command::read;
    const auto value = [&](std::string_view name) -> std::uint64_t {
        const std::span<const Field> fields =
            reads ? std::span<const Field>(kSmb2ReadFields) : std::span<const Field>(kSmb2WriteFields);
        for (const Field& field : fields)
            if (field.name == name) return read(body, field);
        return 0;
    };
    Smb2Transfer transfer;
    transfer.file_offset = value("smb2.file_offset");
    transfer.channel = static_cast<std::uint32_t>(value("smb2.channel"));
    const auto in_message = static_cast<std::uint32_t>(value("smb2.write_length"));
    transfer.in_message = in_message;
    transfer.length =
        static_cast<std::uint32_t>(reads ? value("smb2.read_length") : in_message + value("smb2.remaining_bytes"));
    const std::size_t at = value("smb2.channel_info_offset");
    const std::size_t length = value("smb2.channel_info_length");
    constexpr std::uint32_t kRdma = 1, kRdmaInvalidate = 2;
    const bool described = transfer.channel == kRdma || transfer.channel == kRdmaInvalidate;
    if (!described) {
        if (!reads) transfer.length = in_message;
        return transfer;
    }
    if (at < kSmb2HeaderLength + kSmb2ReadLength || at > message.size() || length > message.size() - at)
        return transfer;
    transfer.descriptors = at;
    transfer.descriptor_count = length / kSmb2DescriptorLength;
    return transfer;
}

std::optional<Smb2FileId> smb2_file_id(Bytes message, const Smb2Head& head) {
    std::size_t at = 0;      // behind the header
    switch (head.command) {  // MS-SMB2 2.2.14 to 2.2.39
        case Smb2Command::create: at = head.response && head.status == 0 ? 64 : 0; break;
        case Smb2Command::close:
        case Smb2Command::flush:
        case Smb2Command::lock:
        case Smb2Command::ioctl:
        case Smb2Command::query_directory:
        case Smb2Command::change_notify: at = head.response ? 0 : 8; break;
        case Smb2Command::read:
        case Smb2Command::write:
        case Smb2Command::set_info: at = head.response ? 0 : 16; break;
        case Smb2Command::query_info: at = head.response ? 0 : 24; break;
        default: break;
    }
    constexpr std::size_t kLength = 16;
    const Bytes found = slice(message, kSmb2HeaderLength + at, kLength);
    if (at == 0 || found.size() < kLength) return std::nullopt;
    return Smb2FileId{read_le<std::uint64_t>(found, 0), read_le<std::uint64_t>(found, 8)};
}

Bytes smb2_file_name(Bytes message) {
    constexpr std::size_t kNameOffset = 44, kNameLength = 46;  // MS-SMB2 2.2.13
    const Bytes body = slice(message, kSmb2HeaderLength);
    return slice(message, read_le<std::uint16_t>(body, kNameOffset), read_le<std::uint16_t>(body, kNameLength));
}

Smb2Descriptor smb2_descriptor(Bytes message, std::size_t at) {
    static constexpr Field kOffset = field(kSmb2DescriptorFields, "smb2.buffer_descriptor.offset");
    static constexpr Field kToken = field(kSmb2DescriptorFields, "smb2.buffer_descriptor.token");
    static constexpr Field kLength = field(kSmb2DescriptorFields, "smb2.buffer_descriptor.length");
    const Bytes bytes = slice(message, at, kSmb2DescriptorLength);
    return {read(bytes, kOffset), static_cast<std::uint32_t>(read(bytes, kToken)),
            static_cast<std::uint32_t>(read(bytes, kLength))};
}

}  // namespace qps::dissect
