#include <dissect/packet/build.hpp>
#include <tests/conformance/passive_traffic.hpp>

#include <map>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::size_t kIcrcBytes = 4;
constexpr std::uint64_t kPsnMask = 0xff'ffff;

void move_number(RecordedFrame& frame, std::string_view field, std::uint64_t more) {
    set_field(frame, field, (field_of(frame, field) + more) & kPsnMask);
}

}  // namespace

RecordedCapture rping() { return healed("rping_v4"); }
RecordedCapture rping_ipv6() { return healed("rping_v6"); }
RecordedCapture writes() { return healed("write_8k"); }
RecordedCapture reads() { return healed("read_8k"); }
RecordedCapture atomics() { return healed("atomic_fadd"); }
RecordedCapture bidirectional() { return healed("write_bidir_cm"); }
RecordedCapture many_queue_pairs() { return healed("multi_qp"); }
RecordedCapture unreliable() { return healed("uc_pingpong"); }
RecordedCapture datagrams() { return healed("ud_pingpong"); }
RecordedCapture congested() { return healed("congestion"); }
RecordedCapture refused() { return healed("cm_reject_noport"); }
RecordedCapture key_refused() { return healed("err_bad_rkey"); }
RecordedCapture length_refused() { return healed("err_recv_too_small"); }
RecordedCapture not_ready() { return healed("err_rnr"); }
RecordedCapture losing() { return healed("loss_write"); }
RecordedCapture roce() { return sample("opcodes_roce"); }
RecordedCapture native() { return sample("opcodes_native"); }

RecordedFrame& middle_of(RecordedCapture& capture, std::string_view filter) {
    const auto places = matching(capture, filter);
    REQUIRE_FALSE(places.empty());
    return capture.frames[places[places.size() / 2]];
}

RecordedFrame& first_of(RecordedCapture& capture, std::string_view filter) {
    const auto places = matching(capture, filter);
    REQUIRE_FALSE(places.empty());
    return capture.frames[places.front()];
}

RecordedFrame& last_of(RecordedCapture& capture, std::string_view filter) {
    const auto places = matching(capture, filter);
    REQUIRE_FALSE(places.empty());
    return capture.frames[places.back()];
}

void set_all(RecordedCapture& capture, std::string_view filter, std::string_view field, std::uint64_t value) {
    REQUIRE(rewrite(capture, filter, field, value) > 0);
}

void set_one(RecordedCapture& capture, std::string_view filter, std::string_view field, std::uint64_t value) {
    REQUIRE(set_field(middle_of(capture, filter), field, value));
}

void add_to_one(RecordedCapture& capture, std::string_view filter, std::string_view field, std::uint64_t more) {
    RecordedFrame& frame = middle_of(capture, filter);
    REQUIRE(set_field(frame, field, field_of(frame, field) + more));
}

void spoil_icrc(RecordedFrame& frame) { frame.bytes.back() ^= std::byte{1}; }

void set_byte_before_icrc(RecordedFrame& frame, std::size_t before, std::byte value) {
    REQUIRE(frame.bytes.size() > kIcrcBytes + before);
    frame.bytes[frame.bytes.size() - kIcrcBytes - before] = value;
    seal_icrc(frame);
}

void lengthen(RecordedFrame& frame, int more) {
    const auto icrc = frame.bytes.end() - static_cast<std::ptrdiff_t>(kIcrcBytes);
    if (more >= 0) frame.bytes.insert(icrc, static_cast<std::size_t>(more), std::byte{});
    else frame.bytes.erase(icrc + more, icrc);
    frame.wire_length = 0;
    for (const std::string_view field : {"ip.len", "ipv6.plen", "udp.length"})
        set_field(frame, field, field_of(frame, field) + static_cast<std::uint64_t>(static_cast<std::int64_t>(more)),
                  false);
    seal_icrc(frame);
}

