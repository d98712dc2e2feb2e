// UlpSession: what the machine of an upper protocol may do: begin and end operations of its conversation, say what it
// learned, tell of events. A machine is a value with the members of UlpMachineLike; it keeps only what its protocol
// needs to be understood.
#pragma once

#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/ulp/open_operations.hpp>

#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

namespace qps::transport {

class UlpSession {
public:
    UlpSession(UlpConversation& conversation, OpenOperations& operations, UlpReport& report, const OperationSink& sink,
               UlpShares& shares, std::vector<OperationSum>* apart)
        : conversation_(conversation),
          operations_(operations),
          report_(report),
          sink_(sink),
          shares_(shares),
          apart_(apart) {}

    [[nodiscard]] UlpConversation& conversation() { return conversation_; }
    [[nodiscard]] OpenOperations& operations() { return operations_; }
    [[nodiscard]] bool from_active(const UlpMessage& message) const { return message.from == conversation_.active; }

    // See OpenOperations. The connection and the protocol are filled in.
    void begin(UlpOperation operation, const UlpMessage& message) {
        operation.protocol = conversation_.protocol;
        operations_.begin(std::move(operation), message, ended());
    }
    bool end(End requester, std::uint64_t tag, OperationOutcome outcome, std::uint32_t status,
             const UlpMessage& answer) {
        return operations_.end(requester, tag, outcome, status, answer, ended());
    }
    void event(UlpEventKind kind, const UlpMessage& message, std::string_view words, std::uint64_t number = 0) {
        report_.add({.kind = kind,
                     .protocol = conversation_.protocol,
                     .connection = conversation_.connection,
                     .cm_attempt = {},
                     .frame = message.first_frame,
                     .time = message.time,
                     .by_active = from_active(message),
                     .number = number,
                     .words = std::string(words)});
    }
    void credits(std::uint32_t granted) {
        conversation_.least_credits = std::min(conversation_.least_credits.value_or(granted), granted);
        conversation_.most_credits = std::max(conversation_.most_credits.value_or(granted), granted);
    }
    [[nodiscard]] OpenOperations::Ended ended() { return {conversation_, report_, sink_, shares_, apart_}; }
    [[nodiscard]] UlpShares& shares() { return shares_; }

private:
    UlpConversation& conversation_;
    OpenOperations& operations_;
    UlpReport& report_;
    const OperationSink& sink_;
    UlpShares& shares_;
    std::vector<OperationSum>* apart_;
};

// What came of a message: whether the machine understood it, and which operation it belongs to. `detail`: what its walk
// must know of it (dissect::UlpHint). `exchange`: a request or a response that another connection may have the other
// half of, as in IPoIB's connected mode, where each host sends on a connection of its own; the same number for both
// halves.
struct Understood {
    bool understood = false;
    std::optional<UlpLabel> label{};
    std::uint8_t detail = 0;
    std::optional<std::uint64_t> exchange{};
};

// The machine of one conversation. connected(): CM told of both sides, before the first message. message(): a SEND. A
// machine may have `std::uint8_t data_detail(const UlpOperation&) const`: what the walk of data must know of memory of
// that operation; and `std::uint8_t detail() const`: of a SEND that is not whole yet; and `void finished(const
// CmReport&, UlpSession&)`: the capture ended, and this is what came of its attempt at a connection.
template <class Machine>
concept UlpMachineLike = std::copyable<Machine> && requires(Machine machine, const CmAttempt& attempt,
                                                            const UlpMessage& message, UlpSession& session) {
    machine.connected(attempt, session);
    { machine.message(message, session) } -> std::same_as<Understood>;
};

// Of protocols whose WRITEs are messages themselves: every WRITE to memory that no operation named. Its payload is not
// kept.
template <class Machine>
concept TakesWrites = requires(Machine machine, const Transfer& transfer, UlpSession& session) {
    { machine.written(transfer, session) } -> std::same_as<Understood>;
};

}  // namespace qps::transport
