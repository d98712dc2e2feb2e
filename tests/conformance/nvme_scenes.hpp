// Queues of NVMe over RDMA for the passive checks: their set-up by CM, capsules, data, responses, as RoCEv2 frames;
// right, or wrong in one place.
#pragma once

#include <tests/conformance/passive_mutants.hpp>
#include <tests/support/nvme_capsules.hpp>

#include <functional>
#include <optional>

namespace qps::tests {

class NvmeDialogue {
public:
    static constexpr std::int64_t kStep = 2'000'000;  // ns: more than what taps exchange

    struct Settings {
        std::uint16_t record_format = 0;
        std::uint16_t queue = 0;
        std::uint16_t receives = 32;
        std::uint16_t sends = 31;
        std::uint16_t controller = 0;
        std::uint16_t target_format = 0;
        std::uint16_t target_receives = 32;
        std::uint8_t reserved = 0;         // the last byte of the private data of the host
        std::uint8_t target_reserved = 0;  // of the target
        std::uint8_t target_retries = 7;
        std::uint8_t target_reads = 0;
        std::optional<std::uint16_t> rejection{};  // in place of a REP
        std::uint16_t rejection_format = 0;
        std::uint16_t reason = 28;
    };
    struct Data {
        NvmeKey key;
        std::uint32_t offset = 0;
        std::uint32_t length = 0;
    };

    NvmeDialogue();
    // REQ, REP and RTU, or REJ, of a new queue; what follows goes on it.
    void set_up(const Settings& settings);
    // Capsules. `opcode`: another than a SEND.
    void host(const Capsule& capsule, std::uint8_t opcode = 0x04);
    void target(const Capsule& capsule, std::optional<std::uint32_t> invalidate = {});
    void target_sends(const Capsule& capsule, std::uint8_t opcode);
    // The target moves memory of the host. READs are answered unless told.
    void write(const Data& data, const Capsule& bytes = {}, std::uint8_t opcode = 0x0a);
    void read(const Data& data, bool answered = true, const Capsule& bytes = {});
    void answer_read(const Capsule& bytes);  // the last
    void atomic(bool by_host, NvmeKey key);
    void host_moves(bool reads, NvmeKey key);
    // A response to the command of that ID: SQHD goes on by one.
    [[nodiscard]] Capsule response(std::uint16_t cid, std::uint32_t status = 0, std::uint64_t result = 0);
    void respond(std::uint16_t cid, std::uint32_t status = 0, std::uint64_t result = 0) {
        target(response(cid, status, result));
    }
    // The frame before last is the last.
    void exchange_last();

    RecordedCapture capture;
    std::int64_t step = kStep;
    std::uint16_t head = 0;  // SQHD
    std::uint16_t entries = 32;
    std::uint16_t queue = 0;

private:
    struct End {
        std::uint32_t address = 0;
        std::uint32_t qp = 0;   // its own
        std::uint32_t psn = 0;  // of its next request
        std::uint32_t msn = 0;  // of what it answered
    };
    struct Packet {
        std::uint8_t opcode = 0;
        Capsule payload{};
        std::optional<Data> access{};
        std::optional<std::uint32_t> invalidate{};
        std::optional<std::uint32_t> psn{};  // of answers
    };
    void send(bool by_host, const Packet& packet);
    void add(RecordedFrame frame);
    void acknowledge(bool by_host);

    std::array<RecordedFrame, 4> cm_;  // REQ, REP, RTU, REJ
    End host_{};
    End target_{};
    std::uint32_t last_read_ = 0;
    std::uint32_t set_ups_ = 0;
    std::int64_t clock_ = 0;
};

using NvmePlay = std::function<void(NvmeDialogue&)>;
[[nodiscard]] RecordedCapture nvme_scene(const NvmePlay& play);

inline constexpr NvmeKey kNvmeMemory{0x7f0000001000, 0x1234};

// Parts of a play.
[[nodiscard]] Capsule property_entry(bool sets, std::uint16_t cid, std::uint32_t offset, bool wide,
                                     std::uint64_t value = 0);
[[nodiscard]] Capsule admin_entry(std::uint8_t opcode, std::uint16_t cid, std::uint32_t length,
                                  std::uint32_t dword10 = 0, NvmeKey key = kNvmeMemory);
[[nodiscard]] Capsule connect_entry(std::uint16_t cid, std::uint16_t queue, std::uint16_t size = 31);
// Asks for its key to be invalidated.
[[nodiscard]] Capsule invalidating(Capsule entry);
// An admin queue that is connected: CID 0 was used, the next is 1; and enabled by CID 1.
void play_connect(NvmeDialogue& dialogue, const NvmeDialogue::Settings& settings = {}, std::uint16_t id = 5);
void play_admin(NvmeDialogue& dialogue);
// The same of an I/O queue, whose controller is 5.
void play_io(NvmeDialogue& dialogue, std::uint16_t sends = 31);
// A Keep Alive, on an admin queue, or a Flush, of that ID, and its response: the ways go on.
void go_on(NvmeDialogue& dialogue, std::uint16_t cid = 0x7f);

}  // namespace qps::tests
