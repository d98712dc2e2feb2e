// Connection attempts in words, and their messages as rows.
#pragma once

#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/report/table.hpp>

#include <span>
#include <string>
#include <vector>

namespace qps::transport {

// A message of an attempt.
struct CmRow {
    const CmAttempt& attempt;
    const CmRung& rung;
};
[[nodiscard]] std::span<const TableColumn<CmRow>> cm_columns();

[[nodiscard]] Tone tone_of(const CmAttempt& attempt);
[[nodiscard]] Tone tone_of(const CmRung& rung);

// "attempt 3: 10.0.0.1 -> 10.0.0.2  RC, RDMA TCP port 7174"
[[nodiscard]] std::string title_text(const CmAttempt& attempt);
// "RDMA TCP port 7174", "service 0x0000000000000001"; empty where no message names it.
[[nodiscard]] std::string service_text(const CmAttempt& attempt);
// "set up in 1.2 ms", "answered after 1.2 ms"; empty where it was not answered.
[[nodiscard]] std::string setup_text(const CmAttempt& attempt);
// "rejected by the passive side: Invalid service ID (8)"; empty where it was not.
[[nodiscard]] std::string rejection_text(const CmAttempt& attempt);
// "Invalid service ID", "reason 99".
[[nodiscard]] std::string reject_text(std::uint16_t reason);
// "IP 10.0.0.1:40000 -> 10.0.0.2:7174"; empty where it names no addresses.
[[nodiscard]] std::string ip_text(const CmAttempt& attempt);
// Parameters that both sides agreed on: "QP 17 <-> 18", "path MTU 4096", ...
[[nodiscard]] std::vector<std::string> agreed_texts(const CmAttempt& attempt);
// Caveats for the reader: "who asked whom is a guess".
[[nodiscard]] std::string remarks_text(const CmAttempt& attempt);
// "private data of the REJ: 0011..."; empty where there is none.
[[nodiscard]] std::string private_data_text(std::string_view whose, const PrivateData& data);
// Oddities of a message: "again", "not possible when established".
[[nodiscard]] std::string_view message_text(const CmAttempt& attempt, const CmRung& rung);  // "REQ", "MPA_REQ"
[[nodiscard]] std::string remarks_text(const CmRung& rung);
// "10.0.0.1 joins ff12::1, answered after 1.2 ms"
[[nodiscard]] std::string join_text(const MulticastJoin& join);

}  // namespace qps::transport
