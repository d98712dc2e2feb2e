#include <transport-replay/ulp/operation_sums.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kCertain = 100;
constexpr std::uint8_t kByService = 80;       // a port can be anybody's
constexpr std::uint64_t kUnreadToGiveUp = 4;  // messages not understood, and more than those that were

bool is_send(const Observation& observation) { return info(observation.opcode).verb == Verb::send; }
bool is_write(const Observation& observation) { return info(observation.opcode).verb == Verb::write; }

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

UlpTracker::State& UlpTracker::state_of(ConnectionId connection) { return state_.at(connection, kUndecided); }

UlpTracker::Conversation* UlpTracker::conversation_of(ConnectionId connection) {
    const State state = state_.get(connection, kUndecided);
    return state < kNothing ? &conversations_[state] : nullptr;
}

UlpTracker::Undecided& UlpTracker::undecided(ConnectionId connection) {
    Undecided& known = undecided_[std::to_underlying(connection)];
    most_asked_ = std::max(most_asked_, undecided_.size());
    return known;
}

std::optional<UlpDecision> UlpTracker::hinted(ConnectionId connection) const {
    const auto found = hints_.find(std::to_underlying(connection));
    if (found == hints_.end()) return std::nullopt;
    const UlpDeclared& said = found->second;
    return UlpDecision{said.protocol, said.basis,  said.certainty, said.active.value_or(End::a),
                       said.settled,  !said.active};
}

UlpProtocol UlpTracker::protocol_of(const CmAttempt& attempt) const {
    for (const ProtocolRow& row : protocol_rows())
        if (row.private_data != nullptr && row.private_data(attempt)) return row.protocol;
    if (!attempt.ip) return UlpProtocol::none;
    constexpr std::uint8_t kTcp = 6;
    for (const ProtocolRow& row : protocol_rows())
        if (attempt.ip->protocol == kTcp && std::ranges::find(row.ports, attempt.ip->port) != row.ports.end())
            return row.protocol;
    return UlpProtocol::none;
}

UlpTracker::Conversation* UlpTracker::begin(ConnectionId connection, const UlpDecision& decision, Tracker& tracker) {
    State& state = state_of(connection);
    const bool full = free_.empty() && conversations_.size() == most_conversations_;
    if (decision.protocol == UlpProtocol::none || full) {
        if (decision.protocol != UlpProtocol::none) ++report_.conversations_left_out;
        state = kNothing;
        return nullptr;
    }
    if (free_.empty()) {
        free_.push_back(static_cast<State>(conversations_.size()));
        conversations_.emplace_back();
    }
    state = free_.back();
    free_.pop_back();
    Conversation& made = conversations_[state];
    made.summary.connection = connection;
    made.hosts = tracker.hosts_of(connection);
    made.summary.protocol = decision.protocol;
    made.summary.basis = decision.basis;
    made.summary.certainty = decision.certainty;
    made.summary.active = decision.active;
    made.settled = decision.settled;
    made.orients = decision.orients;
    made.machine = machine_of(decision.protocol);
    made.takes_writes = std::visit([]<class Machine>(const Machine&) { return TakesWrites<Machine>; }, made.machine);
    tracker.watch(connection);
    return &made;
}

void UlpTracker::connected(ConnectionId connection, const CmAttempt& attempt, Tracker& tracker,
                           const OperationSink& sink) {
    if (state_of(connection) != kUndecided) return;
    UlpDecision decision{
        .protocol = protocol_of(attempt), .basis = UlpBasis::service, .certainty = kByService, .active = End::a};
    if (const auto row = row_of(decision.protocol); row.private_data != nullptr && row.private_data(attempt)) {
        decision.basis = UlpBasis::private_data;
        decision.certainty = kCertain;
    }
    if (const auto said = hinted(connection)) {
        decision = *said;
        decision.orients = false;  // CM knows
    }
    if (decision.protocol == UlpProtocol::none) return;
    Conversation* conversation = begin(connection, decision, tracker);
    if (conversation == nullptr) return;
    UlpSession session = session_of(*conversation, sink);
    const auto hand_over = [&](auto& machine) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(machine)>, std::monostate>)
            machine.connected(attempt, session);
    };
    std::visit(hand_over, conversation->machine);
}

