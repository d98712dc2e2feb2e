#include <dissect/base/types.hpp>
#include <transport-replay/report/ulp.hpp>
#include <transport-replay/ulp/protocols.hpp>

#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

std::string spoken_text(const UlpConversation& conversation) {
    const std::string_view word = info(conversation.protocol).word;
    if (conversation.certainty >= 100) return std::string(word);
    constexpr std::array<std::string_view, kUlpBasisNames.size()> kBy{"content", "port", "private data", "user"};
    return fmt::format("{} (by {}, {} %)", word, kBy[static_cast<std::size_t>(conversation.basis)],
                       conversation.certainty);
}

std::string operation_name(UlpProtocol protocol, OperationCode code) {
    const auto name = row_of(protocol).operation_name;
    if (name != nullptr) return std::string(name(code));
    return fmt::format("operation {}", std::to_underlying(code));
}

std::string_view part_name(UlpLabel::Part part) {
    constexpr std::array<std::string_view, 3> kParts{"request", "data", "answer"};
    return kParts[static_cast<std::size_t>(part)];
}

std::string tag_text(std::uint64_t tag) { return fmt::format("{:#x}", tag); }

std::string label_text(const UlpLabel& label) {
    return fmt::format("{} {} {} {}", info(label.protocol).word, operation_name(label.protocol, label.code),
                       tag_text(label.tag), part_name(label.part));
}

std::string subject_text(const UlpOperation& operation) {
    const auto describe = row_of(operation.protocol).describe;
    std::string text = describe == nullptr ? std::string() : describe(operation);
    if (!operation.about.empty()) text += (text.empty() ? "" : " of ") + operation.about;
    return text;
}

std::string status_text(const UlpOperation& operation) {
    const auto words = row_of(operation.protocol).status;
    std::string text = words == nullptr ? std::string() : words(operation);
    return text.empty() ? fmt::format("status {:#x}", operation.status) : text;
}

std::string outcome_text(const UlpOperation& operation) {
    if (operation.outcome == OperationOutcome::failed) return "failed: " + status_text(operation);
    return std::string(kOperationOutcomeNames[static_cast<std::size_t>(operation.outcome)]);
}

std::optional<Duration> latency_of(const UlpOperation& operation) {
    if (!operation.has_answer()) return std::nullopt;
    return operation.answered - operation.asked;
}

std::optional<LatencyParts> parts_of(const UlpOperation& operation) {
    if (!operation.has_answer() || !operation.has_data()) return std::nullopt;
    return LatencyParts{operation.data_first - operation.asked, operation.data_last - operation.data_first,
                        operation.answered - operation.data_last};
}

std::uint64_t moved_bytes(const UlpOperation& operation) {
    return operation.in_message + operation.written + operation.read;
}

bool is_bad(const UlpOperation& operation) {
    if (operation.outcome == OperationOutcome::failed || operation.outcome == OperationOutcome::unanswered) return true;
    return operation.outcome == OperationOutcome::open && !operation.one_way;
}

}  // namespace qps::transport
