#include <tests/samples/ultra_ethernet_paths.hpp>
#include <tests/support/ultra_ethernet.hpp>

#include <algorithm>
#include <set>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::uint64_t kMicrosecond = 1000;
constexpr std::uint64_t kFirst = 0x4000'0000;  // PSN
constexpr std::uint64_t kInitiator = 0x0311, kTarget = 0x0422;
constexpr std::uint64_t kMessages = 24, kPackets = 4, kPiece = 256;
constexpr std::array<std::uint16_t, 4> kPaths{0xc001, 0xc002, 0xc003, 0xc004};

// A packet as the tap between the first switch and the rest of the network sees it.
struct Passing {
    std::uint64_t time = 0;
    PacketSpec spec;
};

std::vector<std::byte> piece(std::uint64_t number) {
    std::vector<std::byte> bytes;
    for (std::uint64_t i = 0; i < kPiece; ++i) bytes.push_back(static_cast<std::byte>(number + i));
    return bytes;
}

std::vector<UetHeader> sprayed(std::uint64_t number, bool again, bool opens) {
    UetHeader delivery{opens ? kind::uet_request_syn : kind::uet_request,
                       {{"uet.pds.type", 2},
                        {"uet.pds.nh", 3},
                        {"uet.pds.flags.retx", again ? 1 : 0},
                        {"uet.pds.flags.ar", 1},
                        {"uet.pds.psn", kFirst + number},
                        {"uet.pds.spdcid", kInitiator}}};
    if (opens) {
        delivery.fields.emplace_back("uet.pds.flags.syn", 1);
        delivery.fields.emplace_back("uet.pds.psn_offset", number);
    } else {
        delivery.fields.emplace_back("uet.pds.dpdcid", kTarget);
    }
    const std::uint64_t place = number % kPackets;
    UetHeader semantics{place == 0 ? kind::ses_standard : kind::ses_standard_later,
                        {{"uet.ses.std.opcode", 1},
                         {"uet.ses.std.som", place == 0 ? 1 : 0},
                         {"uet.ses.std.eom", place == kPackets - 1 ? 1 : 0},
                         {"uet.ses.std.message_id", 100 + number / kPackets},
                         {"uet.ses.std.job_id", 0xabc},
                         {"uet.ses.std.resource_index", 9},
                         {"uet.ses.std.buffer_offset", 0x1000},
                         {"uet.ses.std.initiator", 0x2a},
                         {"uet.ses.std.mem_key_match_bits", 0x1122334455667788},
                         {"uet.ses.std.request_length", kPackets * kPiece}}};
    if (place != 0) {
        semantics.fields.emplace_back("uet.ses.std.payload_length", kPiece);
        semantics.fields.emplace_back("uet.ses.std.message_offset", place * kPiece);
    }
    return {delivery, semantics};
}

PacketSpec data(std::uint64_t number, std::uint16_t path, bool again, bool opens) {
    return uet_packet({.entropy = path}, sprayed(number, again, opens), piece(number));
}
// As a switch leaves it: the headers, and the length of UDP as it was.
PacketSpec data_trimmed(std::uint64_t number, std::uint16_t path) {
    constexpr std::uint64_t kHeaders = 8 + 12 + 44, kCrc = 4, kTrimmedClass = 5;
    PacketSpec cut = uet_packet({.entropy = path, .dscp = kTrimmedClass}, sprayed(number, false, false), piece(number));
    cut.payload.clear();
    set(cut, "udp.length", kHeaders + kPiece + kCrc);
    return cut;
}

constexpr std::uint8_t kAnswerClass = 46;

PacketSpec nack_of(std::uint64_t number, std::uint64_t code, std::uint16_t path) {
    return uet_packet({.back = true, .entropy = path, .dscp = kAnswerClass}, {{kind::uet_nack,
                                                                               {{"uet.pds.type", 10},
                                                                                {"uet.pds.nack.code", code},
                                                                                {"uet.pds.nack.psn", kFirst + number},
                                                                                {"uet.pds.spdcid", kTarget},
                                                                                {"uet.pds.dpdcid", kInitiator}}}});
}

