// Conversation: what one connection says in an upper protocol that is known: SENDs become messages for the machine of
// the protocol, READs and WRITEs are attached to the operations that named their memory.
//
// A conversation that was guessed and then is not understood is given up, with all that is open of it.
#pragma once

#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/ulp/label_queue.hpp>
#include <transport-replay/ulp/protocols.hpp>
#include <transport-replay/ulp/read_watch.hpp>
#include <transport-replay/ulp/recogniser.hpp>
#include <transport-replay/ulp/send_assembler.hpp>

#include <array>
#include <vector>

namespace qps::transport {

// What all conversations of a tracker share.
struct Conversations {
    UlpReport& report;
    UlpShares& shares;
    const OperationSink& sink;
    bool sums_apart = false;  // operations are summed up by connection too
};

class Conversation {
public:
    Conversation() = default;  // given up from the start
    // `hosts`: a hash of both.
    Conversation(ConnectionId connection, const UlpDecision& decision, std::uint64_t hosts);

    [[nodiscard]] bool given_up() const { return given_up_; }
    [[nodiscard]] ConnectionId connection() const { return summary_.connection; }
    [[nodiscard]] std::uint64_t hosts() const { return hosts_; }
    [[nodiscard]] dissect::UlpHint hint(End from) const {
        return {summary_.protocol, from == summary_.active, detail_};
    }

    void connected(const CmAttempt& attempt, const Conversations& all);
    // The assemblers that led to the decision go on.
    void take_over(std::array<SendAssembler, 2> assemblers);
    // A packet, after the tracker had it; a message that ends with it, for understand(). A WRITE that ends with it may
    // be too much that is not understood: see given_up().
    [[nodiscard]] std::optional<UlpMessage> take(const Observation& observation, const PacketRecord& record,
                                                 const Conversations& all);
    // What the machine makes of a message; came() follows.
    [[nodiscard]] Understood understand(const UlpMessage& message, const Conversations& all);
    // A message or a WRITE was looked at.
    void came(End from, dissect::Psn psn, const Understood& understood, UlpShares& shares);
    // The answer to what a connection asked came on another one.
    void answered(End requester, std::uint64_t tag, const UlpMessage& message, const Conversations& all);
    // A message of the connection ended: gets its label; a READ is a transfer.
    void ended(EndedMessage& ended, UlpShares& shares);
    void transferred(const Transfer& transfer, std::optional<dissect::Psn> psn, UlpShares& shares);
    [[nodiscard]] std::optional<RefusedAccess> refused(const Fatality& fatality) const;
    [[nodiscard]] bool wants(End owner, const RemoteAccess& access) const;
    // The capture ended.
    void finish(const CmReport& cm, const Conversations& all);
    // Nothing more comes of it: what is open stays so. Its sums, where they are kept apart, and its summary.
    struct Rest {
        std::vector<OperationSum> sums;
        UlpConversation summary;
    };
    [[nodiscard]] Rest end(const Conversations& all);

private:
    // A WRITE that is under way.
    struct Writing {
        Transfer transfer;
        dissect::Psn psn;    // of its first packet
        End asked_by{};      // whose operation it is of
        bool owned = false;  // it is of one
        std::uint64_t tag = 0;
        bool open = false;
        bool keep = false;
        HeldBytes payload;
    };
    struct Way {
        SendAssembler assembler;
        Writing writing;
        ReadWatch reads;
        LabelQueue labels;
    };

    [[nodiscard]] Way& way(End from) { return ways_[static_cast<std::size_t>(from)]; }
    [[nodiscard]] UlpSession session(const Conversations& all) {
        return {summary_, operations_, all.report, all.sink, all.shares, all.sums_apart ? &sums_ : nullptr};
    }
    [[nodiscard]] UlpLabel data_label(const UlpOperation& operation) const {
        return {UlpLabel::Part::data, summary_.protocol, operation.code, operation.tag};
    }
    void take_read(const Observation& observation, const PacketRecord& record);
    void take_write(const Observation& observation, const PacketRecord& record, const Conversations& all);
    void begin_write(const Observation& observation, const PacketRecord& record, UlpShares& shares);
    void end_write(End requester, const Conversations& all);
    void orient(const UlpMessage& message);
    void give_up();

    UlpConversation summary_;
    UlpMachine machine_;
    OpenOperations operations_;
    std::array<Way, 2> ways_;
    bool settled_ = false;       // an earlier pass saw it through
    bool orients_ = false;       // who is the active end is told by its first message that can tell
    bool given_up_ = true;       // or no conversation at all
    bool takes_writes_ = false;  // its machine does
    std::uint8_t detail_ = 0;    // of the packet that was observed last, for its hint
    std::uint64_t hosts_ = 0;
    std::vector<OperationSum> sums_;  // where they are kept apart
};

}  // namespace qps::transport
