// Scenes of upper protocols: NFS over RPC over RDMA drawn message by message, and recordings of others that are made
// late or ended.
#include <tests/court/exhibits.hpp>
#include <tests/court/stage.hpp>
#include <tests/court/wire.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace qps::court {

namespace scenes {

namespace {

// Host 1 calls host 2: GETATTR of NFS version 3, all inline.
class Calls {
public:
    explicit Calls(Stage& stage, std::uint32_t credits = 32) : stage_(stage), credits_(credits) {
        stage.connect({{"infiniband.cm.req.serviceid", 0x1064e51}});  // port 20049
    }
    void call(std::uint32_t number) {
        Octets bytes = head(number, 0);
        words(bytes, {kFirst + number, 0, 2, 100003, 3, kGetAttributes, 0, 0, 0, 0, 4, 0xabcd});
        say(bytes, true);
    }
    void reply(std::uint32_t number, std::uint32_t status = 0) {
        Octets bytes = head(number, 0);
        words(bytes, {kFirst + number, 1, 0, 0, 0, 0, status});
        if (status == 0) bytes.resize(bytes.size() + 84);  // attributes
        say(bytes, false);
    }
    void error(std::uint32_t number, std::uint32_t code) {
        Octets bytes = head(number, 4);
        bytes.resize(16);
        words(bytes, {code, 1, 1});
        say(bytes, false);
    }
    void broken(std::uint32_t number, unsigned how) {
        Octets bytes = head(number, how == 1 ? 9 : 0);
        if (how == 0) put_number(bytes, 4, 4, 2);
        words(bytes, {kFirst + number + (how == 2 ? 1 : 0), 0, 2, 100003, 3, kGetAttributes, 0, 0, 0, 0, 4, 0xabcd});
        say(bytes, true);
    }
    // `count` calls that are answered after `time` each.
    void answered(std::uint32_t first, std::uint32_t count, std::int64_t time = 200 * kAMicrosecond) {
        for (std::uint32_t i = first; i < first + count; ++i) {
            call(i);
            stage_.wait(time);
            reply(i);
            stage_.wait(10 * kAMicrosecond);
        }
    }

private:
    static constexpr std::uint32_t kFirst = 0x5000, kGetAttributes = 1;
    static void words(Octets& bytes, std::initializer_list<std::uint32_t> values) {
        for (const std::uint32_t value : values) {
            bytes.resize(bytes.size() + 4);
            put_number(bytes, bytes.size() - 4, 4, value);
        }
    }
    [[nodiscard]] Octets head(std::uint32_t number, std::uint32_t type) const {
        Octets bytes;
        words(bytes, {kFirst + number, 1, credits_, type, 0, 0, 0});
        return bytes;
    }
    void say(const Octets& bytes, bool client) {
        constexpr std::uint8_t kSendOnly = 0x04, kAcknowledge = 0x11;
        const std::uint64_t psn = client ? 21'000 + calls_++ : 200 + replies_++;
        stage_.message(
            kSendOnly, client ? 1 : 2, client ? 2 : 1,
            {{"infiniband.bth.destqp", client ? 21 : 1021}, {"infiniband.bth.psn", psn}, {"infiniband.bth.a", 1}},
            bytes);
        stage_.packet(kAcknowledge, client ? 2 : 1, client ? 1 : 2,
                      {{"infiniband.bth.destqp", client ? 1021 : 21},
                       {"infiniband.bth.psn", psn},
                       {"infiniband.aeth.syndrome", 0x1f},
                       {"infiniband.aeth.msn", client ? calls_ : replies_}});
    }

