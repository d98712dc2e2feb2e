#include <transport-replay/live/device/interface_facts.hpp>
#include <transport-replay/live/device/outbox.hpp>
#include <transport-replay/live/device/pcap_device.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <pcap/pcap.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr int kKernelBuffer = 16 << 20;  // bytes of frames that come while we are busy
constexpr std::size_t kTagBytes = 8;     // a frame as long as the MTU may have two VLAN tags besides (802.1ad)
constexpr Duration kRetryAfter{20'000};  // until what the system had no room for is tried again

struct CloseHandle {
    void operator()(pcap_t* handle) const { pcap_close(handle); }
};
using Handle = std::unique_ptr<pcap_t, CloseHandle>;

std::string why(pcap_t* handle, int status) {
    const char* detail = pcap_geterr(handle);
    std::string text = detail != nullptr && *detail != '\0' ? detail : pcap_statustostr(status);
    if (status == PCAP_ERROR_PERM_DENIED) text += "; raw frames need CAP_NET_RAW";
    return text;
}

struct PcapState {
    PcapState(std::size_t longest, std::uint64_t address)
        : room(new std::byte[kDeviceBatch * longest]), outbox(longest), frame_bytes(longest), mac(address) {}

    std::string interface;
    Handle handle;
    std::unique_ptr<std::byte[]> room;  // of a batch of received frames: libpcap's own bytes end with its next call
    std::array<ReceivedFrame, kDeviceBatch> received;
    Outbox outbox;
    std::size_t frame_bytes;
    std::uint64_t mac;
    BitsPerSecond link_speed{};
    std::optional<Instant> retry;
    DeviceCounts counts;
    std::optional<Problem> problem;
};

class PcapDevice final : public AnyDevice {
public:
    explicit PcapDevice(std::unique_ptr<PcapState> state) : state_(std::move(state)) {}

    [[nodiscard]] std::span<const ReceivedFrame> receive(Instant now) override {
        PcapState& state = *state_;
        std::size_t count = 0;
        for (std::size_t looked_at = 0; looked_at < kDeviceBatch; ++looked_at) {
            pcap_pkthdr* header = nullptr;
            const u_char* bytes = nullptr;
            const int status = pcap_next_ex(state.handle.get(), &header, &bytes);
            if (status < 0 && !state.problem) state.problem = Problem{state.interface, why(state.handle.get(), status)};
            if (status <= 0) break;
            if (header->caplen < header->len || header->caplen > state.frame_bytes ||
                header->caplen < kEthernetHeader) {
                ++state.counts.dropped;
                continue;
            }
            std::byte* room = state.room.get() + count * state.frame_bytes;
            std::memcpy(room, bytes, header->caplen);
            state.received[count++] = {Bytes(room, header->caplen), now};
            state.counts.received_bytes += header->caplen;
        }
        state.counts.received += count;
        return {state.received.data(), count};
    }
    [[nodiscard]] MutableBytes reserve(Instant now) override {
        if (state_->outbox.full()) flush(now);
        return state_->outbox.reserve();
    }
    void commit(std::size_t bytes, Instant now) override {
        if (!state_->outbox.commit(bytes)) ++state_->counts.refused;
        if (state_->outbox.full()) flush(now);
    }
    void flush(Instant now) override {
        PcapState& state = *state_;
        state.retry.reset();
        while (state.outbox.waiting() > 0) {
            const MutableBytes frame = state.outbox.frame(0);
            errno = 0;
            if (pcap_inject(state.handle.get(), frame.data(), frame.size()) >= 0) {
                ++state.counts.sent;
                state.counts.sent_bytes += frame.size();
            } else if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) {
                state.retry = now + kRetryAfter;
                return;
            } else {
                ++state.counts.refused;
            }
            state.outbox.leave(1);
        }
    }
    [[nodiscard]] std::optional<Instant> poll_at() const override { return state_->retry; }
    [[nodiscard]] int descriptor() const override { return pcap_get_selectable_fd(state_->handle.get()); }
    [[nodiscard]] DeviceLimits limits() const override {
        return {.frame_bytes = state_->frame_bytes, .mac = state_->mac, .link_speed = state_->link_speed};
    }
    [[nodiscard]] DeviceCounts counts() const override {
        DeviceCounts counts = state_->counts;
        pcap_stat statistics{};
        if (pcap_stats(state_->handle.get(), &statistics) == 0) counts.dropped += statistics.ps_drop;
        return counts;
    }
    [[nodiscard]] std::optional<Problem> problem() const override { return state_->problem; }

private:
    std::unique_ptr<PcapState> state_;
};

}  // namespace

std::expected<Device, Problem> open_pcap_device(const std::string& interface, const std::string& filter) {
    const auto fail = [&](std::string sentence) { return std::unexpected(Problem{interface, std::move(sentence)}); };
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    Handle handle(pcap_create(interface.c_str(), error.data()));
    if (!handle) return fail(error.data());
    pcap_set_snaplen(handle.get(), static_cast<int>(kLongestFrame));
    pcap_set_promisc(handle.get(), 1);
    pcap_set_immediate_mode(handle.get(), 1);
    pcap_set_buffer_size(handle.get(), kKernelBuffer);
    if (const int status = pcap_activate(handle.get()); status < 0) return fail(why(handle.get(), status));
    if (pcap_datalink(handle.get()) != DLT_EN10MB) return fail("not an Ethernet interface");
    if (pcap_setnonblock(handle.get(), 1, error.data()) != 0) return fail(error.data());
    // Where a direction cannot be chosen, what we send comes back; a channel adapter drops it, as it is not to its
    // address.
    static_cast<void>(pcap_setdirection(handle.get(), PCAP_D_IN));
    if (!filter.empty()) {
        bpf_program program{};
        if (pcap_compile(handle.get(), &program, filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
            return fail(fmt::format("invalid capture filter '{}': {}", filter, pcap_geterr(handle.get())));
        const int status = pcap_setfilter(handle.get(), &program);
        pcap_freecode(&program);
        if (status != 0) return fail(fmt::format("invalid capture filter '{}': {}", filter, pcap_geterr(handle.get())));
    }
    const InterfaceFacts found = facts_of_interface(interface);
    const std::size_t longest =
        found.mtu == 0 ? kLongestFrame : std::min(found.mtu + kEthernetHeader + kTagBytes, kLongestFrame);
    auto state = std::make_unique<PcapState>(std::max(longest, kShortestFrame), found.mac);
    state->interface = interface;
    state->link_speed = found.speed;
    state->handle = std::move(handle);
    return Device(PcapDevice(std::move(state)));
}

}  // namespace qps::transport::live