void UlpTracker::observe(const Observation& observation, const PacketRecord& record, Tracker& tracker,
                         const OperationSink& sink) {
    if (record.corrupt || record.mirror_copy) return;
    if (info(observation.opcode).service == Service::ud) return observe_datagram(observation, record, tracker, sink);
    const ConnectionId uid = *record.connection;
    if (Conversation* conversation = conversation_of(uid)) return take_packet(*conversation, observation, record, sink);
    if (!record.arrival || !is_send(observation) || state_of(uid) == kNothing) return;
    if (const auto said = hinted(uid)) {
        if (begin(uid, *said, tracker) != nullptr) observe(observation, record, tracker, sink);
        return;
    }
    if (undecided_.size() == most_undecided_ && !undecided_.contains(std::to_underlying(uid))) {
        state_of(uid) = kNothing;
        return;
    }
    Undecided& known = undecided(uid);
    auto& assembler = known.assemblers[static_cast<std::size_t>(record.from)];
    const bool keeps = !known.recogniser.hopeless();
    if (const auto message = assembler.take(observation, record, shares_.payload, keeps))
        try_message(*message, tracker, sink);
}

void UlpTracker::take_packet(Conversation& conversation, const Observation& observation, const PacketRecord& record,
                             const OperationSink& sink) {
    conversation.detail = 0;
    if (conversation.given_up) return;
    if (info(observation.opcode).verb == Verb::read_response) {
        conversation.detail = conversation.ways[static_cast<std::size_t>(other(record.from))].reads.answered(
            observation, shares_.payload);
        return;
    }
    if (!record.arrival) return;
    if (is_write(observation)) return take_write(conversation, observation, record, sink);
    if (info(observation.opcode).verb == Verb::read_request) return take_read(conversation, observation, record);
    if (!is_send(observation)) return;
    conversation.detail = detail_of(conversation.machine);
    auto& assembler = conversation.ways[static_cast<std::size_t>(record.from)].assembler;
    if (const auto message = assembler.take(observation, record, shares_.payload))
        take_message(conversation, *message, sink);
}

// Only READs that name memory of an operation from its start on, or memory to keep, are watched.
void UlpTracker::take_read(Conversation& conversation, const Observation& observation, const PacketRecord& record) {
    if (!observation.access) return;
    const End owner = other(record.from);
    const UlpOperation* operation = conversation.operations.owner_of(owner, *observation.access);
    if (operation == nullptr) return;
    const bool begins = conversation.operations.begins_memory(owner, *observation.access);
    const std::uint8_t detail = begins ? data_detail(conversation.machine, *operation) : 0;
    const bool keep = conversation.operations.wants(owner, *observation.access);
    if (keep || detail != 0)
        conversation.ways[static_cast<std::size_t>(record.from)].reads.asked(observation.psn, keep, detail);
}

void UlpTracker::observe_datagram(const Observation& observation, const PacketRecord& record, Tracker& tracker,
                                  const OperationSink& sink) {
    if (is_send(observation)) deliver(datagram(observation, record), tracker, sink);
}

void UlpTracker::try_message(const UlpMessage& message, Tracker& tracker, const OperationSink& sink) {
    UlpRecogniser& recogniser = undecided(message.connection).recogniser;
    if (const auto decision = recogniser.take(message, shares_.payload))
        return decide(message.connection, *decision, tracker, sink);
    if (!recogniser.gave_up()) return;
    state_of(message.connection) = kNothing;
    undecided_.erase(std::to_underlying(message.connection));
}

// The messages that led to the decision are followed first.
void UlpTracker::decide(ConnectionId connection, const UlpDecision& decision, Tracker& tracker,
                        const OperationSink& sink) {
    const auto found = undecided_.find(std::to_underlying(connection));
    Undecided known = std::move(found->second);
    undecided_.erase(found);
    Conversation* conversation = begin(connection, decision, tracker);
    if (conversation == nullptr) return;
    for (std::size_t end = 0; end < 2; ++end) conversation->ways[end].assembler = std::move(known.assemblers[end]);
    known.recogniser.for_each_kept([&](const UlpMessage& message) { take_message(*conversation, message, sink); });
}

