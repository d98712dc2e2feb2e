// Upper-layer protocols in words: conversations, operations and what became of them.
//
// Words of status and subject are those of the protocol's row (ulp/protocols.cpp); what has none is a number.
#pragma once

#include <dissect/ulp/ulp.hpp>
#include <transport-replay/model/ulp_report.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace qps::transport {

using dissect::info;

// "nvme", "nvme (by content, 90 %)" where it is not sure.
[[nodiscard]] std::string spoken_text(const UlpConversation& conversation);
// "Read", "operation 7" where the protocol has no name for it.
[[nodiscard]] std::string operation_name(UlpProtocol protocol, OperationCode code);
[[nodiscard]] std::string_view part_name(UlpLabel::Part part);  // "request", "data", "answer"
// "0x3000": a command identifier, a task tag, an XID, as its field shows it.
[[nodiscard]] std::string tag_text(std::uint64_t tag);

// "nvme Read 0x11 data": an operation and what a message is of it; 0x11 is its tag.
[[nodiscard]] std::string label_text(const UlpLabel& label);

// "nsid 1, lba 0, 8 blocks"; may be empty.
[[nodiscard]] std::string subject_text(const UlpOperation& operation);
// "done", "failed: Invalid Field in Command", "unanswered".
[[nodiscard]] std::string outcome_text(const UlpOperation& operation);
// The words alone; the number where there are none.
[[nodiscard]] std::string status_text(const UlpOperation& operation);

// From the request to the answer; nothing where none came.
[[nodiscard]] std::optional<dissect::Duration> latency_of(const UlpOperation& operation);

// The three parts of a latency, of operations that moved data and were answered.
struct LatencyParts {
    dissect::Duration until_data{};
    dissect::Duration data{};
    dissect::Duration to_answer{};
};
[[nodiscard]] std::optional<LatencyParts> parts_of(const UlpOperation& operation);

[[nodiscard]] std::uint64_t moved_bytes(const UlpOperation& operation);  // in its message and by transfers
// Failed, or asked and never answered.
[[nodiscard]] bool is_bad(const UlpOperation& operation);

}  // namespace qps::transport
