// Captures that break rules of communication management and of congestion notification, and near misses.
#include <tests/conformance/passive_mutants.hpp>

namespace qps::tests {

using transport::conformance::Verdict;

namespace {

constexpr std::string_view kCnps = "infiniband.cnp";
constexpr std::size_t kRejInfoAt = 14 + 20 + 8 + 12 + 8 + 24 + 12;  // Ethernet, IPv4, UDP, BTH, DETH, MAD, REJ

// A packet of those, so long after the DREP.
void after_release(RecordedCapture& capture, std::string_view filter, std::int64_t later) {
    const auto places = matching(capture, filter);
    REQUIRE_FALSE(places.empty());
    const auto releases = matching(capture, "infiniband.cm.drsp");
    add_copy(capture, places.back(),
             capture.frames[releases.front()].time - capture.frames[places.back()].time + later);
}

RecordedCapture released(std::string_view filter, std::int64_t later) {
    RecordedCapture capture = rping();
    after_release(capture, filter, later);
    return capture;
}

void set_rejection(RecordedCapture& capture, std::size_t used, std::size_t filled) {
    RecordedFrame& frame = first_of(capture, "infiniband.cm.rej");
    set_field(frame, "infiniband.cm.rej.rejinfolen", used);
    for (std::size_t i = 0; i < filled; ++i) frame.bytes[kRejInfoAt + i] = std::byte{0x55};
    seal_icrc(frame);
}

void delay_cnps(RecordedCapture& capture, std::int64_t later) {
    for (const std::size_t place : matching(capture, kCnps)) capture.frames[place].time += later;
    sort_by_time(capture);
}

RecordedCapture with_cnps(RecordedCapture capture, std::string_view naks, std::int64_t later, std::size_t most) {
    add_cnps_with_naks(capture, naks, later, most);
    return capture;
}
constexpr std::size_t kAll = SIZE_MAX;

}  // namespace

PassiveMutants recorded_management_mutants() {
    return {
        {"CM-01", "the class version is 3", rping,
         [](RecordedCapture& c) { set_one(c, "infiniband.cm.rtu", "infiniband.mad.classversion", 3); }},
        {"CM-02", "another P_Key", rping,
         [](RecordedCapture& c) { set_all(c, "infiniband.cm.request", "infiniband.cm.req.pkey", 0x8001); }},
        {"CM-03", "another source address", rping,
         [](RecordedCapture& c) { set_all(c, "infiniband.cm.request", "infiniband.cm.req.ip_cm.sip4", 0x01020304); }},
        {"CM-01", "a REP from another queue pair, over IPv6", rping_ipv6,
         [](RecordedCapture& c) { set_one(c, "infiniband.cm.reply", "infiniband.deth.srcqp", 2); }},
        {"CM-02", "the GID is not the packet's", rping,
         [](RecordedCapture& c) { set_all(c, "infiniband.cm.request", "ip.src", 0x0a4d0063); }},
        {"CM-03", "an IP version of 6 over IPv4", rping,
         [](RecordedCapture& c) { set_all(c, "infiniband.cm.request", "infiniband.cm.req.ip_cm.ipv", 6); }},
        {"CM-19", "a SEND 20 ms after the DREP", rping, [](RecordedCapture& c) { after_release(c, kSends, 20 * kMs); }},
        {"CM-19", "a READ 2 s after the DREP, by the passive side", rping,
         [](RecordedCapture& c) { after_release(c, kReadRequests, 2 * kSeconds); }},
        {"CM-19", "an ACK 20 ms after the DREP, over IPv6", rping_ipv6,
         [](RecordedCapture& c) { after_release(c, kAcks, 20 * kMs); }},
        {"CM-24", "the waits are 20 ms, where CM announced 2 s", patient,
         [](RecordedCapture& c) { c = stalled(rping(), {20 * kMs, 20 * kMs}); }},
        {"CM-24", "the waits are 60 s, over IPv6", [] { return stalled(rping_ipv6(), {kTimer, kTimer}); },
         [](RecordedCapture& c) { c = stalled(rping_ipv6(), {60 * kSeconds, 60 * kSeconds}); }},
        {"CM-25", "nine timeouts, where CM announced seven", patient,
         [](RecordedCapture& c) { c = stalled(rping(), std::vector<std::int64_t>(9, kTimer)); }},
        {"CM-25", "four RNR NAKs, where CM announced two retries", [] { return refused_for_a_while(2, 2); },
         [](RecordedCapture& c) { c = refused_for_a_while(4, 2); }},
        {"CM-26", "the REP has another transaction ID", rping,
         [](RecordedCapture& c) { set_all(c, "infiniband.cm.reply", "infiniband.mad.transactionid", 4711); }},
        {"CM-26", "the DREP has another transaction ID, over IPv6", rping_ipv6,
         [](RecordedCapture& c) { set_all(c, "infiniband.cm.drsp", "infiniband.mad.transactionid", 4711); }},
        {"CM-26", "a REQ that comes again has another transaction ID", rping,
         [](RecordedCapture& c) {
             repeat(c, "infiniband.cm.request", 5 * kMs,
                    [](RecordedFrame& frame) { set_field(frame, "infiniband.mad.transactionid", 4711); });
         }},
        {"CM-27", "a byte at the end of the room of a REJ", refused,
         [](RecordedCapture& c) {
             RecordedFrame& frame = first_of(c, "infiniband.cm.rej");
             frame.bytes[kRejInfoAt + 71] = std::byte{0x55};
             seal_icrc(frame);
         }},
        {"CM-27", "a REJ tells of more than it has room for", refused,
         [](RecordedCapture& c) { set_rejection(c, 73, 72); }},
        {"CM-27", "a REJ has a byte more than it tells of", refused,
         [](RecordedCapture& c) { set_rejection(c, 3, 4); }},

        {"CNP-01", "a CNP has a PSN", congested,
         [](RecordedCapture& c) { set_one(c, kCnps, "infiniband.bth.psn", 7); }},
        {"CNP-01", "a reserved byte of a CNP is not 0, over IPv6", congested,
         [](RecordedCapture& c) { set_byte_before_icrc(last_of(c, "infiniband.cnp && ipv6"), 1, std::byte{1}); }},
        {"CNP-03", "four CNPs more than marks", congested,
         [](RecordedCapture& c) {
             const std::size_t place = matching(c, kCnps).front();
             for (int i = 1; i <= 4; ++i) add_copy(c, place, i * 3 * kMs);
         }},
        {"CNP-03", "two CNPs for one mark, each to another queue pair", [] { return marked(); },
         [](RecordedCapture& c) {
             const std::size_t place = matching(c, "ip.dsfield.ecn == 3").front();
             add_cnp(c, place, 77, 25'000);
             sort_by_time(c);
         }},
        {"CNP-03", "a mark less than CNPs, over IPv6", congested,
         [](RecordedCapture& c) { REQUIRE(set_field(first_of(c, "ipv6.tclass.ecn == 3"), "ipv6.tclass.ecn", 2)); }},
        {"CNP-08", "SENDs are not ECN-capable", [] { return marked(); },
         [](RecordedCapture& c) {
             set_all(c, "infiniband.bth.opcode == 4 && ip.dsfield.ecn == 2", "ip.dsfield.ecn", 0);
         }},
        {"CNP-08", "one response of a READ is not ECN-capable", [] { return marked(kReadMiddles); },
         [](RecordedCapture& c) { set_one(c, kReadLasts, "ip.dsfield.ecn", 0); }},
        {"CNP-09", "a CNP 5 us after each NAK", losing,
         [](RecordedCapture& c) { add_cnps_with_naks(c, kNaks, 5'000, kAll); }},
        {"CNP-09", "a CNP 5 us before each RNR NAK", not_ready,
         [](RecordedCapture& c) { add_cnps_with_naks(c, "infiniband.aeth.syndrome.opcode == 1", -5'000, kAll); }},
        {"CNP-10", "CNPs come 50 ms after the marks", congested, [](RecordedCapture& c) { delay_cnps(c, 50 * kMs); }},
        {"CNP-10", "the CNP of one marked response comes after 1.2 ms", [] { return marked(kReadMiddles); },
         [](RecordedCapture& c) { delay_cnps(c, 1'200'000); }},
    };
}

NearMisses recorded_management_near_misses() {
    return {
        {"CM-19", "a SEND half a millisecond after the DREP", [] { return released(kSends, kMs / 2); }},
        {"CM-19", "a SEND when TIMEWAIT is over", [] { return released(kSends, kTimer); }},
        {"CM-24", "the waits are four ACK timeouts", [] { return stalled(rping(), {8 * kSeconds, 8 * kSeconds}); }},
        {"CM-24", "one wait of 20 ms: perhaps a NAK that is missing", [] { return stalled(rping(), {20 * kMs}); },
         Verdict::inconclusive},
        {"CM-25", "seven timeouts, where CM announced seven",
         [] { return stalled(rping(), std::vector<std::int64_t>(7, kTimer)); }},
        {"CM-25", "nine RNR NAKs, where seven are for ever", [] { return refused_for_a_while(9, 7); },
         Verdict::not_applicable},
        {"CM-27", "a REJ fills its room",
         [] {
             RecordedCapture capture = refused();
             set_rejection(capture, 72, 72);
             return capture;
         }},
        {"CNP-01", "a CNP of another partition, over IPv6",
         [] {
             RecordedCapture capture = congested();
             set_all(capture, "infiniband.cnp && ipv6", "infiniband.bth.p_key", 0x8001);
             return capture;
         }},
        {"CNP-03", "fewer CNPs than marks",
         [] {
             RecordedCapture capture = congested();
             capture.frames.erase(capture.frames.begin() +
                                  static_cast<std::ptrdiff_t>(matching(capture, kCnps).front()));
             return capture;
         }},
        {"CNP-03", "no marks at all: they may be set behind the tap",
         [] {
             RecordedCapture capture = marked();
             set_all(capture, "ip.dsfield.ecn == 3", "ip.dsfield.ecn", 2);
             return capture;
         },
         Verdict::inconclusive},
        {"CNP-08", "ACKs are not ECN-capable",
         [] {
             RecordedCapture capture = marked();
             set_all(capture, kAcks, "ip.dsfield.ecn", 0);
             return capture;
         }},
        {"CNP-09", "a CNP 200 us after each NAK", [] { return with_cnps(losing(), kNaks, 200'000, kAll); }},
        {"CNP-09", "a CNP apart from NAKs, and others with them",
         [] { return with_cnps(with_cnps(losing(), kNaks, 200'000, 1), kNaks, 5'000, kAll); }, Verdict::inconclusive},
        {"CNP-09", "one CNP with a NAK", [] { return with_cnps(losing(), kNaks, 5'000, 1); }, Verdict::inconclusive},
        {"CNP-10", "the CNP comes after 0.8 ms",
         [] {
             RecordedCapture capture = marked();
             delay_cnps(capture, 800'000);
             return capture;
         }},
    };
}

}  // namespace qps::tests