RecordedFrame& sent_again(RecordedCapture& capture, std::string_view filter) {
    std::map<std::uint64_t, std::size_t> seen;
    for (const std::size_t place : matching(capture, filter)) {
        const RecordedFrame& frame = capture.frames[place];
        const std::uint64_t key =
            field_of(frame, "infiniband.bth.psn") << 32 | field_of(frame, "infiniband.bth.destqp");
        if (!seen.emplace(key, place).second) return capture.frames[place];
    }
    FAIL("nothing was sent again");
    return capture.frames.front();
}

void repeat(RecordedCapture& capture, std::string_view filter, std::int64_t later,
            const std::function<void(RecordedFrame&)>& change) {
    RecordedFrame copy = middle_of(capture, filter);
    copy.time += later;
    if (change) change(copy);
    capture.frames.push_back(std::move(copy));
    sort_by_time(capture);
}

void delay_behind(RecordedCapture& capture, std::size_t place, std::int64_t later) {
    for (std::size_t i = place + 1; i < capture.frames.size(); ++i) capture.frames[i].time += later;
}

void add_cnp(RecordedCapture& capture, std::size_t place, std::uint32_t qpn, std::int64_t later) {
    const RecordedFrame& cause = capture.frames[place];
    PacketSpec spec = transport_packet(Opcode::cnp, Network::roce_v2_ipv4);
    set(spec, "ip.src", field_of(cause, "ip.dst"));
    set(spec, "ip.dst", field_of(cause, "ip.src"));
    set(spec, "udp.srcport", 0xc000);
    set(spec, "infiniband.bth.becn", 1);
    set(spec, "infiniband.bth.destqp", qpn);
    capture.frames.push_back({build(spec), LinkType::ethernet, cause.time + later, 0});
}

void add_cnps_with_naks(RecordedCapture& capture, std::string_view naks, std::int64_t later, std::size_t most) {
    auto places = matching(capture, naks);
    REQUIRE(places.size() > 2);
    places.resize(std::min(places.size(), most));
    for (const std::size_t place : places) {
        add_cnp(capture, place, 0, later);
        const RecordedFrame nak = capture.frames[place];
        RecordedFrame& cnp = capture.frames.back();
        for (const std::string_view field : {"ip.src", "ip.dst", "infiniband.bth.destqp"})
            set_field(cnp, field, field_of(nak, field));
    }
    sort_by_time(capture);
}

RecordedCapture wrapping(RecordedCapture capture) {
    constexpr std::string_view kConnected = "infiniband.bth.opcode < 0x40 && infiniband.bth.destqp > 1";
    const std::uint64_t more = kPsnMask + 1 - field_of(middle_of(capture, kConnected), "infiniband.bth.psn");
    for (const std::size_t place : matching(capture, kConnected))
        move_number(capture.frames[place], "infiniband.bth.psn", more);
    for (const std::size_t place : matching(capture, "infiniband.cm.request"))
        move_number(capture.frames[place], "infiniband.cm.req.startpsn", more);
    for (const std::size_t place : matching(capture, "infiniband.cm.reply"))
        move_number(capture.frames[place], "infiniband.cm.rep.startpsn", more);
    return capture;
}