    Stage& stage_;
    std::uint32_t credits_;
    std::uint64_t calls_ = 0, replies_ = 0;
};

void operation_failed(Stage& stage, unsigned variant) {
    constexpr std::array<std::uint32_t, kVariants> kStatus{13, 5, 1};
    Calls calls(stage);
    calls.answered(0, 8);
    for (std::uint32_t i = 8; i <= 8 + variant; ++i)
        calls.call(i), stage.wait(kAMillisecond), calls.reply(i, kStatus[variant]);
}

void operation_unanswered(Stage& stage, unsigned variant) {
    Calls calls(stage);
    calls.answered(0, 8);
    for (std::uint32_t i = 8; i <= 8 + variant; ++i) calls.call(i), stage.wait(kAMillisecond);
    stage.wait((3 + variant) * kASecond);
    stage.dialogue(3, 4, 22);
}

void operation_slow(Stage& stage, unsigned variant) {
    Calls calls(stage);
    calls.answered(0, 20);
    for (unsigned i = 0; i <= variant; ++i) {
        calls.answered(20 + 10 * i, 1, (30 + 7 * variant) * kAMillisecond);
        calls.answered(21 + 10 * i, 9);
    }
}

void serialised(Stage& stage, unsigned variant) {
    Calls calls(stage);
    calls.answered(0, 100 + 20 * variant, (100 + 50 * variant) * kAMicrosecond);
}

void single_credit(Stage& stage, unsigned variant) {
    Calls calls(stage, 1);
    calls.answered(0, 16 + variant);
}

void credits_exhausted(Stage& stage, unsigned variant) {
    const std::uint32_t credits = 2 + variant;
    Calls calls(stage, credits);
    calls.answered(0, 8);
    for (std::uint32_t i = 8; i < 8 + credits; ++i) calls.call(i);
    stage.wait(kAMillisecond);
    for (std::uint32_t i = 8; i < 8 + credits; ++i) calls.reply(i);
    calls.answered(8 + credits, 1);
}

void protocol_error(Stage& stage, unsigned variant) {
    Calls calls(stage);
    calls.answered(0, 8);
    for (std::uint32_t i = 8; i <= 8 + variant; ++i)
        calls.call(i), stage.wait(kAMillisecond), calls.error(i, variant == 1 ? 1 : 2);
    calls.answered(20, 4);
}

// Variant 0: of another version; 1: of a type that does not exist; 2: with another XID.
void message_malformed(Stage& stage, unsigned variant) {
    Calls calls(stage);
    calls.answered(0, 8);
    for (std::uint32_t i = 8; i <= 8 + variant; ++i) calls.broken(i, variant), stage.wait(kAMillisecond);
    calls.answered(20, 4);
}

// A host is refused by the words that NVMe puts into a REJ: record format 0, a status.
void protocol_refused(Stage& stage, unsigned variant) {
    stage.req({{"infiniband.cm.req.serviceid", 0x1061144}});  // port 4420
    stage.cm(2, 2, 1, {{"infiniband.cm.rej.remotecommid", 0xa1}, {"infiniband.cm.rej.reason", 28}});
    Octets& frame = stage.recording.records.back().bytes;
    const auto wire = read_wire(stage.recording.records.back(), 1);
    REQUIRE(wire);
    frame[wire->bth + 20 + 24 + 84 + 2] = static_cast<std::uint8_t>(3 + 2 * variant);
    const std::uint32_t crc = invariant_crc(frame, wire->ip, *wire->icrc);
    for (std::size_t i = 0; i < 4; ++i) frame[*wire->icrc + i] = static_cast<std::uint8_t>(crc >> 8U * i);
}

Recording sample(std::string_view name) {
    const std::filesystem::path folder = std::filesystem::path(QPSCOPE_SOURCE_DIR) / "captures" / name;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().filename().string().starts_with("capture.")) {
            auto recording = read_recording(entry.path());
            REQUIRE(recording);
            return std::move(*recording);
        }
    FAIL("there is no such sample");
    return {};
}

// The keep-alive of that sample, answered later still by 0 to 2 seconds: all that came after 12 s of waiting comes
// later.
void keep_alive_late(Stage& stage, unsigned variant) {
    stage.recording = sample("nvme_keep_alive");
    auto& records = stage.recording.records;
    std::size_t longest = 1;
    for (std::size_t i = 1; i < records.size(); ++i)
        if (records[i].time - records[i - 1].time > records[longest].time - records[longest - 1].time) longest = i;
    for (std::size_t i = longest; i < records.size(); ++i) records[i].time += variant * kASecond;
}

// After the last answer of a target of iSER one more message: an asynchronous one that ends the session.
void session_terminated(Stage& stage, unsigned variant) {
    constexpr std::size_t kIser = 28, kPdu = 48;
    stage.recording = sample(variant == 2 ? "iser_large" : "iser_io");
    auto& records = stage.recording.records;
    std::size_t last = records.size();
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto wire = read_wire(records[i], i + 1);
        if (wire && wire->request() && (wire->operation() == 4 || wire->operation() == 23) &&
            wire->payload >= kIser + kPdu && (records[i].bytes[wire->data + kIser] & 0x3fU) == 0x21)
            last = i;
    }
    REQUIRE(last < records.size());
    records.resize(last + 2);  // with its ACK
    Record record = records[last];
    const auto wire = read_wire(record, 1);
    Octets& bytes = record.bytes;
    record.time = records.back().time + kAMillisecond;
    const std::size_t pdu = wire->data + kIser;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(pdu), kPdu, std::uint8_t{0});
    bytes[pdu] = 0x32;
    bytes[pdu + 1] = 0x80;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(pdu) + 16, 4, std::uint8_t{0xff});
    bytes[pdu + 36] = static_cast<std::uint8_t>(2 + variant % 2);
    put_number(bytes, wire->bth + 9, 3, (wire->psn + 1) & 0xffffffU);
    const std::uint32_t crc = invariant_crc(bytes, wire->ip, *wire->icrc);
    for (std::size_t i = 0; i < 4; ++i) bytes[*wire->icrc + i] = static_cast<std::uint8_t>(crc >> 8U * i);
    records.push_back(std::move(record));
}

constexpr std::array kUpperScenes{
    Scene{"operation-failed", operation_failed},   Scene{"operation-unanswered", operation_unanswered},
    Scene{"operation-slow", operation_slow},       Scene{"serialised-io", serialised},
    Scene{"single-credit", single_credit},         Scene{"credits-exhausted", credits_exhausted},
    Scene{"protocol-error", protocol_error},       Scene{"protocol-refused", protocol_refused},
    Scene{"keep-alive-late", keep_alive_late},     Scene{"session-terminated", session_terminated},
    Scene{"message-malformed", message_malformed},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> upper_scenes() { return scenes::kUpperScenes; }

}  // namespace qps::court
