// Recorded traffic for the passive checks: samples that are healthy, exchanges made of them, and the ways to change
// them.
#pragma once

#include <tests/support/passive_run.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::tests {

inline constexpr std::int64_t kMs = 1'000'000, kSeconds = 1'000'000'000;
inline constexpr std::int64_t kTimer = 3 * kSeconds;  // rping's CM announces exponent 19: 2.15 s and more

inline constexpr std::string_view kRcPackets = "infiniband.bth.opcode < 0x20";
inline constexpr std::string_view kGsiPackets = "infiniband.bth.destqp == 1";
inline constexpr std::string_view kSends = "infiniband.bth.opcode == 4", kReadRequests = "infiniband.bth.opcode == 12";
inline constexpr std::string_view kReadFirsts = "infiniband.bth.opcode == 13",
                                  kReadMiddles = "infiniband.bth.opcode == 14";
inline constexpr std::string_view kReadLasts = "infiniband.bth.opcode == 15",
                                  kReadOnlys = "infiniband.bth.opcode == 16";
inline constexpr std::string_view kAcks = "infiniband.bth.opcode == 17", kAtomicAcks = "infiniband.bth.opcode == 18";
inline constexpr std::string_view kNaks = "infiniband.aeth.syndrome.opcode == NAK";

// Samples in which soft-RoCE's deviations are put right.
[[nodiscard]] RecordedCapture rping();
[[nodiscard]] RecordedCapture rping_ipv6();
[[nodiscard]] RecordedCapture writes();
[[nodiscard]] RecordedCapture reads();
[[nodiscard]] RecordedCapture atomics();
[[nodiscard]] RecordedCapture bidirectional();
[[nodiscard]] RecordedCapture many_queue_pairs();
[[nodiscard]] RecordedCapture unreliable();
[[nodiscard]] RecordedCapture datagrams();
[[nodiscard]] RecordedCapture congested();
[[nodiscard]] RecordedCapture refused();
[[nodiscard]] RecordedCapture key_refused();
[[nodiscard]] RecordedCapture length_refused();
[[nodiscard]] RecordedCapture not_ready();
[[nodiscard]] RecordedCapture losing();
[[nodiscard]] RecordedCapture roce();
[[nodiscard]] RecordedCapture native();

// All PSNs moved, those that CM announces too, so that they wrap in the middle of the traffic.
[[nodiscard]] RecordedCapture wrapping(RecordedCapture capture);
// rping whose data is ECN-capable, one packet of those that the filter matches marked, and answered by a CNP.
[[nodiscard]] RecordedCapture marked(std::string_view filter = kSends);
// A SEND in the middle that nobody answers at first: sent again so often, so long apart each, then all goes on.
[[nodiscard]] RecordedCapture stalled(RecordedCapture capture, const std::vector<std::int64_t>& waits);
[[nodiscard]] RecordedCapture patient();
// rping with a SEND that meets so many RNR NAKs, where CM announced that many retries.
[[nodiscard]] RecordedCapture refused_for_a_while(std::size_t refusals, std::uint64_t announced);
// A READ of rping of which one response was lost, asked for again from there after so long: its MIDDLE, or its LAST.
enum class LostResponse : std::uint8_t { middle, last };
[[nodiscard]] RecordedCapture read_again(std::size_t which, LostResponse lost, std::int64_t wait);

// The packet in the middle of those that match, the first, the last.
[[nodiscard]] RecordedFrame& middle_of(RecordedCapture& capture, std::string_view filter);
[[nodiscard]] RecordedFrame& first_of(RecordedCapture& capture, std::string_view filter);
[[nodiscard]] RecordedFrame& last_of(RecordedCapture& capture, std::string_view filter);
void set_all(RecordedCapture& capture, std::string_view filter, std::string_view field, std::uint64_t value);
void set_one(RecordedCapture& capture, std::string_view filter, std::string_view field, std::uint64_t value);
void add_to_one(RecordedCapture& capture, std::string_view filter, std::string_view field, std::uint64_t more);
void spoil_icrc(RecordedFrame& frame);  // its ICRC
// The byte so far before the ICRC, which is made right.
void set_byte_before_icrc(RecordedFrame& frame, std::size_t before, std::byte value);
// So many bytes more before the ICRC, or fewer, and the lengths of IP and UDP with them.
void lengthen(RecordedFrame& frame, int more);
// The second packet of those that bear one PSN and queue pair.
[[nodiscard]] RecordedFrame& sent_again(RecordedCapture& capture, std::string_view filter);
// A copy of a packet, so much later, changed.
void repeat(RecordedCapture& capture, std::string_view filter, std::int64_t later,
            const std::function<void(RecordedFrame&)>& change = {});
// Everything behind that packet comes so much later.
void delay_behind(RecordedCapture& capture, std::size_t place, std::int64_t later);
// A CNP the other way of that packet, to that queue pair, so much later.
void add_cnp(RecordedCapture& capture, std::size_t place, std::uint32_t qpn, std::int64_t later);
// With each NAK its sender also sends a CNP, so much later; to so many NAKs.
void add_cnps_with_naks(RecordedCapture& capture, std::string_view naks, std::int64_t later, std::size_t most);

}  // namespace qps::tests
