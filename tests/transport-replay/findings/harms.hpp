// What upper protocols, collectives and management show when something is wrong with them, added to a healthy Timeline.
#pragma once

#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/ulp/operation_sums.hpp>

namespace qps::tests {

using namespace dissect;
using namespace transport;

// The connection speaks NVMe; 200 commands took 0.1 ms each, one after the other.
inline UlpConversation& speaks(Timeline& timeline) {
    UlpConversation& conversation = timeline.ulp.conversations.emplace_back();
    conversation.connection = timeline.connections[0].uid;
    conversation.protocol = UlpProtocol::nvme;
    conversation.certainty = 100;
    conversation.operations = conversation.alone = 200;
    conversation.most_outstanding = 8;
    conversation.last_answered = Instant{25 * kMillisecond};
    for (int i = 0; i < 200; ++i) conversation.latency.add(Duration{100 * kMicrosecond});
    return conversation;
}
inline UlpEvent& add_event(Timeline& timeline, UlpEventKind kind) {
    speaks(timeline);
    UlpEvent& event = timeline.ulp.events.emplace_back();
    event.kind = kind;
    event.protocol = UlpProtocol::nvme;
    event.connection = timeline.connections[0].uid;
    event.frame = FrameIndex{7};
    event.number = 9;
    event.words = "no such host. Ask later.";
    return event;
}
inline UlpOperation asked(const Timeline& timeline, std::int64_t at, std::int64_t took) {
    UlpOperation operation;
    operation.connection = timeline.connections[0].uid;
    operation.protocol = UlpProtocol::nvme;
    operation.outcome = took == 0 ? OperationOutcome::open : OperationOutcome::done;
    operation.asked = Instant{at};
    operation.asked_frame = FrameIndex{100};
    if (took != 0) {
        operation.answered = Instant{at + took};
        operation.answered_frame = FrameIndex{120};
    }
    return operation;
}
inline void slow_one(Timeline& timeline, std::int64_t took) {
    speaks(timeline);
    for (int i = 0; i < 100; ++i) add(timeline.ulp.sums, asked(timeline, i * kMillisecond, 100 * kMicrosecond));
    add(timeline.ulp.sums, asked(timeline, 200 * kMillisecond, took));
}
inline void fails(Timeline& timeline, std::uint32_t status) {
    speaks(timeline);
    OperationFailures& failures = timeline.ulp.failures.emplace_back();
    failures.connection = timeline.connections[0].uid;
    failures.protocol = UlpProtocol::nvme;
    failures.status = status;
    failures.count = 3;
    failures.frames = {FrameIndex{30}, FrameIndex{40}};
}
inline void waits(Timeline& timeline, std::int64_t since) {
    speaks(timeline);
    timeline.last = Instant{10 * kSecond};
    add(timeline.ulp.sums, asked(timeline, 0, kMillisecond));
    timeline.ulp.unanswered.push_back(asked(timeline, 10 * kSecond - since, 0));
}

inline Collective& collective(Timeline& timeline) {
    Collective& made = timeline.collectives.collectives.emplace_back();
    made.pattern = CollectivePattern::ring;
    made.made_by = CollectiveLibrary::nccl;
    for (unsigned last = 1; last <= 4; ++last)
        made.ranks.push_back({.address = host(last), .sent = 1 << 20, .received = 1 << 20});
    made.steps.resize(20);
    for (CollectiveStep& step : made.steps) made.step_length.add(step.length = Duration{10 * kMillisecond});
    return made;
}
inline void waits_for(Collective& collective) {
    collective.straggler = {.rank = 1,
                            .delay = CollectiveDelay::starts,
                            .steps = 19,
                            .of = 20,
                            .waited = Duration{60 * kMillisecond},
                            .share = 30,
                            .confidence = 95,
                            .frames = {FrameIndex{12}, FrameIndex{30}}};
}
inline void sends_at_once(Collective& collective, std::uint32_t senders) {
    collective.incast = {
        .rank = 2, .senders = senders, .steps = 18, .of = 20, .bytes = 1 << 24, .frames = {FrameIndex{12}}};
}

// A port of whose counters one moved.
inline void counter(Timeline& timeline, std::string_view name) {
    PortCounterHistory& episode = timeline.management.counters.emplace_back();
    episode.attribute = LayerKind::port_counters;
    episode.answers = 2;
    const auto fields = counter_fields(episode.attribute);
    episode.counters.resize(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (fields[i]->name.ends_with(name)) episode.counters[i].increments = episode.counters[i].last = 3;
}
inline Exchange& asked(Timeline& timeline, ExchangeOutcome outcome) {
    Exchange& exchange = timeline.management.exchanges.emplace_back();
    exchange.management_class = ManagementClass::subnet_administration;
    exchange.method = ManagementMethod::get;
    exchange.attribute = 0x0035;
    exchange.outcome = outcome;
    return exchange;
}

}  // namespace qps::tests
