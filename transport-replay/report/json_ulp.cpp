// Writes for programs what connections were used for.
#include <transport-replay/report/json.hpp>
#include <transport-replay/report/operations.hpp>

namespace qps::transport {

namespace {

void add_durations(Document& document, std::string_view name, const DurationSummary& durations) {
    document.open(name);
    document.add("count", durations.count);
    document.add("min_ns", durations.least);
    document.add("mean_ns", durations.mean());
    document.add("max_ns", durations.most);
    document.close();
}

void add_slow(Document& document, const UlpOperation& operation) {
    document.open();
    document.add("connection", operation.connection);
    document.add("tag", operation.tag);
    document.add("subject", subject_text(operation));
    if (!operation.about.empty()) document.add("file", operation.about);
    document.add("latency_ns", latency_of(operation));
    const auto parts = parts_of(operation);
    document.add("wait_ns", parts ? std::optional(parts->until_data) : std::nullopt);
    document.add("transfer_ns", parts ? std::optional(parts->data) : std::nullopt);
    document.add("complete_ns", parts ? std::optional(parts->to_answer) : std::nullopt);
    document.add("request_frame", operation.asked_frame);
    document.add("answer_frame", operation.answered_frame);
    document.close();
}

}  // namespace

void add_conversation(Document& document, const UlpConversation& conversation) {
    document.add("connection", conversation.connection);
    document.add("protocol", info(conversation.protocol).word);
    document.add("basis", kUlpBasisNames[static_cast<std::size_t>(conversation.basis)]);
    document.add("certainty_percent", conversation.certainty);
    document.add("active", conversation.active == End::a ? "a" : "b");
    document.add("messages", conversation.messages);
    document.add("unread", conversation.unread);
    document.add("operations", conversation.operations);
    document.add("failed", conversation.failed);
    document.add("unanswered", conversation.unanswered);
    document.add("bytes", conversation.bytes);
    document.add("max_outstanding", conversation.most_outstanding);
    document.add("serialised_operations", conversation.alone);
    const bool any = conversation.operations != 0;
    document.add("first_request_ns", any ? std::optional(conversation.first_asked) : std::nullopt);
    document.add("last_answer_ns",
                 conversation.latency.count != 0 ? std::optional(conversation.last_answered) : std::nullopt);
    add_durations(document, "latency", conversation.latency);
    document.add("min_credits", conversation.least_credits);
    document.add("max_credits", conversation.most_credits);
    document.open("facts");
    for (const UlpFact& fact : conversation.facts) document.add(fact.name, fact.value);
    document.close();
}

void add_operation_sum(Document& document, const OperationSum& sum) {
    document.add("protocol", info(sum.protocol).word);
    document.add("operation", operation_name(sum.protocol, sum.code));
    document.add("code", sum.code);
    document.add("count", sum.count);
    document.add("failed", sum.failed);
    document.add("unanswered", sum.unanswered);
    document.add("bytes", sum.bytes);
    add_durations(document, "latency", sum.latency);
    document.open("percentiles");
    document.add("p50_ns", percentile_of(sum, 50));
    document.add("p90_ns", percentile_of(sum, 90));
    document.add("p99_ns", percentile_of(sum, 99));
    document.close();
    add_durations(document, "wait", sum.until_data);
    add_durations(document, "transfer", sum.data);
    add_durations(document, "complete", sum.to_answer);
    document.open_list("slowest");
    for (const UlpOperation& operation : sum.slowest) add_slow(document, operation);
    document.close_list();
}

void add_operation_failures(Document& document, const OperationFailures& failures) {
    UlpOperation operation;
    operation.protocol = failures.protocol;
    operation.code = failures.code;
    operation.status = failures.status;
    document.add("connection", failures.connection);
    document.add("protocol", info(failures.protocol).word);
    document.add("operation", operation_name(failures.protocol, failures.code));
    document.add("status", failures.status);
    document.add("status_text", status_text(operation));
    document.add("count", failures.count);
    document.add_numbers("frames", failures.frames);
}

void add_ulp_event(Document& document, const UlpEvent& event) {
    document.add("event", kUlpEventNames[static_cast<std::size_t>(event.kind)]);
    document.add("protocol", info(event.protocol).word);
    document.add("connection", event.connection);
    document.add("cm_attempt", event.cm_attempt);
    document.add("frame", event.frame);
    document.add("time_ns", event.time);
    document.add("by", event.by_active ? "active" : "passive");
    document.add("number", event.number);
    document.add("text", event.words);
}

}  // namespace qps::transport
