// What mlx5 adapters say of a failed work request: rows of hex words that libmlx5 and the kernel print of an error CQE,
// and the vendor syndrome beside a status. Layout of the CQE as the headers of the driver have it.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/logs/complaint.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace qps::transport {

struct ErrorCqe {
    bool responder = false;  // of a receive, or of a request that was refused
    std::uint8_t syndrome = 0;
    std::uint8_t vendor_syndrome = 0;
    std::uint8_t opcode = 0;  // of the WQE
    dissect::Qpn qpn{};
    std::optional<std::uint16_t> wqe{};
    [[nodiscard]] bool operator==(const ErrorCqe&) const = default;
};

// The last sixteen bytes of the CQE decide, as four words or as bytes, with or without the rows before them. Of a line
// that names a CQE the eight in their middle are enough, which a log that was cut may have: syndromes, operation and
// queue pair. Nothing for rows that are none of an error CQE.
[[nodiscard]] std::optional<ErrorCqe> read_error_cqe(std::string_view text);
// "error CQE of a requester (mlx5): RDMA READ, syndrome 0x13, vendor syndrome 0x88, WQE 3536"
[[nodiscard]] std::string text(const ErrorCqe& cqe);

[[nodiscard]] std::optional<Complaint> complaint_of_syndrome(std::uint64_t syndrome);
// What a vendor syndrome was seen to mean beside such a complaint; empty: not known. The maker has no public list.
[[nodiscard]] std::string_view vendor_meaning(std::uint64_t vendor_syndrome, Complaint complaint);

}  // namespace qps::transport
