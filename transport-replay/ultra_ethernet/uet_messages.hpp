// UetMessages: the requests that one end of a context sends become messages, in whatever order their packets come.
//
// A message is told by its number and job, a small or medium one by its PSN. It has completed when every packet of it
// is acknowledged; a READ and what fetches, when its data came; it has failed when a response says so. What an attacker
// could feed: messages that never end. There are at most kMostOpen: the oldest is then told as open.
#pragma once

#include <transport-replay/model/uet_packet.hpp>
#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/ultra_ethernet/sent_packets.hpp>

namespace qps::transport {

// Whom messages of a context are told to.
struct UetListener {
    ConnectionId connection{};
    End requester{};
    Tracker& tracker;
    PacketRecord& record;
};

class UetMessages {
public:
    using Serial = std::uint32_t;                      // 0: none
    static constexpr std::size_t kMostOpen = 1024;     // send queues have 10^2 to 10^3
    static constexpr std::size_t kMostGathering = 64;  // of these: messages of several packets that are still sent

    // A request packet that was not on the wire before: the message that it belongs to, which may be new.
    [[nodiscard]] Serial take(const Observation& observation, const UetSemantics& said, LongPsn psn,
                              const UetListener& listener);
    // A packet of that message was sent again, or is acknowledged.
    void resent(Serial serial);
    void acknowledged(Serial serial, LongPsn cumulative, const Observation& answer, const UetListener& listener);
    // Everything up to there has arrived: messages whose packets the capture lacks are over, too.
    void arrived(LongPsn cumulative, const Observation& answer, const UetListener& listener);
    // A response, with `bytes` of data that were not there before.
    void respond(const UetSemantics& said, LongPsn request, std::uint32_t bytes, const Observation& answer,
                 const UetListener& listener);
    // Nothing follows: what is open is told so.
    void finish(const UetListener& listener);

    [[nodiscard]] std::size_t bytes() const { return open_.capacity() * sizeof(Open); }
    [[nodiscard]] std::size_t size() const { return open_.size() - head_; }
    void give_up_oldest(const UetListener& listener);

private:
    struct Open {
        Message message{};
        std::optional<std::uint64_t> length{};  // of all that it carries
        LongPsn first = 0;
        LongPsn last = 0;
        std::uint64_t responded = 0;  // bytes
        std::uint32_t job = 0;
        std::uint32_t waiting = 0;  // packets that are not acknowledged
        std::uint32_t largest = 0;  // payload of a packet
        std::uint16_t id = 0;
        bool has_id = false;
        bool fetches = false;  // data comes back
        bool over = false;
    };

    [[nodiscard]] Open* find(Serial serial);
    [[nodiscard]] Open* find_request(const UetSemantics& said, LongPsn request);
    [[nodiscard]] Serial gathering(const UetSemantics& said);
    [[nodiscard]] Serial begin(const Observation& observation, const UetSemantics& said, LongPsn psn,
                               const UetListener& listener);
    void try_to_complete(Open& open, LongPsn cumulative, const Observation& answer, const UetListener& listener);
    void end(Open& open, Outcome outcome, const UetListener& listener, const Observation* answer);
    void drop_over();

    std::vector<Open> open_;  // by serial number
    std::size_t head_ = 0;
    Serial first_ = 1;  // serial number of open_[head_]
    std::vector<Serial> gathering_;
};

}  // namespace qps::transport
