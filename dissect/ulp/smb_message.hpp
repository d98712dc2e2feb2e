// The structure of SMB Direct messages (MS-SMBD 2.2) and of SMB2 messages (MS-SMB2 2.2): which message it is, and where
// its parts lie. What shows them and what follows them read it here.
//
// SMB Direct messages have no type: negotiation comes first and has lengths and values that a data transfer cannot
// have. What an attacker could feed: offsets beyond the message, chains that go round. Every offset is checked and
// moves on.
#pragma once

#include <dissect/base/bytes.hpp>

#include <optional>

namespace qps::dissect {

inline constexpr std::uint16_t kSmbDirectRequestLength = 20;
inline constexpr std::uint16_t kSmbDirectResponseLength = 32;
inline constexpr std::uint16_t kSmbDirectDataLength = 20;
inline constexpr std::uint16_t kSmb2HeaderLength = 64;
inline constexpr std::uint16_t kSmb2ReadLength = 48;
inline constexpr std::uint16_t kSmb2WriteLength = 48;
inline constexpr std::uint16_t kSmb2DescriptorLength = 16;

enum class SmbDirectType : std::uint8_t { request, response, data };

// Of a data transfer.
struct SmbDirectData {
    std::uint16_t credits_requested = 0;
    std::uint16_t credits_granted = 0;
    std::uint32_t remaining = 0;  // bytes that further fragments carry
    std::uint32_t offset = 0;     // of the data
    std::uint32_t length = 0;     // of it on the wire
};

// Nothing for what is none of them. `length` is the message's on the wire, of which `message` may be the beginning
// only.
[[nodiscard]] std::optional<SmbDirectType> smb_direct_type(Bytes message, std::uint64_t length);
[[nodiscard]] SmbDirectData smb_direct_data(Bytes message);

enum class Smb2Command : std::uint16_t {
    negotiate,
    session_setup,
    logoff,
    tree_connect,
    tree_disconnect,
    create,
    close,
    flush,
    read,
    write,
    lock,
    ioctl,
    cancel,
    echo,
    query_directory,
    change_notify,
    query_info,
    set_info,
    oplock_break
};

struct Smb2Head {
    Smb2Command command{};
    bool response = false;
    bool async = false;
    std::uint32_t status = 0;  // of a response
    std::uint16_t credits = 0;
    std::uint32_t next = 0;  // offset of the next command, from this header; 0: none
    std::uint64_t message_id = 0;
    std::uint32_t tree = 0;
    std::uint64_t session = 0;
};
// Nothing where no SMB2 header stands.
[[nodiscard]] std::optional<Smb2Head> smb2_head(Bytes message);

// Of READ and WRITE requests.
struct Smb2Transfer {
    std::uint64_t file_offset = 0;
    std::uint32_t length = 0;      // bytes to be moved
    std::uint32_t in_message = 0;  // of them: in the message
    std::uint32_t channel = 0;     // 0: none
    std::size_t descriptors = 0;   // offset from the SMB2 header
    std::size_t descriptor_count = 0;
};
[[nodiscard]] std::optional<Smb2Transfer> smb2_transfer(Bytes message, const Smb2Head& head);

// An open file, as CREATE names it (MS-SMB2 2.2.14.1).
struct Smb2FileId {
    std::uint64_t persistent = 0;
    std::uint64_t open = 0;
    // In a chain: the file of the command before.
    [[nodiscard]] bool is_previous() const { return persistent == ~std::uint64_t{0} && open == ~std::uint64_t{0}; }
    [[nodiscard]] auto operator<=>(const Smb2FileId&) const = default;
};
// Of a request, or of the response to CREATE. Nothing where it names none, or it was not captured.
[[nodiscard]] std::optional<Smb2FileId> smb2_file_id(Bytes message, const Smb2Head& head);
// The path in a CREATE request, below its share: UTF-16, least significant byte first; empty for the share itself.
[[nodiscard]] Bytes smb2_file_name(Bytes message);

struct Smb2Descriptor {
    std::uint64_t offset = 0;
    std::uint32_t token = 0;
    std::uint32_t length = 0;
};
[[nodiscard]] Smb2Descriptor smb2_descriptor(Bytes message, std::size_t at);

}  // namespace qps::dissect
