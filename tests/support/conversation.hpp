// A conversation of two hosts, packet by packet, into a tracker: for tests of what a few packets prove.
#pragma once

#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <utility>

namespace qps::tests {

inline constexpr std::uint8_t kReadRequest = 0x0c, kResponseFirst = 0x0d, kResponseMiddle = 0x0e, kResponseLast = 0x0f,
                              kResponseOnly = 0x10, kAtomicAcknowledge = 0x12, kFetchAdd = 0x14;
inline constexpr std::uint8_t kRnrCode = 14;  // 1.28 ms

// Host 1 asks, host 2 answers.
class Conversation {
public:
    Conversation() {
        const auto side = [](transport::CmSide& which, std::uint32_t host, std::uint32_t qp, std::uint32_t psn) {
            which.address = AnalysedWire::host(host);
            which.qpn = dissect::Qpn{qp};
            which.starting_psn = dissect::Psn(psn);
        };
        side(attempt_.active, 1, 100, 900);
        side(attempt_.passive, 2, 500, 50);  // where the active side begins
        attempt_.service = transport::CmService::rc;
    }
    transport::CmAttempt& attempt() { return attempt_; }
    void set_up() { tracker_.connect(attempt_); }
    void take_down() { tracker_.release(attempt_); }
    void wait(dissect::Duration time) { tracker_.advance(now_ = now_ + time); }
    // From now on the first host counts its packets, from this one on.
    void count_from(std::uint16_t identification) { identification_ = identification; }

    void send(std::uint32_t psn, transport::Repetition repetition = transport::Repetition::none) {
        observe(made(1, 2, 500, kRcSendOnly, psn), repetition);
    }
    void read(std::uint32_t psn, std::uint32_t bytes) {
        transport::Observation request = made(1, 2, 500, kReadRequest, psn);
        request.access = transport::RemoteAccess{.address = 0x1000, .key = dissect::Rkey{1}, .length = bytes};
        request.payload_length = 0;
        observe(request);
    }
    void respond(std::uint8_t opcode, std::uint32_t psn, std::uint32_t bytes) {
        transport::Observation response = made(2, 1, 100, opcode, psn);
        response.payload_length = bytes;
        if (opcode != kResponseMiddle) response.acknowledgment = transport::Acknowledgment{0, dissect::Msn{1}};
        observe(response);
    }
    void acknowledge(std::uint32_t psn, transport::Acknowledgment acknowledgment = {0, dissect::Msn{1}},
                     dissect::CrcStatus icrc = dissect::CrcStatus::good) {
        transport::Observation answer = made(2, 1, 100, kRcAcknowledge, psn);
        answer.icrc = icrc;
        answer.payload_length = 0;
        answer.acknowledgment = acknowledgment;
        observe(answer);
    }
    void refuse_receive(std::uint32_t psn) {
        acknowledge(psn, {static_cast<std::uint8_t>(0x20 | kRnrCode), dissect::Msn{1}});
    }

    void fetch_add(std::uint32_t psn) {
        transport::Observation request = made(1, 2, 500, kFetchAdd, psn);
        request.access = transport::RemoteAccess{.address = 0x1000, .key = dissect::Rkey{1}, .length = 8};
        request.atomic = transport::AtomicOperands{};
        request.payload_length = 0;
        observe(request);
    }
    void ask_again(std::uint32_t psn) { acknowledge(psn, {0x60, dissect::Msn{1}}); }

    [[nodiscard]] transport::Tracked finish() {
        return tracker_.finish([] {});
    }
    // What is left of the one episode that there is.
    [[nodiscard]] transport::Recovery only_episode() {
        const auto all = episodes();
        REQUIRE(all.size() == 1);
        return all[0];
    }
    [[nodiscard]] std::vector<transport::Recovery> episodes() {
        transport::Timeline timeline;
        transport::Tracked tracked = finish();
        timeline.connections = std::move(tracked.connections);
        timeline.recoveries = std::move(tracked.recoveries);
        transport::judge_causes(timeline);
        CHECK(timeline.left_out.contradictions == 0);
        return timeline.recoveries;
    }
    // How the last episode ended.
    [[nodiscard]] transport::RecoveryEnd end() {
        const transport::Tracked tracked = finish();
        REQUIRE(!tracked.recoveries.empty());
        return tracked.recoveries.back().end;
    }

private:
    [[nodiscard]] transport::Observation made(std::uint32_t from, std::uint32_t to, std::uint32_t qp,
                                              std::uint8_t opcode, std::uint32_t psn) {
        transport::Observation packet;
        now_ = now_ + transport::microseconds(1);
        packet.kind = transport::ObservationKind::transport;
        packet.frame = dissect::FrameIndex{++frames_};
        packet.time = now_;
        packet.flow = {AnalysedWire::host(from), AnalysedWire::host(to), dissect::Qpn{qp}, {}};
        packet.flow_hash = transport::FlowHash{}(packet.flow);
        packet.opcode = static_cast<dissect::Opcode>(opcode);
        packet.psn = dissect::Psn(psn);
        packet.payload_length = 16;
        if (identification_ != 0 && from == 1) packet.ip_id = identification_++;
        return packet;
    }
    void observe(const transport::Observation& packet, transport::Repetition repetition = transport::Repetition::none) {
        transport::PacketRecord record;
        tracker_.observe(packet, repetition, {}, record);
    }
    transport::CmAttempt attempt_;
    transport::Tracker tracker_{false};
    dissect::Instant now_{1'000'000'000};
    std::uint64_t frames_ = 0;
    std::uint16_t identification_ = 0;
};

}  // namespace qps::tests
