#include <dissect/base/types.hpp>
#include <transport-replay/live/replay/playing.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::uint8_t kDepth = 16;   // READs and ATOMICs, where the recording does not say
constexpr std::uint8_t kRetries = 7;  // likewise; of RNR NAKs: for ever

Bytes asked(const ConnectionEvent& event) {
    const auto caller = read_ip_cm(event.private_data.bytes());
    return caller ? caller->private_data : Bytes{};
}

std::string why_not(const ConnectionEvent& event) {
    if (event.kind == ConnectionEventKind::unreachable) return "no answer";
    return fmt::format("{} rejected the connection: {}", event.rejection.by_peer ? "the peer" : "we",
                       reject_reason(static_cast<std::uint16_t>(event.rejection.reason)));
}

}  // namespace

// Beginning: memory, queues, receives; then the connection.

verbs::Result<void> Playing::make_queues(verbs::Adapter& adapter) {
    const auto domain = adapter.alloc_pd();
    if (!domain) return std::unexpected(domain.error());
    pd = *domain;
    const auto queue = adapter.create_cq(kCompletions);
    if (!queue) return std::unexpected(queue.error());
    cq = *queue;
    const auto pair =
        adapter.create_qp({.pd = pd,
                           .send_cq = cq,
                           .recv_cq = cq,
                           .cap = {.max_send_wr = kSendQueue, .max_recv_wr = kMostReceives},
                           .qp_type = conversation.service == Service::uc ? verbs::QpType::uc : verbs::QpType::rc,
                           .sq_sig_all = true});
    if (!pair) return std::unexpected(pair.error());
    qp = *pair;
    if (auto set = adapter.modify_qp(
            qp, {.qp_state = verbs::QpState::init, .pkey = Pkey{0xffff}, .access = part.memory.access});
        !set)
        return set;
    auto opened = PlayedMemory::open(adapter, pd, part);
    if (!opened) return std::unexpected(opened.error());
    memory.emplace(std::move(*opened));
    return {};
}

std::expected<void, std::string> Playing::begin(Endpoint& endpoint, Instant now) {
    result.messages.resize(conversation.messages.size());
    for (std::uint32_t i = 0; i < part.learned.size(); ++i) learned_by_message.push_back(i);
    std::ranges::stable_sort(learned_by_message, {}, [&](std::uint32_t i) { return part.learned[i].message; });
    if (const auto made = make_queues(endpoint.adapter()); !made)
        return std::unexpected(fmt::format("the adapter cannot provide what the recording needs: {}",
                                           verbs::kVerbsErrorNames[static_cast<std::size_t>(made.error())]));
    phase = Phase::connecting;
    last_progress = now;
    post_receives(endpoint.adapter(), now);
    report_regions();
    if (!settings.connect) {
        const CmResult listening = endpoint.connections().listen(PortSpace::tcp, settings.port);
        if (!listening) return std::unexpected(fmt::format("cannot listen: {}", name(listening.error())));
        return {};
    }
    CmPrivateBytes private_data;
    const ConnectOptions asked_for = options(private_data);
    const auto begun = endpoint.connections().connect(qp, *settings.connect, asked_for, now);
    if (!begun) return std::unexpected(fmt::format("cannot connect: {}", name(begun.error())));
    id = *begun;
    return {};
}

// What a user has to tell the peer, where no message does.
void Playing::report_regions() {
    for (const PlayedMemory::Region& region : memory->regions()) {
        const Rkey key = region.recorded->key;
        const auto has_key = [&](std::uint32_t place) { return part.advertised[place].key == key; };
        if (std::ranges::binary_search(part.advertised_keys, key) ||
            std::ranges::any_of(part.private_advertisements, has_key))
            continue;
        unadvertised.push_back({region.recorded->key, region.key});
        lines.push_back(
            fmt::format("memory with key {:#x}, {} at {:#x}, has key {:#x} here; no recorded message carries it",
                        std::to_underlying(region.recorded->key), bytes_text(region.recorded->range.length),
                        region.recorded->range.offset, std::to_underlying(region.key)));
    }
}

ConnectOptions Playing::options(CmPrivateBytes& private_data) {
    const RecordedEnd& ours = conversation.end(part.ours);
    std::vector<std::byte> bytes(ours.private_data.bytes().begin(), ours.private_data.bytes().end());
    for (const std::uint32_t place : part.private_advertisements)
        if (const auto live = memory->live(part.advertised[place])) write_place(bytes, part.advertised[place], *live);
    private_data = CmPrivateBytes(bytes);
    ConnectOptions options{.access = part.memory.access,
                           .responder_resources = std::max<std::uint8_t>(ours.responder_resources.value_or(kDepth), 1),
                           .initiator_depth = std::max<std::uint8_t>(ours.initiator_depth.value_or(kDepth), 1),
                           .retry_count = conversation.retry_count.value_or(kRetries),
                           .rnr_retry_count = ours.rnr_retry_count.value_or(kRetries),
                           .private_data = private_data.bytes()};
    for (const PlannedReceive& receive : part.receives)
        if (receive.never)  // the peer gave up: so is it told to
            options.rnr_retry_count = static_cast<std::uint8_t>(
                std::clamp<std::uint32_t>(recorded(receive.message).rnr_naks, 1, kRetries) - 1);
    return options;
}

