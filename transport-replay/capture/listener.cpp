#include <transport-replay/capture/listener.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <pcap/pcap.h>
#include <poll.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr int kKernelBuffer = 64 << 20;  // bytes; 50 ms at 10 Gbit/s
constexpr int kBlockPatience = 20;       // milliseconds until a block of the ring that is not full is handed over
constexpr int kPatience = 200;           // milliseconds
constexpr std::size_t kBatchFrames = 1024;
constexpr std::size_t kBatchBytes = 4U << 20;

struct CloseHandle {
    void operator()(pcap_t* handle) const { pcap_close(handle); }
};
using Handle = std::unique_ptr<pcap_t, CloseHandle>;

InputProblem problem_with(const std::string& interface, std::string sentence) {
    return {InputProblemKind::unreadable, interface, 0, std::move(sentence)};
}

std::string why(pcap_t* handle, int status) {
    std::string text = pcap_statustostr(status);
    const char* detail = pcap_geterr(handle);
    if (detail != nullptr && *detail != '\0') text = detail;
    if (status == PCAP_ERROR_PERM_DENIED) text += "; capturing needs CAP_NET_RAW";
    return text;
}

// What a batch's frames need until the storage stands still.
struct Pending {
    std::size_t offset;
    std::size_t length;
};

}  // namespace

struct Listener::State {
    Handle handle;
    std::string interface;
    InputProblem problem;
    LinkType link{};
    std::uint64_t next_index = 1;
    std::optional<Instant> first;
    std::int64_t tick = 1;  // nanoseconds in a unit of pcap_pkthdr.ts.tv_usec
    std::vector<Pending> pending;

    void take(Batch& batch, const pcap_pkthdr& packet, const u_char* bytes) {
        const Pending place{pending.empty() ? 0 : pending.back().offset + pending.back().length, packet.caplen};
        if (batch.storage.size() < place.offset + place.length) batch.storage.resize(place.offset + place.length);
        std::memcpy(batch.storage.data() + place.offset, bytes, place.length);
        pending.push_back(place);
        Frame frame;
        frame.wire_length = packet.len;
        frame.link = link;
        frame.index = FrameIndex{next_index++};
        frame.time = Instant{packet.ts.tv_sec * kNanosecondsPerSecond + packet.ts.tv_usec * tick};
        if (!first) first = frame.time;
        frame.elapsed = frame.time - *first;
        batch.frames.push_back(frame);
    }

    [[nodiscard]] bool wait() const {
        pollfd descriptor{pcap_get_selectable_fd(handle.get()), POLLIN, 0};
        return poll(&descriptor, 1, kPatience) > 0;
    }
};

Listener::Listener(std::unique_ptr<State> state) : state_(std::move(state)) {}
Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&&) noexcept = default;
Listener::~Listener() = default;

std::expected<Listener, InputProblem> Listener::open(const std::string& interface, const std::string& capture_filter,
                                                     std::uint32_t snap_length) {
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    Handle handle(pcap_create(interface.c_str(), error.data()));
    if (!handle) return std::unexpected(problem_with(interface, error.data()));
    pcap_set_snaplen(handle.get(), static_cast<int>(std::clamp(snap_length, 1U, kListenerSnapLength)));
    pcap_set_promisc(handle.get(), 1);
    // Not immediate mode: that has slots of the snap length, so that few frames fit the ring.
    pcap_set_timeout(handle.get(), kBlockPatience);
    pcap_set_buffer_size(handle.get(), kKernelBuffer);
    pcap_set_tstamp_precision(handle.get(), PCAP_TSTAMP_PRECISION_NANO);
    if (const int status = pcap_activate(handle.get()); status < 0)
        return std::unexpected(problem_with(interface, why(handle.get(), status)));
    if (pcap_setnonblock(handle.get(), 1, error.data()) != 0)
        return std::unexpected(problem_with(interface, error.data()));
    auto state = std::make_unique<State>();
    state->interface = interface;
    const int link = pcap_datalink(handle.get());
    state->link = link == DLT_RAW ? LinkType::raw_ip : static_cast<LinkType>(link);
    constexpr std::int64_t kMicrosecond = 1000;
    state->tick = pcap_get_tstamp_precision(handle.get()) == PCAP_TSTAMP_PRECISION_NANO ? 1 : kMicrosecond;
    state->handle = std::move(handle);
    Listener listener(std::move(state));
    if (!capture_filter.empty())
        if (auto selected = listener.select(capture_filter); !selected)
            return std::unexpected(std::move(selected.error()));
    return listener;
}

std::expected<void, InputProblem> Listener::select(const std::string& capture_filter) {
    pcap_t* handle = state_->handle.get();
    bpf_program program{};
    if (pcap_compile(handle, &program, capture_filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
        return std::unexpected(problem_with(
            state_->interface, fmt::format("invalid capture filter '{}': {}", capture_filter, pcap_geterr(handle))));
    const int status = pcap_setfilter(handle, &program);
    pcap_freecode(&program);
    if (status != 0) return std::unexpected(problem_with(state_->interface, pcap_geterr(handle)));
    return {};
}

bool Listener::read(Batch& batch) {
    State& state = *state_;
    batch.frames.clear();
    state.pending.clear();
    bool waited = false;
    while (batch.frames.size() < kBatchFrames && (state.pending.empty() || state.pending.back().offset < kBatchBytes)) {
        pcap_pkthdr* packet = nullptr;
        const u_char* bytes = nullptr;
        const int status = pcap_next_ex(state.handle.get(), &packet, &bytes);
        if (status < 0) {
            state.problem = problem_with(state.interface, why(state.handle.get(), status));
            break;
        }
        if (status > 0) {
            state.take(batch, *packet, bytes);
        } else if (!batch.frames.empty() || waited) {
            break;
        } else {
            waited = true;
            if (!state.wait()) break;
        }
    }
    for (std::size_t i = 0; i < batch.frames.size(); ++i)
        batch.frames[i].bytes = slice(batch.storage, state.pending[i].offset, state.pending[i].length);
    return !batch.frames.empty() || state.problem.kind == InputProblemKind::none;
}

const InputProblem& Listener::problem() const { return state_->problem; }

LinkType Listener::link() const { return state_->link; }

ListenerDrops Listener::drops() const {
    pcap_stat counters{};
    if (pcap_stats(state_->handle.get(), &counters) != 0) return {};
    return {counters.ps_recv, counters.ps_drop, counters.ps_ifdrop};
}

}  // namespace qps::transport