void UlpTracker::take_message(Conversation& conversation, const UlpMessage& message, const OperationSink& sink) {
    if (conversation.given_up) return;
    if (conversation.orients) orient(conversation, message);
    UlpSession session = session_of(conversation, sink);
    const auto hand_over = [&](auto& machine) -> Understood {
        if constexpr (std::is_same_v<std::decay_t<decltype(machine)>, std::monostate>)
            return {.understood = true, .label = {}};
        else return machine.message(message, session);
    };
    const Understood understood = std::visit(hand_over, conversation.machine);
    conversation.detail = understood.detail;
    if (understood.exchange) take_exchange(conversation, message, understood, sink);
    came(conversation, message.from, message.psn, understood);
}

// Both halves go between the same hosts.
void UlpTracker::take_exchange(const Conversation& conversation, const UlpMessage& message,
                               const Understood& understood, const OperationSink& sink) {
    const std::uint64_t key = mix(*understood.exchange + conversation.hosts);
    if (understood.label->part == UlpLabel::Part::request) {
        if (asking_.size() >= kMaxAsking) asking_.clear();
        asking_.insert_or_assign(key, Asking{message.connection, message.from, understood.label->tag});
        longest_asking_ = std::max(longest_asking_, asking_.size());
        return;
    }
    const auto found = asking_.find(key);
    if (found == asking_.end()) return;  // its request may be before the capture
    const Asking asking = found->second;
    asking_.erase(found);
    Conversation* asked = conversation_of(asking.connection);
    if (asked == nullptr || asked->given_up) return;
    UlpSession session = session_of(*asked, sink);
    static_cast<void>(session.end(asking.requester, asking.tag, OperationOutcome::done, 0, message));
}

// A message or a WRITE was looked at.
void UlpTracker::came(Conversation& conversation, End from, Psn psn, const Understood& understood) {
    ++conversation.summary.messages;
    if (!understood.understood) ++conversation.summary.unread;
    auto& labels = conversation.ways[static_cast<std::size_t>(from)].labels;
    if (understood.label) labels.add(psn, *understood.label, shares_.operations);
    const bool guess =
        conversation.summary.basis == UlpBasis::content || conversation.summary.basis == UlpBasis::service;
    if (guess && !conversation.settled && conversation.summary.unread >= kUnreadToGiveUp &&
        conversation.summary.unread * 2 > conversation.summary.messages)
        give_up(conversation);
}

// The user said what it speaks, not who asked whom.
void UlpTracker::orient(Conversation& conversation, const UlpMessage& message) {
    const auto like = row_of(conversation.summary.protocol).message;
    const Likeness likeness = like == nullptr ? Likeness{} : like(message);
    if (likeness.percent == 0) return;
    conversation.summary.active = likeness.from_active ? message.from : other(message.from);
    conversation.orients = false;
}

// It was a wrong guess: plain data is plain data again. What had ended before stays in the sums; a wrong guess ends
// nothing.
void UlpTracker::give_up(Conversation& conversation) {
    conversation.given_up = true;
    conversation.operations = {};
    conversation.machine = {};
    conversation.ways = {};
    conversation.detail = 0;
    state_of(conversation.summary.connection) = kNothing;
}

void UlpTracker::take_write(Conversation& conversation, const Observation& observation, const PacketRecord& record,
                            const OperationSink& sink) {
    Way& way = conversation.ways[static_cast<std::size_t>(record.from)];
    Writing& writing = way.writing;
    if (record.arrival == Arrival::repeated) return;
    const Place place = info(observation.opcode).place;
    if (observation.access) {  // FIRST or ONLY
        const End owner = other(record.from);
        const UlpOperation* operation = conversation.operations.owner_of(owner, *observation.access);
        writing.owned = operation != nullptr;
        writing.open = writing.owned || conversation.takes_writes;
        if (!writing.open) return;
        writing.psn = observation.psn;
        writing.tag = writing.owned ? operation->tag : 0;
        writing.asked_by = writing.owned ? operation->requester : owner;
        writing.keep = writing.owned && conversation.operations.wants(owner, *observation.access);
        if (writing.owned && conversation.operations.begins_memory(owner, *observation.access))
            conversation.detail = data_detail(conversation.machine, *operation);
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
        if (writing.owned)
            way.labels.add(observation.psn,
                           {UlpLabel::Part::data, conversation.summary.protocol, operation->code, operation->tag},
                           shares_.operations);
    }
    if (!writing.open) return;
    writing.transfer.bytes += observation.payload_length;
    writing.transfer.time = observation.time;
    writing.transfer.last_frame = observation.frame;
    writing.transfer.immediate = observation.immediate;
    if (writing.keep && writing.payload.size() < OpenOperations::kMaxKept)
        writing.keep = writing.payload.append(shares_.payload, observation.payload);
    if (ends_message(place)) end_write(conversation, record.from, sink);
}

