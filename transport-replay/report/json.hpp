// A reconstruction for programs: JSON, a line an object, or rows of names and values. Names carry units, numbers are
// decimal.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/report/document.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace qps::transport {

struct CmAttempt;
struct Collective;
struct Finding;
struct MulticastJoin;
struct OperationFailures;
struct OperationSum;
struct RateControl;
struct Timeline;
struct UlpConversation;
struct UlpEvent;

using TextSink = std::function<void(std::string_view piece)>;

// One report of the whole capture, in any format but a table. `inputs`: names of what was read; `connections`: those
// whose parts are wanted, all where there are none.
void write_report(const Timeline& timeline, OutputFormat format, std::span<const std::string> inputs,
                  std::span<const ConnectionId> connections, const TextSink& sink);

// Parts of it, each an object that the caller has opened. Of what was asked for: what was not read, and whether there
// was anything to judge.
void add_extent(Document& document, const Timeline& timeline);
void add_attempt(Document& document, const CmAttempt& attempt);
void add_join(Document& document, const MulticastJoin& join);
void add_conversation(Document& document, const UlpConversation& conversation);
void add_operation_sum(Document& document, const OperationSum& sum);
void add_operation_failures(Document& document, const OperationFailures& failures);
void add_ulp_event(Document& document, const UlpEvent& event);
void add_collective(Document& document, const Collective& collective);
void add_rate(Document& document, const RateControl& rate);

}  // namespace qps::transport