RecordedCapture marked(std::string_view filter) {
    RecordedCapture capture = rping();
    rewrite(capture, kRcPackets, "ip.dsfield.ecn", 2);
    const auto data = matching(capture, filter);
    REQUIRE_FALSE(data.empty());
    const std::size_t place = data[data.size() / 2];
    set_field(capture.frames[place], "ip.dsfield.ecn", 3);
    add_cnp(capture, place, static_cast<std::uint32_t>(field_of(capture.frames[place], "infiniband.bth.destqp")),
            20'000);
    sort_by_time(capture);
    return capture;
}

RecordedCapture stalled(RecordedCapture capture, const std::vector<std::int64_t>& waits) {
    const auto sends = matching(capture, "infiniband.bth.opcode == 4 && infiniband.bth.a == 1");
    REQUIRE_FALSE(sends.empty());
    const std::size_t place = sends[sends.size() / 2];
    std::int64_t late = 0;
    std::vector<RecordedFrame> copies;
    for (const std::int64_t wait : waits) {
        late += wait;
        copies.push_back(capture.frames[place]);
        copies.back().time += late;
    }
    delay_behind(capture, place, late);
    for (RecordedFrame& copy : copies) capture.frames.push_back(std::move(copy));
    sort_by_time(capture);
    return capture;
}

RecordedCapture patient() { return stalled(rping(), {kTimer, kTimer}); }

RecordedCapture refused_for_a_while(std::size_t refusals, std::uint64_t announced) {
    constexpr std::uint64_t kRnrNak = 0x20 | 12;  // 0.64 ms
    RecordedCapture capture = rping();
    set_all(capture, "infiniband.cm.request", "infiniband.cm.req.rnrretrcount", announced);
    set_all(capture, "infiniband.cm.reply", "infiniband.cm.rep.rnrretrcount", announced);
    const auto sends = matching(capture, "infiniband.bth.opcode == 4 && infiniband.bth.a == 1");
    const std::size_t place = sends[sends.size() / 2];
    const auto acks = matching(capture, kAcks);
    const auto ack = std::ranges::find_if(acks, [&](std::size_t each) { return each > place; });
    REQUIRE(ack != acks.end());
    RecordedFrame refusal = capture.frames[*ack];
    set_field(refusal, "infiniband.aeth.syndrome", kRnrNak);
    move_number(refusal, "infiniband.aeth.msn", kPsnMask);  // one less: the SEND does not count
    const RecordedFrame send = capture.frames[place];
    delay_behind(capture, place, static_cast<std::int64_t>(refusals) * 2 * kMs);
    for (std::size_t i = 0; i < refusals; ++i) {
        capture.frames.push_back(refusal);
        capture.frames.back().time = send.time + static_cast<std::int64_t>(i) * 2 * kMs + kMs / 2;
        capture.frames.push_back(send);
        capture.frames.back().time = send.time + static_cast<std::int64_t>(i + 1) * 2 * kMs;
        set_field(capture.frames.back(), "ip.id", 0x4000 + i);  // it is sent again, not doubled by the network
    }
    sort_by_time(capture);
    return capture;
}

RecordedCapture read_again(std::size_t which, LostResponse lost_one, std::int64_t wait) {
    RecordedCapture capture = rping();
    const auto middles = matching(capture, kReadMiddles);
    REQUIRE(which < middles.size());
    const std::size_t middle = middles[which];
    const auto requests = matching(capture, kReadRequests);
    const auto before =
        std::ranges::find_if(requests.rbegin(), requests.rend(), [&](std::size_t place) { return place < middle; });
    const auto lasts = matching(capture, kReadLasts);
    const std::size_t last = *std::ranges::find_if(lasts, [&](std::size_t place) { return place > middle; });
    const std::size_t lost = lost_one == LostResponse::middle ? middle : last;
    const std::uint64_t psn = field_of(capture.frames[lost], "infiniband.bth.psn");
    RecordedFrame again = capture.frames[*before];
    const std::uint64_t skipped = (psn - field_of(again, "infiniband.bth.psn")) * 4096;
    const std::uint64_t length = field_of(again, "infiniband.reth.dmalen");
    set_field(again, "infiniband.reth.va", field_of(again, "infiniband.reth.va") + skipped);
    set_field(again, "infiniband.reth.dmalen", length - skipped);
    set_field(again, "infiniband.bth.psn", psn);
    again.time = capture.frames[last].time + wait;
    // Restarted responses begin with FIRST; one that is alone is ONLY. Both bear an AETH, which a MIDDLE lacks: only
    // the LAST is used.
    RecordedFrame answer = capture.frames[last];
    answer.time = again.time + 10'000;
    set_field(answer, "infiniband.bth.opcode", 16);
    delay_behind(capture, last, wait + kMs);
    capture.frames.erase(capture.frames.begin() + static_cast<std::ptrdiff_t>(lost));
    capture.frames.push_back(std::move(again));
    capture.frames.push_back(std::move(answer));
    sort_by_time(capture);
    return capture;
}

}  // namespace qps::tests