// What the receiver has: it answers each packet by name, with all before the first that is missing.
class Receiver {
public:
    PacketSpec answer(std::uint64_t number, std::uint16_t path, bool again) {
        here_.insert(number);
        while (here_.contains(next_)) ++next_;
        const std::uint64_t cumulative = kFirst + next_ - 1;
        std::uint64_t bitmap = 0;
        for (const std::uint64_t each : here_)
            if (each + 1 >= next_ && each + 1 - next_ < 64) bitmap |= std::uint64_t{1} << (each + 1 - next_);
        return uet_packet({.back = true, .entropy = path, .dscp = kAnswerClass},
                          {{kind::uet_ack,
                            {{"uet.pds.type", 8},
                             {"uet.pds.flags.retx", again ? 1 : 0},
                             {"uet.pds.ack_psn_offset", (kFirst + number - cumulative) & 0xffff},
                             {"uet.pds.cack_psn", cumulative},
                             {"uet.pds.spdcid", kTarget},
                             {"uet.pds.dpdcid", kInitiator}}},
                           {kind::uet_ack_nscc, {{"uet.pds.ack.mpr", 4}, {"uet.pds.ack.sack_bitmap", bitmap}}}});
    }

private:
    std::set<std::uint64_t> here_;
    std::uint64_t next_ = 0;
};

// A request that arrives, or not.
struct Sprayed {
    std::uint64_t sent = 0;
    std::uint64_t arrives = 0;  // 0: lost behind the tap
    std::uint64_t number = 0;
    std::uint16_t path = 0;
    std::uint64_t nack = 0;  // what the receiver answers instead
    bool trimmed = false;
    bool again = false;
};

std::vector<Sprayed> schedule() {
    constexpr std::uint64_t kStep = 30 * kMicrosecond, kQuick = 40 * kMicrosecond, kSlow = 400 * kMicrosecond,
                            kTimeout = 900 * kMicrosecond;
    constexpr std::uint64_t kLate = 75 * kMicrosecond;  // of the slow path, before the tap
    constexpr std::uint64_t kTrimmed = 2, kNoBuffer = 7;
    std::vector<Sprayed> all;
    for (std::uint64_t number = 0; number < kMessages * kPackets; ++number) {
        const std::size_t at = (number + number / kPackets) % kPaths.size();
        Sprayed one{.sent = number * kStep, .number = number, .path = kPaths[at]};
        if (at == 3) one.sent += kLate;
        one.arrives = one.sent + (at == 3 ? kSlow : kQuick);
        const bool lost = at == 2 && (number / kPackets) % 3 == 1;
        if (at == 1 && (number == 17 || number == 62)) {
            one.trimmed = true;
            one.nack = kTrimmed;
        } else if (number == 42) {
            one.nack = kNoBuffer;
        } else if (lost) {
            one.arrives = 0;
        }
        all.push_back(one);
        if (!lost && one.nack == 0) continue;
        Sprayed again{.number = number, .path = kPaths[0], .again = true};
        again.sent = lost ? one.sent + kTimeout : one.arrives + kQuick;
        again.arrives = again.sent + kQuick;
        all.push_back(again);
    }
    return all;
}

}  // namespace

std::vector<SamplePacket> ultra_ethernet_paths() {
    constexpr std::uint64_t kHalfWay = 15 * kMicrosecond;  // from the receiver to the tap
    constexpr std::uint64_t kOpening = 4;                  // packets before the first answer
    std::vector<Passing> passing;
    std::vector<Sprayed> sent = schedule();
    for (const Sprayed& one : sent)
        passing.push_back({one.sent, one.trimmed ? data_trimmed(one.number, one.path)
                                                 : data(one.number, one.path, one.again, one.number < kOpening)});
    std::ranges::stable_sort(sent, {}, &Sprayed::arrives);
    Receiver receiver;
    std::uint64_t last = 0;
    for (const Sprayed& one : sent) {
        if (one.arrives == 0) continue;
        last = one.arrives + kHalfWay;
        passing.push_back({last, one.nack != 0 ? nack_of(one.number, one.nack, one.path)
                                               : receiver.answer(one.number, one.path, one.again)});
    }
    const std::uint64_t closing = kMessages * kPackets;
    last += kHalfWay;
    passing.push_back(
        {last, uet_packet({.entropy = kPaths[0], .dscp = kAnswerClass}, {{kind::uet_control,
                                                                          {{"uet.pds.type", 11},
                                                                           {"uet.pds.ctl_type", 4},
                                                                           {"uet.pds.flags.ar", 1},
                                                                           {"uet.pds.psn", kFirst + closing},
                                                                           {"uet.pds.spdcid", kInitiator},
                                                                           {"uet.pds.dpdcid", kTarget}}}})});
    passing.push_back({last + kHalfWay * 4, receiver.answer(closing, kPaths[0], false)});
    std::ranges::stable_sort(passing, {}, &Passing::time);
    // The capture has a packet every 10 us at least.
    constexpr std::uint64_t kStep = 10 * kMicrosecond;
    std::vector<SamplePacket> packets;
    std::uint64_t now = 0;
    for (Passing& one : passing) {
        SamplePacket packet{std::move(one.spec)};
        packet.pause = one.time > now ? one.time - now : 0;
        now += packet.pause + kStep;
        packets.push_back(std::move(packet));
    }
    return packets;
}

}  // namespace qps::tests
