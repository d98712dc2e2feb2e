// Error CQEs of mlx5 as logs print them, and the meaning of vendor syndromes.
#include <dissect/base/bytes.hpp>
#include <transport-replay/logs/error_cqe.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

struct SyndromeRow {
    std::uint8_t syndrome;
    Complaint complaint;
};
constexpr std::array kSyndromes{
    SyndromeRow{0x01, Complaint::local},
    SyndromeRow{0x02, Complaint::local},
    SyndromeRow{0x04, Complaint::local},
    SyndromeRow{0x05, Complaint::flushed},
    SyndromeRow{0x06, Complaint::local},
    SyndromeRow{0x10, Complaint::bad_response},
    SyndromeRow{0x11, Complaint::local},
    SyndromeRow{0x12, Complaint::remote_invalid_request},
    SyndromeRow{0x13, Complaint::remote_access},
    SyndromeRow{0x14, Complaint::remote_operation},
    SyndromeRow{0x15, Complaint::retries_exceeded},
    SyndromeRow{0x16, Complaint::rnr_retries_exceeded},
    SyndromeRow{0x22, Complaint::other},
};

struct OpcodeRow {
    std::uint8_t opcode;
    std::string_view name;
};
constexpr std::array kOpcodes{
    OpcodeRow{0x01, "SEND with invalidate"},      OpcodeRow{0x08, "RDMA WRITE"},
    OpcodeRow{0x09, "RDMA WRITE with immediate"}, OpcodeRow{0x0a, "SEND"},
    OpcodeRow{0x0b, "SEND with immediate"},       OpcodeRow{0x10, "RDMA READ"},
    OpcodeRow{0x11, "compare and swap"},          OpcodeRow{0x12, "fetch and add"},
    OpcodeRow{0x14, "masked compare and swap"},   OpcodeRow{0x15, "masked fetch and add"},
    OpcodeRow{0x18, "bind memory window"},        OpcodeRow{0x25, "memory registration"},
};

struct VendorRow {
    std::uint8_t vendor;
    Complaint complaint;
    std::string_view meaning;
};
// As seen beside these statuses on ConnectX adapters.
constexpr std::array kVendors{
    VendorRow{
        0x81, Complaint::retries_exceeded,
        "no acknowledgment within all retries; the same for a dead peer, a dead path and a peer's queue pair in error"},
    VendorRow{0x87, Complaint::rnr_retries_exceeded, "no receive was posted within all RNR retries"},
    VendorRow{0x88, Complaint::remote_access, "the responder refused the R_Key, the address range or the permission"},
    VendorRow{0x8a, Complaint::remote_invalid_request, "the responder refused the operation or its length"},
    VendorRow{0x33, Complaint::local, "the local memory region may not be written, which a READ response needs"},
    VendorRow{0x3a, Complaint::local, "the memory region was deregistered while it was used"},
    VendorRow{0x51, Complaint::local,
              "the adapter could not read the payload from memory (IOMMU, ACS, memory of a GPU)"},
    VendorRow{0x52, Complaint::local, "the L_Key is not valid"},
    VendorRow{0x53, Complaint::local, "a buffer reaches past its memory region"},
    VendorRow{0x56, Complaint::local, "the adapter could not write to the posted receive"},
    VendorRow{0x8e, Complaint::local, "the posted receive was shorter than the message"},
    VendorRow{0xf4, Complaint::flushed, "a receive behind an earlier error"},
    VendorRow{0xf5, Complaint::flushed, "software of this host moved the queue pair to the error state"},
    VendorRow{0xf9, Complaint::flushed, "behind an earlier completion, which has the cause"},
};

constexpr std::size_t kRow = 16;  // bytes
constexpr std::size_t kHalf = 8;
constexpr std::size_t kWord = 8;  // hex digits
constexpr std::size_t kByte = 2;

