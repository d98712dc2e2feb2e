// OpenOperations: the operations of one conversation that wait for their answer, found by their tag, and by the memory
// that they named where somebody READs or WRITEs it.
//
// Memory grows with open operations only. What an attacker could feed: requests that nobody answers, memory named a
// thousand times, WRITEs of gigabytes into memory that is kept. Past kMaxOpen, or where the share of all conversations
// is used up, all open ones are closed unanswered.
#pragma once

#include <transport-replay/model/byte_share.hpp>
#include <transport-replay/model/ulp_report.hpp>
#include <transport-replay/ulp/operation_sink.hpp>
#include <transport-replay/ulp/ulp_message.hpp>

#include <tuple>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

// What all conversations together may keep.
struct UlpShares {
    ByteShare operations;
    ByteShare payload;
};

class OpenOperations {
public:
    static constexpr std::size_t kMaxOpen = 1 << 14;               // of a conversation; queues have some 10^3 at most
    static constexpr std::size_t kMaxRanges = 1 << 15;             // named memory of all of them
    static constexpr std::size_t kMaxKept = std::size_t{1} << 20;  // bytes of data kept for one operation
    static constexpr std::size_t kMaxKeptOfAll = std::size_t{1} << 22;  // and of a conversation

    // Where ended operations go: sums and failures of `report`, then `sink`. Both outlive the calls, not this.
    struct Ended {
        UlpConversation& conversation;
        UlpReport& report;
        const OperationSink& sink;
        UlpShares& shares;
        std::vector<OperationSum>* apart =
            nullptr;  // the sums of this conversation, where they are not those of `report`
    };

    // `operation` was asked (connection, protocol, requester, code, tag, subject, bytes, in_message and `message`'s
    // times are taken). One that is open with the same tag of the same requester is closed unanswered.
    void begin(UlpOperation operation, const UlpMessage& message, const Ended& ended);
    // The open operation of that tag, or nullptr.
    [[nodiscard]] UlpOperation* find(End requester, std::uint64_t tag);
    // It named memory of its requester, for the other side to READ or WRITE. `keep`: its bytes are wanted when it ends.
    void expect(End requester, std::uint64_t tag, const RemoteAccess& memory, const UlpShares& shares,
                bool keep = false) {
        expect_of(requester, requester, tag, memory, shares, keep);
    }
    // The same of memory of either end: some responders offer theirs.
    void expect_of(End owner, End requester, std::uint64_t tag, const RemoteAccess& memory, const UlpShares& shares,
                   bool keep = false);
    // Its answer. False where no such operation is open.
    bool end(End requester, std::uint64_t tag, OperationOutcome outcome, std::uint32_t status, const UlpMessage& answer,
             const Ended& ended);
    // What was READ or WRITten of memory to keep, in the order it came; until the operation ends.
    [[nodiscard]] dissect::Bytes kept(End requester, std::uint64_t tag) const;

    // The operation whose memory this names; nothing where none does. `owner` is the end whose memory it is.
    [[nodiscard]] UlpOperation* owner_of(End owner, const RemoteAccess& access);
    [[nodiscard]] bool wants(End owner, const RemoteAccess& access) const;
    // It names memory from its first byte on.
    [[nodiscard]] bool begins_memory(End owner, const RemoteAccess& access) const;
    // How an access that was refused lies to the memory of `owner` that open operations named; nothing where they named
    // none.
    [[nodiscard]] std::optional<RefusedAccess> compare(End owner, const RemoteAccess& access) const;
    // Data of it went over the wire.
    void moved(UlpOperation& operation, const Transfer& transfer, UlpShares& shares);

    // Everything open is closed with that outcome.
    void close_all(OperationOutcome outcome, const Ended& ended);
    [[nodiscard]] std::size_t open() const { return open_.size(); }
    [[nodiscard]] std::uint32_t outstanding(End requester) const {
        return outstanding_[static_cast<std::size_t>(requester)];
    }

private:
    struct Key {
        std::uint64_t tag = 0;
        End requester{};
        [[nodiscard]] bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        using is_avalanching = void;
        [[nodiscard]] std::size_t operator()(const Key& key) const {
            return mix(key.tag * 2 + static_cast<std::uint64_t>(key.requester));
        }
    };
    using Place = std::tuple<End, dissect::Rkey, std::uint64_t>;
    struct Open {
        UlpOperation operation;
        std::uint32_t ranges = 0;
        Place place{};  // of the range it named last
        HeldBytes kept{};
        Charge charge{};  // of it and its ranges
    };
    // Memory that an operation named, in the order of owner, key and address.
    struct Range {
        End owner{};
        RemoteAccess memory;
        Key key;
        bool keep = false;
        [[nodiscard]] Place place() const { return {owner, memory.key, memory.address}; }
    };

    static constexpr std::size_t kCost =
        2 * (sizeof(Key) + sizeof(Open));  // of an open one, with the empty places of the table

    [[nodiscard]] const Range* range_of(End owner, const RemoteAccess& access) const;
    void forget_ranges(const Key& key, Open& open);
    void close(Open& open, const Ended& ended);

    boost::unordered_flat_map<Key, Open, KeyHash> open_;
    std::vector<Range> ranges_;
    std::array<std::uint32_t, 2> outstanding_{};
    std::size_t held_ = 0;  // bytes kept
};

}  // namespace qps::transport
