// UlpReport: what the connections of a capture were used for: which protocol each spoke and how that is known, its
// operations in sums, and what went wrong in them. Part of the Timeline.
//
// What an attacker could feed: any number of operations, names and failures. Every list has a bound; what is past it is
// counted.
#pragma once

#include <transport-replay/model/latency_sketch.hpp>
#include <transport-replay/model/ulp_operation.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxFacts = 24;            // of a conversation
inline constexpr std::size_t kMaxFactBytes = 256;       // an NQN has 223, an iSCSI name 223
inline constexpr std::size_t kMaxOperationSums = 1024;  // codes of all protocols together are some hundreds
inline constexpr std::size_t kMaxSumsApart = 1 << 14;   // by connection, of some 3 KiB
inline constexpr std::size_t kMaxUlpEvents = 4096;      // more of them are the same record
inline constexpr std::size_t kMaxFailureKinds = 1024;   // a connection, an operation and a status each
inline constexpr std::size_t kSlowestKept = 8;          // of each sum
inline constexpr std::size_t kMaxUnanswered = 1024;     // kept one by one; sums have them all
inline constexpr std::size_t kFailureFrames = 16;       // of each kind, as findings list them

// How it is known which protocol a connection speaks; what is behind outweighs what is before.
enum class UlpBasis : std::uint8_t {
    content,       // its messages look like it
    service,       // the port that CM connected to is the protocol's
    private_data,  // what CM carried for the consumer is the protocol's
    user,          // the user said so
};
inline constexpr std::array<std::string_view, 4> kUlpBasisNames{"content", "service", "private_data", "user"};

// Something that was said in words: "subsystem", "nqn.2014-08.org.nvmexpress.discovery".
struct UlpFact {
    std::string_view name;  // of static storage
    std::string value;      // as dissect::printable() writes it
};

struct UlpConversation {
    ConnectionId connection{};
    UlpProtocol protocol{};
    UlpBasis basis{};
    std::uint8_t certainty = 0;  // percent
    End active{};                // host, client, initiator
    std::uint64_t messages = 0;
    std::uint64_t unread = 0;  // of those: not understood
    std::uint64_t operations = 0;
    std::uint64_t failed = 0;
    std::uint64_t unanswered = 0;
    std::uint64_t bytes = 0;  // moved for operations
    std::uint32_t most_outstanding = 0;
    std::uint64_t alone = 0;  // operations asked while no other was outstanding
    dissect::Instant first_asked{};
    dissect::Instant last_answered{};
    DurationSummary latency;
    std::optional<std::uint32_t> least_credits;  // granted by the passive side, of protocols that grant them
    std::optional<std::uint32_t> most_credits;
    std::vector<UlpFact> facts;

    // Keeps a fact, once; cut to kMaxFactBytes and made printable.
    void note(std::string_view name, std::string_view value);
    [[nodiscard]] std::string_view fact(std::string_view name) const;  // empty: not known
};

// All operations of one code.
struct OperationSum {
    UlpProtocol protocol{};
    OperationCode code{};
    ConnectionId connection{};  // of one alone; 0: of all, or those that had no sum of their own
    dissect::FrameIndex first_asked{};
    std::uint64_t count = 0;
    std::uint64_t failed = 0;
    std::uint64_t unanswered = 0;  // open ones included
    std::uint64_t bytes = 0;
    DurationSummary latency;            // asked to answered
    DurationSummary until_data;         // asked to the first packet of data
    DurationSummary data;               // first to last packet of data
    DurationSummary to_answer;          // last packet of data to the answer
    LatencySketch histogram;            // of latency
    std::vector<UlpOperation> slowest;  // the worst first, at most kSlowestKept

    // Of the latency; never more than the most that was seen.
    [[nodiscard]] dissect::Duration percentile(double percent) const {
        return std::min(histogram.percentile(percent), latency.most);
    }
};

// Operations of one connection that failed alike.
struct OperationFailures {
    ConnectionId connection{};
    UlpProtocol protocol{};
    OperationCode code{};
    std::uint32_t status = 0;
    std::uint64_t count = 0;
    std::vector<dissect::FrameIndex> frames;  // answers, at most kFailureFrames
    End requester{};                          // who asked: servers ask too, in some protocols
};

enum class UlpEventKind : std::uint8_t {
    refused,            // a connection: the passive side said no in the protocol's words
    login_failed,       // the connection came about, the session did not
    keep_alive_late,    // number: how many milliseconds were without a keep-alive
    error_message,      // one side says that something is wrong, outside of any operation
    credits_exhausted,  // ulp/credit_wait.hpp has the words; number: how many were granted
    terminated,         // the session or the stream was ended because of an error
    malformed,          // a message that breaks its format
};
inline constexpr std::array<std::string_view, 7> kUlpEventNames{
    "refused", "login_failed", "keep_alive_late", "error_message", "credits_exhausted", "terminated", "malformed"};

struct UlpEvent {
    UlpEventKind kind{};
    UlpProtocol protocol{};
    std::optional<ConnectionId> connection;
    std::optional<std::uint32_t> cm_attempt;  // where there is no connection: CmAttempt::uid
    dissect::FrameIndex frame{};
    dissect::Instant time{};
    bool by_active = false;
    std::uint64_t number = 0;
    std::string words;  // the protocol's: "host not allowed", printable, cut to kMaxFactBytes
};

// An access that was refused, beside what open operations had offered of the memory of that end.
struct RefusedAccess {
    enum class Verdict : std::uint8_t { inside, outside, other_key };
    ConnectionId connection{};
    End requester{};  // of the access
    dissect::FrameIndex nak{};
    Verdict verdict{};
    RemoteAccess offer;        // with its R_Key, the one that begins nearest before it; none where the key is another
    std::uint64_t offers = 0;  // ranges of that end
};

struct UlpReport {
    static constexpr std::size_t kMaxRefused = 1024;  // a connection has one: it ends with it
    std::vector<UlpConversation> conversations;       // by connection
    std::vector<OperationSum> sums;
    std::vector<OperationFailures> failures;
    std::vector<UlpOperation> unanswered;  // the first that never had an answer, open ones included
    std::vector<RefusedAccess> refused;    // the first of them
    std::vector<UlpEvent> events;          // in the order of the capture
    std::uint64_t conversations_left_out = 0;
    std::uint64_t operations_left_out = 0;  // closed unanswered because too many were open
    std::uint64_t events_left_out = 0;
    std::uint64_t failures_left_out = 0;
    std::uint64_t payload_left_out = 0;  // pieces of messages that were not kept, because too many were held

    void add(UlpEvent event);
    [[nodiscard]] const UlpConversation* find(ConnectionId connection) const;
};

}  // namespace qps::transport
