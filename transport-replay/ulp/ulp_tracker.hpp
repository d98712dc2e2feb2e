// UlpTracker: finds out which upper protocol each connection speaks, and keeps the table of conversations that follow
// it (conversation.hpp).
//
// Three voices say what a connection speaks: the user, CM (private data before the port), the messages. The last is a
// guess with a certainty; a conversation that was guessed and then is not understood is given up, with all that was
// said of it. What an attacker could feed: any number of connections and messages that look like something.
// Conversations have a bound; of those undecided a few short messages are kept, and most are given up after kTries.
#pragma once

#include <transport-replay/model/peaks.hpp>
#include <transport-replay/ulp/conversation.hpp>
#include <transport-replay/ulp/ulp_hints.hpp>

#include <deque>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class UlpTracker {
public:
    static constexpr std::size_t kMaxUndecided = 1 << 14;  // connections that are asked at a time, of about 4 KiB

    // `sums_apart`: operations are summed up by connection too.
    explicit UlpTracker(UlpHints hints, const MemoryBudget& budget = MemoryBudget{}, bool sums_apart = false)
        : hints_(std::move(hints)),
          sums_apart_(sums_apart),
          most_conversations_(budget.items(Share::conversations) / 2),  // and as many summaries of those that are over
          most_undecided_(std::min(kMaxUndecided, budget.items(Share::conversations) / 8)),
          shares_{ByteShare(budget.bytes(Share::operations)), ByteShare(budget.bytes(Share::payload))} {}
    // What is kept of payload, for those who have it in pieces.
    [[nodiscard]] ByteShare& payload() { return shares_.payload; }

    // Whether anything may still come of that connection.
    [[nodiscard]] bool wants(ConnectionId connection) const { return state_.get(connection, kUndecided) != kNothing; }
    // Whether observe() has anything to do with such a packet of that connection: cheap, asked for every packet. Of
    // those whose protocol is not known, messages tell it.
    [[nodiscard]] bool wants(ConnectionId connection, dissect::Opcode opcode) const {
        const State state = state_.get(connection, kUndecided);
        if (state != kUndecided) return state != kNothing;
        const dissect::OpcodeRow& row = info(opcode);
        return row.verb == dissect::Verb::send || row.service == dissect::Service::ud;
    }
    // CM told of both sides of a connection.
    void connected(ConnectionId connection, const CmAttempt& attempt, Tracker& tracker, const OperationSink& sink);
    // A packet of a connection, after the tracker had it.
    void observe(const Observation& observation, const PacketRecord& record, Tracker& tracker,
                 const OperationSink& sink);
    // A message of a connection ended: gets its label; a READ is a transfer.
    void ended(EndedMessage& ended);

    // A request was refused for good.
    void refused(const Fatality& fatality);
    // Nothing more comes of that connection: what was said of it is kept.
    void retire(ConnectionId connection, const OperationSink& sink);

    // For transports that have whole messages: the same as observe() makes of packets.
    void deliver(const UlpMessage& message, Tracker& tracker, const OperationSink& sink);
    // `psn`: of a WRITE whose message will end with it, which then gets its label.
    void transferred(const Transfer& transfer, std::optional<dissect::Psn> psn = {});
    // Whether somebody wants the bytes that are moved to or from that memory of `owner`.
    [[nodiscard]] bool wants_payload(ConnectionId connection, End owner, const RemoteAccess& access);

    [[nodiscard]] dissect::UlpHint hint(ConnectionId connection, End from) const;
    // What an attempt at a connection says it is for; `none` where it does not.
    [[nodiscard]] UlpProtocol protocol_of(const CmAttempt& attempt) const;

    [[nodiscard]] UlpReport finish(const CmReport& cm, const OperationSink& sink);
    void add_peaks(Peaks& peaks) const;

private:
    // Of a connection, in one word: undecided, nothing we know, or the place of its conversation.
    using State = std::uint32_t;
    static constexpr State kUndecided = UINT32_MAX;
    static constexpr State kNothing = UINT32_MAX - 1;

    struct Undecided {
        UlpRecogniser recogniser;
        std::array<SendAssembler, 2> assemblers;
    };

    [[nodiscard]] State& state_of(ConnectionId connection);
    [[nodiscard]] Undecided& undecided(ConnectionId connection);
    [[nodiscard]] Conversation* conversation_of(ConnectionId connection);
    [[nodiscard]] std::optional<UlpDecision> hinted(ConnectionId connection) const;
    Conversation* begin(ConnectionId connection, const UlpDecision& decision, Tracker& tracker);
    void try_message(const UlpMessage& message, Tracker& tracker, const OperationSink& sink);
    void decide(ConnectionId connection, const UlpDecision& decision, Tracker& tracker, const OperationSink& sink);
    void take_message(Conversation& conversation, const UlpMessage& message, const OperationSink& sink);
    void take_exchange(const Conversation& conversation, const UlpMessage& message, const Understood& understood,
                       const OperationSink& sink);
    void settle(const Conversation& conversation);
    void end(Conversation& conversation, const OperationSink& sink);
    [[nodiscard]] Conversations all(const OperationSink& sink) { return {report_, shares_, sink, sums_apart_}; }

    UlpHints hints_;
    bool sums_apart_;
    ConnectionMap<State> state_;
    std::deque<Conversation> conversations_;
    std::vector<State> free_;  // places in conversations_
    boost::unordered_flat_map<std::uint32_t, Undecided> undecided_;
    struct Asking {  // who waits for an answer that may come on another connection
        ConnectionId connection{};
        End requester{};
        std::uint64_t tag = 0;
    };
    static constexpr std::size_t kMaxAsking = 1
                                              << 14;  // then the oldest are as good as lost: all of them are forgotten
    boost::unordered_flat_map<std::uint64_t, Asking> asking_;  // by exchange and hosts
    std::size_t most_asked_ = 0;                               // undecided at a time
    std::size_t longest_asking_ = 0;
    UlpReport report_;
    std::vector<OperationSum> other_sums_;  // of connections for which there was no place apart
    std::size_t most_conversations_;
    std::size_t most_undecided_;
    UlpShares shares_;
};

}  // namespace qps::transport