void Playing::take(Endpoint& endpoint, const ConnectionEvent& event, Instant now) {
    if (event.kind == ConnectionEventKind::request) {
        if (settings.connect || phase != Phase::connecting || id) {
            (void)endpoint.connections().reject(event.id, {}, now);
            return;
        }
        CmPrivateBytes private_data;
        learn(kInPrivateData, asked(event));
        if (endpoint.connections().accept(event.id, qp, options(private_data), now)) id = event.id;
        else (void)endpoint.connections().reject(event.id, {}, now);
        last_progress = now;
        return;
    }
    if (!id || event.id != *id) return;
    switch (event.kind) {
        case ConnectionEventKind::established: establish(endpoint, event.private_data.bytes(), now); break;
        case ConnectionEventKind::rejected:
        case ConnectionEventKind::unreachable: give_up(why_not(event)); break;
        case ConnectionEventKind::disconnected:
            if (connected()) conclude(endpoint, complete(now) ? ReplayEnd::complete : ReplayEnd::peer_left, {}, now);
            give_up("the peer left before the connection was established");  // its RTU was lost, and all that it sent
            break;
        default:
            if (event.last) give_up("the connection ended before it was established");
    }
}

// It is over; where nothing came of it, for this reason.
void Playing::give_up(std::string words) {
    phase = Phase::over;
    if (result.end != ReplayEnd::running) return;
    ++counts.failed;
    result.end = ReplayEnd::not_connected;
    result.words = std::move(words);
}

void Playing::establish(Endpoint& endpoint, Bytes private_data, Instant now) {
    if (phase != Phase::connecting) return;
    phase = Phase::running;
    started = last_progress = now;
    ++counts.connections;
    if (settings.connect) learn(kInPrivateData, private_data);
    if (const auto bound = memory->bind(endpoint.adapter(), qp); !bound)
        conclude(endpoint, ReplayEnd::failed, "cannot bind a memory window", now);
}

void Playing::learn(std::uint32_t message, Bytes bytes) {
    const auto here = std::ranges::equal_range(learned_by_message, message, {},
                                               [&](std::uint32_t i) { return part.learned[i].message; });
    for (const std::uint32_t i : here) learned[i] = read_place(bytes, part.learned[i]);
}

// What of a message of the peer is about its memory, and so other than it was recorded.
void Playing::add_learned(std::vector<ByteRange>& ranges, std::uint32_t message) const {
    const auto here = std::ranges::equal_range(learned_by_message, message, {},
                                               [&](std::uint32_t i) { return part.learned[i].message; });
    for (const std::uint32_t i : here) add_ranges(ranges, part.learned[i]);
}

// Ending.

void Playing::leave(Endpoint& endpoint, Instant now) {
    if (phase == Phase::leaving || phase == Phase::over) return;
    phase = Phase::over;
    if (!settings.connect) (void)endpoint.manager().stop_listening(ip_service(PortSpace::tcp, settings.port));
    if (!id) return;
    phase = Phase::leaving;
    leave_until = now + kPartingTime;
    if (endpoint.connections().disconnect(*id, now)) return;
    (void)endpoint.manager().abandon(*id, now);
    phase = Phase::over;
}

// What was recorded and did not happen, where nothing else says why: the first of it.
void Playing::say_missing() {
    for (std::uint32_t i = 0; i < conversation.messages.size(); ++i) {
        const RecordedMessage& each = recorded(i);
        const bool ours = each.from == part.ours;
        if (!each.succeeded() || !each.is_playable() || (!ours && !each.is_visible())) continue;
        if (compared(i).progress == Progress::done) continue;
        compared(i).differences.push_back({.kind = DifferenceKind::missing});
        return;
    }
}

void Playing::conclude(Endpoint& endpoint, ReplayEnd end, std::string words, Instant now) {
    if (result.end != ReplayEnd::running) return;
    result.end = end;
    result.words = std::move(words);
    const bool unexplained = end == ReplayEnd::timed_out ||
                             ((end == ReplayEnd::peer_left || end == ReplayEnd::failed) && result.differences() == 0);
    if (unexplained) say_missing();
    if (end == ReplayEnd::complete)
        for (const std::uint32_t i : part.peers)
            if (compared(i).progress == Progress::waiting && !recorded(i).is_visible())
                compared(i).progress = Progress::unseen;
    if (end != ReplayEnd::complete) ++counts.failed;
    counts.wrong = result.differences();
    leave(endpoint, now);
}

}  // namespace qps::transport::live