void UlpTracker::end_write(Conversation& conversation, End requester, const OperationSink& sink) {
    Writing& writing = conversation.ways[static_cast<std::size_t>(requester)].writing;
    writing.open = false;
    writing.transfer.payload = writing.payload.bytes();
    if (writing.owned) {
        UlpOperation* operation = conversation.operations.find(writing.asked_by, writing.tag);
        if (operation != nullptr) conversation.operations.moved(*operation, writing.transfer, shares_);
        return;
    }
    UlpSession session = session_of(conversation, sink);
    const auto hand_over = [&]<class Machine>(Machine& machine) -> Understood {
        if constexpr (TakesWrites<Machine>) return machine.written(writing.transfer, session);
        else return {.understood = true, .label = {}};
    };
    came(conversation, requester, writing.psn, std::visit(hand_over, conversation.machine));
}

void UlpTracker::ended(EndedMessage& ended) {
    Conversation* conversation = conversation_of(ended.connection);
    if (conversation == nullptr || conversation->given_up) return;
    Message& message = ended.message;
    if (message.verb == Verb::read_request && message.access) {
        const UlpOperation* operation = conversation->operations.owner_of(other(ended.requester), *message.access);
        if (operation == nullptr) return;
        message.ulp = UlpLabel{UlpLabel::Part::data, conversation->summary.protocol, operation->code, operation->tag};
        const HeldBytes payload =
            conversation->ways[static_cast<std::size_t>(ended.requester)].reads.take(message.first);
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
                     .payload = payload.bytes()});
        return;
    }
    auto& labels = conversation->ways[static_cast<std::size_t>(ended.requester)].labels;
    if (const auto label = labels.take(message.first)) message.ulp = *label;
}

void UlpTracker::refused(const Fatality& fatality) {
    const Conversation* conversation = conversation_of(fatality.connection);
    if (conversation == nullptr || conversation->given_up || !fatality.request || !fatality.request->access) return;
    auto found = conversation->operations.compare(other(fatality.requester), *fatality.request->access);
    if (!found || report_.refused.size() == UlpReport::kMaxRefused) return;
    found->connection = fatality.connection;
    found->requester = fatality.requester;
    found->nak = fatality.frame;
    report_.refused.push_back(*found);
}

void UlpTracker::transferred(const Transfer& transfer, std::optional<Psn> psn) {
    Conversation* conversation = conversation_of(transfer.connection);
    if (conversation == nullptr || conversation->given_up) return;
    UlpOperation* operation = conversation->operations.owner_of(other(transfer.requester), transfer.access);
    if (operation == nullptr) return;
    auto& labels = conversation->ways[static_cast<std::size_t>(transfer.requester)].labels;
    if (psn)
        labels.add(*psn, {UlpLabel::Part::data, conversation->summary.protocol, operation->code, operation->tag},
                   shares_.operations);
    conversation->operations.moved(*operation, transfer, shares_);
}

bool UlpTracker::wants_payload(ConnectionId connection, End owner, const RemoteAccess& access) {
    const Conversation* conversation = conversation_of(connection);
    return conversation != nullptr && !conversation->given_up && conversation->operations.wants(owner, access);
}

void UlpTracker::deliver(const UlpMessage& message, Tracker& tracker, const OperationSink& sink) {
    if (Conversation* conversation = conversation_of(message.connection))
        return take_message(*conversation, message, sink);
    if (state_of(message.connection) == kNothing) return;
    if (const auto said = hinted(message.connection)) {
        if (Conversation* begun = begin(message.connection, *said, tracker)) take_message(*begun, message, sink);
        return;
    }
    if (undecided_.size() < most_undecided_ || undecided_.contains(std::to_underlying(message.connection)))
        try_message(message, tracker, sink);
}