bool is_hex(std::string_view token) {
    return std::ranges::all_of(token, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// The last `Size` bytes of a run of tokens that are all words, or all bytes, if it is so many, or some times as many.
template <std::size_t Size>
std::optional<std::array<std::byte, Size>> last_bytes(std::span<const std::string_view> run, std::size_t digits) {
    const std::size_t tokens = 2 * Size / digits;
    if (run.empty() || run.size() % tokens != 0) return std::nullopt;
    std::string all;
    for (const std::string_view token : run.last(tokens)) all += token;
    std::array<std::byte, Size> row{};
    for (std::size_t i = 0; i < Size; ++i) {
        std::uint8_t value = 0;
        std::from_chars(all.data() + 2 * i, all.data() + 2 * i + 2, value, 16);
        row[i] = static_cast<std::byte>(value);
    }
    return row;
}

bool is_known(std::uint8_t opcode) { return std::ranges::find(kOpcodes, opcode, &OpcodeRow::opcode) != kOpcodes.end(); }

// Syndromes, operation and queue pair: two words in the middle of the row.
ErrorCqe middle_of(Bytes words) {
    ErrorCqe cqe{};
    cqe.vendor_syndrome = read_be<std::uint8_t>(words, 2);
    cqe.syndrome = read_be<std::uint8_t>(words, 3);
    cqe.opcode = read_be<std::uint8_t>(words, 4);
    cqe.qpn = Qpn{static_cast<std::uint32_t>(read_bits(words, 40, 24))};
    return cqe;
}

bool is_sound(const ErrorCqe& cqe) {
    return complaint_of_syndrome(cqe.syndrome).has_value() && std::to_underlying(cqe.qpn) >= 2;
}

// A row is believed only where all that is known of it fits: other dumps have words too.
std::optional<ErrorCqe> error_cqe_of(Bytes row) {
    constexpr std::uint8_t kRequesterError = 0xd;
    constexpr std::uint8_t kResponderError = 0xe;
    constexpr std::size_t kMiddle = 4;
    const auto kind = static_cast<std::uint8_t>(read_be<std::uint8_t>(row, 15) >> 4);
    ErrorCqe cqe = middle_of(row.subspan(kMiddle, kHalf));
    cqe.responder = kind == kResponderError;
    cqe.wqe = read_be<std::uint16_t>(row, 12);
    if (read_be<std::uint32_t>(row, 0) != 0 || (kind != kRequesterError && kind != kResponderError))
        return std::nullopt;
    return is_sound(cqe) && (cqe.responder || is_known(cqe.opcode)) ? std::optional(cqe) : std::nullopt;
}

// Without the byte that tells whose error it is: an operation is a requester's.
std::optional<ErrorCqe> error_cqe_of_half(Bytes half) {
    const ErrorCqe cqe = middle_of(half);
    const bool fits = read_be<std::uint16_t>(half, 0) == 0 && is_sound(cqe) && is_known(cqe.opcode);
    return fits ? std::optional(cqe) : std::nullopt;
}

}  // namespace

std::optional<ErrorCqe> read_error_cqe(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    std::vector<std::string_view> run;
    std::size_t digits = 0;
    std::optional<ErrorCqe> found;
    const bool named = text.contains("cqe");
    const auto end_run = [&] {
        if (digits != 0 && !found) {
            if (const auto row = last_bytes<kRow>(run, digits)) found = error_cqe_of(*row);
            else if (const auto half = last_bytes<kHalf>(run, digits);
                     named && half && run.size() * digits == 2 * kHalf)
                found = error_cqe_of_half(*half);
        }
        run.clear();
        digits = 0;
    };
    while (!found && !text.empty()) {
        const std::size_t length = std::min(text.find_first_of(kSpace), text.size());
        const std::string_view token = text.substr(0, length);
        text.remove_prefix(std::min(length + 1, text.size()));
        if (token.empty()) continue;
        const bool fits = (token.size() == kWord || token.size() == kByte) && is_hex(token);
        if (!fits || token.size() != digits) end_run();
        if (!fits) continue;
        digits = token.size();
        run.push_back(token);
    }
    end_run();
    return found;
}

std::string text(const ErrorCqe& cqe) {
    const auto opcode = std::ranges::find(kOpcodes, cqe.opcode, &OpcodeRow::opcode);
    const std::string_view operation = cqe.responder || opcode == kOpcodes.end() ? std::string_view{} : opcode->name;
    return fmt::format("error CQE of a {} (mlx5): {}{}syndrome {:#x}, vendor syndrome {:#x}{}",
                       cqe.responder ? "responder" : "requester", operation, operation.empty() ? "" : ", ",
                       cqe.syndrome, cqe.vendor_syndrome, cqe.wqe ? fmt::format(", WQE {}", *cqe.wqe) : "");
}

std::optional<Complaint> complaint_of_syndrome(std::uint64_t syndrome) {
    const auto found =
        std::ranges::find(kSyndromes, syndrome, [](const SyndromeRow& row) { return std::uint64_t{row.syndrome}; });
    return found == kSyndromes.end() ? std::nullopt : std::optional(found->complaint);
}

std::string_view vendor_meaning(std::uint64_t vendor_syndrome, Complaint complaint) {
    for (const VendorRow& row : kVendors)
        if (row.vendor == vendor_syndrome && row.complaint == complaint) return row.meaning;
    return {};
}

}  // namespace qps::transport
