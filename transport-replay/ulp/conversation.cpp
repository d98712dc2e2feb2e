#include <transport-replay/ulp/conversation.hpp>

#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kUnreadToGiveUp = 4;  // messages not understood, and more than those that were

bool carries_send(const Observation& observation) { return info(observation.opcode).verb == Verb::send; }

// What the machine says of the memory of an operation, and of a message that is not whole yet: where it has a member
// for it.
std::uint8_t data_detail(const UlpMachine& machine, const UlpOperation& operation) {
    const auto ask = [&](const auto& known) -> std::uint8_t {
        if constexpr (requires { known.data_detail(operation); }) return known.data_detail(operation);
        else return 0;
    };
    return std::visit(ask, machine);
}

std::uint8_t detail_of(const UlpMachine& machine) {
    const auto ask = [&](const auto& known) -> std::uint8_t {
        if constexpr (requires { known.detail(); }) return known.detail();
        else return 0;
    };
    return std::visit(ask, machine);
}

UlpMachine machine_of(UlpProtocol protocol) {
    const auto make = row_of(protocol).machine;
    return make != nullptr ? make() : UlpMachine{};
}

}  // namespace

Conversation::Conversation(ConnectionId connection, const UlpDecision& decision, std::uint64_t hosts)
    : machine_(machine_of(decision.protocol)),
      settled_(decision.settled),
      orients_(decision.orients),
      given_up_(false),
      hosts_(hosts) {
    summary_.connection = connection;
    summary_.protocol = decision.protocol;
    summary_.basis = decision.basis;
    summary_.certainty = decision.certainty;
    summary_.active = decision.active;
    takes_writes_ = std::visit([]<class Machine>(const Machine&) { return TakesWrites<Machine>; }, machine_);
}

void Conversation::connected(const CmAttempt& attempt, const Conversations& all) {
    UlpSession own = session(all);
    const auto hand_over = [&](auto& machine) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(machine)>, std::monostate>) machine.connected(attempt, own);
    };
    std::visit(hand_over, machine_);
}

void Conversation::take_over(std::array<SendAssembler, 2> assemblers) {
    for (std::size_t end = 0; end < 2; ++end) ways_[end].assembler = std::move(assemblers[end]);
}

std::optional<UlpMessage> Conversation::take(const Observation& observation, const PacketRecord& record,
                                             const Conversations& all) {
    detail_ = 0;
    if (given_up_) return std::nullopt;
    const Verb verb = info(observation.opcode).verb;
    if (verb == Verb::read_response) {
        detail_ = way(other(record.from)).reads.answered(observation, all.shares.payload);
        return std::nullopt;
    }
    if (!record.arrival) return std::nullopt;
    if (verb == Verb::write) take_write(observation, record, all);
    if (verb == Verb::read_request) take_read(observation, record);
    if (!carries_send(observation)) return std::nullopt;
    detail_ = detail_of(machine_);
    return way(record.from).assembler.take(observation, record, all.shares.payload);
}

// Only READs that name memory of an operation from its start on, or memory to keep, are watched.
void Conversation::take_read(const Observation& observation, const PacketRecord& record) {
    if (!observation.access) return;
    const End owner = other(record.from);
    const UlpOperation* operation = operations_.owner_of(owner, *observation.access);
    if (operation == nullptr) return;
    const bool begins = operations_.begins_memory(owner, *observation.access);
    const std::uint8_t detail = begins ? data_detail(machine_, *operation) : 0;
    const bool keep = operations_.wants(owner, *observation.access);
    if (keep || detail != 0) way(record.from).reads.asked(observation.psn, keep, detail);
}

Understood Conversation::understand(const UlpMessage& message, const Conversations& all) {
    if (orients_) orient(message);
    UlpSession own = session(all);
    const auto hand_over = [&](auto& machine) -> Understood {
        if constexpr (std::is_same_v<std::decay_t<decltype(machine)>, std::monostate>)
            return {.understood = true, .label = {}};
        else return machine.message(message, own);
    };
    const Understood understood = std::visit(hand_over, machine_);
    detail_ = understood.detail;
    return understood;
}

void Conversation::answered(End requester, std::uint64_t tag, const UlpMessage& message, const Conversations& all) {
    if (!given_up_) static_cast<void>(session(all).end(requester, tag, OperationOutcome::done, 0, message));
}

void Conversation::came(End from, Psn psn, const Understood& understood, UlpShares& shares) {
    ++summary_.messages;
    if (!understood.understood) ++summary_.unread;
    if (understood.label) way(from).labels.add(psn, *understood.label, shares.operations);
    const bool guess = summary_.basis == UlpBasis::content || summary_.basis == UlpBasis::service;
    if (guess && !settled_ && summary_.unread >= kUnreadToGiveUp && summary_.unread * 2 > summary_.messages) give_up();
}

// The user said what it speaks, not who asked whom.
void Conversation::orient(const UlpMessage& message) {
    const auto like = row_of(summary_.protocol).message;
    const Likeness likeness = like == nullptr ? Likeness{} : like(message);
    if (likeness.percent == 0) return;
    summary_.active = likeness.from_active ? message.from : other(message.from);
    orients_ = false;
}

// It was a wrong guess: plain data is plain data again. What had ended before stays in the sums; a wrong guess ends
// nothing.
void Conversation::give_up() {
    given_up_ = true;
    operations_ = {};
    machine_ = {};
    ways_ = {};
    detail_ = 0;
}