UlpHint UlpTracker::hint(ConnectionId connection, End from) const {
    const State state = state_.get(connection, kUndecided);
    if (state >= kNothing) return {};
    const Conversation& conversation = conversations_[state];
    return {conversation.summary.protocol, from == conversation.summary.active, conversation.detail};
}

UlpSession UlpTracker::session_of(Conversation& conversation, const OperationSink& sink) {
    return {conversation.summary,
            conversation.operations,
            report_,
            sink,
            shares_,
            sums_apart_ ? &conversation.sums : nullptr};
}

// Where there is no place for them apart they join those of no connection in particular.
void UlpTracker::keep_sums(Conversation& conversation) {
    for (OperationSum& sum : std::exchange(conversation.sums, {})) {
        if (report_.sums.size() < kMaxSumsApart) {
            sum.connection = conversation.summary.connection;
            report_.sums.push_back(std::move(sum));
        } else {
            std::vector<OperationSum> one;
            one.push_back(std::move(sum));
            merge(other_sums_, std::move(one));
        }
    }
}

// What is open stays so. There is a place for as many summaries as for conversations that go on.
void UlpTracker::end(Conversation& conversation, const OperationSink& sink) {
    conversation.operations.close_all(OperationOutcome::open, session_of(conversation, sink).ended());
    keep_sums(conversation);
    if (report_.conversations.size() < most_conversations_)
        report_.conversations.push_back(std::move(conversation.summary));
    else ++report_.conversations_left_out;
}

void UlpTracker::retire(ConnectionId connection, const OperationSink& sink) {
    undecided_.erase(std::to_underlying(connection));
    const State state = state_.get(connection, kUndecided);
    state_.forget(connection, kUndecided);
    if (state >= kNothing) return;
    Conversation& conversation = conversations_[state];
    end(conversation, sink);
    conversation = {};
    conversation.given_up = true;
    free_.push_back(state);
}

void UlpTracker::add_peaks(Peaks& peaks) const {
    peaks.add(Need::conversations, std::max(conversations_.size(), report_.conversations.size()), most_conversations_);
    peaks.add(Need::undecided, most_asked_, most_undecided_);
    peaks.add(Need::operations, shares_.operations.most_used(), shares_.operations.most());
    peaks.add(Need::payload, shares_.payload.most_used(), shares_.payload.most());
    peaks.add(Need::asking, longest_asking_, kMaxAsking);
    peaks.add(Need::operation_sums, report_.sums.size(), sums_apart_ ? kMaxSumsApart : kMaxOperationSums);
    peaks.add(Need::ulp_events, report_.events.size(), kMaxUlpEvents);
    peaks.add(Need::failures, report_.failures.size(), kMaxFailureKinds);
    peaks.add(Need::unanswered, report_.unanswered.size(), kMaxUnanswered);
    peaks.add(Need::refused, report_.refused.size(), UlpReport::kMaxRefused);
}

UlpReport UlpTracker::finish(const CmReport& cm, const OperationSink& sink) {
    std::vector<Conversation*> open;
    for (Conversation& conversation : conversations_)
        if (!conversation.given_up) open.push_back(&conversation);
    std::ranges::sort(open, {}, [](const Conversation* one) { return one->summary.connection; });
    for (Conversation* one : open) {
        Conversation& conversation = *one;
        UlpSession session = session_of(conversation, sink);
        const auto hand_over = [&](auto& machine) {
            if constexpr (requires { machine.finished(cm, session); }) machine.finished(cm, session);
        };
        std::visit(hand_over, conversation.machine);
        end(conversation, sink);
    }
    for (const CmAttempt& attempt : cm.attempts)
        if (const auto hand_over = row_of(protocol_of(attempt)).attempt; hand_over != nullptr)
            hand_over(attempt, report_);
    merge(report_.sums, std::move(other_sums_));
    report_.payload_left_out = shares_.payload.refused();
    std::ranges::sort(report_.conversations, {}, &UlpConversation::connection);
    std::ranges::stable_sort(report_.events, {}, &UlpEvent::frame);
    return std::move(report_);
}

}  // namespace qps::transport
