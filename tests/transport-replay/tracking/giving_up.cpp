// When a requester gave up, and when nobody can know: what is given up is an error, and must be proven by what was captured.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <vector>

using namespace qps::transport;
using namespace qps::dissect;
using qps::tests::AnalysedWire;

namespace {

constexpr std::uint8_t kRnrCode = 14;  // 1.28 ms
constexpr std::uint8_t kReadRequest = 0x0c, kResponseFirst = 0x0d, kResponseMiddle = 0x0e, kResponseLast = 0x0f;

// Host 1 asks, host 2 answers.
class Conversation {
public:
    Conversation() {
        const auto side = [](CmSide& which, std::uint32_t host, std::uint32_t qp, std::uint32_t psn) {
            which.address = AnalysedWire::host(host);
            which.qpn = Qpn{qp};
            which.starting_psn = Psn(psn);
        };
        side(attempt_.active, 1, 100, 900);
        side(attempt_.passive, 2, 500, 50);  // where the active side begins
        attempt_.service = CmService::rc;
    }
    CmAttempt& attempt() { return attempt_; }
    void set_up() { tracker_.connect(attempt_); }
    void take_down() { tracker_.release(attempt_); }
    void wait(Duration time) { tracker_.advance(now_ = now_ + time); }

    void send(std::uint32_t psn) { observe(made(1, 2, 500, qps::tests::kRcSendOnly, psn)); }
    void read(std::uint32_t psn, std::uint32_t bytes) {
        Observation request = made(1, 2, 500, kReadRequest, psn);
        request.access = RemoteAccess{.address = 0x1000, .key = Rkey{1}, .length = bytes};
        request.payload_length = 0;
        observe(request);
    }
    void respond(std::uint8_t opcode, std::uint32_t psn, std::uint32_t bytes) {
        Observation response = made(2, 1, 100, opcode, psn);
        response.payload_length = bytes;
        if (opcode != kResponseMiddle) response.acknowledgment = Acknowledgment{0, Msn{1}};
        observe(response);
    }
    void acknowledge(std::uint32_t psn, Acknowledgment acknowledgment = {0, Msn{1}}) {
        Observation answer = made(2, 1, 100, qps::tests::kRcAcknowledge, psn);
        answer.payload_length = 0;
        answer.acknowledgment = acknowledgment;
        observe(answer);
    }
    void refuse_receive(std::uint32_t psn) { acknowledge(psn, {static_cast<std::uint8_t>(0x20 | kRnrCode), Msn{1}}); }

    // How the last episode ended.
    [[nodiscard]] RecoveryEnd end() {
        const Tracked tracked = tracker_.finish([] {});
        REQUIRE(!tracked.recoveries.empty());
        return tracked.recoveries.back().end;
    }

private:
    [[nodiscard]] Observation made(std::uint32_t from, std::uint32_t to, std::uint32_t qp, std::uint8_t opcode, std::uint32_t psn) {
        Observation packet;
        now_ = now_ + microseconds(1);
        packet.kind = ObservationKind::transport;
        packet.frame = FrameIndex{++frames_};
        packet.time = now_;
        packet.flow = {AnalysedWire::host(from), AnalysedWire::host(to), Qpn{qp}, {}};
        packet.flow_hash = FlowHash{}(packet.flow);
        packet.opcode = static_cast<Opcode>(opcode);
        packet.psn = Psn(psn);
        packet.payload_length = 16;
        return packet;
    }
    void observe(const Observation& packet) {
        PacketRecord record;
        tracker_.observe(packet, Repetition::none, {}, record);
    }
    CmAttempt attempt_;
    Tracker tracker_{false};
    Instant now_{1'000'000'000};
    std::uint64_t frames_ = 0;
};

}  // namespace

TEST_CASE("what was sent again sooner than any timer runs is given up only when a timer could have run out") {
    const auto ended = [](Duration silence) {
        Conversation said;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        said.read(51, 3000);
        said.send(54);
        said.respond(kResponseFirst, 51, 1024);
        said.respond(kResponseLast, 53, 952);  // that of 52 is missing: an implied NAK
        said.read(52, 1976);
        said.wait(silence);
        return said.end();
    };
    CHECK(ended(microseconds(10)) == RecoveryEnd::open);
    CHECK(ended(microseconds(2'000)) == RecoveryEnd::open);
    CHECK(ended(microseconds(1'000'000)) == RecoveryEnd::gave_up);
}

TEST_CASE("a requester that was refused a receive gave up for it where nothing before it was missing") {
    const auto ended = [](bool read_is_whole) {
        Conversation said;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        said.read(51, 3000);
        said.send(54);
        said.respond(kResponseFirst, 51, 1024);
        if (read_is_whole) said.respond(kResponseMiddle, 52, 1024);
        said.respond(kResponseLast, 53, 952);
        said.refuse_receive(54);
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(true) == RecoveryEnd::gave_up);
    CHECK(ended(false) == RecoveryEnd::open);
}

TEST_CASE("who takes a connection down does not wait for timers any more") {
    const auto ended = [](Duration before_it) {
        Conversation said;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        said.send(51);
        said.wait(microseconds(8'000));
        said.send(51);
        said.wait(before_it);
        said.take_down();
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(microseconds(5'000)) == RecoveryEnd::open);
    CHECK(ended(microseconds(20'000)) == RecoveryEnd::gave_up);
}

TEST_CASE("who was refused as often as CM says has given up, however soon the connection is taken down") {
    const auto ended = [](std::uint8_t active, std::uint8_t passive) {
        Conversation said;
        said.attempt().active.rnr_retry_count = active;
        said.attempt().passive.rnr_retry_count = passive;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        for (int i = 0; i < 3; ++i) {
            said.send(51);
            said.refuse_receive(51);
            if (i < 2) said.wait(microseconds(2'000));
        }
        said.take_down();
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(2, 1) == RecoveryEnd::gave_up);
    CHECK(ended(2, 3) == RecoveryEnd::open);
    CHECK(ended(7, 7) == RecoveryEnd::open);
}
