// Messages as rows.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/report/table.hpp>

#include <optional>
#include <span>

namespace qps::transport {

struct ReportedMessage {
    ConnectionId connection{};
    End requester{};
    const Endpoint& from;
    const Endpoint& to;
    const Message& message;
    dissect::Instant start{};  // of the capture
    std::uint64_t number = 0;  // counted from 1 in the order in which messages end
};

[[nodiscard]] std::span<const TableColumn<ReportedMessage>> message_columns();
[[nodiscard]] Tone tone_of(const Message& message);

// From its first packet to its answer; nothing where none came.
[[nodiscard]] std::optional<dissect::Duration> latency_of(const Message& message);
// Details that only some messages have: "0x7f0000001000 rkey 0x1234", "imm 0x7", "2 packets not captured".
[[nodiscard]] std::string details_text(const Message& message);

}  // namespace qps::transport
