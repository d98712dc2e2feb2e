#include <transport-replay/ulp/operation_sums.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kCertain = 100;
constexpr std::uint8_t kByService = 80;  // a port can be anybody's

bool is_send(const Observation& observation) { return info(observation.opcode).verb == Verb::send; }

}  // namespace

UlpTracker::State& UlpTracker::state_of(ConnectionId connection) { return state_.at(connection, kUndecided); }

Conversation* UlpTracker::conversation_of(ConnectionId connection) {
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

Conversation* UlpTracker::begin(ConnectionId connection, const UlpDecision& decision, Tracker& tracker) {
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
    conversations_[state] = Conversation(connection, decision, tracker.hosts_of(connection));
    tracker.watch(connection);
    return &conversations_[state];
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
    conversation->connected(attempt, all(sink));
}

void UlpTracker::observe(const Observation& observation, const PacketRecord& record, Tracker& tracker,
                         const OperationSink& sink) {
    if (record.corrupt || record.mirror_copy) return;
    if (info(observation.opcode).service == Service::ud) {
        if (is_send(observation)) deliver(datagram(observation, record), tracker, sink);
        return;
    }
    const ConnectionId uid = *record.connection;
    if (Conversation* conversation = conversation_of(uid)) {
        const auto message = conversation->take(observation, record, all(sink));
        if (message) take_message(*conversation, *message, sink);
        else settle(*conversation);
        return;
    }
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
    conversation->take_over(std::move(known.assemblers));
    known.recogniser.for_each_kept([&](const UlpMessage& message) { take_message(*conversation, message, sink); });
}

void UlpTracker::take_message(Conversation& conversation, const UlpMessage& message, const OperationSink& sink) {
    if (conversation.given_up()) return;
    const Understood understood = conversation.understand(message, all(sink));
    if (understood.exchange) take_exchange(conversation, message, understood, sink);
    conversation.came(message.from, message.psn, understood, shares_);
    settle(conversation);
}

// One that was given up is followed no more.
void UlpTracker::settle(const Conversation& conversation) {
    if (conversation.given_up()) state_of(conversation.connection()) = kNothing;
}

// Both halves go between the same hosts.
void UlpTracker::take_exchange(const Conversation& conversation, const UlpMessage& message,
                               const Understood& understood, const OperationSink& sink) {
    const std::uint64_t key = mix(*understood.exchange + conversation.hosts());
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
    if (Conversation* asked = conversation_of(asking.connection))
        asked->answered(asking.requester, asking.tag, message, all(sink));
}

void UlpTracker::ended(EndedMessage& ended) {
    if (Conversation* conversation = conversation_of(ended.connection)) conversation->ended(ended, shares_);
}

void UlpTracker::refused(const Fatality& fatality) {
    const Conversation* conversation = conversation_of(fatality.connection);
    if (conversation == nullptr || report_.refused.size() == UlpReport::kMaxRefused) return;
    if (const auto found = conversation->refused(fatality)) report_.refused.push_back(*found);
}

void UlpTracker::transferred(const Transfer& transfer, std::optional<Psn> psn) {
    if (Conversation* conversation = conversation_of(transfer.connection))
        conversation->transferred(transfer, psn, shares_);
}

bool UlpTracker::wants_payload(ConnectionId connection, End owner, const RemoteAccess& access) {
    const Conversation* conversation = conversation_of(connection);
    return conversation != nullptr && conversation->wants(owner, access);
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
    return state < kNothing ? conversations_[state].hint(from) : UlpHint{};
}

// There is a place for as many summaries as for conversations that go on. Where there is no place for its sums apart
// they join those of no connection in particular.
void UlpTracker::end(Conversation& conversation, const OperationSink& sink) {
    Conversation::Rest rest = conversation.end(all(sink));
    for (OperationSum& sum : rest.sums) {
        if (report_.sums.size() < kMaxSumsApart) {
            report_.sums.push_back(std::move(sum));
            continue;
        }
        sum.connection = {};
        std::vector<OperationSum> one;
        one.push_back(std::move(sum));
        merge(other_sums_, std::move(one));
    }
    if (report_.conversations.size() < most_conversations_) report_.conversations.push_back(std::move(rest.summary));
    else ++report_.conversations_left_out;
}

void UlpTracker::retire(ConnectionId connection, const OperationSink& sink) {
    undecided_.erase(std::to_underlying(connection));
    const State state = state_.get(connection, kUndecided);
    state_.forget(connection, kUndecided);
    if (state >= kNothing) return;
    end(conversations_[state], sink);
    conversations_[state] = {};
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
        if (!conversation.given_up()) open.push_back(&conversation);
    std::ranges::sort(open, {}, &Conversation::connection);
    for (Conversation* conversation : open) {
        conversation->finish(cm, all(sink));
        end(*conversation, sink);
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