void Conversation::take_write(const Observation& observation, const PacketRecord& record, const Conversations& all) {
    if (record.arrival == Arrival::repeated) return;
    if (observation.access) begin_write(observation, record, all.shares);
    Writing& writing = way(record.from).writing;
    if (!writing.open) return;
    writing.transfer.bytes += observation.payload_length;
    writing.transfer.time = observation.time;
    writing.transfer.last_frame = observation.frame;
    writing.transfer.immediate = observation.immediate;
    if (writing.keep && writing.payload.size() < OpenOperations::kMaxKept)
        writing.keep = writing.payload.append(all.shares.payload, observation.payload);
    if (ends_message(info(observation.opcode).place)) end_write(record.from, all);
}

// FIRST or ONLY.
void Conversation::begin_write(const Observation& observation, const PacketRecord& record, UlpShares& shares) {
    Way& own = way(record.from);
    Writing& writing = own.writing;
    const End owner = other(record.from);
    const UlpOperation* operation = operations_.owner_of(owner, *observation.access);
    writing.owned = operation != nullptr;
    writing.open = writing.owned || takes_writes_;
    if (!writing.open) return;
    writing.psn = observation.psn;
    writing.tag = writing.owned ? operation->tag : 0;
    writing.asked_by = writing.owned ? operation->requester : owner;
    writing.keep = writing.owned && operations_.wants(owner, *observation.access);
    if (writing.owned && operations_.begins_memory(owner, *observation.access))
        detail_ = data_detail(machine_, *operation);
    writing.payload.clear();
    writing.transfer = {.connection = *record.connection,
                        .requester = record.from,
                        .read = false,
                        .access = *observation.access,
                        .bytes = 0,
                        .begun = observation.time,
                        .time = {},
                        .first_frame = observation.frame,
                        .last_frame = {},
                        .immediate = {},
                        .payload = {}};
    if (writing.owned) own.labels.add(observation.psn, data_label(*operation), shares.operations);
}

void Conversation::end_write(End requester, const Conversations& all) {
    Writing& writing = way(requester).writing;
    writing.open = false;
    writing.transfer.payload = writing.payload.bytes();
    if (writing.owned) {
        UlpOperation* operation = operations_.find(writing.asked_by, writing.tag);
        if (operation != nullptr) operations_.moved(*operation, writing.transfer, all.shares);
        return;
    }
    UlpSession own = session(all);
    const auto hand_over = [&]<class Machine>(Machine& machine) -> Understood {
        if constexpr (TakesWrites<Machine>) return machine.written(writing.transfer, own);
        else return {.understood = true, .label = {}};
    };
    came(requester, writing.psn, std::visit(hand_over, machine_), all.shares);
}

void Conversation::ended(EndedMessage& ended, UlpShares& shares) {
    if (given_up_) return;
    Message& message = ended.message;
    if (message.verb != Verb::read_request || !message.access) {
        if (const auto label = way(ended.requester).labels.take(message.first)) message.ulp = *label;
        return;
    }
    const UlpOperation* operation = operations_.owner_of(other(ended.requester), *message.access);
    if (operation == nullptr) return;
    message.ulp = data_label(*operation);
    const HeldBytes payload = way(ended.requester).reads.take(message.first);
    if (message.outcome != Outcome::completed) return;
    transferred({.connection = ended.connection,
                 .requester = ended.requester,
                 .read = true,
                 .access = *message.access,
                 .bytes = message.bytes,
                 .begun = message.first_time,
                 .time = message.answer_time,
                 .first_frame = message.first_frame,
                 .last_frame = message.answer_frame,
                 .immediate = {},
                 .payload = payload.bytes()},
                std::nullopt, shares);
}

void Conversation::transferred(const Transfer& transfer, std::optional<Psn> psn, UlpShares& shares) {
    if (given_up_) return;
    UlpOperation* operation = operations_.owner_of(other(transfer.requester), transfer.access);
    if (operation == nullptr) return;
    if (psn) way(transfer.requester).labels.add(*psn, data_label(*operation), shares.operations);
    operations_.moved(*operation, transfer, shares);
}

std::optional<RefusedAccess> Conversation::refused(const Fatality& fatality) const {
    if (given_up_ || !fatality.request || !fatality.request->access) return std::nullopt;
    auto found = operations_.compare(other(fatality.requester), *fatality.request->access);
    if (!found) return std::nullopt;
    found->connection = fatality.connection;
    found->requester = fatality.requester;
    found->nak = fatality.frame;
    return found;
}

bool Conversation::wants(End owner, const RemoteAccess& access) const {
    return !given_up_ && operations_.wants(owner, access);
}

void Conversation::finish(const CmReport& cm, const Conversations& all) {
    UlpSession own = session(all);
    const auto hand_over = [&](auto& machine) {
        if constexpr (requires { machine.finished(cm, own); }) machine.finished(cm, own);
    };
    std::visit(hand_over, machine_);
}

Conversation::Rest Conversation::end(const Conversations& all) {
    operations_.close_all(OperationOutcome::open, session(all).ended());
    Rest rest{std::exchange(sums_, {}), {}};
    for (OperationSum& sum : rest.sums) sum.connection = summary_.connection;
    rest.summary = std::move(summary_);
    return rest;
}

}  // namespace qps::transport
