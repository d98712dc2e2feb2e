// Captures of rows made by hand: packet by packet, with what the analysis would have said of them.
#pragma once

#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/model/timeline.hpp>

#include <cstdint>

namespace qps::tests {

inline constexpr dissect::Opcode kSendFirst{0x00}, kSendMiddle{0x01}, kSendLast{0x02}, kSendOnly{0x04},
    kWriteOnly{0x0a}, kReadRequest{0x0c}, kReadOnly{0x10}, kAcknowledge{0x11}, kCnp{0x81};
inline constexpr std::uint8_t kAck = 0, kRnrNak = 0x20, kSequenceNak = 0x60, kAccessNak = 0x62;
inline constexpr transport::ConnectionId kOne{1}, kTwo{2};

struct Rows {
    transport::CaptureIndex index;
    transport::ConnectionId connection = kOne;  // of the packets to come

    // A packet whose parts the caller sets; the frame it became.
    dissect::FrameIndex add(const transport::Observation& observation, const transport::PacketRecord& record) {
        REQUIRE(index.packets.append(transport::PacketRow(0, 0, observation, record)));
        return dissect::FrameIndex{index.packets.size()};
    }
    [[nodiscard]] transport::Observation observation(std::int64_t time, dissect::Opcode opcode,
                                                     std::uint32_t psn) const {
        transport::Observation made;
        made.kind = transport::ObservationKind::transport;
        made.encapsulation = dissect::Encapsulation::roce_v2;
        made.icrc = dissect::CrcStatus::good;
        made.time = dissect::Instant{time};
        made.opcode = opcode;
        made.psn = dissect::Psn(psn);
        made.payload_length = dissect::info(opcode).carries_payload ? 1000 : 0;
        made.wire_length = made.payload_length + 74;
        return made;
    }
    [[nodiscard]] transport::PacketRecord record(transport::End from) const {
        transport::PacketRecord made;
        made.connection = connection;
        made.from = from;
        return made;
    }

    dissect::FrameIndex request(std::int64_t time, std::uint32_t psn, dissect::Opcode opcode = kSendOnly) {
        return add(observation(time, opcode, psn), record(transport::End::a));
    }
    dissect::FrameIndex retransmission(std::int64_t time, std::uint32_t psn, dissect::Opcode opcode = kSendOnly) {
        transport::PacketRecord again = record(transport::End::a);
        again.retransmission = true;
        return add(observation(time, opcode, psn), again);
    }
    dissect::FrameIndex answer(std::int64_t time, std::uint32_t psn, std::uint8_t syndrome = kAck,
                               dissect::Opcode opcode = kAcknowledge) {
        transport::Observation made = observation(time, opcode, psn);
        made.acknowledgment = transport::Acknowledgment{syndrome, {}};
        return add(made, record(transport::End::b));
    }
    dissect::FrameIndex notification(std::int64_t time) {
        return add(observation(time, kCnp, 0), record(transport::End::b));
    }

    struct Ends {
        dissect::FrameIndex first{};
        dissect::FrameIndex last{};
        dissect::FrameIndex answer{};
    };
    void message(const Ends& ends, dissect::Verb verb, std::uint32_t psns, std::uint64_t bytes,
                 transport::Outcome outcome = transport::Outcome::completed) {
        transport::Message made;
        made.verb = verb;
        made.first_frame = ends.first;
        made.last_frame = ends.last;
        made.answer_frame = ends.answer;
        made.first = dissect::Psn(0);
        made.last = dissect::Psn(psns - 1);
        made.bytes = bytes;
        made.outcome = outcome;
        REQUIRE(index.messages.append(transport::MessageRow(connection, transport::End::a, made)));
    }
};

}  // namespace qps::tests
