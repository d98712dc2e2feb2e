// UlpOperation: one request of an upper protocol, what memory was moved for it, and its answer.
//
// Times in order: asked (its message seen whole), data_first .. data_last (packets of its transfers), answered. So the
// latency has three parts: until the data began, the data, and from the data to the answer.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace qps::transport {

enum class OperationOutcome : std::uint8_t {
    open,        // no answer when the capture ended
    done,        // answered: it worked
    failed,      // answered: it did not, see status
    unanswered,  // its tag was used anew, or the connection ended, without an answer
};
inline constexpr std::array<std::string_view, 4> kOperationOutcomeNames{"open", "done", "failed", "unanswered"};

struct UlpOperation {
    ConnectionId connection{};
    UlpProtocol protocol{};
    End requester{};  // who asked
    OperationCode code{};
    OperationOutcome outcome = OperationOutcome::open;
    bool one_way = false;  // nobody answers it
    std::uint64_t tag = 0;
    std::uint32_t status = 0;  // the protocol's own; 0: success
    std::array<std::uint64_t, 2>
        subject{};                 // what it is about, the protocol's own: namespace and LBA, LUN and LBA, ...
    std::string about{};           // the file, where the protocol names one; printable, at most kMaxFactBytes
    std::uint64_t bytes = 0;       // data it asks to be moved, 0 where it does not say
    std::uint64_t in_message = 0;  // data in its own message
    std::uint64_t written = 0;     // by WRITEs, seen
    std::uint64_t read = 0;        // by READs, seen
    std::uint32_t transfers = 0;
    std::uint32_t outstanding = 0;  // of its connection and requester when it was asked, itself included
    dissect::Instant asked{};
    dissect::Instant data_first{};
    dissect::Instant data_last{};
    dissect::Instant answered{};
    dissect::FrameIndex asked_frame{};
    dissect::FrameIndex data_frame{};  // first packet of its first transfer; 0: none
    dissect::FrameIndex answered_frame{};

    [[nodiscard]] bool has_data() const { return data_frame != dissect::FrameIndex{}; }
    [[nodiscard]] bool has_answer() const { return answered_frame != dissect::FrameIndex{}; }
};

}  // namespace qps::transport
