// Message: one work request as the wire shows it, from its first packet to what became of it.
#pragma once

#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/ulp_label.hpp>

#include <cstdint>
#include <optional>

namespace qps::transport {

enum class Outcome : std::uint8_t {
    open,       // not answered when the capture, or our patience, ended
    completed,  // acknowledged, or its response came whole
    sent,       // nobody answers this kind of message (UC, UD)
    failed,     // a fatal NAK answered it
    abandoned,  // the connection failed or was taken down with it unanswered
    gave_up,    // its requester sent it until its retries were used up (completion status 12 or 13)
};

// Answered by a response of its own, which a plain ACK does not replace (o9-30).
[[nodiscard]] constexpr bool awaits_response(dissect::Verb verb) {
    return verb == dissect::Verb::read_request || dissect::is_atomic(verb);
}

// PSNs first .. last are its own; a READ's are those of its responses (9.7.3).
struct Message {
    dissect::Service service{};
    dissect::Verb verb{};
    dissect::Psn first;
    dissect::Psn last;
    bool starts = false;                // its first packet was seen
    bool ends = false;                  // its last packet was seen
    std::uint64_t bytes = 0;            // payload seen, each PSN once; a READ: of its responses
    std::uint32_t packets = 0;          // PSNs seen
    std::uint32_t retransmissions = 0;  // request packets whose PSN had been seen before
    std::uint32_t missing =
        0;  // packets of it (a READ: of its responses) that the capture does not have, as far as known
    dissect::Instant first_time{};
    dissect::Instant last_time{};    // of its last request packet
    dissect::Instant answer_time{};  // of what completed or failed it
    dissect::FrameIndex first_frame{};
    dissect::FrameIndex last_frame{};
    dissect::FrameIndex answer_frame{};
    std::optional<RemoteAccess> access;
    std::optional<AtomicOperands> atomic;
    std::optional<std::uint64_t> atomic_result;
    std::optional<std::uint32_t> immediate;
    bool with_immediate = false;  // it has immediate data, whose value nobody has read yet
    std::optional<dissect::Rkey> invalidate;
    std::optional<UlpLabel> ulp;  // known when it ends: of those handed to AnalysisSettings::message
    Outcome outcome = Outcome::open;
    std::uint8_t nak_code = 0;                 // where it failed
    dissect::Psn asked_again;                  // of a READ: from where its rest was asked for last
    dissect::Psn response_next;                // of a READ: the response that is due
    std::optional<dissect::Instant> passed{};  // of a READ or ATOMIC: when an answer passed it, or came with holes
    dissect::FrameIndex passed_frame{};
    dissect::Instant passed_last{};  // and when such an answer last showed that the requester goes on
    std::uint8_t passes = 0;         // how often it showed
    bool doubled = false;            // its request, on the way
    bool restarting = false;         // of a READ asked for again: responses of the earlier request may still come
    std::uint32_t ahead = 0;         // and responses behind the one that was due that passed since, and were not taken
    dissect::Psn ahead_to;           // the last of them
    std::uint16_t newest_ip_id = 0;  // of its responses, 0: without

    [[nodiscard]] bool covers(dissect::Psn psn) const { return !psn.before(first) && !last.before(psn); }
    [[nodiscard]] bool has_immediate() const { return immediate || with_immediate; }
    [[nodiscard]] bool has_response() const { return awaits_response(verb); }
    // FLUSH and ATOMIC WRITE are answered by a READ response of no bytes (A19); implementations that acknowledge are
    // believed.
    [[nodiscard]] bool may_have_response() const {
        return has_response() || verb == dissect::Verb::flush || verb == dissect::Verb::atomic_write;
    }
    // How many of `count` responses from the one that is due on did not pass, as far as known.
    [[nodiscard]] std::uint32_t not_passed(std::uint32_t count) const {
        return ahead == 0 || ahead_to.before(response_next) ? count : count - (count < ahead ? count : ahead);
    }
    [[nodiscard]] std::uint32_t span() const { return static_cast<std::uint32_t>(last - first) + 1; }
};

}  // namespace qps::transport
